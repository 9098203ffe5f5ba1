"""Hyper-features centred and scaled by the class's training windows.

Departures: the paper says nothing of scaling; without it ||alpha||² punishes phi_G far
more than phi_C, and without centring scores of different classes cannot be pooled.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

_CONSTANT = 1e-9  # a deviation this small beside the values is rounding


@dataclasses.dataclass(frozen=True, eq=False)
class Scaling:
    """(phi - centre) / scale."""

    centre: Float[np.ndarray, " P"]
    scale: Float[np.ndarray, " P"]

    def __post_init__(self) -> None:
        if not (self.scale > 0).all():
            raise ValueError(f"scale {self.scale} must be positive")

    def apply(self, phi: Float[np.ndarray, "*any P"]) -> Float[np.ndarray, "*any P"]:
        return (phi - self.centre) / self.scale

    def fold(
        self, alpha: Float[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, " P"], float]:
        """(weights, offset) with <alpha, apply(phi)> = <weights, phi> + offset."""
        weights = alpha / self.scale
        return weights, -float(weights @ self.centre)

    def at(self, columns: Int64[np.ndarray, " C"]) -> "Scaling":
        return Scaling(self.centre[columns], self.scale[columns])


@dataclasses.dataclass(frozen=True, eq=False)
class Moments:
    """What scaling needs of each image's table: mean, variance, largest size."""

    means: Float[np.ndarray, "n P"]
    variances: Float[np.ndarray, "n P"]
    sizes: Float[np.ndarray, "n P"]

    @classmethod
    def of(cls, tables: Sequence[Float[np.ndarray, "_ P"]]) -> "Moments":
        each = [(t.mean(axis=0), t.var(axis=0), abs(t).max(axis=0)) for t in tables]
        return cls(*(np.stack(column) for column in zip(*each, strict=True)))

    def scaling(self, images: Int64[np.ndarray, " k"] | slice = slice(None)) -> Scaling:
        """Mean and deviation over all windows; each image has the same weight."""
        means = self.means[images]
        centre = means.mean(axis=0)
        variance = (self.variances[images] + (means - centre) ** 2).mean(axis=0)
        deviation = np.sqrt(variance)
        constant = deviation <= _CONSTANT * self.sizes[images].max(axis=0)
        return Scaling(centre, np.where(constant, 1.0, deviation))
