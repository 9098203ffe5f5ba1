import numpy as np
import pytest
import scipy.sparse
import toy_class
import toys
from oracles import baselines as oracle
from sklearn.svm import SVC

from belvedere.core.assessment import intersection
from belvedere.core.assessment.intersection import KNOTS, IntersectionSvm


def _histograms(rng, count, bins=40):
    counts = rng.poisson(0.8, (count, bins)) * rng.integers(1, 5, (count, bins))
    counts[:, 0] += 1
    roots = np.sqrt(counts / counts.sum(axis=1, keepdims=True))
    return scipy.sparse.csr_matrix(roots.astype(np.float32))


def _random_svm(rng, length):
    table = rng.normal(size=(length, len(KNOTS))).astype(np.float32)
    table[:, 0] = 0
    return IntersectionSvm(table, float(rng.normal()))


def test_kernel_and_gram_are_sums_of_minima(rng):
    a, b = _histograms(rng, 7), _histograms(rng, 5)
    want = oracle.intersection(a.toarray(), b.toarray())
    np.testing.assert_allclose(intersection.kernel(a, b), want, rtol=1e-6)
    want = oracle.intersection(a.toarray(), a.toarray())
    np.testing.assert_allclose(intersection.gram(a), want, rtol=1e-6)


def test_outputs_lie_on_the_lines_between_knots(rng):
    roots, svm = _histograms(rng, 6), _random_svm(rng, 40)
    want = [
        svm.offset + oracle.table_output(svm.table, KNOTS, row**2)
        for row in roots.toarray().astype(np.float64)
    ]
    np.testing.assert_allclose(svm.outputs(roots), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["sift_rgb", "surf"])
def test_windows_are_scored_as_from_their_histograms(name, rng):
    view, kind = toy_class.view("car", 0), toys.eyes().features[name]
    svm, here = _random_svm(rng, kind.length), view.descriptions[name]
    boxes = np.vstack([view.windows.boxes, [[0, 0, 2, 2], [5, 5, 6, 90]]])
    got = svm.of_windows(kind, here, boxes)
    want = svm.outputs(kind.read(here, boxes))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert np.ptp(got) > 1


def test_a_window_has_the_same_score_in_any_batch(rng):
    view, kind = toy_class.view("car", 0), toys.eyes().features["sift_rgb"]
    svm, here = _random_svm(rng, kind.length), view.descriptions["sift_rgb"]
    alone = svm.of_windows(kind, here, view.windows.boxes[[17]])
    assert alone[0] == svm.of_windows(kind, here, view.windows.boxes)[17]


@pytest.fixture(scope="module")
def learned():
    """Known histograms, the machine of scikit-learn on them, and its tables."""
    rng = np.random.default_rng(4)
    known = _histograms(rng, 60)
    positive = known.toarray()[:, 1] > np.median(known.toarray()[:, 1])
    gram, rows = intersection.gram(known), np.arange(50)
    machine = SVC(C=3.0, kernel="precomputed", class_weight="balanced", tol=0.01)
    machine.fit(gram[:50, :50], positive[:50])
    return known[:50], machine, intersection.fit(known, gram, positive, rows, 3.0)


def test_the_tables_are_exact_at_the_knots(learned, rng):
    known, machine, svm = learned
    new = np.sqrt(rng.choice(KNOTS, (30, 40)))
    want = machine.decision_function(oracle.intersection(new, known.toarray()))
    got = svm.outputs(scipy.sparse.csr_matrix(new))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_the_tables_are_close_to_the_machine_between_the_knots(learned, rng):
    known, machine, svm = learned
    new = _histograms(rng, 200)
    want = machine.decision_function(intersection.kernel(new, known))
    error = svm.outputs(new) - want
    assert np.sqrt((error**2).mean()) < 0.05 * want.std()


def test_windows_of_one_kind_or_of_other_bins_are_refused(rng):
    known = _histograms(rng, 6)
    with pytest.raises(ValueError, match="0 of 6"):
        intersection.fit(
            known, intersection.gram(known), np.zeros(6, bool), np.arange(6), 1.0
        )
    view, kind = toy_class.view("car", 0), toys.eyes().features["sift_rgb"]
    with pytest.raises(ValueError, match="40 bins"):
        _random_svm(rng, 40).of_windows(
            kind, view.descriptions["sift_rgb"], view.windows.boxes
        )


@pytest.fixture
def rng():
    return np.random.default_rng(3)
