# mypy: ignore-errors
"""Shrinking a picture by exact averages over areas."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def shrink(pixels, height, width):
    """The picture at a smaller size; a new pixel is the mean over the area it covers.

    Measured in 1 / (new size) of an old pixel, all overlaps are whole numbers; the mean
    is rounded once, half up. Rows are added up first, in one sweep over the picture.
    """
    old_height, old_width, channels = pixels.shape
    rows = pixels.reshape(old_height, old_width * channels)
    out = np.empty((height, width, channels), np.uint8)
    sums = np.empty(old_width * channels, np.int32)
    for y in range(height):
        sums[:] = 0
        top, bottom = y * old_height, (y + 1) * old_height
        for v in range(top // height, (bottom - 1) // height + 1):
            part = np.int32(min(bottom, (v + 1) * height) - max(top, v * height))
            row = rows[v]
            for i in range(row.size):
                sums[i] += part * np.int32(row[i])
        _shrink_row(sums.reshape(old_width, channels), old_height * old_width, out[y])
    return out


@numba.njit(inline="always")
def _shrink_row(sums, full, out):
    """One row of the new picture from the sums of those it covers."""
    width, old_width = len(out), len(sums)
    for x in range(width):
        left, right = x * old_width, (x + 1) * old_width
        red, green, blue = np.int64(0), np.int64(0), np.int64(0)
        for u in range(left // width, (right - 1) // width + 1):
            part = min(right, (u + 1) * width) - max(left, u * width)
            red += part * sums[u, 0]
            green += part * sums[u, 1]
            blue += part * sums[u, 2]
        out[x, 0] = (2 * red + full) // (2 * full)
        out[x, 1] = (2 * green + full) // (2 * full)
        out[x, 2] = (2 * blue + full) // (2 * full)
