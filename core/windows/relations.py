"""The spatial relation descriptor rho(w, w') = (overlap, part, container).

Paper: section 2, equation 1. `part` says how much of w lies in w', `container` how much
of w' lies in w, so part(a, b) = container(b, a). With several true boxes, a window's
target relations are those to the box it overlaps most (the paper is silent).
"""

import numpy as np
from jaxtyping import Float

from belvedere.core.windows import boxes


def pairwise(
    a: Float[np.ndarray, "N 4"], b: Float[np.ndarray, "M 4"]
) -> Float[np.ndarray, "3 N M"]:
    """rho(a_i, b_j) for all pairs."""
    shared = boxes.intersections(a, b)
    size_a, size_b = boxes.areas(a)[:, None], boxes.areas(b)[None, :]
    return np.stack(
        [shared / (size_a + size_b - shared), shared / size_a, shared / size_b]
    )


def to_object(
    windows: Float[np.ndarray, "N 4"], truth: Float[np.ndarray, "T 4"]
) -> Float[np.ndarray, "3 N"]:
    """rho(w, w*) with w* the true box that w overlaps most, the first of equals."""
    if len(truth) == 0:
        raise ValueError("an image without a true box has no relations to learn from")
    rho = pairwise(windows, truth)
    nearest = rho[0].argmax(axis=1)
    return rho[:, np.arange(len(windows)), nearest]
