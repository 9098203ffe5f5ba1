"""The finished embedding of one feature type: z = x B + c.

Exemplar machines, projections and ridge predictions are all affine in the raw feature,
so whatever is learned folds into one matrix and one offset, and a window costs D x E
multiplications.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Float32
from scipy import sparse

from belvedere.core.embedding import affine_compiled, matrices


@dataclasses.dataclass(frozen=True, eq=False)
class AffineMap:
    """B and c of z = x B + c."""

    matrix: Float32[np.ndarray, "D E"]
    offset: Float[np.ndarray, "E"]

    def __post_init__(self) -> None:
        matrices.require("an affine map's columns", self.matrix)
        if self.offset.shape != self.matrix.shape[1:]:
            raise ValueError(
                f"offset has shape {self.offset.shape}, wanted {self.matrix.shape[1:]}"
            )
        if not np.isfinite(self.offset).all():
            raise ValueError("an affine map's offset holds NaN or infinite values")

    def apply(self, features: matrices.Matrix) -> Float[np.ndarray, "N E"]:
        """Embeds windows. A window's numbers do not depend on the other windows."""
        matrices.require("features", features, len(self.matrix))
        if sparse.issparse(features):
            # scipy sums row by row, in the order of the entries
            product = np.asarray(features @ self.matrix)
        else:
            product = affine_compiled.product(
                np.ascontiguousarray(features), np.ascontiguousarray(self.matrix.T)
            )
        return product + self.offset


def beside(maps: Sequence[AffineMap]) -> AffineMap:
    """One map whose outputs are those of `maps`, side by side."""
    return AffineMap(
        matrix=np.concatenate([m.matrix for m in maps], axis=1),
        offset=np.concatenate([m.offset for m in maps]),
    )
