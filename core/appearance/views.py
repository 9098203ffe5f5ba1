"""What several feature types need of one picture, made once: smoothed colour planes.

Planes are float32, in grey levels, with a reflected margin around the picture, so that
patches at the border, and pictures smaller than a patch, need no special case.
"""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import cv2
import numpy as np
from jaxtyping import Float32

from belvedere.core.types import Image

MARGIN = 32  # pixels around the picture
RGB = ("red", "green", "blue")
OPPONENT = ("opponent1", "opponent2", "intensity")
MIXTURES = {  # of red, green and blue
    "intensity": (1 / 3, 1 / 3, 1 / 3),
    "opponent1": (1 / 2**0.5, -1 / 2**0.5, 0.0),
    "opponent2": (1 / 6**0.5, 1 / 6**0.5, -2 / 6**0.5),
}
Made = TypeVar("Made")


@dataclasses.dataclass(frozen=True, eq=False)
class Views:
    """A picture and what has been computed from it so far; for one thread at a time."""

    image: Image
    _made: dict[Hashable, Any] = dataclasses.field(default_factory=dict, repr=False)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` returns, called the first time that `key` is asked for."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def plane(self, name: str, sigma: float) -> Float32[np.ndarray, "h w"]:
        """A colour plane with its margin, smoothed by a Gaussian (0 = as it is)."""
        if name not in RGB and name not in MIXTURES:
            raise ValueError(f"colour plane {name!r}, wanted {(*RGB, *MIXTURES)}")
        return self.once(("plane", name, sigma), lambda: self._plane(name, sigma))

    def _plane(self, name: str, sigma: float) -> Float32[np.ndarray, "h w"]:
        if name in MIXTURES:
            return self._mixture(MIXTURES[name], sigma)
        if sigma > 0:
            sharp = self.plane(name, 0.0)
            return cv2.GaussianBlur(sharp, (0, 0), sigma, borderType=cv2.BORDER_REFLECT)
        channel = self.image.pixels[:, :, RGB.index(name)].astype(np.float32)
        sides = (MARGIN, MARGIN, MARGIN, MARGIN)
        return cv2.copyMakeBorder(channel, *sides, cv2.BORDER_REFLECT)

    def _mixture(
        self, weights: tuple[float, float, float], sigma: float
    ) -> Float32[np.ndarray, "h w"]:
        """Smoothing is linear: a mixture of smooth planes is a smooth mixture."""
        red, green, blue = (self.plane(name, sigma) for name in RGB)
        mixed = cv2.addWeighted(red, weights[0], green, weights[1], 0)
        return cv2.addWeighted(mixed, 1, blue, weights[2], 0)
