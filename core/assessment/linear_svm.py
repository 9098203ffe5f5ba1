"""One linear SVM, and the choice of its cost by cross-validation over images.

scikit-learn does the learning: the dual of the squared hinge loss by coordinate
descent, quick for a few thousand windows of sparse histograms, and the same in each run
for a given seed. Positives and negatives weigh the same in all.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int64

from belvedere.core.assessment import labelled_windows
from belvedere.core.assessment.labelled_windows import LabelledWindows
from belvedere.core.embedding import matrices

COSTS = (0.1, 1.0)
_TOLERANCE = 0.1  # a hundredth of it chooses the same windows and takes thrice as long
_ITERATIONS = 5000


@dataclasses.dataclass(frozen=True, eq=False)
class LinearSvm:
    """w and b of x·w + b."""

    weights: Float[np.ndarray, "D"]
    offset: float

    def outputs(self, features: matrices.Matrix) -> Float[np.ndarray, "n"]:
        return np.asarray(features @ self.weights, np.float64) + self.offset


def fit(
    features: matrices.Matrix,
    positive: Bool[np.ndarray, "n"],
    cost: float,
    seed: int,
) -> LinearSvm:
    """The SVM that tells positives from the others; ValueError if there is one kind."""
    if not positive.any() or positive.all():
        raise ValueError(f"{positive.sum()} of {len(positive)} windows are positives")
    from sklearn.svm import LinearSVC

    machine = LinearSVC(
        C=cost,
        class_weight="balanced",
        dual=True,
        tol=_TOLERANCE,
        max_iter=_ITERATIONS,
        random_state=seed,
    ).fit(features, positive)
    return LinearSvm(machine.coef_[0].astype(np.float64), float(machine.intercept_[0]))


def fit_rows(
    features: matrices.Matrix,
    windows: LabelledWindows,
    rows: Bool[np.ndarray, "n"],
    cost: float,
    seed: int,
) -> LinearSvm:
    """The SVM learned from those of the windows that `rows` says."""
    chosen = np.flatnonzero(rows)
    return fit(matrices.rows(features, chosen), windows.positive[chosen], cost, seed)


def best_cost(
    windows: LabelledWindows,
    costs: Sequence[float],
    held_out: Callable[[float], Float[np.ndarray, "n"]],
) -> float:
    """The cost whose machines choose the best windows in images they have not seen.

    Args:
      windows: all that are learned from.
      costs: to choose from; the first of equals is taken.
      held_out: of a cost, the score of each window by machines that have not seen its
        image.
    """
    worth = [
        labelled_windows.top_ious(held_out(cost), windows).mean() for cost in costs
    ]
    return costs[int(np.argmax(worth))]


def out_of_fold(
    features: matrices.Matrix,
    folds: Int64[np.ndarray, "n"],
    machines: Sequence[LinearSvm],
) -> Float[np.ndarray, "n"]:
    """Outputs of `machines[f]` on the windows of fold f; 0 on those of no fold."""
    result = np.zeros(len(folds))
    for fold, machine in enumerate(machines):
        members = np.flatnonzero(folds == fold)
        result[members] = machine.outputs(matrices.rows(features, members))
    return result
