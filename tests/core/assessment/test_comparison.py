import numpy as np
import pytest
import toys

from belvedere.core.assessment import comparison
from belvedere.core.windows import boxes


@pytest.fixture(scope="module")
def placed():
    settings = toys.settings("classic")
    trained = comparison.train(
        toys.pictures("zebra", 0, 8), toys.negatives("zebra"), toys.eyes(), settings
    )
    return comparison.place(trained, toys.pictures("zebra", 8, 10), toys.eyes())


def test_every_method_places_a_box_in_every_picture(placed):
    methods = {p.method for p in placed}
    assert methods == {
        "whole_image",
        "constant_box",
        "location",
        "ae_gp",
        "full",
        "ceiling",
    }
    assert len(placed) == 2 * len(methods)


def test_ious_are_those_of_the_boxes_in_the_frame_of_the_picture(placed):
    for p in placed:
        truth = toys.world()[p.image_id].boxes
        assert p.iou == boxes.ious(p.box[None], truth).max()


def test_no_method_that_chooses_a_window_is_above_the_ceiling(placed):
    best = {p.image_id: p.iou for p in placed if p.method == "ceiling"}
    for p in placed:
        if p.method in ("location", "ae_gp", "full"):
            assert p.iou <= best[p.image_id] + 1e-12


def test_the_whole_image_is_the_whole_image(placed):
    for p in placed:
        if p.method == "whole_image":
            image = toys.world()[p.image_id].image
            np.testing.assert_allclose(p.box, [0, 0, image.width, image.height])
