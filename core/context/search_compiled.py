# mypy: ignore-errors
"""The exact search: best first, a window's bound tightened only while it leads.

Every window starts with the bound from row sums. The window with the largest bound is
taken and its bound replaced by the next tighter one: with the rank-one part exact, then
from blocks, then phi_G in float32 with its slack, then the exact score in float64. The
search ends when the scores found are above every bound left: nothing is scored whose
bound was below the answer. `bounds_compiled` says what the bounds are.
"""

import numba
import numpy as np

from belvedere.core.context import block_bounds_compiled as blocks
from belvedere.core.context import bounds_compiled as bounds
from belvedere.core.context import hyperfeatures_compiled as terms
from belvedere.core.context import rank_one_compiled as rank_one

# The stage a window has reached.
EXCLUDED, ROWS, RANK_ONE, BLOCKS, SINGLE, EXACT = 0, 1, 2, 3, 4, 5


@numba.njit(cache=True, nogil=True)
def prepare(geometry, kernel):
    """What the bounds need of K.

    Returns the minorant u; block order; block sums, inverse block mass and row sums of
    K - u u'; the sum of all K.
    """
    u = rank_one.minorant(kernel)
    order = blocks.blocks_of(geometry)
    sums, total = blocks.block_sums(kernel, order, u)
    mass = blocks.inverse_block_mass(sums)
    row_sums = np.zeros(kernel.shape[0])
    for k in range(kernel.shape[0]):
        for b in range(sums.shape[1]):
            row_sums[order[k]] += sums[k, b]
    return u, order, sums, mass, row_sums, total


@numba.njit(cache=True, nogil=True)
def subgradients(geometry, kernel, u, reference, weights):
    """g of K - u u' at the relations to window `reference`, for negative weights."""
    rho = np.empty((3, kernel.shape[0]))
    gradients = np.zeros((3, kernel.shape[0]))
    terms.relations_to(geometry, reference, rho)
    for r in range(3):
        if weights[r] < 0:
            bounds.subgradient(rho[r], kernel, u, gradients[r])
    return gradients


@numba.njit(cache=True, nogil=True)
def first_pass(
    geometry, kernel, mean, std, by_mean, weights, extra, u, row_sums, total, gradients
):
    """Everything but phi_G of each window, and its score's first bound.

    Returns:
      phi [N, 11] without its first three; the score without them [N]; how far the
      float64 sums of a score may be off [N]; the bounds of f_rest [N, 3]; the bound of
      the score [N].
    """
    n = kernel.shape[0]
    pairs = max(n * (n - 1) / 2, 1.0)
    u_total, rest_total = u.sum(), row_sums.sum()
    slack = bounds.relative_slack(n)
    rho, moments = np.empty((3, n)), np.empty((3, 3))
    upper = weights[0] > 0 or weights[1] > 0 or weights[2] > 0
    phi = np.zeros((n, 11))
    cheap, margin, bound = np.empty(n), np.empty(n), np.empty(n)
    rest = np.zeros((n, 3))
    for l in range(n):
        terms.relations_to(geometry, l, rho)
        terms.cheap_terms(rho, kernel, mean, std, l, by_mean, phi[l])
        cheap[l] = terms.score(phi[l], weights, extra[l])
        size = abs(cheap[l])
        for p in range(3, 11):
            size += abs(weights[p] * phi[l, p])
        best = cheap[l]
        if upper:
            rank_one.moments(rho, u, row_sums, moments)
        for r in range(3):
            weight = weights[r] / pairs
            size += abs(weight) * total
            if weight > 0:
                above = bounds.row_bound(
                    rho[r], row_sums, rest_total, moments[r, 2], slack
                )
                rest[l, r] = bounds.after_rounding(above, total, True)
                best += weight * rank_one.rank_one_above(
                    moments[r, 0], moments[r, 1], u_total, n
                )
            elif weight < 0:
                rest[l, r] = max(bounds.dot(rho[r], gradients[r]), 0.0)
            best += weight * rest[l, r]
        margin[l] = (n + 64) * 2.0**-52 * size
        bound[l] = best + margin[l]
    return phi, cheap, margin, rest, bound


@numba.njit(cache=True, nogil=True)
def _rank_one_stage(rho, weights, u, weight_bins, moment_bins, known):
    """The weighted f_u of one window into known [3]."""
    n = rho.shape[1]
    pairs = max(n * (n - 1) / 2, 1.0)
    between = np.empty(2)
    for r in range(3):
        weight = weights[r] / pairs
        known[r] = 0.0
        if weight != 0:
            rank_one.rank_one_bounds(rho[r], u, weight_bins, moment_bins, between)
            known[r] = weight * (between[1] if weight > 0 else between[0])


@numba.njit(cache=True, nogil=True)
def _block_stage(rho, weights, rest, total, order, sums, mass, values, scratch, edges):
    """Bound on the weighted f_rest of one window, from blocks."""
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
        f = blocks.block_bound(values, sums, mass, weight > 0, scratch, edges)
        f = bounds.after_rounding(f, total, weight > 0)
        best += weight * (min(f, rest[r]) if weight > 0 else max(f, rest[r]))
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
def insert(score, l, scores, windows):
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
      the stage each window has reached [N]; the block order; the minorant u;
      phi [N, 11], whose first three are filled for exactly scored windows only.
    """
    n = kernel.shape[0]
    u, order, sums, mass, row_sums, total = prepare(geometry, kernel)
    gradients = subgradients(geometry, kernel, u, reference, weights)
    phi, cheap, margin, rest, bound = first_pass(
        geometry,
        kernel,
        mean,
        std,
        by_mean,
        weights,
        extra,
        u,
        row_sums,
        total,
        gradients,
    )
    stage = np.full(n, ROWS, np.int8)
    for l in range(n):
        if extra[l] == -np.inf:
            stage[l], bound[l] = EXCLUDED, -np.inf
    pairs = max(n * (n - 1) / 2, 1.0)
    rho, single = np.empty((3, n)), np.empty((3, n), np.float32)
    count = mass.shape[0]
    scratch = np.zeros((3, count, mass.shape[1]), np.float32)
    edges = np.full((2, mass.shape[1]), 2, np.float32)
    values = np.empty(len(order), np.float32)
    bins = np.empty((2, rank_one.BINS + 2))
    known = np.zeros((n, 3))
    scores, windows = np.full(wanted, -np.inf), np.full(wanted, -1)
    while True:
        l = _leader(bound)
        if bound[l] == -np.inf or bound[l] < scores[wanted - 1]:
            break
        terms.relations_to(geometry, l, rho)
        if stage[l] == ROWS:
            _rank_one_stage(rho, weights, u, bins[0], bins[1], known[l])
            part = known[l].sum() + (weights[:3] / pairs * rest[l]).sum()
            bound[l] = min(bound[l], cheap[l] + part + margin[l])
            stage[l] = RANK_ONE
        elif stage[l] == RANK_ONE:
            part = known[l].sum() + _block_stage(
                rho, weights, rest[l], total, order, sums, mass, values, scratch, edges
            )
            bound[l] = min(bound[l], cheap[l] + part + margin[l])
            stage[l] = BLOCKS
        elif stage[l] == BLOCKS:
            part = _single_stage(rho, kernel, weights, total, single)
            bound[l] = min(bound[l], cheap[l] + part + margin[l])
            stage[l] = SINGLE
        else:
            terms.global_terms(rho, kernel, phi[l])
            insert(terms.score(phi[l], weights, extra[l]), l, scores, windows)
            bound[l] = -np.inf
            stage[l] = EXACT
    return windows, scores, bound, stage, order, u, phi
