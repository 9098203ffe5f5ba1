import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import assessment as oracle

from belvedere.core.assessment import calibration


def draw(seed, n, levels=10**6):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, n) / levels - 0.3
    return scores, np.clip(scores + 0.3 * rng.normal(size=n), 0, 1)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10, 25),
    levels=st.sampled_from([1, 3, 10**6]),
)
@settings(max_examples=40, deadline=None)
def test_equals_the_max_min_formula(seed, n, levels):
    scores, ious = draw(seed, n, levels)
    fitted = calibration.fit(scores, ious).expected(scores)
    assert fitted == pytest.approx(oracle.isotonic(scores, ious), abs=1e-9)


def test_equals_scikit_learn_between_and_beyond_the_knots():
    from sklearn.isotonic import IsotonicRegression

    scores, ious = draw(1, 80)
    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    regression.fit(scores, ious)
    asked = np.linspace(-2, 2, 999)
    found = calibration.fit(scores, ious).expected(asked)
    assert found == pytest.approx(regression.predict(asked), abs=1e-9)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_never_falls_and_stays_in_range(seed, n):
    found = calibration.fit(*draw(seed, n)).expected(np.linspace(-9, 9, 200))
    assert (np.diff(found) >= 0).all()
    assert 0 <= found.min() <= found.max() <= 1


def test_keeps_the_mean():
    scores, ious = draw(2, 50)
    fitted = calibration.fit(scores, ious).expected(scores)
    assert fitted.mean() == pytest.approx(ious.mean())


def test_few_images_promise_their_mean():
    scores, ious = draw(3, 9)
    found = calibration.fit(scores, ious).expected(np.array([-5.0, 0.1, 5.0]))
    assert found == pytest.approx(np.full(3, ious.mean()))
    assert np.ptp(calibration.fit(*draw(3, 10)).ious) > 0


def test_knots_must_rise():
    with pytest.raises(ValueError, match="rise"):
        calibration.Calibration(np.array([0.0, 0.0]), np.array([0.1, 0.2]))
    with pytest.raises(ValueError, match="rise"):
        calibration.Calibration(np.array([0.0, 1.0]), np.array([0.2, 0.1]))
    with pytest.raises(ValueError, match="rise"):
        calibration.Calibration(np.zeros(0), np.zeros(0))


def test_refuses_nothing_and_nan():
    with pytest.raises(ValueError, match="no scores"):
        calibration.fit(np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="NaN"):
        calibration.fit(np.array([np.nan]), np.array([0.5]))


def test_reliability_is_by_decile_of_the_images():
    rng = np.random.default_rng(0)
    predicted = rng.permutation(np.linspace(0.6, 0.7, 104) ** 3)
    observed = rng.uniform(size=104)
    bins = calibration.reliability(predicted, observed)
    assert len(bins) == 10
    assert {b["images"] for b in bins} == {10, 11}
    first = np.argsort(predicted)[: bins[0]["images"]]
    assert bins[0] == {
        "predicted": pytest.approx(predicted[first].mean()),
        "observed": pytest.approx(observed[first].mean()),
        "images": len(first),
    }


@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 60), levels=st.sampled_from([1, 4, 99])
)
@settings(max_examples=40, deadline=None)
def test_reliability_keeps_equals_together_and_counts_each_image_once(seed, n, levels):
    rng = np.random.default_rng(seed)
    predicted, observed = rng.integers(0, levels, n) / 128, rng.uniform(size=n)
    bins = calibration.reliability(predicted, observed)
    assert sum(b["images"] for b in bins) == n
    means = [b["observed"] * b["images"] for b in bins]
    assert sum(means) == pytest.approx(observed.sum())
    assert len(bins) <= min(10, len(set(predicted)))
    assert (np.diff([b["predicted"] for b in bins]) > 0).all()
    ends = np.cumsum([b["images"] for b in bins])[:-1]
    rising = np.sort(predicted)
    assert (rising[ends - 1] < rising[ends]).all()


@pytest.mark.parametrize("n", [3, 20, 200])
def test_the_shortfall_is_kept_by_nine_boxes_of_ten(n):
    rng = np.random.default_rng(n)
    scores, ious = rng.uniform(size=n), rng.uniform(size=n)
    promise = calibration.fit(scores, ious)
    taken = calibration.shortfall(promise, scores, ious)
    kept = ious >= promise.expected(scores) - taken - 1e-12
    assert kept.mean() >= 0.9
    if n < 9:
        assert taken == 1
    else:
        assert taken < 1
        closer = ious >= promise.expected(scores) - taken * 0.9
        assert closer.mean() < kept.mean()
