# mypy: ignore-errors
"""The loops behind the hyper-features: one float64 routine defines each number.

Sums may be re-associated for SIMD, but every caller runs the same machine code, so a
window's hyper-features are the same bits alone, in a batch and in the search.
Boxes come as six rows, x0, y0, x1, y1, area and 1/area (`hyperfeatures.geometry`), so
that the loops run over adjacent memory.
"""

import numba
import numpy as np

# Finite inputs are checked at the door, so NaN and infinity need no care here.
REASSOCIATE = {"reassoc", "contract", "nnan", "ninf", "nsz"}


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def relations_to(geometry, l, rho):
    """Fills rho[r, i] = rho^r(w_i, w_l), paper equation 1."""
    x0, y0, x1, y1 = geometry[0], geometry[1], geometry[2], geometry[3]
    area, inverse = geometry[4], geometry[5]
    overlap, part, container = rho[0], rho[1], rho[2]
    left, top, right, bottom = x0[l], y0[l], x1[l], y1[l]
    size, inverse_size = area[l], inverse[l]
    for i in range(x0.shape[0]):
        wide = max(min(x1[i], right) - max(x0[i], left), 0.0)
        high = max(min(y1[i], bottom) - max(y0[i], top), 0.0)
        shared = wide * high
        overlap[i] = shared / (area[i] + size - shared)
        part[i] = shared * inverse[i]
        container[i] = shared * inverse_size


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def global_terms(rho, kernel, phi):
    """Fills phi[:3] with phi_G, equation 3, from the relations to one window."""
    n = kernel.shape[0]
    a, b, c = rho[0], rho[1], rho[2]
    total_a, total_b, total_c = 0.0, 0.0, 0.0
    for i in range(n - 1):
        # Slicing first lets the inner loop be vectorised.
        similarity = kernel[i, i + 1 :]
        a_tail, b_tail, c_tail = a[i + 1 :], b[i + 1 :], c[i + 1 :]
        a_i, b_i, c_i = a[i], b[i], c[i]
        sum_a, sum_b, sum_c = 0.0, 0.0, 0.0
        for j in range(similarity.shape[0]):
            k = np.float64(similarity[j])
            sum_a += k * abs(a_i - a_tail[j])
            sum_b += k * abs(b_i - b_tail[j])
            sum_c += k * abs(c_i - c_tail[j])
        total_a += sum_a
        total_b += sum_b
        total_c += sum_c
    pairs = max(n * (n - 1) / 2, 1.0)
    phi[0], phi[1], phi[2] = total_a / pairs, total_b / pairs, total_c / pairs


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _local_and_largest(rho, similarity, mean, phi):
    """phi_L and phi_C of the three relations in one pass over the windows."""
    a, b, c = rho[0], rho[1], rho[2]
    mean_a, mean_b, mean_c = mean[0], mean[1], mean[2]
    local_a, local_b, local_c = 0.0, 0.0, 0.0
    most_a, most_b, most_c = 0.0, 0.0, 0.0
    n = a.shape[0]
    for i in range(n):
        k = np.float64(similarity[i])
        local_a += abs(1.0 - a[i]) * k
        local_b += abs(1.0 - b[i]) * k
        local_c += abs(1.0 - c[i]) * k
        gap_a, gap_b, gap_c = (
            abs(a[i] - mean_a[i]),
            abs(b[i] - mean_b[i]),
            abs(c[i] - mean_c[i]),
        )
        most_a = gap_a if gap_a > most_a else most_a  # max() is not vectorised
        most_b = gap_b if gap_b > most_b else most_b
        most_c = gap_c if gap_c > most_c else most_c
    phi[3], phi[4], phi[5] = local_a / n, local_b / n, local_c / n
    phi[6], phi[7], phi[8] = most_a, most_b, most_c


@numba.njit(cache=True, nogil=True, fastmath=REASSOCIATE)
def _mean_disagreement(relation, mean):
    total = 0.0
    for i in range(relation.shape[0]):
        total += abs(relation[i] - mean[i])
    return total / relation.shape[0]


@numba.njit(cache=True, nogil=True)
def cheap_terms(rho, kernel, mean, std, l, by_mean, phi):
    """Fills phi[3:] with phi_L, phi_C and phi_S (equations 4, 2, 5) of window l."""
    _local_and_largest(rho, kernel[l], mean, phi)
    if by_mean:
        for r in range(3):
            phi[6 + r] = _mean_disagreement(rho[r], mean[r])
    phi[9] = mean[0, l]
    phi[10] = std[l]


@numba.njit(cache=True, nogil=True)
def window_terms(geometry, kernel, mean, std, l, by_mean, rho, phi):
    """All 11 hyper-features of window l into phi; rho is left filled."""
    relations_to(geometry, l, rho)
    global_terms(rho, kernel, phi)
    cheap_terms(rho, kernel, mean, std, l, by_mean, phi)


@numba.njit(cache=True, nogil=True)
def all_terms(geometry, kernel, mean, std, by_mean, with_global):
    """Hyper-features [N, 11] of every window, one at a time; phi_G 0 if not wanted."""
    n = kernel.shape[0]
    rho = np.empty((3, n))
    phi = np.zeros((n, 11))
    for l in range(n):
        relations_to(geometry, l, rho)
        if with_global:
            global_terms(rho, kernel, phi[l])
        cheap_terms(rho, kernel, mean, std, l, by_mean, phi[l])
    return phi


@numba.njit(cache=True, nogil=True)
def score(phi, weights, extra):
    """<weights, phi> + extra, summed in the order of the hyper-features."""
    total = extra
    for p in range(phi.shape[0]):
        total += weights[p] * phi[p]
    return total


@numba.njit(cache=True, nogil=True)
def is_similarity(kernel):
    """Whether the matrix is symmetric and has no negative entry."""
    n = kernel.shape[0]
    tile = 64
    for top in range(0, n, tile):
        for left in range(0, top + 1, tile):
            fits = True
            for i in range(top, min(top + tile, n)):
                for j in range(left, min(left + tile, n)):
                    fits &= (kernel[i, j] == kernel[j, i]) & (kernel[i, j] >= 0)
            if not fits:
                return False
    return True
