"""Checks everything that the log of an output vouches for.

The chain of manifests, the count identity, each record, each file's size, hash, schema,
values and rows against the counts; and what lies about without being listed: the rests
of killed runs, records that wait for a commit, foreign files.
"""

import dataclasses
import hashlib
import time
from collections.abc import Iterator

import pyarrow as pa

from belvedere.transforms import manifests, records, schemas, stores, tables
from belvedere.transforms.documents import Damaged
from belvedere.transforms.manifests import Entry, Manifest, Summary
from belvedere.transforms.records import Counts, DataFile
from belvedere.transforms.stores import OutputConflict, Store

WEEK = 7 * 24 * 3600
ANNOTATE = "annotate"


@dataclasses.dataclass(frozen=True)
class Problem:
    """Something that is not as the log says: a code, the file, and what is wrong."""

    code: str
    file: str
    message: str


@dataclasses.dataclass(frozen=True)
class Unlisted:
    """A file that no manifest knows; old ones may be collected if the log is whole."""

    name: str
    size: int
    collectable: bool


@dataclasses.dataclass(frozen=True)
class Report:
    """What `verify` found.

    Attributes:
      manifests, units, files: how many were checked.
      counts: of all committed units.
      problems: what is wrong; an output without any is sound.
      unlisted: files that no manifest lists.
      waiting: those among them that are records of finished units: the next run of the
        same command commits them.
    """

    manifests: int
    units: int
    files: int
    counts: Counts
    problems: tuple[Problem, ...]
    unlisted: tuple[Unlisted, ...]
    waiting: int

    @property
    def sound(self) -> bool:
        return not self.problems


def verify(store: Store, now: float | None = None) -> Report:
    """Reads everything that the manifests list and says what is wrong with it.

    Args:
      store: of the output; nothing in it is changed.
      now: the time by which unlisted files are old, in seconds since 1970.

    Raises:
      OutputConflict: a newer program wrote a manifest, which cannot be judged here.
    """
    inspection = _Inspection(store)
    numbers, summaries = manifests.listed(store)
    inspection.log(numbers, summaries)
    unlisted = tuple(inspection.unlisted(time.time() if now is None else now))
    return Report(
        len(numbers),
        len(inspection.sum.units),
        inspection.files,
        inspection.counts,
        tuple(inspection.problems),
        unlisted,
        sum(file.name in inspection.waiting for file in unlisted),
    )


class _Inspection:
    """What has been seen so far on the way through the log."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.problems: list[Problem] = []
        self.sum = Summary()
        self.listed: set[str] = set()
        self.waiting: set[str] = set()
        self.whole_log = True
        self.files = 0
        self.counts = Counts()

    def problem(self, code: str, file: str, message: object) -> None:
        self.problems.append(Problem(code, file, str(message)))

    def log(self, numbers: list[int], summaries: list[int]) -> None:
        head = ""
        last = max([*numbers, *summaries], default=0)
        names = [manifests.manifest_name(number) for number in range(1, last + 1)]
        self.listed |= {*names, *map(manifests.summary_name, summaries)}
        contents = stores.read_many(self.store, names)
        for number, (name, data) in enumerate(zip(names, contents, strict=True), 1):
            manifest = self._manifest(number, name, data)
            if not manifest:
                self.whole_log, head = False, ""
                continue
            if head and manifest.parent != head:
                self.problem("chain", name, "it does not follow the manifest before it")
            head = manifest.sha256
            self._entries(manifest, name)
            self.sum.add(manifest)
            if number in summaries and self.whole_log:
                self._summary(number)

    def _manifest(self, number: int, name: str, data: bytes | None) -> Manifest | None:
        if data is None:
            self.problem("missing", name, "the log has a gap")
            return None
        try:
            return manifests.parse(data, number, name)
        except Damaged as error:
            self.problem("manifest", name, error)
            return None

    def _summary(self, number: int) -> None:
        name = manifests.summary_name(number)
        try:
            found = manifests.read_summary(self.store, number)
        except Damaged as error:
            self.problem("summary", name, error)
            return
        if found.models is None:  # an older program's, right as far as it goes
            found.models = self.sum.models
        if found != self.sum:
            self.problem("summary", name, "it is not the sum of the log; delete it")

    def _entries(self, manifest: Manifest, name: str) -> None:
        entries = manifest.entries
        names = [
            [next(records.names(entry.unit)), *(file.name for file in entry.files)]
            for entry in entries
        ]
        contents = stores.read_many(self.store, [n for group in names for n in group])
        for entry, group in zip(entries, names, strict=True):
            if entry.unit in self.sum.units:
                self.problem("twice", name, f"unit {entry.unit} was committed before")
            self.counts += entry.counts
            self.listed.update(group)
            record, *files = (next(contents) for _ in group)
            self._record(entry, record)
            self._rows(entry, files, manifest.run.kind == ANNOTATE)

    def _record(self, entry: Entry, first: bytes | None) -> None:
        """The record as read, or one that replaced it, must say what the entry says."""
        for name in records.names(entry.unit):
            try:
                data = self.store.read(name) if first is None else first
                record = records.parse(data, entry.unit, name)
                if Entry.of(record) == entry:
                    return
            except stores.MissingFile:
                break
            except Damaged:
                pass
            first = None
        self.problem(
            "record", next(records.names(entry.unit)), "it is not as in the manifest"
        )

    def _rows(self, entry: Entry, contents: list[bytes | None], counted: bool) -> None:
        found = {name: schema.empty_table() for name, schema in schemas.SCHEMAS.items()}
        whole = True
        for file, data in zip(entry.files, contents, strict=True):
            self.files += 1
            table = file.name.partition("/")[0]
            try:
                _check_bytes(file, data)
                if table in found:
                    found[table] = _checked_table(table, entry, file, data or b"")
            except _Fault as fault:
                self.problem(fault.code, file.name, fault)
                whole = False
        if not (counted and whole):
            return
        try:
            schemas.check_tasks(*found.values())
        except ValueError as error:
            self.problem("tasks", entry.unit, error)
        if (counts := schemas.counts(*found.values())) != entry.counts:
            self.problem("counts", entry.unit, f"{entry.counts} listed, {counts} found")

    def unlisted(self, now: float) -> Iterator[Unlisted]:
        folders = (*schemas.SCHEMAS, records.FOLDER, manifests.FOLDER)
        for folder in folders:
            for file in sorted(self.store.list(folder), key=lambda file: file.name):
                unit = file.name.partition("/")[2][:64]
                is_record = folder == records.FOLDER and "/." not in file.name
                if file.name in self.listed or (is_record and unit in self.sum.units):
                    continue
                if is_record:
                    self.waiting.add(file.name)
                old = now - file.modified > WEEK
                yield Unlisted(file.name, file.size, old and self.whole_log)


class _Fault(Exception):
    def __init__(self, code: str, message: object) -> None:
        super().__init__(str(message))
        self.code = code


def _check_bytes(file: DataFile, data: bytes | None) -> None:
    if data is None:
        raise _Fault("missing", "the file is gone")
    if len(data) != file.size:
        raise _Fault("size", f"{len(data)} bytes, {file.size} listed")
    if (sha256 := hashlib.sha256(data).hexdigest()) != file.sha256:
        raise _Fault("hash", f"SHA-256 {sha256}, {file.sha256} listed")


def _checked_table(name: str, entry: Entry, file: DataFile, data: bytes) -> pa.Table:
    if file.name != tables.file_name(name, entry.unit, file.sha256):
        raise _Fault("name", "the name is not made of unit and content")
    try:
        table = tables.decode(name, data, file.name)
        schemas.check(table)
    except OutputConflict as error:
        raise _Fault("schema", error) from error
    except ValueError as error:
        raise _Fault("values", error) from error
    if len(table) != file.rows:
        raise _Fault("rows", f"{len(table)} rows, {file.rows} listed")
    return table
