"""A reader sees each task once: what was committed last."""

import pathlib

import outputs
import pyarrow as pa
import pytest

from belvedere.transforms import commits, committed, manifests, stores, tables
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path / "out"))


def _commit(store, work, annotations, dead=(), run_id="run-1"):
    record = tables.finish(store, work, annotations, dead, run_id, "0.1")
    entry = manifests.Entry.of(record)
    commits.commit(commits.Log(store), outputs.run(run_id), [entry])
    return record


def _seen(store, name=ANNOTATIONS, **options):
    """(image, class) -> what the row says of its origin, of all current rows."""
    found = list(committed.rows(commits.Log(store), name, **options))
    rows = [row for table in found for row in table.to_pylist()]
    seen = {(row["image_uri"], row["label"]): row["run_id"] for row in rows}
    assert len(seen) == len(rows), "a task was seen twice"
    return seen


def test_an_empty_output(store):
    assert _seen(store) == {}
    outputs.finish(store, outputs.unit())
    assert _seen(store) == {}, "a record alone is no commit"


def test_rows_of_both_tables(store):
    record = outputs.finish(store, outputs.unit())
    entry = manifests.Entry.of(record)
    commits.commit(commits.Log(store), outputs.run(), [entry])
    first, second, third = (file.uri for file in outputs.unit().inputs)
    assert set(_seen(store)) == {(first, "cat"), (second, "cat")}
    assert set(_seen(store, DEAD_LETTERS)) == {(third, "cat")}


def test_the_newest_model_counts_and_the_old_stays(store):
    old = [outputs.row("a"), outputs.row("b"), outputs.row("b", "dog")]
    new = [outputs.row("b", model="m2"), outputs.row("c", model="m2")]
    _commit(store, outputs.unit(0), old, run_id="run-1")
    _commit(store, outputs.unit(0, "m2"), new, run_id="run-2")
    assert _seen(store) == {
        ("a", "cat"): "run-1",
        ("b", "dog"): "run-1",
        ("b", "cat"): "run-2",
        ("c", "cat"): "run-2",
    }
    both = {"m1", "m2"}
    assert _seen(store, models=both) == _seen(store)
    assert set(_seen(store, models={"m1"}).values()) == {"run-1"}
    assert len(_seen(store, models={"m1"})) == 3
    assert set(_seen(store, models={"m2"})) == {("b", "cat"), ("c", "cat")}
    assert _seen(store, models={"m3"}) == {}


def test_a_retry_replaces_the_dead_letter(store):
    work = outputs.unit()
    _commit(store, work, [outputs.row("a")], [outputs.dead("b"), outputs.dead("c")])
    retry = outputs.unit(attempt=1)
    _commit(store, retry, [outputs.row("b")], [outputs.dead("c")], "run-2")
    assert _seen(store) == {("a", "cat"): "run-1", ("b", "cat"): "run-2"}
    assert _seen(store, DEAD_LETTERS) == {("c", "cat"): "run-2"}


def test_a_new_dead_letter_replaces_the_row(store):
    _commit(store, outputs.unit(0), [outputs.row("a")])
    _commit(store, outputs.unit(0, "m2"), [], [outputs.dead("a")], "run-2")
    assert _seen(store) == {}
    assert _seen(store, DEAD_LETTERS) == {("a", "cat"): "run-2"}
    assert _seen(store, models={"m1"}) == {("a", "cat"): "run-1"}


def test_units_cut_otherwise(store):
    """Two runs with other slices of the same folder: rows count once."""
    _commit(store, outputs.unit(0), [outputs.row(c) for c in "abcd"])
    _commit(store, outputs.unit(1), [outputs.row(c) for c in "cdef"], run_id="run-2")
    assert {uri for uri, _ in _seen(store)} == set("abcdef")


def test_odd_tasks_are_told_apart(store):
    names = ["a", "a\n", "a', 'b", "('a', 'b')", "\N{CAT FACE}", ""]
    _commit(store, outputs.unit(0), [outputs.row(name) for name in names])
    dead = [outputs.dead("a", None), outputs.dead("a", ""), outputs.dead("a", "None")]
    _commit(store, outputs.unit(1), [], dead)
    assert len(_seen(store)) == len(names)
    assert len(_seen(store, DEAD_LETTERS)) == 3


def test_some_columns(store):
    _commit(store, outputs.unit(), [outputs.row("a")])
    (table,) = committed.rows(commits.Log(store), columns=["label", "bbox"])
    assert table.to_pylist() == [{"label": "cat", "bbox": [10.0, 20.0, 100.5, 50.25]}]
    assert isinstance(table, pa.Table)


def test_a_missing_file_is_no_silence(store):
    record = _commit(store, outputs.unit(), [outputs.row("a")])
    pathlib.Path(store.path(record.files[0].name)).unlink()
    with pytest.raises(stores.OutputConflict, match="committed but missing"):
        _seen(store)
