import numpy as np
import pytest
import toy_class
from oracles import baselines as oracle

from belvedere.core.assessment import labelled_windows
from belvedere.core.assessment.labelled_windows import EVERY_FOLD

NAMES = ("sift_rgb", "location")


def _gathered(samples=None, negatives=None, seed=0):
    if samples is None:
        samples = toy_class.samples("car")
    if negatives is None:
        negatives = toy_class.negatives("car")
    return labelled_windows.gathered(samples, negatives, NAMES, 3, seed)


def test_the_windows_of_an_image_are_in_one_fold_and_folds_are_balanced():
    windows = _gathered()
    of_image = {}
    for image, fold in zip(windows.images, windows.folds, strict=True):
        assert of_image.setdefault(image, fold) == fold
    sizes = np.bincount([f for f in of_image.values() if f != EVERY_FOLD])
    assert len(sizes) == 3 and np.ptp(sizes) <= 1


def test_rows_belong_together():
    windows = _gathered()
    by_name = {s.image_id: s for s in toy_class.samples("car")}
    for number in (0, 5):
        rows = windows.images == number
        sample = by_name[windows.ids[number]]
        np.testing.assert_array_equal(windows.boxes[rows], sample.drawn.boxes)
        np.testing.assert_array_equal(windows.ious[rows], sample.relations[0])
        np.testing.assert_array_equal(
            windows.features["location"][rows], sample.features["location"]
        )


def test_windows_of_other_classes_are_negatives_of_every_fold():
    windows = _gathered()
    lent = ~windows.of_class
    assert lent.sum() == sum(len(s.drawn) for s in toy_class.negatives("car"))
    assert windows.labelled[lent].all() and not windows.positive[lent].any()


def test_windows_in_between_have_no_label():
    windows = _gathered()
    between = (windows.ious >= 0.5) & (windows.ious < 0.7)
    assert between.any()
    np.testing.assert_array_equal(windows.labelled, ~between)
    np.testing.assert_array_equal(windows.positive, windows.ious >= 0.7)


def test_a_picture_of_the_class_lends_no_negatives():
    own = toy_class.samples("car")[0]
    more = _gathered(negatives=(*toy_class.negatives("car"), own))
    assert len(more) == len(_gathered())


def test_the_order_of_images_does_not_matter():
    one, other = _gathered(), _gathered(toy_class.samples("car")[::-1])
    assert one.ids == other.ids
    np.testing.assert_array_equal(one.boxes, other.boxes)


def test_top_ious_are_those_of_the_highest_scores():
    windows = _gathered()
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 6, len(windows)).astype(float)  # with equals
    want = oracle.top_ious(scores, windows.ious, windows.images, windows.of_class)
    got = labelled_windows.top_ious(scores, windows)
    np.testing.assert_array_equal(got, want)


def test_too_few_images_are_refused():
    with pytest.raises(ValueError, match="3 training images"):
        _gathered(samples=toy_class.samples("car")[:3])
    with pytest.raises(ValueError, match="0 that lend"):
        _gathered(negatives=())
    with pytest.raises(ValueError, match="0 training images"):
        _gathered(samples=())
