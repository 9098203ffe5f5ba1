import numpy as np
import pytest
from oracles import appearance as oracle

from belvedere.core.appearance import patches, sift, surf, views
from belvedere.core.types import Image

LAYOUTS = [(4, 4), (2, 4), (1, 4), (3, 4), (4, 8), (4, 6), (5, 2)]


def centres(local, seen):
    grid = local.layout.grid(seen.image)
    return [
        (grid.start + i * grid.step, grid.start + j * grid.step)
        for i in range(grid.rows)
        for j in range(grid.columns)
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sift_is_the_direct_computation(picture, layout):
    seen = views.Views(picture(23, 30))
    local = sift.Sift(("intensity",), patches.Layout(*layout), flat=0.0)
    found = local.describe(seen)
    plane = seen.plane("intensity", local.sigma).astype(np.float64)
    every = centres(local, seen)
    assert len(found) == len(every)
    for n in np.linspace(0, len(every) - 1, 5).astype(int):
        cy, cx = np.add(every[n], views.MARGIN)
        wanted = oracle.sift(plane, cy, cx, layout[1])
        np.testing.assert_allclose(found[n], wanted, atol=0.6)  # rounded to integers


@pytest.mark.parametrize("layout", LAYOUTS)
def test_surf_is_the_direct_computation(picture, layout):
    seen = views.Views(picture(23, 30))
    local = surf.Surf(layout=patches.Layout(*layout), flat=0.0)
    found = local.describe(seen)
    plane = seen.plane("intensity", local.sigma).astype(np.float64)
    every = centres(local, seen)
    assert len(found) == len(every)
    for n in np.linspace(0, len(every) - 1, 5).astype(int):
        cy, cx = np.add(every[n], views.MARGIN)
        wanted = oracle.surf(plane, cy, cx, layout[1])
        np.testing.assert_allclose(found[n], wanted, atol=0.6)


@pytest.mark.parametrize("planes", [("intensity",), views.OPPONENT, views.RGB])
def test_channels_stand_side_by_side_each_of_length_512(picture, planes):
    seen = views.Views(picture(40, 40))
    found = sift.Sift(planes).describe(seen)
    assert found.shape == (100, 128 * len(planes))
    for channel, plane in enumerate(planes):
        part = found[:, 128 * channel : 128 * (channel + 1)]
        np.testing.assert_array_equal(part, sift.Sift((plane,)).describe(seen))
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 512, rtol=0.02)


def test_no_number_is_far_above_the_clip(picture):
    found = sift.Sift(("intensity",)).describe(views.Views(picture(40, 40)))
    assert 0 <= found.min() and found.max() < 512 * 0.45


def test_contrast_and_brightness_change_nothing():
    rng = np.random.default_rng(3)
    dark = rng.integers(0, 60, (40, 40, 3)).astype(np.uint8)
    bright = (dark * 4 + 10).astype(np.uint8)
    for local in (
        sift.Sift(views.RGB, flat=0.0),
        sift.Sift(views.OPPONENT, flat=0.0),
        surf.Surf(flat=0.0),
    ):
        a = local.describe(views.Views(Image(dark))).astype(int)
        b = local.describe(views.Views(Image(bright))).astype(int)
        assert abs(a - b).max() <= 1


def test_patches_without_contrast_are_zero():
    rng = np.random.default_rng(4)
    faint = rng.integers(100, 102, (30, 30, 3)).astype(np.uint8)
    uniform = np.full((30, 30, 3), 77, np.uint8)
    for pixels in (faint, uniform):
        seen = views.Views(Image(pixels))
        assert not sift.Sift(views.OPPONENT).describe(seen).any()
        assert not surf.Surf().describe(seen).any()
    assert sift.Sift(views.RGB, flat=0.0).describe(views.Views(Image(faint))).any()


def test_the_least_contrast_is_that_of_a_ramp():
    ramp = (40 + 3 * np.arange(60)).astype(np.uint8)  # 6 grey levels per two pixels
    seen = views.Views(Image(np.broadcast_to(ramp[:, None], (60, 60, 3)).copy()))
    middle = 7 * 15 + 7
    assert sift.Sift(("intensity",), flat=5.9).describe(seen)[middle].any()
    assert not sift.Sift(("intensity",), flat=6.1).describe(seen)[middle].any()


def test_a_grey_picture_has_no_opponent_colours(picture):
    grey = picture(30, 30).pixels[:, :, :1].repeat(3, axis=2)
    found = sift.Sift(views.OPPONENT).describe(views.Views(Image(grey)))
    assert not found[:, :256].any() and found[:, 256:].any(axis=1).all()


def test_turning_the_picture_turns_the_descriptor(picture):
    """A half turn reverses the bins and shifts the orientations by half a turn."""
    pixels = picture(32, 32).pixels
    there = sift.Sift(("red",)).describe(views.Views(Image(pixels)))
    back = sift.Sift(("red",)).describe(views.Views(Image(pixels[::-1, ::-1].copy())))
    turned = np.roll(back[::-1].reshape(-1, 4, 4, 8)[:, ::-1, ::-1], 4, axis=3)
    assert abs(there - turned.reshape(there.shape)).max() <= 1


@pytest.mark.parametrize("side", [0, 3, 14])
def test_impossible_bins_are_refused(side):
    with pytest.raises(ValueError, match=f"bins of {side}"):
        patches.Layout(4, side)


def test_a_step_of_nothing_is_refused():
    with pytest.raises(ValueError, match="step is 0"):
        patches.Layout(0, 4)
