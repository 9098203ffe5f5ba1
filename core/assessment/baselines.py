"""What the method is compared with, learned from the same windows and features.

  whole_image, constant_box, centre_prior   do not look at the picture (`fixed_box`)
  mkl_svm   an SVM per feature type, and one over their outputs (`mkl_svm`)
  uva       three bags of words, averaged SVMs, hard negatives (`uva`)

Location and scale alone, AE-GP and the ceiling are in `comparison`: the first two are
the method itself with less to see, the last needs the truth.

Paper: section 5, "Baselines and competitors".
"""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from belvedere.core.assessment import fixed_box, mkl_svm, uva
from belvedere.core.assessment.window_choice import Placement
from belvedere.core.sight import Eyes, Samples, View

FIXED = ("whole_image", "constant_box", "centre_prior")
LEARNED = {"mkl_svm": mkl_svm.train, "uva": uva.train}
NAMES = (*FIXED, *LEARNED)


@runtime_checkable
class Baseline(Protocol):
    """A way to place the box of a class."""

    def place(self, view: View, eyes: Eyes) -> Placement:
        """The box in the picture's own frame, its score and the IoU to expect."""


def train(
    name: str,
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    eyes: Eyes,
    seed: int = 0,
) -> Baseline:
    """Learns a class in the way that `name` says.

    Args:
      name: one of `NAMES`.
      views: training images, by name.
      truths: their true boxes, in the pictures' own frames, by name.
      samples: the sampled windows of the same images.
      negatives: windows of images of other classes.
      eyes: how the images were looked at.
      seed: of folds and of learning.
    """
    if not views:
        raise ValueError("a baseline needs training images, there are none")
    if name in FIXED:
        return fixed_box.train(name, views, truths)
    if name not in LEARNED:
        raise ValueError(f"no baseline {name!r}, wanted one of {NAMES}")
    if {s.image_id for s in samples} != set(views):
        raise ValueError("sampled windows and views are not of the same images")
    return LEARNED[name](views, truths, samples, negatives, eyes, seed)
