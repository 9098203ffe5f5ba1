# mypy: ignore-errors
"""Sums of a few rows of a matrix, weighted: a sparse vector times a matrix."""

import numba

LANES = 16  # columns done at a time
ROWS = 8  # rows done at a time, to have many loads under way


@numba.njit(cache=True, nogil=True)
def add_rows(rows, values, count, slabs, out):
    """out += sum over t < count of values[t] · slabs[:, rows[t]].

    The order of summation is fixed, so that a window has the same numbers in any batch.

    Args:
      rows: uint32, at least count + ROWS long; what lies after `count` is overwritten.
      values: float32, likewise.
      count: how many rows to add.
      slabs: float32 [S, D, LANES], the matrix in slabs of LANES columns.
      out: float32 [S, LANES].
    """
    for t in range(count, count + ROWS):
        rows[t], values[t] = 0, 0
    for s in range(len(slabs)):
        slab, part = slabs[s], out[s]
        for t in range(0, count, ROWS):
            a, b = slab[rows[t]], slab[rows[t + 1]]
            c, d = slab[rows[t + 2]], slab[rows[t + 3]]
            e, f = slab[rows[t + 4]], slab[rows[t + 5]]
            g, h = slab[rows[t + 6]], slab[rows[t + 7]]
            p, q, r, s_ = values[t], values[t + 1], values[t + 2], values[t + 3]
            u, v, w, x = values[t + 4], values[t + 5], values[t + 6], values[t + 7]
            for k in range(LANES):
                first = (p * a[k] + q * b[k]) + (r * c[k] + s_ * d[k])
                second = (u * e[k] + v * f[k]) + (w * g[k] + x * h[k])
                part[k] += first + second
