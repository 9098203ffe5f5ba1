# mypy: ignore-errors
"""Products of sparse matrices with sparse matrices, all rows with all rows.

Rows are histograms with a few per cent of their entries set. Going through the columns
that a row uses costs (density)² of the dense product and needs no dense copy. Sums run
in float64 and in a fixed order, so the result does not depend on machine or threads.

Arguments are a matrix compressed by rows (`indptr`, `indices`, `values`) and one
compressed by columns (`column_indptr`, `column_rows`, `column_values`).
"""

import numba
import numpy as np

_TILE = 32  # rows of a square of the mirror that stay in the cache together


@numba.njit(cache=True, nogil=True)
def cross_gram(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    column_indptr: np.ndarray,
    column_rows: np.ndarray,
    column_values: np.ndarray,
    others: int,
) -> np.ndarray:
    """a bᵀ, float32: a compressed by rows, b with `others` rows by columns."""
    result = np.empty((indptr.size - 1, others), np.float32)
    sums = np.empty(others, np.float64)
    for row in range(result.shape[0]):
        sums[:] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            begin, end = column_indptr[indices[at]], column_indptr[indices[at] + 1]
            _add(sums, values[at], column_rows[begin:end], column_values[begin:end])
        result[row] = sums
    return result


@numba.njit(cache=True, nogil=True)
def gram(
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    column_indptr: np.ndarray,
    column_rows: np.ndarray,
    column_values: np.ndarray,
) -> np.ndarray:
    """a aᵀ, float32: the upper triangle is summed, the lower copied.

    Rows come in ascending order within a column, so the entries of a column that lie
    before the current row are exactly those already used: `begins` moves past them.
    """
    rows = indptr.size - 1
    result = np.empty((rows, rows), np.float32)
    sums = np.empty(rows, np.float64)
    begins = column_indptr.copy()
    for row in range(rows):
        sums[row:] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            begin, end = begins[indices[at]], column_indptr[indices[at] + 1]
            _add(sums, values[at], column_rows[begin:end], column_values[begin:end])
            begins[indices[at]] += 1
        result[row, row:] = sums[row:]
    _mirror(result)
    return result


@numba.njit(cache=True, nogil=True)
def _add(sums: np.ndarray, value: float, rows: np.ndarray, values: np.ndarray) -> None:
    """sums[rows] += value * values; the cast spares a test for negative indices."""
    factor = np.float64(value)
    for k in range(rows.size):
        sums[np.uint32(rows[k])] += factor * values[k]


@numba.njit(cache=True, nogil=True)
def _mirror(square: np.ndarray) -> None:
    """Copies the upper triangle to the lower."""
    n = square.shape[0]
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    square[j, i] = square[i, j]
