"""Colour conversions against their definitions, pixel by pixel."""

import numpy as np
import pytest
from oracles import superpixels as oracle

from belvedere.core.windows import colours


def _some_pixels() -> np.ndarray:
    """Every corner and edge of the colour cube, its greys, and random colours."""
    levels = np.array([0, 1, 2, 3, 127, 128, 254, 255], np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(-1, 3)
    greys = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    rng = np.random.default_rng(3)
    random = rng.integers(0, 256, (4096 - 768, 3), dtype=np.uint8)
    return np.concatenate([cube, greys, random])[None]


def _converted(pixels: np.ndarray, space: str) -> np.ndarray:
    return colours.convert(colours.planes(pixels), space).transpose(1, 2, 0)


@pytest.mark.parametrize("space", ["rg", "hsv"])
def test_pixelwise_spaces_equal_exact_fractions(space: str) -> None:
    pixels = _some_pixels()
    wanted = [getattr(oracle, space)(*map(int, pixel)) for pixel in pixels[0]]
    np.testing.assert_array_equal(_converted(pixels, space)[0], wanted)


def test_opponent_equals_exact_fractions() -> None:
    pixels = _some_pixels()
    np.testing.assert_array_equal(
        _converted(pixels, "opponent"), oracle.opponent(pixels)
    )


def test_lab_rounds_the_definition() -> None:
    pixels = _some_pixels()
    exact = np.array([oracle.lab(*map(int, pixel)) for pixel in pixels[0]])
    got = _converted(pixels, "lab")[0]
    assert np.abs(got - exact).max() <= 0.5 + 1e-9
    sure = np.abs(exact - np.floor(exact) - 0.5) > 1e-9
    np.testing.assert_array_equal(got[sure], np.floor(exact + 0.5)[sure])


def test_constant_channels_and_black_are_defined() -> None:
    black = np.zeros((2, 3, 3), np.uint8)
    for space in ("opponent", "rg", "hsv"):
        assert not _converted(black, space).any()
    assert _converted(black, "lab")[0, 0].tolist() == [0, 128, 128]
    grey = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    opponent = _converted(grey, "opponent")
    assert not opponent[..., :2].any()
    np.testing.assert_array_equal(opponent[..., 2], grey[..., 0])


def test_opponent_reaches_both_ends() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(50, 90, (9, 7, 3), dtype=np.uint8)
    opponent = _converted(pixels, "opponent")
    assert opponent.min(axis=(0, 1)).tolist() == [0, 0, 0]
    assert opponent.max(axis=(0, 1)).tolist() == [255, 255, 255]


def test_any_memory_layout_is_read() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    mirrored = pixels[:, ::-1, ::-1]
    for space in colours.SPACES:
        np.testing.assert_array_equal(
            _converted(mirrored, space), _converted(mirrored.copy(), space)
        )


def test_unknown_space_is_refused() -> None:
    with pytest.raises(ValueError, match="'cmyk'"):
        colours.convert(np.zeros((3, 2, 2), np.uint8), "cmyk")
