# mypy: ignore-errors
"""Gradients of a plane, row by row, as strength and direction.

Directions are counted in octants, from 0 (to the right) by way of 2 (down) to 8 (a full
turn), which costs one short polynomial a pixel instead of an arc tangent.
"""

import numba
import numpy as np

# arctan(r) in octants = r·(C0 + C1 r² + ...) on [0, 1], wrong by 1.5e-5 at most.
C0, C1, C2, C3, C4 = (
    np.float32(c) for c in (1.27306933, -0.4205568, 0.22938477, -0.10842282, 0.02654009)
)
TINY = np.float32(1e-20)
TWO, FOUR, EIGHT = np.float32(2), np.float32(4), np.float32(8)


@numba.njit(cache=True, nogil=True, inline="always")
def octants(dx, dy):
    """Direction of the vector (dx, dy) in octants, in [0, 8]; 0 for the zero vector."""
    ax, ay = abs(dx), abs(dy)
    r = min(ax, ay) / (max(ax, ay) + TINY)
    r2 = r * r
    turn = r * (C0 + r2 * (C1 + r2 * (C2 + r2 * (C3 + r2 * C4))))
    turn = TWO - turn if ay > ax else turn
    turn = FOUR - turn if dx < 0 else turn
    return EIGHT - turn if dy < 0 else turn


@numba.njit(cache=True, nogil=True, error_model="numpy")
def row_polar(plane, y, x, strength, direction):
    """Central differences of `plane` at row y, from column x on, in polar form.

    Fills `strength` (grey levels per two pixels) and `direction` (octants).
    """
    n = len(strength)
    above, below = plane[y - 1, x : x + n], plane[y + 1, x : x + n]
    left, right = plane[y, x - 1 : x - 1 + n], plane[y, x + 1 : x + 1 + n]
    for i in range(n):
        dx, dy = right[i] - left[i], below[i] - above[i]
        strength[i] = np.sqrt(dx * dx + dy * dy)
        direction[i] = octants(dx, dy)
