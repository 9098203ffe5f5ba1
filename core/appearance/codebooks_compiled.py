# mypy: ignore-errors
"""Nearest centres in exact integer arithmetic.

|d - c|² is smallest where 2 d·c - |c|² is largest; both are integers below 2³¹ for
descriptors of at most a few channels of length 512, so no rounding and no order of
summation can change a word. Equal centres: the first one.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def nearest(descriptor, centres, squares, begin, end):
    """Number, in [begin, end), of the centre nearest to `descriptor`, and its score."""
    best, score = begin, np.int64(-(2**62))
    for k in range(begin, end):
        centre = centres[k]
        product = np.int32(0)
        for d in range(len(descriptor)):
            # int32 throughout: numba would widen to int64, which is not vectorised.
            term = np.int32(np.int32(descriptor[d]) * np.int32(centre[d]))
            product = np.int32(product + term)
        here = 2 * np.int64(product) - squares[k]
        if here > score:
            best, score = k, here
    return best, score


@numba.njit(cache=True, nogil=True)
def words(descriptors, branches, branch_squares, leaves, leaf_squares, starts):
    """Two-level search: the nearest branch, then the nearest of its leaves."""
    found = np.empty(len(descriptors), np.uint16)
    for i in range(len(descriptors)):
        here = descriptors[i]
        b, _ = nearest(here, branches, branch_squares, 0, len(branches))
        found[i] = nearest(here, leaves, leaf_squares, starts[b], starts[b + 1])[0]
    return found


@numba.njit(cache=True, nogil=True)
def assign(samples, centres, squares):
    """Nearest centre of every sample and its score, 2 d·c - |c|²."""
    labels = np.empty(len(samples), np.int64)
    scores = np.empty(len(samples), np.int64)
    for i in range(len(samples)):
        labels[i], scores[i] = nearest(samples[i], centres, squares, 0, len(centres))
    return labels, scores


@numba.njit(cache=True, nogil=True)
def sums(samples, labels, count):
    """Sum and number of the samples of each label."""
    totals = np.zeros((count, samples.shape[1]), np.int64)
    sizes = np.zeros(count, np.int64)
    for i in range(len(samples)):
        sizes[labels[i]] += 1
        total = totals[labels[i]]
        for d in range(samples.shape[1]):
            total[d] += samples[i, d]
    return totals, sizes
