"""Colours of the toy world: RGB, float64, 0 to 255.

Things and their surroundings draw from one palette per scene, so that colour alone does
not tell the object from its background.
"""

import colorsys

import numpy as np
from jaxtyping import Float

from belvedere.core.synthetic import chance

_EARTH, _LEAF, _SKY, _ANY = (0.04, 0.13), (0.17, 0.4), (0.53, 0.66), (0.0, 1.0)
_NATURAL_HUES = (_EARTH, _EARTH, _LEAF, _LEAF, _SKY, _ANY)


def from_hsv(hue: float, saturation: float, value: float) -> Float[np.ndarray, "3"]:
    """A colour from hue, saturation and value in [0, 1]."""
    return 255 * np.array(colorsys.hsv_to_rgb(hue % 1, saturation, value))


def natural(rng: np.random.Generator) -> Float[np.ndarray, "3"]:
    """The muted colour of earth, leaves, sky, stone or weathered paint."""
    low, high = chance.one_of(rng, _NATURAL_HUES)
    return from_hsv(
        rng.uniform(low, high), rng.uniform(0.05, 0.6), rng.uniform(0.2, 0.9)
    )


def vivid(rng: np.random.Generator) -> Float[np.ndarray, "3"]:
    """The strong colour of paint, plumage or a toy."""
    return from_hsv(rng.random(), rng.uniform(0.5, 0.95), rng.uniform(0.4, 0.95))


def in_hue(rng: np.random.Generator, low: float, high: float) -> Float[np.ndarray, "3"]:
    """A muted colour with its hue between `low` and `high`."""
    return from_hsv(
        rng.uniform(low, high), rng.uniform(0.15, 0.6), rng.uniform(0.25, 0.8)
    )


def leafy(rng: np.random.Generator) -> Float[np.ndarray, "3"]:
    """A leaf in some season: mostly green, at times yellow or brown."""
    return in_hue(rng, *chance.one_of(rng, (_LEAF, _LEAF, _LEAF, _EARTH)))


def near(
    colour: Float[np.ndarray, "3"], rng: np.random.Generator, spread: float = 18.0
) -> Float[np.ndarray, "3"]:
    """A colour like `colour`, off by about `spread` in brightness and in hue."""
    shift = rng.uniform(-spread, spread) + rng.uniform(-spread / 2, spread / 2, 3)
    return np.clip(colour + shift, 4, 251)


def scaled(colour: Float[np.ndarray, "3"], gain: float) -> Float[np.ndarray, "3"]:
    """`colour` made darker (gain below 1) or lighter (above)."""
    return np.clip(colour * gain, 0, 255)


class Palette:
    """The colours that the things and the background of one scene share."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._colours = [natural(rng) for _ in range(6)]

    def shared(self, rng: np.random.Generator) -> Float[np.ndarray, "3"]:
        """One of the scene's colours, a little off."""
        return near(chance.one_of(rng, self._colours), rng)

    def pick(self, rng: np.random.Generator) -> Float[np.ndarray, "3"]:
        """A colour for a thing: half the time one that the scene has elsewhere."""
        kind = rng.random()
        if kind < 0.5:
            return self.shared(rng)
        return natural(rng) if kind < 0.75 else vivid(rng)
