"""Slow twins of Randomized Prim: shrinking, random bits, one draw, taking turns."""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

_MASK = 2**64 - 1


def shrink(plane: np.ndarray, height: int, width: int) -> np.ndarray:
    """Area averages of one channel in exact fractions, rounded half up."""
    out = np.zeros((height, width), np.uint8)
    rows, columns = _overlaps(len(plane), height), _overlaps(plane.shape[1], width)
    for y in range(height):
        for x in range(width):
            total = sum(
                a * b * int(plane[v, u]) for v, a in rows[y] for u, b in columns[x]
            )
            area = sum(a * b for _, a in rows[y] for _, b in columns[x])
            out[y, x] = math.floor(total / area + Fraction(1, 2))
    return out


def _overlaps(old: int, new: int) -> list[list[tuple[int, Fraction]]]:
    size = Fraction(old, new)
    lines = [
        [(v, min(v + 1, (y + 1) * size) - max(v, y * size)) for v in range(old)]
        for y in range(new)
    ]
    return [[(v, part) for v, part in line if part > 0] for line in lines]


def splitmix64(state: int) -> tuple[int, int]:
    """The next state and 64 random bits."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return state, z ^ (z >> 31)


def draw(
    similarities: dict[tuple[int, int], float],
    areas: list[float],
    alpha: Callable[[float], float],
    rng: np.random.Generator,
    reach: float = 2.0,
    once: bool = True,
) -> frozenset[int]:
    """One group of superpixels; `reach` and `once` make the wrong rules as well.

    Args:
      similarities: s_ij of both (i, j) and (j, i).
      areas: as fractions of the picture.
      alpha: distribution function of object areas.
      rng: random numbers.
      reach: the threshold E0 is uniform in [0, reach].
      once: whether E0 is drawn once for the group, not at every step.
    """
    group = {int(rng.integers(len(areas)))}
    threshold = reach * rng.random()
    while len(group) < len(areas):
        out = [(i, j) for i, j in similarities if i in group and j not in group]
        weights = np.array([similarities[edge] for edge in out])
        edge = out[rng.choice(len(out), p=weights / weights.sum())]
        threshold = threshold if once else reach * rng.random()
        area = sum(areas[i] for i in group)
        if alpha(area) + (1 - similarities[edge]) > threshold:
            break
        group.add(edge[1])
    return frozenset(group)


def first_distinct(
    rounds: Iterable[Iterable[tuple[int, int, int, int]]], cell: float, windows: int
) -> tuple[list[tuple[int, int, int, int]], int]:
    """Boxes in turn, without repeats on the grid; also how many were looked at."""
    seen: set[tuple[int, ...]] = set()
    kept: list[tuple[int, int, int, int]] = []
    looked = 0
    for one_round in rounds:
        for box in one_round:
            if len(kept) == windows:
                return kept, looked
            looked += 1
            corners = tuple(math.floor(v / cell + 0.5) for v in box)
            if corners not in seen:
                seen.add(corners)
                kept.append(box)
    return kept, looked
