"""UVA: the detector of Uijlings et al. on our windows, with three bags of words.

Paper: section 5, "UVA". The three colour SIFT bags of words alone, one SVM for each,
their outputs averaged. Kernel: histogram intersection, learned exactly and evaluated by
tables (`intersection`), as Uijlings et al. do. They begin with windows of 20 to 50%
overlap as negatives and then add, twice, the highest-scoring window of each negative
image.

Departures: pictures of the class have negatives too: in every round each of them adds
the three highest-scoring of its first 400 windows (they are in random order) that
overlap the object by less than 50%, and neither another nor an earlier negative by more
than 70%. Positives are those of `labelled_windows`. The cost, one for all three so that
their outputs can be averaged, is chosen by cross-validation over images before mining.
The machines that learn what a score promises are blind to the images of a fold; that
the negatives of the other images were mined by a machine that was not, is left so.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core.appearance.bag_of_words import BagOfWords
from belvedere.core.assessment import (
    hard_negatives,
    intersection,
    labelled_windows,
    linear_svm,
    window_choice,
)
from belvedere.core.assessment.intersection import IntersectionSvm
from belvedere.core.assessment.labelled_windows import LabelledWindows
from belvedere.core.embedding import matrices
from belvedere.core.sight import Eyes, Samples, View

FEATURES = ("sift_intensity", "sift_opponent", "sift_rgb")
FOLDS = 3  # of cross-validation
ROUNDS = 2  # of mining
_COSTS = (0.1, 1.0, 10.0)
_FIRST_FROM = 0.2  # IoU of the first negatives


@dataclasses.dataclass(frozen=True, eq=False)
class Uva:
    """The SVM of each bag of words."""

    machines: Mapping[str, IntersectionSvm]

    def scores(self, view: View, eyes: Eyes) -> Float[np.ndarray, "N"]:
        boxes = view.windows.boxes
        parts = [
            machine.of_windows(_bag(name, eyes), view.descriptions[name], boxes)
            for name, machine in self.machines.items()
        ]
        return np.mean(parts, axis=0)

    def outputs(
        self, features: Mapping[str, matrices.Matrix]
    ) -> Float[np.ndarray, "n"]:
        """The scores of windows whose histograms are at hand."""
        parts = [m.outputs(features[name]) for name, m in self.machines.items()]
        return np.mean(parts, axis=0)


@dataclasses.dataclass(frozen=True, eq=False)
class Stock:
    """The windows that are learned from, and their kernel for each bag of words."""

    windows: LabelledWindows
    grams: Mapping[str, Float[np.ndarray, "n n"]]

    def grown(self, more: LabelledWindows) -> "Stock":
        """With more windows; only what is new in the kernels is computed."""
        windows = self.windows.joined([more])
        grams = {}
        for name, old in self.grams.items():
            new = intersection.kernel(more.features[name], windows.features[name])
            grams[name] = np.block([[old, new[:, : len(old)].T], [new]])
        return Stock(windows, grams)

    def learned(self, cost: float, without: int | None = None) -> Uva:
        """Learned from all windows, or from those that are not of a fold."""
        folds = self.windows.folds
        rows = np.flatnonzero(folds != (FOLDS if without is None else without))
        return Uva(
            {
                name: intersection.fit(
                    self.windows.features[name],
                    gram,
                    self.windows.positive,
                    rows,
                    cost,
                )
                for name, gram in self.grams.items()
            }
        )


def train(
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    eyes: Eyes,
    seed: int,
) -> window_choice.WindowChoice:
    """Learns a class. The arguments are those of `baselines.train`."""
    for name in FEATURES:
        _bag(name, eyes)
    windows = labelled_windows.gathered(samples, negatives, FEATURES, FOLDS, seed)
    stock = first_stock(windows)
    cost = _best_cost(stock, windows)
    for _ in range(ROUNDS):
        scorer = stock.learned(cost)
        hard = hard_negatives.mined(scorer, stock.windows, windows, views, truths, eyes)
        stock = stock.grown(hard)
    blind = [stock.learned(cost, without=fold) for fold in range(FOLDS)]
    return window_choice.calibrated(
        stock.learned(cost), blind, views, truths, eyes, seed
    )


def first_stock(windows: LabelledWindows) -> Stock:
    """Positives and near misses; other pictures only lend what is mined from them."""
    first = windows.part(windows.labelled & (windows.ious >= _FIRST_FROM))
    return Stock(
        first, {name: intersection.gram(x) for name, x in first.features.items()}
    )


def _best_cost(stock: Stock, windows: LabelledWindows) -> float:
    def held_out(cost: float) -> Float[np.ndarray, "n"]:
        result = np.zeros(len(windows))
        for fold in range(FOLDS):
            mine = windows.folds == fold
            scorer = stock.learned(cost, without=fold)
            result[mine] = scorer.outputs(windows.part(mine).features)
        return result

    return linear_svm.best_cost(windows, _COSTS, held_out)


def _bag(name: str, eyes: Eyes) -> BagOfWords:
    kind = eyes.features.get(name)
    if not isinstance(kind, BagOfWords):
        raise ValueError(f"{name!r} is no bag of words, UVA wanted {FEATURES}")
    return kind
