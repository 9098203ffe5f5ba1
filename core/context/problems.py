"""Competitions between windows as the structured SVM's problem.

The hyper-features of all windows of all images of a class are at hand, so the most
violated constraints of all its images are one product.

Paper: section 4.2.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.context import structured_svm
from belvedere.core.context.scaling import Scaling
from belvedere.core.types import Competition


@dataclasses.dataclass(frozen=True, eq=False)
class Tables:
    """The windows of all images end to end, a row for each hyper-feature.

    `losses` is -inf at the best candidates, which do not compete. `starts` and `best`,
    where the windows of an image begin and its best one, count over all images.
    """

    rows: Float[np.ndarray, "C L"]
    losses: Float[np.ndarray, " L"]
    ious: Float[np.ndarray, " L"]
    starts: Int64[np.ndarray, " n"]
    sizes: Int64[np.ndarray, " n"]
    best: Int64[np.ndarray, " n"]

    @classmethod
    def of(
        cls, competitions: Sequence[Competition], columns: Int64[np.ndarray, " C"]
    ) -> "Tables":
        rows = np.concatenate(
            [c.hyperfeatures[:, columns].T for c in competitions], 1, dtype=np.float64
        )
        losses = np.concatenate([c.losses for c in competitions], dtype=np.float64)
        ious = np.concatenate([c.ious for c in competitions])
        sizes = np.array([len(c.losses) for c in competitions])
        starts = np.cumsum(sizes) - sizes
        best = starts + [c.best for c in competitions]
        losses[best] = -np.inf
        return cls(rows, losses, ious, starts, sizes, best)

    def scores(self, weights: Float[np.ndarray, " C"]) -> Float[np.ndarray, " L"]:
        """<weights, phi>, summed term by term so that equal windows tie exactly."""
        scores, term = np.zeros(self.rows.shape[1]), np.empty(self.rows.shape[1])
        for row, weight in zip(self.rows, weights, strict=True):
            scores += np.multiply(row, weight, out=term)
        return scores

    def winners(self, values: Float[np.ndarray, " L"]) -> Int64[np.ndarray, " n"]:
        """Where each image has its largest value, the first of equals."""
        largest = np.maximum.reduceat(values, self.starts)
        reached = np.flatnonzero(values == np.repeat(largest, self.sizes))
        return reached[np.searchsorted(reached, self.starts)]


@dataclasses.dataclass(frozen=True, eq=False)
class WindowProblem:
    """What the learner asks of some of the images: the right answer is the best window.

    Its wrong answers are all others; `images` are numbers of images in `tables`.
    """

    tables: Tables
    scaling: Scaling
    images: Int64[np.ndarray, " k"]

    def __len__(self) -> int:
        return len(self.images)

    def truth(self, i: int) -> Float[np.ndarray, " C"]:
        best = self.tables.best[self.images[i]]
        return self.scaling.apply(self.tables.rows[:, best])

    def most_violated(
        self, alpha: Float[np.ndarray, " C"]
    ) -> structured_svm.Violations:
        weights, _ = self.scaling.fold(alpha)
        values = self.tables.scores(weights) + self.tables.losses
        winners = self.tables.winners(values)[self.images]
        losses = self.tables.losses[winners]
        answers = np.where(
            losses > -np.inf, winners - self.tables.starts[self.images], -1
        )
        joints = self.scaling.apply(self.tables.rows[:, winners].T)
        return structured_svm.Violations(answers, joints, losses)
