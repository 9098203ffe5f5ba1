# mypy: ignore-errors
"""The part of K that all windows share: u_i u_j <= K_ij, and f_u in closed form.

`bounds_compiled` says what it is for.
"""

import numba
import numpy as np

from belvedere.core.context.hyperfeatures_compiled import REASSOCIATE

BINS = 256  # of the values of a relation, besides those for exactly 0 and exactly 1


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _smallest(kernel, factors, result):
    """result_j = min over i of factors_i K_ij, which is that of row j."""
    for j in range(kernel.shape[0]):
        result[j] = factors[0] * kernel[0, j]
    for i in range(1, kernel.shape[0]):
        row, factor = kernel[i], factors[i]
        for j in range(row.shape[0]):
            product = factor * row[j]
            result[j] = product if product < result[j] else result[j]


@numba.njit(cache=True, nogil=True)
def minorant(kernel):
    """u >= 0 with u_i u_j <= K_ij; zero where a K_ij is.

    With k_i = min_j K_ij, u_i = k_i / sqrt(max k) will do. Any such u gives a larger
    one: with v_i = min_j K_ij / u_j, u_i v_j <= K_ij, and so is sqrt(u_i v_i u_j v_j).
    A little is taken off for the rounding of float32.
    """
    n = kernel.shape[0]
    least = np.empty(n, np.float32)
    _smallest(kernel, np.ones(n, np.float32), least)
    if n < 2 or least.min() < 1e-3:
        return np.zeros(n)
    u = least.astype(np.float64) / np.sqrt(np.float64(least.max()))
    for _ in range(2):
        _smallest(kernel, (1 / u).astype(np.float32), least)
        u = np.sqrt(u * least.astype(np.float64)) * (1 - 1e-6)
    return u


@numba.njit(cache=True, nogil=True)
def rank_one_bounds(values, u, weight, moment, lower_and_upper):
    """f_u(values) between two numbers that differ by what bins cannot tell.

    Args:
      values: in [0, 1].
      u: the minorant.
      weight, moment: scratch of length BINS + 2.
      lower_and_upper: filled.
    """
    weight[:] = 0
    moment[:] = 0
    for i in range(values.shape[0]):
        value = values[i]
        place = 1 + int(value * BINS)
        if value <= 0.0:
            place = 0
        elif value >= 1.0:
            place = BINS + 1
        weight[place] += u[i]
        moment[place] += u[i] * value
    between, within = 0.0, 0.0
    weight_below, moment_below = 0.0, 0.0
    for b in range(BINS + 2):
        between += moment[b] * weight_below - weight[b] * moment_below
        if 0 < b < BINS + 1:
            within += weight[b] * weight[b]
        weight_below += weight[b]
        moment_below += moment[b]
    error = (values.shape[0] + 64) * 2.0**-51 * weight_below * moment_below
    lower_and_upper[0] = max(between - error, 0.0)
    # Weight W within a width d can be d (W / 2)^2 apart at most.
    lower_and_upper[1] = between + within / (4.0 * BINS) + error


@numba.njit(cache=True, nogil=True)
def rank_one_above(first, second, total, n):
    """f_u from above by Cauchy and Schwarz, from the moments sum u a and sum u a²."""
    variance = total * second - first * first
    variance += (n + 64) * 2.0**-51 * total * second
    return total * np.sqrt(variance / 2)


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def moments(values, u, row_sums, out):
    """sum u a, sum u a² and sum r a of the three relations into out [3, 3]."""
    a, b, c = values[0], values[1], values[2]
    first_a, first_b, first_c = 0.0, 0.0, 0.0
    second_a, second_b, second_c = 0.0, 0.0, 0.0
    rows_a, rows_b, rows_c = 0.0, 0.0, 0.0
    for i in range(a.shape[0]):
        ua, ub, uc = u[i] * a[i], u[i] * b[i], u[i] * c[i]
        first_a += ua
        first_b += ub
        first_c += uc
        second_a += ua * a[i]
        second_b += ub * b[i]
        second_c += uc * c[i]
        rows_a += row_sums[i] * a[i]
        rows_b += row_sums[i] * b[i]
        rows_c += row_sums[i] * c[i]
    out[0, 0], out[1, 0], out[2, 0] = first_a, first_b, first_c
    out[0, 1], out[1, 1], out[2, 1] = second_a, second_b, second_c
    out[0, 2], out[1, 2], out[2, 2] = rows_a, rows_b, rows_c
