"""What the methods gave for the test images of a class, and of all classes together.

Paper: section 5, "Results": images of all classes are pooled.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.assessment import calibration, comparison, evaluation, summary
from belvedere.core.assessment.evaluation import Outcome
from belvedere.core.types import require_shape

BOX_ACCURACY = (0.3, 0.5, 0.7)


@dataclasses.dataclass(frozen=True, eq=False)
class Verdict:
    """The test images of a class, or of one of its folds.

    Attributes:
      label: the class.
      fold: number of the fold.
      learned_from: how many images.
      image_ids: of the n test images.
      boxes, scores, ious: of each method, by name; scores are expected IoUs.
      own_scores: of the full method, before they were turned into expected IoU.
      uncentred: likewise, had the hyper-features not been centred.
      iou_lower: what the full method's box is said to keep in nine cases of ten.
      windows: candidates in each image.
      evaluated: how many of them the exact search scored.
      object_share: area of the largest object by that of the picture.
      objects: true boxes in each image.
      missing: methods that could not be learned, and why.
      failed: image, method and error where a method failed; by no method is such an
        image judged.
      refused: why the class was not judged; there are no boxes then.
    """

    label: str
    fold: int
    learned_from: int
    image_ids: tuple[str, ...]
    boxes: Mapping[str, Float[np.ndarray, "n 4"]] = dataclasses.field(
        default_factory=dict
    )
    scores: Mapping[str, Float[np.ndarray, " n"]] = dataclasses.field(
        default_factory=dict
    )
    ious: Mapping[str, Float[np.ndarray, " n"]] = dataclasses.field(
        default_factory=dict
    )
    own_scores: Float[np.ndarray, " n"] | None = None
    uncentred: Float[np.ndarray, " n"] | None = None
    iou_lower: Float[np.ndarray, " n"] | None = None
    windows: Int64[np.ndarray, " n"] | None = None
    evaluated: Int64[np.ndarray, " n"] | None = None
    object_share: Float[np.ndarray, " n"] | None = None
    objects: Int64[np.ndarray, " n"] | None = None
    missing: Mapping[str, str] = dataclasses.field(default_factory=dict)
    failed: tuple[tuple[str, str, str], ...] = ()
    refused: str = ""

    def __post_init__(self) -> None:
        n = len(self.image_ids)
        if self.refused:
            return
        if not self.boxes.keys() == self.scores.keys() == self.ious.keys():
            raise ValueError("boxes, scores and IoUs are not of the same methods")
        for name in self.boxes:
            require_shape(f"boxes of {name}", self.boxes[name], n, 4)
            require_shape(f"scores of {name}", self.scores[name], n)
            require_shape(f"ious of {name}", self.ious[name], n)


def metrics(
    verdicts: Sequence[Verdict],
    rng: np.random.Generator,
    reference: str = "full",
    resamples: int = 2000,
) -> dict[str, Any]:
    """`metrics.json` but for what the run itself knows: seconds and dead letters.

    Args:
      verdicts: one for each class and fold.
      rng: seeds the bootstrap.
      reference: the method the others are compared with.
      resamples: of the bootstrap.
    """
    judged = judged_only(verdicts)
    refused = sum(len(v.image_ids) for v in verdicts if v.refused)
    counts = {
        "classes": len({v.label for v in judged}),
        "train_images": _most_learned_from(judged),
        "test_images": sum(len(v.image_ids) for v in judged),
        "refused": refused,
    }
    if not judged:
        return {"methods": {}, "paired": {}, "counts": counts, "calibration": []}
    found = outcomes(judged)
    full = found[reference]
    lower = _all(judged, "iou_lower")
    figures = summary.compare(found, rng, reference, resamples)
    for name, outcome in found.items():
        figures["methods"][name]["box_accuracy"] = {
            f"{wanted:g}": float((outcome.ious >= wanted).mean())
            for wanted in BOX_ACCURACY
        }
    return {
        **figures,
        "counts": counts,
        "calibration": calibration.reliability(full.scores, full.ious),
        "missing": {
            f"{m}, {v.label}": why for v in judged for m, why in v.missing.items()
        },
        "iou_lower_kept": float((full.ious >= lower).mean()),
        "inference": {
            "windows": float(_all(judged, "windows").mean()),
            "evaluated": float(_all(judged, "evaluated").mean()),
        },
    }


def judged_only(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Those with boxes, by class and fold."""
    kept = [v for v in verdicts if not v.refused and v.image_ids]
    return sorted(kept, key=lambda v: (v.label, v.fold))


def outcomes(judged: Sequence[Verdict]) -> dict[str, Outcome]:
    """Of each method that all have in common, over all images."""
    labels = np.repeat([v.label for v in judged], [len(v.image_ids) for v in judged])
    common = set.intersection(*(set(v.boxes) for v in judged))
    order = [name for name in comparison.METHODS if name in common]
    order += sorted(common - set(order))
    return {
        name: Outcome(
            np.concatenate([v.ious[name] for v in judged]),
            np.concatenate([v.scores[name] for v in judged]),
            labels,
        )
        for name in order
    }


def ranked_by(judged: Sequence[Verdict], field: str) -> Outcome:
    """The full method, ranked by `own_scores` or `uncentred`, not by expected IoU."""
    full = outcomes(judged)["full"]
    return evaluation.Outcome(full.ious, _all(judged, field), full.labels)


def _all(judged: Sequence[Verdict], field: str) -> np.ndarray:
    return np.concatenate([getattr(v, field) for v in judged])


def _most_learned_from(judged: Sequence[Verdict]) -> int:
    """Images that the models of one fold were learned from, in the largest fold."""
    by_fold: dict[int, int] = {}
    for v in judged:
        by_fold[v.fold] = by_fold.get(v.fold, 0) + v.learned_from
    return max(by_fold.values(), default=0)
