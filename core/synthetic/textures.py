"""Textures of the toy world: noise of several scales, and patterns.

A pattern gives for each pixel the share in [0, 1] of a paint's second colour, from the
coordinates (u, v) in periods of the pattern and from noise in [-1, 1].
Only integer operations of OpenCV that are exact by specification, and single IEEE
operations of numpy, are used: the same picture comes out on every machine.
"""

import functools
from collections.abc import Callable

import cv2
import numpy as np
from jaxtyping import Float32, Int32, UInt8

Field = Float32[np.ndarray, "H W"]
Pattern = Callable[[Field, Field, Field], Field]

OCTAVES = (1.5, 4.0, 11.0, 30.0)  # sizes in pixels of the finest to the coarsest noise
_SIDE = 1024
_SEED = 20140901


def blurred(array: np.ndarray, sigma: float) -> np.ndarray:
    """Gaussian blur of a uint8 array, in exact fixed-point arithmetic."""
    return cv2.GaussianBlur(array, (0, 0), sigma, hint=cv2.ALGO_HINT_ACCURATE)


def stretched(values: UInt8[np.ndarray, "h w"], height: int, width: int) -> np.ndarray:
    """A small grid blown up to height x width, in exact fixed-point arithmetic."""
    return cv2.resize(values, (width, height), interpolation=cv2.INTER_LINEAR_EXACT)


def _rough(rng: np.random.Generator, size: float) -> Int32[np.ndarray, "S S"]:
    """Smooth noise with lumps of about `size` pixels, around 0."""
    cells = int(_SIDE / size)
    grid = rng.integers(0, 256, (cells, cells), dtype=np.uint8)
    field = blurred(stretched(grid, _SIDE, _SIDE), max(size / 3, 0.5))
    return field.astype(np.int32) - 128


@functools.cache
def _noise(octave: int) -> UInt8[np.ndarray, "S S"]:
    """A large field of noise, the quarry from which all scenes cut their pieces."""
    rng = np.random.Generator(np.random.PCG64([_SEED, octave]))
    size, total = OCTAVES[octave], np.zeros((_SIDE, _SIDE), np.int32)
    for weight in (4, 2, 1):
        total += weight * _rough(rng, max(size, 1.5))
        size /= 2.5
    return np.clip(128 + total // 2, 0, 255).astype(np.uint8)


def noise(
    octave: int, height: int, width: int, offset: tuple[int, int], stretch: int = 1
) -> Field:
    """A piece of noise in [-1, 1].

    Args:
      octave: index into OCTAVES.
      height: of the piece, at most about 700.
      width: of the piece, likewise.
      offset: any two integers; they say where the piece is cut.
      stretch: how many times longer than high the grains are.
    """
    columns = -(-width // stretch)
    top, left = offset[0] % (_SIDE - height), offset[1] % (_SIDE - columns)
    piece = _noise(octave)[top : top + height, left : left + columns]
    if stretch > 1:
        piece = stretched(np.ascontiguousarray(piece), height, width)
    return (piece.astype(np.float32) - np.float32(128)) * np.float32(1 / 128)


def _wave(u: Field) -> Field:
    """Triangle wave of period 1 between 0 and 1."""
    return np.abs(2 * (u - np.floor(u)) - 1)


def _step(values: Field, sharpness: int) -> Field:
    """A soft step from 0 to 1 at 0."""
    return np.clip(values * np.float32(sharpness) + np.float32(0.5), 0, 1)


def plain(u: Field, v: Field, grain: Field) -> Field:
    """One colour, with a little of the second in its grains."""
    return np.clip(grain * np.float32(0.3), 0, 1)


def ramp(u: Field, v: Field, grain: Field) -> Field:
    """From the first colour at v = 0 to the second at v = 1."""
    return np.clip(v + grain * np.float32(0.06), 0, 1)


def clouds(u: Field, v: Field, grain: Field) -> Field:
    """Patches of the second colour, paling towards v = 1."""
    return np.clip(grain * np.float32(0.9) + v * np.float32(0.7), 0, 1)


def stripes(u: Field, v: Field, grain: Field) -> Field:
    """Wavering stripes across u."""
    return _step(_wave(u + grain * np.float32(0.35)) - np.float32(0.5), 6)


def straight_stripes(u: Field, v: Field, grain: Field) -> Field:
    """Ruled stripes across u, as on cloth or awnings."""
    return _step(_wave(u) - np.float32(0.5), 8)


def spots(u: Field, v: Field, grain: Field) -> Field:
    """Irregular spots on a jittered grid."""
    bumps = _wave(u + grain * np.float32(0.25)) * _wave(v - grain * np.float32(0.25))
    return _step(bumps - np.float32(0.42), 7)


def patches(u: Field, v: Field, grain: Field) -> Field:
    """Large blotches."""
    return _step(grain - np.float32(0.1), 5)


def checks(u: Field, v: Field, grain: Field) -> Field:
    """A chequerboard."""
    across, down = _wave(u) - np.float32(0.5), _wave(v) - np.float32(0.5)
    return _step(across * down, 40)


def scales(u: Field, v: Field, grain: Field) -> Field:
    """Rows of overlapping scales, like those of a fish or a roof."""
    row = np.floor(v)
    across = 2 * (u + row / 2 - np.floor(u + row / 2)) - 1
    return np.clip((v - row) - across * across * np.float32(0.6), 0, 1)


def bricks(u: Field, v: Field, grain: Field) -> Field:
    """Mortar lines (the second colour) between bricks twice as long as high."""
    row = np.floor(v)
    u = u / 2 + row / 2
    bed = np.minimum(v - row, 1 - (v - row))
    joint = np.minimum(u - np.floor(u), 1 - (u - np.floor(u))) * 2
    return _step(np.float32(0.07) - np.minimum(bed, joint), 20)


def tiles(u: Field, v: Field, grain: Field) -> Field:
    """Grout lines (the second colour) between square tiles."""
    line = np.minimum(1 - _wave(u), 1 - _wave(v))
    return _step(np.float32(0.09) - line, 20)


def planks(u: Field, v: Field, grain: Field) -> Field:
    """Boards along u with dark joints and a streaky grain."""
    joint = _step(np.float32(0.06) - (1 - _wave(v)), 25)
    return np.clip(joint + grain * np.float32(0.4), 0, 1)


def floor(u: Field, v: Field, grain: Field) -> Field:
    """A chequered floor running away from the viewer; v is 0 at the horizon."""
    depth = 1 / np.maximum(v, np.float32(0.03))
    across, along = _wave(u * depth) - np.float32(0.5), _wave(depth) - np.float32(0.5)
    faded = np.clip(v * 6, 0, 1)  # the far tiles are too small to be seen apart
    return np.float32(0.5) + faded * (_step(across * along, 40) - np.float32(0.5))
