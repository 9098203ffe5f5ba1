"""Images that are learned from, and the small pieces of the input they are read in.

A piece holds a few images of one class: what is made of it fits into memory and into
one file, and takes seconds. A shard with many classes is read once for each of them,
which costs little beside describing a picture.
"""

import dataclasses
import functools
import hashlib
import itertools
from collections.abc import Iterable, Iterator

from belvedere.core.formats.box_rows import BoxRow
from belvedere.transforms import documents
from belvedere.transforms.inputs import Slice
from belvedere.transforms.records import Input

IMAGES = 16  # in a piece: views of 8 MB, two seconds of work


@dataclasses.dataclass(frozen=True)
class Chosen:
    """An image to learn from.

    Attributes:
      lot: of the image, by which it was chosen.
      label: the class.
      image_id: unique within the class.
      file: the image's address; size and stamp of the file, or of the tar it is in.
      slice_digest: of the slice it is in.
      rows: its boxes as they were given.
    """

    lot: str
    label: str
    image_id: str
    file: Input
    slice_digest: str
    rows: tuple[BoxRow, ...]

    @property
    def uri(self) -> str:
        return self.file.uri

    @functools.cached_property
    def identity(self) -> Input:
        """Stands for all that is learned from this image, before it is read."""
        boxes = [
            [list(r.box), r.width, r.height, *([True] * r.rescale)] for r in self.rows
        ]
        stamp = documents.digest([self.file.stamp, self.image_id, boxes])[:32]
        return dataclasses.replace(self.file, stamp=stamp, label=self.label)


@dataclasses.dataclass(frozen=True)
class TrainingSlice:
    """A few images of a class that are learned from, by id, and where they are read."""

    piece: Slice
    chosen: tuple[Chosen, ...]

    @property
    def label(self) -> str:
        return self.chosen[0].label

    @functools.cached_property
    def digest(self) -> str:
        """Stands for the files and for the boxes."""
        return identity(self.chosen)


def identity(chosen: Iterable[Chosen]) -> str:
    """A digest of all that can be learned from these images."""
    return documents.digest(
        sorted(list(dataclasses.astuple(c.identity)) for c in chosen)
    )


def slice_digest(piece: Slice) -> str:
    inputs = [list(dataclasses.astuple(i)) for i in piece.inputs]
    return documents.digest([list(piece.partition), inputs, piece.span])


def cut(
    piece: Slice, chosen: Iterable[Chosen], images: int = IMAGES
) -> Iterator[TrainingSlice]:
    """The chosen images of a slice, class by class, some at a time."""
    ordered = sorted(chosen, key=lambda c: (c.label, c.image_id))
    for _, group in itertools.groupby(ordered, key=lambda c: c.label):
        while some := tuple(itertools.islice(group, images)):
            yield TrainingSlice(_narrowed(piece, some), some)


def _narrowed(piece: Slice, chosen: tuple[Chosen, ...]) -> Slice:
    """The slice without the files of other images; a tar stays what it is."""
    if piece.span is not None:
        return piece
    wanted = {c.uri for c in chosen}
    files = tuple(file for file in piece.inputs if file.uri in wanted)
    return dataclasses.replace(piece, inputs=files, images=len(files))


def lot(purpose: str, label: str, image_id: str) -> str:
    """A number between 0 and 1, as hexadecimal digits, that an image draws."""
    text = f"{purpose}\0{label}\0{image_id}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16]


def share(drawn: str) -> float:
    """The number that a lot stands for."""
    return int(drawn, 16) / 16**16
