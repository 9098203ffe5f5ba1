import numpy as np
import pytest
from scipy import sparse

from belvedere.core.embedding import affine


def example(length=2048, outputs=10):
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((length, outputs)).astype(np.float32)
    features = rng.random((37, length), dtype=np.float32)
    features *= rng.random(features.shape) < 0.1
    return affine.AffineMap(matrix, rng.standard_normal(outputs)), features


def test_apply_is_the_formula_for_dense_and_sparse():
    mapping, features = example()
    wanted = features.astype(np.float64) @ mapping.matrix + mapping.offset
    dense = mapping.apply(features)
    assert dense.dtype == np.float64
    np.testing.assert_allclose(dense, wanted, atol=2e-4)
    np.testing.assert_allclose(
        mapping.apply(sparse.csr_array(features)), wanted, atol=2e-4
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_a_window_alone_is_the_window_in_a_batch_to_the_bit(kind):
    mapping, features = example()
    batch = mapping.apply(kind(features))
    for i in range(len(features)):
        np.testing.assert_array_equal(
            mapping.apply(kind(features[i : i + 1]))[0], batch[i]
        )
    some = np.array([5, 3, 30])
    np.testing.assert_array_equal(mapping.apply(kind(features[some])), batch[some])


def test_no_windows_and_strided_windows():
    mapping, features = example()
    assert mapping.apply(features[:0]).shape == (0, 10)
    np.testing.assert_array_equal(
        mapping.apply(features[::2]), mapping.apply(features)[::2]
    )


def test_beside_concatenates_outputs():
    mapping, features = example()
    both = affine.beside([mapping, mapping])
    once = mapping.apply(features)
    np.testing.assert_array_equal(both.apply(features), np.hstack([once, once]))


def test_wrong_lengths_are_refused():
    mapping, features = example()
    with pytest.raises(ValueError, match="length 2047, wanted 2048"):
        mapping.apply(features[:, 1:])
    with pytest.raises(ValueError, match="NaN"):
        affine.AffineMap(mapping.matrix, mapping.offset * np.nan)
