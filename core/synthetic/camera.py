"""From the painted canvas to the photograph: light, tone, focus, sensor."""

import statistics

import cv2
import numpy as np
from jaxtyping import UInt8

from belvedere.core.synthetic import textures

Pixels = UInt8[np.ndarray, "H W 3"]

_NORMAL = statistics.NormalDist()
_DEVIATES = np.array([_NORMAL.inv_cdf((k + 0.5) / 256) for k in range(256)])


def _lit(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Uneven light: a gradient across the picture, dim corners, drifting shade."""
    height, width = pixels.shape[:2]
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    slope = rng.uniform(-0.22, 0.22, 2).astype(np.float32)
    corner = np.float32(rng.uniform(0, 0.14))
    offset = (int(rng.integers(4096)), int(rng.integers(4096)))
    shade = np.float32(rng.uniform(0, 0.2)) * textures.noise(3, height, width, offset)
    gain = 1 + x * slope[0] + y * slope[1] - corner * (x * x + y * y) + shade
    fixed = np.clip(gain * 128, 30, 255).astype(np.uint16)
    product = pixels * cv2.merge([fixed, fixed, fixed])
    return np.minimum(product >> 7, 255).astype(np.uint8)


def _toned(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Exposure, contrast and white balance, as one table per channel."""
    levels = np.arange(256) / 255
    exposure, contrast = rng.uniform(0.9, 1.3), rng.uniform(0.7, 1.15)
    balance, middle = rng.uniform(0.92, 1.08, 3), rng.uniform(0.42, 0.55)
    curves = ((levels[:, None] * exposure - middle) * contrast + middle) * balance
    table = np.clip(curves * 255 + 0.5, 0, 255).astype(np.uint8)
    return cv2.LUT(pixels, table[None])


def _sensed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Focus blur and sensor noise."""
    blur, noise = rng.uniform(0, 1.3), rng.uniform(1.5, 8)
    if blur > 0.4:
        pixels = textures.blurred(pixels, blur)
    dice = rng.integers(0, 256, pixels.shape, dtype=np.uint8)
    deviates = np.rint(_DEVIATES * noise).astype(np.int64)
    brighter = np.maximum(deviates, 0).astype(np.uint8)
    darker = np.maximum(-deviates, 0).astype(np.uint8)
    pixels = cv2.add(pixels, cv2.LUT(dice, brighter))
    return cv2.subtract(pixels, cv2.LUT(dice, darker))


def developed(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """The photograph of a painted scene."""
    return _sensed(_toned(_lit(pixels, rng), rng), rng)
