"""The graph of touching superpixels, weighted by how likely they belong together.

Paper: the candidate windows of section 2, Randomized Prim (Manen et al., ICCV 2013).
The similarity of touching superpixels i, j is

  s_ij = logistic(-3.0017 + 1.0029 border + 2.6864 colour + 2.3655 size)

  border = max(l_ij / L_i, l_ij / L_j)   l: common border, L: perimeter without the
                                         image's own border
  colour = Σ_b min(h_ib, h_jb)           h: joint histogram of LAB in 16³ bins, sum 1
  size   = 1 - a_i - a_j                 a: area as a fraction of the image

with the weights the authors learned on PASCAL VOC 2007. l_ij is half the number of
times that a pixel off the image's border has one label and one of its 8 neighbours the
other, rounded down. Colour is always LAB, whatever space made the superpixels.

Departures: none that shows. Similarities below 5e-5 are to be dropped, but no s_ij is
below logistic(-3.0017) = 0.047.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int32, Int64, UInt8, UInt16

from belvedere.core.windows import superpixel_graph_compiled as compiled

WEIGHTS = np.array([-3.0017, 1.0029, 2.6864, 2.3655])


@dataclasses.dataclass(frozen=True, eq=False)
class ColourBins:
    """The colour bin of every pixel; bins that do not occur have no number."""

    bins: UInt16[np.ndarray, "HW"]
    count: int


@dataclasses.dataclass(frozen=True, eq=False)
class SuperpixelGraph:
    """One or several segmentations of an image as one graph of V superpixels.

    Segmentation g owns the superpixels from first[g] to first[g + 1]; no edge leaves
    it. The neighbours of superpixel i, with their similarities, are the entries from
    starts[i] to starts[i + 1]: both ends list an edge.
    """

    first: Int64[np.ndarray, "G1"]
    areas: Int64[np.ndarray, "V"]
    boxes: Int32[np.ndarray, "V 4"]
    starts: Int64[np.ndarray, "V1"]
    neighbours: Int32[np.ndarray, "E2"]
    similarities: Float[np.ndarray, "E2"]

    def __len__(self) -> int:
        return len(self.areas)


def colour_bins(lab: UInt8[np.ndarray, "3 H W"]) -> ColourBins:
    """Joint LAB bins, 16 to a channel."""
    return ColourBins(*compiled.joint_bins(lab.reshape(3, -1)))


def build(labels: Int32[np.ndarray, "H W"], colour: ColourBins) -> SuperpixelGraph:
    """The graph of one segmentation.

    Args:
      labels: superpixel of every pixel, from 0 without gaps.
      colour: bins of the same picture.
    """
    count = int(labels.max()) + 1
    areas, boxes = compiled.measure(labels, count)
    starts, neighbours, contacts = compiled.adjacency(*compiled.contacts(labels), count)
    histograms = compiled.histograms(labels.ravel(), colour.bins, count, colour.count)
    similarities = compiled.similarities(
        starts, neighbours, contacts // 2, areas, histograms, labels.size, WEIGHTS
    )
    first = np.array([0, count])
    return SuperpixelGraph(first, areas, boxes, starts, neighbours, similarities)


def side_by_side(graphs: Sequence[SuperpixelGraph]) -> SuperpixelGraph:
    """Several segmentations as one graph, in which they do not touch."""
    superpixels = np.cumsum([0, *(len(g) for g in graphs)])
    entries = np.cumsum([0, *(len(g.neighbours) for g in graphs)])
    shifts = list(zip(graphs, superpixels[:-1], entries[:-1], strict=True))
    return SuperpixelGraph(
        first=np.concatenate([[0], *(g.first[1:] + s for g, s, _ in shifts)]),
        areas=np.concatenate([g.areas for g in graphs]),
        boxes=np.concatenate([g.boxes for g in graphs]),
        starts=np.concatenate([[0], *(g.starts[1:] + e for g, _, e in shifts)]),
        neighbours=np.concatenate(
            [g.neighbours + s.astype(np.int32) for g, s, _ in shifts]
        ),
        similarities=np.concatenate([g.similarities for g in graphs]),
    )
