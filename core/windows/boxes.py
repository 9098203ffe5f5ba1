"""Boxes: (x0, y0, x1, y1), float64, 0-based, half-open, in the upright picture.

Every source is brought to this convention at the door; no `+ 1` occurs anywhere else.
"""

import numpy as np
from jaxtyping import Float


def checked(boxes: object, width: int, height: int) -> Float[np.ndarray, "N 4"]:
    """Boxes as a float64 array, or ValueError naming the first that is unusable.

    Args:
      boxes: anything numpy reads as [N, 4].
      width: of the picture, in pixels.
      height: of the picture, in pixels.
    """
    array = np.asarray(boxes, np.float64)
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"boxes have shape {array.shape}, wanted (N, 4)")
    for box in array:
        if fault := _fault(box, width, height):
            raise ValueError(f"box {box.tolist()} {fault}")
    return array


def _fault(box: np.ndarray, width: int, height: int) -> str | None:
    if not np.isfinite(box).all():
        return "holds NaN or infinite values"
    x0, y0, x1, y1 = box
    if x0 >= x1 or y0 >= y1:
        return "has no area or swapped corners"
    if x0 < 0 or y0 < 0 or x1 > width or y1 > height:
        return f"leaves the picture of {width} x {height} pixels"
    return None


def xywh(box: Float[np.ndarray, "4"]) -> list[float]:
    """A box as files and people are told of it: (x, y, width, height)."""
    x0, y0, x1, y1 = box.tolist()
    return [x0, y0, x1 - x0, y1 - y0]


def areas(boxes: Float[np.ndarray, "N 4"]) -> Float[np.ndarray, "N"]:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def intersections(
    a: Float[np.ndarray, "N 4"], b: Float[np.ndarray, "M 4"]
) -> Float[np.ndarray, "N M"]:
    """Area of a_i ∩ b_j."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    sides = np.maximum(high - low, 0)
    return sides[..., 0] * sides[..., 1]


def ious(
    a: Float[np.ndarray, "N 4"], b: Float[np.ndarray, "M 4"]
) -> Float[np.ndarray, "N M"]:
    """Intersection over union of a_i and b_j."""
    shared = intersections(a, b)
    return shared / (areas(a)[:, None] + areas(b)[None, :] - shared)
