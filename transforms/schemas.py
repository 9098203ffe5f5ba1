"""The two tables of an output: columns, and what their values promise.

- Boxes are lists (x, y, width, height), pixels of the upright picture, 0-based,
  half-open; `contributions` are eleven. Plain lists with the length checked here: Arrow
  cannot read missing values in fixed-size lists back from Parquet.
- `status` is "annotated" or "refused"; a refused task has a row without a box. A dead
  one has a row in `dead_letters`. So the counts of a unit are those of its rows.
- Numbers are finite or null: `bound_left` is null where no window was left.
- Rows carry no times; `run_id` is the one column that differs between equal runs.
- Characters that are not Unicode (odd bytes in file names) are written as \\udcXX.
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from belvedere.core import types
from belvedere.transforms import documents, records

ANNOTATIONS = "annotations"
DEAD_LETTERS = "dead_letters"
STATUSES = ("annotated", "refused")
TASK = ("image_uri", "label")

Row = Mapping[str, Any]

_NUMBERS = pa.list_(pa.field("element", pa.float64(), nullable=False))
_LENGTHS = {
    "bbox": 4,
    "window_bbox": 4,
    "runner_up_bbox": 4,
    "contributions": types.P,
}
_REQUIRED = ("image_sha256", "width", "height", "bbox", "score", "model_id")


def _schema(table: str, *fields: pa.Field) -> pa.Schema:
    version = str(documents.SCHEMA_VERSION)
    return pa.schema(
        fields, {"belvedere.table": table, "belvedere.schema_version": version}
    )


def _always(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


SCHEMAS = {
    ANNOTATIONS: _schema(
        ANNOTATIONS,
        _always("image_id", pa.string()),
        _always("image_uri", pa.string()),
        pa.field("image_sha256", pa.string()),
        pa.field("width", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("exif_orientation", pa.int32()),
        _always("label", pa.string()),
        pa.field("bbox", _NUMBERS),
        pa.field("score", pa.float64()),
        pa.field("expected_iou", pa.float64()),
        pa.field("iou_lower", pa.float64()),
        pa.field("gp_mean", pa.float64()),
        pa.field("gp_std", pa.float64()),
        _always("accepted", pa.bool_()),
        pa.field("accept_rule", pa.string()),
        _always("status", pa.string()),
        pa.field("candidates", pa.int32()),
        pa.field("windows_evaluated", pa.int32()),
        pa.field("bound_left", pa.float64()),
        pa.field("contributions", _NUMBERS),
        pa.field("window_bbox", _NUMBERS),
        pa.field("runner_up_bbox", _NUMBERS),
        pa.field("runner_up_score", pa.float64()),
        pa.field("model_id", pa.string()),
        _always("config_id", pa.string()),
        _always("run_id", pa.string()),
        _always("code_version", pa.string()),
        _always("schema_version", pa.int32()),
    ),
    DEAD_LETTERS: _schema(
        DEAD_LETTERS,
        _always("image_uri", pa.string()),
        pa.field("label", pa.string()),
        _always("stage", pa.string()),
        _always("code", pa.string()),
        _always("message", pa.string()),
        _always("attempts", pa.int32()),
        _always("run_id", pa.string()),
    ),
}


def as_table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Rows as a checked table in order of task; a column not given is null."""
    schema = SCHEMAS[name]
    for row in rows:
        if unknown := set(row) - set(schema.names):
            raise ValueError(f"{name} has no column {sorted(unknown)[0]!r}")
    ordered = sorted(
        rows, key=lambda row: [_text(row.get(part) or "") for part in TASK]
    )
    columns = [
        _column(field, [row.get(field.name) for row in ordered]) for field in schema
    ]
    table = pa.Table.from_arrays(columns, schema=schema)
    check(table)
    return table


def _column(field: pa.Field, values: list[Any]) -> pa.Array:
    if pa.types.is_string(field.type):
        values = [_text(value) for value in values]
    try:
        if pa.types.is_integer(field.type):  # Arrow would cut 1.5 to 1
            values = [v if v is None else operator.index(v) for v in values]
        return pa.array(values, field.type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"column {field.name}: {error}") from error


def _text(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def check(table: pa.Table) -> None:
    """ValueError unless the values are such as their columns promise."""
    for field in table.schema:
        if fault := _fault(field, table[field.name]):
            raise ValueError(f"column {field.name} {fault}")
    if "status" not in table.column_names:
        return
    if strange := set(table["status"].to_pylist()) - set(STATUSES):
        raise ValueError(f"status {sorted(strange)[0]!r}, wanted one of {STATUSES}")
    boxed = table.filter(pc.equal(table["status"], "annotated"))
    for name in _REQUIRED:
        if boxed[name].null_count:
            raise ValueError(f"an annotated row has no {name}")


def _fault(field: pa.Field, column: pa.ChunkedArray) -> str | None:
    if column.null_count and not field.nullable:
        return "has an empty value"
    length = _LENGTHS.get(field.name)
    if length:
        if not _all(pc.equal(pc.list_value_length(column), length)):
            return f"has a list that is not of length {length}"
        column = pc.list_flatten(column)
    if pa.types.is_floating(column.type) and not _all(pc.is_finite(column)):
        return "holds NaN or infinite values"
    return None


def _all(truth: pa.ChunkedArray) -> bool:
    return pc.all(truth, min_count=0).as_py() is True


def check_tasks(*tables: pa.Table) -> None:
    """ValueError if a task has two rows."""
    seen = set()
    for table in tables:
        for task in zip(*(table[part].to_pylist() for part in TASK), strict=True):
            if task in seen:
                raise ValueError(f"two rows for one task (image, class) = {task}")
            seen.add(task)


def counts(annotations: pa.Table, dead_letters: pa.Table) -> records.Counts:
    """How the tasks in these rows ended."""
    boxed = pc.sum(pc.equal(annotations["status"], "annotated"), min_count=0).as_py()
    return records.Counts(boxed, len(annotations) - boxed, len(dead_letters))
