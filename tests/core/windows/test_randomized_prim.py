"""Randomized Prim on pictures: what is found, the grid, sizes, odd pictures."""

import numpy as np
import pytest
import scipy.ndimage
from oracles import randomized_prim as oracle

from belvedere.core.types import Image
from belvedere.core.windows import randomized_prim, shrinking_compiled
from belvedere.core.windows.randomized_prim import PrimSettings

NATIVE = PrimSettings(max_side=500)


def _textured(seed: int, height: int = 375, width: int = 500) -> Image:
    """Smooth noise at several scales, ellipses of other textures, grain."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]

    def texture() -> np.ndarray:
        layers = [
            scipy.ndimage.zoom(
                rng.normal(size=(-(-height // s), -(-width // s))), s, order=1
            )
            for s in (4, 16, 64)
        ]
        mixed = sum(
            a * layer[:height, :width]
            for a, layer in zip(rng.uniform(12, 40, 3), layers, strict=True)
        )
        return rng.uniform(50, 200, 3) + mixed[..., None] * rng.uniform(0.6, 1.4, 3)

    picture = texture()
    for _ in range(25):
        cx, cy, r = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(20, 110)
        shape = np.hypot(x - cx, (y - cy) * rng.uniform(0.7, 2.0)) < r
        picture = np.where(shape[..., None], texture(), picture)
    picture += rng.normal(0, 4, picture.shape)
    return Image(np.clip(picture, 0, 255).astype(np.uint8))


def test_budget_is_the_authors_rule() -> None:
    assert PrimSettings().draws == 3125
    assert PrimSettings(spaces=("lab",)).draws == 12_500
    assert PrimSettings(k=(100.0, 200.0)).draws == 1562


@pytest.mark.parametrize("seed", range(3))
def test_textured_pictures_are_as_the_authors_program_sees_them(seed: int) -> None:
    """Superpixels, draws and distinct boxes in the ranges that program shows."""
    image = _textured(seed)
    graph = randomized_prim.graph(image, NATIVE)
    counts = np.diff(graph.first)
    assert ((counts > 80) & (counts < 300)).all()
    rng = np.random.default_rng(seed)
    boxes, draws = randomized_prim.sample(graph, 500, 375, NATIVE, rng)
    assert len(boxes) == 1000
    assert 1500 < draws < 4500
    every = PrimSettings(max_side=500, windows=100_000)
    distinct, draws = randomized_prim.sample(graph, 500, 375, every, rng)
    assert draws == 12_500
    assert 1500 < len(distinct) < 4000


def test_windows_are_distinct_on_the_grid_and_inside() -> None:
    windows = randomized_prim.propose(_textured(4), NATIVE, np.random.default_rng(1))
    corners = np.floor(windows.boxes / 10 + 0.5).astype(int)
    assert len(np.unique(corners, axis=0)) == len(windows) == 1000
    assert windows.boxes.min() == 0
    assert (windows.boxes[:, 2:].max(axis=0) == [500, 375]).all()


def test_same_seed_same_windows_and_a_shorter_list_is_a_prefix() -> None:
    image = _textured(5, 120, 160)

    def propose(seed: int, wanted: int) -> np.ndarray:
        chosen = PrimSettings(windows=wanted)
        return randomized_prim.propose(image, chosen, np.random.default_rng(seed)).boxes

    np.testing.assert_array_equal(propose(1, 300), propose(1, 300))
    np.testing.assert_array_equal(propose(1, 40), propose(1, 300)[:40])
    assert not np.array_equal(propose(1, 40), propose(2, 40))


def test_enlarged_picture_has_the_same_windows_enlarged() -> None:
    image = _textured(6, 60, 100)
    tripled = Image(image.pixels.repeat(3, 0).repeat(3, 1))
    chosen = PrimSettings(max_side=100)
    small = randomized_prim.propose(image, chosen, np.random.default_rng(0))
    large = randomized_prim.propose(tripled, chosen, np.random.default_rng(0))
    np.testing.assert_array_equal(large.boxes, 3 * small.boxes)
    assert (large.width, large.height) == (300, 180)


@pytest.mark.parametrize("size", [(5, 7), (1, 3), (10, 16), (9, 16), (10, 1)])
def test_shrinking_averages_areas(size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (10, 16, 3), dtype=np.uint8)
    got = shrinking_compiled.shrink(pixels, *size)
    for c in range(3):
        np.testing.assert_array_equal(got[..., c], oracle.shrink(pixels[..., c], *size))


def test_long_pictures_are_shrunk_to_the_side_given() -> None:
    image = Image(np.zeros((900, 300, 3), np.uint8)[::-1])
    small = randomized_prim.shrunk(image, 250)
    assert (small.height, small.width) == (250, 83)
    assert randomized_prim.shrunk(small, 250) is small


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 40), (700, 1), (2, 2), (2, 300), (3, 3), (1, 4000)]
)
@pytest.mark.parametrize("kind", ["black", "noise"])
def test_tiny_pictures_have_the_whole_as_a_window(
    shape: tuple[int, int], kind: str
) -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8) * (kind == "noise")
    windows = randomized_prim.propose(Image(pixels), PrimSettings(), rng)
    assert [0.0, 0.0, shape[1], shape[0]] in windows.boxes.tolist()


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (9, 9, 9), (1, 0, 200)])
def test_uniform_pictures_have_one_window(colour: tuple[int, int, int]) -> None:
    pixels = np.full((90, 120, 3), colour, np.uint8)
    windows = randomized_prim.propose(
        Image(pixels), PrimSettings(), np.random.default_rng(0)
    )
    assert windows.boxes.tolist() == [[0, 0, 120, 90]]


def test_grey_pictures_and_every_memory_layout_are_read() -> None:
    grey = _textured(7, 180, 240).pixels[..., :1].repeat(3, axis=2)
    flipped = grey[::-1, ::-1]
    for max_side in (120, 240):
        boxes = [
            randomized_prim.propose(
                Image(pixels), PrimSettings(max_side=max_side), np.random.default_rng(0)
            ).boxes
            for pixels in (flipped, flipped.copy())
        ]
        assert len(boxes[0]) > 20
        np.testing.assert_array_equal(*boxes)


def test_a_box_of_its_own_colour_is_found() -> None:
    image = _textured(8, 200, 250).pixels.copy()
    image[60:140, 90:190] = [250, 20, 240]
    boxes = randomized_prim.propose(
        Image(image), PrimSettings(), np.random.default_rng(0)
    ).boxes
    distance = np.abs(boxes - [90, 60, 190, 140]).max(axis=1)
    assert distance.min() <= 3


def test_default_sizes_rise_through_the_known_points() -> None:
    sizes = randomized_prim.default_sizes()
    assert (np.diff(sizes) >= 0).all()
    for fraction, share in ((0.01, 0.223), (0.1, 0.589), (0.5, 0.932), (0.95, 1.0)):
        assert sizes[round(65_535 * fraction)] == pytest.approx(share, abs=2e-3)


def test_learned_sizes_count_smaller_objects() -> None:
    fractions = np.array([0.2, 0.5, 0.5, 0.9])
    sizes = randomized_prim.learned_sizes(fractions)
    at = np.round(65_535 * np.array([0.1, 0.3, 0.6, 0.95])).astype(int)
    assert sizes[at].tolist() == [0.0, 0.25, 0.75, 1.0]
    with pytest.raises(ValueError, match="area fractions"):
        randomized_prim.learned_sizes(np.array([0.2, 1.5]))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"windows": 0}, "windows is 0"),
        ({"grid": 0.5}, "grid is 0.5"),
        ({"k": ()}, "no segmentation"),
        ({"sizes": np.array([0.0, 0.7, 0.5])}, "do not rise"),
        ({"sizes": np.array([0.5, 1.5])}, "do not rise"),
        ({"sizes": np.array([0.0, np.nan])}, "do not rise"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PrimSettings(**wrong)
