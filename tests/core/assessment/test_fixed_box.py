import numpy as np
import pytest
import toy_class
import toys
from oracles import assessment as oracle

from belvedere.core.assessment import fixed_box


def _relative(label="car"):
    known = toy_class.learned(label)
    sides = {n: np.array([v.width, v.height] * 2) for n, v in known.views.items()}
    return [known.truths[n] / sides[n] for n in sorted(sides)]


def _trained(name):
    known = toy_class.learned("car")
    return fixed_box.train(name, known.views, known.truths)


def test_the_centre_prior_is_centred_and_of_the_best_sides():
    truths = _relative()
    box = fixed_box.best_centred_box(truths)
    np.testing.assert_allclose((box[:2] + box[2:]) / 2, 0.5)
    for t in np.concatenate(truths):
        w, h = t[2:] - t[:2]
        other = [(1 - w) / 2, (1 - h) / 2, (1 + w) / 2, (1 + h) / 2]
        worth = oracle.worth_of_box(box, truths)
        assert worth >= oracle.worth_of_box(other, truths) - 1e-12


@pytest.mark.parametrize("name", ["whole_image", "constant_box", "centre_prior"])
def test_a_box_promises_what_it_is_worth_on_the_training_images(name):
    made = _trained(name)
    worth = oracle.worth_of_box(made.box, _relative())
    np.testing.assert_allclose(made.expected_iou, worth)


def test_boxes_are_placed_in_the_frame_of_the_picture():
    image = toy_class.scene("car", 0).image
    placed = _trained("whole_image").place(toy_class.view("car", 0), toys.eyes())
    np.testing.assert_allclose(placed.box, [0, 0, image.width, image.height])


def test_no_images_and_unknown_names_are_refused():
    with pytest.raises(ValueError, match="needs images"):
        fixed_box.train("centre_prior", {}, {})
    with pytest.raises(ValueError, match="corner"):
        _trained("corner")
