"""Associative embedding: what the exemplars say of a window, in ten numbers.

Paper: section 3, "Associative Embedding" of Vezhnevets & Ferrari 2014. Each window is
described by the responses of all exemplar SVMs; as in latent semantic analysis the
matrix of responses is factorised at low rank, and a window's place in the latent space
is its embedding.

With A[p, e] = w_e x_p + b_e over probe windows p, columns centred by their mean m and
divided by their deviation s, and A ~ U S V',

    z(x) = S'^-1 V' ((W x + b - m) / s),     S' = S / sqrt(probes)

so that each z_d has mean 0 and deviation 1 over the probes. This is affine in x, and
W = diag(a) X_e - beta Z never exists: the factors are multiplied from the right, where
there are only ten columns.

Windows of a training image must not be embedded by their own exemplars, which know
them all too well: `fit_without` factorises again without the exemplars of a fold. An
exemplar SVM has seen no other exemplar, so none is trained again. Factors come in any
order and with any sign: those of a fold are rotated onto those of all (Procrustes).

Departures: whether the original centres, scales or calibrates the responses is not
known; with S' the choice between V' and S^-1 V' is a matter of scale.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float, Float32
from scipy import linalg

from belvedere.core.embedding import affine, exemplar_svms, matrices

# Columns of smaller deviation than this share of their values, and directions of less
# than this share of the variance, are rounding of float32 and count as zero.
_NO_DEVIATION, _NO_VARIANCE = 1e-6, 1e-10


@dataclasses.dataclass(frozen=True, eq=False)
class AssociativeEmbedding:
    """The map, and the share of the responses' variance that its dimensions keep."""

    map: affine.AffineMap
    variance_share: float


def responses(
    svms: exemplar_svms.ExemplarSvms,
    with_exemplars: Float32[np.ndarray, "p e"],
    with_negatives: Float32[np.ndarray, "p m"],
) -> Float[np.ndarray, "p e"]:
    """The association matrix A, from the probes' products with the training windows."""
    support = svms.negatives.astype(np.float32)
    return with_exemplars * svms.positives - with_negatives @ support.T + svms.biases


def fit(
    exemplars: matrices.Matrix,
    negatives: matrices.Matrix,
    svms: exemplar_svms.ExemplarSvms,
    association: Float[np.ndarray, "p e"],
    dimensions: int,
) -> AssociativeEmbedding:
    """Factorises the association matrix and folds it into one map.

    Dimensions beyond the rank of the association matrix are zero for every window.

    Args:
      exemplars: features of the exemplars.
      negatives: features of the negatives.
      svms: the exemplar SVMs.
      association: A, see `responses`.
      dimensions: how many to keep.
    """
    mean, inverse_deviation = _standardiser(association)
    standard = (association - mean) * inverse_deviation
    directions, variances, total = _factorised(standard, dimensions)
    projection = (
        inverse_deviation[:, None] * directions * _inverse_root(variances, total)
    )
    matrix = matrices.combined(exemplars, svms.positives[:, None] * projection)
    matrix -= matrices.combined(negatives, svms.negatives.T @ projection)
    offset = (svms.biases - mean) @ projection
    share = variances.sum() / total if total > 0 else 1.0
    return AssociativeEmbedding(
        affine.AffineMap(matrix.astype(np.float32), offset), float(min(share, 1.0))
    )


def fit_without(
    left_out: Bool[np.ndarray, "e"],
    exemplars: matrices.Matrix,
    negatives: matrices.Matrix,
    svms: exemplar_svms.ExemplarSvms,
    association: Float[np.ndarray, "e e"],
    whole: affine.AffineMap,
) -> affine.AffineMap:
    """The map that some exemplars had no part in, in the coordinates of `whole`.

    Args:
      left_out: the exemplars to do without, which are left out as probes too.
      exemplars, negatives, svms, association: as in `fit`, the exemplars as probes.
      whole: the map of all exemplars.
    """
    if not left_out.any():
        return whole
    kept = np.flatnonzero(~left_out)
    if len(kept) == 0:
        raise ValueError("every exemplar is left out: there is nothing to embed by")
    probes = matrices.rows(exemplars, kept)
    part = fit(
        probes,
        negatives,
        svms.at(kept),
        association[np.ix_(kept, kept)],
        len(whole.offset),
    ).map
    u, _, vt = linalg.svd(part.apply(probes).T @ whole.apply(probes))
    rotation = u @ vt
    return affine.AffineMap(
        (part.matrix @ rotation).astype(np.float32), part.offset @ rotation
    )


def _standardiser(
    association: Float[np.ndarray, "p e"],
) -> tuple[Float[np.ndarray, "e"], Float[np.ndarray, "e"]]:
    """Mean and 1 / deviation of each column; 0 for a column that does not vary."""
    mean, deviation = association.mean(axis=0), association.std(axis=0)
    varies = deviation > _NO_DEVIATION * np.abs(association).max(axis=0)
    return mean, np.where(varies, 1 / np.where(varies, deviation, 1.0), 0.0)


def _factorised(
    standard: Float[np.ndarray, "p e"], dimensions: int
) -> tuple[Float[np.ndarray, "e k"], Float[np.ndarray, "k"], float]:
    """Leading right singular vectors, the variances S²/p along them, and of all.

    The vectors are those of the correlation matrix, each signed so that its entry of
    largest magnitude is positive. Missing ones are zero.
    """
    correlation = standard.T @ standard / len(standard)
    e = len(correlation)
    found = min(dimensions, e)
    variances, vectors = linalg.eigh(correlation, subset_by_index=(e - found, e - 1))
    directions, kept = np.zeros((e, dimensions)), np.zeros(dimensions)
    directions[:, :found] = vectors[:, ::-1]
    kept[:found] = np.maximum(variances[::-1], 0.0)
    largest = np.abs(directions).argmax(axis=0)
    directions *= np.where(directions[largest, np.arange(dimensions)] < 0, -1.0, 1.0)
    return directions, kept, float(np.trace(correlation))


def _inverse_root(
    variances: Float[np.ndarray, "k"], total: float
) -> Float[np.ndarray, "k"]:
    """1 / deviation along each direction, 0 for those lost in rounding."""
    present = variances > _NO_VARIANCE * total
    return np.where(present, 1 / np.sqrt(np.where(present, variances, 1.0)), 0.0)
