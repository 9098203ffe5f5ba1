"""How good the boxes are, and how well their scores tell the good from the bad.

Paper: section 5. Images of all classes are pooled and returned in order of score; the
curve gives the mean IoU of what has been returned against the fraction returned.
"returned at t" is read as the largest fraction whose mean IoU is at least t, as the
left end of the curve is noisy. Images with equal scores are returned one by one too,
each with the mean IoU of them all: this is the mean of the curve over all their orders,
and nothing depends on the order in which they are given.
"""

import dataclasses
from typing import TypedDict

import numpy as np
from jaxtyping import Float, Int64, Shaped

from belvedere.core.types import require_shape

CORRECT = 0.5
RETURNED_AT = (0.70, 0.75, 0.80)
_ROUNDING = 1e-12  # an IoU this little below t counts as t, this little above 1 as 1


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    """What a method gave for each image: IoU with the object, score, class."""

    ious: Float[np.ndarray, " n"]
    scores: Float[np.ndarray, " n"]
    labels: Shaped[np.ndarray, " n"]

    def __post_init__(self) -> None:
        n = len(self.ious)
        if n == 0:
            raise ValueError("there are no images to judge a method by")
        require_shape("ious", self.ious, n)
        require_shape("scores", self.scores, n)
        if self.labels.shape != (n,):
            raise ValueError(f"labels have shape {self.labels.shape}, wanted {(n,)}")
        if self.ious.min() < 0 or self.ious.max() > 1 + _ROUNDING:
            raise ValueError(
                f"IoUs reach from {self.ious.min()} to {self.ious.max()}, not in [0, 1]"
            )


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """Mean IoU of the first image returned, of the first two, and so on to all."""

    means: Float[np.ndarray, " n"]

    @property
    def fractions(self) -> Float[np.ndarray, " n"]:
        """The fraction returned at each of the means."""
        return np.arange(1, len(self.means) + 1) / len(self.means)

    def returned_at(self, mean_iou: float) -> float:
        """The largest fraction whose mean IoU is at least `mean_iou`, or 0."""
        reached = np.flatnonzero(self.means >= mean_iou - _ROUNDING)
        return (int(reached[-1]) + 1) / len(self.means) if len(reached) else 0.0

    @property
    def auc(self) -> float:
        """Mean of the curve over the fraction returned."""
        return float(self.means.mean())


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """Images in falling order of score; each group of equals begins at a `start`."""

    order: Int64[np.ndarray, " n"]
    starts: Int64[np.ndarray, " k"]
    ious: Float[np.ndarray, " n"]

    @classmethod
    def of(cls, outcome: Outcome) -> "Ranking":
        # Ties by IoU: the sums do not depend on the given order, to the last bit.
        order = np.lexsort((outcome.ious, -outcome.scores))
        falls = np.diff(outcome.scores[order]) != 0
        starts = np.append(0, np.flatnonzero(falls) + 1)
        return cls(order, starts, outcome.ious[order])

    def curve(self, counts: Int64[np.ndarray, " n"] | None = None) -> Curve:
        """The curve, where image i occurs counts[i] times (once if None).

        k of g equals of mean m, after n images of sum S, have in the mean over all
        orders of the g the mean (S + k · m) / (n + k).
        """
        times = np.ones(len(self.order), int) if counts is None else counts[self.order]
        equals = np.add.reduceat(times, self.starts)
        sums = np.add.reduceat(times * self.ious, self.starts)
        expected = np.repeat(sums / np.maximum(equals, 1), equals)
        return Curve(np.cumsum(expected) / np.arange(1, len(expected) + 1))


class ClassFigures(TypedDict):
    images: int
    mean_iou: float
    corloc: float


def mean_iou(outcome: Outcome) -> float:
    """Over images."""
    return float(outcome.ious.mean())


def macro_iou(outcome: Outcome) -> float:
    """Over classes."""
    return float(np.mean([c["mean_iou"] for c in per_class(outcome).values()]))


def corloc(outcome: Outcome) -> float:
    """Share of images whose IoU is at least 0.5."""
    return float((outcome.ious >= CORRECT).mean())


def curve(outcome: Outcome) -> Curve:
    return Ranking.of(outcome).curve()


def per_class(outcome: Outcome) -> dict[str, ClassFigures]:
    """Figures of each class, by name."""
    figures: dict[str, ClassFigures] = {}
    for label in np.unique(outcome.labels):
        ious = outcome.ious[outcome.labels == label]
        figures[str(label)] = {
            "images": len(ious),
            "mean_iou": float(ious.mean()),
            "corloc": float((ious >= CORRECT).mean()),
        }
    return figures


def figures(outcome: Outcome) -> dict[str, float | dict[str, ClassFigures]]:
    """All figures of a method, as `metrics.json` holds them."""
    shape = curve(outcome)
    return {
        "mean_iou": mean_iou(outcome),
        "macro_iou": macro_iou(outcome),
        "corloc": corloc(outcome),
        **{f"returned_at_{t:.2f}": shape.returned_at(t) for t in RETURNED_AT},
        "auc": shape.auc,
        "per_class": per_class(outcome),
    }
