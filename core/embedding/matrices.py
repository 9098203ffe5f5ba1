"""What the embedding asks of raw features: Gram matrices and products, never D x D.

Features of n windows are float32 [n, D], dense or compressed sparse rows, with D up to
36,000. Everything learned here lives in the span of the windows, so that inner products
between windows are enough; D returns only in the finished affine map.
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Int64
from scipy import sparse

from belvedere.core.embedding import gram_compiled

Sparse: TypeAlias = sparse.csr_array | sparse.csr_matrix
Matrix: TypeAlias = np.ndarray | Sparse

# Share of entries set from which BLAS on a dense copy is faster than sparse sums. The
# copy then takes at most four times the memory of the sparse matrix.
_DENSE_FROM = 0.125


def require(name: str, features: Matrix, length: int | None = None) -> None:
    """Raises ValueError unless `features` are float32 [n, D], finite, D = `length`."""
    values = features.data if sparse.issparse(features) else features
    if features.ndim != 2 or features.dtype != np.float32:
        raise ValueError(
            f"{name} are {features.dtype} of shape {features.shape}, "
            "wanted float32 with two dimensions"
        )
    if length is not None and features.shape[1] != length:
        raise ValueError(f"{name} have length {features.shape[1]}, wanted {length}")
    if not np.isfinite(np.asarray(values)).all():
        raise ValueError(f"{name} hold NaN or infinite values")


def gram(features: Matrix) -> Float32[np.ndarray, "n n"]:
    """Inner products of all rows with all rows, symmetric."""
    by_rows = _if_sparse(features)
    if by_rows is None:
        dense = _dense(features)
        return dense @ dense.T
    return gram_compiled.gram(*_parts(by_rows), *_parts(by_rows.tocsc()))


def cross_gram(a: Matrix, b: Matrix) -> Float32[np.ndarray, "n m"]:
    """Inner products of the rows of `a` with those of `b`."""
    by_rows, other = _if_sparse(a), _if_sparse(b)
    if by_rows is None or other is None:
        return _dense(a) @ _dense(b).T
    return gram_compiled.cross_gram(
        *_parts(by_rows), *_parts(other.tocsc()), b.shape[0]
    )


def combined(
    features: Matrix, weights: Float[np.ndarray, "n k"]
) -> Float[np.ndarray, "D k"]:
    """featuresᵀ weights: for each column a weighted sum of windows, in float64."""
    return np.asarray(features.T @ weights.astype(np.float64))


def rows(features: Matrix, indices: Int64[np.ndarray, "k"]) -> Matrix:
    """The rows named by `indices`, dense or sparse as before."""
    return features[indices]


def _if_sparse(features: Matrix) -> Sparse | None:
    """The features with one entry per position, if sums over entries are worth it."""
    if isinstance(features, np.ndarray):
        return None
    if features.nnz >= _DENSE_FROM * features.shape[0] * features.shape[1]:
        return None
    if features.has_canonical_format:
        return features
    canonical = features.copy()
    canonical.sum_duplicates()
    return canonical


def _dense(features: Matrix) -> np.ndarray:
    return features if isinstance(features, np.ndarray) else features.toarray()


def _parts(
    compressed: Sparse | sparse.csc_array | sparse.csc_matrix,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return compressed.indptr, compressed.indices, compressed.data
