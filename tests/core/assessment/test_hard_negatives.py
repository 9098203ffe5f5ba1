import numpy as np
import pytest
import toy_class
import toys
from oracles import baselines as oracle

from belvedere.core.assessment import hard_negatives, labelled_windows, uva
from belvedere.core.windows import boxes


@pytest.fixture(scope="module")
def windows():
    return labelled_windows.gathered(
        toy_class.samples("car"), toy_class.negatives("car"), uva.FEATURES, 3, 0
    )


@pytest.fixture(scope="module")
def rounds(windows):
    """The stock before mining, and after each of two rounds."""
    known = toy_class.learned("car")
    stocks = [uva.first_stock(windows)]
    for _ in range(2):
        hard = hard_negatives.mined(
            stocks[-1].learned(1.0),
            stocks[-1].windows,
            windows,
            known.views,
            known.truths,
            toys.eyes(),
        )
        stocks.append(stocks[-1].grown(hard))
    return stocks


def _new(rounds, k):
    windows = rounds[k].windows
    return windows.part(np.arange(len(windows)) >= len(rounds[k - 1].windows))


@pytest.mark.parametrize("seed", range(5))
def test_the_hardest_are_the_highest_that_are_apart(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 20, (40, 2))
    candidates = np.hstack([low, low + rng.uniform(20, 60, (40, 2))])
    scores = rng.integers(0, 9, 40).astype(float)
    scores[:5] = -np.inf
    known = candidates[rng.integers(0, 40, 3)]
    got = hard_negatives.hardest(scores, candidates, known, 6)
    assert got.tolist() == oracle.hardest(scores, candidates, known, 6, 0.7)


def test_without_eligible_windows_nothing_is_mined():
    box = np.array([[0.0, 0.0, 5.0, 5.0]])
    for scores, known in (([-np.inf], box[:0]), ([1.0], box)):
        assert len(hard_negatives.hardest(np.array(scores), box, known, 3)) == 0


@pytest.mark.parametrize("k", [1, 2])
def test_every_round_adds_negatives_of_both_kinds_of_pictures(rounds, k):
    new = _new(rounds, k)
    assert (new.ious < 0.5).all()
    assert new.of_class.any() and (~new.of_class).any()
    most = np.where(new.of_class, 3, 1)
    assert (np.bincount(new.images)[new.images] <= most).all()


@pytest.mark.parametrize("k", [1, 2])
def test_what_is_mined_is_new(rounds, k):
    old, new = rounds[k - 1].windows, _new(rounds, k)
    for number in np.unique(new.images):
        before = old.boxes[(old.images == number) & ~old.positive]
        mined = new.boxes[new.images == number]
        assert (boxes.ious(mined, before) <= 0.7).all()


def test_what_is_mined_scored_high_and_is_learned(rounds, windows):
    new = _new(rounds, 1).features
    before, after = (stock.learned(1.0) for stock in rounds[:2])
    off = windows.part(windows.of_class & (windows.ious < 0.5)).features
    assert before.outputs(new).mean() > before.outputs(off).mean()
    assert after.outputs(new).mean() < before.outputs(new).mean()


def test_grown_kernels_are_those_of_all_windows(rounds):
    want = uva.intersection.gram(rounds[1].windows.features["sift_rgb"])
    np.testing.assert_allclose(rounds[1].grams["sift_rgb"], want, rtol=1e-12)


def test_a_machine_without_a_fold_does_not_depend_on_it(rounds):
    stock = rounds[1]
    folds = stock.windows.folds
    less = stock.windows.part(folds != 1)
    kept = np.flatnonzero(folds != 1)
    grams = {name: g[np.ix_(kept, kept)] for name, g in stock.grams.items()}
    want = uva.Stock(less, grams).learned(1.0)
    got = stock.learned(1.0, without=1)
    np.testing.assert_allclose(
        got.outputs(less.features), want.outputs(less.features), rtol=1e-12
    )
