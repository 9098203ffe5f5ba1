"""Affine maps of raw window features, z = x·matrix + offset, laid out for speed.

The columns of the matrix are cut in slabs of LANES, the last one filled up with zeros,
so that the innermost loop has a fixed length and runs in one vector register.
"""

import numpy as np
from jaxtyping import Float, Float32

from belvedere.core.appearance.projection_compiled import LANES


def slabs(
    matrix: Float32[np.ndarray, "D E"], length: int
) -> Float32[np.ndarray, "S D 16"]:
    """The matrix cut in slabs, or ValueError if it has not `length` rows."""
    if matrix.ndim != 2 or matrix.shape[0] != length:
        raise ValueError(f"matrix has shape {matrix.shape}, wanted {length} rows")
    columns = matrix.shape[1]
    made = np.zeros((-(-columns // LANES), length, LANES), np.float32)
    for number, slab in enumerate(made):
        part = matrix[:, number * LANES : (number + 1) * LANES]
        slab[:, : part.shape[1]] = part
    return made


def finished(
    sums: Float32[np.ndarray, "N S 16"],
    factors: Float[np.ndarray, "N"],
    offset: Float[np.ndarray, "E"],
) -> Float[np.ndarray, "N E"]:
    """sums · factor + offset in float64, without the filling."""
    flat = sums.reshape(len(sums), sums.shape[1] * LANES)[:, : len(offset)]
    return flat.astype(np.float64) * factors[:, None] + offset
