"""Ridge regressions with a free intercept, many at once on one Gram matrix.

Each problem has targets y, a set of member rows and a penalty p:

    (H G H + p I) alpha = H y,    H = centring over the members, 0 elsewhere

is ridge regression on the members with an unpenalised intercept; its weights are
Xᵀ alpha. Members differ between folds, but G does not: conjugate gradients multiply the
same G with the directions of all problems in one product. Penalties worth choosing keep
the systems well conditioned (20 to 60 products), an eighth of the time of one Cholesky
factorisation per fold and penalty, and there is no copy of G.
"""

import numpy as np
from jaxtyping import Bool, Float, Float32

_ROUNDING = 1e-12  # relative, of centred targets


def solve(
    gram: Float32[np.ndarray, "n n"],
    targets: Float[np.ndarray, "n J"],
    members: Bool[np.ndarray, "n J"],
    penalties: Float[np.ndarray, "J"],
    tolerance: float = 1e-5,
    limit: int = 1000,
) -> Float[np.ndarray, "n J"]:
    """Dual coefficients alpha of J ridge regressions; 0 outside of the members.

    Args:
      gram: products of all windows with all windows.
      targets: one column per problem.
      members: the rows a problem may see, one column per problem.
      penalties: p of each problem, positive.
      tolerance: residual left, relative to the centred targets.
      limit: largest number of products with `gram`.
    """
    _check(members, penalties)
    residual = _centred(targets, members)
    alpha, direction = np.zeros_like(residual), residual.copy()
    square = (residual**2).sum(axis=0)
    # of targets that are constant but for rounding, the residual is no use as a goal
    goal = np.maximum(tolerance**2 * square, _ROUNDING**2 * (targets**2).sum(axis=0))
    for _ in range(limit):
        live = np.flatnonzero(square > goal)
        if len(live) == 0:
            return alpha
        d = direction[:, live]
        image = (gram @ d.astype(np.float32)).astype(np.float64)
        image = _centred(image, members[:, live]) + penalties[live] * d
        step = square[live] / (d * image).sum(axis=0)
        alpha[:, live] += step * d
        residual[:, live] -= step * image
        previous = square[live]
        square[live] = (residual[:, live] ** 2).sum(axis=0)
        direction[:, live] = residual[:, live] + square[live] / previous * d
    raise RuntimeError(f"ridge regression did not converge in {limit} products")


def intercepts(
    linear: Float[np.ndarray, "n J"],
    targets: Float[np.ndarray, "n J"],
    members: Bool[np.ndarray, "n J"],
) -> Float[np.ndarray, "J"]:
    """What the linear predictions G alpha lack on average over the members."""
    return ((targets - linear) * members).sum(axis=0) / members.sum(axis=0)


def _centred(
    columns: Float[np.ndarray, "n J"], members: Bool[np.ndarray, "n J"]
) -> Float[np.ndarray, "n J"]:
    means = (columns * members).sum(axis=0) / members.sum(axis=0)
    return (columns - means) * members


def _check(members: Bool[np.ndarray, "n J"], penalties: Float[np.ndarray, "J"]) -> None:
    if not (penalties > 0).all():
        raise ValueError(f"a penalty is {penalties.min()}, wanted positive ones")
    if not members.any(axis=0).all():
        raise ValueError("a regression has no windows to learn from")
