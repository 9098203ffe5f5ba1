"""k-means on integer vectors, in exact arithmetic.

Departures: our own Lloyd iteration rather than a library's. Centres are rounded to
integers after each round and all sums are integers, so that the result depends on the
samples and the random numbers alone, not on threads, BLAS or the order of summation.
"""

import numpy as np
from jaxtyping import Int16, Int64

from belvedere.core.appearance import codebooks_compiled


def fit(
    samples: Int16[np.ndarray, "n D"],
    count: int,
    rng: np.random.Generator,
    rounds: int = 20,
) -> tuple[Int16[np.ndarray, "K D"], Int64[np.ndarray, "n"]]:
    """Centres and each sample's label, after at most `rounds` rounds of Lloyd.

    A centre that lost all its samples moves to the sample farthest from its own centre.
    """
    if not 1 <= count <= len(samples):
        raise ValueError(f"{count} centres of {len(samples)} samples, wanted 1 or more")
    centres = samples[_seeds(samples, count, rng)]
    labels = np.full(len(samples), -1)
    for _ in range(rounds):
        before = labels
        labels, scores = assign(samples, centres)
        if (labels == before).all():
            break
        centres = _means(samples, labels, scores, count)
    return centres, assign(samples, centres)[0]


def assign(
    samples: Int16[np.ndarray, "n D"], centres: Int16[np.ndarray, "K D"]
) -> tuple[Int64[np.ndarray, "n"], Int64[np.ndarray, "n"]]:
    """Nearest centre of each sample, the first of equals, and 2 d·c - |c|²."""
    return codebooks_compiled.assign(samples, centres, squares(centres))


def squares(vectors: Int16[np.ndarray, "n D"]) -> Int64[np.ndarray, "n"]:
    """Squared lengths."""
    return (vectors.astype(np.int64) ** 2).sum(axis=1)


def _seeds(
    samples: Int16[np.ndarray, "n D"], count: int, rng: np.random.Generator
) -> Int64[np.ndarray, "K"]:
    """k-means++: each further start is drawn with the square of its distance."""
    lengths = squares(samples)
    chosen = np.empty(count, np.int64)
    chosen[0] = rng.integers(len(samples))
    distances = np.full(len(samples), np.iinfo(np.int64).max)
    for k in range(1, count):
        last = chosen[k - 1 : k]
        scores = codebooks_compiled.assign(samples, samples[last], lengths[last])[1]
        distances = np.minimum(distances, lengths - scores)
        heap = np.cumsum(distances)
        drawn = rng.integers(max(heap[-1], 1))
        chosen[k] = min(np.searchsorted(heap, drawn, "right"), len(samples) - 1)
    return chosen


def _means(
    samples: Int16[np.ndarray, "n D"],
    labels: Int64[np.ndarray, "n"],
    scores: Int64[np.ndarray, "n"],
    count: int,
) -> Int16[np.ndarray, "K D"]:
    totals, sizes = codebooks_compiled.sums(samples, labels, count)
    number = np.maximum(sizes, 1)[:, None]
    centres = ((2 * totals + number) // (2 * number)).astype(np.int16)
    lost = np.flatnonzero(sizes == 0)
    distances = squares(samples) - scores
    farthest = np.argsort(-distances, kind="stable")[: len(lost)]
    centres[lost] = samples[farthest]
    return centres
