"""Contours of the toy world: closed polygons in any unit, y pointing down."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Contour = Float[np.ndarray, "_ 2"]  # of any length
Real = float | int
Point = tuple[Real, Real]


def _circle(count: int) -> Contour:
    """Points on the unit circle."""
    turns = [2 * math.pi * k / count for k in range(count)]
    return np.array([(math.cos(t), math.sin(t)) for t in turns])


_FINE, _ROUGH = _circle(32), _circle(12)


def turned(points: Contour, degrees: Real) -> Contour:
    """Points rotated about the origin, clockwise on the screen, where y points down."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    out = np.empty_like(points)
    out[:, 0] = c * points[:, 0] - s * points[:, 1]
    out[:, 1] = s * points[:, 0] + c * points[:, 1]
    return out


def polygon(*points: Point) -> Contour:
    return np.array(points, np.float64)


def rectangle(x0: Real, y0: Real, x1: Real, y1: Real) -> Contour:
    return polygon((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def ellipse(
    x: Real, y: Real, rx: Real, ry: Real | None = None, degrees: Real = 0
) -> Contour:
    radii = np.array([rx, rx if ry is None else ry])
    return turned(_FINE * radii, degrees) + np.array([x, y])


def smooth(points: Contour, rounds: int = 2) -> Contour:
    """Cuts the corners of a closed polygon (Chaikin), each round twice as finely."""
    for _ in range(rounds):
        after = np.roll(points, -1, axis=0)
        cut = np.stack([0.75 * points + 0.25 * after, 0.25 * points + 0.75 * after], 1)
        points = cut.reshape(-1, 2)
    return points


def curve(*points: Point) -> Contour:
    """A rounded closed shape pulled towards the given points."""
    return smooth(polygon(*points), 3)


def blob(
    rng: np.random.Generator, x: Real, y: Real, rx: Real, ry: Real, rough: Real
) -> Contour:
    """A lumpy ellipse; `rough` is the relative variation of its radius."""
    lumps = 1 + rng.uniform(-rough, rough, (len(_ROUGH), 1))
    return smooth(_ROUGH * lumps * (rx, ry), 2) + np.array([x, y])


def ring(x: Real, y: Real, outer: Real, inner: Real) -> Contour:
    """A ring as one polygon with a seam, so that what is behind shows through it."""
    seam = np.concatenate([_FINE, _FINE[:1]])
    return np.concatenate([seam * outer, seam[::-1] * inner]) + np.array([x, y])


def limb(points: Contour, widths: Float[np.ndarray, "_"] | Real) -> Contour:
    """A rounded band of half-width `widths` along a line of points."""
    half = np.broadcast_to(np.asarray(widths, np.float64), len(points))[:, None]
    along = np.gradient(points, axis=0)
    along = along / np.maximum(np.sqrt(along[:, :1] ** 2 + along[:, 1:] ** 2), 1e-12)
    aside = np.stack([-along[:, 1], along[:, 0]], axis=1)
    head, tail = points[-1] + along[-1] * half[-1], points[0] - along[0] * half[0]
    left, right = points + aside * half, (points - aside * half)[::-1]
    return np.concatenate([left, [head], right, [tail]])


def bar(
    start: Point,
    end: Point,
    width: Real,
    end_width: Real | None = None,
) -> Contour:
    """A straight limb from `start` to `end`, `width` across."""
    (x0, y0), (x1, y1), r0 = start, end, width / 2
    r1 = r0 if end_width is None else end_width / 2
    length = max(math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2), 1e-12)
    c, s = (x1 - x0) / length, (y1 - y0) / length
    return polygon(
        (x0 - s * r0, y0 + c * r0),
        (x0 - c * r0, y0 - s * r0),
        (x0 + s * r0, y0 - c * r0),
        (x1 + s * r1, y1 - c * r1),
        (x1 + c * r1, y1 + s * r1),
        (x1 - s * r1, y1 + c * r1),
    )


def path(start: Point, headings: Sequence[Real], lengths: Sequence[Real]) -> Contour:
    """The joints reached by walking `lengths` in directions `headings` (degrees)."""
    points = [start]
    for heading, length in zip(headings, lengths, strict=True):
        x, y = points[-1]
        angle = math.radians(heading)
        points.append((x + length * math.cos(angle), y + length * math.sin(angle)))
    return polygon(*points)


def ridge(
    rng: np.random.Generator, width: Real, top: Real, bottom: Real, rise: Real
) -> Contour:
    """The outline of hills or a hedge across the picture, `rise` high at most."""
    heights = top - rise * rng.random(11)
    xs = np.linspace(-0.05 * width, 1.05 * width, 11)
    line = smooth(np.stack([xs, heights], axis=1), 2)[:-4]
    return np.concatenate([line, [(1.1 * width, bottom), (-0.1 * width, bottom)]])


_LEAF = polygon((-1, 0), (-0.4, -0.4), (0.4, -0.36), (1, 0), (0.4, 0.36), (-0.4, 0.4))
_COMPASS = _circle(64)


def leaves(
    rng: np.random.Generator, centres: Contour, length: Real
) -> Float[np.ndarray, "L 6 2"]:
    """A leaf on each centre, about `length` from its middle to its tip, any way up."""
    heading = _COMPASS[rng.integers(0, len(_COMPASS), len(centres))]
    along = heading * length * rng.uniform(0.5, 1.4, (len(centres), 1))
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    across = across * rng.uniform(0.6, 1.5, (len(centres), 1))
    leaf = _LEAF[None, :, :1] * along[:, None] + _LEAF[None, :, 1:] * across[:, None]
    return leaf + centres[:, None]
