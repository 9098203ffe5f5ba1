"""The 11 hyper-features of a window in the context of all windows of its image.

Paper: section 4. With rho^r(w_i, w_l) the relation of window i to window l, K the
appearance similarity and mu, sigma the Gaussian process's word on each window:

  phi_G^r(l) = 2/(N²-N) sum_{i<j} |rho^r(w_i,w_l) - rho^r(w_j,w_l)| K(x_i,x_j)   (3)
  phi_L^r(l) = 1/N sum_i |1 - rho^r(w_i,w_l)| K(x_i,x_l)                         (4)
  phi_C^r(l) = max_i |rho^r(w_i,w_l) - mu^r(x_i)|                                (2)
  phi_S(l)   = (mu^overlap(x_l), sigma(x_l))                                     (5)

for r = overlap, part, container. An image with one window has phi_G = 0.

Departures: none by default; `Consistency.MEAN` takes the mean instead of the maximum
in phi_C, which the paper argues against and which can be compared.
"""

import enum

import numpy as np
from jaxtyping import Float

from belvedere.core.context import hyperfeatures_compiled
from belvedere.core.types import Context, P, R
from belvedere.core.windows import boxes


class Consistency(enum.Enum):
    """How phi_C sums up the disagreement over the other windows."""

    MAX = "max"
    MEAN = "mean"


def of_window(
    context: Context, l: int, consistency: Consistency = Consistency.MAX
) -> Float[np.ndarray, "P"]:
    """Hyper-features of window number `l`."""
    if not 0 <= l < len(context):
        raise ValueError(f"window {l} is not one of {len(context)}")
    phi = np.empty(P)
    rho = np.empty((R, len(context)))
    hyperfeatures_compiled.window_terms(
        geometry(context),
        context.kernel,
        context.mean,
        context.std,
        l,
        consistency is Consistency.MEAN,
        rho,
        phi,
    )
    return phi


def of_all(
    context: Context,
    consistency: Consistency = Consistency.MAX,
    with_global: bool = True,
) -> Float[np.ndarray, "N P"]:
    """Hyper-features of every window: the tables that learning alpha needs.

    Without phi_G, which costs far more than the others, its columns are 0.
    """
    return hyperfeatures_compiled.all_terms(
        geometry(context),
        context.kernel,
        context.mean,
        context.std,
        consistency is Consistency.MEAN,
        with_global,
    )


def geometry(context: Context) -> Float[np.ndarray, "6 N"]:
    """x0, y0, x1, y1, area and 1/area as rows, as the compiled loops read them."""
    size = boxes.areas(context.boxes)
    return np.concatenate([context.boxes.T, size[None], 1 / size[None]])
