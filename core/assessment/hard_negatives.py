"""Hard negatives: windows off the object that a detector scores high.

Paper: section 5, "UVA", by way of Uijlings et al. 2013; what we do otherwise stands in
`uva`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.assessment import labelled_windows
from belvedere.core.assessment.labelled_windows import LabelledWindows
from belvedere.core.assessment.window_choice import Scorer
from belvedere.core.embedding import matrices
from belvedere.core.sight import Eyes, View
from belvedere.core.windows import boxes

_MINED_FROM = 400  # windows of a picture of the class
_OWN = 3  # windows that a picture of the class adds
_LENT = 1  # windows that a picture of another class adds
_APART = 0.7  # negatives of one picture overlap by no more


@runtime_checkable
class Detector(Scorer, Protocol):
    """Something that scores windows of a picture, or windows by their features."""

    def outputs(
        self, features: Mapping[str, matrices.Matrix]
    ) -> Float[np.ndarray, "n"]: ...


def mined(
    detector: Detector,
    learned: LabelledWindows,
    windows: LabelledWindows,
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    eyes: Eyes,
) -> LabelledWindows:
    """The hardest negatives of all pictures, none of which is learned from already.

    Args:
      detector: what has been learned so far.
      learned: the windows it has been learned from.
      windows: the sampled windows of the class, and those that other pictures lend.
      views: training images of the class, by name.
      truths: their true boxes, by name.
      eyes: how they were looked at.
    """
    own = [
        _own(detector, learned, number, views, truths, eyes)
        for number in np.unique(windows.images[windows.of_class]).tolist()
    ]
    return _lent(detector, learned, windows).joined(own)


def hardest(
    scores: Float[np.ndarray, "N"],
    candidates: Float[np.ndarray, "N 4"],
    known: Float[np.ndarray, "K 4"],
    count: int,
) -> Int64[np.ndarray, "_"]:
    """The highest-scoring windows that are apart from one another and from `known`.

    A score of minus infinity keeps a window out.
    """
    near = (boxes.ious(candidates, known) > _APART).any(axis=1)
    left = np.where(near, -np.inf, scores)
    chosen: list[int] = []
    while len(chosen) < count and left.max(initial=-np.inf) > -np.inf:
        chosen.append(int(left.argmax()))
        overlaps = boxes.ious(candidates, candidates[chosen[-1:]])[:, 0]
        left[overlaps > _APART] = -np.inf
    return np.array(chosen, np.int64)


def _own(
    detector: Detector,
    learned: LabelledWindows,
    number: int,
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    eyes: Eyes,
) -> LabelledWindows:
    """The hardest negatives of a picture of the class."""
    view = _shortened(views[learned.ids[number]])
    truth = view.to_frame(truths[learned.ids[number]])
    ious = boxes.ious(view.windows.boxes, truth).max(axis=1)
    scores = detector.scores(view, eyes)
    scores[ious >= labelled_windows.NEGATIVE_BELOW] = -np.inf
    hard = hardest(scores, view.windows.boxes, _negatives(learned, number), _OWN)
    drawn = view.windows.boxes[hard]
    return LabelledWindows(
        learned.ids,
        learned.image_folds,
        {
            name: eyes.features[name].read(view.descriptions[name], drawn)
            for name in learned.features
        },
        drawn,
        ious[hard],
        np.full(len(hard), number),
    )


def _lent(
    detector: Detector, learned: LabelledWindows, windows: LabelledWindows
) -> LabelledWindows:
    """The hardest of the windows that each picture of another class lends."""
    pool = np.flatnonzero(~windows.of_class)
    scores = detector.outputs(windows.part(~windows.of_class).features)
    chosen = np.zeros(len(windows), bool)
    for number in np.unique(windows.images[pool]).tolist():
        here = windows.images[pool] == number
        candidates, known = windows.boxes[pool[here]], _negatives(learned, number)
        chosen[pool[here][hardest(scores[here], candidates, known, _LENT)]] = True
    return windows.part(chosen)


def _negatives(learned: LabelledWindows, number: int) -> Float[np.ndarray, "K 4"]:
    return learned.boxes[(learned.images == number) & ~learned.positive]


def _shortened(view: View) -> View:
    """The view with its first windows only; they are in random order."""
    windows = dataclasses.replace(view.windows, boxes=view.windows.boxes[:_MINED_FROM])
    return dataclasses.replace(view, windows=windows)
