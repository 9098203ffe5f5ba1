# mypy: allow-untyped-defs
"""Bounds on phi_G that cost far less than phi_G, for the exact search.

With a_i = rho^r(w_i, w_l), the relation r of all windows to one of them,
f(a) = sum_{i<j} K_ij |a_i - a_j| is the sum in phi_G, and K >= 0 is symmetric.

Row sums.  |a_i - a_j| <= |a_i - c| + |a_j - c| for any c, so
  f(a) <= sum_i |a_i - c| r_i,  r_i = sum_{j != i} K_ij.
Reference.  f is convex with subgradient g_i = sum_j K_ij sign(b_i - b_j) at any b and
  f(a) >= <g, a>; b are the relations to one chosen window.
Blocks.  The windows fall into blocks of `BLOCK` neighbours. For blocks A, B with
  S_AB = sum_{i in A} a_i R_iB,  R_iB = sum_{j in B} K_ij:
  |S_AB - S_BA| is a lower bound of the pair's share of f, and the share itself where
  the values of the two blocks do not interleave; else one c per pair of blocks bounds
  it from above as with row sums.

Blocks are summed in float32: `relative_slack` bounds what rounding can do.
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
    """Bound of f(a) from that of f(a rounded to float32).

    Rounding moves each a_i <= 1 by at most 2^-25, so each pair by K_ij 2^-24 and f by
    2^-25 times the sum of all row sums.
    """
    shift = 1.01 * 2.0**-25 * total
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
def row_bound(values, row_sums, total, slack):
    """Upper bound of f(values): the best of c = 0, c = 1 and c = the weighted mean."""
    from_zero = dot(values, row_sums)
    from_one = total - from_zero + slack * total
    from_mean = _deviation(values, from_zero / max(total, 1e-300), row_sums)
    return min(from_zero, from_one, from_mean) * (1 + slack)


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def subgradient(values, kernel, gradient):
    """g_i = sum_j K_ij sign(values_i - values_j), in float64."""
    for i in range(kernel.shape[0]):
        row, value, total = kernel[i], values[i], 0.0
        for j in range(row.shape[0]):
            above = 1.0 if value > values[j] else 0.0
            below = 1.0 if value < values[j] else 0.0
            total += (above - below) * np.float64(row[j])
        gradient[i] = total


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


@numba.njit(cache=True, nogil=True)
def blocks_of(geometry):
    """Splits the windows into blocks of at most BLOCK that resemble each other.

    A kd-tree on centre and logarithm of the sides, cut at the median of the widest
    dimension. Returns window numbers block after block; the last block is filled up
    with its own last window.
    """
    n = geometry.shape[1]
    count = (n + BLOCK - 1) // BLOCK
    place = np.empty((4, n))
    for i in range(n):
        x0, y0, x1, y1 = geometry[0, i], geometry[1, i], geometry[2, i], geometry[3, i]
        place[0, i], place[1, i] = np.log(x1 - x0), np.log(y1 - y0)
        place[2, i], place[3, i] = x0 + x1, y0 + y1
    for d in range(2):
        extent = geometry[2 + d].max() - geometry[d].min()
        place[2 + d] *= 2.0 / extent
    order = np.empty(count * BLOCK, np.int64)
    order[:n] = np.arange(n)
    order[n:] = -1
    first, last = np.empty(2 * count, np.int64), np.empty(2 * count, np.int64)
    first[0], last[0] = 0, count
    open_nodes = 1
    while open_nodes:
        open_nodes -= 1
        low, high = first[open_nodes], last[open_nodes]
        if high - low <= 1:
            continue
        members = order[low * BLOCK : min(high * BLOCK, n)].copy()
        widest, spread = 0, -1.0
        for d in range(4):
            values = place[d][members]
            if values.max() - values.min() > spread:
                widest, spread = d, values.max() - values.min()
        ranks = np.argsort(place[widest][members], kind="mergesort")
        order[low * BLOCK : low * BLOCK + len(members)] = members[ranks]
        middle = (low + high + 1) // 2
        first[open_nodes], last[open_nodes] = low, middle
        first[open_nodes + 1], last[open_nodes + 1] = middle, high
        open_nodes += 2
    order[n:] = order[n - 1]
    return order


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def block_sums(kernel, order):
    """R[k, B] = sum of K_ij over j in block B, j != i, for i = order[k]; float32.

    Rows that only fill up the last block are zero, and so are columns beyond the last
    block (their number is a multiple of BLOCK).
    """
    n = kernel.shape[0]
    count = len(order) // BLOCK
    by_block = np.zeros((count, n), np.float32)
    for k in range(n):
        j = order[k]
        target, row = by_block[k // BLOCK], kernel[j]
        for i in range(j):
            target[i] += row[i]
        for i in range(j + 1, n):
            target[i] += row[i]
    width = (count + BLOCK - 1) // BLOCK * BLOCK
    sums = np.zeros((len(order), width), np.float32)
    for k in range(n):
        for b in range(count):
            sums[k, b] = by_block[b, order[k]]
    return sums


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def block_mass(sums):
    """sum_{i in A} R_iA' for blocks A, A'."""
    count = sums.shape[0] // BLOCK
    mass = np.zeros((count, sums.shape[1]), np.float32)
    for a in range(count):
        for k in range(a * BLOCK, (a + 1) * BLOCK):
            mass[a] += sums[k]
    return mass


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _first_pass(values, sums, moments, low, high):
    """S_AB into moments, smallest and largest value of each block."""
    for a in range(low.shape[0]):
        row = moments[a]
        row[:] = 0
        smallest, largest = values[a * BLOCK], values[a * BLOCK]
        for k in range(a * BLOCK, (a + 1) * BLOCK):
            value, weight = values[k], sums[k]
            smallest, largest = min(smallest, value), max(largest, value)
            for b in range(row.shape[0]):
                row[b] += value * weight[b]
        low[a], high[a] = smallest, largest


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _second_pass(values, sums, centres, deviations):
    """T_AB = sum_{i in A} |a_i - c_AB| R_iB."""
    for a in range(deviations.shape[0]):
        row, centre = deviations[a], centres[a]
        row[:] = 0
        for k in range(a * BLOCK, (a + 1) * BLOCK):
            value, weight = values[k], sums[k]
            for b in range(row.shape[0]):
                row[b] += abs(value - centre[b]) * weight[b]


@numba.njit(cache=True, nogil=True)
def block_bound(values, sums, mass, upper, scratch, edges):
    """Bounds f(values) from above (`upper`) or from below; float32 values in blocks.

    Args:
      values: the relations to one window, in block order.
      sums: from `block_sums`.
      mass: from `block_mass`.
      upper: which bound.
      scratch: float32 [3, blocks, width of sums].
      edges: float32 [2, blocks].
    """
    moments, centres, deviations = scratch[0], scratch[1], scratch[2]
    low, high = edges[0], edges[1]
    _first_pass(values, sums, moments, low, high)
    count = low.shape[0]
    exact, magnitude, loose = 0.0, 0.0, 0.0
    for a in range(count):
        for b in range(a + 1, count):
            one, other = moments[a, b], moments[b, a]
            magnitude += one + other
            apart = low[a] >= high[b] or low[b] >= high[a]
            if apart or not upper:
                exact += abs(one - other)
                centres[a, b] = -1
            else:
                centre = (one + other) / max(mass[a, b] + mass[b, a], np.float32(1e-30))
                centres[a, b], centres[b, a] = centre, centre
        magnitude += moments[a, a]
        centres[a, a] = moments[a, a] / max(mass[a, a], np.float32(1e-30))
    slack = relative_slack(count * BLOCK)
    if not upper:
        return max(exact - slack * magnitude, 0.0)
    _second_pass(values, sums, centres, deviations)
    for a in range(count):
        loose += deviations[a, a]
        for b in range(a + 1, count):
            if centres[a, b] >= 0:
                loose += deviations[a, b] + deviations[b, a]
    return exact + loose + slack * (magnitude + loose)
