"""Superpixels: graph-based segmentation (Felzenszwalb and Huttenlocher, IJCV 2004).

Paper: the candidate windows of section 2; Randomized Prim grows them from superpixels.
The picture is smoothed; pixels are joined with their 8 neighbours by edges that weigh
the Euclidean distance of the three channels; edges are taken by growing weight w, and
two components C, D become one when

  w <= min(w_C + k / |C|, w_D + k / |D|),    w_C: the last edge that joined C,

where a single pixel has the threshold k. A second pass over the edges joins what stays
below a smallest size to its neighbour.

Departures: weights are rounded to 1/128 of a grey level, far below what 8 bits hold.
They can then be sorted by counting, and thresholds are integers: the outcome is exact
and the same on every machine. Edges of equal weight go by row, direction, column.
"""

import math

import numpy as np
from jaxtyping import Float32, Int32, UInt8, UInt16

from belvedere.core.windows import superpixels_compiled as compiled

STEPS = 128
_HEAVIEST = math.ceil(math.sqrt(3) * 255 * STEPS) + 1


def segment(
    channels: UInt8[np.ndarray, "3 H W"],
    k: float = 100.0,
    sigma: float = 0.8,
    min_size: int = 100,
) -> Int32[np.ndarray, "H W"]:
    """The superpixel of every pixel, numbered in the order of their first pixels.

    Args:
      channels: the picture in some colour space.
      k: how much weight outdoes size; larger k, larger superpixels.
      sigma: of the Gaussian that smooths the channels first, in pixels.
      min_size: the fewest pixels of a superpixel, if the picture has as many.
    """
    return join(weigh_edges(smooth(channels, sigma)), k, min_size)


def smooth(
    channels: UInt8[np.ndarray, "3 H W"], sigma: float
) -> Float32[np.ndarray, "3 H W"]:
    """Gaussian smoothing; beyond the border, pixels repeat those on it."""
    return compiled.smooth(channels, gaussian(sigma))


def gaussian(sigma: float) -> Float32[np.ndarray, "L"]:
    """Right half of a Gaussian mask that reaches ceil(4 sigma) pixels and sums to 1."""
    if not sigma > 0:
        raise ValueError(f"sigma is {sigma}, wanted above 0")
    half = np.exp(-0.5 * (np.arange(math.ceil(4 * sigma) + 1) / sigma) ** 2)
    return (half / (2 * half.sum() - half[0])).astype(np.float32)


def weigh_edges(
    smoothed: Float32[np.ndarray, "3 H W"],
) -> UInt16[np.ndarray, "H 4 W"]:
    """Edge weights in steps of 1/128: right, down, down right and down left.

    An entry whose second pixel lies outside the picture means nothing.
    """
    return compiled.weigh_edges(smoothed, np.float32(STEPS))


def sort_edges(
    weights: UInt16[np.ndarray, "H 4 W"],
) -> tuple[Int32[np.ndarray, "E"], Int32[np.ndarray, "T"]]:
    """Edges (4 pixel + direction) by weight; where the edges of each weight end."""
    return compiled.sort_edges(weights, _HEAVIEST)


def join(
    weights: UInt16[np.ndarray, "H 4 W"], k: float, min_size: int
) -> Int32[np.ndarray, "H W"]:
    """Superpixels by edge weights, in the two passes described above."""
    if not 0 <= k < 2**20:
        raise ValueError(f"k is {k}, wanted 0 to 2^20")
    height, _, width = weights.shape
    edges, ends = sort_edges(weights)
    parents = compiled.join(
        edges, ends, height * width, width, round(k * STEPS), min_size
    )
    return compiled.number(parents).reshape(height, width)
