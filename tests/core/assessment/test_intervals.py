import numpy as np
import pytest
from oracles import assessment as oracle

from belvedere.core.assessment import evaluation, intervals


def draw(seed, n=60, gain=0.0, noise=0.05):
    """Two methods on the same images, the first better by `gain`."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.2, 0.8, n)
    labels = np.array(["a", "b"] * (n // 2))

    def method(shift):
        ious = np.clip(hard + shift + noise * rng.normal(size=n), 0, 1)
        return evaluation.Outcome(ious, np.round(ious + rng.normal(size=n), 1), labels)

    return method(gain), method(0.0)


def test_equals_repeating_the_images_drawn():
    one, other = draw(1, n=20, gain=0.1)
    found = intervals.paired(one, other, np.random.default_rng(5), resamples=40)
    rng = np.random.default_rng(5)
    draws = [rng.integers(20, size=20) for _ in range(40)]
    statistics = {
        "mean_iou": lambda ious, scores: ious.mean(),
        "auc": oracle.auc,
        "returned_at_0.70": lambda i, s: oracle.returned_at(i, s, 0.70),
        "returned_at_0.75": lambda i, s: oracle.returned_at(i, s, 0.75),
        "returned_at_0.80": lambda i, s: oracle.returned_at(i, s, 0.80),
    }
    assert list(found) == list(statistics)
    for name, statistic in statistics.items():
        differences = oracle.differences(one, other, statistic, draws)
        (mid,) = oracle.differences(one, other, statistic, [np.arange(20)])
        low, high = np.quantile(differences, [0.025, 0.975])
        assert found[name] == pytest.approx((low, mid, high), abs=1e-12)


def test_ratios_are_of_the_same_draws():
    one, other = draw(1, n=20, gain=0.1)
    found = intervals.ratios(one, other, np.random.default_rng(5), resamples=40)
    rng = np.random.default_rng(5)
    draws = [np.arange(20), *(rng.integers(20, size=20) for _ in range(40))]
    mid, *drawn = [
        oracle.auc(one.ious[d], one.scores[d])
        / oracle.auc(other.ious[d], other.scores[d])
        for d in draws
    ]
    assert found["auc"].mid == pytest.approx(mid)
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    assert found["auc"] == pytest.approx((low, mid, high))


def test_a_ratio_to_nothing_is_infinite_and_of_nothing_to_nothing_one():
    labels, order = np.array(["a"] * 20), np.arange(20.0)
    good = evaluation.Outcome(np.full(20, 0.78), order, labels)
    poor = evaluation.Outcome(np.full(20, 0.3), order, labels)
    rng = np.random.default_rng
    found = intervals.ratios(good, poor, rng(0), 50)
    assert found["returned_at_0.75"] == (np.inf, np.inf, np.inf)
    assert found["returned_at_0.80"] == (1, 1, 1)
    back = intervals.ratios(poor, good, rng(0), 50)
    assert back["returned_at_0.75"] == (0, 0, 0)


def test_a_method_does_not_differ_from_itself():
    one, _ = draw(2)
    for interval in intervals.paired(one, one, np.random.default_rng(0), 50).values():
        assert interval == (0, 0, 0)


def test_swapping_the_methods_mirrors_the_interval():
    one, other = draw(3, gain=0.05)
    there = intervals.paired(one, other, np.random.default_rng(1), 200)["auc"]
    back = intervals.paired(other, one, np.random.default_rng(1), 200)["auc"]
    assert back == pytest.approx((-there.high, -there.mid, -there.low))


def test_pairing_sees_a_difference_smaller_than_the_spread_of_images():
    one, other = draw(4, gain=0.05)
    low, mid, high = intervals.paired(one, other, np.random.default_rng(0), 500)[
        "mean_iou"
    ]
    assert 0 < low < mid < high
    unpaired = np.sqrt((one.ious.var() + other.ious.var()) / len(one.ious))
    assert high - low < 2 * unpaired  # an unpaired interval is 4 of these wide


def test_refuses_outcomes_of_different_images():
    one, _ = draw(5)
    _, shorter = draw(5, n=40)
    renamed = evaluation.Outcome(one.ious, one.scores, one.labels[::-1].copy())
    for other in (shorter, renamed):
        with pytest.raises(ValueError, match="same images"):
            intervals.paired(one, other, np.random.default_rng(0))
