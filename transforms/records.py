"""Work units, and the record that each leaves when it is finished.

A *task* is one (image, class) pair. A *work unit* is a bounded set of tasks under one
set of models and one configuration. Its digest covers all that its rows depend on, so a
changed input, model or configuration is another unit, and a finished one is known again
by name: `records/<digest>.json` lists its files and counts.

A record is written last and never replaced. Where its files have been lost since, the
next one is `<digest>-2.json`; the first valid one counts.
"""

import dataclasses
import functools
import re
from collections.abc import Iterator
from typing import Any

from belvedere.transforms import documents, stores
from belvedere.transforms.documents import Damaged, field

FOLDER = "records"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_REPLACEMENTS = 9


@dataclasses.dataclass(frozen=True, order=True)
class Input:
    """A file of a work unit, as the listing shows it before it is read.

    Attributes:
      uri: where it is.
      size: in bytes.
      stamp: what changes with the content: etag, time of change or digest.
      label: its class; empty where the file itself holds several images and classes.
    """

    uri: str
    size: int
    stamp: str
    label: str = ""


@dataclasses.dataclass(frozen=True)
class WorkUnit:
    """Tasks that are computed, written and committed together.

    Attributes:
      kind: what is done with them, such as "annotate".
      inputs: the files, in any order.
      models: ids of the models that may be used, and no others.
      config: id of the configuration.
      span: first and behind-last member, where the unit is a slice of a shard.
      attempt: 0, or how often its tasks were tried before.
    """

    kind: str
    inputs: tuple[Input, ...]
    models: tuple[str, ...]
    config: str
    span: tuple[int, int] | None = None
    attempt: int = 0

    @functools.cached_property
    def digest(self) -> str:
        return documents.digest(self.description())

    def description(self) -> dict[str, Any]:
        """All that the digest covers, in JSON."""
        return {
            "schema_version": documents.SCHEMA_VERSION,
            "kind": self.kind,
            "inputs": [list(dataclasses.astuple(i)) for i in sorted(self.inputs)],
            "models": sorted(set(self.models)),
            "config": self.config,
            "span": list(self.span) if self.span else None,
            "attempt": self.attempt,
        }

    @classmethod
    def described(cls, body: dict[str, Any]) -> "WorkUnit":
        span = body.get("span")
        return cls(
            field(body, "kind", str),
            tuple(Input(*values) for values in field(body, "inputs", list)),
            tuple(field(body, "models", list)),
            field(body, "config", str),
            tuple(span) if span else None,
            field(body, "attempt", int),
        )


@dataclasses.dataclass(frozen=True)
class Counts:
    """How tasks ended: with a box, without a usable model, or as a dead letter."""

    annotated: int = 0
    refused: int = 0
    dead: int = 0

    def __post_init__(self) -> None:
        if min(self.annotated, self.refused, self.dead) < 0:
            raise ValueError(f"a negative number in {self}")

    @property
    def tasks(self) -> int:
        return self.annotated + self.refused + self.dead

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.annotated + other.annotated,
            self.refused + other.refused,
            self.dead + other.dead,
        )

    @classmethod
    def read(cls, body: dict[str, Any]) -> "Counts":
        return cls(*(field(body, key.name, int) for key in dataclasses.fields(cls)))


@dataclasses.dataclass(frozen=True)
class DataFile:
    """An immutable file of a unit."""

    name: str
    rows: int
    size: int
    sha256: str

    def __post_init__(self) -> None:
        stores.checked_name(self.name)
        if not _DIGEST.fullmatch(self.sha256):
            raise ValueError(f"{self.sha256!r} is no SHA-256")
        if self.rows < 0 or self.size < 0:
            raise ValueError(f"a negative number in {self}")

    @classmethod
    def read(cls, body: dict[str, Any]) -> "DataFile":
        return cls(
            field(body, "name", str),
            field(body, "rows", int),
            field(body, "size", int),
            field(body, "sha256", str),
        )


@dataclasses.dataclass(frozen=True)
class Record:
    """What a finished unit left behind; `finished_at` in ISO 8601, UTC."""

    unit: WorkUnit
    files: tuple[DataFile, ...]
    counts: Counts
    run_id: str
    code_version: str
    finished_at: str

    def document(self) -> bytes:
        return documents.seal(
            {
                "digest": self.unit.digest,
                "unit": self.unit.description(),
                "files": [dataclasses.asdict(file) for file in self.files],
                "counts": dataclasses.asdict(self.counts),
                "run_id": self.run_id,
                "code_version": self.code_version,
                "finished_at": self.finished_at,
            }
        )


def parse(data: bytes, digest: str, where: str) -> Record:
    """The record of unit `digest`; Damaged if it is not whole or another unit's."""
    body = documents.unseal(data, where)
    try:
        record = Record(
            WorkUnit.described(field(body, "unit", dict)),
            tuple(DataFile.read(file) for file in field(body, "files", list)),
            Counts.read(field(body, "counts", dict)),
            field(body, "run_id", str),
            field(body, "code_version", str),
            field(body, "finished_at", str),
        )
        if record.unit.digest != digest:
            raise Damaged(f"the record is that of unit {record.unit.digest}")
    except (TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"{where}: {error}") from error
    return record


def names(digest: str) -> Iterator[str]:
    """Where the record of a unit may be, the first to be tried first."""
    yield f"{FOLDER}/{digest}.json"
    yield from (f"{FOLDER}/{digest}-{n}.json" for n in range(2, _REPLACEMENTS + 2))


def find(store: stores.Store, digest: str) -> Record | None:
    """The valid record of a unit: the unit need not be computed again.

    Valid: it can be read, is the unit's own, and all its files are there in full size.
    """
    for name in names(digest):
        try:
            record = parse(store.read(name), digest, store.path(name))
        except stores.MissingFile:
            return None
        except Damaged:
            continue
        if _has_files(store, record):
            return record
    return None


def _has_files(store: stores.Store, record: Record) -> bool:
    found = ((store.find(file.name), file) for file in record.files)
    return all(there and there.size == file.size for there, file in found)


def publish(store: stores.Store, record: Record) -> Record:
    """Writes the record of a finished unit and returns the one that stands.

    That is another one where a run beside us finished the same unit first: its files
    count, ours stay unlisted.
    """
    for name in names(record.unit.digest):
        if store.create(name, record.document()):
            return record
        if standing := find(store, record.unit.digest):
            return standing
    raise stores.StoreError(
        f"{store.path(name)}: the files of this unit vanished {_REPLACEMENTS} times; "
        "choose another output folder"
    )
