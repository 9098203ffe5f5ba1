"""HOG of windows: 8x8 cells x 32 channels, read from an integral image.

Paper: section 5, HOG of 2,048 numbers. A cell has 18 signed orientations, 9 unsigned
ones, 4 texture sums (one for each of the four groups of 2x2 cells it is normalised by,
clipped at 0.2) and the truncation channel, which is always 0. The ring of cells around
the window takes part in the normalisation.

Departures: the window is not warped to 80x80 pixels. Its cells add up gradients of the
picture as it is, blocks of 2x2 pixels at a time, so that a window costs the same at any
size; directions are those of the picture, not of the warped window. Orientations share
their neighbour's pixels linearly; cells have sharp borders. L2 at the end.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Float32, Float64

from belvedere.core.appearance import energy_compiled, hog_compiled, projection
from belvedere.core.appearance.views import MARGIN, RGB, Views


@dataclasses.dataclass(frozen=True, eq=False)
class EnergyMap:
    """Integral image of gradient strength by orientation, at the corners of blocks."""

    total: Float64[np.ndarray, "rows columns 18"]
    width: int
    height: int


@dataclasses.dataclass(frozen=True)
class Hog:
    """A feature type: histograms of oriented gradients.

    Attributes:
      block: side of the blocks of the integral image, in pixels.
      sigma: of the smoothing of the picture, in pixels; 0 for none.
      floor: gradient strength, in grey levels per two pixels, below which cells count
        as flat instead of being normalised to full contrast.
    """

    name: str = "hog"
    length: int = hog_compiled.LENGTH
    block: int = 2
    sigma: float = 1.2
    floor: float = 0.1

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError(f"blocks of {self.block} pixels, wanted 1 or more")
        if self.floor <= 0:
            raise ValueError(f"floor is {self.floor}, wanted more than 0")

    def describe(self, views: Views) -> EnergyMap:
        height, width = views.image.height, views.image.width
        planes = (views.plane(name, self.sigma) for name in RGB)
        total = energy_compiled.integral(*planes, MARGIN, height, width, self.block)
        return EnergyMap(total, width, height)

    def read(
        self, description: EnergyMap, boxes: Float[np.ndarray, "N 4"]
    ) -> Float32[np.ndarray, "N 2048"]:
        return hog_compiled.read(*self._arguments(description, boxes))

    def project(
        self,
        description: EnergyMap,
        boxes: Float[np.ndarray, "N 4"],
        matrix: Float32[np.ndarray, "D E"],
        offset: Float[np.ndarray, "E"],
    ) -> Float[np.ndarray, "N E"]:
        """read(...) @ matrix + offset, without the N x 2048 numbers."""
        slabs = projection.slabs(matrix, self.length)
        sums = hog_compiled.project(*self._arguments(description, boxes), slabs)
        return projection.finished(sums, np.ones(len(boxes)), offset)

    def _arguments(
        self, description: EnergyMap, boxes: Float[np.ndarray, "N 4"]
    ) -> tuple[np.ndarray, np.ndarray, int, int, int, np.float32]:
        return (
            description.total,
            np.ascontiguousarray(boxes, np.float64),
            description.height,
            description.width,
            self.block,
            np.float32(self.floor**2),
        )
