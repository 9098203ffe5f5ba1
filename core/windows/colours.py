"""The four colour spaces in which a picture is cut into superpixels.

Paper: the candidate windows of section 2, Randomized Prim (Manen, Guillaumin and Van
Gool, ICCV 2013). One segmentation in each of LAB, opponent, rg and HSV makes up for
what a single colour space cannot tell apart.

Departures: quotients are exact integers before they are rounded or cut off, so that
they do not depend on the machine. A black pixel (rg, saturation), a grey one (hue) and
a constant channel (opponent) get 0, where the definitions divide by zero.
"""

import numpy as np
from jaxtyping import UInt8

from belvedere.core.windows import colours_compiled

_CONVERSIONS = {
    "lab": colours_compiled.lab,
    "opponent": colours_compiled.opponent,
    "rg": colours_compiled.rg,
    "hsv": colours_compiled.hsv,
}
SPACES = tuple(_CONVERSIONS)


def planes(pixels: UInt8[np.ndarray, "H W 3"]) -> UInt8[np.ndarray, "3 H W"]:
    """The picture with R, G and B apart, as every conversion reads it."""
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


def convert(rgb: UInt8[np.ndarray, "3 H W"], space: str) -> UInt8[np.ndarray, "3 H W"]:
    """The picture in another colour space, 8 bits a channel.

    Args:
      rgb: R, G and B planes.
      space: one of SPACES. `lab` takes RGB as linear (no gamma is removed); `opponent`
        is stretched to the extremes of this picture; the hue of `hsv` goes to 255.
    """
    if space not in _CONVERSIONS:
        raise ValueError(f"colour space {space!r} is not one of {SPACES}")
    converted = np.empty_like(rgb)
    _CONVERSIONS[space](rgb.reshape(3, -1), converted.reshape(3, -1))
    return converted
