# mypy: ignore-errors
"""The exponents of the kernel matrix in one pass over it."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def exponents(products, halves, lowest, out):
    """out_ij = float32(p_ij - (h_i + h_j)), between `lowest` and 0.

    h_i + h_j is taken first: it commutes, so symmetry survives the rounding.
    """
    for i in range(products.shape[0]):
        row, target, half = products[i], out[i], halves[i]
        for j in range(row.shape[0]):
            exponent = row[j] - (half + halves[j])
            target[j] = np.float32(min(max(exponent, lowest), 0.0))
