# mypy: ignore-errors
"""The paper's own fast inference: a queue ordered by one constant bound."""

import numba
import numpy as np

from belvedere.core.context import hyperfeatures_compiled as terms
from belvedere.core.context.search_compiled import insert


@numba.njit(cache=True, nogil=True)
def early_reject(geometry, kernel, mean, std, by_mean, weights, extra):
    """The paper's queue with the constant bound of its equation 8.

    Returns the best window, its score and how many windows were scored.
    """
    n = kernel.shape[0]
    pairs = max(n * (n - 1) / 2, 1.0)
    constant = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            constant += np.float64(kernel[i, j])
    constant /= pairs
    rho, phi = np.empty((3, n)), np.zeros((n, 11))
    bound = np.empty(n)
    for l in range(n):
        terms.relations_to(geometry, l, rho)
        terms.cheap_terms(rho, kernel, mean, std, l, by_mean, phi[l])
        bound[l] = terms.score(phi[l], weights, extra[l])
        size = abs(bound[l])
        for p in range(11):
            size += abs(weights[p]) * (constant if p < 3 else abs(phi[l, p]))
        for r in range(3):
            bound[l] += max(weights[r], 0.0) * constant
        bound[l] += (n + 64) * 2.0**-52 * size
    queue = np.argsort(-bound, kind="mergesort")
    scores, windows, evaluated = np.full(1, -np.inf), np.full(1, -1), 0
    for l in queue:
        if bound[l] == -np.inf or bound[l] < scores[0]:
            break
        terms.relations_to(geometry, l, rho)
        terms.global_terms(rho, kernel, phi[l])
        insert(terms.score(phi[l], weights, extra[l]), l, scores, windows)
        evaluated += 1
    return windows[0], scores[0], evaluated
