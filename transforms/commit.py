"""The end of every pipeline: finished work units become visible in one manifest."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics

from belvedere.transforms import commits, stores
from belvedere.transforms.manifests import Entry, Run

NAMESPACE = "commit"
_NONE: Mapping[str, Any] = {}


@dataclasses.dataclass(eq=False)
class CommitEntries(beam.PTransform):
    """Entries of work units to the numbers of the manifests that list them.

    The entries of all new units meet here, a few hundred bytes each; their rows do not.
    A unit that a worker knew from the log is a number of tasks in place of an entry.
    """

    output: str
    run: Run
    details: beam.PCollection | None = None  # one mapping, added to the run's own

    def expand(self, entries: beam.PCollection) -> beam.PCollection:
        return (
            entries
            | "Pack" >> beam.Map(_packed)
            | "Together" >> beam.WithKeys(0)
            | "Gather" >> beam.GroupByKey()
            | "Commit" >> beam.ParDo(_CommitDoFn(self.output, self.run), *self._side())
        )

    def _side(self) -> list[beam.pvalue.AsSideInput]:
        return [beam.pvalue.AsSingleton(self.details)] if self.details else []


def _packed(entry: Entry | int) -> bytes | int:
    return entry if isinstance(entry, int) else entry.packed()


class _CommitDoFn(beam.DoFn):
    """Repeating it commits nothing twice: what is in the log is dropped."""

    def __init__(self, output: str, run: Run) -> None:
        self.output = output
        self.run = run

    def process(
        self,
        keyed: tuple[int, Iterable[bytes | int]],
        details: Mapping[str, Any] = _NONE,
    ) -> Iterator[int]:
        log = commits.Log(stores.store_for(self.output))
        run = dataclasses.replace(self.run, details={**self.run.details, **details})
        known = sum(one for one in keyed[1] if isinstance(one, int))
        packed = (one for one in keyed[1] if isinstance(one, bytes))
        entries = (Entry.unpacked(one) for one in packed)
        outcome = commits.commit(log, run, entries, known)
        counts = {**vars(outcome.counts), "already_done": outcome.already_done}
        for name, count in counts.items():
            Metrics.counter(NAMESPACE, name).inc(count)
        yield from outcome.manifests
