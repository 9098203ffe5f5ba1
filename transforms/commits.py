"""Committing: the one place where finished work becomes visible.

`Log` knows which units an output has; `commit` adds those it has not. No step is linear
in the number of past commits but the listing of their names: after 100 manifests, or
10,000 units, or some megabytes, the committer leaves a summary, and the start of a run
reads on from that. A summary takes about 70 bytes for each unit ever committed.
A run with very many units makes several manifests, none too large for a plain upload.
"""

import dataclasses
import itertools
import random
import re
import time
from collections.abc import Iterable, Iterator

from belvedere.transforms import documents, manifests, stores
from belvedere.transforms.documents import Damaged
from belvedere.transforms.manifests import Entry, Manifest, Run, Summary
from belvedere.transforms.records import Counts
from belvedere.transforms.stores import OutputConflict

MAX_UNITS = 2000  # of a manifest; a committer holds so many at once
SUMMARY_EVERY = 100
SUMMARY_UNITS = 10_000
SUMMARY_BYTES = 4 << 20  # of manifests, and no less than the summary itself takes
_UNIT_BYTES = 70
_ATTEMPTS = 100
EVALUATIONS = "evaluations"  # what `evaluate` leaves, which has no log
_EVALUATION = re.compile(rf"{EVALUATIONS}/[^/]+\.json")
_VERIFY = "the log is damaged; `belvedere verify` says more"


class Log:
    """The units committed to an output, as of the last `refresh`.

    Holds a digest and a number per unit, not the manifests. With `last`, the log as it
    was after that manifest.
    """

    def __init__(self, store: stores.Store, last: int | None = None) -> None:
        self.store = store
        self._last = last
        self._sum = Summary()
        self._summarized = 0, 0  # manifests, units
        self._bytes = 0  # of the manifests behind the summary
        self.refresh()

    @property
    def number(self) -> int:
        """That of the last manifest."""
        return self._sum.number

    @property
    def models(self) -> dict[str, str]:
        """Of a model store: the folder of each class to the id of its newest model."""
        return self._sum.models or {}

    def __contains__(self, unit: object) -> bool:
        return unit in self._sum.units

    def __len__(self) -> int:
        return len(self._sum.units)

    def tasks(self, unit: str) -> int:
        """How many tasks a committed unit has, 0 if it is not committed."""
        return self._sum.units.get(unit, 0)

    def refresh(self) -> None:
        """Reads what has been committed since."""
        last, summaries = _listed(self.store)
        if self._last is not None:
            last = min(last, self._last)
        if not self.number:
            self._start([number for number in summaries if number <= last])
        for manifest, size in _read(self.store, self.number + 1, last):
            self._add(manifest, size)

    def manifests(self, first: int = 1) -> Iterator[Manifest]:
        """All commits in order, or those from one on, read one after the other."""
        return (manifest for manifest, _ in _read(self.store, first, self.number))

    def _start(self, summaries: list[int]) -> None:
        for number in reversed(summaries):
            try:
                found = manifests.read_summary(self.store, number)
            except (Damaged, stores.MissingFile):  # it only saves time
                continue
            if found.models is not None:
                self._sum, self._summarized = found, (number, len(found.units))
                return

    def _add(self, manifest: Manifest, size: int) -> None:
        if manifest.parent != self._sum.head:
            where = self.store.path(manifests.manifest_name(manifest.number))
            raise OutputConflict(f"{where} does not follow its parent: {_VERIFY}")
        self._sum.add(manifest)
        self._bytes += size

    def append(self, run: Run, entries: list[Entry], already_done: int) -> bool:
        """Puts a manifest behind those that are known; False if one is there now."""
        number = self.number + 1
        manifest = Manifest(
            number,
            self._sum.head,
            run,
            tuple(entries),
            already_done + manifests.total(entries).tasks,
            already_done,
            documents.now(),
        )
        name, data = manifests.manifest_name(number), manifest.document()
        # A lost answer from a cloud store makes our own file look like another's.
        if not self.store.create(name, data) and self.store.read(name) != data:
            return False
        sha256 = documents.unseal(data, name)["sha256"]
        self._add(dataclasses.replace(manifest, sha256=sha256), len(data))
        return True

    def summarize(self) -> None:
        """Leaves a summary where reading on from the last one takes long."""
        manifests_since = self.number - self._summarized[0]
        units_since = len(self) - self._summarized[1]
        if (
            manifests_since >= SUMMARY_EVERY
            or units_since >= SUMMARY_UNITS
            or self._bytes >= max(SUMMARY_BYTES, _UNIT_BYTES * len(self))
        ):
            manifests.summarize(self.store, self._sum)
            self._summarized, self._bytes = (self.number, len(self)), 0


def kind_of(log: Log) -> str:
    """The command that an output holds the work of, "" if it holds none."""
    if not log.number:
        files = log.store.list(EVALUATIONS)
        judged = any(_EVALUATION.fullmatch(file.name) for file in files)
        return "evaluate" if judged else ""
    (first,) = _read(log.store, 1, 1)
    return first[0].run.kind


def _listed(store: stores.Store) -> tuple[int, list[int]]:
    """The last number of an unbroken log, and the numbers with a summary."""
    for pause in (0.01, 0.1, 1.0, None):
        numbers, summaries = manifests.listed(store)
        last = numbers[-1] if numbers else 0
        if len(numbers) == last >= max(summaries, default=0):
            return last, summaries
        # A listing made while others commit may show a file and not the one before.
        if pause:
            time.sleep(pause)
    where = f"{store.uri}/{manifests.FOLDER}"
    raise OutputConflict(f"{where} has {len(numbers)} of {last} manifests: {_VERIFY}")


def _read(store: stores.Store, first: int, last: int) -> Iterator[tuple[Manifest, int]]:
    """The manifests from one number to another, with their sizes."""
    names = [manifests.manifest_name(number) for number in range(first, last + 1)]
    contents = stores.read_many(store, names)
    for number, name, data in zip(itertools.count(first), names, contents):
        try:
            manifest = manifests.parse(data or b"", number, store.path(name))
        except Damaged as error:
            raise OutputConflict(f"{error}: {_VERIFY}") from error
        yield manifest, len(data or b"")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a commit came to: the manifests it made, and how the tasks ended."""

    manifests: tuple[int, ...]
    already_done: int
    counts: Counts

    @property
    def tasks_in(self) -> int:
        return self.already_done + self.counts.tasks


def commit(
    log: Log,
    run: Run,
    entries: Iterable[Entry],
    already_done: int = 0,
    since: int | None = None,
) -> Outcome:
    """Adds the units that are not in the log yet; writes nothing if there are none.

    A runner may do this again, after some of the manifests or all: what this very run
    has committed counts there, and not as done by others.

    Args:
      log: of the output; brought up to date.
      run: who commits.
      entries: the finished units, in any order; may be a stream.
      already_done: tasks that this run found committed when it started.
      since: the last manifest before the run; without it all in the log is of others.

    Raises:
      OutputConflict: others were faster, again and again.
    """
    log.refresh()
    mine = _units_of(log, run, log.number if since is None else since)
    outcome = Outcome((), already_done, Counts())
    untold = 0 if mine else already_done  # told by the next manifest
    for batch in _batches(entry for entry in entries if entry.unit not in mine):
        fresh, late = _commit_batch(log, run, batch, untold)
        untold = 0 if fresh else untold + late
        outcome = Outcome(
            outcome.manifests + ((log.number,) if fresh else ()),
            outcome.already_done + late,
            outcome.counts + manifests.total(fresh),
        )
    if outcome.manifests:
        log.summarize()
    return outcome


def _units_of(log: Log, run: Run, since: int) -> set[str]:
    """The units that a run has committed, which began behind a manifest."""
    return {
        entry.unit
        for manifest in log.manifests(since + 1)
        if manifest.run.run_id == run.run_id
        for entry in manifest.entries
    }


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    stream = iter(entries)
    while batch := {entry.unit: entry for entry in itertools.islice(stream, MAX_UNITS)}:
        yield [batch[unit] for unit in sorted(batch)]


def _commit_batch(
    log: Log, run: Run, batch: list[Entry], already_done: int
) -> tuple[list[Entry], int]:
    """The entries that were added, and the tasks of those others committed before."""
    for attempt in range(_ATTEMPTS):
        fresh = [entry for entry in batch if entry.unit not in log]
        late = manifests.total(batch).tasks - manifests.total(fresh).tasks
        if not fresh or log.append(run, fresh, already_done + late):
            return fresh, late
        time.sleep(random.random() * min(1.0, 0.01 * 2**attempt))
        log.refresh()
    raise OutputConflict(
        f"{log.store.uri}: {_ATTEMPTS} commits by others came first; the finished work "
        "is kept, run the same command again"
    )
