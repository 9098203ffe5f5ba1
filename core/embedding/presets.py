"""The two embeddings of a feature type behind one interface.

`paper`: ten associative dimensions. `classic`: seven of them, and three predictions of
the relations by cross-fitted ridge regression.

Paper: section 3; per feature type, never one factorisation over all types.
"""

import dataclasses
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from belvedere.core import types
from belvedere.core.embedding import (
    affine,
    associative,
    exemplar_svms,
    matrices,
    supervised,
)

Kind = Literal["paper", "classic"]


@dataclasses.dataclass(frozen=True)
class EmbeddingSettings:
    """Dimensions per feature type, folds, and the settings of what is inside."""

    dimensions: int = 10
    folds: int = 5
    svm: exemplar_svms.SvmSettings = dataclasses.field(
        default_factory=exemplar_svms.SvmSettings
    )
    ridge: supervised.RidgeSettings = dataclasses.field(
        default_factory=supervised.RidgeSettings
    )

    def __post_init__(self) -> None:
        types.require_range(self, ("dimensions",), 1)
        types.require_range(self, ("folds",), 2)


@dataclasses.dataclass(frozen=True, eq=False)
class TrainingWindows:
    """What the feature types of a class have in common: n windows and m negatives.

    `images` and `negative_images` number the images, the same number meaning the same
    image in both; `folds` are by image; `exemplars` point into the n windows.
    """

    relations: Float[np.ndarray, "R n"]
    images: Int64[np.ndarray, "n"]
    folds: Int64[np.ndarray, "n"]
    exemplars: Int64[np.ndarray, "e"]
    negative_images: Int64[np.ndarray, "m"]

    def __post_init__(self) -> None:
        n = len(self.images)
        types.require_shape("relations", self.relations, types.R, n)
        types.require_shape("folds", self.folds, n)
        if len(self.exemplars) == 0 or len(self.negative_images) == 0:
            raise ValueError("an embedding needs exemplars and negatives, one is empty")
        pairs = np.unique(np.stack([self.images, self.folds]), axis=1)
        if pairs.shape[1] != len(np.unique(self.images)):
            raise ValueError("windows of one image are in different folds")

    @property
    def allowed(self) -> Bool[np.ndarray, "e m"]:
        """Which negatives stand against which exemplar: none of its own image."""
        return self.images[self.exemplars][:, None] != self.negative_images


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureEmbedding:
    """`map` embeds windows of new images, `fold_maps[f]` those of fold f's images."""

    map: affine.AffineMap
    fold_maps: tuple[affine.AffineMap, ...]
    diagnostics: dict[str, float]


def fit_embedding(
    kind: Kind,
    features: matrices.Matrix,
    negatives: matrices.Matrix,
    windows: TrainingWindows,
    settings: EmbeddingSettings,
) -> FeatureEmbedding:
    """Learns the embedding of one feature type of one class.

    The exemplars are the probes too: their products with the negatives are there
    already, and by their strata they stand for all windows.

    Args:
      kind: `paper` or `classic`.
      features: of the sampled windows, float32 [n, D], dense or sparse.
      negatives: of the negatives, float32 [m, D], dense or sparse alike.
      windows: what is known of the windows.
      settings: dimensions and so on.
    """
    _check(features, negatives, windows, settings)
    if kind == "paper":
        gram = matrices.gram(matrices.rows(features, windows.exemplars))
        return _paper(features, negatives, gram, windows, settings)
    gram = matrices.gram(features)
    return _classic(features, negatives, gram, windows, settings)


def _paper(
    features: matrices.Matrix,
    negatives: matrices.Matrix,
    gram: Float32[np.ndarray, "e e"],
    windows: TrainingWindows,
    settings: EmbeddingSettings,
) -> FeatureEmbedding:
    exemplars = matrices.rows(features, windows.exemplars)
    cross = matrices.cross_gram(exemplars, negatives)
    svms = exemplar_svms.fit(
        matrices.gram(negatives), cross, np.diag(gram), windows.allowed, settings.svm
    )
    association = associative.responses(svms, gram, cross)
    embedding = associative.fit(
        exemplars, negatives, svms, association, settings.dimensions
    )
    diagnostics = {
        "variance_share": embedding.variance_share,
        "support_vectors": svms.support,
        "support_at_bound": svms.at_bound,
        "worst_duality_gap": svms.worst_gap,
    }
    folds = windows.folds[windows.exemplars]
    fold_maps = tuple(
        associative.fit_without(
            folds == fold, exemplars, negatives, svms, association, embedding.map
        )
        for fold in range(settings.folds)
    )
    return FeatureEmbedding(embedding.map, fold_maps, diagnostics)


def _classic(
    features: matrices.Matrix,
    negatives: matrices.Matrix,
    gram: Float32[np.ndarray, "n n"],
    windows: TrainingWindows,
    settings: EmbeddingSettings,
) -> FeatureEmbedding:
    fewer = dataclasses.replace(settings, dimensions=settings.dimensions - types.R)
    among = gram[np.ix_(windows.exemplars, windows.exemplars)]
    general = _paper(features, negatives, among, windows, fewer)
    relations = supervised.fit(
        features,
        gram,
        windows.relations,
        windows.folds,
        settings.folds,
        settings.ridge,
    )
    diagnostics = dict(general.diagnostics)
    for r, name in enumerate(types.RELATIONS):
        diagnostics[f"lambda_{name}"] = float(relations.lambdas[r])
        diagnostics[f"explained_{name}"] = float(relations.explained[r])
    return FeatureEmbedding(
        affine.beside([general.map, relations.map]),
        tuple(
            affine.beside(pair)
            for pair in zip(general.fold_maps, relations.fold_maps, strict=True)
        ),
        diagnostics,
    )


def _check(
    features: matrices.Matrix,
    negatives: matrices.Matrix,
    windows: TrainingWindows,
    settings: EmbeddingSettings,
) -> None:
    matrices.require("features", features)
    matrices.require("negatives", negatives, features.shape[1])
    n, m = len(windows.images), len(windows.negative_images)
    if features.shape[0] != n or negatives.shape[0] != m:
        raise ValueError(
            f"features of {features.shape[0]} windows and {negatives.shape[0]} "
            f"negatives, wanted {n} and {m}"
        )
    if windows.folds.min() < 0 or windows.folds.max() >= settings.folds:
        raise ValueError(f"a fold is not one of 0 to {settings.folds - 1}")
    if settings.dimensions <= types.R:
        raise ValueError(
            f"{settings.dimensions} dimensions, wanted more than {types.R}"
        )
