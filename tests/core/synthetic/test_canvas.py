"""Painting: what is covered, what stays visible, what a shadow may do."""

import cv2
import numpy as np
import pytest
from oracles import synthetic as oracle

from belvedere.core.synthetic import (
    chance,
    colours,
    materials,
    objects,
    parts,
    shapes,
)
from belvedere.core.synthetic.canvas import Canvas

LIGHT = (0.3, -0.5)


def flat(tone: float) -> materials.Paint:
    colour = np.full(3, tone)
    return materials.Paint(colour, colour, grain=0.0, relief=0.0)


def square(x0, y0, x1, y1, tone=250.0):
    return parts.part(flat(tone), shapes.rectangle(x0, y0, x1, y1))


def test_a_part_covers_its_polygon_and_nothing_else():
    rng = chance.generator("polygon", 0, 0)
    blob = shapes.blob(rng, 20, 16, 14, 10, 0.3)
    canvas = Canvas(40, 32, LIGHT)
    canvas.add([parts.part(flat(250.0), blob)])
    ys, xs = np.mgrid[:32, :40]
    centres = np.stack([xs.ravel(), ys.ravel()], axis=1).astype(float)
    wanted = oracle.inside(centres, blob).reshape(32, 40).astype(np.uint8)
    seen = canvas.masks[0] >= 128
    pixel = np.ones((3, 3), np.uint8)
    assert seen[cv2.erode(wanted, pixel) > 0].all()
    assert not seen[cv2.dilate(wanted, pixel) == 0].any()
    assert (canvas.pixels[canvas.masks[0] == 255] == 250).all()
    assert (canvas.pixels[canvas.masks[0] == 0] == 128).all()


def test_later_things_hide_earlier_ones():
    canvas = Canvas(40, 32, LIGHT)
    canvas.add([square(4, 4, 30, 20)])
    canvas.add([square(20, 10, 36, 28)])
    canvas.paint([square(0, 0, 10, 32)])
    first, second = (mask >= 128 for mask in canvas.masks)
    assert not (first & second).any()
    assert not first[:, :10].any() and not first[12:, 22:].any()
    assert first[6:9, 13:29].all() and second[12:27, 22:35].all()
    assert canvas.sizes[0] == 27 * 17  # as drawn, before anything hid it


def test_dabs_hide_too():
    canvas = Canvas(40, 32, LIGHT)
    canvas.add([square(4, 4, 30, 20)])
    canvas.dab(shapes.rectangle(0, 0, 15, 31)[None], np.full((1, 3), 9.0))
    assert not canvas.masks[0][:, :15].any() and (canvas.pixels[:31, :15] == 9).all()


def test_context_is_painted_but_not_counted():
    canvas = Canvas(40, 32, LIGHT)
    behind = parts.context([square(2, 2, 38, 30)])
    before = parts.context([square(10, 6, 14, 26)])
    canvas.add([*behind, square(10, 8, 20, 24, 60.0), *before])
    assert oracle.box_around(canvas.masks[0] >= 128) == [15, 8, 21, 25]
    assert (canvas.pixels[4, 4:36] == 250).all()


def test_what_leaves_the_picture_is_cut():
    canvas = Canvas(40, 32, LIGHT)
    canvas.add([square(-500, 10, 9, 90000)])
    canvas.paint([square(100, 100, 200, 200)])
    assert oracle.box_around(canvas.masks[0] >= 128) == [0, 10, 10, 32]


def test_a_shadow_darkens_without_hiding():
    canvas = Canvas(40, 32, LIGHT)
    canvas.add([square(4, 4, 30, 20)])
    before, mask = canvas.pixels.copy(), canvas.masks[0].copy()
    canvas.shade(shapes.ellipse(20, 16, 8, 5), 0.5, 2.0)
    np.testing.assert_array_equal(canvas.masks[0], mask)
    assert (canvas.pixels <= before).all()
    assert (canvas.pixels[16, 20] < 0.7 * before[16, 20]).all()


@pytest.mark.parametrize("label", sorted(objects.KINDS))
@pytest.mark.parametrize("seed", range(3))
def test_boxes_of_objects_are_where_the_picture_changes(label, seed):
    """Without their context, nothing is painted off the mask or left out of it."""
    rng = chance.generator(label, seed, 0)
    thing = objects.posed(objects.KINDS[label], rng, colours.Palette(rng))
    own = [piece for piece in thing if piece.own]
    x0, y0, x1, y1 = parts.extent(own)
    canvas = Canvas(200, 160, LIGHT)
    canvas.pixels[:] = np.indices((160, 200)).sum(axis=0)[..., None] % 2 * 255
    before = canvas.pixels.copy()
    scale = 0.8 * min(200 / (x1 - x0), 160 / (y1 - y0))
    canvas.add(parts.fitted(own, (100.0, 80.0), scale))
    changed = oracle.box_around((canvas.pixels != before).any(axis=2))
    box = oracle.box_around(canvas.masks[0] >= 128)
    assert np.abs(np.subtract(changed, box)).max() <= 3


def test_patterns_turn_and_shift_with_the_part():
    """A part moved as a whole keeps its stripes where they were on it."""
    stripe = materials.paint(
        chance.generator("stripe", 0, 0),
        np.full(3, 20.0),
        second=np.full(3, 220.0),
        pattern=lambda u, v, grain: (u - np.floor(u) < 0.5).astype(np.float32),
        scale=8.0,
        grain=0.0,
        relief=0.0,
    )
    here, there = Canvas(60, 60, LIGHT), Canvas(60, 60, LIGHT)
    piece = parts.part(stripe, shapes.rectangle(-100, -100, 100, 100))
    here.paint([piece])
    there.paint(parts.moved([piece], parts.affine(degrees=90, shift=(59.0, 0.0))))
    turned = np.rot90(here.pixels, -1)
    assert (turned == there.pixels).mean() > 0.97
    assert (here.pixels == there.pixels).mean() < 0.8
