"""What the windows seen say about the weights: conditioning with a fixed kernel.

With K_uu = L Lᵀ (jitter on its diagonal), A = L⁻¹ K_uf and Lambda the variance of each
observation given the inducing variables,

    gram    S = A Λ⁻¹ Aᵀ,    moments  b_r = A Λ⁻¹ y_r
    weights_r = L⁻ᵀ (I + S)⁻¹ b_r
    variance  = sf2 - k_uᵀ L⁻ᵀ (I - (I + S)⁻¹) L⁻¹ k_u
    Λ = sn2 (variational)  or  sn2 + diag(K_ff - AᵀA) (FITC)

Paper: section 3. Departures: the paper does not say which sparse approximation.
"""

import dataclasses
from typing import Literal

import numpy as np
import scipy.linalg
from jaxtyping import Float

from belvedere.core import types
from belvedere.core.prediction import kernel
from belvedere.core.prediction.relation_gp import RelationGP

Objective = Literal["variational", "fitc"]
# Times sf2, on the diagonal of K_uu; the first that makes it positive definite is used.
JITTERS = tuple(10.0**power for power in range(-8, -1))


@dataclasses.dataclass(frozen=True, eq=False)
class SparsePrior:
    """Kernel, inducing points and noise, before any target is seen."""

    inducing: Float[np.ndarray, "M Q"]
    lengthscales: Float[np.ndarray, "Q"]
    signal_variance: float
    noise_variance: float
    objective: Objective

    def __post_init__(self) -> None:
        kernel.require_parameters(
            self.lengthscales, self.signal_variance, self.noise_variance
        )
        types.require_shape("inducing", self.inducing, None, len(self.lengthscales))
        if len(self.inducing) == 0:
            raise ValueError("a sparse Gaussian process needs an inducing point")


def cholesky(prior: SparsePrior) -> tuple[Float[np.ndarray, "M M"], float]:
    """L with L Lᵀ = K_uu + jitter · sf2 · I, and the smallest jitter that allows it."""
    k_uu = prior.signal_variance * kernel.cross(
        prior.inducing, prior.inducing, prior.lengthscales
    )
    for jitter in JITTERS:
        ridge = jitter * prior.signal_variance * np.eye(len(k_uu))
        try:
            return scipy.linalg.cholesky(k_uu + ridge, lower=True), jitter
        except scipy.linalg.LinAlgError:
            continue
    raise ValueError(singular(len(k_uu)))


def singular(m: int) -> str:
    """Says that the ladder of jitters has come to its end."""
    return f"the kernel of {m} inducing points is singular even with {JITTERS[-1]:g}"


def condition(
    prior: SparsePrior,
    x: Float[np.ndarray, "n Q"],
    targets: Float[np.ndarray, "3 n"],
) -> RelationGP:
    """The Gaussian process that has seen these windows."""
    root, _ = cholesky(prior)
    return _posterior(prior, root, *_evidence(prior, root, x, targets))


def _evidence(
    prior: SparsePrior,
    root: Float[np.ndarray, "M M"],
    x: Float[np.ndarray, "n Q"],
    targets: Float[np.ndarray, "3 n"],
) -> tuple[Float[np.ndarray, "M M"], Float[np.ndarray, "3 M"]]:
    """S and b of the windows; `root` is the Cholesky factor of the prior."""
    require_windows(x, targets)
    k_uf = kernel.cross(x, prior.inducing, prior.lengthscales).T
    k_uf *= prior.signal_variance
    a = scipy.linalg.solve_triangular(root, k_uf, lower=True, overwrite_b=True)
    weighted = a / _observation_variances(prior, a)
    return weighted @ a.T, targets @ weighted.T


def require_windows(
    x: Float[np.ndarray, "n Q"], targets: Float[np.ndarray, "3 n"]
) -> None:
    """Raises ValueError unless these are finite features and relations of windows."""
    if len(x) == 0:
        raise ValueError("no windows to learn from")
    types.require_shape("features", x, None, None)
    types.require_shape("targets", targets, types.R, len(x))


def _observation_variances(
    prior: SparsePrior, a: Float[np.ndarray, "M n"]
) -> Float[np.ndarray, "n"]:
    """Lambda: what the inducing variables leave open, and the noise."""
    if prior.objective == "variational":
        return np.full(a.shape[1], prior.noise_variance)
    open_variance = prior.signal_variance - np.einsum("mn,mn->n", a, a)
    return np.maximum(open_variance, 0) + prior.noise_variance


def _posterior(
    prior: SparsePrior,
    root: Float[np.ndarray, "M M"],
    gram: Float[np.ndarray, "M M"],
    moments: Float[np.ndarray, "3 M"],
) -> RelationGP:
    # S = V diag(s) Vᵀ, so (I + S)⁻¹ = V diag(1 / (1 + s)) Vᵀ, and what is left of I
    # has the square root diag(s / (1 + s))^½ Vᵀ
    s, v = scipy.linalg.eigh(gram)
    s = np.maximum(s, 0)
    back = scipy.linalg.solve_triangular(root, v, lower=True, trans="T").T  # Vᵀ L⁻¹
    return RelationGP(
        inducing=prior.inducing,
        lengthscales=prior.lengthscales,
        signal_variance=prior.signal_variance,
        noise_variance=prior.noise_variance,
        weights=(moments @ v / (1 + s)) @ back,
        whitener=np.sqrt(s / (1 + s))[:, None] * back,
    )
