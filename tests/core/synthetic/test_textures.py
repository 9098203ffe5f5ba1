"""Patterns, noise and camera: ranges, periods, and no effect on what goes in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.core.synthetic import camera, chance, colours, textures

PATTERNS = [
    textures.plain, textures.ramp, textures.clouds, textures.stripes,
    textures.straight_stripes, textures.spots, textures.patches, textures.checks,
    textures.scales, textures.bricks, textures.tiles, textures.planks, textures.floor,
]  # fmt: skip
PERIODIC = {  # pattern -> a shift (u, v) that leaves it as it was
    textures.straight_stripes: (1, 0),
    textures.stripes: (1, 0),
    textures.spots: (1, 1),
    textures.checks: (1, 1),
    textures.scales: (1, 2),
    textures.bricks: (2, 2),
    textures.tiles: (1, 1),
    textures.planks: (0, 1),
}


def coordinates(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-9, 9, (2, 12, 15)).astype(np.float32)
    return [u, v, textures.noise(1, 12, 15, (seed, 3 * seed))]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_a_pattern_is_a_share_of_the_second_colour(pattern, seed):
    share = pattern(*coordinates(seed))
    assert share.dtype == np.float32 and share.shape == (12, 15)
    assert share.min() >= 0 and share.max() <= 1


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_shows_something(pattern):
    assert np.ptp(pattern(*coordinates(1))) > 0.1


@pytest.mark.parametrize("pattern", PERIODIC)
def test_a_pattern_repeats(pattern):
    u, v, grain = coordinates(2)
    du, dv = PERIODIC[pattern]
    moved = pattern(u + np.float32(du), v + np.float32(dv), grain)
    np.testing.assert_allclose(moved, pattern(u, v, grain), atol=1e-3)


@settings(max_examples=25, deadline=None)
@given(
    octave=st.integers(0, len(textures.OCTAVES) - 1),
    height=st.integers(1, 500),
    width=st.integers(1, 500),
    offset=st.tuples(st.integers(0, 5000), st.integers(0, 5000)),
    stretch=st.integers(1, 6),
)
def test_noise_has_the_wanted_shape_and_range(octave, height, width, offset, stretch):
    piece = textures.noise(octave, height, width, offset, stretch)
    assert piece.shape == (height, width) and np.abs(piece).max() <= 1
    again = textures.noise(octave, height, width, offset, stretch)
    np.testing.assert_array_equal(piece, again)


def test_coarser_octaves_change_more_slowly():
    steps = []
    for octave in range(len(textures.OCTAVES)):
        piece = textures.noise(octave, 300, 300, (0, 0))
        assert 0.1 < piece.std() < 0.7
        steps.append(np.abs(np.diff(piece, axis=1)).mean() / piece.std())
    assert steps == sorted(steps, reverse=True)


def test_the_camera_leaves_the_canvas_alone_and_keeps_the_picture_recognisable():
    painted = np.zeros((90, 120, 3), np.uint8)
    painted[20:70, 30:90] = (200, 140, 60)
    kept = painted.copy()
    for seed in range(10):
        photograph = camera.developed(painted, chance.generator("camera", seed, 0))
        np.testing.assert_array_equal(painted, kept)
        assert photograph.shape == painted.shape and photograph.dtype == np.uint8
        inner, outer = photograph[30:60, 40:80].mean(), photograph[:10].mean()
        assert inner > outer + 40
        noisy = photograph[30:60, 40:80].astype(float)
        assert 0.5 < noisy.std(axis=(0, 1)).mean() < 40


def test_colours_stay_in_range():
    rng = chance.generator("colours", 0, 0)
    palette = colours.Palette(rng)
    for draw in (colours.natural, colours.vivid, colours.leafy, palette.pick):
        drawn = np.stack([draw(rng) for _ in range(50)])
        assert drawn.min() >= 0 and drawn.max() <= 255 and drawn.std() > 10
    assert colours.scaled(np.full(3, 200.0), 2.0).max() == 255
