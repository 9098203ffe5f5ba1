"""Backgrounds out of doors: landscape, foliage, water, pebbles.

`horizon` is the height in the picture, in pixels, where the ground begins.
"""

import numpy as np
from jaxtyping import Float

from belvedere.core.synthetic import chance, colours, materials, parts, shapes, textures
from belvedere.core.synthetic.canvas import Canvas


def band(
    canvas: Canvas, paint: materials.Paint, top: shapes.Real, bottom: shapes.Real
) -> None:
    """Fills the picture from `top` to `bottom`."""
    edge = shapes.rectangle(-2, top, canvas.width + 2, bottom)
    canvas.paint([parts.part(paint, edge)])


def sky(canvas: Canvas, rng: np.random.Generator, horizon: float) -> None:
    """Clear, hazy or clouded, down to the horizon."""
    blue = colours.from_hsv(
        rng.uniform(0.5, 0.68), rng.uniform(0.05, 0.6), rng.uniform(0.5, 0.95)
    )
    haze = colours.from_hsv(
        rng.uniform(0, 0.15), rng.uniform(0, 0.12), rng.uniform(0.75, 0.98)
    )
    air = materials.paint(
        rng, blue, second=haze, pattern=textures.clouds, scale=max(horizon, 20.0),
        octave=3, stretch=int(rng.integers(1, 4)), relief=0.05, grain=0.06,
    )  # fmt: skip
    band(canvas, air, -2, horizon + 2)


def ground(
    canvas: Canvas, rng: np.random.Generator, tone: Float[np.ndarray, "3"], top: float
) -> None:
    """Blotched earth, grass, gravel or asphalt from `top` to the viewer's feet."""
    soil = materials.paint(
        rng, tone, second=colours.scaled(tone, rng.uniform(0.5, 1.3)), grain=0.35,
        pattern=textures.patches, octave=int(rng.integers(1, 4)),
        stretch=int(rng.integers(2, 6)), relief=0.1,
    )  # fmt: skip
    band(canvas, soil, top, canvas.height + 2)


def tufts(
    canvas: Canvas,
    rng: np.random.Generator,
    tone: Float[np.ndarray, "3"],
    top: float,
    count: int,
) -> None:
    """Blades of grass rooted anywhere below `top`, taller towards the viewer."""
    tall = canvas.height * rng.uniform(0.03, 0.14)
    deep = max(canvas.height - top, 1.0)
    near = rng.uniform(0.2, 1, (count, 1))
    roots = np.concatenate(
        [rng.uniform(0, canvas.width, (count, 1)), top + deep * near], 1
    )
    reach = rng.uniform((-0.4, -1.0), (0.4, -0.4), (count, 2))
    tips = roots + near * tall * reach
    wide = np.array([[1.0, 0.0]]) * near * max(tall / 14, 0.6)
    tones = np.clip(tone + rng.uniform(-35, 35, (count, 1)), 0, 255)
    canvas.dab(np.stack([roots - wide, tips, roots + wide], axis=1), tones.round())


def landscape(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """Sky, hills, hedges, a field."""
    sky(canvas, rng, horizon)
    for k in range(int(rng.integers(1, 4))):
        rise = canvas.height * rng.uniform(0.04, 0.25)
        hill = shapes.ridge(rng, canvas.width, horizon + 3 * k, horizon + 40, rise)
        tone = palette.shared(rng) if chance.coin(rng) else colours.leafy(rng)
        rough = materials.paint(rng, tone, grain=0.3, relief=0.2)
        canvas.paint([parts.part(rough, hill)])
    tone = colours.leafy(rng) if chance.coin(rng, 0.6) else palette.shared(rng)
    ground(canvas, rng, tone, horizon)
    if chance.coin(rng, 0.7):
        tufts(canvas, rng, tone, horizon, int(rng.integers(60, 220)))


def _scattered(
    canvas: Canvas, rng: np.random.Generator, size: float, most: int
) -> Float[np.ndarray, "L 2"]:
    """Places for things of about `size` pixels, enough to cover the picture."""
    count = int(min(most, 0.4 * canvas.width * canvas.height / (size * size)))
    return rng.uniform((0, 0), (canvas.width, canvas.height), (count, 2))


def foliage(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """Leaves upon leaves, in light and in shade."""
    tone = colours.leafy(rng)
    gaps = colours.scaled(tone, 0.5)
    dark = materials.paint(rng, gaps, grain=0.5, octave=3, relief=0.1)
    band(canvas, dark, -2, canvas.height + 2)
    size = canvas.height * rng.uniform(0.02, 0.06)
    centres = _scattered(canvas, rng, size, 420)
    light = rng.uniform(0.45, 1.25, (len(centres), 1))
    tones = (tone + rng.uniform(-14, 14, (len(centres), 3))) * light
    canvas.dab(shapes.leaves(rng, centres, size), np.clip(tones, 0, 255).round())


def _weed(canvas: Canvas, rng: np.random.Generator) -> parts.Part:
    root = (rng.uniform(0, canvas.width), canvas.height + 5.0)
    headings = (-90 + rng.uniform(-40, 40, 4)).tolist()
    lengths = [canvas.height * rng.uniform(0.04, 0.16)] * 4
    wide = canvas.width * rng.uniform(0.004, 0.016)
    stalk = shapes.limb(shapes.path(root, headings, lengths), wide)
    return parts.part(materials.leaf(rng), stalk)


def water(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """Under the surface: light from above, weeds, a bed of sand."""
    blue, height = colours.in_hue(rng, 0.42, 0.62), float(canvas.height)
    deep = materials.paint(
        rng, colours.scaled(blue, 1.4), second=colours.scaled(blue, 0.6), grain=0.2,
        octave=2, pattern=textures.ramp, scale=height, stretch=5, relief=0.1,
    )  # fmt: skip
    band(canvas, deep, -2, height + 2)
    bed = shapes.ridge(rng, canvas.width, 0.95 * height, height + 9, 0.2 * height)
    canvas.paint([parts.part(materials.stone(rng, palette), bed)])
    canvas.paint([_weed(canvas, rng) for _ in range(int(rng.integers(4, 12)))])


def pebbles(
    canvas: Canvas, rng: np.random.Generator, palette: colours.Palette, horizon: float
) -> None:
    """A bed of stones seen from above."""
    tone = palette.shared(rng)
    gaps = materials.paint(rng, colours.scaled(tone, 0.4), grain=0.4)
    band(canvas, gaps, -2, canvas.height + 2)
    size = canvas.height * rng.uniform(0.03, 0.08)
    centres = _scattered(canvas, rng, size, 350)
    worn = shapes.ellipse(0, 0, 1, 0.8)[::3] * rng.uniform(0.85, 1.15, (11, 1))
    stones = worn * size * rng.uniform(0.4, 1.2, (len(centres), 1, 1))
    light = rng.uniform(0.55, 1.4, (len(centres), 1))
    tones = tone * light + rng.uniform(-15, 15, (len(centres), 3))
    canvas.dab(centres[:, None] + stones, np.clip(tones, 0, 255).round())
