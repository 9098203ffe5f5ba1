"""The ARD-RBF kernel, in units of its signal variance.

    K(x, x') / sf2 = exp(-1/2 sum_d (x_d - x'_d)² / ell_d²)

Paper: section 3, K(x, x'); section 4, the appearance similarity of phi_G and phi_L.
Departures: the paper does not name the kernel; its "54 parameters" for 54 inputs say
one lengthscale each. As an appearance similarity it is divided by sf2, or the scale of
the hyper-features would drift from class to class, and carries no noise.
"""

import numpy as np
from jaxtyping import Float, Float32

from belvedere.core import types
from belvedere.core.prediction import kernel_compiled

_VANISHED = -200.0  # exp of it is 0 in float32, and it survives the cast
_FARTHEST = 1e150  # lengthscales; its square is still finite


def similarity(
    x: Float[np.ndarray, "N Q"], lengthscales: Float[np.ndarray, "Q"]
) -> Float32[np.ndarray, "N N"]:
    """Appearance similarity K / sf2 of all pairs of windows.

    Exactly symmetric, in [0, 1], 1 on the diagonal. Distances are float64, so that
    only the last rounding is float32.
    """
    types.require_shape("features", x, None, len(lengthscales))
    scaled = _scaled(x, _middle(x), lengthscales)
    products = scaled @ scaled.T  # symmetric to the bit: BLAS fills one triangle
    halves = np.diagonal(products) / 2
    result = np.empty(products.shape, np.float32)
    kernel_compiled.exponents(products, halves, _VANISHED, result)
    return np.exp(result, out=result)


def cross(
    x: Float[np.ndarray, "N Q"],
    z: Float[np.ndarray, "M Q"],
    lengthscales: Float[np.ndarray, "Q"],
) -> Float[np.ndarray, "N M"]:
    """K(x_i, z_j) / sf2 in float64; a row depends on its own x_i only."""
    types.require_shape("features", x, None, len(lengthscales))
    types.require_shape("inducing points", z, None, len(lengthscales))
    origin = _middle(z)
    a, b = _scaled(x, origin, lengthscales), _scaled(z, origin, lengthscales)
    exponents = a @ b.T
    exponents -= np.einsum("nq,nq->n", a, a)[:, None] / 2
    exponents -= np.einsum("mq,mq->m", b, b)[None, :] / 2
    np.minimum(exponents, 0, out=exponents)
    return np.exp(exponents, out=exponents)


def require_parameters(
    lengthscales: Float[np.ndarray, "Q"], signal_variance: float, noise_variance: float
) -> None:
    """Raises ValueError unless all are positive and finite."""
    types.require_shape("lengthscales", lengthscales, None)
    if not (lengthscales > 0).all():
        raise ValueError(f"lengthscales are {lengthscales}, wanted all positive")
    for name, value in (("signal", signal_variance), ("noise", noise_variance)):
        if not 0 < value < np.inf:
            raise ValueError(f"{name} variance is {value}, wanted a positive number")


def _middle(x: Float[np.ndarray, "N Q"]) -> Float[np.ndarray, "Q"]:
    """A point amid the data: distances from far-off data would cancel."""
    with np.errstate(over="ignore"):
        return x.mean(axis=0, dtype=np.float64) if len(x) else np.zeros(x.shape[1])


def _scaled(
    x: Float[np.ndarray, "N Q"],
    origin: Float[np.ndarray, "Q"],
    lengthscales: Float[np.ndarray, "Q"],
) -> Float[np.ndarray, "N Q"]:
    if not (lengthscales > 0).all():
        raise ValueError(f"lengthscales are {lengthscales}, wanted all positive")
    with np.errstate(over="ignore"):
        scaled = (x - origin) / lengthscales
    if not (np.abs(scaled) < _FARTHEST).all():
        raise ValueError(f"features lie more than {_FARTHEST:g} lengthscales apart")
    return scaled
