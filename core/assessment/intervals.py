"""How sure a difference between two methods is: the paired bootstrap over images.

Both methods are judged on the same images drawn with replacement, again and again; the
middle 95% of the differences are the interval. Images are the unit, since two methods
stumble over the same hard ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from belvedere.core.assessment import evaluation
from belvedere.core.assessment.evaluation import Curve, Outcome, Ranking

Statistic = Callable[[Curve], float]


class Interval(NamedTuple):
    """`mid` is the difference itself, `low` and `high` bound the middle 95%."""

    low: float
    mid: float
    high: float


def _mean_iou(curve: Curve) -> float:
    return float(curve.means[-1])


def _auc(curve: Curve) -> float:
    return curve.auc


def _returned_at(mean_iou: float) -> Statistic:
    return lambda curve: curve.returned_at(mean_iou)


STATISTICS: dict[str, Statistic] = {
    "mean_iou": _mean_iou,
    "auc": _auc,
    **{f"returned_at_{t:.2f}": _returned_at(t) for t in evaluation.RETURNED_AT},
}


def paired(
    one: Outcome,
    other: Outcome,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> dict[str, Interval]:
    """Intervals of `one` minus `other`, by name of the statistic.

    Args:
      one: outcome of a method.
      other: outcome of another on the same images in the same order.
      rng: draws the images.
      resamples: how often.
    """
    n = len(one.ious)
    if len(other.ious) != n or (one.labels != other.labels).any():
        raise ValueError("paired outcomes must be of the same images in one order")
    rankings = Ranking.of(one), Ranking.of(other)
    drawn = np.array(
        [
            _differences(*rankings, np.bincount(rng.integers(n, size=n), minlength=n))
            for _ in range(resamples)
        ]
    )
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    mid = _differences(*rankings, np.ones(n, np.int64))
    rows = zip(low.tolist(), mid, high.tolist(), strict=True)
    return {name: Interval(*row) for name, row in zip(STATISTICS, rows, strict=True)}


def _differences(one: Ranking, other: Ranking, counts: np.ndarray) -> list[float]:
    a, b = one.curve(counts), other.curve(counts)
    return [statistic(a) - statistic(b) for statistic in STATISTICS.values()]
