"""Codebooks: visual words learned on training images, frozen, known by their content.

A codebook is a tree of two levels: a descriptor goes to the nearest branch, then to the
nearest of that branch's leaves, which is its word. One branch makes a flat codebook
with exact nearest-word search.

Paper: section 5 (after Uijlings et al., IJCV 2013, section 5.3): k-means, hard
assignment, 4,000 words.

Departures: hierarchical k-means instead of a flat one, with 1,024 words: the words are
the leaves of the tree by definition, so its search is no approximation. It is many
times faster both to learn and to use (about 2·sqrt(words) distances a descriptor).
"""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping

import numpy as np
from jaxtyping import Int16, Int64, UInt16

from belvedere.core.appearance import codebooks_compiled, kmeans

MOST_WORDS = 2**16


@dataclasses.dataclass(frozen=True, eq=False)
class Codebook:
    """The words of one feature type.

    Attributes:
      name: of the feature type.
      branches: centres of the upper level.
      leaves: the words; those of branch b are starts[b] ... starts[b + 1] - 1.
      starts: where each branch begins in `leaves`, and the end.
      settings: what else the words depend on, for the record; plain values.
    """

    name: str
    branches: Int16[np.ndarray, "B D"]
    leaves: Int16[np.ndarray, "K D"]
    starts: Int64[np.ndarray, "B+1"]
    settings: Mapping[str, str | int | float] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, array in (("branches", self.branches), ("leaves", self.leaves)):
            if array.ndim != 2 or array.dtype != np.int16:
                raise ValueError(f"{name}: {array.dtype} {array.shape}, wanted int16")
        if self.branches.shape[1] != self.leaves.shape[1]:
            raise ValueError(
                f"branches have {self.branches.shape[1]} numbers, leaves "
                f"{self.leaves.shape[1]}"
            )
        if not 1 <= len(self) <= MOST_WORDS:
            raise ValueError(f"{len(self)} words, wanted 1 to {MOST_WORDS}")
        ends = (self.starts[0], self.starts[-1], len(self.starts))
        if (
            ends != (0, len(self), len(self.branches) + 1)
            or (np.diff(self.starts) < 1).any()
        ):
            raise ValueError(f"starts {self.starts} do not cut {len(self)} leaves")

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def length(self) -> int:
        """Of a descriptor."""
        return int(self.leaves.shape[1])

    @functools.cached_property
    def id(self) -> str:
        """SHA-256 of the content, the same on every machine."""
        digest = hashlib.sha256()
        head = {"name": self.name, "settings": dict(self.settings)}
        digest.update(json.dumps(head, sort_keys=True).encode())
        for array in (self.branches, self.leaves, self.starts):
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            digest.update(repr(array.shape).encode() + little.tobytes())
        return digest.hexdigest()

    def words(self, descriptors: Int16[np.ndarray, "n D"]) -> UInt16[np.ndarray, "n"]:
        """The word of each descriptor; equal distances go to the first."""
        if descriptors.shape[1] != self.length:
            raise ValueError(
                f"descriptors of {descriptors.shape[1]} numbers, {self.name} has words "
                f"of {self.length}"
            )
        return codebooks_compiled.words(
            descriptors,
            self.branches,
            self._squares[0],
            self.leaves,
            self._squares[1],
            self.starts,
        )

    @functools.cached_property
    def _squares(self) -> tuple[Int64[np.ndarray, "B"], Int64[np.ndarray, "K"]]:
        return kmeans.squares(self.branches), kmeans.squares(self.leaves)


def sample(
    descriptors: Int16[np.ndarray, "n D"], count: int, rng: np.random.Generator
) -> Int16[np.ndarray, "m D"]:
    """At most `count` descriptors of an image, drawn without repetition."""
    if len(descriptors) <= count:
        return descriptors
    return descriptors[np.sort(rng.choice(len(descriptors), count, replace=False))]


def learn(
    name: str,
    samples: Int16[np.ndarray, "n D"],
    words: int,
    rng: np.random.Generator,
    branches: int | None = None,
    settings: Mapping[str, str | int | float] | None = None,
) -> Codebook:
    """A codebook of `words` words from descriptors of training images.

    Equal samples count once and their order does not matter.

    Args:
      name: of the feature type.
      samples: pooled over images; a few hundred thousand at most.
      words: how many.
      rng: for the starts of k-means.
      branches: of the tree; by default the root of `words`, 1 gives a flat codebook.
      settings: kept in the codebook, part of its id.
    """
    samples = np.unique(samples, axis=0)
    if len(samples) < words:
        raise ValueError(f"{len(samples)} different samples, wanted {words} or more")
    if branches is None:
        branches = max(1, round(words**0.5))
    centres, labels = kmeans.fit(samples, branches, rng)
    centres, labels = _populated(centres, labels)
    shares = _shares(np.bincount(labels), words)
    leaves = [
        kmeans.fit(samples[labels == branch], int(share), rng)[0]
        for branch, share in enumerate(shares)
    ]
    starts = np.concatenate([[0], np.cumsum(shares)]).astype(np.int64)
    return Codebook(name, centres, np.concatenate(leaves), starts, settings or {})


def _populated(
    centres: Int16[np.ndarray, "B D"], labels: Int64[np.ndarray, "n"]
) -> tuple[Int16[np.ndarray, "b D"], Int64[np.ndarray, "n"]]:
    """The same without centres that no sample is nearest to."""
    kept, labels = np.unique(labels, return_inverse=True)
    return centres[kept], labels.astype(np.int64)


def _shares(sizes: Int64[np.ndarray, "B"], words: int) -> Int64[np.ndarray, "B"]:
    """Words for each branch, one at least, nearly in proportion to its samples.

    Words are dealt out one by one to the branch with the most samples per word.
    """
    shares = np.ones(len(sizes), np.int64)
    for _ in range(words - len(sizes)):
        shares[np.argmax(sizes / (shares + 0.5))] += 1
    return shares
