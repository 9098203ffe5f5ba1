"""`verify` finds what is wrong, and only that."""

import dataclasses
import hashlib
import os
import pathlib

import outputs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from belvedere.transforms import (
    commits,
    documents,
    manifests,
    records,
    schemas,
    stores,
    tables,
    verification,
)
from belvedere.transforms.manifests import Entry
from belvedere.transforms.records import Counts, DataFile


@pytest.fixture
def store(tmp_path):
    """Two commits of two units each."""
    made = stores.store_for(str(tmp_path / "out"))
    log = commits.Log(made)
    for pair in ((0, 1), (2, 3)):
        entries = [Entry.of(outputs.finish(made, outputs.unit(n))) for n in pair]
        commits.commit(log, outputs.run(), entries)
    return made


def _path(store, name) -> pathlib.Path:
    return pathlib.Path(store.path(name))


def _some(store, folder) -> pathlib.Path:
    return _path(store, min(file.name for file in store.list(folder)))


def _codes(store) -> list[str]:
    return sorted({problem.code for problem in verification.verify(store).problems})


def test_a_sound_output(store):
    report = verification.verify(store)
    assert report.sound and report.problems == ()
    assert (report.manifests, report.units, report.files) == (2, 4, 8)
    assert report.counts == Counts(4, 4, 4)
    assert report.unlisted == () and report.waiting == 0


def test_an_empty_output(tmp_path):
    report = verification.verify(stores.store_for(str(tmp_path)))
    assert report.sound and report.manifests == 0


@pytest.mark.parametrize(
    "folder, code",
    [
        ("annotations", ["hash"]),
        ("dead_letters", ["hash"]),
        ("records", ["record"]),
        ("manifests", ["manifest"]),
    ],
)
def test_a_flipped_byte(store, folder, code):
    path = _some(store, folder)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert _codes(store) == code


@pytest.mark.parametrize(
    "folder, code",
    [
        ("annotations", ["missing"]),
        ("records", ["record"]),
        ("manifests", ["missing"]),
    ],
)
def test_a_missing_file(store, folder, code):
    path = _some(store, folder)
    path.unlink()
    (problem, *others) = verification.verify(store).problems
    assert [problem.code] == code and not others
    assert problem.file == f"{folder}/{path.name}"


def test_a_cut_file(store):
    path = _some(store, "annotations")
    path.write_bytes(path.read_bytes()[:-1])
    assert _codes(store) == ["size"]


def _reseal(store, number, change):
    """Rewrites a manifest with a right seal, as a wrong program would have."""
    path = _path(store, manifests.manifest_name(number))
    body = documents.unseal(path.read_bytes(), "x")
    del body["sha256"]
    change(body)
    path.write_bytes(documents.seal(body))


def test_a_count_that_does_not_add_up(store):
    _reseal(store, 2, lambda body: body["counts"].update(tasks_in=5))
    assert _codes(store) == ["manifest"]


def test_counts_that_are_not_those_of_the_rows(store):
    def swap(body):
        body["records"][0].update(annotated=2, refused=0)
        body["counts"].update(annotated=3, refused=1)

    _reseal(store, 2, swap)
    assert _codes(store) == ["counts", "record"]


def test_rows_that_are_not_as_many(store):
    def more(body):
        body["records"][0]["files"][0]["rows"] += 1

    _reseal(store, 2, more)
    assert _codes(store) == ["record", "rows"]


def test_a_broken_chain(store):
    _reseal(store, 1, lambda body: body.update(created_at="another day"))
    assert _codes(store) == ["chain"]


def test_a_unit_committed_twice(store):
    *_, last = commits.Log(store).manifests()
    again = dataclasses.replace(last, number=3, parent=last.sha256)
    store.create(manifests.manifest_name(3), again.document())
    assert _codes(store) == ["twice"]


def test_a_newer_manifest_cannot_be_judged(store):
    store.create(manifests.manifest_name(3), b'{"schema_version":2}')
    with pytest.raises(stores.OutputConflict, match="update belvedere"):
        verification.verify(store)


def _foreign(store, table: pa.Table, rows=1, counts=None, name=None):
    """Commits a file that this program did not write, with right size and hash."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    data = sink.getvalue().to_pybytes()
    unit, sha256 = outputs.unit(9), hashlib.sha256(data).hexdigest()
    name = name or tables.file_name("annotations", unit.digest, sha256)
    store.create(name, data)
    record = records.Record(
        unit,
        (DataFile(name, rows, len(data), sha256),),
        counts or Counts(annotated=1),
        "run-1",
        "0.1",
        "now",
    )
    entry = Entry.of(records.publish(store, record))
    commits.commit(commits.Log(store), outputs.run(), [entry])


STAMPS = {"config_id": "c", "run_id": "r", "code_version": "0.1", "schema_version": 1}


def _ours(*rows):
    return schemas.as_table("annotations", [row | STAMPS for row in rows])


def test_a_foreign_parquet(store):
    _foreign(store, pa.table({"a": [1]}))
    assert _codes(store) == ["schema"]


def test_a_file_under_another_name(store):
    _foreign(store, _ours(outputs.row("a")), name="annotations/mine.parquet")
    assert _codes(store) == ["name"]


def test_values_that_promise_too_much(store):
    table = _ours(outputs.row("a"))
    place = table.column_names.index("score")
    nan = pa.array([float("nan")])
    _foreign(store, table.set_column(place, table.schema.field(place), nan))
    assert _codes(store) == ["values"]


def test_a_task_with_two_rows(store):
    row = _ours(outputs.row("a"))
    _foreign(store, pa.concat_tables([row, row]), rows=2, counts=Counts(annotated=2))
    assert _codes(store) == ["tasks"]


def test_replaced_records_are_fine(tmp_path):
    store = stores.store_for(str(tmp_path))
    first = outputs.finish(store, outputs.unit(), "run-1")
    _path(store, first.files[0].name).unlink()
    second = outputs.finish(store, outputs.unit(), "run-2")
    commits.commit(commits.Log(store), outputs.run(), [Entry.of(second)])
    report = verification.verify(store)
    assert report.sound, report.problems
    assert [file.name for file in report.unlisted] == [first.files[1].name]


def test_what_is_not_listed(store):
    waiting = outputs.finish(store, outputs.unit(7))
    _path(store, "annotations/foreign.parquet").write_bytes(b"123")
    temporary = _path(store, "records").joinpath(".tmp-1")
    temporary.write_bytes(b"")
    report = verification.verify(store)
    assert report.sound
    assert {file.name for file in report.unlisted} == {
        "annotations/foreign.parquet",
        "records/.tmp-1",
        next(records.names(waiting.unit.digest)),
        *(file.name for file in waiting.files),
    }
    assert report.waiting == 1
    assert not any(file.collectable for file in report.unlisted)


def test_only_the_old_can_be_collected(store):
    for days in (6, 8):
        path = _path(store, f"annotations/{days}.parquet")
        path.write_bytes(b"123")
        os.utime(path, (0, 1e9 - days * 24 * 3600))
    report = verification.verify(store, now=1e9)
    found = {file.name: file.collectable for file in report.unlisted}
    assert found == {"annotations/6.parquet": False, "annotations/8.parquet": True}


def test_nothing_can_be_collected_while_the_log_is_damaged(store):
    _path(store, manifests.manifest_name(2)).write_bytes(b"{}")
    report = verification.verify(store, now=1e12)
    assert len(report.unlisted) == 6
    assert not any(file.collectable for file in report.unlisted)


@pytest.mark.parametrize("damage", [False, True])
def test_summaries_are_checked(store, monkeypatch, damage):
    monkeypatch.setattr(commits, "SUMMARY_EVERY", 3)
    record = outputs.finish(store, outputs.unit(5))
    commits.commit(commits.Log(store), outputs.run(), [Entry.of(record)])
    name = manifests.summary_name(3)
    if damage:
        _path(store, name).write_bytes(
            documents.seal({"number": 3, "head": "", "units": {}})
        )
    report = verification.verify(store)
    assert [p.file for p in report.problems] == ([name] if damage else [])
    assert report.unlisted == ()


def test_verifying_changes_nothing(store):
    root = pathlib.Path(store.uri)
    before = {p: p.stat().st_mtime_ns for p in root.rglob("*")}
    verification.verify(store)
    assert {p: p.stat().st_mtime_ns for p in root.rglob("*")} == before
