"""The views of training images: computed once, kept in a work folder, read again.

A view takes about 0.2 s to make and a few milliseconds to read, and is wanted twice,
for sampling and for competing. A slice's views are one file named by the slice, its
boxes and the eyes; the work folder can be deleted at any time, its files are then made
again. Without a work folder they are made twice.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from belvedere.core import archive, sight
from belvedere.core.formats import box_rows
from belvedere.core.formats.faults import PictureError, RowFault
from belvedere.core.sight import Eyes, View
from belvedere.core.types import Image
from belvedere.transforms import decoding, documents, sources, stores
from belvedere.transforms.inputs import InputFault
from belvedere.transforms.training_images import Chosen, TrainingSlice


@dataclasses.dataclass(frozen=True, eq=False)
class Picture:
    """A training image, decoded, with its true boxes in the upright frame."""

    chosen: Chosen
    image: Image
    truth: Float[np.ndarray, "T 4"]


@dataclasses.dataclass(frozen=True, eq=False)
class Described:
    """A training image as the method sees it."""

    label: str
    image_id: str
    view: View
    truth: Float[np.ndarray, "T 4"]


def pictures(
    training: TrainingSlice,
    decoder: decoding.PictureDecoder,
    wanted: set[str] | None = None,
) -> Iterator[Picture | InputFault]:
    """The training images of a slice (or the `wanted` ids) decoded, or a fault each."""
    chosen = {(c.label, c.image_id): c for c in training.chosen}
    for found in sources.read(training.piece):
        if isinstance(found, InputFault):
            yield found
            continue
        ref, data = found
        one = chosen.pop((ref.label, ref.image_id), None)
        if one is None or (wanted is not None and ref.image_id not in wanted):
            continue
        try:
            picture = decoder.decode(data)
        except PictureError as error:
            yield InputFault(ref.uri, ref.label, str(error.code), error.message)
            continue
        truth = []
        for row in one.rows:
            box = box_rows.upright(row, picture.header)
            if isinstance(box, RowFault):
                yield InputFault(ref.uri, ref.label, str(box.code), box.message)
            else:
                truth.append(box)
        if truth:
            yield Picture(one, picture.image, np.array(truth))


def views(
    training: TrainingSlice,
    eyes: Eyes,
    eyes_id: str,
    decoder: decoding.PictureDecoder,
    work: str | None,
) -> Iterator[Described | InputFault]:
    """The views of the training images of a slice, from the work folder if there."""
    if work is None:
        for found in pictures(training, decoder):
            yield _described(found, eyes)
        return
    store = stores.store_for(work)
    name = f"views/{documents.digest([training.digest, eyes_id])[:32]}.npz"
    try:
        yield from _unpacked(archive.load(store.read(name), dict))
        return
    except (stores.MissingFile, ValueError):
        made = [_described(found, eyes) for found in pictures(training, decoder)]
    store.create(name, archive.dump(_packed(made)))
    yield from made


def _described(found: Picture | InputFault, eyes: Eyes) -> Described | InputFault:
    if isinstance(found, InputFault):
        return found
    one = found.chosen
    view = sight.look(found.image, eyes)
    return Described(one.label, one.image_id, view, found.truth)


def _packed(made: list[Described | InputFault]) -> dict:
    seen = [one for one in made if isinstance(one, Described)]
    return {
        "labels": tuple(one.label for one in seen),
        "ids": tuple(one.image_id for one in seen),
        "views": tuple(one.view for one in seen),
        "truths": tuple(one.truth for one in seen),
        "faults": tuple(tuple(one) for one in made if isinstance(one, InputFault)),
    }


def _unpacked(content: dict) -> Iterator[Described | InputFault]:
    fields = (content[k] for k in ("labels", "ids", "views", "truths"))
    for values in zip(*fields, strict=True):
        yield Described(*values)
    for fault in content["faults"]:
        yield InputFault(*fault)
