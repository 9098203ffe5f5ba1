"""How the toy world's photographer frames the objects: picture, size and place.

Objects are somewhat central and mostly whole, as in collections of photographs, yet no
fixed box fits them: size and place vary widely, and some are cut by the border.
"""

import math

import numpy as np

from belvedere.core.synthetic import chance, objects, parts
from belvedere.core.synthetic.canvas import Canvas
from belvedere.core.windows import boxes

SIZES = (
    (500, 375), (375, 500), (400, 300), (300, 400), (320, 240), (333, 500), (500, 333),
)  # fmt: skip

_FULL = 0.97  # of the picture's width or height, at most
_SHARED = 0.15  # of an object's extent may overlap another of its class


def canvas_for(thing: parts.Thing, rng: np.random.Generator) -> Canvas:
    """A canvas, more often than not upright for upright things."""
    x0, y0, x1, y1 = parts.extent(thing).tolist()
    tall = y1 - y0 > x1 - x0
    fitting = tuple(size for size in SIZES if (size[1] > size[0]) == tall)
    width, height = chance.one_of(rng, fitting if chance.coin(rng, 0.7) else SIZES)
    return Canvas(width, height, (rng.uniform(-0.7, 0.7), rng.uniform(-0.9, -0.2)))


def placed(
    crowd: list[parts.Thing],
    kind: objects.Kind,
    canvas: Canvas,
    rng: np.random.Generator,
) -> list[parts.Thing]:
    """Things in picture coordinates, apart from each other, the farthest first.

    Those after the first for which no free place is found are left out.
    """
    found: list[parts.Thing] = []
    taken = np.empty((0, 4))
    for thing in crowd:
        for _ in range(12):
            candidate = _framed(thing, kind, canvas, rng, len(crowd))
            box = parts.extent(candidate)[None]
            if (boxes.intersections(box, taken) <= _SHARED * boxes.areas(box)).all():
                found.append(candidate)
                taken = np.concatenate([taken, box])
                break
    farthest_first = np.argsort(taken[:, 3], kind="stable")
    return [found[k] for k in farthest_first]


def _framed(
    thing: parts.Thing,
    kind: objects.Kind,
    canvas: Canvas,
    rng: np.random.Generator,
    crowd: int,
) -> parts.Thing:
    """A thing scaled and shifted; in a crowd, smaller and farther from the middle."""
    x0, y0, x1, y1 = parts.extent(thing).tolist()
    share = _share(thing, kind, rng, crowd)
    scale = min(
        math.sqrt(share * canvas.width * canvas.height / ((x1 - x0) * (y1 - y0))),
        _FULL * canvas.width / (x1 - x0),
        _FULL * canvas.height / (y1 - y0),
    )
    cut = rng.uniform(0, 0.25) if chance.coin(rng, 0.15) else -0.01
    wander = 0.16 if crowd == 1 else 0.25
    x = _middle(rng, canvas.width, scale * (x1 - x0), cut, wander)
    y = _middle(rng, canvas.height, scale * (y1 - y0), cut, wander)
    return parts.fitted(thing, (x, y), scale)


def _share(
    thing: parts.Thing, kind: objects.Kind, rng: np.random.Generator, crowd: int
) -> float:
    """Of the picture's area, for the thing's box; sides are uniform, areas are not."""
    held = any(not piece.own for piece in thing)
    largest = min(kind.largest, kind.largest_held if held else 1.0) / crowd
    largest = max(largest, 1.5 * kind.smallest)
    return rng.uniform(math.sqrt(kind.smallest), math.sqrt(largest)) ** 2


def _middle(
    rng: np.random.Generator, length: int, extent: float, cut: float, wander: float
) -> float:
    """A middle for something `extent` long, of which a share `cut` may be out."""
    room = max(length / 2 - extent * (0.5 - cut), 0.0)
    return length / 2 + min(max(length * rng.normal(0, wander), -room), room)
