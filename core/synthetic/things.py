"""Small things of the toy world, and the containers that tell of them."""

import dataclasses

import numpy as np

from belvedere.core.synthetic import (
    chance,
    colours,
    figures,
    materials,
    parts,
    shapes,
    textures,
)


def table(
    rng: np.random.Generator, palette: colours.Palette, width: float, deep: float
) -> parts.Thing:
    """A table top seen from above its edge; things stand at the origin."""
    left = -width * rng.uniform(0.3, 0.7)
    right, back, front = left + width, -deep * rng.uniform(0.3, 0.7), deep * 0.4
    slant = 0.12 * width
    top = shapes.polygon(
        (left + slant, back), (right - slant, back), (right, front), (left, front)
    )
    edge = shapes.rectangle(left, front, right, front + 0.05 * width)
    legs = [
        shapes.bar((x, front), (x, front + width), 0.06 * width)
        for x in (left + 0.06 * width, right - 0.06 * width)
    ]
    cloth, wood = (
        materials.cloth(rng, palette, 0.12 * width),
        materials.wood(rng, 0.1 * width),
    )
    cover = dataclasses.replace(chance.one_of(rng, (cloth, wood)), relief=0.12)
    below = cover.darker(0.6)
    return parts.context(
        [parts.part(below, *legs), parts.part(cover, top), parts.part(below, edge)]
    )


def _seams(rng: np.random.Generator) -> list[shapes.Contour]:
    """The curved lines of a basketball or baseball of radius 1."""
    arcs = []
    for side in (-1.0, 1.0):
        xs = side * np.array([0.62, 0.42, 0.36, 0.42, 0.62])
        ys = np.array([-0.77, -0.45, 0.0, 0.45, 0.77])
        arcs.append(shapes.limb(np.stack([xs, ys], axis=1), 0.03))
    cross = [
        shapes.bar((-0.98, 0), (0.98, 0), 0.06),
        shapes.bar((0, -0.98), (0, 0.98), 0.06),
    ]
    return arcs + cross if chance.coin(rng) else arcs


def _pentagons(rng: np.random.Generator) -> list[shapes.Contour]:
    """The dark patches of a football of radius 1, flattened towards its rim."""
    patches = [shapes.turned(shapes.ellipse(0, 0, 0.3)[::6], 20)]
    for k in range(5):
        rim = shapes.ellipse(0.8, 0, 0.13, 0.24)[::5]
        patches.append(shapes.turned(rim, 72 * k + 15))
    return patches


def _sectors(rng: np.random.Generator) -> list[shapes.Contour]:
    """Every other panel of a beach ball of radius 1."""
    rim = shapes.ellipse(0, 0, 0.97)
    pole = np.array([rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.0)])
    return [np.concatenate([rim[k : k + 6], [pole]]) for k in (0, 11, 21)]


def sphere(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A football, basketball, beach ball or tennis ball of radius 1 at the origin."""
    skin = materials.paint(
        rng, palette.pick(rng), grain=0.1, octave=0, relief=0.6, gloss=0.25
    )
    marks = chance.one_of(rng, (_seams, _pentagons, _sectors))(rng)
    ink = dataclasses.replace(skin, colour=palette.pick(rng), second=palette.pick(rng))
    if chance.coin(rng):
        ink = skin.darker(rng.uniform(0.15, 0.45))
    thing = [parts.part(skin, shapes.ellipse(0, 0, 1)), parts.part(ink, *marks)]
    return parts.moved(thing, parts.affine(degrees=rng.uniform(0, 360)))


def ball(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Held by a figure, lying on a table, or on the ground."""
    place, thing = rng.random(), sphere(rng, palette)
    if place < 0.5:
        share = rng.uniform(0.05, 0.11)  # of the figure's height
        heights = (rng.uniform(0.45, 0.75), rng.uniform(1.02, 1.1))
        lift = heights[int(chance.coin(rng, 0.25))]
        figure = figures.holder(rng, palette, share, lift)
        hand = figures.fingers(rng, materials.skin(rng), 1.0)
        return parts.moved(figure, parts.affine(scale=1 / share)) + thing + hand
    if place < 0.75:
        top = table(rng, palette, rng.uniform(6, 14), rng.uniform(2, 4))
        return parts.moved(top, parts.affine(shift=(0, 0.9))) + thing
    return thing


def _profile(rng: np.random.Generator) -> shapes.Contour:
    """The right half of a bottle 1 high, from its foot at y = 0 upwards."""
    wide, neck = rng.uniform(0.11, 0.18), rng.uniform(0.035, 0.055)
    shoulder, throat = rng.uniform(0.5, 0.65), rng.uniform(0.7, 0.8)
    waist = wide * rng.uniform(0.8, 1.05)
    return shapes.polygon(
        (wide * 0.9, 0), (wide, -0.03), (waist, -0.3), (wide, -shoulder),
        (wide * 0.8, -shoulder - 0.06), (neck * 1.1, -throat), (neck, -0.95),
    )  # fmt: skip


def _mirrored(half: shapes.Contour) -> shapes.Contour:
    return np.concatenate([half, half[::-1] * (-1, 1)])


def vessel(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """The bottle itself: glass, liquid, label, cap, highlight."""
    half, tone = _profile(rng), palette.pick(rng)
    wide = half[2, 0]
    glass = materials.paint(rng, tone, grain=0.06, octave=2, relief=0.45, gloss=0.2)
    label = materials.cloth(rng, palette, 0.07)
    low, high = -rng.uniform(0.1, 0.2), -rng.uniform(0.38, 0.5)
    shine = materials.paint(rng, np.full(3, 240.0), opacity=0.55, grain=0.02)
    cap = shapes.rectangle(-0.055, -1.0, 0.055, -0.93)
    left, right = -0.6 * wide, 0.5 * wide
    marks = [shapes.bar((left, low - y), (right, low - y), 0.014) for y in (0.08, 0.12)]
    marks.append(shapes.ellipse(0, low - 0.2, 0.045, 0.03))
    drink = glass.darker(rng.uniform(0.5, 0.9))
    return [
        parts.part(glass, _mirrored(half)),
        parts.part(drink, _mirrored(half[:4] * (0.92, 1))),
        parts.part(label, shapes.rectangle(-wide, high, wide, low)),
        parts.part(materials.rubber(rng), *marks),
        parts.part(materials.metal(rng, palette.pick(rng)), cap),
        parts.part(shine, shapes.bar((left, -0.06), (left, -0.55), 0.02)),
    ]


def bottle(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Standing on a table among crockery, or alone."""
    thing = vessel(rng, palette)
    if chance.coin(rng, 0.6):
        return table(rng, palette, rng.uniform(1.5, 4), rng.uniform(0.4, 0.9)) + thing
    return thing


def cup(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A mug or bowl: company for bottles, never the object."""
    china = materials.cloth(rng, palette, 0.2)
    tall = rng.uniform(0.4, 1.0)
    side = shapes.smooth(
        shapes.polygon((-0.5, 0), (-0.38, tall), (0.38, tall), (0.5, 0)), 1
    )
    handle = shapes.ring(0.5, tall * 0.45, tall * 0.3, tall * 0.2)
    return [
        parts.part(china.darker(0.8), handle),
        parts.part(china, side),
        parts.part(china.darker(0.5), shapes.ellipse(0, 0.03, 0.46, 0.09)),
    ]


def vase(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """The bottle's double: a bellied jar with a wide mouth."""
    belly, mouth = rng.uniform(0.22, 0.4), rng.uniform(0.1, 0.2)
    half = shapes.polygon(
        (0.14, 0), (belly, -0.3), (belly * 0.8, -0.6), (mouth * 0.7, -0.8), (mouth, -1)
    )
    clay = materials.paint(
        rng, palette.pick(rng), pattern=textures.straight_stripes, degrees=90.0,
        scale=rng.uniform(0.2, 0.5), relief=0.5, gloss=0.15,
    )  # fmt: skip
    return [parts.part(clay, shapes.smooth(_mirrored(half), 1))]
