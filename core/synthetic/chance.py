"""Chance in the toy world: where its randomness comes from."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def generator(label: str, seed: int, attempt: int) -> np.random.Generator:
    """A generator that depends on nothing but these three values."""
    digest = hashlib.sha256(f"{label}/{seed}/{attempt}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def one_of(rng: np.random.Generator, options: Sequence[T]) -> T:
    """Any of the options, each as likely."""
    return options[int(rng.integers(len(options)))]


def coin(rng: np.random.Generator, share: float = 0.5) -> bool:
    """True in a `share` of the cases."""
    return bool(rng.random() < share)
