import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assessment as oracle

from belvedere.core.assessment import evaluation


def outcome(ious, scores, labels=None):
    labels = ["a"] * len(ious) if labels is None else labels
    return evaluation.Outcome(
        np.array(ious, float), np.array(scores, float), np.array(labels)
    )


def draw(seed, n, levels):
    """Few levels make many ties."""
    rng = np.random.default_rng(seed)
    ious = rng.integers(0, 9, n) / 8 if levels == 4 else rng.uniform(size=n)
    return outcome(ious, rng.integers(0, levels, n))


cases = given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    levels=st.sampled_from([1, 2, 4, 10, 10**6]),
)


@cases
@settings(max_examples=60, deadline=None)
def test_curve_equals_returning_one_by_one(seed, n, levels):
    given_outcome = draw(seed, n, levels)
    ious, scores = given_outcome.ious.tolist(), given_outcome.scores.tolist()
    curve = evaluation.curve(given_outcome)
    points = np.stack([curve.fractions, curve.means], 1)
    assert points == pytest.approx(np.array(oracle.curve(ious, scores)))
    assert curve.auc == pytest.approx(oracle.auc(ious, scores))
    for t in (0.0, 0.25, 0.5, 0.7, 0.75, 1.0):
        assert curve.returned_at(t) == pytest.approx(
            oracle.returned_at(ious, scores, t)
        )


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), levels=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_curve_is_the_mean_over_all_orders_of_equals(seed, n, levels):
    drawn = draw(seed, n, levels)
    wanted = oracle.curve_over_orders(drawn.ious.tolist(), drawn.scores.tolist())
    assert evaluation.curve(drawn).means == pytest.approx(wanted)


def test_some_of_a_group_of_equals_can_be_returned():
    curve = evaluation.curve(outcome([1.0, 0.9, 0.4, 0.6], [2, 1, 1, 1]))
    assert curve.means == pytest.approx(
        [1.0, (1 + 1.9 / 3) / 2, (1 + 3.8 / 3) / 3, 2.9 / 4]
    )
    assert curve.returned_at(0.75) == 0.75


@cases
@settings(max_examples=40, deadline=None)
def test_order_of_images_changes_not_a_bit(seed, n, levels):
    plain = draw(seed, n, levels)
    order = np.random.default_rng(seed + 1).permutation(n)
    shuffled = evaluation.Outcome(
        plain.ious[order], plain.scores[order], plain.labels[order]
    )
    one, other = evaluation.curve(plain), evaluation.curve(shuffled)
    assert (one.means == other.means).all()
    assert one.returned_at(0.5) == other.returned_at(0.5)
    assert one.auc == other.auc


@cases
@settings(max_examples=40, deadline=None)
def test_counts_are_repeated_images(seed, n, levels):
    plain = draw(seed, n, levels)
    counts = np.random.default_rng(seed).integers(0, 3, n)
    counts[0] += 1
    repeated = evaluation.Outcome(
        plain.ious.repeat(counts),
        plain.scores.repeat(counts),
        plain.labels.repeat(counts),
    )
    curve = evaluation.Ranking.of(plain).curve(counts)
    wanted = evaluation.curve(repeated)
    assert curve.means == pytest.approx(wanted.means)
    assert curve.auc == pytest.approx(wanted.auc)


def test_a_perfect_order_beats_a_random_one_and_a_wrong_one():
    ious = np.random.default_rng(0).uniform(size=200)
    right, none, wrong = (
        evaluation.curve(outcome(ious, s)).auc for s in (ious, 0 * ious, -ious)
    )
    assert right > none + 0.1
    assert none == pytest.approx(ious.mean())
    assert wrong < none - 0.1


def test_returned_at_takes_the_largest_crossing():
    ious = [0.6, 1.0, 0.9, 0.1]
    curve = evaluation.curve(outcome(ious, [4, 3, 2, 1]))
    assert curve.returned_at(0.75) == 0.75
    assert curve.returned_at(0.65) == 1
    assert curve.returned_at(0.95) == 0


def test_a_mean_that_is_reached_up_to_rounding_is_reached():
    for n in range(1, 60):
        assert evaluation.curve(outcome([0.7] * n, range(n))).returned_at(0.7) == 1


def test_figures_of_a_small_world():
    ious, labels = [1.0, 0.5, 0.0, 0.4], ["cat", "cat", "cat", "dog"]
    figures = evaluation.figures(outcome(ious, [4, 3, 2, 1], labels))
    assert figures["mean_iou"] == pytest.approx(1.9 / 4)
    assert figures["macro_iou"] == pytest.approx((0.5 + 0.4) / 2)
    assert figures["corloc"] == 0.5
    assert figures["auc"] == pytest.approx((1 + 0.75 + 0.5 + 1.9 / 4) / 4)
    assert [figures[f"returned_at_{t}"] for t in ("0.70", "0.75", "0.80")] == [
        0.5,
        0.5,
        0.25,
    ]
    assert list(figures["per_class"]) == ["cat", "dog"]
    assert figures["per_class"]["cat"] == {
        "images": 3,
        "mean_iou": pytest.approx(0.5),
        "corloc": pytest.approx(2 / 3),
    }


@pytest.mark.parametrize(
    ("ious", "scores", "labels", "fault"),
    [
        ([], [], [], "no images"),
        ([1.5], [0], ["a"], "IoU"),
        ([-0.1], [0], ["a"], "IoU"),
        ([0.5], [np.nan], ["a"], "NaN"),
        ([np.nan], [0], ["a"], "NaN"),
        ([0.5, 0.5], [0, 1], ["a"], "labels"),
        ([0.5, 0.5], [0], ["a", "a"], "scores"),
    ],
)
# Shapes that disagree are refused by the run-time checker where it is on.
def test_refuses_what_cannot_be_judged(ious, scores, labels, fault):
    with pytest.raises((ValueError, TypeError), match=fault):
        outcome(ious, scores, labels)
