"""How sure a difference between two methods is: the paired bootstrap over images.

Both methods are judged on the same images drawn with replacement, again and again; the
middle 95% of the differences, or of the ratios, are the interval. Images are the unit,
since two methods stumble over the same hard ones.
"""

import itertools
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from belvedere.core.assessment import evaluation
from belvedere.core.assessment.evaluation import Curve, Outcome, Ranking

Statistic = Callable[[Curve], float]


class Interval(NamedTuple):
    """`mid` is the figure itself, `low` and `high` bound the middle 95% of draws."""

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
    drawn = _resampled(one, other, rng, resamples)
    return _intervals(drawn[:, 0] - drawn[:, 1], "linear")


def ratios(
    one: Outcome,
    other: Outcome,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> dict[str, Interval]:
    """Intervals of `one` by `other`, with the arguments and the draws of `paired`.

    Infinite where the other has nothing, 1 where neither has anything.
    """
    drawn = _resampled(one, other, rng, resamples)
    ratio = np.where(drawn[:, 0] > 0, np.inf, 1.0)
    np.divide(drawn[:, 0], drawn[:, 1], out=ratio, where=drawn[:, 1] > 0)
    return _intervals(ratio, "inverted_cdf")  # nothing lies between 2 and infinity


def _resampled(
    one: Outcome, other: Outcome, rng: np.random.Generator, resamples: int
) -> Float[np.ndarray, "d 2 s"]:
    """The statistics of both: of the images as they are, then of each draw."""
    n = len(one.ious)
    if len(other.ious) != n or (one.labels != other.labels).any():
        raise ValueError("paired outcomes must be of the same images in one order")
    rankings = Ranking.of(one), Ranking.of(other)
    draws = (
        np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples)
    )
    every = itertools.chain([np.ones(n, np.int64)], draws)
    return np.array([[_statistics(r.curve(c)) for r in rankings] for c in every])


def _statistics(curve: Curve) -> list[float]:
    return [statistic(curve) for statistic in STATISTICS.values()]


def _intervals(
    found: Float[np.ndarray, "d s"], method: Literal["linear", "inverted_cdf"]
) -> dict[str, Interval]:
    low, high = np.quantile(found[1:], [0.025, 0.975], axis=0, method=method)
    rows = zip(low.tolist(), found[0].tolist(), high.tolist(), strict=True)
    return {name: Interval(*row) for name, row in zip(STATISTICS, rows, strict=True)}
