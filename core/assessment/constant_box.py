"""Baselines that do not look at the picture: one box for all, and the whole image.

Boxes are in parts of the picture's width and height; IoU is the same as in pixels. The
constant box is the training box, or the mean or median of all, that overlaps the
objects of the training images most.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core.windows import boxes

WHOLE_IMAGE = (0.0, 0.0, 1.0, 1.0)
_AT_ONCE = 256  # candidates: bounds the memory


def best_constant_box(
    truths: Sequence[Float[np.ndarray, "_ 4"]],
) -> Float[np.ndarray, " 4"]:
    """The candidate of highest mean IoU over images, the first of equals.

    Args:
      truths: for each training image its true boxes, one or more, relative.
    """
    if not truths or any(len(t) == 0 for t in truths):
        raise ValueError("a constant box needs images, each with a true box")
    every = np.concatenate(truths)
    means = [every.mean(axis=0), np.median(every, axis=0)]
    candidates = np.concatenate([every, means])
    return candidates[mean_ious(candidates, truths).argmax()]


def mean_ious(
    candidates: Float[np.ndarray, "C 4"], truths: Sequence[Float[np.ndarray, "_ 4"]]
) -> Float[np.ndarray, " C"]:
    """Mean over images of each candidate's IoU with the object it overlaps most."""
    every = np.concatenate(truths)
    sizes = np.array([len(t) for t in truths], np.int64)
    starts = np.cumsum(sizes) - sizes
    parts = [
        np.maximum.reduceat(boxes.ious(part, every), starts, axis=1).mean(axis=1)
        for part in np.split(candidates, range(_AT_ONCE, len(candidates), _AT_ONCE))
    ]
    return np.concatenate(parts)
