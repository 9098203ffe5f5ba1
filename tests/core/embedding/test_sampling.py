import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import embedding as oracle

from belvedere.core.embedding import sampling
from belvedere.core.embedding.sampling import SamplingSettings
from belvedere.core.windows import boxes as geometry

SETTINGS = SamplingSettings()
TRUTH = np.array([[20.0, 20, 80, 80], [5.0, 60, 40, 99]])


def random_boxes(count, seed=0):
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 70, (count, 2))
    return np.hstack([low, low + rng.integers(5, 60, (count, 2))]).astype(float)


def test_sample_is_that_of_the_oracle():
    boxes = random_boxes(400)
    drawn = sampling.sample(boxes, TRUTH, "cat/1", SETTINGS)
    wanted = oracle.sample(boxes, TRUTH, "cat/1", (1, 9, 10, 10), 0)
    assert [(s, tuple(b)) for s, b in zip(drawn.strata, drawn.boxes, strict=True)] == (
        wanted
    )


def test_indices_point_to_the_boxes():
    boxes = random_boxes(400)
    drawn = sampling.sample(boxes, TRUTH, "cat/1", SETTINGS)
    is_truth = drawn.strata == sampling.TRUTH
    assert (drawn.boxes[is_truth] == TRUTH[drawn.indices[is_truth]]).all()
    assert (drawn.boxes[~is_truth] == boxes[drawn.indices[~is_truth]]).all()


def test_windows_lie_in_their_strata():
    drawn = sampling.sample(random_boxes(2000), TRUTH, "cat/1", SETTINGS)
    assert np.bincount(drawn.strata).tolist() == [1, 9, 10, 10]
    ious = geometry.ious(drawn.boxes, TRUTH).max(axis=1)
    assert (ious[drawn.strata == sampling.HIGH] >= 0.5).all()
    middle = ious[drawn.strata == sampling.MIDDLE]
    assert ((middle >= 0.2) & (middle < 0.5)).all()
    assert (ious[drawn.strata == sampling.LOW] < 0.2).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 60))
def test_sample_does_not_depend_on_the_order_of_candidates(seed, count):
    boxes = random_boxes(count, seed)
    shuffled = np.random.default_rng(seed).permutation(boxes)
    a = sampling.sample(boxes, TRUTH, "cat/1", SETTINGS)
    b = sampling.sample(shuffled, TRUTH[::-1], "cat/1", SETTINGS)
    np.testing.assert_array_equal(a.boxes, b.boxes)
    np.testing.assert_array_equal(a.strata, b.strata)
    np.testing.assert_array_equal(a.lots, b.lots)


def test_image_and_seed_change_the_sample():
    boxes = random_boxes(400)
    base = sampling.sample(boxes, TRUTH, "cat/1", SETTINGS)
    other = sampling.sample(boxes, TRUTH, "cat/2", SETTINGS)
    reseeded = sampling.sample(boxes, TRUTH, "cat/1", SamplingSettings(seed=1))
    assert (base.boxes != other.boxes).any()
    assert (base.boxes != reseeded.boxes).any()


def test_a_short_stratum_stays_short():
    low = np.array([[0.0, 0, 5, 5], [90.0, 0, 99, 5]])
    drawn = sampling.sample(low, TRUTH, "cat/1", SETTINGS)
    assert np.bincount(drawn.strata).tolist() == [1, 0, 0, 2]


def test_an_image_without_truth_is_refused():
    with pytest.raises(ValueError, match="'cat/1' has no true box"):
        sampling.sample(random_boxes(3), np.zeros((0, 4)), "cat/1", SETTINGS)


def test_lots_are_those_of_the_oracle_and_know_no_negative_zero():
    boxes = np.array([[0.0, 0, 5, 5], [1.5, 2, 3, 4]])
    wanted = [oracle.lot("some purpose", "é", box) for box in boxes]
    assert sampling.draw_lots("some purpose", "é", boxes).tolist() == wanted
    boxes[0, 0] = -0.0
    assert sampling.draw_lots("some purpose", "é", boxes).tolist() == wanted


def test_later_lots_do_not_favour_images_with_many_windows():
    lots = []
    for count in (30, 3000):
        samples = [
            sampling.negatives(random_boxes(count, i), f"{count}/{i}", 10, SETTINGS)
            for i in range(40)
        ]
        lots.append(sampling.joined(samples).lots / 2.0**64)
    for some in lots:
        assert abs(some.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 400)


def test_exemplars_keep_the_shares_of_the_strata():
    rng = np.random.default_rng(0)
    strata = rng.permutation(np.repeat([0, 1, 2, 3], [30, 270, 300, 300]))
    lots = rng.integers(0, 2**63, 900).astype(np.uint64)
    chosen = sampling.exemplars(strata, lots, 100)
    counts = np.bincount(strata[chosen])
    assert counts.sum() == len(np.unique(chosen)) == 100
    assert (np.abs(counts - np.array([30, 270, 300, 300]) / 9) < 1).all()
    for stratum in range(4):
        members = strata == stratum
        limit = lots[chosen][strata[chosen] == stratum].max()
        assert (lots[members] <= limit).sum() == counts[stratum]


def test_exemplars_do_not_depend_on_order():
    rng = np.random.default_rng(0)
    strata = rng.integers(0, 4, 200)
    lots = rng.integers(0, 2**63, 200).astype(np.uint64)
    order = rng.permutation(200)
    a = sampling.exemplars(strata, lots, 50)
    b = order[sampling.exemplars(strata[order], lots[order], 50)]
    np.testing.assert_array_equal(a, b)


def test_few_windows_are_all_exemplars():
    strata, lots = np.array([3, 0, 3]), np.array([5, 6, 7], np.uint64)
    assert sorted(sampling.exemplars(strata, lots, 1000)) == [0, 1, 2]
    with pytest.raises(ValueError, match="negative window"):
        sampling.exemplars(np.array([sampling.NEGATIVE]), lots[:1], 1)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), unique=True), st.integers(0, 9))
def test_bottom_of_bottoms_is_bottom_of_all(numbers, cut):
    lots = np.array(numbers, np.uint64)
    parts = [lots[:cut], lots[cut:]]
    merged = np.concatenate([part[sampling.bottom(part, 4)] for part in parts])
    np.testing.assert_array_equal(
        merged[sampling.bottom(merged, 4)], lots[sampling.bottom(lots, 4)]
    )
    assert sorted(numbers)[:4] == lots[sampling.bottom(lots, 4)].tolist()


def test_negatives_are_windows_of_any_kind():
    boxes = random_boxes(500)
    drawn = sampling.negatives(boxes, "cat/1", 50, SETTINGS)
    assert len(drawn) == len(np.unique(drawn.indices)) == 50
    assert geometry.ious(drawn.boxes, TRUTH).max() > 0.2
    assert (drawn.strata == sampling.NEGATIVE).all()
    assert (drawn.boxes == boxes[drawn.indices]).all()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=3), min_size=1), st.integers(1, 7), st.randoms())
def test_balanced_folds(names, folds, random):
    drawn = dict(zip(names, sampling.balanced_folds(names, folds), strict=True))
    sizes = np.bincount(list(drawn.values()), minlength=folds)
    assert len(sizes) == folds and sizes.max() - sizes.min() <= 1
    shuffled = random.sample(names, len(names))
    again = sampling.balanced_folds(shuffled, folds)
    assert again.tolist() == [drawn[name] for name in shuffled]
