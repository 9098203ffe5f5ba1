"""Slow twins of the colour conversions, the superpixels and their graph."""

import math
from fractions import Fraction

import numpy as np


def _floor_of(numerator: int, denominator: int) -> int:
    return math.floor(Fraction(numerator, denominator)) if denominator else 0


def _round_of(numerator: int, denominator: int) -> int:
    half = Fraction(1, 2)
    return math.floor(Fraction(numerator, denominator) + half) if denominator else 0


def lab(r: int, g: int, b: int) -> tuple[float, float, float]:
    """2.55 L, a + 128 and b + 128 before rounding."""
    red, green, blue = r / 255, g / 255, b / 255
    x = (0.412453 * red + 0.357580 * green + 0.180423 * blue) / 0.950456
    y = 0.212671 * red + 0.715160 * green + 0.072169 * blue
    z = (0.019334 * red + 0.119193 * green + 0.950227 * blue) / 1.088754
    fx, fy, fz = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 0.137931 for t in (x, y, z)
    )
    light = 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
    return 2.55 * light, 500 * (fx - fy) + 128, 200 * (fy - fz) + 128


def rg(r: int, g: int, b: int) -> tuple[int, int, int]:
    total = r + g + b
    return _floor_of(255 * r, total), _floor_of(255 * g, total), total // 3


def hsv(r: int, g: int, b: int) -> tuple[int, int, int]:
    high, span = max(r, g, b), max(r, g, b) - min(r, g, b)
    if span == 0:
        degrees = Fraction(0)
    elif high == r:
        degrees = 60 * (Fraction(g - b, span) % 6)
    elif high == g:
        degrees = 60 * (Fraction(b - r, span) + 2)
    else:
        degrees = 60 * (Fraction(r - g, span) + 4)
    hue = degrees * 255 / 360
    return (
        _round_of(hue.numerator, hue.denominator),
        _round_of(255 * span, high),
        high,
    )


def opponent(pixels: np.ndarray) -> np.ndarray:
    """Stretched opponent channels of a whole picture [..., 3]."""
    r, g, b = (pixels[..., c].astype(int) for c in range(3))
    out = np.zeros_like(pixels)
    for c, channel in enumerate((r - g, r + g - 2 * b, r + g + b)):
        low, span = int(channel.min()), int(channel.max() - channel.min())
        values = [_floor_of(255 * (int(v) - low), span) for v in channel.ravel()]
        out[..., c] = np.reshape(values, channel.shape)
    return out


def smooth(plane: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Rows, then columns, in float32, from the middle of the mask outwards."""
    for _ in range(2):
        rows = [_smooth_line(line, half) for line in plane]
        plane = np.array(rows, np.float32).T
    return plane


def _smooth_line(line: np.ndarray, half: np.ndarray) -> list[np.float32]:
    last = len(line) - 1
    out = []
    for x in range(len(line)):
        total = half[0] * np.float32(line[x])
        for k in range(1, len(half)):
            left, right = line[max(x - k, 0)], line[min(x + k, last)]
            total = total + half[k] * (np.float32(left) + np.float32(right))
        out.append(total)
    return out


def edges(channels: np.ndarray, half: np.ndarray, steps: int) -> list[tuple]:
    """(weight, row, direction, column, pixel, other pixel), sorted."""
    planes = [smooth(plane, half) for plane in channels]
    height, width = planes[0].shape
    found = []
    for y in range(height):
        for x in range(width):
            for direction, (v, u) in enumerate(
                ((y, x + 1), (y + 1, x), (y + 1, x + 1), (y + 1, x - 1))
            ):
                if v < height and 0 <= u < width:
                    d0, d1, d2 = (plane[y, x] - plane[v, u] for plane in planes)
                    distance = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
                    weight = int(distance * np.float32(steps) + np.float32(0.5))
                    found.append((weight, y, direction, x, (y, x), (v, u)))
    return sorted(found)


def segment(
    channels: np.ndarray, k: float, half: np.ndarray, min_size: int, steps: int
) -> np.ndarray:
    """Superpixels with sets of pixels and thresholds that are fractions."""
    _, height, width = channels.shape
    owner = {(y, x): (y, x) for y in range(height) for x in range(width)}
    members = {pixel: {pixel} for pixel in owner}
    thresholds = {pixel: Fraction(k) * steps for pixel in owner}

    def merge(a: tuple, b: tuple) -> None:
        for pixel in members[b]:
            owner[pixel] = a
        members[a] |= members.pop(b)

    ordered = edges(channels, half, steps)
    for weight, *_, p, q in ordered:
        a, b = owner[p], owner[q]
        if a != b and weight <= thresholds[a] and weight <= thresholds[b]:
            merge(a, b)
            thresholds[a] = weight + Fraction(k) * steps / len(members[a])
    for _, *_, p, q in ordered:
        a, b = owner[p], owner[q]
        if a != b and min(len(members[a]), len(members[b])) < min_size:
            merge(a, b)
    names: dict[tuple, int] = {}
    flat = [names.setdefault(owner[pixel], len(names)) for pixel in sorted(owner)]
    return np.reshape(flat, (height, width))


def similarities(labels: np.ndarray, lab_planes: np.ndarray) -> dict[tuple, float]:
    """s_ij of all touching superpixels, straight from the definition."""
    height, width = labels.shape
    seen: dict[tuple, int] = {}
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            for v in (y - 1, y, y + 1):
                for u in (x - 1, x, x + 1):
                    i, j = int(labels[y, x]), int(labels[v, u])
                    if i != j:
                        seen[i, j] = seen.get((i, j), 0) + 1
    both = {*seen, *((j, i) for i, j in seen)}
    border = {(i, j): (seen.get((i, j), 0) + seen.get((j, i), 0)) // 2 for i, j in both}
    perimeter = {i: sum(n for (a, _), n in border.items() if a == i) for i, _ in both}

    def histogram(i: int) -> np.ndarray:
        bins = (lab_planes[:, labels == i] // 16).T
        counts = np.zeros((16, 16, 16))
        for a, b, c in bins:
            counts[a, b, c] += 1
        return counts / counts.sum()

    out = {}
    for i, j in both:
        common = max(
            border[i, j] / perimeter[n] if perimeter[n] else 0.0 for n in (i, j)
        )
        colour = np.minimum(histogram(i), histogram(j)).sum()
        size = 1 - (labels == i).mean() - (labels == j).mean()
        score = -3.0017 + 1.0029 * common + 2.6864 * colour + 2.3655 * size
        out[i, j] = 1 / (1 + math.exp(-score))
    return out
