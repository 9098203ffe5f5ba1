"""Occluders of the toy world: what comes between the camera and an object."""

from collections.abc import Callable

import numpy as np

from belvedere.core.synthetic import (
    chance,
    clutter,
    colours,
    materials,
    nature,
    parts,
    shapes,
    things,
)
from belvedere.core.synthetic.canvas import Canvas

Occluder = Callable[[Canvas, np.random.Generator, colours.Palette, shapes.Point], None]


def _post(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, at: shapes.Point
) -> None:
    """A trunk or pole from the bottom of the picture, up to `at` or right through."""
    wide = canvas.width * rng.uniform(0.015, 0.05)
    stuffs = (materials.wood(rng, wide / 2, 90.0), materials.stone(rng, palette))
    head = (at[0] + rng.uniform(-20, 20), chance.one_of(rng, (-20.0, at[1])))
    pole = shapes.bar((at[0], canvas.height + 9.0), head, wide * 1.1, wide)
    canvas.paint([parts.part(chance.one_of(rng, stuffs), pole)])


def _spray(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, at: shapes.Point
) -> None:
    """A spray of leaves close to the camera."""
    size = canvas.height * rng.uniform(0.02, 0.05)
    spread = canvas.height * rng.uniform(0.04, 0.1)
    centres = np.array(at) + rng.normal(0, spread, (int(rng.integers(10, 30)), 2))
    tones = colours.leafy(rng) * rng.uniform(0.5, 1.2, (len(centres), 1))
    canvas.dab(shapes.leaves(rng, centres, size), np.clip(tones, 0, 255).round())


def _grass(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, at: shapes.Point
) -> None:
    top, count = 0.5 * (at[1] + canvas.height), int(rng.integers(30, 120))
    nature.tufts(canvas, rng, colours.leafy(rng), top, count)


def _something(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, at: shapes.Point
) -> None:
    pool = (clutter.bush, clutter.rock, clutter.crate, clutter.sign, things.cup)
    thing = chance.one_of(rng, pool)(rng, palette)
    x0, _, x1, _ = parts.extent(thing).tolist()
    scale = canvas.width * rng.uniform(0.08, 0.2) / (x1 - x0)
    canvas.paint(parts.fitted(thing, at, scale))


_OCCLUDERS: tuple[Occluder, ...] = (_post, _spray, _grass, _something, _something)


def occlude(
    canvas: Canvas,
    rng: np.random.Generator,
    palette: colours.Palette,
    thing: parts.Thing,
) -> None:
    """Puts something before `thing`, rather at its left or right end than across it."""
    x0, y0, x1, y1 = parts.extent(thing).tolist()
    x = chance.one_of(rng, (x0, x1)) + rng.normal(0, 0.25) * (x1 - x0)
    y = y0 + (y1 - y0) * rng.uniform(0.3, 1.1)
    chance.one_of(rng, _OCCLUDERS)(canvas, rng, palette, (x, y))
