import numpy as np

from belvedere.core.prediction import inducing_points


def _choose(x, count, seed=0):
    unit = np.ones(x.shape[1])
    return inducing_points.choose(x, unit, count, np.random.default_rng(seed))


def test_few_windows_are_their_own_inducing_points():
    x = np.random.default_rng(0).normal(size=(6, 3))
    found = _choose(np.repeat(x, 4, axis=0), 6)
    assert {tuple(row) for row in found} == {tuple(row) for row in x}
    assert len(found) == 6


def test_equal_windows_give_one_inducing_point():
    np.testing.assert_array_equal(_choose(np.ones((50, 2)), 10), np.ones((1, 2)))


def test_centres_are_found_amid_clusters():
    rng = np.random.default_rng(1)
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    x = np.concatenate([m + 0.1 * rng.normal(size=(40, 2)) for m in middles])
    found = _choose(x, 3)
    order = np.lexsort(found.round().T)
    np.testing.assert_allclose(found[order], middles, atol=0.1)


def test_columns_count_in_units_of_their_lengthscales():
    rng = np.random.default_rng(2)
    x, scale = rng.normal(size=(80, 3)), np.array([1e-6, 1.0, 1e6])
    found = inducing_points.choose(x * scale, scale, 5, np.random.default_rng(0))
    np.testing.assert_allclose(found / scale, _choose(x, 5), rtol=1e-6)


def test_the_same_seed_gives_the_same_bytes():
    x = np.random.default_rng(3).normal(size=(200, 5))
    assert _choose(x, 12, 4).tobytes() == _choose(x, 12, 4).tobytes()
    assert _choose(x, 12, 4).tobytes() != _choose(x, 12, 5).tobytes()
