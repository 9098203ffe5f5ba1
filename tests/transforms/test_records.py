"""A unit is known by all that its rows depend on; a finished one is not done again."""

import dataclasses
import json
import pathlib

import faults
import outputs
import pytest

from belvedere.transforms import documents, records, stores, tables


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path))


def _file(store, record, number=0):
    return pathlib.Path(store.path(record.files[number].name))


def test_canonical_json_has_one_spelling():
    a = documents.canonical({"b": 1, "a": [1.5, "é\udcff"]})
    assert a == documents.canonical({"a": [1.5, "é\udcff"], "b": 1})
    assert json.loads(a) == {"a": [1.5, "é\udcff"], "b": 1}
    with pytest.raises(ValueError):
        documents.canonical({"a": float("nan")})


def test_a_document_knows_its_own_bytes():
    data = documents.seal({"text": "abc", "number": 17})
    assert documents.unseal(data, "x")["number"] == 17
    for place in range(len(data)):
        broken = bytearray(data)
        broken[place] ^= 1
        with pytest.raises((documents.Damaged, stores.OutputConflict)):
            documents.unseal(bytes(broken), "x")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"schema_version":NaN}', b"[" * 99999],
)
def test_what_is_no_document(data):
    with pytest.raises(documents.Damaged, match="x "):
        documents.unseal(data, "x")


@pytest.mark.parametrize(
    "version, error, message",
    [
        (2, stores.OutputConflict, "update belvedere"),
        (0, documents.Damaged, "schema 0"),
        ("1", documents.Damaged, "schema '1'"),
        (True, documents.Damaged, "schema True"),
        (None, documents.Damaged, "x has schema None"),
    ],
)
def test_versions(version, error, message):
    with pytest.raises(error, match=message):
        documents.unseal(json.dumps({"schema_version": version}).encode(), "x")


def test_the_digest_covers_everything():
    base = outputs.unit()
    moved = dataclasses.replace(base.inputs[0], uri="/elsewhere.jpg")
    others = [
        dataclasses.replace(base, kind="describe"),
        dataclasses.replace(base, inputs=base.inputs[1:]),
        dataclasses.replace(base, inputs=(moved, *base.inputs[1:])),
        dataclasses.replace(base, models=("m2",)),
        dataclasses.replace(base, config="config-2"),
        dataclasses.replace(base, span=(0, 100)),
        dataclasses.replace(base, attempt=1),
    ]
    for name, value in (("size", 1), ("stamp", "new"), ("label", "dog")):
        changed = dataclasses.replace(base.inputs[0], **{name: value})
        others.append(dataclasses.replace(base, inputs=(changed, *base.inputs[1:])))
    assert len({unit.digest for unit in (base, *others)}) == len(others) + 1


def test_the_digest_does_not_depend_on_order():
    base = dataclasses.replace(outputs.unit(), models=("m1", "m2"))
    turned = dataclasses.replace(
        base, inputs=base.inputs[::-1], models=("m2", "m1", "m2")
    )
    assert turned.digest == base.digest


def test_a_record_comes_back(store):
    odd = records.Input("/a\n<script>\udcff/../ü.jpg", 3, "", "x\0y")
    unit = records.WorkUnit("annotate", (odd,), ("m",), "c", span=(0, 10), attempt=2)
    record = tables.finish(store, unit, [], [], "run", "0.1")
    assert records.find(store, unit.digest) == record
    assert record.unit == unit


def test_a_finished_unit_is_found(store):
    unit = outputs.unit()
    assert records.find(store, unit.digest) is None
    record = outputs.finish(store, unit)
    assert record.counts == records.Counts(1, 1, 1)
    assert records.find(store, unit.digest) == record
    assert records.find(store, outputs.unit(1).digest) is None


def test_the_first_to_finish_stands(store):
    first = outputs.finish(store, outputs.unit(), "run-1")
    second = outputs.finish(store, outputs.unit(), "run-2")
    assert second == first


@pytest.mark.parametrize("fault", ["missing", "short", "record"])
def test_a_unit_that_lost_something_is_done_again(store, fault):
    unit = outputs.unit()
    record = outputs.finish(store, unit)
    if fault == "missing":
        _file(store, record).unlink()
    elif fault == "short":
        _file(store, record, 1).write_bytes(b"PAR1")
    else:
        name = next(records.names(unit.digest))
        pathlib.Path(store.path(name)).write_bytes(b"{}")
    assert records.find(store, unit.digest) is None
    again = outputs.finish(store, unit, "run-2")
    assert again.run_id == "run-2"
    assert records.find(store, unit.digest) == again


def test_the_record_of_another_unit_is_damage(store):
    record = outputs.finish(store, outputs.unit())
    other = outputs.unit(1).digest
    assert store.create(next(records.names(other)), record.document())
    assert records.find(store, other) is None


def test_a_newer_record_is_a_conflict(store):
    unit = outputs.unit()
    store.create(next(records.names(unit.digest)), b'{"schema_version":99}')
    with pytest.raises(stores.OutputConflict, match="schema 99"):
        records.find(store, unit.digest)


@pytest.mark.parametrize("folder", ["annotations", "dead_letters", "records"])
@pytest.mark.parametrize("point", faults.POINTS)
def test_killed_while_finishing(store, point, folder):
    unit = outputs.unit()

    def work():
        faults.arm(point, folder, act=faults.kill)
        outputs.finish(store, unit)

    assert faults.in_child(work) == -9
    finished = (point, folder) == ("after_link", "records")
    assert (records.find(store, unit.digest) is not None) == finished
    record = outputs.finish(store, unit)
    assert records.find(store, unit.digest) == record
    assert len(record.files) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: records.Counts(annotated=-1),
        lambda: records.DataFile("../x", 1, 1, "0" * 64),
        lambda: records.DataFile("annotations/x.parquet", -1, 1, "0" * 64),
        lambda: records.DataFile("annotations/x.parquet", 1, 1, "0" * 63 + "g"),
    ],
)
def test_values_are_checked(make):
    with pytest.raises(ValueError):
        make()
