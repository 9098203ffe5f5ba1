"""Location and scale of a window: centre and sides as shares of the picture's.

Paper: section 5, "location and scale"; four numbers, since 54 = 5·10 + 4.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Float32

from belvedere.core.appearance.views import Views


@dataclasses.dataclass(frozen=True)
class Extent:
    """All that this feature type keeps of a picture: its sides in pixels."""

    width: int
    height: int


@dataclasses.dataclass(frozen=True)
class Location:
    """A feature type: (cx / W, cy / H, w / W, h / H), not normalised."""

    name: str = "location"
    length: int = 4

    def describe(self, views: Views) -> Extent:
        return Extent(views.image.width, views.image.height)

    def read(
        self, description: Extent, boxes: Float[np.ndarray, "N 4"]
    ) -> Float32[np.ndarray, "N 4"]:
        sides = np.array([description.width, description.height], np.float64)
        low, high = boxes[:, :2] / sides, boxes[:, 2:] / sides
        return np.hstack([(low + high) / 2, high - low]).astype(np.float32)

    def project(
        self,
        description: Extent,
        boxes: Float[np.ndarray, "N 4"],
        matrix: Float32[np.ndarray, "4 E"],
        offset: Float[np.ndarray, "E"],
    ) -> Float[np.ndarray, "N E"]:
        """read(...) @ matrix + offset, summed in a fixed order."""
        raw = self.read(description, boxes).astype(np.float64)
        terms = [raw[:, d, None] * matrix[d].astype(np.float64) for d in range(4)]
        return (terms[0] + terms[1]) + (terms[2] + terms[3]) + offset
