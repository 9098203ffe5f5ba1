"""Rows become files: the same rows the same bytes, and no row that promises nothing."""

import hashlib
import re

import numpy as np
import outputs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from belvedere.core import types
from belvedere.transforms import schemas, stores, tables
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS

STAMPS = {"config_id": "c", "run_id": "r", "code_version": "0.1", "schema_version": 1}


@pytest.fixture
def store(tmp_path):
    return stores.store_for(str(tmp_path))


def _row(uri="a.jpg", **changes):
    return outputs.row(uri, **changes) | STAMPS


def _table(*rows):
    return schemas.as_table(ANNOTATIONS, rows or [_row()])


def test_columns_are_those_of_the_contract():
    annotations = """
        image_id image_uri image_sha256 width height exif_orientation label bbox score
        expected_iou iou_lower gp_mean gp_std accepted accept_rule status candidates
        windows_evaluated bound_left contributions window_bbox runner_up_bbox
        runner_up_score model_id config_id run_id code_version schema_version"""
    dead_letters = "image_uri label stage code message attempts run_id"
    assert schemas.SCHEMAS[ANNOTATIONS].names == annotations.split()
    assert schemas.SCHEMAS[DEAD_LETTERS].names == dead_letters.split()


def test_rows_come_back(store):
    whole = outputs.row(
        "odd\n<script>/../\N{CAT FACE}.jpg",
        bbox=np.array([0.1, 0.2, 3.3, 4.4]),
        width=np.int64(7),
        score=np.float64(0.1) + 0.2,
        expected_iou=0.7,
        iou_lower=0.5,
        gp_mean=0.6,
        gp_std=0.1,
        accept_rule="iou_lower>=0.5",
        candidates=1000,
        windows_evaluated=30,
        bound_left=-1.5,
        contributions=np.linspace(-1, 1, types.P),
        window_bbox=[0, 0, 1, 1],
        runner_up_bbox=[1, 1, 2, 2],
        runner_up_score=0.2,
    )
    record = tables.finish(
        store, outputs.unit(), [whole, outputs.refused("b.jpg")], [], "r", "0.1"
    )
    (file,) = record.files
    back = tables.decode(ANNOTATIONS, store.read(file.name), "x").to_pylist()
    first = next(row for row in back if row["status"] == "annotated")
    stamped = whole | STAMPS | {"config_id": outputs.unit().config}
    assert set(first) == set(stamped)
    for name, value in stamped.items():
        assert np.array_equal(first[name], value), name
    second = next(row for row in back if row["status"] == "refused")
    assert second["bbox"] is None and second["model_id"] is None


def test_names_that_are_not_unicode_are_kept_readable():
    table = _table(_row("a\udcff.jpg"), _row("a\udcfe.jpg"))
    assert table["image_uri"].to_pylist() == ["a\\udcfe.jpg", "a\\udcff.jpg"]


def test_the_same_rows_give_the_same_bytes(store):
    rows = [_row(f"{n}.jpg", score=n / 7) for n in range(50)]
    data = tables.encode(_table(*rows))
    assert tables.encode(_table(*rows[::-1])) == data
    assert tables.encode(_table(*rows[:-1])) != data


def test_only_the_run_differs_between_equal_runs(store, tmp_path):
    first = outputs.finish(store, outputs.unit(), "run-1")
    other = stores.store_for(str(tmp_path / "other"))
    second = outputs.finish(other, outputs.unit(), "run-2")
    for a, b in zip(first.files, second.files, strict=True):
        name = a.name.partition("/")[0]
        rows = [
            tables.decode(name, held.read(file.name), "x").drop_columns(["run_id"])
            for held, file in ((store, a), (other, b))
        ]
        assert rows[0].equals(rows[1])


def test_files_are_named_by_unit_and_content(store):
    record = outputs.finish(store, outputs.unit())
    assert [file.name.partition("/")[0] for file in record.files] == [
        ANNOTATIONS,
        DEAD_LETTERS,
    ]
    for file in record.files:
        data = store.read(file.name)
        sha256 = hashlib.sha256(data).hexdigest()
        assert (file.size, file.sha256) == (len(data), sha256)
        name = f"{outputs.unit().digest[:16]}-{sha256[:16]}.parquet"
        assert file.name.endswith("/" + name)


def test_no_rows_no_file(store):
    record = tables.finish(store, outputs.unit(), [], [], "r", "0.1")
    assert record.files == () and record.counts.tasks == 0


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"score": float("nan")}, "column score holds NaN"),
        ({"bound_left": -np.inf}, "column bound_left holds NaN or inf"),
        ({"bbox": [1, 2, 3]}, "column bbox has a list that is not of length 4"),
        ({"bbox": [1, 2, 3, np.inf]}, "column bbox holds NaN"),
        ({"contributions": [0.0] * 10}, "column contributions .* length 11"),
        ({"width": 1.5}, "column width"),
        ({"width": 2**40}, "column width"),
        ({"label": None}, "column label has an empty value"),
        ({"label": 3}, "column label"),
        ({"status": "done"}, "status 'done'"),
        ({"bbox": None}, "an annotated row has no bbox"),
        ({"model_id": None}, "an annotated row has no model_id"),
        ({"bbbox": [1, 2, 3, 4]}, "no column 'bbbox'"),
    ],
)
def test_bad_rows_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        _table(_row(), _row("b.jpg", **changes))


def test_a_task_has_one_row(store):
    unit = outputs.unit()
    twice = [outputs.row("a.jpg"), outputs.row("a.jpg")]
    other = [outputs.row("a.jpg"), outputs.row("a.jpg", "dog")]
    with pytest.raises(ValueError, match=re.escape("('a.jpg', 'cat')")):
        tables.finish(store, unit, twice, [], "r", "0.1")
    with pytest.raises(ValueError, match="two rows for one task"):
        tables.finish(store, unit, other, [outputs.dead("a.jpg", "dog")], "r", "0.1")
    assert tables.finish(store, unit, other, [], "r", "0.1").counts.annotated == 2


def _parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t: t.drop_columns(["run_id"]), "column code_version.* wanted run_id"),
        (lambda t: t.drop_columns(["schema_version"]), "27 columns, wanted 28"),
        (lambda t: t.append_column("more", t["label"]), "29 columns, wanted 28"),
        (lambda t: t.set_column(3, "width", pa.array(["7"])), "width: string, wanted"),
        (
            lambda t: t.rename_columns({"bbox": "box"}),
            "has column box: .* wanted.* bbox",
        ),
        (
            lambda t: t.replace_schema_metadata({"belvedere.schema_version": "2"}),
            "schema 2, this program knows 1: update",
        ),
    ],
)
def test_foreign_files_are_told_apart(change, message):
    with pytest.raises(stores.OutputConflict, match=message):
        tables.decode(ANNOTATIONS, _parquet(change(_table())), "x.parquet")


@pytest.mark.parametrize("data", [b"", b"hello", b"PAR1" * 3])
def test_what_is_no_parquet(data):
    with pytest.raises(stores.OutputConflict, match="is not a readable"):
        tables.decode(ANNOTATIONS, data, "x.parquet")


def test_a_cut_file_is_told():
    data = tables.encode(_table())
    for end in (10, len(data) // 2, len(data) - 1):
        with pytest.raises(stores.OutputConflict):
            tables.decode(ANNOTATIONS, data[:end], "x.parquet")


def test_some_columns_only():
    data = tables.encode(_table())
    table = tables.decode(ANNOTATIONS, data, "x", ["label", "bbox"])
    assert table.column_names == ["label", "bbox"]
