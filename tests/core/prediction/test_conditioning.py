import dataclasses

import numpy as np
import pytest
from oracles import prediction as oracle

from belvedere.core.prediction import conditioning
from belvedere.core.prediction.conditioning import SparsePrior

OBJECTIVES = ["variational", "fitc"]


def _problem(n: int, q: int = 3, seed: int = 0) -> tuple:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, q))
    targets = np.stack([np.sin(x[:, 0]), x[:, 1] ** 2 / 4, np.cos(x.sum(1))])
    return x, targets + 0.1 * rng.normal(size=(3, n)), rng


def _prior(inducing: np.ndarray, objective: str) -> SparsePrior:
    lengthscales = np.linspace(0.9, 1.7, inducing.shape[1])
    return SparsePrior(inducing, lengthscales, 0.7, 0.05, objective)


def _sparse(prior: SparsePrior, x: np.ndarray) -> oracle.Sparse:
    return oracle.Sparse(
        x,
        prior.inducing,
        prior.lengthscales,
        prior.signal_variance,
        prior.noise_variance,
        prior.objective,
        conditioning.cholesky(prior)[1],
    )


def _assert_predicts(gp, new, mean, variance, **tolerance):
    found = gp.predict(new, latent=True)
    np.testing.assert_allclose(found.mean, mean, **tolerance)
    np.testing.assert_allclose(found.std**2, variance, **tolerance)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("n", [1, 2, 25])
def test_inducing_points_at_the_data_give_the_dense_process(objective, n):
    x, targets, rng = _problem(n)
    prior = _prior(x, objective)
    new = rng.normal(size=(20, 3))
    expected = oracle.dense(x, targets, prior.lengthscales, 0.7, 0.05, new)
    gp = conditioning.condition(prior, x, targets)
    _assert_predicts(gp, new, *expected, atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_few_inducing_points_give_the_sparse_process(objective):
    x, targets, rng = _problem(40)
    prior = _prior(rng.normal(size=(8, 3)), objective)
    new = rng.normal(size=(15, 3))
    gp = conditioning.condition(prior, x, targets)
    _assert_predicts(gp, new, *_sparse(prior, x).predict(targets, new), atol=1e-9)


def test_the_two_objectives_differ():
    x, targets, rng = _problem(40)
    inducing = rng.normal(size=(4, 3))
    a, b = (
        conditioning.condition(_prior(inducing, o), x, targets).predict(x)
        for o in OBJECTIVES
    )
    assert np.abs(a.mean - b.mean).max() > 1e-3


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_duplicate_inducing_points_are_helped_by_jitter(objective):
    x, targets, rng = _problem(30)
    inducing = np.repeat(rng.normal(size=(4, 3)), 5, axis=0)
    prior = _prior(inducing, objective)
    single = dataclasses.replace(prior, inducing=inducing[::5])
    a = conditioning.condition(prior, x, targets).predict(x)
    b = conditioning.condition(single, x, targets).predict(x)
    np.testing.assert_allclose(a.mean, b.mean, atol=1e-5)
    np.testing.assert_allclose(a.std, b.std, atol=1e-5)


def test_the_jitter_climbs_only_as_far_as_needed(monkeypatch):
    prior = _prior(np.zeros((3, 3)), "variational")

    def cross(x, z, lengthscales):
        return np.eye(3) - np.diag([0, 0, 1 + 5e-5])

    monkeypatch.setattr(conditioning.kernel, "cross", cross)
    root, jitter = conditioning.cholesky(prior)
    assert jitter == pytest.approx(1e-4)
    expected = prior.signal_variance * (cross(0, 0, 0) + jitter * np.eye(3))
    np.testing.assert_allclose(root @ root.T, expected, atol=1e-15)


def test_a_kernel_beyond_repair_is_an_error(monkeypatch):
    prior = _prior(np.zeros((3, 3)), "variational")
    monkeypatch.setattr(conditioning.kernel, "cross", lambda *_: -np.eye(3))
    with pytest.raises(ValueError, match="3 inducing points is singular"):
        conditioning.cholesky(prior)


def test_a_prior_without_inducing_points_is_refused():
    with pytest.raises(ValueError, match="inducing point"):
        _prior(np.zeros((0, 3)), "variational")
