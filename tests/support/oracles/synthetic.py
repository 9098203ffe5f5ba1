"""Slow, obvious twins of what the toy world computes."""

import numpy as np


def box_around(mask: np.ndarray) -> list[float]:
    """The half-open box around the true pixels of a mask, from all their places."""
    rows, columns = np.argwhere(mask).T
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def matrix(frame: tuple[float, ...]) -> np.ndarray:
    """An affine map as a 3 x 3 matrix."""
    return np.array([frame[:3], frame[3:], (0.0, 0.0, 1.0)])


def inside(points: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """Whether each point lies in a polygon: the even-odd rule, edge by edge."""
    result = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        for k, (x, y) in enumerate(points):
            if (y0 > y) != (y1 > y) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
                result[k] = not result[k]
    return result
