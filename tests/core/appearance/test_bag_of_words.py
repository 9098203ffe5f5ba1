import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import appearance as oracle

from belvedere.core.appearance import bag_of_words, codebooks, grids, sift

VOCABULARY = 7


def bag(levels, words=VOCABULARY):
    local = sift.Sift(("intensity",))
    leaves = np.arange(words, dtype=np.int16)[:, None].repeat(local.length, axis=1)
    book = codebooks.Codebook("bag", leaves[:1], leaves, np.array([0, words]))
    recipe = bag_of_words.Recipe("bag", local, levels, words)
    return bag_of_words.BagOfWords(recipe, book)


def word_map(width, height, step, seed=0, words=VOCABULARY):
    grid = grids.Grid(width, height, step)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, words, (grid.rows, grid.columns)).astype(np.uint16)
    return bag_of_words.WordMap(drawn, grid)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(1, 60), st.integers(1, 60), st.integers(1, 5)),
    st.lists(st.tuples(*[st.floats(0, 0.9), st.floats(0.01, 1)] * 2), max_size=4),
    st.sampled_from([(3,), (1, 4), (1,), (2, 3)]),
)
def test_histograms_equal_direct_counting(size, shares, levels):
    width, height, step = size
    seen, kind = word_map(*size), bag(levels)
    boxes = np.array([(x * width, y * height, (x + w) * width, (y + h) * height)
                      for x, w, y, h in shares]).reshape(-1, 4)  # fmt: skip
    read = kind.read(seen, boxes)
    assert read.shape == (len(boxes), kind.length) and read.dtype == np.float32
    assert read.has_canonical_format
    for row, box in zip(read.toarray(), boxes, strict=True):
        wanted = oracle.bag_of_words(seen.words, step, box, levels, VOCABULARY)
        np.testing.assert_array_equal(row > 0, wanted > 0)
        np.testing.assert_allclose(row, wanted, atol=1e-6)


@pytest.mark.parametrize("levels", [(3,), (1, 4)])
def test_counts_come_back_exactly(windows, levels):
    """The square of a number times what it was divided by is the count itself."""
    seen, kind, boxes = word_map(90, 70, 2), bag(levels), windows(40, 90, 70)
    for row, box in zip(kind.read(seen, boxes).toarray(), boxes, strict=True):
        counts = [
            oracle.word_histogram(seen.words, 2, box, g, VOCABULARY) for g in levels
        ]
        total = counts[0].sum() * len(levels)
        np.testing.assert_array_equal(np.rint(row**2 * total), np.concatenate(counts))


@pytest.mark.parametrize("levels", [(3,), (1, 4)])
@pytest.mark.parametrize("columns", [1, 10, 16, 37])
def test_projection_is_that_of_the_histograms(windows, levels, columns):
    seen, kind, boxes = word_map(90, 70, 2), bag(levels), windows(50, 90, 70)
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(kind.length, columns)).astype(np.float32)
    offset = rng.normal(size=columns)
    wanted = kind.read(seen, boxes).astype(np.float64) @ matrix + offset
    found = kind.project(seen, boxes, matrix, offset)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def test_a_window_between_the_centres_is_zero():
    seen, kind = word_map(40, 40, 4), bag((1, 4))  # centres 2, 6, 10, ...
    boxes = np.array([[2.5, 0, 5.9, 40], [7, 7, 8, 8.0]])
    offset = np.array([3.0, 4.0])
    assert kind.read(seen, boxes).nnz == 0
    found = kind.project(seen, boxes, np.ones((kind.length, 2), np.float32), offset)
    np.testing.assert_array_equal(found, [offset, offset])


def test_windows_have_length_one(windows):
    read = bag((1, 4)).read(word_map(90, 70, 2), windows(40, 90, 70))
    lengths = np.sqrt(read.multiply(read).sum(axis=1))
    sizes = np.diff(read.indptr)
    np.testing.assert_allclose(np.asarray(lengths).ravel(), sizes > 0, atol=1e-5)


def test_a_matrix_of_another_length_is_refused():
    kind, matrix = bag((3,)), np.ones((5, 2), np.float32)
    with pytest.raises(ValueError, match=f"wanted {kind.length} rows"):
        kind.project(word_map(20, 20, 4), np.ones((1, 4)), matrix, np.ones(2))


def test_a_codebook_of_another_type_is_refused(codebook):
    recipe = bag((3,)).recipe
    with pytest.raises(ValueError, match="'other' for 'bag'"):
        bag_of_words.BagOfWords(recipe, codebook("other", 128, 10))
    with pytest.raises(ValueError, match="codebook of 64 numbers"):
        bag_of_words.BagOfWords(recipe, codebook("bag", 64, 10))
