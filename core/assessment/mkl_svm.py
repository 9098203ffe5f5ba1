"""MKL-SVM: one SVM for each feature type, and an SVM over their outputs.

Paper: section 5, "MKL-SVM". On 90% of the training images a linear SVM is learned for
each feature type; on the other 10% a second one over their outputs, location and scale.
The split is by image, by rank of a hash of its id; location and scale are the feature
type `location`, which has no SVM of its own. Everything being linear, the two levels
fold into one column of weights for each feature type, and all windows of a picture are
scored by `project`, without their raw features.

All windows of the 10% are positives or negatives of the second level, from IoU 0.5 on:
there are few of them, and what is to be learned is the rank of good windows.

Departures: the first level is linear on the square roots of histograms (the Hellinger
kernel) for all bags of words; the paper does not name a kernel. Costs are chosen by
cross-validation over images, one for each feature type and one for the second level.
The score is in deviations of the second level's outputs (see `_combined`).
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from belvedere.core import sight
from belvedere.core.assessment import labelled_windows, linear_svm, window_choice
from belvedere.core.assessment.labelled_windows import LabelledWindows
from belvedere.core.assessment.linear_svm import LinearSvm
from belvedere.core.embedding import sampling
from belvedere.core.embedding.affine import AffineMap
from belvedere.core.sight import Eyes, Samples, View

FOLDS = 3  # of cross-validation
_LOCATION = "location"
_PARTS = 10  # one of them is for the second level
_OVERLAPPING = 0.5  # IoU of the positives of the second level
_SECOND_COSTS = (0.01, 0.1, 1.0)
_FLAT = 1e-9  # a deviation this small is rounding


@dataclasses.dataclass(frozen=True, eq=False)
class MklSvm:
    """Both levels in one: a column of weights and an offset for each feature type."""

    maps: Mapping[str, AffineMap]

    def scores(self, view: View, eyes: Eyes) -> Float[np.ndarray, "N"]:
        return sight.embed(view, self.maps, eyes).sum(axis=1)


def train(
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
    samples: Sequence[Samples],
    negatives: Sequence[Samples],
    eyes: Eyes,
    seed: int,
) -> window_choice.WindowChoice:
    """Learns a class. The arguments are those of `baselines.train`."""
    windows = labelled_windows.gathered(
        samples, negatives, tuple(eyes.features), FOLDS, seed
    )
    parts = [split(windows, fold, seed) for fold in (*range(FOLDS), None)]
    first = [_first_level(name, windows, parts, seed) for name in types_of(windows)]
    inputs = [
        inputs_of(windows, [machines[i] for machines in first])
        for i in range(len(parts))
    ]
    second = _second_level(inputs, windows, parts, seed)
    *blind, full = [
        folded(windows, [machines[i] for machines in first], second[i])
        for i in range(len(parts))
    ]
    return window_choice.calibrated(full, blind, views, truths, eyes, seed)


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Which windows the first and the second level learn from."""

    first: Bool[np.ndarray, "n"]
    second: Bool[np.ndarray, "n"]


def split(windows: LabelledWindows, without: int | None, seed: int) -> Split:
    """90% and 10% of the images, those of fold `without` in neither.

    Images of the class and of the negatives are split apart, a tenth of each. The first
    level leaves out windows that are neither positives nor negatives.
    """
    here = windows.folds != (FOLDS if without is None else without)
    second = np.zeros(len(windows), bool)
    for kind in (windows.of_class, ~windows.of_class):
        numbers = np.unique(windows.images[here & kind])
        names = [windows.ids[number] for number in numbers]
        tenth = sampling.balanced_folds(names, _PARTS, seed) == 0
        second |= np.isin(windows.images, numbers[tenth])
    return Split(here & windows.labelled & ~second, second)


def types_of(windows: LabelledWindows) -> list[str]:
    return [name for name in windows.features if name != _LOCATION]


def _first_level(
    name: str, windows: LabelledWindows, parts: Sequence[Split], seed: int
) -> list[LinearSvm]:
    """The SVMs of a feature type: one blind to each fold, then that of all images."""
    features = windows.features[name]
    tried: dict[float, list[LinearSvm]] = {}

    def held_out(cost: float) -> Float[np.ndarray, "n"]:
        tried[cost] = [
            linear_svm.fit_rows(features, windows, part.first, cost, seed)
            for part in parts[:FOLDS]
        ]
        return linear_svm.out_of_fold(features, windows.folds, tried[cost])

    cost = linear_svm.best_cost(windows, linear_svm.COSTS, held_out)
    full = linear_svm.fit_rows(features, windows, parts[FOLDS].first, cost, seed)
    return [*tried[cost], full]


def inputs_of(
    windows: LabelledWindows, machines: Sequence[LinearSvm]
) -> Float[np.ndarray, "n k"]:
    """What the second level sees: an output per feature type, location and scale."""
    outputs = [
        machine.outputs(windows.features[name])
        for name, machine in zip(types_of(windows), machines, strict=True)
    ]
    return np.column_stack([*outputs, windows.features[_LOCATION]]).astype(np.float64)


def _second_level(
    inputs: Sequence[Float[np.ndarray, "n k"]],
    windows: LabelledWindows,
    parts: Sequence[Split],
    seed: int,
) -> list[LinearSvm]:
    overlapping = windows.ious >= _OVERLAPPING
    tried: dict[float, list[LinearSvm]] = {}

    def held_out(cost: float) -> Float[np.ndarray, "n"]:
        tried[cost] = [
            _combined(x[part.second], overlapping[part.second], cost, seed)
            for x, part in zip(inputs, parts, strict=True)
        ]
        result = np.zeros(len(windows))
        for fold in range(FOLDS):
            members = windows.folds == fold
            result[members] = tried[cost][fold].outputs(inputs[fold][members])
        return result

    return tried[linear_svm.best_cost(windows, _SECOND_COSTS, held_out)]


def _combined(
    inputs: Float[np.ndarray, "s k"],
    positive: Bool[np.ndarray, "s"],
    cost: float,
    seed: int,
) -> LinearSvm:
    """An SVM learned on standardised inputs, its outputs standardised too.

    The margin of an SVM depends on how many windows it was learned from; in deviations
    of its outputs, those that are blind to a fold and that of all images compare.
    """
    mean, factor = _standard(inputs)
    found = linear_svm.fit((inputs - mean) * factor, positive, cost, seed)
    weights = found.weights * factor
    middle, scale = _standard(inputs @ weights[:, None])
    return LinearSvm(weights * scale, -float(middle[0] * scale[0]))


def _standard(
    values: Float[np.ndarray, "s k"],
) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """Mean and 1 / deviation of each column; 0 where nothing varies."""
    spread = values.std(axis=0)
    return values.mean(axis=0), np.where(
        spread > _FLAT, 1 / np.maximum(spread, _FLAT), 0.0
    )


def folded(
    windows: LabelledWindows, machines: Sequence[LinearSvm], second: LinearSvm
) -> MklSvm:
    """sum over types of a·(x·w + b), and a·location + offset, as affine maps."""
    names = types_of(windows)
    maps = {
        name: AffineMap(
            (a * machine.weights[:, None]).astype(np.float32),
            np.array([a * machine.offset]),
        )
        for name, machine, a in zip(names, machines, second.weights, strict=False)
    }
    rest = second.weights[len(names) :, None].astype(np.float32)
    maps[_LOCATION] = AffineMap(rest, np.array([second.offset]))
    return MklSvm(maps)
