"""The end of every pipeline: finished work units become visible in one manifest."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics

from belvedere.transforms import commits, manifests, stores
from belvedere.transforms.manifests import Entry, Run

NAMESPACE = "commit"
_TOGETHER = 100  # entries that travel in one piece
_NONE: Mapping[str, Any] = {}


@dataclasses.dataclass(eq=False)
class CommitEntries(beam.PTransform):
    """Entries of work units to the numbers of the manifests that list them.

    The entries of all new units meet here, under 100 bytes each; their rows do not.
    A unit that a worker knew from the log is a number of tasks in place of an entry;
    `done` are such numbers from elsewhere. `since` is the last manifest before the run.
    """

    output: str
    run: Run
    since: int
    details: beam.PCollection | None = None  # one mapping, added to the run's own
    done: tuple[beam.PCollection, ...] = ()

    def expand(self, entries: beam.PCollection) -> beam.PCollection:
        packed = [  # before they meet: what is flattened may be held by the runner
            some
            | f"Some{n}"
            >> beam.BatchElements(_TOGETHER, _TOGETHER, record_metrics=False)
            | f"Pack{n}" >> beam.Map(_packed)
            for n, some in enumerate((entries, *self.done))
        ]
        return (
            packed
            | "Ended" >> beam.Flatten()
            | "Together" >> beam.WithKeys(0)
            | "Gather" >> beam.GroupByKey()
            | "Commit"
            >> beam.ParDo(_CommitDoFn(self.output, self.run, self.since), *self._side())
        )

    def _side(self) -> list[beam.pvalue.AsSideInput]:
        return [beam.pvalue.AsSingleton(self.details)] if self.details else []


def _packed(some: list[Entry | int]) -> tuple[int, bytes]:
    """The tasks of units that were known, and the entries of those that were not."""
    known = sum(one for one in some if isinstance(one, int))
    return known, manifests.packed(one for one in some if isinstance(one, Entry))


class _CommitDoFn(beam.DoFn):
    """Repeating it commits nothing twice: what is in the log is dropped."""

    def __init__(self, output: str, run: Run, since: int) -> None:
        self.output = output
        self.run = run
        self.since = since

    def process(
        self,
        keyed: tuple[int, Iterable[tuple[int, bytes]]],
        details: Mapping[str, Any] = _NONE,
    ) -> Iterator[int]:
        log = commits.Log(stores.store_for(self.output))
        run = dataclasses.replace(self.run, details={**self.run.details, **details})
        known = sum(number for number, _ in keyed[1])
        entries = (one for _, some in keyed[1] for one in manifests.unpacked(some))
        outcome = commits.commit(log, run, entries, known, self.since)
        counts = {**vars(outcome.counts), "already_done": outcome.already_done}
        for name, count in counts.items():
            Metrics.counter(NAMESPACE, name).inc(count)
        yield from outcome.manifests
