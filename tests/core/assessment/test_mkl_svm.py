import numpy as np
import pytest
import toy_class
import toys
from oracles import baselines as oracle

from belvedere.core.assessment import labelled_windows, mkl_svm
from belvedere.core.assessment.linear_svm import LinearSvm


@pytest.fixture(scope="module")
def windows():
    return labelled_windows.gathered(
        toy_class.samples("car"),
        toy_class.negatives("car"),
        tuple(toys.eyes().features),
        mkl_svm.FOLDS,
        0,
    )


def _images(windows, rows):
    return set(windows.images[rows].tolist())


@pytest.mark.parametrize("without", [None, 0, 1, 2])
def test_the_levels_share_no_image(windows, without):
    split = mkl_svm.split(windows, without, 0)
    assert not _images(windows, split.first) & _images(windows, split.second)
    if without is not None:
        assert without not in windows.folds[split.first | split.second]


def test_the_second_level_has_a_tenth_of_both_kinds_of_images(windows):
    split = mkl_svm.split(windows, None, 0)
    for kind in (windows.of_class, ~windows.of_class):
        tenth = len(_images(windows, split.second & kind))
        assert tenth == -(-len(_images(windows, kind)) // 10)


def test_the_split_goes_by_name_and_seed_alone(windows):
    """An image stays on its side whatever the order in which images come."""
    turned = labelled_windows.gathered(
        toy_class.samples("car")[::-1],
        toy_class.negatives("car"),
        ("location",),
        mkl_svm.FOLDS,
        0,
    )
    sides = []
    for one in (windows, turned):
        second = mkl_svm.split(one, None, 0).second
        sides.append({one.ids[i] for i in _images(one, second)})
    assert sides[0] == sides[1]
    others = [mkl_svm.split(windows, None, seed).second for seed in range(1, 6)]
    assert any((o != mkl_svm.split(windows, None, 0).second).any() for o in others)


def test_one_projection_equals_the_two_levels(windows):
    rng = np.random.default_rng(0)
    eyes, view = toys.eyes(), toy_class.view("car", 3)
    names = mkl_svm.types_of(windows)
    assert names == [n for n in eyes.features if n != "location"]
    machines = [
        LinearSvm(rng.normal(size=eyes.features[n].length), float(rng.normal()))
        for n in names
    ]
    second = LinearSvm(rng.normal(size=len(names) + 4), float(rng.normal()))
    raw = {
        name: kind.read(view.descriptions[name], view.windows.boxes)
        for name, kind in eyes.features.items()
    }
    want = oracle.two_levels([raw[n] for n in names], machines, raw["location"], second)
    got = mkl_svm.folded(windows, machines, second).scores(view, eyes)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_the_second_level_sees_outputs_location_and_scale(windows):
    machines = [
        LinearSvm(np.zeros(toys.eyes().features[n].length), float(k))
        for k, n in enumerate(mkl_svm.types_of(windows))
    ]
    inputs = mkl_svm.inputs_of(windows, machines)
    np.testing.assert_array_equal(inputs[0, : len(machines)], range(len(machines)))
    np.testing.assert_allclose(inputs[:, len(machines) :], windows.features["location"])
