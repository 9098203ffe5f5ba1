"""Shrinking a picture by exact averages over areas."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def shrink(pixels, height, width):
    """The picture at a smaller size; a new pixel is the mean over the area it covers.

    Counted in 1 / (new size) of an old pixel all overlaps are whole numbers, and the
    mean is rounded once, half up.
    """
    old_height, old_width, channels = pixels.shape
    out = np.empty((height, width, channels), np.uint8)
    sums = np.empty((width, channels), np.int64)
    full = old_height * old_width
    for y in range(height):
        sums[:] = 0
        top, bottom = y * old_height, (y + 1) * old_height
        for v in range(top // height, (bottom - 1) // height + 1):
            part = min(bottom, (v + 1) * height) - max(top, v * height)
            _add_row(pixels[v], part, sums)
        for x in range(width):
            for c in range(channels):
                out[y, x, c] = (2 * sums[x, c] + full) // (2 * full)
    return out


@numba.njit(inline="always")
def _add_row(row, part, sums):
    width, old_width = len(sums), len(row)
    for x in range(width):
        left, right = x * old_width, (x + 1) * old_width
        for u in range(left // width, (right - 1) // width + 1):
            weight = part * (min(right, (u + 1) * width) - max(left, u * width))
            for c in range(sums.shape[1]):
                sums[x, c] += weight * row[u, c]
