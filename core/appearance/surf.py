"""Dense, upright SURF-like descriptors: 4x4 spatial bins of (dx, |dx|, dy, |dy|).

Paper: section 5, the SURF bag of words of 17,000 numbers.

Departures: the free OpenCV wheels hold no SURF, and the paper does not say how theirs
was sampled, so this is our own stand-in: 64 numbers of an upright patch on a dense
grid, one scale, with central differences of the smoothed intensity in place of Haar
wavelets and linear shares between bins in place of a Gaussian. No interest points.
"""

import dataclasses

import numpy as np
from jaxtyping import Int16

from belvedere.core.appearance import lattice_compiled, patches
from belvedere.core.appearance.views import Views

NO_CLIP = 1.0


@dataclasses.dataclass(frozen=True)
class Surf:
    """SURF-like descriptors of the patches of a picture; attributes as in `Sift`."""

    plane: str = "intensity"
    layout: patches.Layout = patches.LARGE
    sigma: float = 1.2
    flat: float = 1.0

    @property
    def length(self) -> int:
        return 64

    def describe(self, views: Views) -> Int16[np.ndarray, "n D"]:
        """Descriptors of all patches, row by row of the grid."""
        grid = self.layout.grid(views.image)
        out = np.zeros((grid.rows * grid.columns, self.length), np.int16)
        if len(out):
            nodes = lattice_compiled.differences(
                views.plane(self.plane, self.sigma), *self.layout.lattice(grid)
            )
            self.layout.describe(nodes, grid, NO_CLIP, self.flat, out)
        return out
