"""Groups stay together, sizes are right, and only ids decide."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belvedere.core.assessment import splits

SHARES = st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.8, 1.0])


@st.composite
def pictures(draw, classes=3, mixed=True):
    """Ids, groups and labels; groups are of one class unless they may be mixed."""
    sizes = draw(st.lists(st.sampled_from([1, 1, 1, 2, 3, 7]), max_size=40))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    label = rng.integers(0, classes, len(groups))
    if not mixed:
        label = label[np.searchsorted(groups, groups)]
    ids = [f"{number}" for number in rng.permutation(1000)[: len(groups)]]
    names = rng.permutation(len(sizes)) * 3 - 5
    groups = names[groups].astype(np.int64) if sizes else groups.astype(np.int64)
    return ids, groups, [f"class {one}" for one in label]


def largest(groups):
    return max(collections.Counter(groups).values(), default=0)


def straddles(groups, sides):
    pairs = set(zip(groups.tolist(), sides.tolist(), strict=True))
    return len(pairs) != len(set(groups.tolist()))


def of_class(labels):
    return {one: np.array([one == name for name in labels]) for one in set(labels)}


@settings(max_examples=60, deadline=None)
@given(pictures(), SHARES, st.integers(0, 5))
def test_no_group_straddles(some, share, seed):
    ids, groups, labels = some
    for given_labels in (labels, None):
        held = splits.holdout(ids, groups, share, seed, given_labels)
        assert not straddles(groups, held)
        fold = splits.folds(ids, groups, 4, seed, given_labels)
        assert not straddles(groups, fold)


@settings(max_examples=60, deadline=None)
@given(pictures(mixed=False), SHARES, st.integers(0, 5))
def test_each_class_gives_its_share(some, share, seed):
    ids, groups, labels = some
    held = splits.holdout(ids, groups, share, seed, labels)
    for own in of_class(labels).values():
        off = abs(held[own].sum() - share * own.sum())
        assert off <= largest(groups[own].tolist()) / 2 + 1e-9


@settings(max_examples=60, deadline=None)
@given(pictures(mixed=False), st.integers(2, 6), st.integers(0, 5))
def test_folds_are_balanced_within_each_class(some, k, seed):
    ids, groups, labels = some
    fold = splits.folds(ids, groups, k, seed, labels)
    for own in of_class(labels).values():
        sizes = np.bincount(fold[own], minlength=k)
        assert len(sizes) == k
        assert sizes.max() - sizes.min() <= largest(groups[own].tolist())


@settings(max_examples=40, deadline=None)
@given(pictures(), st.integers(2, 6))
def test_folds_of_one_class_are_balanced(some, k):
    ids, groups, _ = some
    sizes = np.bincount(splits.folds(ids, groups, k), minlength=k)
    assert sizes.max() - sizes.min() <= largest(groups.tolist())


@settings(max_examples=60, deadline=None)
@given(pictures(), SHARES, st.randoms(use_true_random=False))
def test_neither_order_nor_names_of_groups_matter(some, share, random):
    ids, groups, labels = some
    order = list(range(len(ids)))
    random.shuffle(order)
    mixed = [ids[i] for i in order], 11 - groups[order], [labels[i] for i in order]
    held = splits.holdout(ids, groups, share, 1, labels)
    again = splits.holdout(mixed[0], mixed[1], share, 1, mixed[2])
    assert again.tolist() == held[order].tolist()
    fold = splits.folds(ids, groups, 3, 1, labels)
    again = splits.folds(mixed[0], mixed[1], 3, 1, mixed[2])
    assert again.tolist() == fold[order].tolist()


@settings(max_examples=60, deadline=None)
@given(pictures(), SHARES, st.integers(0, 2))
def test_one_more_picture_moves_one_group_at_most(some, share, number):
    ids, groups, labels = some
    held = splits.holdout(ids, groups, share, 2, labels)
    more = splits.holdout(
        [*ids, "new"], np.append(groups, 10**6), share, 2, [*labels, f"class {number}"]
    )
    moved = groups[more[:-1] != held]
    assert len(set(moved.tolist())) <= 1
    assert {labels[i] for i in np.flatnonzero(more[:-1] != held)} <= {f"class {number}"}


def test_singles_are_held_out_in_the_order_of_their_lots():
    """More is held out with a larger share, and never less of another."""
    ids, groups = [f"{n}" for n in range(200)], np.arange(200)
    few, many = (splits.holdout(ids, groups, share) for share in (0.2, 0.35))
    assert few.sum() == 40 and many.sum() == 70
    assert (many | ~few).all()


def test_seeds_differ_and_folds_owe_nothing_to_the_holdout():
    ids, groups = [f"{n}" for n in range(400)], np.arange(400)
    one, other = (splits.holdout(ids, groups, 0.5, seed) for seed in (0, 1))
    assert 0.35 < (one == other).mean() < 0.65
    fold = splits.folds(ids, groups, 2, 0)
    assert 0.35 < (one == fold).mean() < 0.65


def test_large_groups_are_placed_first():
    """A group of four and four single ones fill two folds evenly, whatever the lots."""
    ids, groups = [f"{n}" for n in range(8)], np.array([0] * 4 + [1, 2, 3, 4])
    for seed in range(10):
        assert np.bincount(splits.folds(ids, groups, 2, seed)).tolist() == [4, 4]


def test_classes_make_up_for_the_groups_they_share():
    """Of 60 cats 20 are dogs too; wherever those fall, a third of all cats is kept."""
    ids = [f"{n}" for n in range(60)] + [f"{n}" for n in range(20)]
    groups = np.array([int(name) for name in ids])
    labels = ["cat"] * 60 + ["dog"] * 20
    shared = set()
    for seed in range(10):
        held = splits.holdout(ids, groups, 0.35, seed, labels)
        assert held[:60].sum() == 21
        shared.add(int(held[:20].sum()))
    assert len(shared) > 1


def test_a_picture_of_two_classes_stays_on_one_side():
    ids = [f"{n}" for n in range(60)] * 2
    groups = np.tile(np.arange(60), 2)
    labels = ["cat"] * 60 + ["dog"] * 60
    held = splits.holdout(ids, groups, 0.35, 0, labels)
    assert held[:60].tolist() == held[60:].tolist()
    assert 5 < held[:60].sum() < 40
    fold = splits.folds(ids, groups, 5, 0, labels)
    assert fold[:60].tolist() == fold[60:].tolist()
    assert np.bincount(fold).tolist() == [24] * 5


def test_what_does_not_fit_is_refused():
    two = np.array([0, 1])
    with pytest.raises(ValueError, match=r"share of 1\.5"):
        splits.holdout(["a", "b"], two, 1.5)
    with pytest.raises(ValueError, match="1 folds"):
        splits.folds(["a", "b"], two, 1)
    with pytest.raises(ValueError, match="'a' is in two groups"):
        splits.folds(["a", "a"], two, 2)
    with pytest.raises(ValueError, match="1 ids, 2 groups"):
        splits.holdout(["a"], two, 0.5)
