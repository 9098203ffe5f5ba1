"""Hypothesis strategies for the values that flow."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


@st.composite
def boxes(draw, min_size=1, max_size=12, largest=1000):
    """Half-open boxes with area, on a quarter-pixel grid so that sums are exact."""
    n = draw(st.integers(min_size, max_size))
    shape = (n, 2)
    low = draw(npst.arrays(np.int64, shape, elements=st.integers(0, largest)))
    side = draw(npst.arrays(np.int64, shape, elements=st.integers(1, largest)))
    return np.concatenate([low, low + side], axis=1) / 4
