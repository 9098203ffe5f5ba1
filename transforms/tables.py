"""The immutable Parquet files of a work unit.

A file is named by its unit and its content and holds the unit's rows in order of task,
so the same rows give the same bytes. It is made in memory (a unit is bounded) and
created at once; the unit's record comes last.
"""

import hashlib
from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from belvedere.transforms import documents, records, schemas, stores
from belvedere.transforms.schemas import ANNOTATIONS, DEAD_LETTERS
from belvedere.transforms.stores import OutputConflict

ROW_GROUP = 16_384


def finish(
    store: stores.Store,
    unit: records.WorkUnit,
    annotations: Iterable[schemas.Row],
    dead_letters: Iterable[schemas.Row],
    run_id: str,
    code_version: str,
) -> records.Record:
    """Writes the rows of a finished unit, then its record; returns the record.

    The columns `config_id`, `run_id`, `code_version` and `schema_version` are filled in
    here, where a row does not say them itself. A unit that another run has finished
    meanwhile gives that run's record.
    """
    stamps = {
        "config_id": unit.config,
        "run_id": run_id,
        "code_version": code_version,
        "schema_version": documents.SCHEMA_VERSION,
    }
    boxed = schemas.as_table(ANNOTATIONS, [{**stamps, **row} for row in annotations])
    dead = schemas.as_table(
        DEAD_LETTERS, [{**row, "run_id": run_id} for row in dead_letters]
    )
    schemas.check_tasks(boxed, dead)
    files = [
        _create(store, unit.digest, name, table)
        for name, table in ((ANNOTATIONS, boxed), (DEAD_LETTERS, dead))
        if len(table)
    ]
    record = records.Record(
        unit,
        tuple(files),
        schemas.counts(boxed, dead),
        run_id,
        code_version,
        documents.now(),
    )
    return records.publish(store, record)


def _create(
    store: stores.Store, unit: str, name: str, table: pa.Table
) -> records.DataFile:
    data = encode(table)
    sha256 = hashlib.sha256(data).hexdigest()
    path = file_name(name, unit, sha256)
    store.create(path, data)
    return records.DataFile(path, len(table), len(data), sha256)


def file_name(table: str, unit: str, sha256: str) -> str:
    return f"{table}/{unit[:16]}-{sha256[:16]}.parquet"


def encode(table: pa.Table) -> bytes:
    """The table as a Parquet file: the same table, the same bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=ROW_GROUP, compression="zstd")
    return sink.getvalue().to_pybytes()


def decode(
    name: str, data: bytes, where: str, columns: Sequence[str] | None = None
) -> pa.Table:
    """The table in a Parquet file; OutputConflict if it is not one of ours."""
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        _check_schema(schemas.SCHEMAS[name], file.schema_arrow, where)
        return file.read(columns=columns, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise OutputConflict(
            f"{where} is not a readable Parquet file: {error}"
        ) from error


def _check_schema(wanted: pa.Schema, found: pa.Schema, where: str) -> None:
    version = (found.metadata or {}).get(b"belvedere.schema_version", b"1")
    if version.isdigit() and int(version) > documents.SCHEMA_VERSION:
        raise OutputConflict(
            f"{where} has schema {int(version)}, this program knows "
            f"{documents.SCHEMA_VERSION}: update belvedere"
        )
    if found.equals(wanted):
        return
    for ours, theirs in zip(wanted, found, strict=False):
        if not ours.equals(theirs):
            raise OutputConflict(
                f"{where} has column {theirs.name}: {theirs.type}, "
                f"wanted {ours.name}: {ours.type}"
            )
    raise OutputConflict(f"{where} has {len(found)} columns, wanted {len(wanted)}")
