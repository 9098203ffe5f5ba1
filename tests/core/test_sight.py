import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.core import sight
from belvedere.core.sight import View
from belvedere.core.types import Image, Windows
from belvedere.core.windows import boxes


def _view(width, height, frame, coarse):
    """All windows of a picture that touch its border, proposed at `coarse` pixels."""
    longer = max(width, height)

    def shrunk(side, most):
        return max(1, round(side * most / longer)) if longer > most else side

    now = [shrunk(width, frame), shrunk(height, frame)]
    grid = [shrunk(width, coarse), shrunk(height, coarse)]
    x, y = (np.arange(n) for n in grid)
    columns = [np.stack([x, 0 * x, 0 * x + grid[0], 0 * x + grid[1]], axis=1)]
    rows = [np.stack([0 * y, y, 0 * y + grid[0], 0 * y + grid[1]], axis=1)]
    corners = np.concatenate(columns + rows) * np.array(now * 2) / np.array(grid * 2)
    return View(Windows(corners, *now), {}, width, height)


@given(width=st.integers(1, 12_000), height=st.integers(1, 12_000))
@settings(max_examples=300, deadline=None)
def test_windows_at_the_border_end_exactly_at_it(width, height):
    view = _view(width, height, 500, 250)
    found = boxes.checked(view.to_picture(view.windows.boxes), width, height)
    assert (found[:, 2:] == [width, height]).all()
    assert (found[:, :2].min(axis=0) == 0).all()
    sides = found[:, 2:] - found[:, :2]
    assert (found[:, :2] + sides == [width, height]).all(), "as rows keep them"


@given(width=st.integers(1, 12_000), height=st.integers(1, 12_000))
@settings(max_examples=100, deadline=None)
def test_a_box_goes_into_the_frame_and_comes_back(width, height):
    view = _view(width, height, 500, 250)
    truth = np.array([[0.0, 0, width, height], [width / 7, height / 3, width, height]])
    inside = view.to_frame(truth)
    assert (inside[:, 2:] == [view.windows.width, view.windows.height]).all()
    np.testing.assert_allclose(view.to_picture(inside), truth, rtol=1e-12)


def test_no_window_of_a_large_picture_leaves_it():
    rng = np.random.default_rng(0)
    picture = np.kron(rng.integers(0, 255, (20, 27, 3)), np.ones((75, 75, 1)))
    image = Image(picture[:1500, :2007].astype(np.uint8))
    view = sight.look(image, sight.Eyes({}))
    found = boxes.checked(view.to_picture(view.windows.boxes), 2007, 1500)
    assert (found.max(axis=0)[2:] == [2007, 1500]).all()
