"""Bags of words: how often each visual word occurs in the cells of a window.

Paper: section 5. Histograms over 3x3 cells (SIFT), 1 + 4x4 cells (SURF), L1-normalised
for each of these levels, square root (the Hellinger map), then L2 over all levels. All
levels of a window count the same n descriptors, so this is sqrt(count / (n·levels)),
of length 1, or 0 where no descriptor lies in the window.

A picture is described by its map of words; windows count from it. `project` never makes
the histograms: it adds up the rows of the matrix that the words of a window name.

Departures: 3x3 cells for SIFT and 1 + 4x4 for SURF are our reading of the lengths that
the paper states (36,000 and 17,000).
"""

import dataclasses
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse
from jaxtyping import Float, Float32, Int16, Int64, UInt16

from belvedere.core.appearance import bag_of_words_compiled, grids, patches, projection
from belvedere.core.appearance.codebooks import Codebook
from belvedere.core.appearance.views import Views


@runtime_checkable
class LocalDescriptors(Protocol):
    """Descriptors of the patches of a picture, on the grid of their layout."""

    @property
    def layout(self) -> patches.Layout: ...

    @property
    def length(self) -> int: ...

    def describe(self, views: Views) -> Int16[np.ndarray, "n D"]: ...


@dataclasses.dataclass(frozen=True, eq=False)
class WordMap:
    """The word of each descriptor of a picture."""

    words: UInt16[np.ndarray, "rows columns"]
    grid: grids.Grid


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A bag of words that still lacks its codebook.

    Attributes:
      name: of the feature type.
      local: the descriptors.
      levels: cells a side, for each level of the pyramid.
      words: how many to learn.
    """

    name: str
    local: LocalDescriptors
    levels: tuple[int, ...]
    words: int


@dataclasses.dataclass(frozen=True, eq=False)
class BagOfWords:
    """A feature type: word histograms of windows."""

    recipe: Recipe
    codebook: Codebook

    def __post_init__(self) -> None:
        if self.codebook.name != self.name:
            raise ValueError(f"codebook of {self.codebook.name!r} for {self.name!r}")
        if self.codebook.length != self.recipe.local.length:
            raise ValueError(
                f"codebook of {self.codebook.length} numbers for {self.name!r}, whose "
                f"descriptors have {self.recipe.local.length}"
            )

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def length(self) -> int:
        return len(self.codebook) * sum(g * g for g in self.recipe.levels)

    def describe(self, views: Views) -> WordMap:
        """The map of words of a picture."""
        grid = self.recipe.local.layout.grid(views.image)
        words = self.codebook.words(self.recipe.local.describe(views))
        return WordMap(words.reshape(grid.rows, grid.columns), grid)

    def read(
        self, description: WordMap, boxes: Float[np.ndarray, "N 4"]
    ) -> scipy.sparse.csr_matrix:
        """Normalised histograms, float32 [N, length], sparse."""
        room = int(_sizes(description.grid, boxes).sum())
        parts = [
            bag_of_words_compiled.collect(
                description.words, across, down, len(self.codebook), 0, room
            )
            for across, down in self._bounds(description, boxes)
        ]
        widths = [len(self.codebook) * g * g for g in self.recipe.levels]
        levels = [
            scipy.sparse.csr_matrix(part, shape=(len(boxes), width))
            for part, width in zip(parts, widths, strict=True)
        ]
        factors = self._factors(description.grid, boxes).astype(np.float32)
        counts = scipy.sparse.hstack(levels, format="csr")
        histograms = scipy.sparse.csr_matrix(counts.multiply(factors[:, None]))
        histograms.sort_indices()
        return histograms

    def project(
        self,
        description: WordMap,
        boxes: Float[np.ndarray, "N 4"],
        matrix: Float32[np.ndarray, "D E"],
        offset: Float[np.ndarray, "E"],
    ) -> Float[np.ndarray, "N E"]:
        """read(...) @ matrix + offset, without the histograms."""
        slabs = projection.slabs(matrix, self.length)
        sums = np.zeros((len(boxes), len(slabs), projection.LANES), np.float32)
        first = 0
        for across, down in self._bounds(description, boxes):
            bag_of_words_compiled.add_projections(
                description.words, across, down, len(self.codebook), first, slabs, sums
            )
            first += len(self.codebook) * (across.shape[1] - 1) ** 2
        return projection.finished(sums, self._factors(description.grid, boxes), offset)

    def _bounds(
        self, description: WordMap, boxes: Float[np.ndarray, "N 4"]
    ) -> list[tuple[Int64[np.ndarray, "N _"], Int64[np.ndarray, "N _"]]]:
        return [description.grid.bounds(boxes, g) for g in self.recipe.levels]

    def _factors(
        self, grid: grids.Grid, boxes: Float[np.ndarray, "N 4"]
    ) -> Float[np.ndarray, "N"]:
        """1 / sqrt(n·levels); any number will do for a window without descriptors."""
        return 1 / np.sqrt(np.maximum(_sizes(grid, boxes), 1) * len(self.recipe.levels))


def _sizes(grid: grids.Grid, boxes: Float[np.ndarray, "N 4"]) -> Int64[np.ndarray, "N"]:
    """Number of descriptors in each window."""
    across, down = grid.bounds(boxes, 1)
    return (across[:, 1] - across[:, 0]) * (down[:, 1] - down[:, 0])
