"""Three dimensions that predict the relations: cross-fitted ridge regression.

Departures: not in the paper. Of the ten dimensions of a feature type, three are given
to linear predictions of overlap, part and container. The Gaussian process over-trusts
predictions that have seen their own targets, so the value of a window of a training
image comes from a regression on the images of the other folds: one map per fold, for
all windows of that fold's images, and one map fitted on everything for new images.

The penalty is `lambda` times the number of windows times their mean squared distance
from the mean window, so that one lambda means the same for every feature type, for a
fold's fit and for the full one. Each relation takes the lambda of least out-of-fold
error. All maps share one centre and one scale, those of the out-of-fold values: what a
new image gets from the full map is out of sample too, and so of about the same spread
(in-sample values would spread more, and shrink the rest). The full fit sees more images
than the fold fits and is a little less wrong; that difference is left alone.

What a fold's map knows of its own fold's targets is thus one choice among a few lambdas
and one factor per relation.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from belvedere.core import types
from belvedere.core.embedding import affine, matrices, ridge

_NEGLIGIBLE = 1e-6  # spread of a prediction, in units of a relation


@dataclasses.dataclass(frozen=True)
class RidgeSettings:
    """Lambdas to choose from, and how exactly to solve."""

    lambdas: tuple[float, ...] = (3e-4, 1e-3, 3e-3, 1e-2)
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        types.require_positive(self, ("lambdas", "tolerance"))


@dataclasses.dataclass(frozen=True, eq=False)
class SupervisedEmbedding:
    """`map` for new images; `fold_maps[f]` has not seen the images of fold f.

    `lambdas` are those chosen, `explained` the share of each relation's variance that
    out-of-fold predictions explain (negative if worse than the mean).
    """

    map: affine.AffineMap
    fold_maps: tuple[affine.AffineMap, ...]
    lambdas: Float[np.ndarray, "R"]
    explained: Float[np.ndarray, "R"]


@dataclasses.dataclass(frozen=True, eq=False)
class _Fits:
    """Fits of each fold and, last, of everything: alpha, intercepts, predictions."""

    alpha: Float[np.ndarray, "n L F R"]
    intercepts: Float[np.ndarray, "L F R"]
    predictions: Float[np.ndarray, "n L F R"]


def fit(
    features: matrices.Matrix,
    gram: Float32[np.ndarray, "n n"],
    relations: Float[np.ndarray, "R n"],
    folds: Int64[np.ndarray, "n"],
    fold_count: int,
    settings: RidgeSettings,
) -> SupervisedEmbedding:
    """Learns the three dimensions of one feature type.

    Args:
      features: of the sampled windows.
      gram: their products with each other.
      relations: of each window to the object of its image.
      folds: fold of each window, the same for all windows of an image.
      fold_count: number of folds; a fold without windows gets the full fit.
      settings: of the regressions.
    """
    if len(np.unique(folds)) < 2:
        raise ValueError("all windows are in one fold, wanted at least two folds")
    fits = _fits(gram, relations, folds, fold_count, settings)
    held_out = _held_out(fits, folds)
    errors = ((held_out - relations.T[:, None]) ** 2).mean(axis=0)
    best = errors.argmin(axis=0)
    each = np.arange(types.R)
    values = held_out[:, best, each]
    spread = np.where(_varies(fits, best), values.std(axis=0), 0.0)
    maps = _maps(features, fits, best, values.mean(axis=0), spread)
    return SupervisedEmbedding(
        map=maps[-1],
        fold_maps=tuple(maps[:-1]),
        lambdas=np.array(settings.lambdas)[best],
        explained=1 - errors[best, each] / np.maximum(relations.var(axis=1), 1e-12),
    )


def _fits(
    gram: Float32[np.ndarray, "n n"],
    relations: Float[np.ndarray, "R n"],
    folds: Int64[np.ndarray, "n"],
    fold_count: int,
    settings: RidgeSettings,
) -> _Fits:
    n, shape = len(folds), (len(settings.lambdas), fold_count + 1, types.R)
    seen = folds[:, None] != np.arange(fold_count + 1)  # no window is in the last fold
    members = _columns(seen[:, None, :, None], n, shape)
    targets = _columns(relations.T[:, None, None, :], n, shape)
    lambdas = np.repeat(settings.lambdas, shape[1] * shape[2])
    penalties = lambdas * members.sum(axis=0) * _variance(gram)
    alpha = ridge.solve(gram, targets, members, penalties, settings.tolerance)
    linear = (gram @ alpha.astype(np.float32)).astype(np.float64)
    free = ridge.intercepts(linear, targets, members)
    return _Fits(
        alpha.reshape(n, *shape),
        free.reshape(shape),
        (linear + free).reshape(n, *shape),
    )


def _columns(values: np.ndarray, n: int, shape: tuple[int, int, int]) -> np.ndarray:
    """One column for each lambda, fold and relation."""
    return np.broadcast_to(values, (n, *shape)).reshape(n, -1)


def _variance(gram: Float32[np.ndarray, "n n"]) -> float:
    """Mean squared distance from the mean window; if all are equal, their length²."""
    power = float(np.diag(gram).mean(dtype=np.float64))
    variance = power - float(gram.mean(dtype=np.float64))
    if variance > 1e-6 * power:
        return variance
    return power if power > 0 else 1.0


def _held_out(fits: _Fits, folds: Int64[np.ndarray, "n"]) -> Float[np.ndarray, "n L R"]:
    """Of each window, the predictions by the fits that have not seen its fold."""
    return fits.predictions[np.arange(len(folds)), :, folds]


def _varies(fits: _Fits, best: Int64[np.ndarray, "R"]) -> Bool[np.ndarray, "R"]:
    full = fits.predictions[:, best, -1, np.arange(types.R)]
    return full.std(axis=0) > _NEGLIGIBLE


def _maps(
    features: matrices.Matrix,
    fits: _Fits,
    best: Int64[np.ndarray, "R"],
    centre: Float[np.ndarray, "R"],
    spread: Float[np.ndarray, "R"],
) -> list[affine.AffineMap]:
    """One map per fold and, last, that of everything; zero where nothing spreads."""
    alpha = fits.alpha[:, best, :, np.arange(types.R)]  # [R, n, F]
    free = fits.intercepts[best, :, np.arange(types.R)]  # [R, F]
    factor = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    count = alpha.shape[2]
    stacked = alpha.transpose(1, 2, 0).reshape(alpha.shape[1], -1)
    weights = matrices.combined(features, stacked).reshape(-1, count, types.R) * factor
    return [
        affine.AffineMap(
            weights[:, f].astype(np.float32), (free[:, f] - centre) * factor
        )
        for f in range(count)
    ]
