import dataclasses

import numpy as np
import pytest
from oracles import embedding as oracle

from belvedere.core.embedding import exemplar_svms, matrices
from belvedere.core.embedding.exemplar_svms import SvmSettings

CASES = {
    "as in the method": SvmSettings(tolerance=1e-7),
    "large C": SvmSettings(penalty=10.0, tolerance=1e-6),
    "weight of a half": SvmSettings(penalty=1.0, positive_weight=0.5, tolerance=1e-7),
    "odd weight": SvmSettings(penalty=0.05, positive_weight=7.3, tolerance=1e-7),
}


def windows(count, length=30, seed=0):
    rng = np.random.default_rng(seed)
    x = np.abs(rng.standard_normal((count, length))).astype(np.float32)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def train(exemplars, negatives, settings, allowed=None):
    if allowed is None:
        allowed = np.ones((len(exemplars), len(negatives)), bool)
    return exemplar_svms.fit(
        matrices.gram(negatives),
        matrices.cross_gram(exemplars, negatives),
        np.diag(matrices.gram(exemplars)),
        allowed,
        settings,
    )


@pytest.mark.parametrize("case", CASES)
def test_machines_are_those_of_libsvm(case):
    exemplars, negatives, settings = windows(5), windows(120, seed=1), CASES[case]
    svms = train(exemplars, negatives, settings)
    w = oracle.weights(svms, exemplars, negatives)
    for e, x in enumerate(exemplars):
        c, weight = settings.penalty, settings.positive_weight
        wanted, bias = oracle.exemplar_svm(x, negatives, c, weight)
        np.testing.assert_allclose(w[e], wanted, atol=1e-4 * np.abs(wanted).max())
        ours = oracle.primal(w[e], svms.biases[e], x, negatives, c, weight)
        theirs = oracle.primal(wanted, bias, x, negatives, c, weight)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_optimality_conditions_hold(case):
    exemplars, negatives, settings = windows(8), windows(150, seed=1), CASES[case]
    svms = train(exemplars, negatives, settings)
    c, top = settings.penalty, settings.penalty * settings.positive_weight
    assert ((svms.negatives >= 0) & (svms.negatives <= c)).all()
    assert ((svms.positives >= 0) & (svms.positives <= top)).all()
    np.testing.assert_allclose(svms.negatives.sum(axis=1), svms.positives, rtol=1e-9)
    w = oracle.weights(svms, exemplars, negatives)
    slack = 1e-4 * max(1, np.abs(w).max())
    margins = -(w @ negatives.T + svms.biases[:, None])
    assert (margins[svms.negatives == 0] >= 1 - slack).all()
    assert (margins[svms.negatives == c] <= 1 + slack).all()
    free = (svms.negatives > 0) & (svms.negatives < c)
    assert free.any()
    np.testing.assert_allclose(margins[free], 1, atol=slack)
    own = (w * exemplars).sum(axis=1) + svms.biases
    assert (own[svms.positives < top] >= 1 - slack).all()
    assert (own[svms.positives > 0] <= 1 + slack).all()


def test_gap_and_shares_are_reported():
    exemplars, negatives = windows(8), windows(300, seed=1)
    loose = train(exemplars, negatives, SvmSettings(tolerance=1e-2))
    tight = train(exemplars, negatives, SvmSettings(tolerance=1e-6))
    assert -1e-9 < tight.worst_gap < 1e-5 < loose.worst_gap < 0.05
    assert 50 <= tight.support <= 300
    counted = (tight.negatives == 0.01).sum() / (tight.negatives > 0).sum()
    assert tight.at_bound == counted
    assert 0 < counted < 1


def test_an_exemplar_is_not_set_against_its_own_image():
    exemplars, negatives = windows(6), windows(100, seed=1)
    allowed = np.random.default_rng(2).random((6, 100)) < 0.7
    svms = train(exemplars, negatives, CASES["as in the method"], allowed)
    assert (svms.negatives[~allowed] == 0).all()
    w = oracle.weights(svms, exemplars, negatives)
    for e, x in enumerate(exemplars):
        wanted, _ = oracle.exemplar_svm(x, negatives[allowed[e]], 0.01, 50.0)
        np.testing.assert_allclose(w[e], wanted, atol=1e-4)


def test_fewer_negatives_than_the_weight_of_the_positive():
    exemplars, negatives = windows(3), windows(7, seed=1)
    svms = train(exemplars, negatives, SvmSettings())
    np.testing.assert_array_equal(svms.negatives, 0.01)
    np.testing.assert_allclose(svms.positives, 0.07)


def test_equal_windows_give_a_defined_machine():
    same = np.ones((80, 5), np.float32)
    svms = train(same[:2], same, SvmSettings())
    assert np.isfinite(svms.biases).all()
    np.testing.assert_allclose(oracle.weights(svms, same[:2], same), 0, atol=1e-6)


def test_an_exemplar_does_not_depend_on_the_others():
    exemplars, negatives = windows(6), windows(100, seed=1)
    gram, cross = matrices.gram(negatives), matrices.cross_gram(exemplars, negatives)
    norms, allowed = np.ones(6), np.ones((6, 100), bool)
    all_six = exemplar_svms.fit(gram, cross, norms, allowed, SvmSettings())
    last = exemplar_svms.fit(gram, cross[5:], norms[5:], allowed[5:], SvmSettings())
    np.testing.assert_array_equal(last.negatives[0], all_six.negatives[5])
    assert last.biases[0] == all_six.biases[5]


def test_impossible_tasks_are_refused():
    exemplars, negatives = windows(2), windows(60, seed=1)
    allowed = np.ones((2, 60), bool)
    allowed[1] = False
    with pytest.raises(ValueError, match="exemplar 1 has no negative"):
        train(exemplars, negatives, SvmSettings(), allowed)
    with pytest.raises(ValueError, match="no exemplars"):
        train(exemplars[:0], negatives, SvmSettings())
    hurried = dataclasses.replace(SvmSettings(), tolerance=1e-9, limit=2)
    with pytest.raises(RuntimeError, match="after 2 steps"):
        train(exemplars, negatives, hurried)
