"""Vehicles of the toy world: car and bicycle. Their wheels tell of them.

They drive to the right; the ground is at y = wheel radius.
"""

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

# outline from the rear sill over the roof to the front sill; then the panes' rear and
# front end, how far their pillars lean, sill and roof
_BODIES = (
    (  # saloon
        ((-2.1, -0.05), (-2.1, -0.55), (-1.3, -0.68), (-0.75, -1.15), (0.55, -1.15),
         (1.05, -0.68), (1.9, -0.5), (2.1, -0.3), (2.1, -0.02), (0.0, 0.05)),
        (-1.05, 0.75, 0.35, 0.4, -0.68, -1.06),
    ),
    (  # hatchback
        ((-1.75, -0.05), (-1.8, -0.7), (-1.45, -1.2), (-1.2, -1.32), (0.45, -1.3),
         (1.05, -0.75), (1.75, -0.6), (1.85, -0.3), (1.85, -0.02), (0.0, 0.05)),
        (-1.35, 0.75, 0.1, 0.45, -0.72, -1.2),
    ),
    (  # van
        ((-2.1, -0.05), (-2.15, -1.0), (-2.1, -1.7), (-1.8, -1.8), (0.9, -1.8),
         (1.5, -1.0), (2.05, -0.8), (2.15, -0.4), (2.1, -0.02), (0.0, 0.05)),
        (-0.2, 1.25, 0.05, 0.45, -1.0, -1.62),
    ),
    (  # pick-up
        ((-2.3, -0.05), (-2.3, -0.7), (-0.6, -0.72), (-0.4, -1.3), (0.5, -1.3),
         (0.95, -0.75), (1.95, -0.62), (2.15, -0.3), (2.1, -0.02), (0.0, 0.05)),
        (-0.4, 0.75, 0.08, 0.4, -0.74, -1.2),
    ),
)  # fmt: skip


def wheel(
    rng: np.random.Generator, x: shapes.Real, y: shapes.Real, radius: float
) -> parts.Thing:
    """Tyre, rim, spokes and hub of a car."""
    bright = materials.metal(rng, np.full(3, rng.uniform(110, 220)))
    count, start = int(rng.integers(5, 11)), rng.uniform(0, 90)
    spokes = []
    for k in range(count):
        line = shapes.turned(
            np.array([[0.1, 0.0], [0.62, 0.0]]), start + 360 * k / count
        )
        spokes.append(shapes.limb(line * radius + (x, y), 0.07 * radius))
    return [
        parts.part(materials.rubber(rng), shapes.ellipse(x, y, radius)),
        parts.part(bright.darker(0.45), shapes.ellipse(x, y, 0.68 * radius)),
        parts.part(bright, shapes.ring(x, y, 0.68 * radius, 0.58 * radius), *spokes),
        parts.part(bright, shapes.ellipse(x, y, 0.18 * radius)),
    ]


def _panes(
    rng: np.random.Generator,
    glazing: tuple[float, float, float, float, float, float],
) -> parts.Thing:
    x0, x1, rear, front, sill, roof = glazing
    post = (x0 + x1) / 2 - rng.uniform(0, 0.2)
    a, b = post - 0.05, post + 0.05
    back = shapes.polygon((x0, sill), (x0 + rear, roof), (a, roof), (a, sill))
    fore = shapes.polygon((b, sill), (b, roof), (x1 - front, roof), (x1, sill))
    return [parts.part(materials.glass(rng), back, fore)]


def _trim(rng: np.random.Generator, body: materials.Paint) -> parts.Thing:
    """Door seams, sill, bumpers, lamps."""
    dark, seam = materials.rubber(rng), body.darker(0.5)
    xs = (-0.65, 0.1, rng.uniform(0.6, 0.8))
    seams = [shapes.bar((x, -0.66), (x, -0.05), 0.03) for x in xs]
    handle = shapes.bar((-0.15, -0.52), (0.02, -0.52), 0.05)
    lamp = materials.paint(rng, np.array([240.0, 235.0, 200.0]), grain=0.05)
    tail = materials.paint(rng, np.array([190.0, 35.0, 30.0]), grain=0.05)
    return [
        parts.part(seam, *seams, handle),
        parts.part(dark, shapes.bar((-1.9, 0.0), (1.95, 0.02), 0.14)),
        parts.part(lamp, shapes.ellipse(1.86, -0.42, 0.16, 0.09, 15)),
        parts.part(tail, shapes.ellipse(-1.9, -0.5, 0.09, 0.13)),
    ]


def car(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Saloon, hatchback, van or pick-up."""
    outline, glazing = chance.one_of(rng, _BODIES)
    body = materials.metal(rng, palette.pick(rng))
    radius, rear, front = rng.uniform(0.33, 0.42), -1.3, rng.uniform(1.2, 1.4)
    arches = [shapes.ellipse(x, 0.05, radius * 1.2) for x in (rear, front)]
    shell = shapes.smooth(shapes.polygon(*outline), 2)
    thing = [parts.part(body, shell), *_panes(rng, glazing), *_trim(rng, body)]
    if chance.coin(rng, 0.3):
        band = shapes.bar((-1.8, -0.3), (1.75, -0.28), 0.12)
        thing.append(parts.part(materials.metal(rng, palette.pick(rng)), band))
    thing.append(parts.part(materials.rubber(rng).darker(0.6), *arches))
    for x in (rear, front):
        thing += wheel(rng, x, 0.05, radius)
    return thing


def hoop(
    rng: np.random.Generator, x: shapes.Real, y: shapes.Real, radius: float
) -> parts.Thing:
    """Tyre, rim, spokes and hub of a bicycle; one sees through it."""
    tyre, bright = materials.rubber(rng), materials.metal(rng, np.full(3, 170.0))
    count, start = int(rng.integers(8, 15)), rng.uniform(0, 40)
    ends = [
        shapes.turned(np.array([[radius * 0.95, 0.0]]), start + 360 * k / count)[0]
        for k in range(count)
    ]
    spokes = [shapes.bar((x, y), (x + dx, y + dy), 0.008) for dx, dy in ends]
    return [
        parts.part(bright, *spokes, shapes.ellipse(x, y, 0.04)),
        parts.part(bright, shapes.ring(x, y, radius * 0.93, radius * 0.86)),
        parts.part(tyre, shapes.ring(x, y, radius, radius * 0.9)),
    ]


def _frame(paint: materials.Paint, low: float) -> parts.Thing:
    """The tubes; the higher `low`, the lower the top one sits."""
    rear, front, crank = (0.0, 0.0), (1.05, 0.0), (0.43, 0.03)
    seat, head = (0.3, -0.36), (0.87, -0.4)
    top = (seat[0] + 0.3 * low * (crank[0] - seat[0]), seat[1] + low * 0.25)
    tubes = (
        (rear, crank), (rear, top), (seat, crank), (top, head), (crank, head),
        (head, front), (seat, (0.28, -0.46)), (head, (0.85, -0.52)),
    )  # fmt: skip
    return [parts.part(paint, *(shapes.bar(*ends, 0.04) for ends in tubes))]


def _gear(rng: np.random.Generator) -> parts.Thing:
    """Saddle, handlebar, crank and pedals."""
    dark, turn = materials.rubber(rng), rng.uniform(0, 180)
    arm = shapes.turned(np.array([[-0.17, 0.0], [0.17, 0.0]]), turn)
    arm += np.array([0.43, 0.03])
    saddle = shapes.curve(
        (0.16, -0.48), (0.3, -0.51), (0.44, -0.48), (0.3, -0.43), (0.18, -0.43)
    )
    bars = shapes.limb(shapes.path((0.78, -0.55), [-5, 40], [0.12, 0.14]), 0.022)
    pedals = [shapes.bar((x - 0.06, y), (x + 0.06, y), 0.035) for x, y in arm]
    chain = materials.metal(rng, np.full(3, 120.0))
    return [
        parts.part(chain, shapes.ring(0.43, 0.03, 0.1, 0.07), shapes.limb(arm, 0.015)),
        parts.part(dark, saddle, bars, *pedals),
    ]


def _basket(rng: np.random.Generator) -> parts.Thing:
    weave = materials.paint(
        rng, colours.in_hue(rng, 0.06, 0.12), second=np.full(3, 40.0),
        pattern=textures.tiles, scale=0.05,
    )  # fmt: skip
    sides = shapes.polygon((0.82, -0.5), (1.12, -0.5), (1.06, -0.3), (0.86, -0.3))
    return [parts.part(weave, sides)]


def bicycle(rng: np.random.Generator, palette: colours.Palette) -> parts.Thing:
    """Two hoops and a frame one sees through; loaded, ridden or alone."""
    radius = rng.uniform(0.3, 0.37)
    paint = materials.metal(rng, palette.pick(rng))
    thing = hoop(rng, 0, 0, radius) + hoop(rng, 1.05, 0, radius)
    thing += _frame(paint, rng.random()) + _gear(rng)
    extra = rng.random()
    if extra < 0.3:
        thing += _basket(rng)
    elif extra < 0.6:
        thing += figures.rider(rng, palette)
    return thing
