"""The sampled windows of a class and its negatives as one table for learning SVMs.

Paper: section 5, "Baselines": silent on which windows are positives and negatives.
Here a window is a positive from IoU 0.7 with the object on (the true box included), a
negative below 0.5, as are all windows of other classes' pictures. Those in between
belong to neither.

Departures: Uijlings et al. take true boxes alone as positives; a class of 100 pictures
would have 100 of them.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from belvedere.core.embedding import class_embedding, matrices, sampling
from belvedere.core.sight import Samples

POSITIVE_FROM = 0.7
NEGATIVE_BELOW = 0.5
EVERY_FOLD = -1  # of a window that takes part in every training


@dataclasses.dataclass(frozen=True, eq=False)
class LabelledWindows:
    """n windows of some images, which have names and folds.

    `images` numbers the image of each window; boxes are in the frame of the view.
    Windows of other classes' pictures have IoU 0 and belong to `EVERY_FOLD`: nothing is
    judged on them.
    """

    ids: tuple[str, ...]
    image_folds: Int64[np.ndarray, "I"]
    features: Mapping[str, matrices.Matrix]
    boxes: Float[np.ndarray, "n 4"]
    ious: Float[np.ndarray, "n"]
    images: Int64[np.ndarray, "n"]

    def __len__(self) -> int:
        return len(self.ious)

    @property
    def folds(self) -> Int64[np.ndarray, "n"]:
        return self.image_folds[self.images]

    @property
    def positive(self) -> Bool[np.ndarray, "n"]:
        return self.ious >= POSITIVE_FROM

    @property
    def labelled(self) -> Bool[np.ndarray, "n"]:
        return self.positive | (self.ious < NEGATIVE_BELOW)

    @property
    def of_class(self) -> Bool[np.ndarray, "n"]:
        return self.folds != EVERY_FOLD

    def part(self, rows: Bool[np.ndarray, "n"]) -> "LabelledWindows":
        """Those of the windows that `rows` says."""
        chosen = np.flatnonzero(rows)
        return LabelledWindows(
            self.ids,
            self.image_folds,
            {name: matrices.rows(x, chosen) for name, x in self.features.items()},
            self.boxes[chosen],
            self.ious[chosen],
            self.images[chosen],
        )

    def joined(self, more: Sequence["LabelledWindows"]) -> "LabelledWindows":
        """These windows, then others of the same images."""
        if any(part.ids != self.ids for part in more):
            raise ValueError("windows of other images cannot be joined to these")
        every = [self, *more]
        return LabelledWindows(
            self.ids,
            self.image_folds,
            {
                name: class_embedding.stacked([part.features[name] for part in every])
                for name in self.features
            },
            np.concatenate([part.boxes for part in every]),
            np.concatenate([part.ious for part in every]),
            np.concatenate([part.images for part in every]),
        )


def gathered(
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    names: Sequence[str],
    folds: int,
    seed: int,
) -> LabelledWindows:
    """The windows of a class and of its negatives, in the order of the images' ids.

    Pictures of the class among those that lend negatives are left out: what stands
    there as a negative may be the object.

    Args:
      samples: one for each training image.
      negatives: of other classes.
      names: feature types to keep.
      folds: how many, balanced, by image.
      seed: of the folds.
    """
    own = {s.image_id for s in samples}
    samples = sorted(samples, key=lambda s: s.image_id)
    pool = sorted(
        (s for s in negatives if s.image_id not in own and len(s.drawn)),
        key=lambda s: s.image_id,
    )
    if len(own) <= folds or not pool:
        raise ValueError(
            f"{len(own)} training images and {len(pool)} that lend negatives, "
            f"wanted more than {folds} and at least one"
        )
    ids = [s.image_id for s in samples]
    every = [*samples, *pool]
    image_folds = np.full(len(every), EVERY_FOLD)
    image_folds[: len(ids)] = sampling.balanced_folds(ids, folds, seed)
    return LabelledWindows(
        tuple(s.image_id for s in every),
        image_folds,
        {n: class_embedding.stacked([s.features[n] for s in every]) for n in names},
        np.concatenate([s.drawn.boxes for s in every]),
        np.concatenate([s.relations[0] for s in every]),
        np.repeat(np.arange(len(every)), [len(s.drawn) for s in every]),
    )


def top_ious(
    scores: Float[np.ndarray, "n"], windows: LabelledWindows
) -> Float[np.ndarray, "T"]:
    """IoU of the highest-scoring sampled window of each image of the class."""
    mine = np.flatnonzero(windows.of_class)
    order = mine[np.lexsort((-scores[mine], windows.images[mine]))]
    _, first = np.unique(windows.images[order], return_index=True)
    return windows.ious[order[first]]
