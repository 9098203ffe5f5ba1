import numpy as np
import pytest
import toys

from belvedere.core import localization, sight
from belvedere.core.assessment import ablations, calibration
from belvedere.core.context import voting
from belvedere.core.types import HYPERFEATURES

SETTINGS = toys.settings("classic")


@pytest.fixture(scope="module")
def learned():
    own, eyes = toys.pictures("zebra", 0, 8), toys.eyes()
    samples = [
        sight.sample(own.views[i], own.truths[i], i, eyes, SETTINGS.sampling)
        for i in own.views
    ]
    appearance = localization.learn_appearance(
        samples, toys.negatives("zebra"), SETTINGS
    )
    return appearance, _tables(appearance)


def _tables(appearance):
    own = toys.pictures("zebra", 0, 8)
    return {
        i: localization.compete(
            own.views[i], own.truths[i], i, appearance, toys.eyes(), SETTINGS
        )
        for i in own.views
    }


def _nobody():
    raise AssertionError("tables by what has seen them are not wanted here")


def _without(part, learned, seen=_nobody, settings=SETTINGS):
    appearance, tables = learned
    return ablations.without(part, tables, appearance, settings, seen).model


@pytest.mark.parametrize("part", [*ablations.FAMILIES, "context"])
def test_hyperfeatures_left_out_have_no_weight(learned, part):
    model = _without(part, learned)
    gone = {n for n in HYPERFEATURES if n.startswith(part)}
    if part == "context":
        gone = set(HYPERFEATURES) - {"mean_overlap", "std"}
    weighed = {n for n, a in zip(HYPERFEATURES, model.alpha, strict=True) if a != 0}
    assert gone and weighed and not weighed & gone
    assert model.voting == SETTINGS.voting


def test_without_voting_the_same_window_stands_for_itself(learned):
    appearance, tables = learned
    model = _without("voting", learned)
    full, found = localization.learn_context(tables, appearance, SETTINGS)
    assert (model.voting, full.voting) == (voting.NONE, SETTINGS.voting)
    np.testing.assert_array_equal(model.alpha, full.alpha)
    view = toys.view("zebra/9")
    located = localization.localize(view, model, toys.eyes())
    window = view.to_picture(view.windows.boxes[located.found.window])
    np.testing.assert_array_equal(located.box, window)
    ious = found.out_of_fold.worth([tables[i] for i in sorted(tables)], voting.NONE)
    wanted = calibration.fit(found.out_of_fold.scores, ious)
    np.testing.assert_array_equal(model.calibration.ious, wanted.ious)


def test_without_cross_prediction_learns_from_what_was_seen(learned):
    appearance, tables = learned
    seen = _tables(ablations.blind_to_nothing(appearance))
    model = _without(ablations.CROSS_PREDICTION, learned, lambda: seen)
    wanted, _ = localization.learn_context(seen, appearance, SETTINGS)
    np.testing.assert_array_equal(model.alpha, wanted.alpha)
    name = next(iter(tables))
    assert not np.allclose(seen[name].hyperfeatures, tables[name].hyperfeatures)


def test_a_part_that_does_not_exist_is_refused(learned):
    with pytest.raises(ValueError, match="no part 'wheels'"):
        _without("wheels", learned)
