"""The box that a chosen window stands for: its neighbours vote on where the sides are.

Windows are cut along superpixels, so hardly one fits the object to the pixel. Once
window l is chosen, the sides of its box are the weighted mean over all windows i with
IoU(w_i, w_l) >= `least_iou`, with weights exp(score_i / `temperature`): those that were
nearly chosen have most to say. Scores are in units of IoU, as is the loss that they are
learned by.

Paper: not there; it returns the window itself, which is `least_iou = 1`.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.windows import boxes as box_geometry


@dataclasses.dataclass(frozen=True)
class Voting:
    """Who has a vote, and how much it weighs.

    Attributes:
      least_iou: with the chosen window, to have a vote; at 1 it stands for itself.
      temperature: the lead in score that makes a vote e times as heavy.
    """

    least_iou: float = 0.75
    temperature: float = 0.03

    def __post_init__(self) -> None:
        if not 0 < self.least_iou <= 1:
            raise ValueError(f"least_iou {self.least_iou}, wanted above 0, at most 1")
        if not 0 < self.temperature < np.inf:
            raise ValueError(f"temperature {self.temperature}, wanted positive")


NONE = Voting(least_iou=1.0)


def voters(
    boxes: Float[np.ndarray, "N 4"], l: int, voting: Voting
) -> Int64[np.ndarray, "v"]:
    """Numbers of the windows that have a vote on window number `l`, itself included."""
    if not 0 <= l < len(boxes):
        raise ValueError(f"window {l} is not one of {len(boxes)}")
    near = box_geometry.ious(boxes, boxes[[l]])[:, 0]
    return np.flatnonzero(near >= voting.least_iou)


def elected(
    chosen: Float[np.ndarray, "4"],
    boxes: Float[np.ndarray, "v 4"],
    scores: Float[np.ndarray, "v"],
    voting: Voting,
) -> Float[np.ndarray, "4"]:
    """The box that the voters agree on; to the bit `chosen` if all of them are it.

    No side lies beyond the outermost of the voters', not even by a rounding error.

    Args:
      chosen: the window that was chosen.
      boxes: of the voters.
      scores: of the voters.
      voting: how much a vote weighs.
    """
    weights = np.exp((scores - scores.max()) / voting.temperature)
    agreed = chosen + weights @ (boxes - chosen) / weights.sum()
    return agreed.clip(boxes.min(axis=0), boxes.max(axis=0))
