from functools import partial

import numpy as np
import pytest
from oracles import prediction as oracle

from belvedere.core.prediction import collapsed_bound, conditioning
from belvedere.core.prediction.collapsed_bound import CollapsedBound
from belvedere.core.prediction.variational_bound import VariationalBound

OBJECTIVES = ["variational", "fitc"]


def _problem(seed: int = 0, n: int = 30, q: int = 4, m: int = 7) -> tuple:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, q))
    targets = np.sin(x[:, :3].T) + 0.2 * rng.normal(size=(3, n))
    theta = np.r_[rng.normal(size=q) * 0.3 + 0.5, np.log(0.6), np.log(0.04)]
    return x, targets, x[:m] + 0.1 * rng.normal(size=(m, q)), theta


def _written_out(x, targets, inducing, theta, objective):
    sparse = oracle.Sparse(
        x, inducing, *_split(theta), objective, conditioning.JITTERS[0]
    )
    return sparse.objective_value(targets)


def _split(theta):
    return np.exp(theta[:-2]), np.exp(theta[-2]), np.exp(theta[-1])


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("rows", [1, 3])
def test_value_is_the_formula(objective, rows):
    x, targets, inducing, theta = _problem()
    bound = CollapsedBound(x, targets[:rows], inducing, objective)
    found, _ = bound.value_and_gradient(theta)
    expected = _written_out(x, targets[:rows], inducing, theta, objective)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_three_relations_add_up(objective):
    x, targets, inducing, theta = _problem()
    jointly = CollapsedBound(x, targets, inducing, objective)
    singly = [CollapsedBound(x, y[None], inducing, objective) for y in targets]
    value, gradient = jointly.value_and_gradient(theta)
    parts = [b.value_and_gradient(theta) for b in singly]
    assert value == pytest.approx(sum(p[0] for p in parts), rel=1e-12)
    np.testing.assert_allclose(gradient, sum(p[1] for p in parts), rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_variational_bound_is_below_the_log_marginal(seed):
    x, targets, inducing, theta = _problem(seed)
    exact = oracle.dense_log_marginal(x, targets, *_split(theta))
    bound = CollapsedBound(x, targets, inducing, "variational")
    assert bound.value_and_gradient(theta)[0] < exact
    more = CollapsedBound(x, targets, np.r_[inducing, x[:15]], "variational")
    assert bound.value_and_gradient(theta)[0] < more.value_and_gradient(theta)[0]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_inducing_points_at_the_data_give_the_log_marginal(objective):
    x, targets, _, theta = _problem()
    exact = oracle.dense_log_marginal(x, targets, *_split(theta))
    found, _ = CollapsedBound(x, targets, x, objective).value_and_gradient(theta)
    assert found == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_agrees_with_finite_differences(objective, seed):
    x, targets, inducing, theta = _problem(seed)
    bound = CollapsedBound(x, targets, inducing, objective)
    _, gradient = bound.value_and_gradient(theta)
    step = 1e-5
    for i, direction in enumerate(np.eye(len(theta))):
        high, _ = bound.value_and_gradient(theta + step * direction)
        low, _ = bound.value_and_gradient(theta - step * direction)
        assert gradient[i] == pytest.approx((high - low) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rows", [1, 3])
def test_the_gradient_written_out_is_the_automatic_one(seed, rows):
    x, targets, inducing, theta = _problem(seed, n=40, q=5, m=9)
    slow = CollapsedBound(x, targets[:rows], inducing, "variational")
    fast = VariationalBound(x, targets[:rows], inducing)
    for shift in (0.0, -1.0, 1.5):
        wanted, found = (b.value_and_gradient(theta + shift) for b in (slow, fast))
        assert found[0] == pytest.approx(wanted[0], rel=1e-11)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-7, atol=1e-7)


def test_both_climb_the_same_ladder_of_jitters():
    x, targets, inducing, theta = _problem()
    twice = np.r_[inducing, inducing]  # singular without a jitter
    wanted, _ = CollapsedBound(x, targets, twice, "variational").value_and_gradient(
        theta
    )
    found, _ = VariationalBound(x, targets, twice).value_and_gradient(theta)
    assert found == pytest.approx(wanted, rel=1e-6)


def test_data_far_from_the_origin_change_nothing():
    x, targets, inducing, theta = _problem()
    for kind in (partial(CollapsedBound, objective="variational"), VariationalBound):
        near = kind(x, targets, inducing)
        far = kind(x + 1e5, targets, inducing + 1e5)
        a, b = near.value_and_gradient(theta), far.value_and_gradient(theta)
        assert b[0] == pytest.approx(a[0], rel=1e-6)
        np.testing.assert_allclose(b[1], a[1], rtol=1e-4)


def test_a_kernel_beyond_repair_is_an_error():
    import torch

    one = torch.tensor(1.0, dtype=torch.float64)
    with pytest.raises(ValueError, match="2 inducing points is singular"):
        collapsed_bound._root(-torch.eye(2, dtype=torch.float64), one)
