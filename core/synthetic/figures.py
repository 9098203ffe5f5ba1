"""People of the toy world: never the object, often the container that tells of it.

Design units: the figure stands 1 high with its feet at y = 0, facing the viewer.
"""

import numpy as np

from belvedere.core.synthetic import chance, colours, materials, parts, shapes


def _bent(
    start: shapes.Point, end: shapes.Point, reach: float, side: int
) -> shapes.Contour:
    """Joints of an arm or leg of length `reach` that bends to one side."""
    (x0, y0), (x1, y1) = start, end
    gap = np.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
    bend = side * np.sqrt(max(reach**2 - gap**2, 0.0)) / 2
    across = np.array([y0 - y1, x1 - x0]) / max(gap, 1e-6)
    elbow = np.array([(x0 + x1) / 2, (y0 + y1) / 2]) + bend * across
    return np.array([start, elbow, end])


def _member(
    start: shapes.Point, end: shapes.Point, reach: float, side: int, width: float
) -> shapes.Contour:
    joints = _bent(start, end, reach, side)
    return shapes.limb(joints, width * np.array([1.0, 0.85, 0.6]))


def _head(rng: np.random.Generator, skin: materials.Paint, x: float) -> parts.Thing:
    shade = colours.scaled(colours.in_hue(rng, 0.03, 0.12), rng.uniform(0.3, 1.2))
    hair = materials.fur(rng, shade)
    eyes = [shapes.ellipse(x + dx, -0.925, 0.007) for dx in (-0.022, 0.022)]
    dark = materials.rubber(rng)
    return [
        parts.part(skin, shapes.bar((x, -0.8), (x, -0.87), 0.055)),
        parts.part(hair, shapes.blob(rng, x, -0.94, 0.066, 0.072, 0.08)),
        parts.part(skin, shapes.ellipse(x, -0.92, 0.052, 0.066)),
        parts.part(hair, shapes.ellipse(x, -0.98, 0.05, 0.03)),
        parts.part(dark, *eyes, shapes.ellipse(x, -0.885, 0.02, 0.006)),
    ]


def _legs(
    rng: np.random.Generator, paint: materials.Paint, shoes: materials.Paint
) -> parts.Thing:
    thing = []
    for side in (-1, 1):
        hip, foot = (0.05 * side, -0.5), (side * rng.uniform(0.03, 0.16), -0.02)
        leg = _member(hip, foot, rng.uniform(0.48, 0.54), side, 0.055)
        shoe = shapes.ellipse(foot[0] + 0.02 * side, -0.012, 0.05, 0.022)
        thing += [parts.part(paint, leg), parts.part(shoes, shoe)]
    return thing


def _arm(
    shoulder: shapes.Point,
    hand: shapes.Point,
    side: int,
    sleeve: materials.Paint,
    skin: materials.Paint,
) -> parts.Thing:
    joints = _bent(shoulder, hand, 0.36, side)
    fist = shapes.ellipse(hand[0], hand[1], 0.028)
    fore = shapes.limb(joints[1:], np.array([0.03, 0.022]))
    upper = shapes.limb(joints[:2], np.array([0.042, 0.034]))
    return [parts.part(skin, fore, fist), parts.part(sleeve, upper)]


def person(
    rng: np.random.Generator,
    palette: colours.Palette,
    hands: list[shapes.Point] | None = None,
) -> parts.Thing:
    """A figure; `hands` says where its left and right hand are."""
    if hands is None:
        hands = [(s * rng.uniform(0.14, 0.3), rng.uniform(-0.7, -0.4)) for s in (-1, 1)]
    skin, lean = materials.skin(rng), rng.uniform(-0.02, 0.02)
    top, bottom = (materials.cloth(rng, palette, 0.05) for _ in range(2))
    wide = rng.uniform(0.11, 0.15)
    half = shapes.polygon((1, -0.82), (0.9, -0.65), (0.9, -0.46))
    both = np.concatenate([half, half[::-1] * (-1, 1)])
    torso = shapes.smooth(both * (wide, 1), 3)
    thing = [*_legs(rng, bottom, materials.rubber(rng)), parts.part(top, torso)]
    thing += _head(rng, skin, lean)
    for side, hand in zip((-1, 1), hands, strict=True):
        shoulder = (side * (wide - 0.03), -0.77)
        thing += _arm(shoulder, hand, side, top, skin)
    return parts.context(thing)


def holder(
    rng: np.random.Generator, palette: colours.Palette, radius: float, lift: float
) -> parts.Thing:
    """A figure whose hands hold something of `radius` at height `lift`."""
    x = rng.uniform(-0.12, 0.12)
    hands = [(x - radius, -lift), (x + radius, -lift)]
    if chance.coin(rng):
        hands[0] = (-rng.uniform(0.16, 0.3), rng.uniform(-0.7, -0.4))
        hands[1] = (x, -lift + radius)
    return parts.moved(person(rng, palette, hands), parts.affine(shift=(-x, lift)))


def fingers(
    rng: np.random.Generator, skin: materials.Paint, radius: float
) -> parts.Thing:
    """Fingertips reaching over the edge of what a hand holds at the origin."""
    tip = shapes.bar(
        (1.05 * radius, 0), (0.62 * radius, 0), 0.26 * radius, 0.2 * radius
    )
    base = rng.uniform(20, 160)
    tips = [shapes.turned(tip, base + 17 * k) for k in range(4)]
    return parts.context([parts.part(skin, *tips)])


def rider(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Someone on a bicycle whose saddle is at (0.3, -0.5) and bars at (0.85, -0.55)."""
    skin, hat = materials.skin(rng), materials.paint(rng, palette.pick(rng))
    top, bottom = (materials.cloth(rng, palette, 0.1) for _ in range(2))
    hip, neck = (0.3, -0.56), (rng.uniform(0.45, 0.6), -1.05)
    leg = _bent(hip, (0.42, 0.05), 0.66, -1)
    arm = _bent(neck, (0.85, -0.57), 0.55, 1)
    brim = shapes.curve((-0.14, -0.02), (-0.1, -0.16), (0.08, -0.16), (0.16, -0.02))
    face = np.array([neck[0] + 0.08, neck[1] - 0.18])
    thing = [
        parts.part(skin, shapes.ellipse(0, 0, 0.1, 0.12) + face),
        parts.part(hat, brim + face),
        parts.part(top, shapes.bar(hip, neck, 0.2, 0.24)),
        parts.part(bottom, shapes.limb(leg, np.array([0.08, 0.06, 0.04]))),
        parts.part(top.darker(0.85), shapes.limb(arm, np.array([0.05, 0.045, 0.04]))),
    ]
    return parts.context(thing)
