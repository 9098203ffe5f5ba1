"""The search gives what brute force gives, always, and can prove it."""

import dataclasses

import contexts
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import context as oracle

from belvedere.core.context import certificate, inference
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import Context


def _case(seed, n, kind, signs, augmented):
    rng = np.random.default_rng(seed)
    image = contexts.context(rng, n, kind)
    weights = contexts.weights(rng, signs)
    extra = None
    if augmented:
        extra = rng.uniform(0, 1, n)
        extra[rng.integers(n)] = -np.inf
    return image, weights, extra


def _assert_exact(image, weights, extra, consistency=Consistency.MAX):
    scores = inference.brute_force(image, weights, extra, consistency)
    ranking = np.lexsort((np.arange(len(scores)), -scores))
    found = inference.search(image, weights, extra, consistency)
    assert found.window == ranking[0]
    assert found.score == scores[ranking[0]]
    if len(scores) > 1 and scores[ranking[1]] > -np.inf:
        assert found.runner_up == ranking[1]
        assert found.runner_up_score == scores[ranking[1]]
    window, score, _ = inference.early_reject(image, weights, extra, consistency)
    assert (window, score) == (found.window, found.score)
    certificate.check(image, weights, found.certificate, extra, consistency)
    alone = inference.search(image, weights, extra, consistency, wanted=1)
    assert (alone.window, alone.score) == (found.window, found.score)
    certificate.check(image, weights, alone.certificate, extra, consistency)


def _random_cases(count, sizes, seed):
    rng = np.random.default_rng(seed)
    for number in range(count):
        n = int(rng.integers(*sizes, endpoint=True))
        kind = contexts.KERNELS[number % len(contexts.KERNELS)]
        signs = contexts.SIGNS[(number // 6) % len(contexts.SIGNS)]
        augmented = n > 1 and number % 3 == 0
        yield _case(seed * 10**6 + number, n, kind, signs, augmented)


def test_search_equals_brute_force():
    for case in _random_cases(300, (1, 60), seed=1):
        _assert_exact(*case)


@pytest.mark.slow
@pytest.mark.parametrize("tenth", range(10))
def test_search_equals_brute_force_in_ten_thousand_cases(tenth):
    for case in _random_cases(1000, (1, 200), seed=100 + tenth):
        _assert_exact(*case)


def test_the_checker_follows_the_search_where_relations_are_equal_but_for_rounding():
    _assert_exact(*_case(2_008_271, 159, "rank_one", "global_only", augmented=True))


def test_search_equals_brute_force_with_many_windows():
    for case in _random_cases(2, (1000, 1000), seed=3):
        _assert_exact(*case)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_search_equals_brute_force_in_two_hundred_large_cases(part):
    for case in _random_cases(50, (1000, 1000), seed=400 + part):
        _assert_exact(*case)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    kind=st.sampled_from(contexts.KERNELS),
    weights=st.lists(st.floats(-50, 50, width=32), min_size=11, max_size=11),
    consistency=st.sampled_from(list(Consistency)),
)
def test_search_equals_brute_force_for_any_weights(seed, n, kind, weights, consistency):
    image, _, _ = _case(seed, n, kind, "zero", augmented=False)
    _assert_exact(image, np.array(weights), None, consistency)


@pytest.mark.parametrize("signs", contexts.SIGNS)
def test_an_independent_sum_agrees_where_the_best_two_differ(signs):
    for seed in range(20):
        image, weights, extra = _case(seed, 25, "smooth", signs, augmented=True)
        scores = oracle.scores(image, weights, extra)
        best, second = np.sort(scores)[::-1][:2]
        if best - second > 1e-9 * (1 + abs(best)):
            assert inference.search(image, weights, extra).window == scores.argmax()


def test_equal_scores_go_to_the_lowest_window():
    image = contexts.context(np.random.default_rng(0), 30)
    twice = np.concatenate([np.arange(30), np.arange(30)])
    doubled = Context(
        image.boxes[twice],
        np.ascontiguousarray(image.kernel[np.ix_(twice, twice)]),
        np.ascontiguousarray(image.mean[:, twice]),
        image.std[twice],
    )
    for signs in contexts.SIGNS:
        weights = contexts.weights(np.random.default_rng(1), signs)
        found = inference.search(doubled, weights)
        scores = inference.brute_force(doubled, weights)
        assert found.window == scores.argmax() < 30
        _assert_exact(doubled, weights, None)


def test_a_left_out_window_is_never_returned():
    image = contexts.context(np.random.default_rng(0), 20)
    weights = contexts.weights(np.random.default_rng(1), "mixed")
    first = inference.search(image, weights)
    extra = np.zeros(20)
    extra[first.window] = -np.inf
    second = inference.search(image, weights, extra)
    assert (second.window, second.score) == (first.runner_up, first.runner_up_score)


def test_few_windows_are_scored_when_the_appearance_score_leads():
    rng = np.random.default_rng(7)
    image = contexts.context(rng, 400)
    found = inference.search(image, contexts.weights(rng, "learned"))
    assert found.certificate.evaluated < 40


class TestCheckerCatches:
    """A checker that passes everything would prove nothing."""

    @pytest.fixture
    def case(self):
        image, weights, _ = _case(3, 60, "smooth", "mixed", augmented=False)
        return image, weights, inference.search(image, weights).certificate

    def test_a_wrong_winner(self, case):
        image, weights, good = case
        other = int((good.windows[0] + 1) % 60)
        bad = dataclasses.replace(good, windows=np.array([other, good.windows[1]]))
        with pytest.raises(ValueError, match=r"claimed|may score"):
            certificate.check(image, weights, bad)

    def test_a_score_that_is_too_low(self, case):
        image, weights, good = case
        bad = dataclasses.replace(good, scores=good.scores - 1e-3)
        with pytest.raises(ValueError, match="scores"):
            certificate.check(image, weights, bad)

    def test_a_window_called_rejected_that_was_not(self, case):
        image, weights, good = case
        scores = inference.brute_force(image, weights)
        order = np.argsort(-scores)
        bad = dataclasses.replace(
            good, windows=order[1:3], scores=np.sort(scores)[::-1][1:3]
        )
        with pytest.raises(ValueError, match="may score"):
            certificate.check(image, weights, bad)

    def test_a_window_left_out_without_leave(self, case):
        image, weights, good = case
        stages = good.stages.copy()
        stages[5] = 0
        bad = dataclasses.replace(good, stages=stages)
        with pytest.raises(ValueError, match="left out"):
            certificate.check(image, weights, bad)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.full(11, np.nan)}, "weights"),
        ({"weights": np.zeros(10)}, "weights"),
        ({"extra": np.zeros(3)}, "extra has shape"),
        ({"extra": np.full(5, np.inf)}, "extra must be finite"),
        ({"extra": np.full(5, -np.inf)}, "every window is left out"),
    ],
)
def test_bad_inputs_are_refused(change, message):
    image = contexts.context(np.random.default_rng(0), 5)
    arguments = {"weights": np.ones(11), "extra": None} | change
    with pytest.raises(ValueError, match=message):
        inference.search(image, **arguments)


@pytest.mark.parametrize("entry", [(0, 1), (1, 0)])
def test_an_asymmetric_or_negative_kernel_is_refused(entry):
    image = contexts.context(np.random.default_rng(0), 5)
    kernel = image.kernel.copy()
    kernel[entry] -= 0.5
    bad = dataclasses.replace(image, kernel=kernel)
    with pytest.raises(ValueError, match="symmetric"):
        inference.search(bad, np.ones(11))
    kernel[entry[::-1]] = kernel[entry] = -0.1
    with pytest.raises(ValueError, match="negative"):
        inference.search(dataclasses.replace(image, kernel=kernel), np.ones(11))
