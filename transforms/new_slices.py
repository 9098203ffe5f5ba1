"""What of an input a night has to look at: all but the tars that are done.

The listing shows every tar that is still in the input, with size and stamp. Where it
was cut is known from one file (`cuts.known`), so its units are; and if each of them is
in the log of the output, the tar is counted and that is all. Nothing is opened, nothing
is sent to a worker: a year of past nights costs a year of names in a listing.

Class folders and lists have to be listed to see what is new in them.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import apache_beam as beam

from belvedere.transforms import (
    annotate,
    cuts,
    model_store,
    sources,
    stores,
    tally,
    units,
)
from belvedere.transforms.annotate import IMAGES, Wanted
from belvedere.transforms.cuts import Cut
from belvedere.transforms.inputs import UNKNOWN_SIZE, Partition, Slice
from belvedere.transforms.localizing import Job
from belvedere.transforms.sources import Source
from belvedere.transforms.training_images import LISTED, CutPartitions

DONE = "done"  # tag of the number of tasks in tars that are done


@dataclasses.dataclass(eq=False)
class ListNewSlices(beam.PTransform):
    """Slices of sources that may hold something new ("slices"), and DONE tasks.

    With `alone`, see `CutPartitions`.
    """

    images: tuple[Source, ...]
    job: Job
    per_slice: int = units.IMAGES
    alone: bool = False

    def expand(self, pipeline: beam.Pipeline) -> Any:
        found = (
            pipeline
            | "Sources" >> beam.Create(list(self.images), reshuffle=False)
            | "New"
            >> beam.ParDo(_NewDoFn(self.job, self.per_slice)).with_outputs(
                DONE, main="partitions"
            )
        )
        cut = CutPartitions(self.per_slice, self.job.output, self.alone)
        return {"slices": found.partitions | "Slices" >> cut, DONE: found[DONE]}


def looked_up(
    store: stores.Store, source: Source, per_slice: int
) -> Iterator[tuple[Partition, list[Cut] | None]]:
    """The partitions of a source, each tar that was cut before with its cuts."""
    partitions = list(sources.partitions(source))
    digests = [_digest(partition, per_slice) for partition in partitions]
    known = cuts.known(store, "\0".join(source), [d for d in digests if d])
    for partition, digest in zip(partitions, digests, strict=True):
        yield partition, known.get(digest)


def _digest(partition: Partition, per_slice: int) -> str:
    """Empty for what is no tar."""
    if partition.size == UNKNOWN_SIZE:
        return ""
    return cuts.digest(units.tar_of(partition), partition.kind, per_slice)


class _NewDoFn(beam.DoFn):
    """A source to handfuls of partitions, without the tars that are done."""

    def __init__(self, job: Job, per_slice: int) -> None:
        self.job = job
        self.per_slice = per_slice

    def setup(self) -> None:
        self.store = stores.store_for(self.job.output)
        self.log = annotate.log_of(self.job)
        self.index = model_store.index(self.job.models, self.job.models_number)

    def process(self, source: Source) -> Iterator:
        tasks, new = 0, []
        for partition, cut_at in looked_up(self.store, source, self.per_slice):
            of = None if cut_at is None else self._tasks(partition, cut_at)
            if of is None:
                new.append(partition)
            else:
                tasks += of
        yield beam.pvalue.TaggedOutput(DONE, tasks)
        yield from units.handfuls(new)

    def _tasks(self, partition: Partition, cut_at: list[Cut]) -> int | None:
        """How many tasks of a tar are in the log, if all of its units are."""
        tar, tasks = (units.tar_of(partition),), 0
        for start, stop, images in cut_at:
            piece = Slice(partition, tar, (start, stop), images)
            unit = annotate.unit_of(Wanted(piece), self.job, self.index)
            if unit.digest not in self.log:
                return None
            tasks += self.log.tasks(unit.digest)
        for stage in (LISTED, IMAGES):
            tally.add(stage, sum(images for _, _, images in cut_at))
        return tasks
