"""From a score to the IoU it promises.

Isotonic regression of IoU on the score, of images the model had not seen: a higher
score never promises less. Stored as knots and evaluated without scikit-learn.

Paper: not there; its scores are pooled as they are.
"""

import dataclasses
import math
from typing import TypedDict

import numpy as np
from jaxtyping import Float

from belvedere.core.types import require_shape


@dataclasses.dataclass(frozen=True, eq=False)
class Calibration:
    """A rising line through knots (score, IoU), flat beyond the first and the last."""

    scores: Float[np.ndarray, " k"]
    ious: Float[np.ndarray, " k"]

    def __post_init__(self) -> None:
        require_shape("scores", self.scores, None)
        require_shape("ious", self.ious, len(self.scores))
        rising = (np.diff(self.scores) > 0).all() and (np.diff(self.ious) >= 0).all()
        if len(self.scores) == 0 or not rising:
            raise ValueError(f"knots {self.scores}, {self.ious} do not rise")

    def expected(self, scores: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The IoU to expect at each score."""
        return np.interp(scores, self.scores, self.ious)


def fit(
    scores: Float[np.ndarray, " n"], ious: Float[np.ndarray, " n"], least: int = 10
) -> Calibration:
    """The calibration of a class.

    Args:
      scores: of images the model had not seen.
      ious: of the boxes it chose there.
      least: with fewer images than this the mean IoU is promised for every score.
    """
    if len(scores) == 0:
        raise ValueError("nothing to calibrate on: there are no scores")
    require_shape("scores", scores, len(scores))
    require_shape("ious", ious, len(scores))
    if len(scores) < least:
        return Calibration(np.zeros(1), np.array([ious.mean()]))
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(y_min=0, y_max=1).fit(scores, ious)
    return Calibration(regression.X_thresholds_, regression.y_thresholds_)


def shortfall(
    promise: Calibration,
    scores: Float[np.ndarray, " n"],
    ious: Float[np.ndarray, " n"],
    confidence: float = 0.9,
) -> float:
    """What to take off the expected IoU so that a share `confidence` of boxes keeps it.

    The smallest number that at most n - ceil((n + 1) · confidence) of the images
    exceed; 1, which promises nothing, where there are too few images to say.
    """
    missing = np.sort(promise.expected(scores) - ious)
    rank = math.ceil((len(missing) + 1) * confidence)
    return float(max(missing[rank - 1], 0.0)) if rank <= len(missing) else 1.0


class Bin(TypedDict):
    predicted: float
    observed: float
    images: int


def reliability(
    predicted: Float[np.ndarray, " n"],
    observed: Float[np.ndarray, " n"],
    bins: int = 10,
) -> list[Bin]:
    """Mean predicted and observed IoU of each decile of the images by prediction.

    Equal predictions stay together, where the middle one of them falls: deciles are
    fewer or less equal then.
    """
    _, level, equals = np.unique(predicted, return_inverse=True, return_counts=True)
    middle = np.cumsum(equals) - equals / 2
    number = (middle * bins / len(predicted)).astype(int)[level]
    return [
        {
            "predicted": float(predicted[number == b].mean()),
            "observed": float(observed[number == b].mean()),
            "images": int((number == b).sum()),
        }
        for b in np.unique(number)
    ]
