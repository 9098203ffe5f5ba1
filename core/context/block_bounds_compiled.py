# mypy: ignore-errors
"""Bounds of f from blocks of windows that resemble each other.

`bounds_compiled` says what they are. The passes over blocks are written so that their
inner loops run along rows of the block sums, in float32.
"""

import numba
import numpy as np

from belvedere.core.context.bounds_compiled import BLOCK, relative_slack
from belvedere.core.context.hyperfeatures_compiled import REASSOCIATE


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
def block_sums(kernel, order, u):
    """R[k, B] = sum of K_ij - u_i u_j over j in block B, j != i, i = order[k]; float32.

    Rows that only fill up the last block are zero, and so are columns beyond the last
    block (their number is a multiple of BLOCK). The second value is the sum of all K.
    """
    n = kernel.shape[0]
    count = len(order) // BLOCK
    by_block = np.zeros((count, n), np.float32)
    common = np.zeros(count)
    for k in range(n):
        j = order[k]
        target, row = by_block[k // BLOCK], kernel[j]
        common[k // BLOCK] += u[j]
        for i in range(j):
            target[i] += row[i]
        for i in range(j + 1, n):
            target[i] += row[i]
    width = (count + BLOCK - 1) // BLOCK * BLOCK
    sums = np.zeros((len(order), width), np.float32)
    total = 0.0
    for k in range(n):
        i = order[k]
        for b in range(count):
            all_of_it = np.float64(by_block[b, i])
            total += all_of_it
            own = u[i] if k // BLOCK == b else 0.0
            sums[k, b] = max(all_of_it - u[i] * (common[b] - own), 0.0)
    return sums, total


@numba.njit(cache=True, nogil=True)
def inverse_block_mass(sums):
    """1 / (sum_{i in A} R_iB + sum_{i in B} R_iA), 0 where that is 0."""
    count = sums.shape[0] // BLOCK
    mass = np.zeros((count, sums.shape[1]), np.float32)
    for a in range(count):
        for k in range(a * BLOCK, (a + 1) * BLOCK):
            mass[a] += sums[k]
    result = np.zeros_like(mass)
    for a in range(count):
        for b in range(count):
            both = mass[a, b] + mass[b, a]
            result[a, b] = 1 / both if both > 1e-30 else 0.0
    return result


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _first_pass(values, sums, moments, low, high):
    """S_AB into moments, smallest and largest value of each block.

    Four windows at a time, so that a row of S is loaded and stored less often.
    """
    for a in range(moments.shape[0]):
        row = moments[a]
        row[:] = 0
        for k in range(a * BLOCK, (a + 1) * BLOCK, 4):
            v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            w0, w1, w2, w3 = sums[k], sums[k + 1], sums[k + 2], sums[k + 3]
            for b in range(row.shape[0]):
                row[b] += v0 * w0[b] + v1 * w1[b] + v2 * w2[b] + v3 * w3[b]
        smallest, largest = values[a * BLOCK], values[a * BLOCK]
        for k in range(a * BLOCK, (a + 1) * BLOCK):
            smallest, largest = min(smallest, values[k]), max(largest, values[k])
        low[a], high[a] = smallest, largest


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _pairs(moments, transposed, low, high, inverse_mass, centres):
    """Where two blocks do not interleave, their share; elsewhere a c for them.

    Returns twice the sum of |S_AB - S_BA| over A < B where it counts, and the sum of
    all S. Centres are -1 where none is needed.
    """
    count, width = moments.shape
    for a in range(count):
        for b in range(count):
            transposed[b, a] = moments[a, b]
    exact, magnitude = 0.0, 0.0
    for a in range(count):
        one, other, centre = moments[a], transposed[a], centres[a]
        inverse, low_a, high_a = inverse_mass[a], low[a], high[a]
        row_exact, row_magnitude = np.float32(0), np.float32(0)
        for b in range(width):
            apart = (low_a >= high[b]) | (low[b] >= high_a)
            row_exact += abs(one[b] - other[b]) if apart else np.float32(0)
            row_magnitude += one[b]
            mean = (one[b] + other[b]) * inverse[b]
            centre[b] = np.float32(-1) if apart else mean
        exact += row_exact
        magnitude += row_magnitude
    return exact, magnitude


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _deviations(values, sums, centres, row):
    """Sum over blocks A, B that interleave of sum_{i in A} |a_i - c_AB| R_iB."""
    total = 0.0
    for a in range(centres.shape[0]):
        centre = centres[a]
        row[:] = 0
        for k in range(a * BLOCK, (a + 1) * BLOCK, 4):
            v0, v1, v2, v3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            w0, w1, w2, w3 = sums[k], sums[k + 1], sums[k + 2], sums[k + 3]
            for b in range(row.shape[0]):
                c = centre[b]
                row[b] += (
                    abs(v0 - c) * w0[b]
                    + abs(v1 - c) * w1[b]
                    + abs(v2 - c) * w2[b]
                    + abs(v3 - c) * w3[b]
                )
        row_total = np.float32(0)
        for b in range(row.shape[0]):
            row_total += row[b] if centre[b] >= 0 else np.float32(0)
        total += row_total
    return total


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _differences(moments):
    """The sum of |S_AB - S_BA| over A < B, and the sum of all S."""
    exact, magnitude = 0.0, 0.0
    for a in range(moments.shape[0]):
        for b in range(a):
            exact += abs(moments[a, b] - moments[b, a])
        for b in range(moments.shape[1]):
            magnitude += moments[a, b]
    return exact, magnitude


@numba.njit(cache=True, nogil=True)
def block_bound(values, sums, inverse_mass, upper, scratch, edges):
    """Bounds f(values) from above (`upper`) or from below; float32 values in blocks.

    Args:
      values: the relations to one window, in block order.
      sums: from `block_sums`.
      inverse_mass: from `inverse_block_mass`.
      upper: which bound.
      scratch: float32 [3, blocks, width of sums].
      edges: float32 [2, width of sums]; 2 beyond the last block, apart from all.
    """
    slack = relative_slack(sums.shape[0])
    low, high = edges[0], edges[1]
    _first_pass(values, sums, scratch[0], low, high)
    if not upper:
        exact, magnitude = _differences(scratch[0])
        return max(exact - slack * magnitude, 0.0)
    twice, magnitude = _pairs(
        scratch[0], scratch[1], low, high, inverse_mass, scratch[2]
    )
    loose = _deviations(values, sums, scratch[2], scratch[1, 0])
    return twice / 2 + loose + slack * (magnitude + loose)
