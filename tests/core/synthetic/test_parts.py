"""Geometry of the toy world against plain matrices."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import synthetic as oracle

from belvedere.core.synthetic import chance, colours, framing, objects, parts, shapes

numbers = st.floats(-5, 5)
maps = st.builds(parts.Affine, *[numbers] * 6)


@settings(max_examples=50, deadline=None)
@given(maps, maps, st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5))
def test_affine_maps_compose_as_matrices_do(first, second, points):
    both = second.after(first)
    np.testing.assert_allclose(
        oracle.matrix(both), oracle.matrix(second) @ oracle.matrix(first), atol=1e-9
    )
    array = np.array(points)
    homogeneous = np.concatenate([array, np.ones((len(array), 1))], axis=1)
    wanted = (oracle.matrix(both) @ homogeneous.T).T[:, :2]
    np.testing.assert_allclose(both.applied(array), wanted, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.floats(-180, 180), st.floats(0.1, 9), st.floats(0.2, 2), st.booleans())
def test_affine_is_mirror_squeeze_turn_scale_shift(degrees, scale, squeeze, mirror):
    angle = np.deg2rad(degrees)
    rotation = np.array(
        [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    )
    linear = scale * rotation @ np.diag([-squeeze if mirror else squeeze, 1])
    frame = parts.affine(degrees, scale, squeeze, mirror, (3.0, -2.0))
    np.testing.assert_allclose(oracle.matrix(frame)[:2, :2], linear, atol=1e-9)
    np.testing.assert_allclose(oracle.matrix(frame)[:2, 2], (3, -2))


def test_a_fitted_thing_has_the_wanted_middle_and_size():
    for label, kind in objects.KINDS.items():
        rng = chance.generator(label, 1, 0)
        thing = objects.posed(kind, rng, colours.Palette(rng))
        x0, y0, x1, y1 = parts.extent(thing)
        left, top, right, bottom = parts.extent(parts.fitted(thing, (70.0, 40.0), 3.0))
        np.testing.assert_allclose((left + right, top + bottom), (140, 80))
        np.testing.assert_allclose(
            (right - left, bottom - top), (3 * (x1 - x0), 3 * (y1 - y0))
        )


def test_containers_go_beyond_what_they_contain():
    """Figures and tables around balls, branches under birds, riders on bicycles."""
    for label in ("ball", "bicycle", "bird", "bottle", "caterpillar"):
        larger = 0
        for seed in range(20):
            rng = chance.generator(label, seed, 0)
            thing = objects.posed(objects.KINDS[label], rng, colours.Palette(rng))
            around = [piece for piece in thing if not piece.own]
            if around:
                own, other = parts.extent(thing), parts.extent(around)
                larger += (other[:2] < own[:2]).any() or (other[2:] > own[2:]).any()
        assert 3 <= larger < 20, label


def test_things_of_a_crowd_are_placed_apart_and_mostly_in_the_picture():
    kind = objects.KINDS["car"]
    for seed in range(20):
        rng = chance.generator("crowd", seed, 0)
        crowd = [objects.posed(kind, rng, colours.Palette(rng)) for _ in range(3)]
        canvas = framing.canvas_for(crowd[0], rng)
        placed = framing.placed(crowd, kind, canvas, rng)
        assert 1 <= len(placed) <= 3
        for thing in placed:
            x0, y0, x1, y1 = parts.extent(thing)
            width, height = x1 - x0, y1 - y0
            assert x0 >= -0.26 * width and x1 <= canvas.width + 0.26 * width
            assert y0 >= -0.26 * height and y1 <= canvas.height + 0.26 * height


def test_a_ring_is_hollow():
    ring = shapes.ring(0, 0, 2, 1)
    points = np.array([[0.0, 0.1], [1.5, 0.1], [-1.4, -0.3], [2.5, 0.1]])
    assert oracle.inside(points, ring).tolist() == [False, True, True, False]


def test_a_bar_is_a_limb_of_two_points():
    bar = shapes.bar((1.0, 2.0), (4.0, -1.0), 0.6, 0.2)
    limb = shapes.limb(np.array([[1.0, 2.0], [4.0, -1.0]]), np.array([0.3, 0.1]))
    rng = np.random.default_rng(0)
    points = rng.uniform((0, -2), (5, 3), (400, 2))
    np.testing.assert_array_equal(
        oracle.inside(points, bar), oracle.inside(points, limb)
    )


@settings(max_examples=20, deadline=None)
@given(st.floats(-180, 180))
def test_smoothing_stays_within_the_polygon_it_smooths(degrees):
    square = shapes.turned(shapes.rectangle(-1, -1, 1, 1), degrees)
    soft = shapes.smooth(square, 3)
    assert oracle.inside(0.99 * soft, square).all()
    assert len(soft) == 8 * len(square)
