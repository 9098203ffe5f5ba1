import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import prediction as oracle

from belvedere.core.prediction import kernel


def _features(rng: np.random.Generator, n: int, q: int) -> tuple:
    return rng.normal(size=(n, q)), np.exp(rng.normal(size=q)) * np.sqrt(q)


@given(
    n=st.integers(0, 80),
    q=st.integers(1, 6),
    shift=st.sampled_from([0.0, 1e6]),
    seed=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_similarity_is_the_kernel_to_float32(n, q, shift, seed):
    x, lengthscales = _features(np.random.default_rng(seed), n, q)
    found = kernel.similarity(x + shift, lengthscales)
    expected = oracle.kernel(x + shift, x + shift, lengthscales)
    assert found.dtype == np.float32 and found.shape == (n, n)
    np.testing.assert_allclose(found, expected, atol=3e-7)
    assert (found == found.T).all()
    assert (np.diagonal(found) == 1).all()
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cross_is_the_kernel(dtype):
    rng = np.random.default_rng(0)
    x, lengthscales = _features(rng, 7, 4)
    x, z = x.astype(dtype), rng.normal(size=(5, 4))
    found = kernel.cross(x, z, lengthscales)
    assert found.dtype == np.float64
    expected = oracle.kernel(x.astype(np.float64), z, lengthscales)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_permuting_windows_permutes_the_similarity():
    rng = np.random.default_rng(1)
    x, lengthscales = _features(rng, 150, 9)
    order = rng.permutation(len(x))
    np.testing.assert_allclose(
        kernel.similarity(x[order], lengthscales),
        kernel.similarity(x, lengthscales)[np.ix_(order, order)],
        rtol=3e-7,
    )


def test_duplicates_are_alike():
    x, lengthscales = _features(np.random.default_rng(2), 90, 5)
    found = kernel.similarity(np.concatenate([x, x]), lengthscales)
    np.testing.assert_allclose(np.diagonal(found, offset=90), 1, atol=1e-7)


@pytest.mark.parametrize("distance", [1e2, 1e20, 1e140])
def test_far_apart_is_zero(distance):
    x = np.array([[0.0, 0.0], [distance, 0.0], [0.0, distance]])
    found = kernel.similarity(x, np.ones(2))
    np.testing.assert_array_equal(found, np.eye(3))
    np.testing.assert_array_equal(kernel.cross(x, x[:1], np.ones(2))[1:], 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200, 1.7e308])
def test_unusable_features_are_refused(bad):
    x = np.zeros((3, 2))
    x[1, 1] = bad
    with pytest.raises(ValueError, match="features"):
        kernel.similarity(x, np.ones(2))
    with pytest.raises(ValueError, match="features"):
        kernel.cross(x, np.zeros((1, 2)), np.ones(2))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_lengthscales_must_be_positive(bad):
    with pytest.raises(ValueError, match="lengthscales"):
        kernel.similarity(np.zeros((2, 2)), np.array([1.0, bad]))
    with pytest.raises(ValueError, match="lengthscales"):
        kernel.require_parameters(np.array([1.0, bad]), 1.0, 1.0)


@pytest.mark.parametrize("signal, noise", [(0.0, 1.0), (1.0, -1.0), (np.inf, 1.0)])
def test_variances_must_be_positive(signal, noise):
    with pytest.raises(ValueError, match="variance"):
        kernel.require_parameters(np.ones(2), signal, noise)
