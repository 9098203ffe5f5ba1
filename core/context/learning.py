"""From the competitions of a class's training images to alpha.

The hyper-features are centred and scaled; the structured SVM is solved for several γ on
all folds of images but one; the γ whose choices on the images left out overlap the
object most is used on all images.

Paper: section 4, "Learning alpha with structured output regression".
Departures: the paper says neither how γ is chosen nor that hyper-features are scaled;
without scaling ||alpha||² punishes phi_G far more than phi_C.
"""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.context import structured_svm, voting
from belvedere.core.context.problems import Tables, WindowProblem
from belvedere.core.context.scaling import Moments, Scaling
from belvedere.core.context.voting import NONE, Voting
from belvedere.core.types import Competition, P
from belvedere.core.windows import boxes


@dataclasses.dataclass(frozen=True)
class Settings:
    """How alpha is learned.

    Args:
      gammas: values of gamma · n to choose from, increasing.
      columns: hyper-features to use; all if None.
      solver: precision of the structured SVM.
    """

    gammas: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    columns: tuple[int, ...] | None = None
    solver: structured_svm.Settings = dataclasses.field(
        default_factory=structured_svm.Settings
    )

    def __post_init__(self) -> None:
        increasing = all(a < b for a, b in itertools.pairwise((0.0, *self.gammas)))
        if not (self.gammas and increasing):
            raise ValueError(f"gammas {self.gammas} must be positive and increasing")
        if self.columns is not None and not _distinct(self.columns):
            raise ValueError(
                f"columns {self.columns!r} must be distinct numbers from 0 to {P - 1}"
            )


def _distinct(columns: Any) -> bool:
    """Whether this names hyper-features, and none twice."""
    return (
        isinstance(columns, tuple)
        and bool(columns)
        and all(type(one) is int and 0 <= one < P for one in columns)
        and len(set(columns)) == len(columns)
    )


@dataclasses.dataclass(frozen=True, eq=False)
class OutOfFold:
    """What a model that had not seen the image chose in it, and what that is worth.

    Its gamma is the best on the images of the other folds: the one that is best on all
    of them has been chosen for its luck here too. `all_scores` are those of every
    window of an image, `scores` those of the ones selected.
    """

    selected: Int64[np.ndarray, " n"]
    scores: Float[np.ndarray, " n"]
    ious: Float[np.ndarray, " n"]
    all_scores: tuple[Float[np.ndarray, "_"], ...]

    def worth(
        self, competitions: Sequence[Competition], rules: Voting
    ) -> Float[np.ndarray, " n"]:
        """IoU with the true box of what the windows around the chosen ones vote for."""
        if rules == NONE:
            return self.ious
        return np.array(
            [
                _voted_iou(c, scores, l, rules)
                for c, scores, l in zip(
                    competitions, self.all_scores, self.selected.tolist(), strict=True
                )
            ]
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Learned:
    """The scoring function of a class and how it was found.

    `alpha` and `scaling` span all hyper-features; alpha is 0 at those not used.
    `table` holds (gamma · n, mean IoU out of fold); `converged` covers every solution,
    also those of the cross-validation.
    """

    alpha: Float[np.ndarray, " P"]
    scaling: Scaling
    gamma: float
    table: tuple[tuple[float, float], ...]
    out_of_fold: OutOfFold
    solution: structured_svm.Solution
    converged: bool


def learn(
    competitions: Sequence[Competition],
    folds: Int64[np.ndarray, " n"],
    settings: Settings | None = None,
) -> Learned:
    """alpha, with gamma chosen by cross-validation over images.

    The criterion is the mean IoU of the selected window, equal scores going to the
    lowest index and equal criteria to the smaller gamma.

    Args:
      competitions: one per training image.
      folds: the fold of each image; at least two must occur.
      settings: see `Settings`.
    """
    settings = settings or Settings()
    columns = _checked_columns(competitions, folds, settings)
    tables = Tables.of(competitions, columns)
    moments = Moments.of([c.hyperfeatures for c in competitions])
    trials = _cross_validate(tables, moments, columns, folds, settings)
    mean_ious = tables.ious[trials.winners].mean(axis=1)
    chosen = int(mean_ious.argmax())
    scaling = moments.scaling()
    gamma = settings.gammas[chosen] / len(competitions)
    problem = WindowProblem(tables, scaling.at(columns), np.arange(len(competitions)))
    solution = structured_svm.solve(problem, gamma, settings.solver)
    alpha = np.zeros(len(scaling.centre))
    alpha[columns] = solution.alpha
    return Learned(
        alpha=alpha,
        scaling=scaling,
        gamma=gamma,
        table=tuple(zip(settings.gammas, mean_ious.tolist(), strict=True)),
        out_of_fold=trials.out_of_fold(folds, tables),
        solution=solution,
        converged=solution.converged and trials.converged,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class _Trials:
    """Winning window of each image left out and score of all windows, by gamma."""

    winners: Int64[np.ndarray, "G n"]
    values: Float[np.ndarray, "G L"]
    converged: bool

    def out_of_fold(self, folds: Int64[np.ndarray, " n"], tables: Tables) -> OutOfFold:
        ious = tables.ious[self.winners]
        gammas = np.zeros(len(folds), np.int64)
        for fold in np.unique(folds):
            gammas[folds == fold] = ious[:, folds != fold].mean(axis=1).argmax()
        each = np.arange(len(folds))
        winners = self.winners[gammas, each]
        ends = tables.starts + tables.sizes
        return OutOfFold(
            winners - tables.starts,
            self.values[gammas, winners],
            ious[gammas, each],
            tuple(
                self.values[g, start:end]
                for g, start, end in zip(gammas, tables.starts, ends, strict=True)
            ),
        )


def _cross_validate(
    tables: Tables,
    moments: Moments,
    columns: Int64[np.ndarray, " C"],
    folds: Int64[np.ndarray, " n"],
    settings: Settings,
) -> _Trials:
    winners = np.zeros((len(settings.gammas), len(folds)), np.int64)
    all_values = np.zeros((len(settings.gammas), len(tables.losses)))
    converged = True
    for fold in np.unique(folds):
        left_out, images = folds == fold, np.flatnonzero(folds != fold)
        windows = np.repeat(left_out, tables.sizes)
        scaling = moments.scaling(images).at(columns)
        problem = WindowProblem(tables, scaling, images)
        gammas = [gamma / len(images) for gamma in settings.gammas]
        solutions = structured_svm.solve_path(problem, gammas, settings.solver)
        for g, solution in enumerate(solutions):
            weights, offset = scaling.fold(solution.alpha)
            values = tables.scores(weights) + offset
            winners[g, left_out] = tables.winners(values)[left_out]
            all_values[g, windows] = values[windows]
            converged = converged and solution.converged
    return _Trials(winners, all_values, converged)


def _voted_iou(
    c: Competition, scores: Float[np.ndarray, " N"], l: int, rules: Voting
) -> float:
    if c.boxes is None or c.truth is None:
        raise ValueError("a competition without boxes cannot be voted on")
    who = voting.voters(c.boxes, l, rules)
    box = voting.elected(c.boxes[l], c.boxes[who], scores[who], rules)
    return float(boxes.ious(box[None], c.truth).max())


def _checked_columns(
    competitions: Sequence[Competition],
    folds: Int64[np.ndarray, " _"],
    settings: Settings,
) -> Int64[np.ndarray, " C"]:
    """The columns to use, or ValueError where nothing can be learned."""
    widths = sorted({c.hyperfeatures.shape[1] for c in competitions})
    if len(widths) != 1:
        raise ValueError(
            f"{len(competitions)} competitions have {widths} hyper-features, "
            "wanted at least one competition and one number"
        )
    if len(folds) != len(competitions) or len(np.unique(folds)) < 2:
        raise ValueError(
            f"folds {folds.tolist()} of {len(competitions)} images: wanted one for "
            "each image, and at least two different ones"
        )
    columns = range(widths[0]) if settings.columns is None else settings.columns
    if not set(columns) <= set(range(widths[0])) or not columns:
        raise ValueError(f"columns {columns} are not among {widths[0]} hyper-features")
    return np.array(columns, np.int64)
