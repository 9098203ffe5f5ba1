"""Training images decoded, with their boxes; and as the method sees them.

A view takes about 0.1 s to make, 2 ms to read again and 0.5 MB to keep. It is wanted
two or three times, for the pool of negatives, for sampling and for competing, so the
views of a training slice are kept in the work folder as one file.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from belvedere.core import sight
from belvedere.core.formats import box_rows
from belvedere.core.formats.faults import PictureError, RowFault
from belvedere.core.sight import Eyes, View
from belvedere.core.types import Image
from belvedere.transforms import decoding, marks, sources
from belvedere.transforms.inputs import ImageRef, InputCode, InputFault
from belvedere.transforms.marks import Mark
from belvedere.transforms.training_slices import Chosen, TrainingSlice
from belvedere.transforms.work import WorkFolder

METHOD_FAILED = "method_failed"
_FORMAT = 3  # of what is kept


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """A training image, decoded, with its true boxes in the upright frame."""

    chosen: Chosen
    image: Image
    truth: Float[np.ndarray, "T 4"]
    mark: Mark


@dataclasses.dataclass(frozen=True, eq=False)
class Described:
    """A training image as the method sees it."""

    image_id: str
    view: View
    truth: Float[np.ndarray, "T 4"]
    mark: Mark


def pictures(
    training: TrainingSlice,
    decoder: decoding.Decoder,
    wanted: frozenset[str] | None = None,
) -> Iterator[Picture | InputFault]:
    """The training images of a slice (or the `wanted` ids) decoded.

    Each one comes as a picture or as a fault; a bad box among good ones is a fault too.
    """
    missing = {
        c.uri: c for c in training.chosen if wanted is None or c.image_id in wanted
    }
    broken: InputFault | None = None  # the tar itself
    for found in sources.demanded(training.piece):
        uri = found.uri if isinstance(found, InputFault) else found[0].uri
        one = missing.pop(uri, None)
        if isinstance(found, InputFault):
            broken = found if uri == training.piece.inputs[0].uri else broken
            if one:
                yield found
        elif one:
            yield from _decoded(one, *found, decoder)
    for one in missing.values():
        code, said = broken[2:] if broken else (InputCode.NOT_FOUND, "it is gone")
        yield InputFault(one.uri, one.label, str(code), said)


def _decoded(
    one: Chosen, ref: ImageRef, data: bytes, decoder: decoding.Decoder
) -> Iterator[Picture | InputFault]:
    try:
        picture = decoder.decode(data)
    except PictureError as error:
        yield InputFault(ref.uri, ref.label, str(error.code), error.message)
        return
    truth = []
    for row in one.rows:
        box = box_rows.upright(row, picture.header)
        if isinstance(box, RowFault):
            yield InputFault(ref.uri, ref.label, str(box.code), box.message)
        else:
            truth.append(box)
    if truth:
        mark = marks.of(data, picture.image)
        yield Picture(one, picture.image, np.array(truth), mark)


def views(
    training: TrainingSlice,
    eyes: Eyes,
    eyes_id: str,
    decoder: decoding.Decoder,
    work: WorkFolder,
) -> tuple[list[Described], list[InputFault]]:
    """The views of the training images of a slice, and its faults."""
    name = work.name("views", training.digest, eyes_id, _FORMAT)
    content = work.find(name, dict)
    if content is None:
        made = [_described(found, eyes) for found in pictures(training, decoder)]
        content = _packed(made)
        work.keep(name, content)
    return _unpacked(content)


def _described(found: Picture | InputFault, eyes: Eyes) -> Described | InputFault:
    if isinstance(found, InputFault):
        return found
    try:
        view = sight.look(found.image, eyes)
    except Exception as error:
        return method_fault(found.chosen, error)
    return Described(found.chosen.image_id, view, found.truth, found.mark)


def method_fault(one: Chosen, error: Exception) -> InputFault:
    """An image that the method cannot deal with; lack of memory is not its fault."""
    if isinstance(error, MemoryError):
        raise error
    said = f"{type(error).__name__}: {error}"[:500]
    return InputFault(one.uri, one.label, METHOD_FAILED, said)


def _packed(made: list[Described | InputFault]) -> dict:
    seen = [one for one in made if isinstance(one, Described)]
    return {
        "ids": tuple(one.image_id for one in seen),
        "views": tuple(one.view for one in seen),
        "truths": tuple(one.truth for one in seen),
        "marks": tuple(tuple(one.mark) for one in seen),
        "faults": tuple(tuple(one) for one in made if isinstance(one, InputFault)),
    }


def _unpacked(content: dict) -> tuple[list[Described], list[InputFault]]:
    fields = (content[k] for k in ("ids", "views", "truths", "marks"))
    seen = [
        Described(image_id, view, truth, Mark(*mark))
        for image_id, view, truth, mark in zip(*fields, strict=True)
    ]
    return seen, [InputFault(*fault) for fault in content["faults"]]
