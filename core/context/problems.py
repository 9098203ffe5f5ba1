"""Competitions between windows as the structured SVM's problem.

`CachedProblem` holds the hyper-features of all windows of all images; the most violated
constraints of a class are then one product. `SearchedProblem` holds none and finds each
by the exact loss-augmented search, for classes too large to cache.

Paper: section 4.2.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.context import structured_svm
from belvedere.core.context.scaling import Scaling
from belvedere.core.types import Competition


@dataclasses.dataclass(frozen=True, eq=False)
class Tables:
    """The windows of all images end to end, a row for each hyper-feature.

    `losses` is -inf at the best candidates, which do not compete.
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
class CachedProblem:
    """The learner's problem where all hyper-features are at hand.

    One product finds the most violated constraints of all images.
    """

    tables: Tables
    scaling: Scaling
    images: Int64[np.ndarray, " k"]

    @classmethod
    def of(
        cls, competitions: Sequence[Competition], scaling: Scaling | None = None
    ) -> "CachedProblem":
        """Of all images; hyper-features are used as they are if no scaling is given."""
        p = competitions[0].hyperfeatures.shape[1]
        scaling = scaling or Scaling(np.zeros(p), np.ones(p))
        return cls(
            Tables.of(competitions, np.arange(p)), scaling, np.arange(len(competitions))
        )

    def __len__(self) -> int:
        return len(self.images)

    def truth(self, i: int) -> Float[np.ndarray, " C"]:
        best = self.tables.best[self.images[i]]
        return self.scaling.apply(self.tables.rows[:, best])

    def most_violated(
        self, i: int, alpha: Float[np.ndarray, " C"]
    ) -> structured_svm.Violation:
        answers, joints, losses = self.most_violated_all(alpha)
        return structured_svm.Violation(int(answers[i]), joints[i], float(losses[i]))

    def most_violated_all(
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


@dataclasses.dataclass(frozen=True, eq=False)
class SearchedImage:
    """A training image whose hyper-features are computed only where a search looks.

    Args:
      truth: unscaled hyper-features of the best candidate.
      losses: 1 - IoU of each window with the best candidate.
      best: number of the best candidate.
      search: (weights, terms) -> (l, phi(l)) with l the exact argmax over the windows
        of <weights, phi(l)> + terms[l]; a term of -inf means: not a candidate.
    """

    truth: Float[np.ndarray, " P"]
    losses: Float[np.ndarray, " N"]
    best: int
    search: Callable[
        [Float[np.ndarray, " P"], Float[np.ndarray, " N"]],
        tuple[int, Float[np.ndarray, " P"]],
    ]


@dataclasses.dataclass(frozen=True, eq=False)
class SearchedProblem:
    """The learner's problem where tables would be too large: one search per image."""

    images: Sequence[SearchedImage]
    scaling: Scaling

    def __len__(self) -> int:
        return len(self.images)

    def truth(self, i: int) -> Float[np.ndarray, " P"]:
        return self.scaling.apply(self.images[i].truth)

    def most_violated(
        self, i: int, alpha: Float[np.ndarray, " P"]
    ) -> structured_svm.Violation:
        image = self.images[i]
        if len(image.losses) == 1:
            return structured_svm.Violation(-1, self.truth(i), -np.inf)
        terms = image.losses.copy()
        terms[image.best] = -np.inf
        weights, _ = self.scaling.fold(alpha)
        answer, phi = image.search(weights, terms)
        if answer == image.best:
            raise ValueError(f"search of image {i} returned the excluded {answer}")
        loss = float(image.losses[answer])
        return structured_svm.Violation(answer, self.scaling.apply(phi), loss)
