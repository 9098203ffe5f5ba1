# mypy: ignore-errors
"""Brute force in batches: what the exact search is compared with."""

import numba
import numpy as np

from belvedere.core.context import hyperfeatures_compiled as terms


@numba.njit(cache=True, fastmath=terms.REASSOCIATE)
def _row(similarity, a, b, c, a_i, b_i, c_i):
    sum_a, sum_b, sum_c = np.float32(0), np.float32(0), np.float32(0)
    for j in range(similarity.shape[0]):
        k = similarity[j]
        sum_a += k * abs(a_i - a[j])
        sum_b += k * abs(b_i - b[j])
        sum_c += k * abs(c_i - c[j])
    return sum_a, sum_b, sum_c


@numba.njit(cache=True)
def batched(geometry, kernel, mean, std, weights, batch):
    """Best window by float32 phi_G of every window, `batch` windows per row of K.

    A row of K is read once for the whole batch and stays in the nearest cache.
    """
    n = kernel.shape[0]
    pairs = max(n * (n - 1) / 2, 1.0)
    rho, phi = np.empty((3, n)), np.empty(11)
    values = np.empty((batch, 3, n), np.float32)
    scores = np.empty(n)
    for first in range(0, n, batch):
        size = min(batch, n - first)
        for w in range(size):
            terms.relations_to(geometry, first + w, rho)
            phi[:3] = 0
            terms.cheap_terms(rho, kernel, mean, std, first + w, False, phi)
            scores[first + w] = terms.score(phi, weights, 0.0)
            for r in range(3):
                for i in range(n):
                    values[w, r, i] = rho[r, i]
        for i in range(n - 1):
            similarity = kernel[i, i + 1 :]
            for w in range(size):
                a, b, c = values[w, 0], values[w, 1], values[w, 2]
                one, two, three = _row(
                    similarity, a[i + 1 :], b[i + 1 :], c[i + 1 :], a[i], b[i], c[i]
                )
                scores[first + w] += (
                    weights[0] * one + weights[1] * two + weights[2] * three
                ) / pairs
    return scores.argmax()
