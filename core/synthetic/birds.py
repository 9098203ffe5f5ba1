"""The bird of the toy world, perched or flying. It looks to the right."""

import dataclasses

import numpy as np

from belvedere.core.synthetic import chance, colours, materials, parts, shapes, textures

_FEET = 0.52  # below the middle of the body, which is about 1 long
_FOLDED = ((-0.1, -0.2), (0.25, -0.2), (0.2, 0.1), (-0.2, 0.2), (-0.6, 0.24))


def _raised_wing(rng: np.random.Generator) -> shapes.Contour:
    up, back = rng.uniform(0.5, 1.1), rng.uniform(-0.5, 0.1)
    return shapes.curve(
        (0.2, -0.1), (0.2 + back, -up), (-0.1 + back, -1.1 * up),
        (-0.3 + back, -0.7 * up), (-0.4, -0.1), (-0.1, 0.02),
    )  # fmt: skip


def _perch(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A branch, a rail or a stone under the feet; it goes on beyond the bird."""
    if chance.coin(rng, 0.3):
        stone = shapes.blob(rng, 0, _FEET + 0.45, 1.1, 0.5, 0.12)
        return parts.context([parts.part(materials.stone(rng, palette), stone)])
    rise, y = rng.uniform(-0.9, 0.9), _FEET + 0.05
    thick = rng.uniform(0.06, 0.2), rng.uniform(0.04, 0.12)
    branch = shapes.bar((-3.0, y - rise), (3.0, y + rise), *thick)
    return parts.context([parts.part(materials.wood(rng, 0.1), branch)])


def _horn(rng: np.random.Generator) -> materials.Paint:
    return materials.paint(rng, colours.in_hue(rng, 0.04, 0.14), grain=0.05)


def _legs(rng: np.random.Generator) -> parts.Thing:
    legs = [shapes.bar((x, 0.2), (x + 0.06, _FEET), 0.05, 0.03) for x in (-0.05, 0.12)]
    return [parts.part(_horn(rng), *legs)]


def _head(
    rng: np.random.Generator, plumage: materials.Paint, crown: materials.Paint
) -> parts.Thing:
    x, y = rng.uniform(0.42, 0.52), rng.uniform(-0.48, -0.28)
    r, tip = rng.uniform(0.17, 0.22), rng.uniform(0.1, 0.32)
    root = x + 0.8 * r
    beak = shapes.polygon(
        (root, y - 0.06), (x + r + tip, y + rng.uniform(0.0, 0.08)), (root, y + 0.07)
    )
    neck = shapes.bar((0.25, 0.0), (x, y), 0.5, 1.6 * r)
    eye = shapes.ellipse(x + 0.4 * r, y - 0.15 * r, 0.2 * r)
    return [
        parts.part(_horn(rng), beak),
        parts.part(plumage, neck),
        parts.part(crown, shapes.ellipse(x, y, r, r * 0.9)),
        parts.part(materials.rubber(rng), eye),
    ]


def _feathers(rng: np.random.Generator, palette: colours.Palette) -> materials.Paint:
    tone = palette.pick(rng)
    return dataclasses.replace(
        materials.fur(rng, tone),
        pattern=chance.one_of(rng, (textures.scales, textures.stripes)),
        second=colours.scaled(tone, rng.uniform(0.3, 0.7)),
        scale=rng.uniform(0.1, 0.18),
        degrees=rng.uniform(-40, 40),
    )


def bird(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Perched on something that goes on beyond it, or flying."""
    base, belly = (materials.fur(rng, palette.pick(rng)) for _ in range(2))
    feathers, flying = _feathers(rng, palette), chance.coin(rng, 0.3)
    wing = _raised_wing(rng) if flying else shapes.curve(*_FOLDED)
    fan = shapes.path((-0.35, 0.05), [rng.uniform(150, 185)], [rng.uniform(0.3, 0.7)])
    tail = shapes.limb(fan, np.array([0.1, rng.uniform(0.06, 0.16)]))
    far = _raised_wing(rng) + np.array([0.12, 0.0])
    below = _perch(rng, palette) + _legs(rng)
    return [
        *([parts.part(feathers.darker(0.65), far)] if flying else below),
        parts.part(feathers.darker(0.85), tail),
        parts.part(base, shapes.blob(rng, 0, 0, 0.5, 0.3, 0.04)),
        parts.part(belly, shapes.ellipse(0.1, 0.09, 0.36, 0.2, 8)),
        *_head(rng, base, chance.one_of(rng, (base, base, belly))),
        parts.part(feathers, wing),
    ]
