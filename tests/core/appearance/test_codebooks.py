import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import appearance as oracle

from belvedere.core.appearance import codebooks, kmeans
from belvedere.core.appearance.codebooks import Codebook


def blobs(count, each, length=6, seed=0):
    """`count` well separated groups of `each` different integer vectors."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(-9, 10, (count, each, length))
    samples += 100 * rng.permutation(count)[:, None, None]
    return samples.reshape(-1, length).astype(np.int16)


def learned(samples, words=12, seed=5, **options):
    rng = np.random.default_rng(seed)
    return codebooks.learn("toy", samples, words, rng, **options)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 9), st.integers(1, 70))
def test_words_are_those_of_the_two_level_search(seed, branches, more, length):
    """Small integers make equal distances frequent: they go to the first."""
    rng = np.random.default_rng(seed)
    words = branches + more
    cuts = np.sort(rng.choice(np.arange(1, words), branches - 1, replace=False))
    starts = np.concatenate([[0], cuts, [words]]).astype(np.int64)
    drawn = rng.integers(-2, 3, (branches + words + 9, length)).astype(np.int16)
    uppers, leaves, vectors = np.split(drawn, [branches, branches + words])
    wanted = [oracle.word(vector, uppers, leaves, starts) for vector in vectors]
    assert Codebook("toy", uppers, leaves, starts).words(vectors).tolist() == wanted


def test_long_descriptors_do_not_overflow():
    """Three channels of length 512, the longest there are, all in one number each."""
    far = np.zeros((2, 384), np.int16)
    far[0, [0, 128, 256]], far[1, [5, 133, 261]] = 512, 512
    book = Codebook("toy", far[:1], far, np.array([0, 2]))
    assert book.words(far[::-1].copy()).tolist() == [1, 0]


def test_one_branch_is_exact_nearest_word_search(codebook):
    book = codebook("toy", 20, 50)
    found = np.random.default_rng(1).integers(0, 120, (30, 20)).astype(np.int16)
    assert book.words(found).tolist() == [oracle.nearest(d, book.leaves) for d in found]


def test_groups_are_found():
    samples = blobs(4, 30)
    centres, labels = kmeans.fit(samples, 4, np.random.default_rng(0), rounds=50)
    assert len(set(labels.reshape(4, 30)[:, 0])) == 4
    assert (labels.reshape(4, 30) == labels.reshape(4, 30)[:, :1]).all()
    for group, label in zip(samples.reshape(4, 30, -1), labels[::30], strict=True):
        np.testing.assert_allclose(centres[label], group.mean(axis=0), atol=0.5)


def test_rounds_never_make_it_worse():
    samples = blobs(40, 12, seed=2)

    def distortion(rounds):
        centres, labels = kmeans.fit(samples, 15, np.random.default_rng(3), rounds)
        return ((samples.astype(float) - centres[labels]) ** 2).sum()

    errors = [distortion(rounds) for rounds in (1, 2, 4, 8, 30)]
    assert all(late <= early * 1.001 for early, late in itertools.pairwise(errors))
    assert errors[-1] < 0.9 * errors[0]


def test_a_centre_that_no_sample_is_nearest_to_moves_to_a_sample():
    samples = np.array([[50], [50], [50], [90]], np.int16)
    for seed in range(10):
        centres, labels = kmeans.fit(samples, 3, np.random.default_rng(seed))
        assert set(centres.ravel()) == {50, 90}
        np.testing.assert_array_equal(centres[labels], samples)


def test_more_centres_than_samples_are_refused():
    with pytest.raises(ValueError, match="3 centres of 2 samples"):
        kmeans.fit(np.zeros((2, 4), np.int16), 3, np.random.default_rng(0))


@pytest.mark.parametrize("branches", [None, 1, 5])
def test_learning_gives_the_words_asked_for(branches):
    samples = blobs(20, 15)
    book = learned(samples, words=23, branches=branches)
    assert len(book) == 23 and book.length == 6
    assert set(book.words(samples)) == set(range(23))


def test_a_tree_is_nearly_as_close_as_flat_words():
    samples = blobs(30, 40, length=8, seed=4)

    def distortion(branches):
        book = learned(samples, words=60, branches=branches)
        return ((samples.astype(float) - book.leaves[book.words(samples)]) ** 2).sum()

    assert distortion(8) < 1.5 * distortion(1)


def test_learning_depends_on_the_samples_and_the_seed_alone():
    samples = blobs(20, 15)
    shuffled = np.random.default_rng(9).permutation(np.concatenate([samples, samples]))
    assert learned(samples).id == learned(shuffled).id
    assert learned(samples).id != learned(samples, seed=6).id


def test_too_few_different_samples_are_refused():
    samples = np.zeros((50, 3), np.int16)
    with pytest.raises(ValueError, match="1 different samples, wanted 12"):
        learned(samples)


@pytest.mark.parametrize("field", ["name", "branches", "leaves", "starts", "settings"])
def test_the_id_is_of_the_content(field):
    book = learned(blobs(20, 15), settings={"step": 4})
    same = dataclasses.replace(book, leaves=book.leaves.copy(), settings={"step": 4})
    assert same.id == book.id and len(book.id) == 64
    starts = book.starts.copy()
    starts[1] += 1 if starts[2] - starts[1] > 1 else -1
    other = {
        "name": "other",
        "branches": book.branches + np.int16(1),
        "leaves": book.leaves + np.int16(1),
        "starts": starts,
        "settings": {"step": 3},
    }
    assert dataclasses.replace(book, **{field: other[field]}).id != book.id


def test_the_id_does_not_depend_on_the_order_of_the_settings():
    samples = blobs(20, 15)
    one = learned(samples, settings={"step": 4, "sigma": 1.2})
    two = learned(samples, settings={"sigma": 1.2, "step": 4})
    assert one.id == two.id


def test_samples_are_rows_without_repetition():
    rows = np.arange(40, dtype=np.int16)[:, None].repeat(3, axis=1)
    drawn = codebooks.sample(rows, 11, np.random.default_rng(0))
    assert drawn.shape == (11, 3) and len(np.unique(drawn)) == 11
    assert codebooks.sample(rows, 40, np.random.default_rng(0)) is rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": np.array([0, 1, 12])}, "starts"),
        ({"leaves": np.zeros((12, 7), np.int16)}, "leaves"),
        ({"leaves": np.zeros((0, 6), np.int16)}, "0 words"),
        ({"branches": np.zeros((3, 6), np.float32)}, "branches"),
    ],
)
def test_a_broken_codebook_is_refused(change, message):
    book = learned(blobs(20, 15))
    values = {f: getattr(book, f) for f in ("name", "branches", "leaves", "starts")}
    with pytest.raises((ValueError, TypeError), match=message):
        Codebook(**{**values, **change})


def test_descriptors_of_another_length_are_refused(codebook):
    with pytest.raises(ValueError, match="descriptors of 5 numbers"):
        codebook("toy", 4, 10).words(np.zeros((3, 5), np.int16))
