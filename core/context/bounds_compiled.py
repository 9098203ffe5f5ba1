# mypy: ignore-errors
"""Bounds on phi_G that cost far less than phi_G, for the exact search.

With a_i = rho^r(w_i, w_l), the relation r of all windows to one of them,
f(a) = sum_{i<j} K_ij |a_i - a_j| is the sum in phi_G, and K >= 0 is symmetric.

Rank one.  Where all windows look somewhat alike, K_ij >= u_i u_j > 0 for some u, and
  f = f_u + f_rest. f_u(a) = sum_{i<j} u_i u_j |a_i - a_j| is known in one pass, all but
  exactly, once the values are put into bins: between bins it is linear, and within a
  bin at most its width. Only f_rest, of K_ij - u_i u_j >= 0, is left to be bounded:
Row sums.  |a_i - a_j| <= |a_i - c| + |a_j - c| for any c, so
  f(a) <= sum_i |a_i - c| r_i,  r_i = sum_{j != i} K_ij.
Reference.  f is convex with subgradient g_i = sum_j K_ij sign(b_i - b_j) at any b and
  f(a) >= <g, a>; b are the relations to one chosen window.
Blocks.  The windows fall into blocks of `BLOCK` neighbours. For blocks A, B with
  S_AB = sum_{i in A} a_i R_iB,  R_iB = sum_{j in B} K_ij:
  |S_AB - S_BA| is a lower bound of the pair's share of f, and the share itself where
  the values of the two blocks do not interleave; else one c per pair of blocks bounds
  it from above as with row sums.

Blocks are summed in float32: `relative_slack` bounds what rounding can do. The rank-one
part and the blocks have modules of their own.
"""

import numba
import numpy as np

from belvedere.core.context.hyperfeatures_compiled import REASSOCIATE

BLOCK = 16  # one vector register of float32 on wide machines, two on others


@numba.njit(cache=True, nogil=True)
def relative_slack(n):
    """Largest relative error of the float32 sums below, for n windows.

    Adding m non-negative numbers in any order errs by at most m u / (1 - m u) of their
    sum, u = 2^-24. Along the longest way a term meets BLOCK additions in R, BLOCK in S
    or T, n / BLOCK over the blocks of a row, and a few single roundings; a row of the
    float32 phi_G has up to n. Sums over rows are in float64.
    """
    steps = n + 3 * BLOCK + 8
    return steps * 2.0**-24 / (1 - steps * 2.0**-24)


@numba.njit(cache=True, nogil=True)
def after_rounding(f, total, upper):
    """Bound of f(a) from that of f(a rounded to float32), `total` the sum of all K.

    Rounding moves each a_i <= 1 by at most 2^-25, so each pair by K_ij 2^-24 and f by
    2^-25 times the sum of all K. The sums of K - u u' of a block come from float32 sums
    of K: each is off by at most BLOCK + 2 roundings of that, and |a_i - c| <= 1.
    """
    shift = (1.01 * 2.0**-25 + (BLOCK + 2) * 2.0**-24) * total
    return f + shift if upper else max(f - shift, 0.0)


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _deviation(values, centre, weights):
    total = 0.0
    for i in range(values.shape[0]):
        total += abs(values[i] - centre) * weights[i]
    return total


@numba.njit(cache=True, nogil=True)
def row_bound(values, row_sums, total, from_zero, slack):
    """Upper bound of f(values): the best of c = 0, c = 1 and c = the weighted mean.

    `total` is the sum of all row sums, `from_zero` the bound for c = 0.
    """
    from_one = total - from_zero + slack * total
    from_mean = _deviation(values, from_zero / max(total, 1e-300), row_sums)
    return min(from_zero, from_one, from_mean) * (1 + slack)


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def subgradient(values, kernel, u, gradient):
    """g_i = sum_j (K_ij - u_i u_j) sign(values_i - values_j), in float64."""
    for i in range(kernel.shape[0]):
        row, value, total, common = kernel[i], values[i], 0.0, 0.0
        for j in range(row.shape[0]):
            above = 1.0 if value > values[j] else 0.0
            below = 1.0 if value < values[j] else 0.0
            sign = above - below
            total += sign * np.float64(row[j])
            common += sign * u[j]
        gradient[i] = total - u[i] * common


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def single_sums(values, kernel):
    """f of the three relations, float32 along a row and float64 over rows."""
    a, b, c = values[0], values[1], values[2]
    total_a, total_b, total_c = 0.0, 0.0, 0.0
    for i in range(kernel.shape[0] - 1):
        similarity = kernel[i, i + 1 :]
        a_tail, b_tail, c_tail = a[i + 1 :], b[i + 1 :], c[i + 1 :]
        a_i, b_i, c_i = a[i], b[i], c[i]
        sum_a, sum_b, sum_c = np.float32(0), np.float32(0), np.float32(0)
        for j in range(similarity.shape[0]):
            k = similarity[j]
            sum_a += k * abs(a_i - a_tail[j])
            sum_b += k * abs(b_i - b_tail[j])
            sum_c += k * abs(c_i - c_tail[j])
        total_a += sum_a
        total_b += sum_b
        total_c += sum_c
    return total_a, total_b, total_c
