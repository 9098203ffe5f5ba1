"""Copies of a picture are found, other pictures are left alone."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import near_duplicates as oracle
from PIL import Image as PillowImage

from belvedere.core.assessment import near_duplicates
from belvedere.core.synthetic import scenes
from belvedere.core.types import Image

SCENES = [
    scenes.draw(label, seed).image.pixels
    for label in ("zebra", "car", "bird")
    for seed in range(8)
]


def fingerprint(pixels):
    return near_duplicates.fingerprint(Image(np.ascontiguousarray(pixels)))


def saved(pixels, quality):
    file = io.BytesIO()
    PillowImage.fromarray(np.ascontiguousarray(pixels)).save(
        file, "JPEG", quality=quality
    )
    return np.asarray(PillowImage.open(file).convert("RGB"))


def resized(pixels, width, height):
    picture = PillowImage.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(picture.resize((width, height)))


def cropped(pixels, top, left, bottom, right):
    height, width = pixels.shape[:2]
    rows = slice(round(top * height), height - round(bottom * height))
    return pixels[rows, round(left * width) : width - round(right * width)]


COPIES = {
    "recompressed": lambda p: saved(p, 30),
    "smaller": lambda p: resized(p, 160, 120),
    "larger, another shape": lambda p: resized(p, 900, 500),
    "cropped": lambda p: cropped(p, 0.015, 0.015, 0.015, 0.015),
    "cropped at a corner": lambda p: cropped(p, 0.015, 0.015, 0, 0),
    "mirrored": lambda p: p[:, ::-1],
    "all of it": lambda p: saved(resized(cropped(p, 0, 0.01, 0.01, 0), 200, 150), 60)[
        :, ::-1
    ],
}


def grouped(pictures, distance=near_duplicates.DISTANCE):
    prints = np.stack([fingerprint(p) for p in pictures])
    names = [f"{n:03}" for n in range(len(pictures))]
    return near_duplicates.groups(names, names, prints, distance)


@pytest.mark.parametrize("number", [0, 9, 17])
def test_fingerprint_is_that_of_the_definition(number):
    assert oracle.bits(fingerprint(SCENES[number])) == oracle.signs(SCENES[number])


@pytest.mark.parametrize("kind", COPIES)
def test_copies_join_their_pictures_and_no_others(kind):
    count = len(SCENES)
    found = grouped([*SCENES, *(COPIES[kind](p) for p in SCENES)])
    assert found.tolist() == [*range(count), *range(count)]


def test_a_picture_upside_down_is_another():
    assert grouped([SCENES[0], SCENES[0][::-1]]).tolist() == [0, 1]


def test_mirroring_turns_the_second_half_of_a_fingerprint():
    one, other = fingerprint(SCENES[3]), fingerprint(SCENES[3][:, ::-1])
    assert np.bitwise_count(one[:2] ^ other[:2]).sum() <= 2
    assert np.bitwise_count(one[2:] ^ ~other[2:]).sum() <= 2


def smooth(levels):
    return np.broadcast_to(levels[..., None], (60, 80, 3)).astype(np.uint8)


@pytest.mark.parametrize(
    "plain",
    [
        [smooth(np.full((60, 80), level)) for level in (0, 7, 128, 255)],
        [smooth(np.tile(np.linspace(a, 250, 80), (60, 1))) for a in (0, 20, 90)],
        [smooth(np.linspace(a, 200, 60)[:, None].repeat(80, 1)) for a in (0, 60)],
        [
            saved(np.full((60, 80, 3), level, np.uint8) + noise, 80)
            for level, noise in zip(
                (30, 90, 150),
                np.random.default_rng(0).integers(0, 2, (3, 60, 80, 3), np.uint8),
                strict=True,
            )
        ],
    ],
    ids=["one colour", "gradient", "another gradient", "noise"],
)
def test_plain_pictures_are_not_alike_unless_their_bytes_are(plain):
    prints = np.stack([fingerprint(p) for p in plain])
    assert not prints.any()
    names = [f"{n}" for n in range(len(plain))]
    alone = near_duplicates.groups(names, names, prints)
    assert alone.tolist() == list(range(len(plain)))
    together = near_duplicates.groups(names, ["same"] * len(plain), prints)
    assert not together.any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (3, 2), (31, 33)])
def test_small_pictures_have_a_fingerprint_of_some_kind(shape):
    pixels = np.random.default_rng(1).integers(0, 256, (*shape, 3), np.uint8)
    assert fingerprint(pixels).shape == (near_duplicates.WORDS,)


@st.composite
def collections(draw):
    """Ids, hashes and fingerprints near to a few, so that chains of copies occur."""
    n = draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    centres = rng.integers(0, 2**63, (3, 4), np.uint64, endpoint=True)
    prints = centres[rng.integers(0, 3, n)]
    for _ in range(draw(st.integers(0, 9))):
        rows = np.flatnonzero(rng.random(n) < 0.7)
        words = rng.integers(0, 4, len(rows))
        bit = rng.integers(0, 64, len(rows)).astype(np.uint64)
        prints[rows, words] ^= np.uint64(1) << bit
    prints[rng.random(n) < 0.4, 2:] ^= np.uint64(2**64 - 1)
    prints[:, 0] |= np.uint64(2**63)
    prints[rng.random(n) < 0.1] = 0
    ids = [f"{name}" for name in rng.permutation(100)[:n]]
    if n > 3 and draw(st.booleans()):
        ids[0] = ids[-1]
    return ids, [f"{h}" for h in rng.integers(0, 3 * n, n)], prints


@settings(max_examples=60, deadline=None)
@given(collections(), st.integers(0, 12))
def test_groups_are_those_of_a_double_loop(some, distance):
    found = near_duplicates.groups(*some, distance).tolist()
    assert found == oracle.groups(*some, distance)


@settings(max_examples=20, deadline=None)
@given(collections(), st.randoms(use_true_random=False))
def test_the_order_of_pictures_does_not_matter(some, random):
    order = list(range(len(some[0])))
    random.shuffle(order)
    mixed = [[values[i] for i in order] for values in some]
    found = near_duplicates.groups(mixed[0], mixed[1], np.stack(mixed[2]), 5)
    assert found.tolist() == near_duplicates.groups(*some, 5)[order].tolist()


def test_blocks_make_no_difference(monkeypatch):
    rng = np.random.default_rng(4)
    prints = rng.integers(0, 2**63, (6, 4), np.uint64)[rng.integers(0, 6, 50)]
    prints ^= np.uint64(1) << rng.integers(0, 63, (50, 4)).astype(np.uint64)
    names = [f"{n:02}" for n in range(50)]
    whole = near_duplicates.groups(names, names, prints, 10)
    monkeypatch.setattr(near_duplicates, "_BLOCK", 7)
    small = near_duplicates.groups(names, names, prints, 10)
    assert small.tolist() == whole.tolist()
    assert len(set(whole.tolist())) == 6


def test_no_pictures_no_groups():
    assert len(near_duplicates.groups([], [], np.zeros((0, 4), np.uint64))) == 0


def test_what_does_not_fit_is_refused():
    prints = np.ones((2, 4), np.uint64)
    with pytest.raises(ValueError, match="1 hashes"):
        near_duplicates.groups(["a", "b"], ["x"], prints)
    with pytest.raises(ValueError, match="distance of 128"):
        near_duplicates.groups(["a", "b"], ["x", "y"], prints, 128)
