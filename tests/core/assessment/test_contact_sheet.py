import numpy as np
import pytest

from belvedere.core.assessment import contact_sheet
from belvedere.core.types import Image

RED = (255, 0, 0)


def _tile(width, height, box):
    pixels = np.full((height, width, 3), 90, np.uint8)
    return contact_sheet.Tile(Image(pixels), {"full": np.array([box])}, "caption")


def test_a_box_is_drawn_where_it_is():
    tile = _tile(100, 100, [25.0, 50.0, 75.0, 100.0])
    sheet = contact_sheet.draw([tile], {"full": RED}, columns=1, side=108)
    red = np.argwhere((sheet[30:] == RED).all(axis=2))
    top, left = red.min(axis=0)
    bottom, right = red.max(axis=0)
    assert (left, right) == (4 + 25, 4 + 74)
    assert bottom - top == 49


def test_tiles_of_any_shape_fill_the_rows():
    tiles = [_tile(400, 30, [0.0, 0, 9, 9]), _tile(1, 300, [0.0, 0, 1, 9])] * 3
    sheet = contact_sheet.draw(tiles, {"full": RED}, columns=4, side=50)
    assert sheet.shape[1] == 200
    assert sheet.shape[0] > 2 * 50


def test_an_empty_sheet_is_an_error():
    with pytest.raises(ValueError, match="at least one picture"):
        contact_sheet.draw([], {"full": RED})
