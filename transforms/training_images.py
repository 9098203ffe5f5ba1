"""Which images are learned from: those with boxes, a bounded number of each class.

Images are listed, joined with the boxes by key, and of each class the `most` with the
smallest hashes are kept. Everything that is shuffled here is names and boxes.
"""

import dataclasses
import heapq
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics

from belvedere.transforms import (
    box_sources,
    sources,
    stores,
    tally,
    training_slices,
    units,
)
from belvedere.transforms.annotate import Wanted
from belvedere.transforms.box_sources import BoxPartition, Key
from belvedere.transforms.inputs import Handful, ImageRef, InputFault, Slice
from belvedere.transforms.records import Input
from belvedere.transforms.sources import Source
from belvedere.transforms.training_slices import Chosen, slice_digest

FAULTS = "faults"  # tag of inputs that cannot be used
BOXES, ZERO_BASED = "boxes", "zero_based"  # a counter: see `BoxRow.zero_based`
LISTED = "listed"  # the stage of `tally` that counts the images of the input


@dataclasses.dataclass(eq=False)
class ListSlices(beam.PTransform):
    """The slices of sources of images, cut on workers.

    Where `cuts` is given, how tars were cut is kept there: see `cuts`. With `alone`,
    see `CutPartitions`.
    """

    images: tuple[Source, ...]
    per_slice: int = units.IMAGES
    cuts: str = ""
    alone: bool = False

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        return (
            pipeline
            | "Sources" >> beam.Create(list(self.images), reshuffle=False)
            | "Partitions" >> beam.FlatMap(_partitions)
            | "Slices" >> CutPartitions(self.per_slice, self.cuts, self.alone)
        )


def _partitions(source: Source) -> Iterator[Handful]:
    return units.handfuls(sources.partitions(source))


@dataclasses.dataclass(eq=False)
class CutPartitions(beam.PTransform):
    """Handfuls of partitions to the slices in them.

    Slices are spread over the workers, and the runner holds all that wait. Where one
    process works `alone` there is nobody to spread them to: each is worked on as soon
    as it is cut, and none waits. To say beforehand how many images there are, all is
    listed once more, which takes less than to send the slices on did.
    """

    per_slice: int
    cuts: str
    alone: bool = False

    def expand(self, handfuls: beam.PCollection) -> beam.PCollection:
        how = self.per_slice, self.cuts
        if self.alone:
            counted = handfuls | "Count" >> beam.Map(_counted, *how)
            slices = (
                counted
                | "Spread" >> beam.Reshuffle()
                | "Cut" >> beam.FlatMap(_cut, *how)
            )
        else:
            slices = (
                handfuls
                | "Spread" >> beam.Reshuffle()
                | "Cut" >> beam.FlatMap(_counting, *how)
                | "SpreadSlices" >> beam.Reshuffle()
            )
        return slices | "Stamp" >> beam.Map(units.stamped)


def _cut(handful: Handful, per_slice: int, kept_in: str) -> Iterator[Slice]:
    store = stores.store_for(kept_in) if kept_in else None
    for partition in handful:
        yield from units.slices(partition, per_slice, store)


def _counting(handful: Handful, *how: Any) -> Iterator[Slice]:
    for piece in _cut(handful, *how):
        tally.add(LISTED, piece.images)
        yield piece


def _counted(handful: Handful, *how: Any) -> Handful:
    tally.add(LISTED, sum(piece.images for piece in _cut(handful, *how)))
    return handful


@dataclasses.dataclass(eq=False)
class MatchBoxes(beam.PTransform):
    """Slices to their images with boxes ("chosen"), and FAULTS of the boxes."""

    boxes: Source

    def expand(self, slices: beam.PCollection) -> Any:
        rows = (
            slices.pipeline
            | "Boxes" >> beam.Create([self.boxes], reshuffle=False)
            | "BoxPartitions" >> beam.FlatMap(box_sources.partitions)
            | "SpreadBoxes" >> beam.Reshuffle()
            | "ReadBoxes" >> beam.FlatMap(_read_boxes).with_outputs(FAULTS, main="rows")
        )
        refs = slices | "Images" >> beam.FlatMap(_references, self.boxes.format)
        matched = (
            {"images": refs, "boxes": rows.rows}
            | "Join" >> beam.CoGroupByKey()
            | "Match" >> beam.FlatMapTuple(_match).with_outputs(FAULTS, main="chosen")
        )
        faults = (rows[FAULTS], matched[FAULTS]) | "Faults" >> beam.Flatten()
        return {"chosen": matched.chosen, FAULTS: faults}


@dataclasses.dataclass(eq=False)
class ChooseTrainingImages(beam.PTransform):
    """Slices to the chosen images of each class ("classes"), and FAULTS.

    With `rescale`, boxes fit a uniformly scaled copy of their picture.
    """

    boxes: Source
    most: int
    rescale: bool = False

    def expand(self, slices: beam.PCollection) -> Any:
        matched = slices | "Boxed" >> MatchBoxes(self.boxes)
        classes = (
            matched["chosen"]
            | "ByClass" >> beam.Map(_by_class, self.rescale)
            | "Fewest" >> beam.CombinePerKey(BottomK(self.most))
            | "Names" >> beam.MapTuple(_named)
        )
        return {"classes": classes, FAULTS: matched[FAULTS]}


@dataclasses.dataclass(eq=False)
class CutTraining(beam.PTransform):
    """Chosen images to the training slices that they are read in."""

    slices: beam.PCollection

    def expand(self, chosen: beam.PCollection) -> beam.PCollection:
        return (
            {
                "piece": self.slices | "Slices" >> beam.Map(_by_digest),
                "chosen": chosen | "Chosen" >> beam.Map(lambda c: (c.slice_digest, c)),
            }
            | "Regroup" >> beam.CoGroupByKey()
            | "Pieces" >> beam.FlatMapTuple(_training_slices)
            | "Spread" >> beam.Reshuffle()
        )


@dataclasses.dataclass(eq=False)
class WithoutBoxed(beam.PTransform):
    """Slices to what of them has no box yet, as `annotate.Wanted`."""

    boxes: Source

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        matched = slices | "Boxed" >> MatchBoxes(self.boxes)
        boxed = matched["chosen"] | "Tasks" >> beam.Map(
            lambda c: (c.slice_digest, (c.uri, c.label))
        )
        return (
            {"piece": slices | "Slices" >> beam.Map(_by_digest), "boxed": boxed}
            | "Subtract" >> beam.CoGroupByKey()
            | "Rest" >> beam.FlatMapTuple(_unboxed)
        )


def _by_class(chosen: Chosen, rescale: bool) -> tuple[str, Chosen]:
    if rescale:
        rows = tuple(dataclasses.replace(row, rescale=True) for row in chosen.rows)
        chosen = dataclasses.replace(chosen, rows=rows)
    return chosen.label, chosen


def _by_digest(piece: Slice) -> tuple[str, Slice]:
    return slice_digest(piece), piece


def _unboxed(_digest: str, joined: dict[str, Iterable]) -> Iterator[Wanted]:
    skip = frozenset(joined["boxed"])
    for piece in joined["piece"]:
        if len(skip) < piece.images:
            yield Wanted(piece, skip)


def _training_slices(_digest: str, joined: dict[str, Iterable]) -> Iterator:
    for piece in itertools.islice(joined["piece"], 1):
        yield from training_slices.cut(piece, joined["chosen"])


class BottomK(beam.CombineFn):
    """The k elements with the smallest `lot`; equal lots by id and address."""

    def __init__(self, k: int) -> None:
        self.k = k

    def create_accumulator(self) -> list[Chosen]:
        return []

    def add_input(self, kept: list[Chosen], element: Chosen) -> list[Chosen]:
        kept.append(element)
        return self._least(kept) if len(kept) >= 2 * self.k else kept

    def merge_accumulators(self, parts: Iterable[list[Chosen]]) -> list[Chosen]:
        return self._least([one for part in parts for one in part])

    def extract_output(self, kept: list[Chosen]) -> list[Chosen]:
        return self._least(kept)

    def _least(self, elements: list[Chosen]) -> list[Chosen]:
        return heapq.nsmallest(
            self.k, elements, key=lambda c: (c.lot, c.image_id, c.uri)
        )


def _named(label: str, chosen: list[Chosen]) -> tuple[str, tuple[Chosen, ...]]:
    """Two sources may each have an image of this id: the second goes by its address."""
    ordered = sorted(chosen, key=lambda c: (c.image_id, c.uri))
    seen: set[str] = set()
    result = []
    for one in ordered:
        unique = one.uri if one.image_id in seen else one.image_id
        seen.add(unique)
        result.append(dataclasses.replace(one, image_id=unique))
    return label, tuple(result)


def _references(
    piece: Slice, box_format: str
) -> Iterator[tuple[Key, tuple[str, ImageRef, Input]]]:
    """The images of a slice by the key of their boxes; faults are reported later."""
    digest, files = slice_digest(piece), {file.uri: file for file in piece.inputs}
    for found in sources.references(piece):
        if not isinstance(found, InputFault):
            holder = files.get(found.uri, piece.inputs[0])
            file = dataclasses.replace(holder, uri=found.uri, label=found.label)
            yield box_sources.image_key(found, box_format), (digest, found, file)


def _read_boxes(partition: BoxPartition) -> Iterator:
    for found in box_sources.read(partition):
        if isinstance(found, InputFault):
            yield beam.pvalue.TaggedOutput(FAULTS, found)
        else:
            Metrics.counter(BOXES, ZERO_BASED).inc(found[1].zero_based)
            yield found


def _match(key: Key, joined: dict[str, Iterable]) -> Iterator:
    """An image with its boxes; a box that fits two images, or none, is a fault."""
    rows = sorted(joined["boxes"], key=lambda r: (r.box, r.where))
    if not rows:
        return
    images = sorted(joined["images"], key=lambda found: found[1:])
    found = {ref.uri: (ref, digest, file) for digest, ref, file in images}
    if len(found) != 1:
        said = (
            "no image has this name" if not found else "several images have this name"
        )
        code = "image_missing" if not found else "image_ambiguous"
        yield beam.pvalue.TaggedOutput(FAULTS, InputFault(key[1], key[0], code, said))
        return
    ((ref, digest, file),) = found.values()
    drawn = training_slices.lot("train", ref.label, ref.image_id)
    yield Chosen(drawn, ref.label, ref.image_id, file, digest, tuple(rows))
