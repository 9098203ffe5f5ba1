"""The log of commits: `manifests/000001.json`, `000002.json`, ... in one chain.

A manifest lists the work units it adds, with counts and files, the configuration and
the models, and the digest of its parent. Its name is created if absent: of two
committers that want a number one wins; the other reads what the winner committed, drops
it from its own list, and takes the next number. What is not in the log is not there.

In every manifest: tasks_in = already_done + annotated + refused + dead.

A summary, `000100-units.json`, holds the units up to its number with their numbers of
tasks, and of a model store the newest model of each class. It follows from the log and
may be deleted.
"""

import dataclasses
import itertools
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from belvedere.transforms import documents, records, stores
from belvedere.transforms.documents import Damaged, field
from belvedere.transforms.records import Counts, DataFile

FOLDER = "manifests"
_NUMBERED = re.compile(r"manifests/([0-9]{6,})(-units)?\.json")
_MODEL = re.compile(r"([^/]+)/([^/]+)/model\.npz")


@dataclasses.dataclass(frozen=True)
class Run:
    """Who commits what: the same for all manifests of a run.

    Attributes:
      run_id: unique to the run.
      kind: of its work units.
      code_version: of the program.
      config_id: of the configuration.
      config: the resolved configuration itself, in JSON values.
      models: ids of the models used.
      details: what else belongs to the run, such as classes refused and why.
    """

    run_id: str
    kind: str
    code_version: str
    config_id: str
    config: Mapping[str, Any]
    models: tuple[str, ...] = ()
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A work unit in a manifest."""

    unit: str
    counts: Counts
    files: tuple[DataFile, ...]

    @classmethod
    def of(cls, record: records.Record) -> "Entry":
        return cls(record.unit.digest, record.counts, record.files)

    def body(self) -> dict[str, Any]:
        files = [dict(vars(file)) for file in self.files]
        return {"unit": self.unit, **vars(self.counts), "files": files}

    @classmethod
    def read(cls, body: dict[str, Any]) -> "Entry":
        files = tuple(DataFile.read(file) for file in field(body, "files", list))
        return cls(field(body, "unit", str), Counts.read(body), files)


def packed(entries: Iterable[Entry]) -> bytes:
    """Entries for the way to the committer, where all those of a run wait.

    Digests are most of them and cannot be compressed: they go as bytes, and what a name
    has of them not at all.
    """
    told, digests = [], []
    for entry in entries:
        names = [_without(file.name, entry.unit, file.sha256) for file in entry.files]
        sizes = [[file.rows, file.size] for file in entry.files]
        told.append([dataclasses.astuple(entry.counts), names, sizes])
        digests += [entry.unit, *(file.sha256 for file in entry.files)]
    data = documents.canonical(told) + b"\0" + bytes.fromhex("".join(digests))
    return zlib.compress(data)


def unpacked(data: bytes) -> Iterator[Entry]:
    told, _, digests = zlib.decompress(data).partition(b"\0")
    each = (digests[n : n + 32].hex() for n in range(0, len(digests), 32))
    for counts, names, sizes in json.loads(told):
        unit = next(each)
        sums = itertools.islice(each, len(names))
        files = [
            DataFile(_with(name, unit, sha256), rows, size, sha256)
            for name, (rows, size), sha256 in zip(names, sizes, sums, strict=True)
        ]
        yield Entry(unit, Counts(*counts), tuple(files))


def _without(name: str, unit: str, sha256: str) -> str:
    """A name with marks, which no name has, in place of the digests in it."""
    return name.replace(unit[:16], "*").replace(sha256[:16], "?")


def _with(name: str, unit: str, sha256: str) -> str:
    return name.replace("*", unit[:16]).replace("?", sha256[:16])


@dataclasses.dataclass(frozen=True)
class Manifest:
    """One commit; `parent` is the sha256 of the manifest before it, "" in the first."""

    number: int
    parent: str
    run: Run
    entries: tuple[Entry, ...]
    tasks_in: int
    already_done: int
    created_at: str
    sha256: str = ""

    def __post_init__(self) -> None:
        if (self.number == 1) != (self.parent == "") or self.number < 1:
            raise ValueError(f"manifest {self.number} has parent {self.parent!r}")
        if self.already_done < 0:
            raise ValueError(f"already_done is {self.already_done}")
        if self.tasks_in != self.already_done + self.counts.tasks:
            raise ValueError(
                f"tasks_in = {self.tasks_in}, but already done {self.already_done} and "
                f"{self.counts}"
            )
        if len({entry.unit for entry in self.entries}) < len(self.entries):
            raise ValueError("a unit is listed twice")

    @property
    def counts(self) -> Counts:
        return total(self.entries)

    def document(self) -> bytes:
        counts = {"tasks_in": self.tasks_in, "already_done": self.already_done}
        return documents.seal(
            {
                "number": self.number,
                "parent": {"number": self.number - 1, "sha256": self.parent},
                **dataclasses.asdict(self.run),
                "counts": counts | dataclasses.asdict(self.counts),
                "records": [entry.body() for entry in self.entries],
                "created_at": self.created_at,
            }
        )


def total(entries: Sequence[Entry]) -> Counts:
    return Counts(
        sum(entry.counts.annotated for entry in entries),
        sum(entry.counts.refused for entry in entries),
        sum(entry.counts.dead for entry in entries),
    )


def models(entries: Sequence[Entry]) -> dict[str, str]:
    """The newest model among the files of these: the folder of a class to its id."""
    found = (_MODEL.fullmatch(file.name) for entry in entries for file in entry.files)
    return {match[1]: match[2] for match in found if match}


def parse(data: bytes, number: int, where: str) -> Manifest:
    """The manifest of this number; Damaged if it is not whole or counts wrongly."""
    body = documents.unseal(data, where)
    try:
        counts = field(body, "counts", dict)
        manifest = Manifest(
            field(body, "number", int),
            field(field(body, "parent", dict), "sha256", str),
            _run(body),
            tuple(Entry.read(entry) for entry in field(body, "records", list)),
            field(counts, "tasks_in", int),
            field(counts, "already_done", int),
            field(body, "created_at", str),
            field(body, "sha256", str),
        )
        if manifest.number != number or manifest.counts != Counts.read(counts):
            raise Damaged(
                f"number {manifest.number} with {manifest.counts}: not as said"
            )
    except (TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"{where}: {error}") from error
    return manifest


def _run(body: dict[str, Any]) -> Run:
    return Run(
        field(body, "run_id", str),
        field(body, "kind", str),
        field(body, "code_version", str),
        field(body, "config_id", str),
        field(body, "config", dict),
        tuple(field(body, "models", list)),
        field(body, "details", dict),
    )


def manifest_name(number: int) -> str:
    return f"{FOLDER}/{number:06d}.json"


def summary_name(number: int) -> str:
    return f"{FOLDER}/{number:06d}-units.json"


def listed(store: stores.Store) -> tuple[list[int], list[int]]:
    """The numbers of the manifests and of the summaries, ascending."""
    found: dict[bool, list[int]] = {False: [], True: []}
    for file in store.list(FOLDER):
        match = _NUMBERED.fullmatch(file.name)
        number = int(match[1]) if match else 0
        if match and match[1] == f"{number:06d}":
            found[bool(match[2])].append(number)
    return sorted(found[False]), sorted(found[True])


@dataclasses.dataclass
class Summary:
    """What the log comes to, up to a manifest.

    Attributes:
      number: of that manifest, 0 if there is none.
      head: its sha256.
      units: the tasks of each unit that is committed.
      models: the newest model of each class; None where an older program left it out.
    """

    number: int = 0
    head: str = ""
    units: dict[str, int] = dataclasses.field(default_factory=dict)
    models: dict[str, str] | None = dataclasses.field(default_factory=dict)

    def add(self, manifest: Manifest) -> None:
        self.number, self.head = manifest.number, manifest.sha256
        self.units |= {entry.unit: entry.counts.tasks for entry in manifest.entries}
        if self.models is not None:
            self.models |= models(manifest.entries)


def summarize(store: stores.Store, summary: Summary) -> None:
    """Leaves the summary of the log up to a manifest."""
    data = documents.seal(dict(vars(summary)))
    store.create(summary_name(summary.number), data)


def read_summary(store: stores.Store, number: int) -> Summary:
    """The summary up to manifest `number`; Damaged if it is not one."""
    name = summary_name(number)
    body = documents.unseal(store.read(name), store.path(name))
    if field(body, "number", int) != number:
        raise Damaged(f"{store.path(name)} is that of another manifest")
    known = field(body, "models", dict) if "models" in body else None
    return Summary(number, field(body, "head", str), field(body, "units", dict), known)
