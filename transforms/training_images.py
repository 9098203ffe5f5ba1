"""Which images are learned from: those with boxes, a bounded number of each class.

Images are listed, joined with the boxes by key, and of each class the `most` with the
smallest hashes are kept. Everything that is shuffled here is names and boxes. What
comes out are slices of the input again, each with the boxes of its chosen images.
"""

import dataclasses
import hashlib
import heapq
from collections.abc import Iterable, Iterator

import apache_beam as beam

from belvedere.core.formats.box_rows import BoxRow
from belvedere.transforms import box_sources, documents, sources, units
from belvedere.transforms.annotate import Wanted
from belvedere.transforms.box_sources import BoxPartition, Key
from belvedere.transforms.inputs import ImageRef, InputFault, Partition, Slice
from belvedere.transforms.sources import Source

FAULTS = "faults"  # tag of inputs that cannot be used


@dataclasses.dataclass(frozen=True)
class Chosen:
    """An image to learn from, the slice it is in, and its boxes as they were given."""

    lot: str
    label: str
    image_id: str
    slice_digest: str
    rows: tuple[BoxRow, ...]


@dataclasses.dataclass(frozen=True)
class TrainingSlice:
    """A slice of the input and the images of it that are learned from, by id."""

    piece: Slice
    chosen: tuple[Chosen, ...]

    @property
    def digest(self) -> str:
        """Stands for the files and for the boxes."""
        return documents.digest(
            [
                slice_digest(self.piece),
                [
                    [c.label, c.image_id, [list(r.box) for r in c.rows]]
                    for c in self.chosen
                ],
            ]
        )


def slice_digest(piece: Slice) -> str:
    inputs = [list(dataclasses.astuple(i)) for i in piece.inputs]
    return documents.digest([list(piece.partition), inputs, piece.span])


@dataclasses.dataclass(eq=False)
class ListSlices(beam.PTransform):
    """The slices of sources of images, cut on workers."""

    images: tuple[Source, ...]
    per_slice: int = units.IMAGES

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        return (
            pipeline
            | "Sources" >> beam.Create(list(self.images), reshuffle=False)
            | "Partitions" >> beam.FlatMap(sources.partitions)
            | "Spread" >> beam.Reshuffle()
            | "Cut" >> beam.FlatMap(_cut, self.per_slice)
            | "SpreadSlices" >> beam.Reshuffle()
            | "Stamp" >> beam.Map(units.stamped)
        )


def _cut(partition: Partition, per_slice: int) -> Iterator[Slice]:
    return units.slices(partition, per_slice)


@dataclasses.dataclass(eq=False)
class ChooseTrainingImages(beam.PTransform):
    """Slices to training slices, and faults of the boxes under the tag FAULTS."""

    boxes: Source
    most: int

    def expand(self, slices: beam.PCollection) -> dict[str, beam.PCollection]:
        keyed = slices | "ByDigest" >> beam.Map(lambda p: (slice_digest(p), p))
        refs = keyed | "List" >> beam.FlatMap(_references, self.boxes.format)
        rows = (
            slices.pipeline
            | "Boxes" >> beam.Create([self.boxes], reshuffle=False)
            | "BoxPartitions" >> beam.FlatMap(box_sources.partitions)
            | "SpreadBoxes" >> beam.Reshuffle()
            | "ReadBoxes" >> beam.FlatMap(_read_boxes).with_outputs(FAULTS, main="rows")
        )
        joined = (
            {"images": refs, "boxes": rows.rows}
            | "Join" >> beam.CoGroupByKey()
            | "Match" >> beam.FlatMapTuple(_match).with_outputs(FAULTS, main="chosen")
        )
        kept = (
            joined.chosen
            | "ByClass" >> beam.Map(lambda c: (c.label, c))
            | "Fewest" >> beam.CombinePerKey(BottomK(self.most))
            | "Each" >> beam.FlatMapTuple(lambda _, chosen: chosen)
            | "BySlice" >> beam.Map(lambda c: (c.slice_digest, c))
        )
        return {
            "slices": {"piece": keyed, "chosen": kept}
            | "Regroup" >> beam.CoGroupByKey()
            | "Slices" >> beam.FlatMapTuple(_training_slice),
            FAULTS: (rows[FAULTS], joined[FAULTS]) | "Faults" >> beam.Flatten(),
        }


@dataclasses.dataclass(eq=False)
class WithoutBoxed(beam.PTransform):
    """Slices to what of them has no box yet, as `annotate.Wanted`."""

    boxes: Source

    def expand(self, slices: beam.PCollection) -> beam.PCollection:
        everything = 1 << 40
        training = slices | "Boxed" >> ChooseTrainingImages(self.boxes, everything)
        boxed = training["slices"] | "ByPiece" >> beam.Map(
            lambda s: (slice_digest(s.piece), frozenset(c.image_id for c in s.chosen))
        )
        keyed = slices | "ByDigest" >> beam.Map(lambda p: (slice_digest(p), p))
        return (
            {"piece": keyed, "boxed": boxed}
            | "Subtract" >> beam.CoGroupByKey()
            | "Rest" >> beam.FlatMapTuple(_unboxed)
        )


def _unboxed(_digest: str, joined: dict[str, Iterable]) -> Iterator[Wanted]:
    skip = frozenset().union(*joined["boxed"])
    for piece in joined["piece"]:
        if len(skip) < piece.images:
            yield Wanted(piece, skip)


class BottomK(beam.CombineFn):
    """The k elements with the smallest `lot`; equal lots by image id."""

    def __init__(self, k: int) -> None:
        self.k = k

    def create_accumulator(self) -> list[Chosen]:
        return []

    def add_input(self, kept: list[Chosen], element: Chosen) -> list[Chosen]:
        return self._least([*kept, element])

    def merge_accumulators(self, parts: Iterable[list[Chosen]]) -> list[Chosen]:
        return self._least([one for part in parts for one in part])

    def extract_output(self, kept: list[Chosen]) -> list[Chosen]:
        return kept

    def _least(self, elements: list[Chosen]) -> list[Chosen]:
        if len(elements) <= self.k:
            return elements
        return heapq.nsmallest(self.k, elements, key=lambda c: (c.lot, c.image_id))


def lot(purpose: str, label: str, image_id: str) -> str:
    """A number between 0 and 1, as hexadecimal digits, that an image draws."""
    text = f"{purpose}\0{label}\0{image_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def share(drawn: str) -> float:
    """The number that a lot stands for."""
    return int(drawn, 16) / 16**16


def _references(
    keyed: tuple[str, Slice], box_format: str
) -> Iterator[tuple[Key, tuple[str, ImageRef]]]:
    """The images of a slice by the key of their boxes; faults are reported later."""
    digest, piece = keyed
    for found in sources.references(piece):
        if not isinstance(found, InputFault):
            yield box_sources.image_key(found, box_format), (digest, found)


def _read_boxes(partition: BoxPartition) -> Iterator:
    for found in box_sources.read(partition):
        if isinstance(found, InputFault):
            yield beam.pvalue.TaggedOutput(FAULTS, found)
        else:
            yield found


def _match(key: Key, joined: dict[str, Iterable]) -> Iterator:
    """An image with its boxes; a box that fits two images, or none, is a fault."""
    images, rows = list(joined["images"]), list(joined["boxes"])
    if not rows:
        return
    found = sorted({ref: digest for digest, ref in images}.items())
    if len(found) != 1:
        said = (
            "no image has this name" if not found else "several images have this name"
        )
        code = "image_missing" if not found else "image_ambiguous"
        yield beam.pvalue.TaggedOutput(FAULTS, InputFault(key[1], key[0], code, said))
        return
    (ref, digest), ordered = found[0], sorted(rows, key=lambda r: r.box)
    drawn = lot("train", ref.label, ref.image_id)
    yield Chosen(drawn, ref.label, ref.image_id, digest, tuple(ordered))


def _training_slice(
    _digest: str, joined: dict[str, Iterable]
) -> Iterator[TrainingSlice]:
    chosen = sorted(joined["chosen"], key=lambda c: (c.label, c.image_id))
    if chosen:
        yield TrainingSlice(next(iter(joined["piece"])), tuple(chosen))
