import numpy as np
import pytest
import toys

from belvedere.core import localization, sight
from belvedere.core.assessment import comparison
from belvedere.core.types import HYPERFEATURES
from belvedere.core.windows import boxes

SIMPLER = ("location", "constant_box", "whole_image")


@pytest.fixture(scope="module")
def methods():
    settings, eyes = toys.settings("classic"), toys.eyes()
    learned_from = toys.pictures("zebra", 0, 8)
    views, truths = learned_from.views, learned_from.truths
    samples = [
        sight.sample(views[i], truths[i], i, eyes, settings.sampling) for i in views
    ]
    negatives = toys.negatives("zebra")
    appearance = localization.learn_appearance(samples, negatives, settings)
    tables = {
        i: localization.compete(views[i], truths[i], i, appearance, eyes, settings)
        for i in views
    }
    return comparison.appearance_alone(
        tables, appearance, settings
    ) | comparison.simpler(SIMPLER, learned_from, samples, negatives, eyes, settings)


@pytest.fixture(scope="module")
def placed(methods):
    judged = toys.pictures("zebra", 8, 10)
    return [
        one
        for name, view in judged.views.items()
        for one in comparison.place(
            methods, view, judged.truths[name], name, toys.eyes()
        )
    ]


def test_every_method_places_a_box_in_every_picture(placed):
    found = [p.method for p in placed]
    wanted = {"ae_gp", "gp_mean", "gp_sure", "ceiling", *SIMPLER}
    assert set(found) == wanted <= set(comparison.METHODS)
    assert len(found) == 2 * len(wanted)


def test_ious_are_those_of_the_boxes_in_the_frame_of_the_picture(placed):
    for p in placed:
        truth = toys.world()[p.image_id].boxes
        assert p.iou == boxes.ious(p.box[None], truth).max()


def test_no_method_that_chooses_a_window_is_above_the_ceiling(placed):
    best = {p.image_id: p.iou for p in placed if p.method == "ceiling"}
    for p in placed:
        if p.method in ("location", "ae_gp", "gp_mean", "gp_sure"):
            assert p.iou <= best[p.image_id] + 1e-12


def test_the_whole_image_is_the_whole_image(placed):
    for p in placed:
        if p.method == "whole_image":
            image = toys.world()[p.image_id].image
            np.testing.assert_allclose(p.box, [0, 0, image.width, image.height])


def test_the_closed_forms_choose_by_mean_and_deviation(methods):
    view, eyes = toys.view("zebra/9"), toys.eyes()
    for name in ("gp_mean", "gp_sure"):
        model = methods[name].model
        x = sight.embed(view, model.maps, eyes)
        predicted = model.gp.predict(x)
        kappa = -model.alpha[HYPERFEATURES.index("std")]
        assert (kappa == 0) == (name == "gp_mean")
        best = (predicted.mean[0] - kappa * predicted.std).argmax()
        found = methods[name].place(view, eyes)
        np.testing.assert_allclose(found.box, view.to_picture(view.windows.boxes[best]))


def test_families_of_hyperfeatures():
    settings = toys.settings("paper")
    kept = comparison.only(settings, "global", "score").learning.columns
    names = [HYPERFEATURES[k] for k in kept]
    assert names == [
        "global_overlap",
        "global_part",
        "global_container",
        "mean_overlap",
        "std",
    ]
