import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assessment as oracle

from belvedere.core.assessment import constant_box


def draw(seed, images=8):
    rng = np.random.default_rng(seed)

    def image():
        corners = np.sort(rng.uniform(size=(int(rng.integers(1, 4)), 2, 2)), axis=1)
        return corners.reshape(-1, 4)

    return [image() for _ in range(images)]


@given(seed=st.integers(0, 10**6), images=st.integers(1, 8))
@settings(max_examples=30, deadline=None)
def test_equals_trying_each_candidate(seed, images):
    truths = draw(seed, images)
    every = np.concatenate(truths)
    candidates = [*every, every.mean(axis=0), np.median(every, axis=0)]
    worths = [oracle.worth_of_box(c, truths) for c in candidates]
    best = constant_box.best_constant_box(truths)
    assert oracle.worth_of_box(best, truths) == pytest.approx(max(worths))
    assert any((best == c).all() for c in candidates)
    assert constant_box.mean_ious(np.array(candidates), truths) == pytest.approx(worths)


def test_many_candidates_are_judged_in_parts():
    truths = draw(1, images=300)
    every = np.concatenate(truths)
    worths = constant_box.mean_ious(every, truths)
    for k in (0, 255, 256, 257, len(every) - 1):
        assert worths[k] == pytest.approx(oracle.worth_of_box(every[k], truths))


def test_the_only_box_is_the_best():
    (truth,) = draw(2, images=1)
    assert (constant_box.best_constant_box([truth[:1]]) == truth[0]).all()


def test_refuses_images_without_boxes():
    for truths in ([], [np.zeros((0, 4))]):
        with pytest.raises(ValueError, match="true box"):
            constant_box.best_constant_box(truths)
