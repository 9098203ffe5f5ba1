"""Why a box was chosen: what an `explain` page or a report shows of a picture.

Paper: figure 1 (windows in appearance space) and section 4 (the parts of the score).
Departures: the space is drawn in the two directions in which the windows of the picture
differ most, as the kernel sees them; the paper does not say how its figure was made.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core import localization, sight
from belvedere.core.class_model import ClassModel
from belvedere.core.context import hyperfeatures
from belvedere.core.localization import Localization
from belvedere.core.sight import Eyes, View
from belvedere.core.types import Context, P
from belvedere.core.windows import relations


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation:
    """What is known of the windows of a picture once its object is localized.

    Boxes are in the picture's own frame.

    Attributes:
      boxes: all candidate windows.
      overlap: the overlap with the object that the Gaussian process predicts for each.
      map: where each window lies in appearance space, in two dimensions.
      chosen: number of the window with the highest score.
      runner_up: number of the second best, -1 if there is none.
      supporters: for each relation the number of the window that phi_C of the chosen
        one comes from.
      contributions: of the 11 hyper-features to the score; they sum to it.
      runner_up_contributions: likewise, of the runner-up; zeros if there is none.
    """

    boxes: Float[np.ndarray, "N 4"]
    overlap: Float[np.ndarray, "N"]
    map: Float[np.ndarray, "N 2"]
    chosen: int
    runner_up: int
    supporters: Int64[np.ndarray, "R"]
    contributions: Float[np.ndarray, "P"]
    runner_up_contributions: Float[np.ndarray, "P"]


def explain(
    view: View, model: ClassModel, eyes: Eyes
) -> tuple[Localization, Explanation]:
    """The box as `localize` finds it, and what there is to say about it."""
    inputs = sight.embed(view, model.maps, eyes)
    context = localization.context_among(view, inputs, model.gp)
    located = localization.localize(view, model, eyes, context)
    chosen, runner_up = located.found.window, located.found.runner_up
    return located, Explanation(
        boxes=view.to_picture(view.windows.boxes),
        overlap=context.mean[0],
        map=flattened(inputs / model.gp.lengthscales),
        chosen=chosen,
        runner_up=runner_up,
        supporters=_supporters(context, chosen),
        contributions=located.contributions,
        runner_up_contributions=_contributions(context, runner_up, model),
    )


def flattened(x: Float[np.ndarray, "N Q"]) -> Float[np.ndarray, "N 2"]:
    """Points in the plane in which they lie farthest apart: principal components.

    The largest loading of each axis is positive, so that the same points always look
    the same. Axes along which nothing differs are 0.
    """
    centred = x - x.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    largest = np.take_along_axis(axes, abs(axes).argmax(axis=1)[:, None], axis=1)
    result = np.zeros((len(x), 2))
    result[:, : len(axes)] = centred @ (axes * np.sign(largest)).T
    return result


def _supporters(context: Context, window: int) -> Int64[np.ndarray, "R"]:
    """Whose relation to a window is farthest from the predicted one (equation 2)."""
    rho = relations.pairwise(context.boxes, context.boxes[[window]])[..., 0]
    return abs(rho - context.mean).argmax(axis=1).astype(np.int64)


def _contributions(
    context: Context, window: int, model: ClassModel
) -> Float[np.ndarray, "P"]:
    if window < 0:
        return np.zeros(P)
    phi = hyperfeatures.of_window(context, window, model.consistency)
    return model.alpha * model.scaling.apply(phi)
