"""The variational bound with its gradient written out: the default objective of a fit.

The same number as `collapsed_bound` gives for `variational`, and the same derivatives
as automatic differentiation finds, several times as fast: what has the length of the
data is touched by four products only. With K_uu = L Lᵀ, A = L⁻¹ K_uf, b_r = A y_r,
B = I + A Aᵀ / sn2 and β_r = B⁻¹ b_r / sn2, and T relations,

    F = -T/2 (n log 2π + log|B| + n log sn2) - 1/2 sum_r (y_rᵀ y_r - b_rᵀ β_r) / sn2
        - T/2 (n sf2 - tr A Aᵀ) / sn2
    dF/dA    = ((T (I - B⁻¹) - sum_r β_r β_rᵀ) A + sum_r β_r y_rᵀ) / sn2
    dF/dK_uf = L⁻ᵀ dF/dA
    dF/dK_uu = -1/2 L⁻ᵀ (dF/dA Aᵀ) L⁻¹

since F does not change when the root L is turned, and dL = 1/2 dK_uu L⁻ᵀ is one that
fits. A lengthscale is then a weighted sum of squared distances.

Paper: section 3, "learn the kernel". Departures: as in `collapsed_bound`.
"""

import dataclasses

import numpy as np
from jaxtyping import Float
from scipy import linalg

from belvedere.core.prediction import conditioning, kernel


class VariationalBound:
    """The log bound and its gradient in theta = (log ell_1..Q, log sf2, log sn2)."""

    def __init__(
        self,
        x: Float[np.ndarray, "n Q"],
        targets: Float[np.ndarray, "T n"],
        inducing: Float[np.ndarray, "M Q"],
    ) -> None:
        middle = inducing.mean(axis=0)  # distances from far-off data would cancel
        self._x, self._inducing = x - middle, inducing - middle
        self._targets = targets

    def value_and_gradient(
        self, theta: Float[np.ndarray, "parameters"]
    ) -> tuple[float, Float[np.ndarray, "parameters"]]:
        """The bound in nats, summed over relations and windows."""
        lengthscales, (sf2, sn2) = np.exp(theta[:-2]), np.exp(theta[-2:])
        prior = conditioning.SparsePrior(
            self._inducing, lengthscales, float(sf2), float(sn2), "variational"
        )
        k_uu = sf2 * kernel.cross(self._inducing, self._inducing, lengthscales)
        k_uf = sf2 * kernel.cross(self._x, self._inducing, lengthscales).T
        root, jitter = conditioning.cholesky(prior)
        inner = _Inner.of(root, k_uf, self._targets, float(sn2))
        by_uf, by_uu = inner.by_kernels(root, self._targets)
        by_uf *= k_uf
        jittered = jitter * sf2 * float(np.trace(by_uu))
        by_uu *= k_uu
        size, width = k_uf.shape[1], len(self._targets)
        penalty = width * (size * sf2 - inner.explained) / (2 * sn2)
        by_lengthscales = (
            _spread(by_uf, self._inducing, self._x)
            + _spread(by_uu, self._inducing, self._inducing)
        ) / lengthscales**2
        by_signal = by_uf.sum() + by_uu.sum() + jittered
        by_signal -= width * size * sf2 / (2 * sn2)
        return (
            inner.log_marginals - penalty,
            np.r_[by_lengthscales, by_signal, inner.by_noise + penalty],
        )


@dataclasses.dataclass(frozen=True, eq=False)
class _Inner:
    """A, D = A Aᵀ, B⁻¹, b and β of the formulas, and what follows from them.

    `by_noise` is the derivative of the log marginals in log sn2.
    """

    a: Float[np.ndarray, "M n"]
    d: Float[np.ndarray, "M M"]
    inverse: Float[np.ndarray, "M M"]
    b: Float[np.ndarray, "M T"]
    beta: Float[np.ndarray, "M T"]
    sn2: float
    log_marginals: float
    by_noise: float

    @classmethod
    def of(
        cls,
        root: Float[np.ndarray, "M M"],
        k_uf: Float[np.ndarray, "M n"],
        targets: Float[np.ndarray, "T n"],
        sn2: float,
    ) -> "_Inner":
        width, size = targets.shape
        a = linalg.solve_triangular(root, k_uf, lower=True, check_finite=False)
        d, b = a @ a.T, a @ targets.T
        c = linalg.cholesky(np.eye(len(d)) + d / sn2, lower=True, check_finite=False)
        inverse = linalg.cho_solve((c, True), np.eye(len(d)), check_finite=False)
        beta = inverse @ b / sn2
        fit = float(np.square(targets).sum()) / sn2
        known = float((b * beta).sum()) / sn2
        determinant = 2 * float(np.log(np.diagonal(c)).sum()) + size * np.log(sn2)
        constant = size * np.log(2 * np.pi)
        log_marginals = -(width * (constant + determinant) + fit - known) / 2
        by_noise = width * (len(d) - float(np.trace(inverse)) - size) + fit - known
        by_noise -= float(np.square(beta).sum())
        return cls(a, d, inverse, b, beta, sn2, log_marginals, by_noise / 2)

    @property
    def explained(self) -> float:
        """tr A Aᵀ: the prior variance of the windows that the inducing ones carry."""
        return float(np.trace(self.d))

    def by_kernels(
        self, root: Float[np.ndarray, "M M"], targets: Float[np.ndarray, "T n"]
    ) -> tuple[Float[np.ndarray, "M n"], Float[np.ndarray, "M M"]]:
        """dF/dK_uf and dF/dK_uu."""
        eye = np.eye(len(self.d))
        by_d = targets.shape[0] * (eye - self.inverse) - self.beta @ self.beta.T
        left = _back(root, np.concatenate([by_d, self.beta], axis=1) / self.sn2)
        m = len(self.d)
        by_uf = left[:, :m] @ self.a
        by_uf += left[:, m:] @ targets
        outer = (by_d @ self.d + self.beta @ self.b.T) / self.sn2  # dF/dA Aᵀ
        by_uu = _back(root, _back(root, outer).T)
        return by_uf, -(by_uu + by_uu.T) / 4


def _back(
    root: Float[np.ndarray, "M M"], right: Float[np.ndarray, "M k"]
) -> Float[np.ndarray, "M k"]:
    """L⁻ᵀ times a matrix."""
    return linalg.solve_triangular(
        root, right, lower=True, trans="T", check_finite=False
    )


def _spread(
    weights: Float[np.ndarray, "M n"],
    z: Float[np.ndarray, "M Q"],
    x: Float[np.ndarray, "n Q"],
) -> Float[np.ndarray, "Q"]:
    """sum_ij w_ij (z_iq - x_jq)² for each q."""
    rows, columns = weights.sum(axis=1), weights.sum(axis=0)
    crossed = np.einsum("mq,mq->q", z, weights @ x)
    return rows @ z**2 + columns @ x**2 - 2 * crossed
