"""Simpler ways to place the box, learned from what `belvedere train` left behind.

Views and appearances are read from the work folder, so that nothing is described or
learned twice; what is new here is the model of location alone, and alpha without
context.
"""

import dataclasses
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from belvedere.core import archive, sight
from belvedere.core.assessment import comparison
from belvedere.core.assessment.comparison import Pictures, Placed
from belvedere.core.class_model import Appearance
from belvedere.core.configuration import Configuration
from belvedere.core.formats import pictures as picture_files
from belvedere.core.types import Image
from belvedere.pipelines.failures import Mistake
from belvedere.transforms import model_store, stores
from belvedere.transforms.workers import prepare_trainer

METHODS = ("constant_box", "location", "ae_gp")

_Kind = TypeVar("_Kind")
Truths = Mapping[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the pictures of a class folder and what was made of them are."""

    images: pathlib.Path
    models: str
    work: str
    configuration: Configuration


def place(where: Place, label: str, judged: Truths) -> list[Placed]:
    """The boxes of the simpler methods, and the ceiling, on pictures of a class."""
    prepare_trainer()
    store, chosen = stores.store_for(where.models), where.configuration
    name = model_store.eyes_name(chosen.sight)
    eyes, eyes_id = model_store.read_eyes(store, name)
    negatives = model_store.read_negatives(store, chosen.sight, eyes_id, label)
    learned_from = _described(where.work, label)
    appearance = _appearance(where.work, learned_from)
    trained = comparison.train(learned_from, negatives, eyes, chosen.method, appearance)
    views = {
        image_id: sight.look(_decoded(where.images / image_id), eyes)
        for image_id in judged
    }
    found = comparison.place(trained, Pictures(views, judged), eyes, METHODS[1:])
    return [one for one in found if one.method in (*METHODS, "ceiling")]


def _decoded(file: pathlib.Path) -> Image:
    return picture_files.decode(file.read_bytes()).image


def _described(work: str, label: str) -> Pictures:
    """The views and boxes of the training pictures of a class, in order of name."""
    found = {}
    for kept in _kept(work, "views", dict):
        for image_id, *seen in zip(
            kept["ids"], kept["views"], kept["truths"], strict=True
        ):
            if image_id.startswith(f"{label}/"):
                found[image_id] = seen
    names = sorted(found)
    return Pictures({n: found[n][0] for n in names}, {n: found[n][1] for n in names})


def _appearance(work: str, learned_from: Pictures) -> Appearance:
    for kept in _kept(work, "appearances", Appearance):
        if learned_from.views.keys() == kept.folds.keys():
            return kept
    raise Mistake(f"{work} is not what training left: delete it and the models with it")


def _kept(work: str, folder: str, kind: type[_Kind]) -> Iterator[_Kind]:
    store = stores.store_for(work)
    files: Sequence[str] = sorted(
        file.name for file in store.list(folder) if stores.TEMPORARY not in file.name
    )
    for data in stores.read_many(store, files):
        yield archive.load(data or b"", kind)
