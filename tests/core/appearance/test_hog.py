import numpy as np
import pytest
from oracles import appearance as oracle

from belvedere.core.appearance import hog, views
from belvedere.core.types import Image


def test_the_map_is_the_sum_of_energies(picture):
    seen, kind = views.Views(picture(21, 33)), hog.Hog(block=4)
    planes = [seen.plane(name, kind.sigma).astype(np.float64) for name in views.RGB]
    energy = oracle.energies(planes, views.MARGIN, 21, 33, 1)
    total = kind.describe(seen).total
    assert total.shape == (7, 10, 18)
    np.testing.assert_allclose(total[-1, -1], energy.sum(axis=(0, 1)), rtol=1e-4)
    np.testing.assert_allclose(
        total[2, 3], energy[:8, :12].sum(axis=(0, 1)), rtol=1e-3, atol=0.1
    )


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("sigma", [0.0, 1.2])
def test_windows_are_the_direct_computation(picture, windows, block, sigma):
    seen = views.Views(picture(37, 46))
    kind = hog.Hog(block=block, sigma=sigma)
    planes = [seen.plane(name, sigma).astype(np.float64) for name in views.RGB]
    energy = oracle.energies(planes, views.MARGIN, 37, 46, block)
    boxes = windows(6, 46, 37)
    for found, box in zip(kind.read(kind.describe(seen), boxes), boxes, strict=True):
        np.testing.assert_allclose(found, oracle.hog(energy, box, kind.floor), atol=1e-3)


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
    read = kind.read(kind.describe(views.Views(Image(pixels))), np.array([[0.0, 0, 64, 64]]))
    cells = read.reshape(8, 8, 32)
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
