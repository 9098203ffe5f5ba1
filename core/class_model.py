"""What is learned of one class, in two steps, and the settings of the learning."""

import dataclasses
from collections.abc import Mapping
from typing import get_args

import numpy as np
from jaxtyping import Float

from belvedere.core.assessment.calibration import Calibration
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.context.learning import Settings as LearningSettings
from belvedere.core.context.scaling import Scaling
from belvedere.core.context.voting import NONE, Voting
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.embedding.presets import EmbeddingSettings, Kind
from belvedere.core.embedding.sampling import SamplingSettings
from belvedere.core.prediction.fitting import GPSettings
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.types import LARGEST_SEED, R, require_range


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a class is learned.

    Attributes:
      kind: of embedding, `paper` or `classic`.
      sampling: which windows of a training image are learned from.
      exemplars: how many of them get an exemplar SVM.
      embedding: dimensions, folds.
      gp: the Gaussian process.
      learning: the structured SVM.
      consistency: how phi_C sums up.
      voting: from the chosen window to the box.
      seed: of folds and inducing points.
    """

    kind: Kind = "classic"
    sampling: SamplingSettings = dataclasses.field(default_factory=SamplingSettings)
    exemplars: int = 1000
    embedding: EmbeddingSettings = dataclasses.field(default_factory=EmbeddingSettings)
    gp: GPSettings = dataclasses.field(default_factory=GPSettings)
    learning: LearningSettings = dataclasses.field(default_factory=LearningSettings)
    consistency: Consistency = Consistency.MAX
    voting: Voting = dataclasses.field(default_factory=Voting)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind {self.kind!r}, wanted paper or classic")
        if self.embedding.dimensions <= R:
            raise ValueError(
                f"embedding.dimensions is {self.embedding.dimensions}, wanted more "
                f"than {R}, which predict the relations"
            )
        require_range(self, ("exemplars",), 1)
        require_range(self, ("seed",), 0, LARGEST_SEED)


@dataclasses.dataclass(frozen=True, eq=False)
class Appearance:
    """The first step: how windows are embedded and how their relations are predicted.

    Attributes:
      maps: the affine embedding of each feature type, in the order of the GP's inputs.
      gp: predicts relations, and holds the appearance similarity K.
      folds: the fold of each training image.
      fold_maps: `fold_maps[f]` has not seen the images of fold f.
      fold_gps: likewise.
      diagnostics: how the learning went.
    """

    maps: Mapping[str, AffineMap]
    gp: RelationGP
    folds: Mapping[str, int]
    fold_maps: tuple[Mapping[str, AffineMap], ...]
    fold_gps: tuple[RelationGP, ...]
    diagnostics: Mapping[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class ClassModel:
    """Both steps: all that localizing the object of a class needs.

    Attributes:
      maps, gp: as in `Appearance`.
      alpha: weight of each hyper-feature, once centred and scaled.
      scaling: mean and deviation of each hyper-feature over the training windows.
      calibration: from score to expected IoU, out of fold.
      shortfall: how far below its expected IoU a box falls in one case of ten at most.
      consistency: how phi_C sums up.
      voting: from the chosen window to the box.
    """

    maps: Mapping[str, AffineMap]
    gp: RelationGP
    alpha: Float[np.ndarray, "P"]
    scaling: Scaling
    calibration: Calibration
    shortfall: float
    consistency: Consistency = Consistency.MAX
    voting: Voting = NONE
