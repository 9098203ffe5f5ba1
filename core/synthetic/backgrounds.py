"""Backgrounds of the toy world: each fills the canvas behind everything else.

`horizon` is the height in the picture, in pixels, where ground or floor begins; a
background that has none does without it.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from belvedere.core.synthetic import (
    chance,
    colours,
    materials,
    nature,
    parts,
    shapes,
    textures,
)
from belvedere.core.synthetic.canvas import Canvas

Background = Callable[[Canvas, np.random.Generator, colours.Palette, float], None]

_FRONTS = (textures.bricks, textures.plain, textures.planks)
_WALLS = (textures.bricks, textures.tiles, textures.planks, textures.patches)


def _panes(
    rng: np.random.Generator, x: float, wide: float, top: float, foot: float
) -> list[shapes.Contour]:
    """Rows of windows, all alike."""
    across, down = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    dx, dy = wide / across, (foot - top) / (down + 0.3)
    corners = [(x + i * dx, top + j * dy) for i in range(across) for j in range(down)]
    pane = shapes.rectangle(0.25 * dx, 0.3 * dy, 0.75 * dx, 0.85 * dy)
    return [pane + np.array(corner) for corner in corners]


def _house(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, x: float,
    wide: float, foot: float,
) -> None:  # fmt: skip
    tone, top = palette.shared(rng), foot * rng.uniform(-0.1, 0.7)
    front = materials.paint(
        rng, tone, second=colours.scaled(tone, 0.6), relief=0.1, octave=2,
        pattern=chance.one_of(rng, _FRONTS), scale=rng.uniform(4, 9),
    )  # fmt: skip
    glass = materials.glass(rng).darker(0.8)
    wall_part = parts.part(front, shapes.rectangle(x, top, x + wide, foot))
    canvas.paint([wall_part, parts.part(glass, *_panes(rng, x, wide, top, foot))])


def street(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """Houses with rows of windows, pavement, road."""
    nature.sky(canvas, rng, horizon)
    x = -rng.uniform(0, 60)
    while x < canvas.width:
        wide = canvas.width * rng.uniform(0.2, 0.5)
        _house(canvas, rng, palette, x, wide, horizon + 2)
        x += wide * rng.uniform(1.0, 1.15)
    grey = colours.near(np.full(3, rng.uniform(70, 170)), rng)
    kerb = horizon + (canvas.height - horizon) * rng.uniform(0.1, 0.5)
    nature.ground(canvas, rng, colours.scaled(grey, 1.2), horizon)
    nature.ground(canvas, rng, grey, kerb)
    end = (float(canvas.width), kerb + rng.uniform(-6, 6))
    line = shapes.bar((0.0, kerb), end, rng.uniform(2, 6))
    canvas.paint([parts.part(materials.paint(rng, palette.shared(rng)), line)])


def _books(
    rng: np.random.Generator, palette: colours.Palette, x: float, y: float, end: float,
    tall: float,
) -> parts.Thing:  # fmt: skip
    thing = []
    while x < end:
        thick, top = rng.uniform(5, 14), y + tall * rng.uniform(0, 0.3)
        back = shapes.rectangle(x, top, min(x + thick, end), y + tall)
        thing.append(parts.part(materials.cloth(rng, palette, 12.0), back))
        x += thick
    return thing


def _hung(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """A picture, a window or a shelf of books on the wall."""
    wide, tall = canvas.width * rng.uniform(0.12, 0.4), horizon * rng.uniform(0.2, 0.55)
    x, y = rng.uniform(-0.1, 0.9) * canvas.width, rng.uniform(0, 0.5) * horizon
    rim = shapes.rectangle(x - 4, y - 4, x + wide + 4, y + tall + 4)
    canvas.paint([parts.part(materials.wood(rng, 8.0), rim)])
    if chance.coin(rng):
        canvas.paint(_books(rng, palette, x, y, x + wide, tall))
        return
    outside, picture = materials.glass(rng), materials.cloth(rng, palette, 30.0)
    view = shapes.rectangle(x, y, x + wide, y + tall)
    canvas.paint([parts.part(chance.one_of(rng, (outside, picture)), view)])


def _floor(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> materials.Paint:
    if chance.coin(rng):
        return materials.wood(rng, rng.uniform(10, 25))
    tone = palette.shared(rng)
    return materials.paint(
        rng, tone, second=colours.scaled(tone, rng.uniform(0.5, 0.9)), relief=0.1,
        pattern=textures.floor, scale=rng.uniform(100, 250),
        origin=(canvas.width / 2, horizon),
    )  # fmt: skip


def room(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """A papered wall with things on it, and a floor."""
    cloth = materials.cloth(rng, palette, rng.uniform(20, 60))
    faint = colours.near(cloth.colour, rng, 45.0)
    paper = dataclasses.replace(cloth, second=faint, relief=0.1, grain=0.08)
    nature.band(canvas, paper, -2, horizon)
    for _ in range(int(rng.integers(1, 4))):
        _hung(canvas, rng, palette, horizon)
    floor = _floor(canvas, rng, palette, horizon)
    nature.band(canvas, floor, horizon, canvas.height + 2)
    skirting = materials.paint(rng, palette.shared(rng))
    nature.band(canvas, skirting, horizon - rng.uniform(3, 9), horizon)


def wall(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """Brick, tile, board or plaster close behind, a strip of ground."""
    tone = palette.shared(rng)
    face = materials.paint(
        rng, tone, second=colours.scaled(tone, chance.one_of(rng, (0.55, 1.5))),
        pattern=chance.one_of(rng, _WALLS), scale=rng.uniform(9, 32), octave=2,
        degrees=chance.one_of(rng, (0.0, 0.0, 90.0)), grain=0.25, relief=0.1,
    )  # fmt: skip
    nature.band(canvas, face, -2, canvas.height + 2)
    if chance.coin(rng, 0.7):
        top = max(horizon, 0.5 * canvas.height)
        nature.ground(canvas, rng, palette.shared(rng), top)


BACKGROUNDS: dict[str, Background] = {
    "foliage": nature.foliage,
    "landscape": nature.landscape,
    "pebbles": nature.pebbles,
    "room": room,
    "street": street,
    "wall": wall,
    "water": nature.water,
}
