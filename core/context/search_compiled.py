# mypy: allow-untyped-defs
"""The exact search: best first, a window's bound tightened only while it leads.

Every window starts with the bound from row sums. The window with the largest bound is
taken and its bound replaced by the next tighter one: from blocks, then phi_G in float32
with its slack, then the exact score in float64. The search ends when the scores found
are above every bound left: nothing is scored whose bound was below the answer.
"""

import numba
import numpy as np

from belvedere.core.context import bounds_compiled as bounds
from belvedere.core.context import hyperfeatures_compiled as terms

# The stage a window has reached.
EXCLUDED, ROWS, BLOCKS, SINGLE, EXACT = 0, 1, 2, 3, 4


@numba.njit(cache=True, nogil=True)
def prepare(geometry, kernel):
    """What the bounds need of K: block order, block sums, block mass, row sums."""
    order = bounds.blocks_of(geometry)
    sums = bounds.block_sums(kernel, order)
    mass = bounds.block_mass(sums)
    row_sums = np.zeros(kernel.shape[0])
    for k in range(kernel.shape[0]):
        for b in range(sums.shape[1]):
            row_sums[order[k]] += sums[k, b]
    return order, sums, mass, row_sums


@numba.njit(cache=True, nogil=True)
def subgradients(geometry, kernel, reference, weights):
    """g at the relations to window `reference`, for the negative weights."""
    rho = np.empty((3, kernel.shape[0]))
    gradients = np.zeros((3, kernel.shape[0]))
    terms.relations_to(geometry, reference, rho)
    for r in range(3):
        if weights[r] < 0:
            bounds.subgradient(rho[r], kernel, gradients[r])
    return gradients


@numba.njit(cache=True, nogil=True)
def first_pass(
    geometry, kernel, mean, std, by_mean, weights, extra, row_sums, gradients
):
    """Everything but phi_G of each window, and its score's bound from row sums.

    Returns:
      phi [N, 11] without its first three; the score without them [N]; how far the
      float64 sums of a score may be off [N]; the bound [N].
    """
    n = kernel.shape[0]
    pairs = max(n * (n - 1) / 2, 1.0)
    total = row_sums.sum()
    slack = bounds.relative_slack(n)
    rho = np.empty((3, n))
    phi = np.zeros((n, 11))
    cheap, margin, bound = np.empty(n), np.empty(n), np.empty(n)
    for l in range(n):
        terms.relations_to(geometry, l, rho)
        terms.cheap_terms(rho, kernel, mean, std, l, by_mean, phi[l])
        cheap[l] = terms.score(phi[l], weights, extra[l])
        size = abs(cheap[l])
        for p in range(3, 11):
            size += abs(weights[p] * phi[l, p])
        best = cheap[l]
        for r in range(3):
            weight = weights[r] / pairs
            size += abs(weight) * total
            if weight > 0:
                best += weight * bounds.row_bound(rho[r], row_sums, total, slack)
            elif weight < 0:
                best += weight * max(bounds.dot(rho[r], gradients[r]), 0.0)
        margin[l] = (n + 64) * 2.0**-52 * size
        bound[l] = best + margin[l]
    return phi, cheap, margin, bound


@numba.njit(cache=True, nogil=True)
def _block_stage(rho, weights, total, order, sums, mass, values, scratch, edges):
    """Bound on the phi_G part of the score of one window, from blocks."""
    n = rho.shape[1]
    pairs = max(n * (n - 1) / 2, 1.0)
    best = 0.0
    for r in range(3):
        weight = weights[r] / pairs
        if weight == 0:
            continue
        relation = rho[r]
        for k in range(len(order)):
            values[k] = relation[order[k]]
        f = bounds.block_bound(values, sums, mass, weight > 0, scratch, edges)
        best += weight * bounds.after_rounding(f, total, weight > 0)
    return best


@numba.njit(cache=True, nogil=True)
def _single_stage(rho, kernel, weights, total, single):
    """Bound on the phi_G part of the score of one window, from float32 sums."""
    n = rho.shape[1]
    pairs = max(n * (n - 1) / 2, 1.0)
    for r in range(3):
        for i in range(n):
            single[r, i] = rho[r, i]
    sums = bounds.single_sums(single, kernel)
    slack = bounds.relative_slack(n)
    best = 0.0
    for r in range(3):
        weight = weights[r] / pairs
        f = sums[r] * (1 + slack) if weight > 0 else sums[r] * (1 - slack)
        best += weight * bounds.after_rounding(f, total, weight > 0)
    return best


@numba.njit(cache=True, nogil=True)
def _leader(bound):
    best = 0
    for l in range(1, bound.shape[0]):
        if bound[l] > bound[best]:
            best = l
    return best


@numba.njit(cache=True, nogil=True)
def _insert(score, l, scores, windows):
    """Keeps the best scores in descending order, equal ones by window number."""
    place = scores.shape[0]
    while place > 0 and (
        windows[place - 1] < 0
        or score > scores[place - 1]
        or (score == scores[place - 1] and l < windows[place - 1])
    ):
        place -= 1
    for k in range(scores.shape[0] - 1, place, -1):
        scores[k], windows[k] = scores[k - 1], windows[k - 1]
    if place < scores.shape[0]:
        scores[place], windows[place] = score, l


@numba.njit(cache=True, nogil=True)
def search(geometry, kernel, mean, std, by_mean, weights, extra, reference, wanted):
    """Finds the `wanted` best windows by <weights, phi> + extra.

    Returns:
      windows [wanted] and their scores, best first, equal scores by number (-1 and
        -inf where there are fewer windows);
      the bound each window was left with [N], -inf once it was scored;
      the stage each window has reached [N]; the block order;
      phi [N, 11], whose first three are filled for exactly scored windows only.
    """
    n = kernel.shape[0]
    order, sums, mass, row_sums = prepare(geometry, kernel)
    total = row_sums.sum()
    gradients = subgradients(geometry, kernel, reference, weights)
    phi, cheap, margin, bound = first_pass(
        geometry, kernel, mean, std, by_mean, weights, extra, row_sums, gradients
    )
    stage = np.full(n, ROWS, np.int8)
    for l in range(n):
        if extra[l] == -np.inf:
            stage[l], bound[l] = EXCLUDED, -np.inf
    rho, single = np.empty((3, n)), np.empty((3, n), np.float32)
    count = mass.shape[0]
    scratch = np.zeros((3, count, mass.shape[1]), np.float32)
    edges, values = np.empty((2, count), np.float32), np.empty(len(order), np.float32)
    scores, windows = np.full(wanted, -np.inf), np.full(wanted, -1)
    while True:
        l = _leader(bound)
        if bound[l] == -np.inf or bound[l] < scores[wanted - 1]:
            break
        terms.relations_to(geometry, l, rho)
        if stage[l] == ROWS:
            part = _block_stage(
                rho, weights, total, order, sums, mass, values, scratch, edges
            )
            bound[l] = min(bound[l], cheap[l] + part + margin[l])
            stage[l] = BLOCKS
        elif stage[l] == BLOCKS:
            part = _single_stage(rho, kernel, weights, total, single)
            bound[l] = min(bound[l], cheap[l] + part + margin[l])
            stage[l] = SINGLE
        else:
            terms.global_terms(rho, kernel, phi[l])
            _insert(terms.score(phi[l], weights, extra[l]), l, scores, windows)
            bound[l] = -np.inf
            stage[l] = EXACT
    return windows, scores, bound, stage, order, phi


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
        _insert(terms.score(phi[l], weights, extra[l]), l, scores, windows)
        evaluated += 1
    return windows[0], scores[0], evaluated
