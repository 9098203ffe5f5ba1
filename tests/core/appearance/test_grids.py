import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import appearance as oracle

from belvedere.core.appearance import grids

SIDES = st.integers(1, 40)
SPANS = st.tuples(st.floats(-3, 45), st.floats(0.01, 40))


@settings(max_examples=80, deadline=None)
@given(SIDES, SIDES, st.integers(1, 7), SPANS, SPANS, st.integers(1, 4))
def test_bounds_are_the_cells_of_direct_comparison(width, height, step, x, y, parts):
    grid = grids.Grid(width, height, step)
    box = np.array([[x[0], y[0], x[0] + x[1], y[0] + y[1]]])
    across, down = grid.bounds(box, parts)
    for bounds, count, low, high in (
        (across[0], grid.columns, box[0, 0], box[0, 2]),
        (down[0], grid.rows, box[0, 1], box[0, 3]),
    ):
        for k in range(count):
            wanted = oracle.cell(step // 2 + k * step, low, high, parts)
            inside = [c for c in range(parts) if bounds[c] <= k < bounds[c + 1]]
            assert inside == ([] if wanted is None else [wanted])


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
def test_centres_fill_the_picture(step):
    for side in range(1, 20):
        grid = grids.Grid(side, side, step)
        last = grid.start + (grid.columns - 1) * step
        assert grid.rows == grid.columns
        assert last < side <= last + step or (grid.columns == 0 and side <= grid.start)


def test_a_centre_on_the_edge_belongs_to_the_window_that_begins_there():
    grid = grids.Grid(20, 20, 4)  # centres 2, 6, 10, 14, 18
    across, _ = grid.bounds(np.array([[2.0, 0, 6.0, 20], [6.0, 0, 14.0, 20]]), 1)
    assert across.tolist() == [[0, 1], [1, 3]]


def test_a_centre_on_the_far_edge_is_outside_whatever_the_rounding():
    """low + (high - low) is not always high."""
    low = np.random.default_rng(0).uniform(-3, 2, 2000)
    boxes = np.stack([low, low, np.full(2000, 6.0), np.full(2000, 6.0)], axis=1)
    assert (low + (6.0 - low) != 6.0).any()
    for parts in (1, 3, 4):
        across, down = grids.Grid(20, 20, 4).bounds(boxes, parts)
        assert (across[:, -1] == 1).all() and (down[:, -1] == 1).all()


def test_a_step_of_nothing_is_refused():
    with pytest.raises(ValueError, match="step is 0"):
        grids.Grid(10, 10, 0)
