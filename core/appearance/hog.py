"""HOG of windows: 8x8 cells x 32 channels, read from an integral image.

Paper: section 5, HOG of 2,048 numbers. A cell has 18 signed orientations, 9 unsigned
ones, 4 texture sums (one for each of the four groups of 2x2 cells it is normalised by,
clipped at 0.2) and the truncation channel, which is always 0. The ring of cells around
the window takes part in the normalisation.

Departures: the window is not warped to 80x80 pixels. Its cells add up gradients of the
picture as it is, blocks of 2x2 pixels at a time, so that a window costs the same at any
size; directions are those of the picture, not of the warped window. Orientations share
pixels with their neighbours linearly; cells have sharp borders. The picture is smoothed
with sigma 2, as warping a large window to 80x80 pixels would do. L2 at the end.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Float32, UInt8, UInt16

from belvedere.core.appearance import energy_compiled, hog_compiled, projection
from belvedere.core.appearance.views import MARGIN, RGB, Views


@dataclasses.dataclass(frozen=True, eq=False)
class GradientMap:
    """Strength and direction of the gradient at each pixel, three bytes in all.

    Small enough to be kept for every training image; the integral image, ten times as
    large, is made for each batch of windows, which takes a millisecond.
    """

    strength: UInt16[np.ndarray, "H W"]
    direction: UInt8[np.ndarray, "H W"]


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
    sigma: float = 2.0
    floor: float = 0.1

    def __post_init__(self) -> None:
        if self.block < 1:
            raise ValueError(f"blocks of {self.block} pixels, wanted 1 or more")
        if self.floor <= 0:
            raise ValueError(f"floor is {self.floor}, wanted more than 0")

    def describe(self, views: Views) -> GradientMap:
        height, width = views.image.height, views.image.width
        planes = (views.plane(name, self.sigma) for name in RGB)
        return GradientMap(*energy_compiled.strongest(*planes, MARGIN, height, width))

    def read(
        self, description: GradientMap, boxes: Float[np.ndarray, "N 4"]
    ) -> Float32[np.ndarray, "N 2048"]:
        return hog_compiled.read(*self._arguments(description, boxes))

    def project(
        self,
        description: GradientMap,
        boxes: Float[np.ndarray, "N 4"],
        matrix: Float32[np.ndarray, "D E"],
        offset: Float[np.ndarray, "E"],
    ) -> Float[np.ndarray, "N E"]:
        """read(...) @ matrix + offset, without the N x 2048 numbers."""
        slabs = projection.slabs(matrix, self.length)
        sums = hog_compiled.project(*self._arguments(description, boxes), slabs)
        return projection.finished(sums, np.ones(len(boxes)), offset)

    def _arguments(
        self, description: GradientMap, boxes: Float[np.ndarray, "N 4"]
    ) -> tuple[np.ndarray, np.ndarray, int, int, int, np.float32]:
        height, width = description.strength.shape
        total = energy_compiled.integral(
            description.strength, description.direction, self.block
        )
        floor = np.float32(self.floor**2)
        return total, boxes.astype(np.float64), height, width, self.block, floor
