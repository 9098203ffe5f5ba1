"""The embedding of a class: one affine map per feature type, side by side.

Paper: section 5, "we embed each feature type separately in a 10-dimensional space, next
we concatenate them together and add location and scale": 5 · 10 + 4 = 54 inputs of the
Gaussian process. Location and scale are standardised, not embedded.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse
from jaxtyping import Float

from belvedere.core.embedding import affine, matrices, presets
from belvedere.core.embedding.presets import FeatureEmbedding, TrainingWindows

_UNEMBEDDED = "location"
_FLAT = 1e-9  # a deviation this small is rounding


@dataclasses.dataclass(frozen=True, eq=False)
class ClassEmbedding:
    """Maps of all feature types, and what the GP is trained on.

    `inputs` are those of the training windows, each by the maps that have not seen its
    image.
    """

    maps: Mapping[str, affine.AffineMap]
    fold_maps: tuple[Mapping[str, affine.AffineMap], ...]
    inputs: Float[np.ndarray, "n Q"]
    diagnostics: Mapping[str, float]


def fit(
    kind: presets.Kind,
    features: Mapping[str, matrices.Matrix],
    negatives: Mapping[str, matrices.Matrix],
    windows: TrainingWindows,
    settings: presets.EmbeddingSettings,
) -> ClassEmbedding:
    """Learns the embedding of a class from its sampled windows.

    Args:
      kind: `paper` or `classic`.
      features: raw features [n, D] of each type, in the order of the GP's inputs.
      negatives: raw features [m, D] of each type.
      windows: what is known of the n windows.
      settings: dimensions and so on.
    """
    parts = {}
    for name, raw in features.items():
        if name == _UNEMBEDDED:
            parts[name] = _standardised(np.asarray(raw), settings.folds)
        else:
            parts[name] = presets.fit_embedding(
                kind, raw, negatives[name], windows, settings
            )
    return ClassEmbedding(
        maps={name: part.map for name, part in parts.items()},
        fold_maps=tuple(
            {name: part.fold_maps[fold] for name, part in parts.items()}
            for fold in range(settings.folds)
        ),
        inputs=np.concatenate(
            [_out_of_fold(parts[name], raw, windows) for name, raw in features.items()],
            axis=1,
        ),
        diagnostics={
            f"{name}.{key}": value
            for name, part in parts.items()
            for key, value in part.diagnostics.items()
        },
    )


def stacked(features: Sequence[matrices.Matrix]) -> matrices.Matrix:
    """The windows of several images, one below the other."""
    if scipy.sparse.issparse(features[0]):
        return scipy.sparse.csr_matrix(scipy.sparse.vstack(features))
    return np.concatenate(features)


def _standardised(raw: Float[np.ndarray, "n D"], folds: int) -> FeatureEmbedding:
    """Zero mean and unit deviation over the training windows; nothing is learned."""
    values = raw.astype(np.float64)
    spread = values.std(axis=0)
    factor = np.where(spread > _FLAT, 1 / np.maximum(spread, _FLAT), 0.0)
    plain = affine.AffineMap(
        np.diag(factor).astype(np.float32), -values.mean(axis=0) * factor
    )
    return FeatureEmbedding(plain, (plain,) * folds, {})


def _out_of_fold(
    part: FeatureEmbedding, raw: matrices.Matrix, windows: TrainingWindows
) -> Float[np.ndarray, "n E"]:
    result = np.empty((len(windows.folds), part.map.matrix.shape[1]))
    for fold, fold_map in enumerate(part.fold_maps):
        members = np.flatnonzero(windows.folds == fold)
        if len(members):
            result[members] = fold_map.apply(matrices.rows(raw, members))
    return result
