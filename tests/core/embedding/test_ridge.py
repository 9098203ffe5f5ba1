import numpy as np
import pytest
from oracles import embedding as oracle

from belvedere.core.embedding import ridge


def problem(n=60, length=25, columns=7, seed=0):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, length)).astype(np.float32)
    members = rng.random((n, columns)) < 0.7
    return features, rng.random((n, columns)), members, 10.0 ** rng.uniform(-1, 2, 7)


def test_regressions_are_those_of_the_oracle():
    features, targets, members, penalties = problem()
    gram = features @ features.T
    alpha = ridge.solve(gram, targets, members, penalties, tolerance=1e-6)
    assert (alpha[~members] == 0).all()
    linear = (gram @ alpha).astype(np.float64)
    ours = linear + ridge.intercepts(linear, targets, members)
    for j in range(7):
        wanted = oracle.ridge(features, targets[:, j], members[:, j], penalties[j])
        np.testing.assert_allclose(ours[:, j], wanted, atol=2e-4)


def test_a_problem_does_not_depend_on_its_neighbours():
    features, targets, members, penalties = problem()
    gram = features @ features.T
    together = ridge.solve(gram, targets, members, penalties)
    alone = ridge.solve(gram, targets[:, 3:4], members[:, 3:4], penalties[3:4])
    np.testing.assert_allclose(together[:, 3:4], alone, atol=1e-5)


def test_targets_outside_of_the_members_are_not_seen():
    features, targets, members, penalties = problem()
    gram = features @ features.T
    changed = np.where(members, targets, -5.0)
    np.testing.assert_array_equal(
        ridge.solve(gram, targets, members, penalties),
        ridge.solve(gram, changed, members, penalties),
    )


def test_constant_targets_need_no_slope():
    features, _, members, penalties = problem()
    constant = np.full(members.shape, 0.25)
    alpha = ridge.solve(features @ features.T, constant, members, penalties)
    np.testing.assert_allclose(alpha, 0, atol=1e-12)


def test_impossible_regressions_are_refused():
    features, targets, members, penalties = problem()
    gram = features @ features.T
    with pytest.raises(ValueError, match="penalty is 0"):
        ridge.solve(gram, targets, members, 0 * penalties)
    with pytest.raises(ValueError, match="no windows"):
        ridge.solve(gram, targets, members & False, penalties)
    with pytest.raises(RuntimeError, match="did not converge in 2"):
        ridge.solve(gram, targets, members, penalties, limit=2)
