"""Where local descriptors sit, and which of them a window's cells hold.

Centres are step // 2, step // 2 + step, ... below the width (the height). A window cut
in G x G cells has the edges x0 + (x1 - x0)·k / G, k = 0 ... G - 1, and x1; a descriptor
belongs to the cell with edge_k <= centre < edge_k+1. So every descriptor whose centre
lies in the half-open window is in exactly one cell.
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Int64


@dataclasses.dataclass(frozen=True)
class Grid:
    """Descriptor centres of a picture, one every `step` pixels."""

    width: int
    height: int
    step: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise ValueError(f"step is {self.step} pixels, wanted 1 or more")

    @property
    def start(self) -> int:
        """The first centre, in both directions."""
        return self.step // 2

    @property
    def columns(self) -> int:
        return len(range(self.start, self.width, self.step))

    @property
    def rows(self) -> int:
        return len(range(self.start, self.height, self.step))

    def bounds(
        self, boxes: Float[np.ndarray, "N 4"], parts: int
    ) -> tuple[Int64[np.ndarray, "N K"], Int64[np.ndarray, "N K"]]:
        """Grid columns and rows where the cells of each window begin, and the end.

        Cell (i, j) of window n holds the rows down[n, i] ... down[n, i + 1] - 1 and the
        columns across[n, j] ... across[n, j + 1] - 1.

        Returns:
          across, down, each [N, parts + 1].
        """
        x = np.arange(self.start, self.width, self.step, dtype=np.float64)
        y = np.arange(self.start, self.height, self.step, dtype=np.float64)
        across = np.searchsorted(x, edges(boxes[:, 0], boxes[:, 2], parts))
        down = np.searchsorted(y, edges(boxes[:, 1], boxes[:, 3], parts))
        return across.astype(np.int64), down.astype(np.int64)


def edges(
    low: Float[np.ndarray, "N"], high: Float[np.ndarray, "N"], parts: int
) -> Float[np.ndarray, "N K"]:
    """The parts + 1 edges that cut each [low, high) in equal parts."""
    cuts = low[:, None] + (high - low)[:, None] * np.arange(parts + 1) / parts
    cuts[:, -1] = high
    return cuts
