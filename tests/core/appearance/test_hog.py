import numpy as np
import pytest
from oracles import appearance as oracle

from belvedere.core.appearance import energy_compiled, hog, views
from belvedere.core.types import Image


def test_the_map_keeps_the_strongest_gradient(picture):
    seen, kind = views.Views(picture(9, 13)), hog.Hog()
    planes = [seen.plane(name, kind.sigma).astype(np.float64) for name in views.RGB]
    found = kind.describe(seen)
    for y in range(9):
        for x in range(13):
            at = (y + views.MARGIN, x + views.MARGIN)
            dx, dy = max((oracle.gradient(p, *at) for p in planes), key=np.linalg.norm)
            assert abs(found.strength[y, x] / 64 - np.hypot(dx, dy)) < 0.01
            turn = found.direction[y, x] / 252 * 2 * np.pi
            assert np.cos(turn - np.arctan2(dy, dx)) > np.cos(np.pi / 250)


@pytest.mark.parametrize("block", [1, 3, 4])
def test_the_integral_image_adds_up_the_map(picture, block):
    seen = hog.Hog().describe(views.Views(picture(21, 33)))
    total = energy_compiled.integral(seen.strength, seen.direction, block)
    assert total.shape == (-(-21 // block) + 1, -(-33 // block) + 1, 18)
    low, second = np.divmod(seen.direction.astype(int), 14)
    for i, j in ((1, 2), (3, 5), (-1, -1)):
        y, x = min(21, i % len(total) * block), min(33, j % total.shape[1] * block)
        wanted = np.zeros(18)
        part = seen.strength[:y, :x] / 64
        np.add.at(wanted, low[:y, :x], part * (1 - second[:y, :x] / 14))
        np.add.at(wanted, (low[:y, :x] + 1) % 18, part * second[:y, :x] / 14)
        np.testing.assert_allclose(total[i, j], wanted, rtol=1e-9)


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("sigma", [0.0, 1.2])
def test_windows_are_the_direct_computation(picture, windows, block, sigma):
    kind, boxes = hog.Hog(block=block, sigma=sigma), windows(8, 46, 37)
    seen = kind.describe(views.Views(picture(37, 46)))
    energy = oracle.energies(seen.strength / 64, seen.direction / 14, block)
    for found, box in zip(kind.read(seen, boxes), boxes, strict=True):
        wanted = oracle.hog(energy, box, kind.floor)
        np.testing.assert_allclose(found, wanted, atol=5e-4)


def test_projection_is_that_of_the_windows(picture, windows):
    kind, boxes = hog.Hog(), windows(30, 80, 60)
    seen = kind.describe(views.Views(picture(60, 80)))
    rng = np.random.default_rng(2)
    matrix, offset = rng.normal(size=(2048, 10)).astype(np.float32), rng.normal(size=10)
    wanted = kind.read(seen, boxes).astype(np.float64) @ matrix + offset
    np.testing.assert_allclose(
        kind.project(seen, boxes, matrix, offset), wanted, rtol=1e-5, atol=1e-5
    )


def test_channels_of_a_window(picture, windows):
    kind, boxes = hog.Hog(), windows(20, 80, 60)
    read = kind.read(kind.describe(views.Views(picture(60, 80))), boxes)
    assert kind.length == read.shape[1] == 2048
    np.testing.assert_allclose(np.linalg.norm(read, axis=1), 1, atol=1e-5)
    cells = read.reshape(-1, 8, 8, 32)
    assert (cells >= 0).all() and not cells[..., 31].any()
    assert cells[..., :31].any(axis=(0, 1, 2)).all()


def test_contrast_changes_nothing():
    dark = np.random.default_rng(3).integers(0, 60, (40, 40, 3)).astype(np.uint8)
    box = np.array([[4.0, 3, 37, 38]])
    kind = hog.Hog()
    one, other = (
        kind.read(kind.describe(views.Views(Image(pixels))), box)
        for pixels in (dark, (dark * 4 + 10).astype(np.uint8))
    )
    np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_vertical_edge_is_seen_where_it_is():
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:, 28:] = 200  # dark to bright, to the right: direction 0
    kind = hog.Hog()
    seen = kind.describe(views.Views(Image(pixels)))
    cells = kind.read(seen, np.array([[0.0, 0, 64, 64]])).reshape(8, 8, 32)
    assert set(cells[:, :, 0].argmax(axis=1)) <= {3}
    assert cells[..., :18].sum(axis=(0, 1)).argmax() == 0
    assert not cells[:, [0, 1, 6, 7], :31].any()


def test_a_uniform_picture_is_zero():
    kind = hog.Hog()
    seen = kind.describe(views.Views(Image(np.full((20, 30, 3), 90, np.uint8))))
    boxes = np.array([[0.0, 0, 30, 20], [3, 3, 4, 4]])
    offset = np.arange(3.0)
    assert not kind.read(seen, boxes).any()
    found = kind.project(seen, boxes, np.ones((2048, 3), np.float32), offset)
    np.testing.assert_array_equal(found, [offset, offset])


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match="blocks of 0"):
        hog.Hog(block=0)
    with pytest.raises(ValueError, match=r"floor is 0\.0"):
        hog.Hog(floor=0.0)
