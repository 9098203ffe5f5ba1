# mypy: ignore-errors
"""HOG of windows, read from an integral image of gradient energy."""

import numba
import numpy as np

from belvedere.core.appearance import projection_compiled
from belvedere.core.appearance.energy_compiled import SIGNED

UNSIGNED = SIGNED // 2  # orientations of half a turn
CELLS = 8  # a side
CHANNELS = 32
LENGTH = CELLS * CELLS * CHANNELS
CLIP = np.float32(0.2)
TEXTURE = np.float32(1 / np.sqrt(SIGNED))  # weight of a sum of 18 numbers
ZERO, HALF = np.float32(0), np.float32(0.5)


@numba.njit(cache=True, nogil=True)
def read(total, boxes, height, width, block, floor):
    """HOG of windows, of length 1 (or 0 where there is no gradient at all).

    Args:
      total: float64 [., ., 18], the integral image.
      boxes: float64 [N, 4].
      height, width: of the picture.
      block: side of the blocks of the integral image.
      floor: square of the gradient strength below which a group of cells is flat.

    Returns:
      float32 [N, 2048].
    """
    out = np.empty((len(boxes), LENGTH), np.float32)
    room = _room()
    for n in range(len(boxes)):
        _window(total, boxes[n], height, width, block, floor, room, out[n])
        length = _length(out[n])
        if length > 0:
            out[n] /= length
    return out


@numba.njit(cache=True, nogil=True)
def project(total, boxes, height, width, block, floor, slabs):
    """read(...) times a matrix in slabs, one window at a time."""
    out = np.zeros((len(boxes), len(slabs), projection_compiled.LANES), np.float32)
    rows = np.arange(LENGTH + projection_compiled.ROWS).astype(np.uint32)
    values = np.empty(LENGTH + projection_compiled.ROWS, np.float32)
    room = _room()
    for n in range(len(boxes)):
        _window(total, boxes[n], height, width, block, floor, room, values[:LENGTH])
        length = _length(values[:LENGTH])
        if length > 0:
            projection_compiled.add_rows(rows, values, LENGTH, slabs, out[n])
            out[n] /= length
    return out


@numba.njit(cache=True, nogil=True)
def _room():
    """Scratch arrays for one window."""
    return (
        np.empty((2, CELLS + 3), np.int64),
        np.empty((2, CELLS + 3), np.float32),
        np.empty((CELLS + 3, CELLS + 3, SIGNED), np.float32),
        np.empty((CELLS + 2, CELLS + 2, SIGNED), np.float32),
        np.empty((CELLS + 2, CELLS + 2), np.float32),
        np.empty((CELLS + 1, CELLS + 1), np.float32),
    )


@numba.njit(cache=True, nogil=True)
def _window(total, box, height, width, block, floor, room, out):
    """The 2048 numbers of a window, not yet of length 1."""
    at, shares, corners, cells, squares, inverses = room
    _knots(box[0], box[2], width, block, at[0], shares[0])
    _knots(box[1], box[3], height, block, at[1], shares[1])
    area = (box[2] - box[0]) * (box[3] - box[1]) / (CELLS * CELLS)
    scale = np.float32(1 / area)
    _energies(total, at[1], shares[1], at[0], shares[0], scale, corners, cells)
    _inverses(cells, floor, squares, inverses)
    start = 0
    for i in range(CELLS):
        for j in range(CELLS):
            p, q = inverses[i, j], inverses[i, j + 1]
            r, s = inverses[i + 1, j], inverses[i + 1, j + 1]
            _channels(cells[i + 1, j + 1], p, q, r, s, out[start : start + CHANNELS])
            start += CHANNELS


@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})
def _length(values):
    """L2; the sum may be taken in any order, the same one for every window."""
    total = np.float32(0)
    for d in range(len(values)):
        total += values[d] * values[d]
    return np.sqrt(total)


@numba.njit(cache=True, nogil=True)
def _knots(low, high, side, block, at, share):
    """Where the edges of a window's cells, and of one more on each side, fall.

    Edges outside the picture move to its border. Fills block number `at` and the share
    of that block that lies before the edge.
    """
    last = -(-side // block) - 1
    for k in range(CELLS + 3):
        edge = low + (high - low) * (k - 1) / CELLS
        edge = min(max(edge, 0.0), side)
        at[k] = min(int(edge) // block, last)
        begin = at[k] * block
        share[k] = (edge - begin) / (min(begin + block, side) - begin)


@numba.njit(cache=True, nogil=True)
def _energies(total, rows, row_shares, columns, column_shares, scale, corners, cells):
    """Mean gradient strength of 10x10 cells, by orientation."""
    for i in range(CELLS + 3):
        above, below = total[rows[i]], total[rows[i] + 1]
        v = row_shares[i]
        for j in range(CELLS + 3):
            a, b = above[columns[j]], above[columns[j] + 1]
            c, d = below[columns[j]], below[columns[j] + 1]
            u, corner = column_shares[j], corners[i, j]
            for o in range(SIGNED):
                upper = a[o] + u * (b[o] - a[o])
                lower = c[o] + u * (d[o] - c[o])
                corner[o] = upper + v * (lower - upper)
    for i in range(CELLS + 2):
        for j in range(CELLS + 2):
            a, b = corners[i, j], corners[i, j + 1]
            c, d = corners[i + 1, j], corners[i + 1, j + 1]
            for o in range(SIGNED):
                cells[i, j, o] = max(((d[o] - c[o]) - (b[o] - a[o])) * scale, ZERO)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _inverses(cells, floor, squares, inverses):
    """1 / length of each group of 2x2 cells, over the unsigned orientations."""
    for i in range(CELLS + 2):
        for j in range(CELLS + 2):
            cell, sum_ = cells[i, j], np.float32(0)
            for o in range(UNSIGNED):
                both = cell[o] + cell[o + UNSIGNED]
                sum_ += both * both
            squares[i, j] = sum_
    for i in range(CELLS + 1):
        for j in range(CELLS + 1):
            group = (squares[i, j] + squares[i, j + 1]) + (
                squares[i + 1, j] + squares[i + 1, j + 1]
            )
            inverses[i, j] = np.float32(1) / np.sqrt(group + floor)


@numba.njit(cache=True, nogil=True)
def _channels(cell, p, q, r, s, out):
    """The 32 numbers of a cell under the four normalisations p, q, r, s."""
    tp, tq, tr, ts = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    for o in range(SIGNED):
        e = cell[o]
        a, b = min(e * p, CLIP), min(e * q, CLIP)
        c, d = min(e * r, CLIP), min(e * s, CLIP)
        out[o] = HALF * ((a + b) + (c + d))
        tp, tq, tr, ts = tp + a, tq + b, tr + c, ts + d
    for o in range(UNSIGNED):
        e = cell[o] + cell[o + UNSIGNED]
        a, b = min(e * p, CLIP), min(e * q, CLIP)
        c, d = min(e * r, CLIP), min(e * s, CLIP)
        out[SIGNED + o] = HALF * ((a + b) + (c + d))
    out[27], out[28] = TEXTURE * tp, TEXTURE * tq
    out[29], out[30] = TEXTURE * tr, TEXTURE * ts
    out[31] = 0
