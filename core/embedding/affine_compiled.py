# mypy: ignore-errors
"""Product of dense rows with a few columns, each row by itself.

BLAS gives a row other last digits alone than in a batch; this loop does not. Partial
sums are reordered into vector lanes (`reassoc`), in one way fixed by the compiler and
the length of a row.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def product(features: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """features [N, D] times columns [E, D] transposed, float32 [N, E]."""
    result = np.empty((features.shape[0], columns.shape[0]), np.float32)
    for row in range(features.shape[0]):
        x = features[row]
        for output in range(columns.shape[0]):
            b = columns[output]
            total = np.float32(0.0)
            for at in range(x.size):
                total += x[at] * b[at]
            result[row, output] = total
    return result
