"""Distractors of the toy world: what else stands about, some of it look-alikes."""

import numpy as np

from belvedere.core.synthetic import (
    chance,
    colours,
    figures,
    materials,
    objects,
    parts,
    quadrupeds,
    shapes,
    textures,
    things,
    vehicles,
)


def bush(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    green = materials.paint(rng, colours.leafy(rng), grain=0.5, octave=1, relief=0.4)
    lumps = [
        shapes.blob(rng, rng.uniform(-0.5, 0.5), rng.uniform(-0.3, 0.1), 0.5, 0.4, 0.2)
        for _ in range(4)
    ]
    return [parts.part(green, *lumps[:2]), parts.part(green.darker(0.8), *lumps[2:])]


def rock(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    outline = shapes.blob(rng, 0, 0, 0.6, rng.uniform(0.3, 0.5), 0.25)
    return [parts.part(materials.stone(rng, palette), outline)]


def crate(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    side, skew = rng.uniform(0.5, 1.2), rng.uniform(0.1, 0.4)
    covers = (materials.wood(rng, 0.25), materials.cloth(rng, palette, 0.2))
    front, far = chance.one_of(rng, covers), side + skew
    lid = shapes.polygon((0, 0), (skew, -0.25), (far, -0.25), (side, 0))
    flank = shapes.polygon((side, 0), (far, -0.25), (far, 0.55), (side, 0.8))
    return [
        parts.part(front, shapes.rectangle(0, 0, side, 0.8)),
        parts.part(front.darker(1.25), lid),
        parts.part(front.darker(0.6), flank),
    ]


def sign(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    post = materials.metal(rng, np.full(3, rng.uniform(70, 160)))
    face, ink = (materials.paint(rng, palette.pick(rng), relief=0.1) for _ in range(2))
    plates = (shapes.ellipse(0, -1.2, 0.3), shapes.rectangle(-0.4, -1.4, 0.4, -1))
    return [
        parts.part(post, shapes.bar((0, 0.2), (0, -1.2), 0.07)),
        parts.part(face, chance.one_of(rng, plates)),
        parts.part(ink, shapes.bar((-0.2, -1.2), (0.2, -1.2), 0.1)),
    ]


def _tree(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    crown = materials.paint(rng, colours.leafy(rng), grain=0.5, octave=2, relief=0.45)
    trunk = shapes.bar((0, 0), (rng.uniform(-0.1, 0.1), -1.1), 0.16, 0.1)
    wide = rng.uniform(0.3, 0.6)
    boughs = [
        shapes.blob(rng, rng.uniform(-0.3, 0.3), rng.uniform(-1.5, -1), wide, 0.4, 0.25)
        for _ in range(3)
    ]
    return [
        parts.part(materials.wood(rng, 0.05, 90.0), trunk),
        parts.part(crown, *boughs),
    ]


def _tyre(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A wheel without a vehicle."""
    return chance.one_of(rng, (vehicles.wheel, vehicles.hoop))(rng, 0.0, 0.0, 0.5)


def _balloon(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """The ball's double: an oval on a string."""
    skin = materials.paint(rng, palette.pick(rng), grain=0.06, relief=0.6, gloss=0.4)
    string = shapes.limb(shapes.path((0, 0.55), [80, 105, 85], [0.4] * 3), 0.012)
    oval = shapes.curve(
        (0, -0.65), (0.55, -0.5), (0.5, 0.2), (0, 0.75), (-0.5, 0.2), (-0.55, -0.5)
    )
    return [parts.part(materials.rubber(rng), string), parts.part(skin, oval)]


def _awning(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Striped cloth: the zebra's coat on something else."""
    pale = colours.near(np.full(3, 215.0), rng, 30.0)
    cloth = materials.paint(
        rng, pale, second=palette.pick(rng), pattern=textures.straight_stripes,
        scale=rng.uniform(0.1, 0.25), relief=0.15,
    )  # fmt: skip
    sheet = shapes.polygon((0.1, 0), (0.9, 0), (1.05, 0.5), (-0.05, 0.5))
    return [parts.part(cloth, sheet)]


def _beads(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """The caterpillar's double: a row of stones or fruit, without a head."""
    skin = materials.paint(rng, palette.pick(rng), relief=0.5)
    row = [(0.8 * k, rng.uniform(-0.1, 0.1)) for k in range(int(rng.integers(3, 6)))]
    return [parts.part(skin, shapes.blob(rng, x, y, 0.42, 0.42, 0.08)) for x, y in row]


_COMMON: tuple[objects.Maker, ...] = (
    bush, rock, crate, sign, _tree, _tyre, _balloon, _awning, _beads,
    figures.person, quadrupeds.hound, things.cup, things.vase,
)  # fmt: skip
_DOUBLES: dict[str, tuple[objects.Maker, ...]] = {
    "ball": (_balloon, rock, figures.person),
    "bicycle": (_tyre, sign),
    "bird": (quadrupeds.hound, bush),
    "bottle": (things.vase, things.cup),
    "car": (_tyre, crate),
    "caterpillar": (_beads, bush),
    "fish": (bush, rock),
    "zebra": (quadrupeds.hound, _awning),
}


def _fragment(
    label: str, rng: np.random.Generator, palette: colours.Palette
) -> parts.Thing:
    """An object of another class, whole or only some neighbouring parts of it."""
    other = chance.one_of(rng, [name for name in objects.KINDS if name != label])
    thing = objects.posed(objects.KINDS[other], rng, palette)
    whole = [piece for piece in thing if piece.own]
    if chance.coin(rng):
        return whole
    start = int(rng.integers(len(whole)))
    return whole[start : start + max(2, len(whole) // 3)]


def distractor(
    label: str, rng: np.random.Generator, palette: colours.Palette
) -> parts.Thing:
    """Something that is not of the class `label`, but may look like it."""
    kind = rng.random()
    if kind < 0.25:
        return _fragment(label, rng, palette)
    make = chance.one_of(rng, _DOUBLES[label] if kind < 0.45 else _COMMON)
    return parts.moved(make(rng, palette), parts.affine(mirror=chance.coin(rng)))
