"""Which pictures are copies of one another: recompressed, rescaled, cropped, mirrored.

A near-duplicate on the other side of a fold makes a method look better than it is. A
picture's fingerprint is the signs of its lowest frequencies: grey, 32 x 32, cosine
transform. The frequencies come in two halves, even and odd along x: mirroring leaves
the first as they are and turns every sign of the second, so that one comparison serves
a picture and its mirror image.

Frequencies that rounding may turn say nothing. A picture with too few others (one
colour, a gradient) has the fingerprint 0 and is like no other, unless bytes are equal.

The default distance lies below that of any two of 1,685 photographs (60, two airplanes
before the sky) and above that of copies cropped by 2% at each side (55 at most); with
3% it finds five of six. Plain copies, mirrored or not, differ in less than 15 signs.
"""

from collections.abc import Sequence, Sized

import cv2
import numpy as np
from jaxtyping import Bool, Int64, UInt64
from scipy import sparse
from scipy.sparse import csgraph

from belvedere.core.types import Image

DISTANCE = 56  # of 255 signs
WORDS = 4
_SIDE = 32
_HALF = 128  # signs in each half; the very first is that of the mean, always positive
_NOISE = 1.0  # grey levels; rounding of pixels makes 0.3
_FEWEST = 128  # frequencies above the noise
_BLOCK = 512  # pictures compared with all others at a time


def fingerprint(image: Image) -> UInt64[np.ndarray, "4"]:
    """The signs of the lowest 127 even and 128 odd frequencies, or 0 if it has few."""
    grey = cv2.cvtColor(np.ascontiguousarray(image.pixels), cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    waves = cv2.dct(small.astype(np.float64)).ravel()[_FREQUENCIES]
    if (np.abs(waves[1:]) > _NOISE).sum() < _FEWEST:
        return np.zeros(WORDS, np.uint64)
    return np.packbits(waves > 0).view(">u8").astype(np.uint64)


def groups(
    ids: Sequence[str],
    content_hashes: Sequence[str],
    fingerprints: UInt64[np.ndarray, "n 4"],
    distance: int = DISTANCE,
) -> Int64[np.ndarray, " n"]:
    """The group of each picture; pictures of different groups are not alike.

    Two are alike if their id or their bytes are the same, or if their fingerprints
    differ in at most `distance` signs, one of them mirrored or not; and so are those
    that are alike to a third. Groups are numbered in the order of their smallest ids,
    so that the order of pictures does not matter.

    Args:
      ids: names of the pictures.
      content_hashes: of their bytes.
      fingerprints: of their pixels.
      distance: in signs, of 255.
    """
    if not len(ids) == len(content_hashes) == len(fingerprints):
        said = f"{len(ids)} ids, {len(content_hashes)} hashes"
        raise ValueError(f"{said}, {len(fingerprints)} fingerprints: wanted as many")
    if not 0 <= distance < _HALF:
        raise ValueError(f"a distance of {distance}, wanted 0 to {_HALF - 1}")
    if not ids:
        return np.zeros(0, np.int64)
    equal = (_all(ids), _first_of_equals(content_hashes))
    labels = _joined(_first_of_equals(ids), equal)
    known = np.flatnonzero(fingerprints.any(axis=1))
    prints, which = np.unique(fingerprints[known], axis=0, return_inverse=True)
    some = np.empty(len(prints), np.int64)
    some[which] = known
    labels = _joined(labels, (known, some[which]))
    for start in range(0, len(prints), _BLOCK):
        rest, block = some[start:], some[start : start + _BLOCK]
        new = labels[block][:, None] != labels[rest][None, :]
        i, j = np.nonzero(new & _near(prints.T[:, start:], distance))
        labels = _joined(labels, (block[i], rest[j]))
    return _numbered(ids, labels)


def _near(prints: UInt64[np.ndarray, "4 m"], distance: int) -> Bool[np.ndarray, "b m"]:
    """Which of the first block of pictures are like which of all."""
    even, odd = (_differing(half, half[:, :_BLOCK]) for half in np.split(prints, 2))
    return even + np.minimum(odd, _HALF - odd) <= distance


def _differing(
    rest: UInt64[np.ndarray, "w n"], block: UInt64[np.ndarray, "w b"]
) -> np.ndarray:
    """How many bits differ, [b, n], at most 128: they fit into uint8."""
    total = np.zeros((block.shape[1], rest.shape[1]), np.uint8)
    for theirs, own in zip(rest, block, strict=True):
        total += np.bitwise_count(theirs[None, :] ^ own[:, None])
    return total


def _joined(
    labels: Int64[np.ndarray, " n"],
    ties: tuple[Int64[np.ndarray, " t"], Int64[np.ndarray, " t"]],
) -> Int64[np.ndarray, " n"]:
    """Joins the parts that ties hold together; a part is named by its first picture."""
    heads = np.concatenate([_all(labels), ties[0]])
    tails = np.concatenate([labels, ties[1]])
    size = (len(labels), len(labels))
    graph = sparse.coo_array((np.ones(len(heads), bool), (heads, tails)), size)
    return _first_of_equals(csgraph.connected_components(graph, directed=False)[1])


def _all(values: Sized) -> Int64[np.ndarray, " n"]:
    return np.arange(len(values))


def _first_of_equals(names: Sequence[str] | np.ndarray) -> Int64[np.ndarray, " n"]:
    """For each the number of the first that has the same name."""
    _, first, which = np.unique(
        np.asarray(names), return_index=True, return_inverse=True
    )
    return first[which].astype(np.int64)


def _numbered(
    ids: Sequence[str], labels: Int64[np.ndarray, " n"]
) -> Int64[np.ndarray, " n"]:
    number: dict[int, int] = {}
    result = np.empty(len(labels), np.int64)
    for k in sorted(range(len(ids)), key=lambda k: ids[k]):
        result[k] = number.setdefault(int(labels[k]), len(number))
    return result


def _lowest(odd: bool, count: int) -> Int64[np.ndarray, " k"]:
    """The lowest frequencies, odd or even along x, as places in the transform."""
    y, x = np.indices((_SIDE, _SIDE)).reshape(2, -1)
    order = np.lexsort((y, x + y))
    return order[x[order] % 2 == odd][:count].astype(np.int64)


_FREQUENCIES = np.concatenate([_lowest(False, _HALF), _lowest(True, _HALF)])
