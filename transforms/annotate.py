"""Localizes the object in each image of a work unit, and writes the unit at once.

No shuffle stands between a picture and its file: a slice of the input is read,
localized image by image and written with its record; only the record goes on.

A worker reads the log of the output once, when it starts. A unit that is in it costs
nothing more; of any other the record is looked for, which a killed run, or one beside
this, may have left.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.utils import shared

from belvedere.transforms import (
    commits,
    documents,
    records,
    sources,
    stores,
    tables,
    tally,
)
from belvedere.transforms.inputs import ImageRef, InputFault, Slice
from belvedere.transforms.localizing import Job, Localizer
from belvedere.transforms.manifests import Entry
from belvedere.transforms.model_store import ModelIndex

KIND = "annotate"
DEAD = "dead"  # namespace of counters, by code
IMAGES = "images"  # the stage of `tally` that counts every image that is dealt with


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A slice of the input and what of it is to be annotated.

    Attributes:
      piece: the slice.
      skip: tasks (uri, label) that are left alone, because they have boxes.
      only: the tasks that are wanted; None for all.
    """

    piece: Slice
    skip: frozenset[tuple[str, str]] = frozenset()
    only: frozenset[tuple[str, str]] | None = None

    def __contains__(self, ref: ImageRef | InputFault) -> bool:
        task = (ref.uri, ref.label)
        return task not in self.skip and (self.only is None or task in self.only)

    def config(self, config_id: str) -> str:
        """The configuration of a unit: that of the run, and which tasks it is about."""
        if not self.skip and self.only is None:
            return config_id
        chosen = [sorted(self.skip), sorted(self.only or ())]
        return f"{config_id}-{documents.digest(chosen)[:16]}"


def unit_of(wanted: Wanted, job: Job, index: ModelIndex) -> records.WorkUnit:
    """The work unit of a slice under the models that are in force."""
    piece = wanted.piece
    labels = {file.label for file in piece.inputs if file.label}
    used = {index.of(label) or "none" for label in labels} or {index.digest}
    return records.WorkUnit(
        KIND,
        piece.inputs,
        tuple(sorted(used)),
        wanted.config(job.config_id),
        piece.span,
        job.attempt,
    )


_logs = shared.Shared()


def log_of(job: Job) -> commits.Log:
    """The log of the output as it was when the worker started; its threads have one."""
    return _logs.acquire(
        lambda: commits.Log(stores.store_for(job.output)),
        tag=f"{job.output}\0{job.run_id}",
    )


@dataclasses.dataclass(eq=False)
class AnnotateSlices(beam.PTransform):
    """Wanted slices of the input to what `CommitEntries` takes, one per work unit.

    An entry, or the number of tasks of a unit that was committed before.
    """

    job: Job

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        return slices | "Localize" >> beam.ParDo(_LocalizeDoFn(self.job))


class _LocalizeDoFn(beam.DoFn):
    """Finds a unit in the log, or its finished record, or computes it."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self) -> None:
        self.store = stores.store_for(self.job.output)
        self.log = log_of(self.job)
        self.localizer = Localizer(self.job)

    def teardown(self) -> None:
        self.localizer.close()

    def process(self, wanted: Wanted) -> Iterator[Entry | int]:
        unit = unit_of(wanted, self.job, self.localizer.index)
        if unit.digest in self.log:
            tally.add(IMAGES, wanted.piece.images)
            yield self.log.tasks(unit.digest)
            return
        record = records.find(self.store, unit.digest)
        if record:
            tally.add(IMAGES, wanted.piece.images)
        yield Entry.of(record or self._computed(unit, wanted))

    def _computed(self, unit: records.WorkUnit, wanted: Wanted) -> records.Record:
        rows: list[dict[str, Any]] = []
        dead: list[dict[str, Any]] = []
        seen: set[tuple[str, str]] = set()
        for found in sources.read(wanted.piece):
            ref = found if isinstance(found, InputFault) else found[0]
            if ref not in wanted:
                continue
            if (ref.uri, ref.label) in seen:
                Metrics.counter(KIND, "named_twice").inc()
                continue
            seen.add((ref.uri, ref.label))
            row = self.localizer.row(found)
            (dead if "stage" in row else rows).append(row)
            if "stage" in row:
                Metrics.counter(DEAD, row["code"]).inc()
            tally.add(IMAGES)
        tally.add(IMAGES, wanted.piece.images - len(seen))  # those left alone
        job = self.job
        with tally.timed("write", len(seen)):
            return tables.finish(
                self.store, unit, rows, dead, job.run_id, job.code_version
            )
