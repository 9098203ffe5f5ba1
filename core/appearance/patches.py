"""Dense local descriptors: patches of 4x4 spatial bins on a grid of centres.

What SIFT and SURF have in common: gradients are summed around the nodes of a lattice
(`lattice_compiled`), and a descriptor gathers the sixteen nodes of its patch. Numbers
are rounded to integers at a length of 512 a channel, so that word search is exact
integer arithmetic: the same words in any order, batch or BLAS.
"""

import dataclasses
import math

import numpy as np
from jaxtyping import Float32, Int16

from belvedere.core.appearance import grids, patches_compiled
from belvedere.core.appearance.views import MARGIN
from belvedere.core.types import Image

LENGTH = 512.0


@dataclasses.dataclass(frozen=True)
class Layout:
    """Grid of patches and the lattice of nodes that their spatial bins share.

    Attributes:
      step: from one patch to the next, in pixels.
      side: of a spatial bin, in pixels, even; a patch is four of them wide.
    """

    step: int = 4
    side: int = 4

    def __post_init__(self) -> None:
        reach = 5 * self.side // 2 + 1
        if self.side < 2 or self.side % 2 or reach > MARGIN:
            raise ValueError(f"bins of {self.side} pixels, wanted 2, 4, ... or 12")
        if self.step < 1:
            raise ValueError(f"step is {self.step} pixels, wanted 1 or more")

    @property
    def spacing(self) -> int:
        """Of the nodes, in pixels."""
        return math.gcd(self.step, self.side)

    def grid(self, image: Image) -> grids.Grid:
        """Of the patches of a picture."""
        return grids.Grid(image.width, image.height, self.step)

    def lattice(self, grid: grids.Grid) -> tuple[int, int, int, int, int, int]:
        """Arguments after the plane of the functions in `lattice_compiled`."""
        corner = MARGIN + grid.start - 3 * self.side // 2
        return (
            corner,
            corner,
            ((grid.rows - 1) * self.step + 3 * self.side) // self.spacing + 1,
            ((grid.columns - 1) * self.step + 3 * self.side) // self.spacing + 1,
            self.spacing,
            self.side,
        )

    def describe(
        self,
        nodes: Float32[np.ndarray, "i j C"],
        grid: grids.Grid,
        clip: float,
        flat: float,
        out: Int16[np.ndarray, "n 16*C"],
    ) -> None:
        """Fills `out` with the normalised descriptors of the grid, row by row.

        Args:
          nodes: the lattice of `grid`.
          grid: of the patches.
          clip: largest share of a descriptor's length that one number may have.
          flat: a patch shows nothing, and its descriptor is zero, unless it is longer
            than that of a ramp of so many grey levels per two pixels.
          out: where they go.
        """
        step, apart = self.step // self.spacing, self.side // self.spacing
        # A ramp g gives each of the sixteen bins g·side², which makes a length of
        # 4·g·side².
        least = 4 * flat * self.side**2
        patches_compiled.describe(
            nodes, grid.rows, grid.columns, step, apart, clip, LENGTH, least, out
        )


SMALL = Layout(side=4)  # patches of 16x16 pixels
LARGE = Layout(side=8)  # patches of 32x32 pixels
