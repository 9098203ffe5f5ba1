"""Things of the toy world: lists of painted parts, in drawing order.

A part that is not the object's `own` belongs to what it is seen with (the figure that
holds the ball, the branch under the bird): it is drawn with the object, but the box
does not count it, and where it is drawn later it hides what lies under it.
"""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from belvedere.core.synthetic import materials, shapes

Thing = list["Part"]


class Affine(NamedTuple):
    """(x, y) goes to (a x + b y + x0, c x + d y + y0).

    Plain floats, not matrices: BLAS may sum in another order on another machine.
    """

    a: float = 1.0
    b: float = 0.0
    x0: float = 0.0
    c: float = 0.0
    d: float = 1.0
    y0: float = 0.0

    def after(self, first: "Affine") -> "Affine":
        """The map that applies `first`, then this one."""
        (a, b, x0, c, d, y0), f = self, first
        return Affine(
            a * f.a + b * f.c,
            a * f.b + b * f.d,
            a * f.x0 + b * f.y0 + x0,
            c * f.a + d * f.c,
            c * f.b + d * f.d,
            c * f.x0 + d * f.y0 + y0,
        )

    def applied(self, points: shapes.Contour) -> shapes.Contour:
        x, y = points[:, 0], points[:, 1]
        out = np.empty_like(points)
        out[:, 0] = self.a * x + self.b * y + self.x0
        out[:, 1] = self.c * x + self.d * y + self.y0
        return out


_IDENTITY = Affine()


def affine(
    degrees: shapes.Real = 0,
    scale: shapes.Real = 1,
    squeeze: shapes.Real = 1,
    mirror: bool = False,
    shift: shapes.Point = (0, 0),
) -> Affine:
    """Mirror and squeeze along x, then rotate, scale and shift."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    along = scale * (-squeeze if mirror else squeeze)
    return Affine(c * along, -s * scale, shift[0], s * along, c * scale, shift[1])


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Contours filled with one paint.

    `points` holds the contours one after the other, of the given `lengths`, in design
    units; `frame` takes these to where the part is now.
    """

    points: Float[np.ndarray, "K 2"]
    lengths: tuple[int, ...]
    paint: materials.Paint
    own: bool = True
    frame: Affine = _IDENTITY

    def placed(self) -> Float[np.ndarray, "K 2"]:
        return self.frame.applied(self.points)


def part(paint: materials.Paint, *contours: shapes.Contour) -> Part:
    return Part(np.concatenate(contours), tuple(map(len, contours)), paint)


def moved(thing: Thing, move: Affine) -> Thing:
    return [dataclasses.replace(p, frame=move.after(p.frame)) for p in thing]


def context(thing: Thing) -> Thing:
    """The same parts as something that the object is only seen with."""
    return [dataclasses.replace(piece, own=False) for piece in thing]


def extent(thing: Thing) -> Float[np.ndarray, "4"]:
    """(x0, y0, x1, y1) around the own parts, or around all if none is own."""
    pieces = [piece for piece in thing if piece.own] or thing
    points = np.concatenate([piece.placed() for piece in pieces])
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def fitted(thing: Thing, centre: shapes.Point, scale: shapes.Real) -> Thing:
    """The thing enlarged by `scale`, the middle of its extent on `centre`."""
    x0, y0, x1, y1 = (extent(thing) * scale).tolist()
    shift = (centre[0] - (x0 + x1) / 2, centre[1] - (y0 + y1) / 2)
    return moved(thing, affine(scale=scale, shift=shift))
