"""Baselines that place the same box, in parts of the picture, in every picture.

  whole_image   all of it
  constant_box  the one box that overlaps the objects of the training images most
  centre_prior  a box in the middle of the picture, of the sides that overlap the
                objects of the training images most: what is known of an object's size,
                and nothing of its place but that photographers centre it

Sides of the centre prior are those of the training boxes, or their mean or median. What
a box promises is its mean IoU with the objects of the training images.

Paper: not there.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from belvedere.core.assessment import constant_box
from belvedere.core.assessment.window_choice import Placement
from belvedere.core.sight import Eyes, View


@dataclasses.dataclass(frozen=True, eq=False)
class FixedBox:
    """A box in parts of the picture's width and height, and the IoU to expect."""

    box: Float[np.ndarray, "4"]
    expected_iou: float

    def place(self, view: View, eyes: Eyes) -> Placement:
        return Placement(self.box * _sides(view), self.expected_iou, self.expected_iou)


def train(
    name: str,
    views: Mapping[str, View],
    truths: Mapping[str, Float[np.ndarray, "_ 4"]],
) -> FixedBox:
    """The box of a class, by one of the three names above."""
    relative = [truths[i] / _sides(views[i]) for i in sorted(views)]
    if not relative or any(len(t) == 0 for t in relative):
        raise ValueError("a fixed box needs images, each with a true box")
    if name == "whole_image":
        box = np.array(constant_box.WHOLE_IMAGE)
    elif name == "constant_box":
        box = constant_box.best_constant_box(relative)
    elif name == "centre_prior":
        box = best_centred_box(relative)
    else:
        raise ValueError(f"no fixed box is called {name!r}")
    return FixedBox(box, float(constant_box.mean_ious(box[None], relative)[0]))


def best_centred_box(
    truths: Sequence[Float[np.ndarray, "_ 4"]],
) -> Float[np.ndarray, "4"]:
    """The centred box of highest mean IoU over images, the first of equals.

    Args:
      truths: for each training image its true boxes, one or more, relative.
    """
    every = np.concatenate(truths)
    sides = every[:, 2:] - every[:, :2]
    sides = np.concatenate([sides, [sides.mean(axis=0), np.median(sides, axis=0)]])
    centred = np.hstack([0.5 - sides / 2, 0.5 + sides / 2])
    return centred[constant_box.mean_ious(centred, truths).argmax()]


def _sides(view: View) -> Float[np.ndarray, "4"]:
    """Width, height, width, height of the picture in its own frame."""
    return np.array([view.width, view.height] * 2, np.float64)
