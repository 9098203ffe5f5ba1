"""Integral image of gradient energy by orientation, from which HOG is read."""

import numba
import numpy as np

from belvedere.core.appearance import gradients_compiled

SIGNED = 18  # orientations of a full turn


@numba.njit(cache=True, nogil=True, error_model="numpy")
def integral(red, green, blue, margin, height, width, block):
    """Integral image of gradient strength in 18 orientations, at block corners.

    The colour of strongest gradient speaks for a pixel; its strength is shared between
    the nearest two orientations.

    Args:
      red, green, blue: float32 planes with a margin.
      margin: around the picture, in pixels.
      height, width: of the picture.
      block: side of a block in pixels; the last ones may be narrower.

    Returns:
      float64 [rows + 1, columns + 1, 18].
    """
    rows, columns = -(-height // block), -(-width // block)
    total = np.zeros((rows + 1, columns + 1, SIGNED), np.float64)
    strength, direction = np.empty(width, np.float32), np.empty(width, np.float32)
    for y in range(height):
        _strongest(red, green, blue, margin + y, margin, strength, direction)
        line = total[y // block + 1]
        for x in range(width):
            low = int(direction[x])
            second = strength[x] * (direction[x] - np.float32(low))
            node = line[x // block + 1]
            node[low % SIGNED] += strength[x] - second
            node[(low + 1) % SIGNED] += second
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            for o in range(SIGNED):
                total[i, j, o] += total[i, j - 1, o]
        for j in range(1, columns + 1):
            for o in range(SIGNED):
                total[i, j, o] += total[i - 1, j, o]
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _strongest(red, green, blue, y, x, strength, direction):
    """Strength of the strongest colour's gradient and its direction in 18ths."""
    n = len(strength)
    part, turn = np.empty(n, np.float32), np.empty(n, np.float32)
    gradients_compiled.row_polar(red, y, x, strength, direction)
    for plane in (green, blue):
        gradients_compiled.row_polar(plane, y, x, part, turn)
        for i in range(n):
            stronger = part[i] > strength[i]
            direction[i] = turn[i] if stronger else direction[i]
            strength[i] = part[i] if stronger else strength[i]
    for i in range(n):
        direction[i] *= np.float32(SIGNED / 8)
