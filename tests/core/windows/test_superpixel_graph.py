"""The superpixel graph against its definition, and its shape."""

import numpy as np
import pytest
import scipy.ndimage
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import superpixels as oracle

from belvedere.core.windows import colours, superpixel_graph, superpixels
from belvedere.core.windows.superpixel_graph import SuperpixelGraph


def _as_dict(graph: SuperpixelGraph) -> dict[tuple[int, int], float]:
    owners = np.repeat(np.arange(len(graph)), np.diff(graph.starts))
    pairs = zip(owners.tolist(), graph.neighbours.tolist(), strict=True)
    return dict(zip(pairs, graph.similarities.tolist(), strict=True))


def _labels(rng: np.random.Generator, height: int, width: int, n: int) -> np.ndarray:
    """Random connected or scattered regions, numbered without gaps."""
    coarse = rng.integers(0, n, (height // 2 + 1, width // 2 + 1))
    labels = coarse.repeat(2, 0).repeat(2, 1)[:height, :width]
    return np.unique(labels, return_inverse=True)[1].reshape(height, width)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    n=st.integers(1, 8),
    levels=st.sampled_from([4, 256]),
)
def test_similarities_equal_the_definition(
    seed: int, height: int, width: int, n: int, levels: int
) -> None:
    rng = np.random.default_rng(seed)
    labels = _labels(rng, height, width, n).astype(np.int32)
    lab = rng.integers(0, levels, (3, height, width)) * (255 // (levels - 1))
    lab = lab.astype(np.uint8)
    graph = superpixel_graph.build(labels, superpixel_graph.colour_bins(lab))
    got, wanted = _as_dict(graph), oracle.similarities(labels, lab)
    assert got.keys() == wanted.keys()
    for pair, value in wanted.items():
        assert got[pair] == pytest.approx(value, rel=1e-12)
        assert got[pair] == got[pair[::-1]]


def test_areas_and_boxes_are_those_of_the_pixels() -> None:
    labels = _labels(np.random.default_rng(0), 17, 23, 12).astype(np.int32)
    lab = np.zeros((3, 17, 23), np.uint8)
    graph = superpixel_graph.build(labels, superpixel_graph.colour_bins(lab))
    for i in range(len(graph)):
        y, x = np.nonzero(labels == i)
        assert graph.areas[i] == len(x)
        corners = [x.min(), y.min(), x.max() + 1, y.max() + 1]
        assert graph.boxes[i].tolist() == corners


def test_crossing_diagonals_are_all_neighbours() -> None:
    """Lines in both diagonal directions: many more edges than a planar graph has."""
    y, x = np.mgrid[:40, :40]
    lines = np.where((x + y) % 2 == 0, (x + y) // 2, 100 + (x - y + 41) // 2)
    labels = np.unique(lines, return_inverse=True)[1].reshape(40, 40).astype(np.int32)
    lab = np.zeros((3, 40, 40), np.uint8)
    graph = superpixel_graph.build(labels, superpixel_graph.colour_bins(lab))
    assert len(graph.neighbours) > 2 * (4 * len(graph) - 8)
    assert _as_dict(graph).keys() == oracle.similarities(labels, lab).keys()


@pytest.mark.parametrize("shape", [(3, 3), (3, 200), (60, 70)])
def test_graph_is_connected(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    rgb = rng.integers(0, 256, (3, *shape), dtype=np.uint8)
    labels = superpixels.segment(rgb, min_size=1, k=1.0)
    bins = superpixel_graph.colour_bins(colours.convert(rgb, "lab"))
    graph = superpixel_graph.build(labels, bins)
    matrix = scipy.sparse.csr_array(
        (graph.similarities, graph.neighbours, graph.starts), (len(graph),) * 2
    )
    assert len(graph) > 1
    assert scipy.sparse.csgraph.connected_components(matrix)[0] == 1


def test_like_neighbours_are_more_similar() -> None:
    """Three strips of equal size, two of one colour and one of another."""
    labels = np.repeat([0, 1, 2], 10)[None].repeat(30, 0).astype(np.int32)
    lab = np.where(labels == 2, 200, 40)[None].repeat(3, 0).astype(np.uint8)
    graph = superpixel_graph.build(labels, superpixel_graph.colour_bins(lab))
    similarity = _as_dict(graph)
    assert similarity[0, 1] > similarity[1, 2]
    assert graph.similarities.min() >= 1 / (1 + np.exp(3.0017))


def test_side_by_side_keeps_segmentations_apart() -> None:
    rng = np.random.default_rng(2)
    lab = rng.integers(0, 256, (3, 20, 24), dtype=np.uint8)
    bins = superpixel_graph.colour_bins(lab)
    parts = [
        superpixel_graph.build(_labels(rng, 20, 24, n).astype(np.int32), bins)
        for n in (3, 1, 9)
    ]
    graph = superpixel_graph.side_by_side(parts)
    assert np.diff(graph.first).tolist() == [len(part) for part in parts]
    wanted = {
        (i + shift, j + shift): s
        for part, shift in zip(parts, graph.first, strict=False)
        for (i, j), s in _as_dict(part).items()
    }
    assert _as_dict(graph) == wanted
    np.testing.assert_array_equal(graph.areas, np.hstack([p.areas for p in parts]))
