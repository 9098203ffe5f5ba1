# mypy: ignore-errors
"""Gradients of a picture in a compact form, and their integral image, for HOG."""

import numba
import numpy as np

from belvedere.core.appearance import gradients_compiled

SIGNED = 18  # orientations of a full turn
FINE = 14  # directions kept between one orientation and the next
TURN = SIGNED * FINE
UNIT = 64  # strengths are kept in 64ths of a grey level


@numba.njit(cache=True, nogil=True, error_model="numpy")
def strongest(red, green, blue, margin, height, width):
    """The strongest of the three colours' gradients at each pixel.

    Args:
      red, green, blue: float32 planes with a margin.
      margin: around the picture, in pixels.
      height, width: of the picture.

    Returns:
      strength, uint16 [height, width], in 1 / UNIT grey levels per two pixels, and
      direction, uint8 [height, width], in 1 / TURN of a turn.
    """
    strengths = np.empty((height, width), np.uint16)
    directions = np.empty((height, width), np.uint8)
    best, turn = np.empty(width, np.float32), np.empty(width, np.float32)
    part, other = np.empty(width, np.float32), np.empty(width, np.float32)
    for y in range(height):
        gradients_compiled.row_polar(red, margin + y, margin, best, turn)
        for plane in (green, blue):
            gradients_compiled.row_polar(plane, margin + y, margin, part, other)
            for x in range(width):
                turn[x] = other[x] if part[x] > best[x] else turn[x]
                best[x] = max(part[x], best[x])
        for x in range(width):
            strengths[y, x] = np.int32(best[x] * np.float32(UNIT) + np.float32(0.5))
            fine = np.int32(turn[x] * np.float32(TURN / 8) + np.float32(0.5))
            directions[y, x] = fine - TURN if fine >= TURN else fine
    return strengths, directions


@numba.njit(cache=True, nogil=True)
def integral(strengths, directions, block):
    """Integral image of gradient strength by orientation, at the corners of blocks.

    A pixel's strength is shared between the two orientations nearest to its direction.

    Args:
      strengths, directions: as `strongest` returns them.
      block: side of a block in pixels; the last ones may be narrower.

    Returns:
      float64 [rows + 1, columns + 1, 18], in grey levels per two pixels.
    """
    height, width = strengths.shape
    rows, columns = -(-height // block), -(-width // block)
    total = np.zeros((rows + 1, columns + 1, SIGNED), np.float64)
    line = np.empty((columns + 1, SIGNED), np.float64)
    for i in range(rows):
        line[:] = 0
        for y in range(i * block, min(i * block + block, height)):
            _add_line(strengths[y], directions[y], block, line)
        above, here = total[i], total[i + 1]
        for j in range(columns):
            for o in range(SIGNED):
                line[j + 1, o] += line[j, o]
                here[j + 1, o] = above[j + 1, o] + line[j + 1, o]
    return total


@numba.njit(cache=True, nogil=True)
def _add_line(strengths, directions, block, line):
    """Adds a row of pixels to the blocks, which begin at line[1]."""
    unit = 1.0 / (UNIT * FINE)
    for x in range(len(strengths)):
        low, second = directions[x] // FINE, directions[x] % FINE
        high = 0 if low == SIGNED - 1 else low + 1
        node, strength = line[x // block + 1], strengths[x] * unit
        node[low] += strength * (FINE - second)
        node[high] += strength * second
