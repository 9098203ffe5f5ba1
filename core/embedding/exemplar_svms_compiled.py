# mypy: ignore-errors
"""Sequential minimal optimisation of many exemplar SVMs on one Gram matrix.

With v_k = y_k alpha_k the dual of a linear SVM with an unregularised bias is

    max  sum_k y_k v_k - 1/2 v' G v   so that  sum_k v_k = 0,  lower_k <= v_k <= upper_k

where the positive has bounds [0, C w] and a negative [-C, 0]. Its slope at v is
s_k = y_k - sum_l G_kl v_l; v is optimal when no s_i of a variable that may grow exceeds
an s_j of one that may shrink. Each step moves the worst such pair by the best amount.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def solve(
    gram: np.ndarray,
    cross: np.ndarray,
    norms: np.ndarray,
    allowed: np.ndarray,
    start: np.ndarray,
    penalty: float,
    weight: float,
    tolerance: float,
    limit: int,
) -> tuple[np.ndarray, ...]:
    """Trains one SVM per row of `cross`.

    Args:
      gram: negatives with negatives, float32 [m, m].
      cross: exemplars with negatives, float32 [e, m].
      norms: squared norms of the exemplars, float64 [e].
      allowed: which negatives stand against which exemplar, bool [e, m].
      start: negatives to begin with at their bound, int64 [e, k]; k penalty must not
        exceed penalty weight.
      penalty: C of a negative.
      weight: C of the positive over that of a negative.
      tolerance: largest difference s_i - s_j left.
      limit: largest number of steps for one SVM.

    Returns:
      v of the positives [e], v of the negatives [e, m], biases [e], differences left
      [e], primal objectives [e], dual objectives [e], steps [e].
    """
    exemplars, negatives = cross.shape
    whole = np.empty((negatives + 1, negatives + 1), np.float32)
    whole[:negatives, :negatives] = gram
    v, slope = np.empty(negatives + 1), np.empty(negatives + 1)
    lower, upper = np.empty(negatives + 1), np.empty(negatives + 1)
    solutions = np.empty((exemplars, negatives))
    positives, biases = np.empty(exemplars), np.empty(exemplars)
    left, primal, dual = np.empty((3, exemplars))
    steps = np.empty(exemplars, np.int64)
    for e in range(exemplars):
        whole[negatives, :negatives] = cross[e]
        whole[:negatives, negatives] = cross[e]
        whole[negatives, negatives] = norms[e]
        _set_bounds(lower, upper, allowed[e], penalty, weight)
        _begin(whole, start[e], lower, upper, v, slope)
        steps[e], biases[e], left[e] = _improve(
            whole, lower, upper, v, slope, tolerance, limit
        )
        primal[e], dual[e] = _objectives(lower, upper, v, slope, biases[e])
        positives[e], solutions[e] = v[negatives], v[:negatives]
    return positives, solutions, biases, left, primal, dual, steps


@numba.njit(cache=True, nogil=True)
def _set_bounds(
    lower: np.ndarray,
    upper: np.ndarray,
    allowed: np.ndarray,
    penalty: float,
    weight: float,
) -> None:
    """Negatives, then the positive; a negative that is not allowed stays at 0."""
    negatives = allowed.size
    for k in range(negatives):
        lower[k] = -penalty if allowed[k] else 0.0
    upper[:negatives] = 0.0
    lower[negatives], upper[negatives] = 0.0, penalty * weight


@numba.njit(cache=True, nogil=True)
def _begin(
    whole: np.ndarray,
    start: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
) -> None:
    """v with the starting negatives at their bound, and its slope."""
    positive = v.size - 1
    v[:] = 0.0
    total = 0.0
    slope[:positive], slope[positive] = -1.0, 1.0
    for k in start:
        v[k] = lower[k]
        total -= lower[k]
        _move(slope, whole[k], -lower[k])
    v[positive] = min(total, upper[positive])  # the sum may be a rounding too large
    _move(slope, whole[positive], -v[positive])


@numba.njit(cache=True, nogil=True)
def _move(slope: np.ndarray, row: np.ndarray, step: float) -> None:
    for k in range(slope.size):
        slope[k] += step * row[k]


@numba.njit(cache=True, nogil=True)
def _improve(
    whole: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
    tolerance: float,
    limit: int,
) -> tuple[int, float, float]:
    """Brings v to the optimum, and slope along; returns steps, bias, difference left.

    `no_growth` and `no_fall` hold infinities where a variable is at its bound, so that
    the search for the worst pair needs no branches: five times as fast.
    """
    no_growth = np.where(v < upper, 0.0, -np.inf)
    no_fall = np.where(v > lower, 0.0, np.inf)
    for step in range(limit + 1):
        grow, fall = 0, 0
        highest, lowest = -np.inf, np.inf
        for k in range(v.size):
            if slope[k] + no_growth[k] > highest:
                highest, grow = slope[k] + no_growth[k], k
            if slope[k] + no_fall[k] < lowest:
                lowest, fall = slope[k] + no_fall[k], k
        if highest - lowest <= tolerance or step == limit:
            break
        to_grow, to_fall = upper[grow] - v[grow], v[fall] - lower[fall]
        curvature = whole[grow, grow] + whole[fall, fall] - 2.0 * whole[grow, fall]
        amount = min((highest - lowest) / max(curvature, 1e-12), to_grow, to_fall)
        v[grow] = upper[grow] if amount == to_grow else v[grow] + amount
        v[fall] = lower[fall] if amount == to_fall else v[fall] - amount
        first, second = whole[grow], whole[fall]
        for k in range(v.size):
            slope[k] -= amount * (first[k] - second[k])
        for k in (grow, fall):
            no_growth[k] = 0.0 if v[k] < upper[k] else -np.inf
            no_fall[k] = 0.0 if v[k] > lower[k] else np.inf
    return step, 0.5 * (highest + lowest), highest - lowest


@numba.njit(cache=True, nogil=True)
def _objectives(
    lower: np.ndarray,
    upper: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
    bias: float,
) -> tuple[float, float]:
    """1/2 |w|² + sum of C times hinge loss; and the dual objective."""
    positive = v.size - 1
    square, loss, linear = 0.0, 0.0, 0.0
    for k in range(v.size):
        y = 1.0 if k == positive else -1.0
        square += v[k] * (y - slope[k])
        loss += (upper[k] - lower[k]) * max(0.0, y * (slope[k] - bias))
        linear += y * v[k]
    return 0.5 * square + loss, linear - 0.5 * square
