import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from belvedere.core.embedding import matrices


def random_sparse(rows, columns, density, seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((rows, columns)).astype(np.float32)
    return sparse.csr_array(values * (rng.random(values.shape) < density))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 70),
    st.integers(1, 40),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.05, 0.1, 0.5]),
    st.integers(0, 99),
)
def test_sparse_products_are_those_of_dense_matrices(n, m, d, density, seed):
    a, b = random_sparse(n, d, density, seed), random_sparse(m, d, density, seed + 1)
    x, z = a.toarray().astype(np.float64), b.toarray().astype(np.float64)
    np.testing.assert_allclose(matrices.gram(a), x @ x.T, atol=1e-5)
    np.testing.assert_allclose(matrices.cross_gram(a, b), x @ z.T, atol=1e-5)
    np.testing.assert_allclose(
        matrices.gram(a.toarray()), matrices.gram(a), rtol=1e-5, atol=1e-5
    )


def test_sparse_gram_is_symmetric_to_the_bit_and_ignores_matrix_flavour():
    a = random_sparse(100, 300, 0.08, 0)
    square = matrices.gram(a)
    assert square.dtype == np.float32
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_array_equal(square, matrices.cross_gram(a, a))
    np.testing.assert_array_equal(square, matrices.gram(sparse.csr_matrix(a)))


def test_double_and_unsorted_entries_are_understood():
    indptr, indices = np.array([0, 3, 4]), np.array([30, 2, 30, 2])
    values = np.array([1, 2, 3, 5], np.float32)
    a = sparse.csr_array((values, indices, indptr), shape=(2, 40))
    np.testing.assert_array_equal(matrices.gram(a), [[20, 10], [10, 25]])
    np.testing.assert_array_equal(matrices.cross_gram(a, a), [[20, 10], [10, 25]])
    assert a.nnz == 4


def test_combined_sums_windows():
    a = random_sparse(20, 50, 0.1, 0)
    weights = np.random.default_rng(1).standard_normal((20, 3))
    wanted = a.toarray().astype(np.float64).T @ weights
    np.testing.assert_allclose(matrices.combined(a, weights), wanted, atol=1e-12)
    np.testing.assert_allclose(
        matrices.combined(a.toarray(), weights), wanted, atol=1e-12
    )


def test_unusable_features_are_refused():
    good = np.ones((2, 3), np.float32)
    matrices.require("features", good, 3)
    with pytest.raises(ValueError, match="float64"):
        matrices.require("features", good.astype(np.float64))
    with pytest.raises(ValueError, match="length 3, wanted 4"):
        matrices.require("features", good, 4)
    with pytest.raises(ValueError, match="NaN"):
        matrices.require("features", sparse.csr_array(good * np.float32("nan")))
