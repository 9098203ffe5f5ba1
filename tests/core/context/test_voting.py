import contexts
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import context as oracle

from belvedere.core.context import voting
from belvedere.core.context.voting import Voting


def _voted(windows, scores, rules):
    best = int(scores.argmax())
    who = voting.voters(windows, best, rules)
    return voting.elected(windows[best], windows[who], scores[who], rules)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    least=st.floats(0.05, 1.0),
    temperature=st.floats(0.02, 3.0),
)
@settings(max_examples=60, deadline=None)
def test_equals_the_average_of_those_that_overlap(seed, n, least, temperature):
    rng = np.random.default_rng(seed)
    windows, scores = contexts.boxes(rng, n), rng.normal(size=n)
    rules = Voting(least, temperature)
    found, wanted = (f(windows, scores, rules) for f in (_voted, oracle.voted))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_a_window_alone_stands_for_itself_to_the_bit():
    rng = np.random.default_rng(1)
    for _ in range(20):
        windows = rng.uniform(0, 50, (40, 4)) + np.array([0, 0, 50, 50])
        scores = rng.uniform(size=40)
        found = _voted(windows, scores, voting.NONE)
        np.testing.assert_array_equal(found, windows[scores.argmax()])


@given(seed=st.integers(0, 10**6), n=st.integers(1, 30))
@settings(max_examples=200, deadline=None)
def test_no_side_is_beyond_those_of_the_voters(seed, n):
    rng = np.random.default_rng(seed)
    sides = rng.uniform(1, 1000, (2, 4)) + np.array([0, 0, 1000, 1000])
    boxes = sides[rng.integers(0, 2, n)]
    box = voting.elected(sides[0], boxes, rng.normal(size=n), Voting())
    assert (boxes.min(axis=0) <= box).all()
    assert (box <= boxes.max(axis=0)).all()


def test_those_with_a_higher_score_have_more_to_say():
    windows = np.array([[0.0, 0, 10, 10], [0, 0, 10, 12], [0, 0, 10, 8]])
    scores = np.array([0.5, 0.49, 0.1])
    for temperature, bottom in ((1e-4, 10.0), (1e-1, 11.0), (1e6, 10.0)):
        box = _voted(windows, scores, Voting(0.4, temperature))
        np.testing.assert_allclose(box, [0, 0, 10, bottom], atol=0.1)


def test_far_windows_have_no_vote_whatever_they_promise():
    windows = np.array([[0.0, 0, 10, 10], [4, 4, 14, 14], [30, 30, 40, 40]])
    box = _voted(windows, np.array([1.0, 0.999, 0.999]), Voting(0.4, 1.0))
    np.testing.assert_array_equal(box, windows[0])


def test_enormous_scores_do_not_overflow():
    windows = np.array([[0.0, 0, 10, 10], [0, 0, 10, 12]])
    box = _voted(windows, np.array([-1e6, 1e6]), Voting())
    np.testing.assert_allclose(box, windows[1])


def test_refuses_what_is_no_rule_or_no_window():
    for wrong in ({"least_iou": 0.0}, {"least_iou": 1.1}, {"temperature": 0.0}):
        with pytest.raises(ValueError, match="wanted"):
            Voting(**wrong)
    with pytest.raises(ValueError, match="window 2"):
        voting.voters(np.ones((2, 4)), 2, Voting())
