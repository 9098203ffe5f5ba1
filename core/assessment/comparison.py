"""Several ways to place the box of a class, learned and judged on the same pictures.

Paper: section 5. Methods: the whole image, one constant box, location and scale alone,
appearance alone (AE-GP: the same windows and features, phi_S only), the full method,
and the ceiling, which is the best candidate window and needs the truth.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core import localization, sight
from belvedere.core.assessment import constant_box
from belvedere.core.class_model import Appearance, ClassModel, Settings
from belvedere.core.context import learning
from belvedere.core.embedding import sampling
from belvedere.core.sight import Eyes, Samples, View
from belvedere.core.types import HYPERFEATURES
from belvedere.core.windows import boxes

_SCORE_ALONE = tuple(HYPERFEATURES.index(name) for name in ("mean_overlap", "std"))


@dataclasses.dataclass(frozen=True, eq=False)
class Pictures:
    """Views and true boxes of pictures, by name."""

    views: Mapping[str, View]
    truths: Mapping[str, Float[np.ndarray, "_ 4"]]


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A box that a method placed, its score and its IoU with the truth."""

    method: str
    image_id: str
    box: Float[np.ndarray, "4"]
    score: float
    iou: float


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """The models of a class that are compared, and how the full one was learned."""

    full: ClassModel
    ae_gp: ClassModel
    location: ClassModel
    constant: Float[np.ndarray, "4"]
    learned: learning.Learned
    diagnostics: Mapping[str, float]


def train(
    pictures: Pictures,
    negatives: Sequence[Samples],
    eyes: Eyes,
    settings: Settings,
    appearance: Appearance | None = None,
) -> Trained:
    """Learns a class in every way; its appearance may have been learned before."""
    alone = dataclasses.replace(
        settings,
        learning=dataclasses.replace(settings.learning, columns=_SCORE_ALONE),
    )
    views, truths = pictures.views, pictures.truths
    samples = [
        sight.sample(views[i], truths[i], i, eyes, settings.sampling) for i in views
    ]
    if appearance is None:
        appearance = localization.learn_appearance(samples, negatives, settings)
    tables = {
        i: localization.compete(views[i], truths[i], i, appearance, eyes, settings)
        for i in views
    }
    full, learned = localization.learn_context(tables, appearance, settings)
    ae_gp, _ = localization.learn_context(tables, appearance, alone)
    location = localization.learn_appearance(
        [_location_only(s) for s in samples],
        [_location_only(s) for s in negatives],
        settings,
    )
    tables = {
        i: localization.compete(views[i], truths[i], i, location, eyes, alone)
        for i in views
    }
    return Trained(
        full,
        ae_gp,
        localization.learn_context(tables, location, alone)[0],
        constant_box.best_constant_box([_relative(views[i], truths[i]) for i in views]),
        learned,
        appearance.diagnostics,
    )


def place(
    trained: Trained,
    pictures: Pictures,
    eyes: Eyes,
    models: Sequence[str] = ("location", "ae_gp", "full"),
) -> list[Placed]:
    """The boxes of every method on pictures that were not learned from.

    Of the methods with a model, those in `models`.
    """
    result = []
    for name, view in pictures.views.items():
        truth = pictures.truths[name]
        whole = np.array([0, 0, view.windows.width, view.windows.height]) * view.scale
        windows = view.windows.boxes * view.scale
        best = windows[boxes.ious(windows, truth).max(axis=1).argmax()]
        chosen = {
            "whole_image": (whole, 0.0),
            "constant_box": (trained.constant * whole[[2, 3, 2, 3]], 0.0),
            "ceiling": (best, 0.0),
        }
        for method in models:
            model: ClassModel = getattr(trained, method)
            found = localization.localize(view, model, eyes)
            chosen[method] = (found.box, found.expected_iou)
        for method, (box, score) in chosen.items():
            iou = float(boxes.ious(box[None], truth).max())
            result.append(Placed(method, name, box, score, iou))
    return result


def negatives_of(
    pictures: Pictures, count: int, eyes: Eyes, settings: sampling.SamplingSettings
) -> list[Samples]:
    """`count` windows from each picture, for exemplars of other classes."""
    return [
        sight.sample_negatives(view, name, count, eyes, settings)
        for name, view in pictures.views.items()
    ]


def _location_only(samples: Samples) -> Samples:
    return dataclasses.replace(
        samples, features={"location": samples.features["location"]}
    )


def _relative(view: View, truth: Float[np.ndarray, "T 4"]) -> Float[np.ndarray, "T 4"]:
    sides = np.array([view.windows.width, view.windows.height] * 2) * view.scale
    return truth / sides
