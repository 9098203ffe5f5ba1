"""What a picture is known by wherever it lies: a hash of its bytes, a fingerprint.

A model's card tells the marks of the pictures that it was learned from, so that no copy
of one of them is taken for new when the model is judged.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int64

from belvedere.core.assessment import near_duplicates
from belvedere.core.types import Image

_WORD = 16  # hexadecimal digits of each of the fingerprint's numbers


class Mark(NamedTuple):
    """The sha256 of a picture's bytes and its `near_duplicates.fingerprint`, in hex."""

    content: str
    fingerprint: str


def of(data: bytes, image: Image) -> Mark:
    """The mark of a picture's bytes and pixels."""
    prints = near_duplicates.fingerprint(image)
    words = (f"{int(word):0{_WORD}x}" for word in prints)
    return Mark(hashlib.sha256(data).hexdigest(), "".join(words))


def groups(ids: Sequence[str], marks: Sequence[Mark]) -> Int64[np.ndarray, " n"]:
    """The group of each picture; those of one group are near-duplicates."""
    prints = np.array([_numbers(mark) for mark in marks], np.uint64)
    contents = [mark.content for mark in marks]
    return near_duplicates.groups(ids, contents, prints.reshape(-1, 4))


def _numbers(mark: Mark) -> list[int]:
    text = mark.fingerprint
    return [int(text[at : at + _WORD], 16) for at in range(0, len(text), _WORD)]
