"""Dense SIFT on colour planes: 4x4 spatial bins x 8 orientations a channel.

Paper: section 5, the three "colour SIFT" bags of words of Uijlings et al. (IJCV 2013):
one scale, upright, on the picture smoothed with sigma 1.2, bins of 4 pixels (three
sigma, rounded), trilinear shares, each channel L2-normalised, clipped at 0.2 and
normalised again.

Departures: a patch every 4 pixels instead of every pixel (`step` is free); plain
OpponentSIFT (two opponent planes and intensity) for the unpublished extended one; no
Gaussian weight over the patch; patches without contrast become zero instead of
amplified noise; numbers are rounded to integers (see `patches`).
"""

import dataclasses

import numpy as np
from jaxtyping import Float32, Int16

from belvedere.core.appearance import grids, lattice_compiled, patches
from belvedere.core.appearance.views import Views

ORIENTATIONS = 8
CHANNEL = 16 * ORIENTATIONS  # numbers per colour plane
CLIP = 0.2


@dataclasses.dataclass(frozen=True)
class Sift:
    """SIFT of the patches of a picture on some colour planes, side by side.

    Attributes:
      planes: names of colour planes, as `Views.plane` knows them.
      layout: of the patches.
      sigma: of the smoothing, in pixels.
      flat: a patch that a ramp of so many grey levels per two pixels would outdo is
        zero.
    """

    planes: tuple[str, ...]
    layout: patches.Layout = patches.SMALL
    sigma: float = 1.2
    flat: float = 2.0

    @property
    def length(self) -> int:
        return CHANNEL * len(self.planes)

    def describe(self, views: Views) -> Int16[np.ndarray, "n D"]:
        """Descriptors of all patches, row by row of the grid."""
        grid = self.layout.grid(views.image)
        out = np.zeros((grid.rows * grid.columns, self.length), np.int16)
        if len(out):
            for channel, plane in enumerate(self.planes):
                part = out[:, channel * CHANNEL : (channel + 1) * CHANNEL]
                nodes = self._nodes(views, plane, grid)
                self.layout.describe(nodes, grid, CLIP, self.flat, part)
        return out

    def _nodes(
        self, views: Views, plane: str, grid: grids.Grid
    ) -> Float32[np.ndarray, "i j 8"]:
        """The plane's lattice, shared by all types that use the plane."""
        return views.once(
            ("sift", plane, self.sigma, self.layout),
            lambda: lattice_compiled.orientations(
                views.plane(plane, self.sigma), *self.layout.lattice(grid)
            ),
        )
