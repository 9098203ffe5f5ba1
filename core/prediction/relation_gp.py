"""A fitted Gaussian process: predicts the three relations from stored arrays.

With k_u(x) the kernel between x and the inducing points,

    mean_r(x) = weights_r · k_u(x)
    variance(x) = sf2 - ||whitener k_u(x)||² (+ sn2)

One kernel and one set of inducing points, so one deviation for the three relations.
Only numpy is needed here: a worker that annotates never loads torch.

Paper: section 3, mu(x) and sigma(x). Zero mean; the mean is not clipped to [0, 1].
Departures: sigma is the deviation of the observed relation, noise included, since the
paper speaks of P(rho | x); `latent=True` leaves the noise out.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Float32

from belvedere.core import types
from belvedere.core.prediction import kernel


@dataclasses.dataclass(frozen=True, eq=False)
class RelationGP:
    """What prediction needs, and nothing else (`conditioning` makes it)."""

    inducing: Float[np.ndarray, "M Q"]
    lengthscales: Float[np.ndarray, "Q"]
    signal_variance: float
    noise_variance: float
    weights: Float[np.ndarray, "3 M"]
    whitener: Float[np.ndarray, "M M"]

    def __post_init__(self) -> None:
        kernel.require_parameters(
            self.lengthscales, self.signal_variance, self.noise_variance
        )
        m, q = len(self.inducing), len(self.lengthscales)
        types.require_shape("inducing", self.inducing, m, q)
        types.require_shape("weights", self.weights, types.R, m)
        types.require_shape("whitener", self.whitener, m, m)

    def predict(
        self, x: Float[np.ndarray, "N Q"], latent: bool = False
    ) -> types.Prediction:
        """Mean [3, N] and deviation [N] of the relations of windows to the object.

        Args:
          x: features, one row a window; each is predicted on its own.
          latent: leave the noise out of the deviation.
        """
        types.require_shape("features", x, None, len(self.lengthscales))
        k_u = kernel.cross(x, self.inducing, self.lengthscales)
        k_u *= self.signal_variance
        explained = k_u @ self.whitener.T
        variance = self.signal_variance - np.einsum("nm,nm->n", explained, explained)
        np.maximum(variance, 0, out=variance)
        noise = 0.0 if latent else self.noise_variance
        return types.Prediction(self.weights @ k_u.T, np.sqrt(variance + noise))

    def similarity(self, x: Float[np.ndarray, "N Q"]) -> Float32[np.ndarray, "N N"]:
        """Appearance similarity of windows: the learned kernel without sf2."""
        return kernel.similarity(x, self.lengthscales)
