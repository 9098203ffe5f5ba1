import numpy as np
import pytest
import strategies
from hypothesis import given
from oracles import context as oracle

from belvedere.core.windows import boxes


@given(a=strategies.boxes(), b=strategies.boxes())
def test_ious_equal_the_definition(a, b):
    expected = [[oracle.relation(one, other)[0] for other in b] for one in a]
    np.testing.assert_allclose(boxes.ious(a, b), expected, rtol=1e-12)


def test_half_open_boxes_that_touch_share_nothing():
    left, right = np.array([[0.0, 0, 4, 4]]), np.array([[4.0, 0, 8, 4]])
    assert boxes.intersections(left, right) == 0
    assert boxes.areas(left) == 16


def test_a_box_is_told_by_its_corner_and_size():
    assert boxes.xywh(np.array([1.0, 2.0, 4.5, 8.0])) == [1.0, 2.0, 3.5, 6.0]


@pytest.mark.parametrize(
    ("box", "fault"),
    [
        ([1, 1, 1, 3], "no area"),
        ([3, 1, 1, 3], "swapped"),
        ([np.nan, 0, 1, 1], "NaN"),
        ([0, 0, np.inf, 1], "infinite"),
        ([-1, 0, 5, 5], "leaves the picture"),
        ([0, 0, 11, 5], "leaves the picture"),
        ([0, 0, 10, 9], "leaves the picture"),
    ],
)
def test_degenerate_boxes_are_refused_where_they_enter(box, fault):
    with pytest.raises(ValueError, match=fault):
        boxes.checked([[0, 0, 10, 8], box], 10, 8)


def test_boxes_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="shape"):
        boxes.checked([[0, 0, 1]], 10, 8)


def test_good_boxes_come_back_as_float64():
    got = boxes.checked([[0, 0, 10, 8]], 10, 8)
    assert got.dtype == np.float64
    assert got.tolist() == [[0, 0, 10, 8]]
