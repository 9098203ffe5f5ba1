"""Small creatures of the toy world: fish and caterpillar. They look to the right."""

import numpy as np

from belvedere.core.synthetic import chance, colours, materials, parts, shapes, textures

_FISH_SKINS = (textures.scales, textures.stripes, textures.patches)
_LARVA_SKINS = (textures.spots, textures.straight_stripes, textures.plain)


def _fins(rng: np.random.Generator, deep: float) -> list[shapes.Contour]:
    """Tail, dorsal and ventral fin."""
    fork, span = rng.uniform(0.0, 0.16), rng.uniform(0.18, 0.34)
    tail = shapes.polygon(
        (-0.42, -0.05), (-0.75, -span), (-0.75 + fork, 0), (-0.75, span), (-0.42, 0.05)
    )
    high, low = np.array([1.0, -deep]), np.array([1.0, deep])
    dorsal = shapes.curve((-0.3, 0.4), (-0.15, 1.35), (0.2, 1.2), (0.3, 0.5))
    ventral = shapes.curve((-0.2, 0.5), (-0.2, 1.3), (0.05, 0.6))
    return [shapes.smooth(tail, 1), dorsal * high, ventral * low]


def _fish_face(rng: np.random.Generator, deep: float) -> parts.Thing:
    gill = shapes.path((0.28, -0.55 * deep), [110, 80, 70], [0.35 * deep] * 3)
    pale = materials.paint(rng, np.array([225.0, 220.0, 200.0]), grain=0.05)
    pupil, dark = shapes.ellipse(0.43, -0.22 * deep, 0.025), materials.rubber(rng)
    mouth = shapes.bar((0.5, 0.2 * deep), (0.57, 0.1 * deep), 0.02)
    return [
        parts.part(dark, shapes.limb(gill, 0.012), mouth),
        parts.part(pale, shapes.ellipse(0.42, -0.22 * deep, 0.045)),
        parts.part(dark, pupil),
    ]


def fish(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A scaly, banded or blotched body between a face and a tail fin."""
    deep = rng.uniform(0.16, 0.42)
    skin = materials.paint(
        rng, palette.pick(rng), second=palette.pick(rng), grain=0.12, octave=2,
        pattern=chance.one_of(rng, _FISH_SKINS), scale=rng.uniform(0.07, 0.16),
        relief=0.45, gloss=0.2,
    )  # fmt: skip
    fin = materials.paint(
        rng, palette.pick(rng), pattern=textures.straight_stripes, scale=0.05,
        degrees=rng.uniform(40, 90), relief=0.1,
    )  # fmt: skip
    body = shapes.curve(
        (-0.55, 0.0), (-0.3, -0.7), (0.1, -1.1), (0.4, -0.75), (0.62, -0.03),
        (0.4, 0.75), (0.1, 1.1), (-0.3, 0.7),
    )  # fmt: skip
    flipper = shapes.curve((0.18, 0.05), (-0.08, 0.0), (-0.05, 0.2), (0.1, 0.15))
    return [
        parts.part(fin, *_fins(rng, deep)),
        parts.part(skin, body * np.array([1.0, deep])),
        *_fish_face(rng, deep),
        parts.part(fin.darker(0.8), flipper),
    ]


def _spine(rng: np.random.Generator, count: int, gap: float) -> shapes.Contour:
    """A winding line of `count` points."""
    heading, bend, line = rng.uniform(-25, 25), rng.uniform(-14, 14), []
    for _ in range(count - 1):
        bend = min(max(bend + rng.uniform(-16, 16), -28), 28)
        heading += bend
        line.append(heading)
    return shapes.path((0.0, 0.0), line, [gap] * (count - 1))


def _larva_head(
    rng: np.random.Generator, paint: materials.Paint, dark: materials.Paint
) -> parts.Thing:
    """Around the origin; the one segment that is unlike the others."""
    horns = [
        shapes.bar((0.1, -0.3), (x, -rng.uniform(0.75, 1.0)), 0.1, 0.06)
        for x in (0.0, 0.45)
    ]
    eyes = [shapes.ellipse(x, -0.1, 0.1, 0.13) for x in (0.05, 0.38)]
    return [
        parts.part(dark, *horns),
        parts.part(paint, shapes.ellipse(0.1, 0, 0.58, 0.56)),
        parts.part(dark, *eyes),
    ]


def _supper(rng: np.random.Generator, spine: shapes.Contour) -> parts.Thing:
    """What it sits on: a leaf much larger than itself, or a twig along its feet."""
    (x0, y0), (x1, y1) = spine.min(axis=0).tolist(), spine.max(axis=0).tolist()
    x, y, size = (x0 + x1) / 2, (y0 + y1) / 2, rng.uniform(0.7, 1.2) * (x1 - x0)
    green, kind = materials.leaf(rng), rng.random()
    if kind < 0.45:
        leaf = shapes.blob(rng, x, y + 0.3, size, size * 0.55, 0.1)
        rib = shapes.bar((x - size, y + 0.5), (x + size, y + 0.1), 0.12, 0.04)
        thing = [parts.part(green, leaf), parts.part(green.darker(0.75), rib)]
        return parts.context(thing)
    if kind < 0.75:
        twig = shapes.limb(spine + np.array([0.0, 0.75]), 0.2)
        return parts.context([parts.part(materials.wood(rng, 0.2), twig)])
    return []


def caterpillar(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """A chain of near-identical segments with one head, on a leaf or a twig."""
    spine = _spine(rng, int(rng.integers(7, 14)), rng.uniform(0.55, 0.75))
    skin = materials.paint(
        rng, palette.pick(rng), second=palette.pick(rng), grain=0.15, octave=1,
        pattern=chance.one_of(rng, _LARVA_SKINS), scale=rng.uniform(0.25, 0.5),
        relief=0.5,
    )  # fmt: skip
    *trunk, neck = spine.tolist()
    dark, face = (
        materials.rubber(rng),
        materials.paint(rng, palette.pick(rng), relief=0.5),
    )
    feet = [shapes.bar((x, y + 0.3), (x + 0.05, y + 0.66), 0.16, 0.1) for x, y in trunk]
    head = parts.affine(shift=(neck[0], neck[1]))
    return [
        *_supper(rng, spine),
        parts.part(dark, *feet),
        *(parts.part(skin, shapes.blob(rng, x, y, 0.5, 0.52, 0.03)) for x, y in trunk),
        *parts.moved(_larva_head(rng, face, dark), head),
    ]
