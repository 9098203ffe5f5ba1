"""What an orientation does to a box is what it does to the pixels inside."""

import hostile
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import formats as oracle

from belvedere.core.formats import exif


@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(1, 8))
def test_boxes_turn_with_the_picture(data, orientation):
    wide, high = data.draw(st.integers(2, 12)), data.draw(st.integers(2, 12))
    x0, y0 = data.draw(st.integers(0, wide - 1)), data.draw(st.integers(0, high - 1))
    x1 = data.draw(st.integers(x0 + 1, wide))
    y1 = data.draw(st.integers(y0 + 1, high))
    mask = np.zeros((high, wide), bool)
    mask[y0:y1, x0:x1] = True
    seen = oracle.turned(mask, orientation)
    box = exif.turned(np.array([x0, y0, x1, y1], float), wide, high, orientation)
    assert box.tolist() == oracle.bounds(seen)
    assert exif.upright_size(wide, high, orientation) == seen.shape[::-1]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_is_found_in_either_byte_order(order, orientation):
    assert exif.orientation(hostile.exif(orientation, order)) == orientation


def test_no_exif_is_upright_and_not_corrupt():
    assert exif.orientation(b"") == 1
    empty = b"Exif\0\0II*\0\x08\0\0\0\0\0"
    assert exif.orientation(empty) == 1


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_an_orientation_or_corrupt(garbage):
    for head in (b"", b"II*\0", b"MM\0*"):
        assert exif.orientation(head + garbage) in (None, *range(1, 9))
