"""A baseline that scores candidate windows one by one and chooses the best.

What a score promises is learned as for the full method: by isotonic regression of IoU
on the score, in training images that the scoring machine had not seen. So the scores of
different classes can stand in one ranking.

Paper: not there; its scores are pooled as they are. `Placement.score` is that score.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from belvedere.core.assessment import calibration
from belvedere.core.embedding import sampling
from belvedere.core.sight import Eyes, View
from belvedere.core.windows import boxes


class Placement(NamedTuple):
    """A box in the picture's own frame, its raw score and the IoU to expect of it."""

    box: np.ndarray
    score: float
    expected_iou: float


@runtime_checkable
class Scorer(Protocol):
    """Something that scores all windows of a picture."""

    def scores(self, view: View, eyes: Eyes) -> Float[np.ndarray, "N"]: ...


@dataclasses.dataclass(frozen=True, eq=False)
class WindowChoice:
    """The highest-scoring window, the first of equals."""

    scorer: Scorer
    promise: calibration.Calibration

    def place(self, view: View, eyes: Eyes) -> Placement:
        scores = self.scorer.scores(view, eyes)
        best = int(scores.argmax())
        expected = float(self.promise.expected(scores[[best]])[0])
        box = view.to_picture(view.windows.boxes[best])
        return Placement(box, float(scores[best]), expected)


def calibrated(
    scorer: Scorer,
    blind: Sequence[Scorer],
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    eyes: Eyes,
    seed: int,
) -> WindowChoice:
    """The baseline with its promise, learned by scorers that are blind to a fold.

    Args:
      scorer: learned from all training images.
      blind: `blind[f]` has not seen the images of fold f.
      views: training images, by name.
      truths: their true boxes, by name.
      eyes: how they were looked at.
      seed: of the folds.
    """
    names = sorted(views)
    folds = sampling.balanced_folds(names, len(blind), seed)
    scores, ious = np.empty(len(names)), np.empty(len(names))
    for i, (name, fold) in enumerate(zip(names, folds, strict=True)):
        view = views[name]
        found = blind[fold].scores(view, eyes)
        best = view.to_picture(view.windows.boxes[[found.argmax()]])
        scores[i] = found.max()
        ious[i] = boxes.ious(best, truths[name]).max()
    return WindowChoice(scorer, calibration.fit(scores, ious))
