"""Pictures and codebooks for the tests of this room."""

import numpy as np
import pytest

from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.types import Image


@pytest.fixture
def picture():
    """Makes a textured picture: noise at three scales, different in each colour."""

    def make(height, width, seed=0, contrast=1.0):
        rng = np.random.default_rng(seed)
        pixels = np.full((height, width, 3), 128.0)
        for cell in (1, 4, 16):
            shape = (-(-height // cell), -(-width // cell), 3)
            noise = rng.normal(0, 22, shape).repeat(cell, 0).repeat(cell, 1)
            pixels += contrast * noise[:height, :width]
        return Image(np.clip(pixels, 0, 255).astype(np.uint8))

    return make


@pytest.fixture
def codebook():
    """Makes a codebook of random words, `branches` of them times `leaves`."""

    def make(name, length, words, branches=1, seed=0, low=0):
        rng = np.random.default_rng(seed)
        starts = np.linspace(0, words, branches + 1).astype(np.int64)
        drawn = rng.integers(low, 120, (branches + words, length)).astype(np.int16)
        return Codebook(name, drawn[:branches], drawn[branches:], starts)

    return make


@pytest.fixture
def windows():
    """Makes boxes with fractional corners; the first is the whole picture."""

    def make(count, width, height, seed=0):
        rng = np.random.default_rng(seed)
        corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1)
        boxes = corners.reshape(count, 4) * [width, height, width, height]
        boxes[0] = (0, 0, width, height)
        return boxes

    return make
