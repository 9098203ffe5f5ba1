import dataclasses

import numpy as np
import pytest
from oracles import prediction as oracle

from belvedere.core.prediction import conditioning, fitting
from belvedere.core.prediction.fitting import GPSettings

OBJECTIVES = ["variational", "fitc"]


def _toy(n: int = 150, q: int = 5, seed: int = 0) -> tuple:
    """Relations that depend on the first two columns; the last is constant."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, q))
    x[:, -1] = 0.1
    smooth = np.stack([np.sin(x[:, 0]), np.cos(x[:, 1]), np.tanh(x[:, 0] + x[:, 1])])
    return x, 0.5 + 0.4 * smooth + 0.05 * rng.normal(size=(3, n))


def _fit(x, targets, **settings):
    defaults = GPSettings(inducing=25, evaluations=15)
    settings = dataclasses.replace(defaults, **settings)
    return fitting.fit(x, targets, settings, np.random.default_rng(0))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_fit_learns(objective):
    x, targets = _toy()
    result = _fit(x, targets, objective=objective, evaluations=60, inducing=50)
    assert result.bound_after > result.bound_before + 50
    new, truth = _toy(seed=1)
    errors = result.gp.predict(new).mean - truth
    assert np.sqrt(np.square(errors).mean()) < 0.15
    ell = result.gp.lengthscales
    assert ell[:2].max() < ell[2:4].min() / 2, "irrelevant columns matter less"
    assert ell[-1] == pytest.approx(1), "a constant column stays where it began"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_bound_reported_is_that_of_the_parameters_kept(objective):
    x, targets = _toy(60)
    result = _fit(x, targets, objective=objective)
    p = result.gp
    sparse = oracle.Sparse(
        x,
        p.inducing,
        p.lengthscales,
        p.signal_variance,
        p.noise_variance,
        objective,
        result.jitter,
    )
    assert result.bound_after == pytest.approx(sparse.objective_value(targets))
    new = x[:9] + 0.1
    mean, variance = sparse.predict(targets, new)
    found = result.gp.predict(new, latent=True)
    np.testing.assert_allclose(found.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.std**2, variance, atol=1e-7)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_evaluations_are_counted_and_limited(limit):
    result = _fit(*_toy(60), evaluations=limit)
    assert result.evaluations == limit
    assert not result.converged
    assert (result.bound_after == result.bound_before) == (limit == 1)


def test_a_long_fit_converges():
    result = _fit(*_toy(60), evaluations=500)
    assert result.converged and result.evaluations < 500


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_same_bytes_in_same_bytes_out(objective):
    a, b = (_fit(*_toy(), objective=objective) for _ in range(2))
    for field in dataclasses.fields(a.gp):
        one, two = getattr(a.gp, field.name), getattr(b.gp, field.name)
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes(), field.name


def test_the_noise_keeps_above_its_floor():
    x, _ = _toy()
    noiseless = np.stack([x[:, 0], x[:, 0], x[:, 0]])
    result = _fit(x, noiseless, noise_floor=1e-3, evaluations=60)
    assert result.gp.noise_variance == pytest.approx(1e-3)


def test_learning_from_overlap_ignores_the_others_but_predicts_them():
    x, targets = _toy()
    targets[1] = 1 - targets[0]
    other = targets.copy()
    other[1:] = np.random.default_rng(5).normal(size=other[1:].shape)
    a = _fit(x, targets, learn_from="overlap").gp
    b = _fit(x, other, learn_from="overlap").gp
    c = _fit(x, other).gp
    np.testing.assert_array_equal(a.lengthscales, b.lengthscales)
    assert (b.lengthscales != c.lengthscales).any()
    np.testing.assert_array_equal(a.predict(x).std, b.predict(x).std)
    errors = np.abs(a.predict(x).mean - targets).mean(axis=1)
    assert errors[1] < 0.1 and errors[1] < errors[2]


def test_targets_are_not_centred():
    x, targets = _toy()
    far = np.full((1, 5), 1e4)
    np.testing.assert_array_equal(_fit(x, targets + 3).gp.predict(far).mean, 0)
    start = fitting.initial_parameters(x, targets + 3, 1e-6)
    assert np.exp(start[-2]) == pytest.approx(np.square(targets + 3).mean())


def test_lengthscales_begin_at_root_q_deviations():
    x, targets = _toy()
    start = np.exp(fitting.initial_parameters(x, targets, 1e-6))
    np.testing.assert_allclose(start[:4], np.sqrt(5) * x[:, :4].std(axis=0))
    assert start[4] == 1
    assert start[-1] == pytest.approx(0.1 * start[-2])


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_windows_are_the_dense_process(objective, n):
    x, targets = _toy(n)
    gp = _fit(x, targets, objective=objective).gp
    expected = oracle.dense(
        x, targets, gp.lengthscales, gp.signal_variance, gp.noise_variance, x + 0.1
    )
    found = gp.predict(x + 0.1, latent=True)
    np.testing.assert_allclose(found.mean, expected[0], atol=1e-6)
    np.testing.assert_allclose(found.std**2, expected[1], atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_targets_are_predicted(objective, value):
    x, _ = _toy()
    result = _fit(x, np.full((3, len(x)), value), objective=objective)
    found = result.gp.predict(x)
    np.testing.assert_allclose(found.mean, value, atol=0.05)
    assert (found.std > 0).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_equal_windows_are_predicted_by_their_mean(objective):
    _, targets = _toy(40)
    result = _fit(np.ones((40, 3)), targets, objective=objective)
    assert result.gp.inducing.shape == (1, 3)
    found = result.gp.predict(np.ones((1, 3))).mean[:, 0]
    np.testing.assert_allclose(found, targets.mean(axis=1), atol=0.05)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_nearly_equal_windows_do_not_break_the_kernel(objective):
    x, targets = _toy(40)
    twins = np.concatenate([x, x + 1e-13, x])
    result = _fit(twins, np.tile(targets, 3), objective=objective, inducing=200)
    assert result.jitter in conditioning.JITTERS
    single = _fit(x, targets, objective=objective, inducing=200)
    assert np.abs(result.gp.predict(x).mean - single.gp.predict(x).mean).max() < 0.2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_features_and_targets_must_be_finite(bad):
    x, targets = _toy(10)
    broken = x.copy()
    broken[3, 1] = bad
    with pytest.raises(ValueError, match="features"):
        _fit(broken, targets)
    broken = targets.copy()
    broken[2, 1] = bad
    with pytest.raises(ValueError, match="targets"):
        _fit(x, broken)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_columns_must_vary_within_reason(scale):
    x, targets = _toy(10)
    with pytest.raises(ValueError, match="columns vary"):
        _fit(x * scale, targets)


def test_nothing_cannot_be_learned_from():
    with pytest.raises(ValueError, match="no windows"):
        _fit(np.empty((0, 3)), np.empty((3, 0)))


@pytest.mark.parametrize(
    "settings", [{"inducing": 0}, {"evaluations": 0}, {"noise_floor": 0.0}]
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        GPSettings(**settings)


def _without(x, targets, folds):
    settings = GPSettings(inducing=15, evaluations=6)
    return fitting.fit_without(x, targets, folds, settings, seed=3)


def test_leaving_out_a_fold_is_fitting_the_others():
    x, targets = _toy(90)
    folds = np.repeat([7, 2, 4], 30)
    found = _without(x, targets, folds)
    assert list(found) == [2, 4, 7]
    for fold, gp in found.items():
        rest = folds != fold
        alone = fitting.fit(
            x[rest],
            targets[:, rest],
            GPSettings(inducing=15, evaluations=6),
            np.random.default_rng(3),
        ).gp
        np.testing.assert_array_equal(gp.lengthscales, alone.lengthscales)
        np.testing.assert_array_equal(gp.predict(x).mean, alone.predict(x).mean)


def test_a_fold_left_out_influences_nothing():
    x, targets = _toy(90)
    folds = np.arange(90) % 3
    other_x = np.where((folds == 1)[:, None], x + 5, x)
    changed = np.where(folds == 1, 9.0, targets)
    before, after = _without(x, targets, folds), _without(other_x, changed, folds)
    np.testing.assert_array_equal(after[1].inducing, before[1].inducing)
    np.testing.assert_array_equal(after[1].weights, before[1].weights)
    assert np.abs(after[0].weights - before[0].weights).max() > 1e-2


def test_folds_must_leave_something():
    x, targets = _toy(30)
    with pytest.raises(ValueError, match="two"):
        _without(x, targets, np.zeros(30, np.int64))
    # from the outermost check or from ours, according to who looks first
    with pytest.raises(Exception, match="folds"):
        _without(x, targets, np.zeros(29, np.int64))
