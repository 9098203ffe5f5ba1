"""Superpixels against a slow twin with sets and fractions, exactly."""

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import superpixels as oracle

from belvedere.core.windows import superpixels


def _both(
    channels: np.ndarray, k: float, sigma: float, min_size: int
) -> tuple[np.ndarray, np.ndarray]:
    half = superpixels.gaussian(sigma)
    slow = oracle.segment(channels, k, half, min_size, superpixels.STEPS)
    return superpixels.segment(channels, k, sigma, min_size), slow


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    levels=st.sampled_from([2, 3, 40, 256]),
    k=st.sampled_from([0.0, 3.5, 20.0, 100.0, 400.0]),
    sigma=st.sampled_from([0.3, 0.8]),
    min_size=st.integers(1, 12),
)
def test_equals_the_slow_twin_on_random_pictures(
    seed: int,
    height: int,
    width: int,
    levels: int,
    k: float,
    sigma: float,
    min_size: int,
) -> None:
    rng = np.random.default_rng(seed)
    channels = rng.integers(0, levels, (3, height, width)) * (255 // (levels - 1))
    fast, slow = _both(channels.astype(np.uint8), k, sigma, min_size)
    np.testing.assert_array_equal(fast, slow)


def _structured() -> dict[str, np.ndarray]:
    y, x = np.mgrid[:22, :26]
    rng = np.random.default_rng(1)
    discs = np.stack(
        [
            60 + 120 * ((y - 8) ** 2 + (x - 9) ** 2 < 30),
            40 + 9 * x,
            200 - 150 * (x + y > 30),
        ]
    )
    return {
        "ramp": np.stack([9 * x, 9 * y, 5 * (x + y)]),
        "stripes": np.stack([255 * (x // 3 % 2), 255 * (y // 4 % 2), 0 * x]),
        "checkerboard": np.stack([255 * ((x + y) % 2)] * 3),
        "discs": discs,
        "noisy discs": discs + rng.integers(-25, 26, discs.shape),
        "uniform": np.full((3, 22, 26), 77),
    }


@pytest.mark.parametrize("name", _structured())
@pytest.mark.parametrize("min_size", [1, 20])
def test_equals_the_slow_twin_on_structured_pictures(name: str, min_size: int) -> None:
    channels = np.clip(_structured()[name], 0, 255).astype(np.uint8)
    fast, slow = _both(channels, 30.0, 0.8, min_size)
    np.testing.assert_array_equal(fast, slow)


def test_smoothing_is_a_clamped_gaussian() -> None:
    rng = np.random.default_rng(0)
    channels = rng.integers(0, 256, (3, 21, 33), dtype=np.uint8)
    wanted = [
        scipy.ndimage.gaussian_filter(c.astype(float), 0.8, mode="nearest", radius=4)
        for c in channels
    ]
    got = superpixels.smooth(channels, 0.8)
    np.testing.assert_allclose(got, wanted, atol=1e-3)


def test_labels_have_no_gaps_and_no_small_superpixels() -> None:
    rng = np.random.default_rng(2)
    channels = rng.integers(0, 256, (3, 80, 60), dtype=np.uint8)
    labels = superpixels.segment(channels, min_size=40)
    sizes = np.bincount(labels.ravel())
    assert sizes.min() >= 40
    firsts = np.unique(labels, return_index=True)[1]
    assert (np.diff(firsts) > 0).all()


def test_superpixels_are_connected() -> None:
    rng = np.random.default_rng(4)
    channels = rng.integers(0, 256, (3, 50, 60), dtype=np.uint8)
    labels = superpixels.segment(channels, min_size=10)
    for label in range(labels.max() + 1):
        assert scipy.ndimage.label(labels == label, np.ones((3, 3)))[1] == 1


def test_the_same_every_time() -> None:
    rng = np.random.default_rng(5)
    channels = rng.integers(0, 256, (3, 64, 64), dtype=np.uint8)
    first = superpixels.segment(channels)
    np.testing.assert_array_equal(first, superpixels.segment(channels.copy()))


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (2, 2), (2, 400)])
def test_thin_pictures_are_segmented(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    channels = rng.integers(0, 256, (3, *shape), dtype=np.uint8)
    sizes = np.bincount(superpixels.segment(channels).ravel())
    assert sizes.sum() == shape[0] * shape[1]
    assert sizes.min() >= min(100, sizes.sum())


def test_larger_k_gives_fewer_superpixels() -> None:
    rng = np.random.default_rng(7)
    noise = rng.integers(0, 256, (3, 90, 120)).astype(float)
    blobs = scipy.ndimage.gaussian_filter(noise, (0, 5, 5))
    blobs = (255 * (blobs - blobs.min()) / np.ptp(blobs)).astype(np.uint8)
    counts = [
        superpixels.segment(blobs, k, min_size=1).max()
        for k in (20.0, 80.0, 320.0, 1280.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 2 * counts[-1]


@pytest.mark.parametrize("wrong", [{"sigma": 0.0}, {"k": -1.0}, {"k": float("nan")}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        superpixels.segment(np.zeros((3, 4, 4), np.uint8), **wrong)
