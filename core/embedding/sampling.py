"""Which windows are learned from: strata, exemplars, negatives, folds.

Paper: section 3 and Vezhnevets & Ferrari 2014 say nothing on the counts. A training
image gives 30 windows, stratified on the IoU with its object: 1 true box, 9 of high,
10 of middle and 10 of low overlap. Objects, parts and background all become exemplars,
else "background" could not be an axis of the embedding.

Every choice is drawn by lot, and a window's lot is a hash of its image's id and its
corners: the same windows are chosen whatever the order of images, of candidates or of
machines, and a draw over many images is the draw over the draws of its parts.

Departures: a stratum with fewer windows than its quota stays short. Filling it from the
others would mostly add background, of which there is enough.
"""

import dataclasses
import hashlib
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64, UInt64

from belvedere.core import types
from belvedere.core.windows import boxes as geometry

STRATA = ("truth", "high", "middle", "low", "negative")
TRUTH, HIGH, MIDDLE, LOW, NEGATIVE = range(len(STRATA))


@dataclasses.dataclass(frozen=True)
class SamplingSettings:
    """How many windows an image gives, by stratum, and where the strata meet."""

    truth: int = 1
    high: int = 9
    middle: int = 10
    low: int = 10
    high_from: float = 0.5
    middle_from: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        types.require_range(self, ("truth", "high", "middle", "low"), 0)
        types.require_range(self, ("high_from", "middle_from"), 0, 1)
        types.require_range(self, ("seed",), 0, types.LARGEST_SEED)


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """Windows drawn from one image.

    `indices` point into the candidates, or into the true boxes for stratum `truth`;
    `lots` are fresh ones, with which a later draw among all images is made.
    """

    boxes: Float[np.ndarray, "S 4"]
    indices: Int64[np.ndarray, "S"]
    strata: Int64[np.ndarray, "S"]
    lots: UInt64[np.ndarray, "S"]

    def __len__(self) -> int:
        return len(self.boxes)


def sample(
    boxes: Float[np.ndarray, "N 4"],
    truth: Float[np.ndarray, "T 4"],
    image_id: str,
    settings: SamplingSettings,
) -> Sample:
    """The training windows of an image, by stratum and then by lot.

    Args:
      boxes: candidate windows.
      truth: true boxes, at least one; they are windows themselves.
      image_id: name of the image, the same wherever it is processed.
      settings: quotas.
    """
    if len(truth) == 0:
        raise ValueError(f"image {image_id!r} has no true box to sample around")
    strata = _strata(geometry.ious(boxes, truth).max(axis=1), settings)
    quotas = (settings.truth, settings.high, settings.middle, settings.low)
    parts = [
        _draw(truth, np.ones(len(truth), bool), image_id, quotas[0], TRUTH, settings)
    ]
    for stratum in (HIGH, MIDDLE, LOW):
        quota = quotas[stratum]
        parts.append(
            _draw(boxes, strata == stratum, image_id, quota, stratum, settings)
        )
    return joined(parts)


def negatives(
    boxes: Float[np.ndarray, "N 4"],
    image_id: str,
    count: int,
    settings: SamplingSettings,
) -> Sample:
    """Up to `count` windows, any of them, of an image of another class.

    Args:
      boxes: candidate windows.
      image_id: name of the image.
      count: how many this image may give.
      settings: the seed.
    """
    every = np.ones(len(boxes), bool)
    return _draw(boxes, every, image_id, count, NEGATIVE, settings)


def exemplars(
    strata: Int64[np.ndarray, "S"], lots: UInt64[np.ndarray, "S"], count: int
) -> Int64[np.ndarray, "E"]:
    """Indices of `count` of a class's sampled windows, each stratum keeping its share.

    Shares are rounded by largest remainder; fewer windows than `count` are all taken.
    """
    if (strata == NEGATIVE).any():
        raise ValueError("a negative window cannot be an exemplar")
    sizes = np.bincount(strata, minlength=NEGATIVE)
    quotas = _proportional(sizes, min(count, len(strata)))
    chosen = []
    for stratum, quota in enumerate(quotas):
        members = np.flatnonzero(strata == stratum)
        chosen.append(members[bottom(lots[members], int(quota))])
    return np.concatenate(chosen).astype(np.int64)


def bottom(lots: UInt64[np.ndarray, "S"], count: int) -> Int64[np.ndarray, "K"]:
    """Indices of the `count` smallest lots, ascending; of equals the first."""
    return np.argsort(lots, kind="stable")[: max(count, 0)].astype(np.int64)


def balanced_folds(
    image_ids: Sequence[str], folds: int = 5, seed: int = 0
) -> Int64[np.ndarray, "S"]:
    """The fold of each image, their sizes differing by at most one.

    Ids may repeat, and keep their fold. All ids of the class have to be at hand.
    """
    ranked = sorted(
        set(image_ids), key=lambda name: (_number(f"fold\0{seed}\0{name}"), name)
    )
    fold = {name: rank % folds for rank, name in enumerate(ranked)}
    return np.array([fold[name] for name in image_ids], np.int64)


def draw_lots(
    purpose: str, image_id: str, boxes: Float[np.ndarray, "N 4"]
) -> UInt64[np.ndarray, "N"]:
    """A number for each window that depends on purpose, image and corners alone."""
    begun = hashlib.blake2b(f"{purpose}\0{image_id}\0".encode(), digest_size=8)
    numbers = []
    for corners in (boxes + 0.0).astype("<f8"):  # + 0.0: no negative zeros
        digest = begun.copy()
        digest.update(corners.tobytes())
        numbers.append(int.from_bytes(digest.digest(), "little"))
    return np.array(numbers, np.uint64)


def joined(samples: Sequence[Sample]) -> Sample:
    """The windows of several samples, one after the other."""
    return Sample(
        boxes=np.concatenate([s.boxes for s in samples]),
        indices=np.concatenate([s.indices for s in samples]),
        strata=np.concatenate([s.strata for s in samples]),
        lots=np.concatenate([s.lots for s in samples]),
    )


def _draw(
    boxes: Float[np.ndarray, "N 4"],
    eligible: Bool[np.ndarray, "N"],
    image_id: str,
    quota: int,
    stratum: int,
    settings: SamplingSettings,
) -> Sample:
    pool = np.flatnonzero(eligible)
    first = bottom(draw_lots(f"draw {settings.seed}", image_id, boxes[pool]), quota)
    drawn = boxes[pool[first]].astype(np.float64)
    # A second, independent lot: the drawn windows' first lots are small by selection,
    # the smaller the more windows their image has.
    again = draw_lots(f"redraw {settings.seed}", image_id, drawn)
    strata = np.full(len(drawn), stratum, np.int64)
    return Sample(drawn, pool[first].astype(np.int64), strata, again)


def _strata(
    ious: Float[np.ndarray, "N"], settings: SamplingSettings
) -> Int64[np.ndarray, "N"]:
    is_high, is_middle = ious >= settings.high_from, ious >= settings.middle_from
    return np.where(is_high, HIGH, np.where(is_middle, MIDDLE, LOW)).astype(np.int64)


def _proportional(sizes: Int64[np.ndarray, "K"], total: int) -> Int64[np.ndarray, "K"]:
    """Shares of `total` in proportion to `sizes`, rounded by largest remainder."""
    exact = sizes * total / max(sizes.sum(), 1)
    shares = np.floor(exact).astype(np.int64)
    order = np.argsort(shares - exact, kind="stable")
    shares[order[: total - shares.sum()]] += 1
    return shares


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
