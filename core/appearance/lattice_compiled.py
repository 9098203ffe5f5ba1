# mypy: ignore-errors
"""Sums of gradients around the nodes of a lattice, from which descriptors are read.

Node (i, j) lies on the pixel corner (top + i·spacing, left + j·spacing) and takes from
a pixel whose centre is d away, in each direction, the share 1 - |d| / side. When the
grid of descriptors and their spatial bins share a lattice, each sum is made once.
"""

import numba
import numpy as np

from belvedere.core.appearance import gradients_compiled


@numba.njit(cache=True, nogil=True, error_model="numpy")
def orientations(plane, top, left, rows, columns, spacing, side):
    """Gradient strength in eight orientations, shared between the nearest two.

    Args:
      plane: float32 [h, w], with a margin of more than `side` pixels around the nodes.
      top, left: of node (0, 0), in pixels of the plane.
      rows, columns: of the lattice.
      spacing: of the nodes, a divisor of `side`.
      side: of a spatial bin, in pixels.

    Returns:
      float32 [rows, columns, 8].
    """
    shares = _shares(spacing, side)
    reach = shares.shape[1]
    width = (columns - 1) * spacing + 2 * side
    strength, direction = np.empty(width, np.float32), np.empty(width, np.float32)
    line = np.empty((columns + 2 * reach, 8), np.float32)
    nodes = np.zeros((rows + 2 * reach, columns + 2 * reach, 8), np.float32)
    for y in range((rows - 1) * spacing + 2 * side):
        gradients_compiled.row_polar(
            plane, top - side + y, left - side, strength, direction
        )
        _spread_orientations(strength, direction, shares, line)
        _deposit(line, y, shares, nodes)
    return nodes[reach : reach + rows, reach : reach + columns].copy()


@numba.njit(cache=True, nogil=True, error_model="numpy")
def differences(plane, top, left, rows, columns, spacing, side):
    """The four sums of SURF: dx, |dx|, dy, |dy|; arguments as in `orientations`.

    Returns:
      float32 [rows, columns, 4].
    """
    shares = _shares(spacing, side)
    reach = shares.shape[1]
    width = (columns - 1) * spacing + 2 * side
    line = np.empty((columns + 2 * reach, 4), np.float32)
    nodes = np.zeros((rows + 2 * reach, columns + 2 * reach, 4), np.float32)
    for y in range((rows - 1) * spacing + 2 * side):
        _spread_differences(plane, top - side + y, left - side, width, shares, line)
        _deposit(line, y, shares, nodes)
    return nodes[reach : reach + rows, reach : reach + columns].copy()


@numba.njit(cache=True, nogil=True)
def _shares(spacing, side):
    """[phase, k]: share of a pixel for the k-th of the nodes that it touches."""
    reach = 2 * side // spacing
    shares = np.empty((spacing, reach), np.float32)
    for phase in range(spacing):
        for k in range(reach):
            away = phase + 0.5 + (reach - 1 - k) * spacing - side
            shares[phase, k] = 1.0 - abs(away) / side
    return shares


@numba.njit(cache=True, nogil=True)
def _spread_orientations(strength, direction, shares, line):
    """Adds the pixels of a row to the nodes and orientations on either side of them.

    Pixel x touches the nodes x // spacing - reach + 1 ... x // spacing; `line` has
    `reach` spare nodes at both ends, so that no pixel needs a test.
    """
    spacing, reach = shares.shape
    line[:] = 0
    for x in range(len(strength)):
        first, phase = x // spacing + 1, x % spacing
        low = int(direction[x])
        second = strength[x] * (direction[x] - np.float32(low))
        main = strength[x] - second
        low, high = low & 7, (low + 1) & 7
        for k in range(reach):
            line[first + k, low] += shares[phase, k] * main
            line[first + k, high] += shares[phase, k] * second


@numba.njit(cache=True, nogil=True)
def _spread_differences(plane, y, left, width, shares, line):
    """Adds the differences of a row to the nodes on either side of each pixel."""
    spacing, reach = shares.shape
    line[:] = 0
    for x in range(width):
        first, phase = x // spacing + 1, x % spacing
        dx = plane[y, left + x + 1] - plane[y, left + x - 1]
        dy = plane[y + 1, left + x] - plane[y - 1, left + x]
        for k in range(reach):
            share, node = shares[phase, k], line[first + k]
            node[0] += share * dx
            node[1] += share * abs(dx)
            node[2] += share * dy
            node[3] += share * abs(dy)


@numba.njit(cache=True, nogil=True)
def _deposit(line, y, shares, nodes):
    """Adds the sums of pixel row y to the rows of nodes above and below it."""
    spacing, reach = shares.shape
    first = y // spacing + 1
    out_of = line.reshape(-1)
    for k in range(reach):
        share, into = shares[y % spacing, k], nodes[first + k].reshape(-1)
        for i in range(len(out_of)):
            into[i] += share * out_of[i]
