import numpy as np
import pytest
import scipy.sparse
import toy_class

from belvedere.core.assessment import labelled_windows, linear_svm
from belvedere.core.assessment.linear_svm import LinearSvm


@pytest.fixture(scope="module")
def windows():
    return labelled_windows.gathered(
        toy_class.samples("car"), toy_class.negatives("car"), ("location",), 3, 0
    )


def test_separable_windows_are_separated_whatever_their_storage():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 5)).astype(np.float32)
    positive = x[:, 2] - x[:, 0] > 0.3
    dense = linear_svm.fit(x, positive, 100.0, 0)
    np.testing.assert_array_equal(dense.outputs(x) > 0, positive)
    sparse = linear_svm.fit(scipy.sparse.csr_matrix(x), positive, 100.0, 0)
    np.testing.assert_allclose(sparse.weights, dense.weights)


def test_windows_of_one_kind_are_refused():
    with pytest.raises(ValueError, match="4 of 4"):
        linear_svm.fit(np.eye(4, dtype=np.float32), np.ones(4, bool), 1.0, 0)


def test_each_window_is_judged_by_the_machine_blind_to_its_image(windows):
    machines = [LinearSvm(np.zeros(4), float(fold)) for fold in range(3)]
    got = linear_svm.out_of_fold(windows.features["location"], windows.folds, machines)
    own = windows.of_class
    np.testing.assert_array_equal(got[own], windows.folds[own])


def test_the_cost_that_chooses_better_windows_wins(windows):
    def held_out(cost):
        return windows.ious * (1 if cost == 0.3 else -1)

    assert linear_svm.best_cost(windows, (0.1, 0.3, 3.0), held_out) == 0.3
    assert linear_svm.best_cost(windows, (0.1, 3.0), held_out) == 0.1
