import dataclasses

import numpy as np
import pytest
import toy_class
import toys

from belvedere.core.assessment import baselines, window_choice
from belvedere.core.embedding import sampling
from belvedere.core.windows import boxes

LABEL = "car"


def _train(name, samples=None, seed=0):
    known = toy_class.learned(LABEL)
    if samples is None:
        samples = toy_class.samples(LABEL)
    return baselines.train(
        name,
        known.views,
        known.truths,
        samples,
        toy_class.negatives(LABEL),
        toys.eyes(),
        seed,
    )


@pytest.fixture(scope="module")
def placed():
    judged = toy_class.judged(LABEL)
    trained = {name: _train(name) for name in baselines.NAMES}
    return {
        name: {i: one.place(view, toys.eyes()) for i, view in judged.views.items()}
        for name, one in trained.items()
    }


def _ious(placements):
    truths = toy_class.judged(LABEL).truths
    return np.array(
        [boxes.ious(p.box[None], truths[i]).max() for i, p in placements.items()]
    )


@pytest.mark.parametrize("name", baselines.LEARNED)
def test_learned_baselines_beat_the_centre_prior_on_new_pictures(placed, name):
    gain = _ious(placed[name]) - _ious(placed["centre_prior"])
    assert gain.mean() > 0.05


def test_the_centre_prior_beats_the_whole_image(placed):
    assert _ious(placed["centre_prior"]).mean() > _ious(placed["whole_image"]).mean()


@pytest.mark.parametrize("name", baselines.LEARNED)
def test_learned_baselines_choose_one_of_the_windows(placed, name):
    views = toy_class.judged(LABEL).views
    for i, p in placed[name].items():
        windows = views[i].to_picture(views[i].windows.boxes)
        assert (windows == p.box).all(axis=1).any()


@pytest.mark.parametrize("name", baselines.NAMES)
def test_promises_are_ious_and_rise_with_the_score(placed, name):
    promises = np.array([p.expected_iou for p in placed[name].values()])
    scores = np.array([p.score for p in placed[name].values()])
    assert (promises >= 0).all() and (promises <= 1).all()
    assert (np.diff(promises[np.argsort(scores, kind="stable")]) >= 0).all()


@pytest.mark.parametrize("name", baselines.LEARNED)
def test_learning_again_from_images_in_another_order_changes_nothing(placed, name):
    again = _train(name, toy_class.samples(LABEL)[::-1])
    for i, view in toy_class.judged(LABEL).views.items():
        p = again.place(view, toys.eyes())
        np.testing.assert_array_equal(p.box, placed[name][i].box)
        assert p[1:] == placed[name][i][1:]


def test_what_a_score_promises_is_learned_by_scorers_blind_to_the_image():
    """A scorer that prefers the best windows, but only where it must be blind."""
    known = toy_class.learned(LABEL)
    names = sorted(known.views)
    folds = dict(zip(names, sampling.balanced_folds(names, 2, 5).tolist(), strict=True))
    of_view = {id(known.views[n]): n for n in names}

    @dataclasses.dataclass
    class Peek:
        fold: int | None

        def scores(self, view, eyes):
            name = of_view[id(view)]
            assert folds[name] == self.fold
            truth = view.to_frame(known.truths[name])
            return boxes.ious(view.windows.boxes, truth).max(axis=1)

    made = window_choice.calibrated(
        Peek(None), [Peek(0), Peek(1)], known.views, known.truths, toys.eyes(), 5
    )
    half = np.array([0.5])
    low, high = made.promise.ious[[0, -1]]
    assert low <= made.promise.expected(half)[0] <= high
    np.testing.assert_allclose(made.promise.ious, made.promise.scores)


def test_what_cannot_be_learned_from_is_refused():
    known = toy_class.learned(LABEL)
    lent, eyes = toy_class.negatives(LABEL), toys.eyes()
    for name in baselines.NAMES:
        with pytest.raises(ValueError, match="needs training images"):
            baselines.train(name, {}, {}, (), lent, eyes)
    with pytest.raises(ValueError, match="wanted one of"):
        _train("oracle")
    with pytest.raises(ValueError, match="not of the same images"):
        _train("uva", toy_class.samples(LABEL)[:5])
    for name in baselines.LEARNED:
        with pytest.raises(ValueError, match="0 that lend"):
            baselines.train(
                name, known.views, known.truths, toy_class.samples(LABEL), (), eyes
            )
    blind = dataclasses.replace(eyes, features={"hog": eyes.features["hog"]})
    with pytest.raises(ValueError, match="no bag of words"):
        baselines.train(
            "uva", known.views, known.truths, toy_class.samples(LABEL), lent, blind
        )
