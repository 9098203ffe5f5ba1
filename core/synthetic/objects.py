"""The eight classes of the toy world, and how large and how turned they appear.

Paper: the situations of section 1. `ball` and `bottle` are small things in telling
containers, `car` and `bicycle` have tell-tale parts, `zebra` and `caterpillar` look
alike all along while their extent is decided at the ends.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from belvedere.core.synthetic import (
    birds,
    chance,
    colours,
    creatures,
    parts,
    quadrupeds,
    things,
    vehicles,
)

Maker = Callable[[np.random.Generator, colours.Palette], parts.Thing]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A class: how it is made, and how photographs show it.

    `smallest` and `largest` bound the share of the picture that its box takes,
    `largest_held` where it is seen in a container; `tilt` bounds its rotation in
    degrees; `grounds` are the backgrounds it is most often seen on.
    """

    make: Maker
    smallest: float
    largest: float
    tilt: int
    grounds: tuple[str, ...]
    largest_held: float = 1.0
    standing: bool = True


KINDS: dict[str, Kind] = {
    "ball": Kind(
        things.ball, 0.015, 0.4, 0, ("landscape", "room", "street"), largest_held=0.08
    ),
    "bicycle": Kind(vehicles.bicycle, 0.12, 0.85, 8, ("street", "wall", "landscape")),
    "bird": Kind(birds.bird, 0.03, 0.75, 25, ("foliage", "landscape"), standing=False),
    "bottle": Kind(things.bottle, 0.03, 0.5, 6, ("room", "wall")),
    "car": Kind(vehicles.car, 0.1, 0.85, 5, ("street", "landscape")),
    "caterpillar": Kind(
        creatures.caterpillar, 0.08, 0.8, 40, ("foliage", "pebbles"), standing=False
    ),
    "fish": Kind(creatures.fish, 0.06, 0.8, 25, ("water", "pebbles"), standing=False),
    "zebra": Kind(quadrupeds.zebra, 0.12, 0.85, 5, ("landscape", "foliage")),
}


def posed(
    kind: Kind, rng: np.random.Generator, palette: colours.Palette
) -> parts.Thing:
    """An example of the class, articulated, mirrored, foreshortened and turned."""
    pose = parts.affine(
        degrees=rng.uniform(-kind.tilt, kind.tilt),
        squeeze=rng.uniform(0.75, 1.05) if kind.tilt else 1.0,
        mirror=chance.coin(rng),
    )
    return parts.moved(kind.make(rng, palette), pose)
