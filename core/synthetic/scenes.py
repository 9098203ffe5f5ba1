"""Scenes of the toy world: photograph-like pictures with known boxes.

A scene is drawn from its label and seed alone, byte for byte the same each time. Its
boxes are tight around what is visible of each object in the picture, as a person would
draw them: what lies beyond the border, or is hidden by something in front, does not
count. Every object of the class that is in the picture has a box.
The world is fixed before any method is measured on it, and is not tuned to one.

Paper: the situations of section 1 (see `objects`).
"""

import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float

from belvedere.core import types
from belvedere.core.synthetic import (
    backgrounds,
    camera,
    chance,
    clutter,
    colours,
    framing,
    objects,
    occluders,
    parts,
    shapes,
)
from belvedere.core.synthetic.canvas import Canvas
from belvedere.core.windows import boxes

CLASSES: tuple[str, ...] = tuple(sorted(objects.KINDS))

_CROWDS = (1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3)  # how many objects, as likely
_SMALLEST_SIDE = 12  # pixels
_SMALLEST_SHARE = 0.01  # of the picture's area
_LEAST_VISIBLE = 0.6  # of the object's pixels in the picture
_SEEN = 128  # of 255: more than half of the pixel


@dataclasses.dataclass(frozen=True, eq=False)
class Scene:
    """A picture, its label, and for each object of that label its box and pixels."""

    image: types.Image
    boxes: Float[np.ndarray, "T 4"]
    label: str
    masks: Bool[np.ndarray, "T H W"]


def draw(label: str, seed: int) -> Scene:
    """The scene of this label and seed, with 1 to 3 objects, mostly one.

    Raises:
      ValueError: if `label` is not one of CLASSES.
    """
    if label not in objects.KINDS:
        raise ValueError(
            f"no class {label!r} in the toy world, wanted any of {CLASSES}"
        )
    # a scene that shows too little of its objects is drawn anew, from the next attempt
    attempts = (_drawn(label, seed, attempt) for attempt in itertools.count())
    return next(scene for scene in attempts if scene is not None)


def data_set(classes: Sequence[str], per_class: int, seed: int) -> Iterator[Scene]:
    """`per_class` scenes of each class in turn; each seed gives other scenes."""
    for label in classes:
        for k in range(per_class):
            yield draw(label, seed * 1_000_003 + k)


def _drawn(label: str, seed: int, attempt: int) -> Scene | None:
    rng = chance.generator(label, seed, attempt)
    canvas = _painted(label, rng)
    masks = np.stack(canvas.masks) >= _SEEN
    if not _well_visible(canvas, masks):
        return None
    image = types.Image(camera.developed(canvas.pixels, rng))
    return Scene(image, _tight_boxes(masks), label, masks)


def _painted(label: str, rng: np.random.Generator) -> Canvas:
    """From far to near: background, distractors, the objects, what hides them."""
    kind, palette = objects.KINDS[label], colours.Palette(rng)
    count = chance.one_of(rng, _CROWDS)
    crowd = [objects.posed(kind, rng, palette) for _ in range(count)]
    canvas = framing.canvas_for(crowd[0], rng)
    placed = framing.placed(crowd, kind, canvas, rng)
    horizon = _horizon(canvas, placed, rng)
    likely = kind.grounds if chance.coin(rng, 0.7) else tuple(backgrounds.BACKGROUNDS)
    background = backgrounds.BACKGROUNDS[chance.one_of(rng, likely)]
    background(canvas, rng, palette, horizon)
    for _ in range(int(rng.integers(2, 8))):
        _strew(canvas, clutter.distractor(label, rng, palette), horizon, rng)
    for thing in placed:
        if kind.standing and chance.coin(rng, 0.8):
            _cast_shadow(canvas, thing, rng)
        canvas.add(thing)
    for thing in placed:
        if chance.coin(rng, 0.4):
            occluders.occlude(canvas, rng, palette, thing)
    return canvas


def _horizon(
    canvas: Canvas, placed: list[parts.Thing], rng: np.random.Generator
) -> float:
    """Where the ground begins: above the feet of all objects, if they allow it."""
    foot = min(float(parts.extent(thing)[3]) for thing in placed)
    lowest = max(0.3 * canvas.height, min(foot - 4, 0.8 * canvas.height))
    return rng.uniform(0.25 * canvas.height, lowest)


def _strew(
    canvas: Canvas, thing: parts.Thing, horizon: float, rng: np.random.Generator
) -> None:
    """Sets a distractor anywhere, mostly on the ground."""
    x0, y0, x1, y1 = parts.extent(thing).tolist()
    side = rng.uniform(0.08, 0.42) * np.sqrt(canvas.width * canvas.height)
    scale = float(side / np.sqrt((x1 - x0) * (y1 - y0)))
    foot = rng.uniform(horizon, 1.05 * canvas.height)
    if chance.coin(rng, 0.1):
        foot = rng.uniform(0, horizon)
    middle = (rng.uniform(0, canvas.width), foot - scale * (y1 - y0) / 2)
    thing = parts.fitted(thing, middle, scale)
    if foot > horizon:
        _cast_shadow(canvas, thing, rng)
    canvas.paint(thing)


def _cast_shadow(canvas: Canvas, thing: parts.Thing, rng: np.random.Generator) -> None:
    x0, _, x1, y1 = parts.extent(thing).tolist()
    wide = (x1 - x0) / 2
    flat = wide * rng.uniform(0.04, 0.14) + 2
    x = (x0 + x1) / 2 + wide * rng.uniform(-0.25, 0.25)
    shadow = shapes.ellipse(x, y1 - flat / 3, wide, flat)
    canvas.shade(shadow, rng.uniform(0.3, 0.7), 1 + flat / 4)


def _well_visible(canvas: Canvas, masks: Bool[np.ndarray, "T H W"]) -> bool:
    """Whether every object shows enough of itself for a person to box it."""
    visible = np.count_nonzero(masks, axis=(1, 2))
    if not visible.all() or (visible < _LEAST_VISIBLE * np.array(canvas.sizes)).any():
        return False
    found = _tight_boxes(masks)
    least = _SMALLEST_SHARE * canvas.width * canvas.height
    sides = found[:, 2:] - found[:, :2]
    return bool((sides >= _SMALLEST_SIDE).all() and (boxes.areas(found) >= least).all())


def _tight_boxes(masks: Bool[np.ndarray, "T H W"]) -> Float[np.ndarray, "T 4"]:
    """The half-open box around the pixels of each mask."""
    found = []
    for mask in masks:
        xs, ys = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
        found.append((xs[0], ys[0], xs[-1] + 1, ys[-1] + 1))
    return np.array(found, np.float64)
