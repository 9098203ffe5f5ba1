"""Randomized Prim on small graphs: the stop rule, taking turns, the budget."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import randomized_prim as oracle

from belvedere.core.windows import prim_compiled, randomized_prim, superpixel_graph
from belvedere.core.windows.randomized_prim import PrimSettings
from belvedere.core.windows.superpixel_graph import SuperpixelGraph


def _strips(widths: list[int], seed: int) -> SuperpixelGraph:
    """Superpixels side by side: the bounding box tells the group."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(widths)), widths)[None].repeat(12, 0)
    lab = rng.integers(0, 80, (3, *labels.shape), dtype=np.uint8)
    bins = superpixel_graph.colour_bins(lab)
    return superpixel_graph.build(labels.astype(np.int32), bins)


def _blocks(seed: int) -> SuperpixelGraph:
    """Superpixels in a grid of three rows and four columns of unequal sizes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(12).reshape(3, 4).repeat([4, 9, 6], 0).repeat([8, 3, 10, 5], 1)
    lab = rng.integers(0, 70, (3, *labels.shape), dtype=np.uint8)
    bins = superpixel_graph.colour_bins(lab)
    return superpixel_graph.build(labels.astype(np.int32), bins)


def _whole(graph: SuperpixelGraph) -> np.ndarray:
    return np.array([0, 0, *graph.boxes[:, 2:].max(axis=0)], np.int32)


def _draws(
    graph: SuperpixelGraph, g: int, seed: int, count: int, sizes: np.ndarray
) -> list[tuple[int, ...]]:
    """Boxes of segmentation g, drawn alone from its own seed."""
    fields = (graph.first, graph.areas, graph.boxes)
    arrays = (*fields, graph.starts, graph.neighbours, graph.similarities)
    extreme = prim_compiled.extremes(graph.first, graph.starts, graph.similarities)[g]
    states = np.full(len(graph.first) - 1, seed, np.uint64)
    marks = np.full(len(graph), -1, np.int64)
    frontier = np.empty(len(graph.neighbours) + 1, np.int64)
    box, whole, out = np.empty(4, np.int32), _whole(graph), []
    for mark in range(count):
        prim_compiled.draw(
            arrays, g, states, extreme, sizes, whole, marks, mark, frontier, box
        )
        out.append(tuple(box.tolist()))
    return out


def _slow_draws(
    graph: SuperpixelGraph, seed: int, count: int, sizes: np.ndarray, **rule: object
) -> list[tuple[int, ...]]:
    owners = np.repeat(np.arange(len(graph)), np.diff(graph.starts)).tolist()
    pairs = zip(owners, graph.neighbours.tolist(), strict=True)
    similarities = dict(zip(pairs, graph.similarities.tolist(), strict=True))
    areas = (graph.areas / graph.areas.sum()).tolist()
    rng = np.random.default_rng(seed)

    def alpha(area: float) -> float:
        return float(sizes[int((len(sizes) - 1) * area + 0.5)])

    out = []
    for _ in range(count):
        group = sorted(oracle.draw(similarities, areas, alpha, rng, **rule))
        low = graph.boxes[group, :2].min(axis=0)
        high = graph.boxes[group, 2:].max(axis=0)
        out.append((*low.tolist(), *high.tolist()))
    return out


def _p_value(a: list[tuple[int, ...]], b: list[tuple[int, ...]]) -> float:
    """Whether two samples of boxes can come from one distribution (chi-square)."""
    kinds = sorted({*a, *b})
    table = np.array([[sample.count(kind) for kind in kinds] for sample in (a, b)])
    common = table.sum(axis=0) >= 20
    rare = table[:, ~common].sum(axis=1, keepdims=True)
    table = np.hstack([table[:, common], rare + (rare.sum() == 0)])
    return float(scipy.stats.chi2_contingency(table).pvalue)


@pytest.mark.parametrize(
    "graph", [_strips([9, 4, 7, 3, 8, 5], 0), _blocks(1)], ids=["strips", "blocks"]
)
def test_boxes_follow_the_stop_rule(graph: SuperpixelGraph) -> None:
    sizes = randomized_prim.default_sizes()
    fast = _draws(graph, 0, 77, 12_000, sizes)
    assert _p_value(fast, _slow_draws(graph, 5, 4000, sizes)) > 1e-4


@pytest.mark.parametrize("wrong", [{"reach": 1.0}, {"once": False}])
def test_other_stop_rules_are_told_apart(wrong: dict[str, object]) -> None:
    graph, sizes = _strips([9, 4, 7, 3, 8, 5], 0), randomized_prim.default_sizes()
    fast = _draws(graph, 0, 77, 12_000, sizes)
    assert _p_value(fast, _slow_draws(graph, 5, 4000, sizes, **wrong)) < 1e-9


def test_group_sizes_follow_a_learned_distribution() -> None:
    graph = _strips([6] * 7, 3)
    sizes = randomized_prim.learned_sizes(np.array([0.3, 0.4, 0.45, 0.8]))
    fast = [(b[2] - b[0],) for b in _draws(graph, 0, 5, 12_000, sizes)]
    slow = [(b[2] - b[0],) for b in _slow_draws(graph, 6, 4000, sizes)]
    assert _p_value(fast, slow) > 1e-4
    default = randomized_prim.default_sizes()
    other = [(b[2] - b[0],) for b in _slow_draws(graph, 6, 4000, default)]
    assert _p_value(fast, other) < 1e-9


@given(seed=st.integers(0, 2**64 - 1))
@settings(max_examples=30, deadline=None)
def test_random_bits_are_splitmix64(seed: int) -> None:
    graph, sizes = _strips([5, 5], 0), np.array([1.0, 1.0])
    # With α = 1 and s < 1 most groups are the first superpixel alone.
    state, bits = oracle.splitmix64(seed)
    _, threshold = oracle.splitmix64(state)
    start = 5 * ((bits >> 32) * 2 >> 32)
    box = _draws(graph, 0, seed, 1, sizes)[0]
    similarity = graph.similarities.min()
    grows = (threshold >> 11) * 2.0**-52 >= 2 - similarity
    assert box == ((0, 0, 10, 12) if grows else (start, 0, start + 5, 12))


def test_segmentations_take_turns() -> None:
    graph = superpixel_graph.side_by_side(
        [_strips([9, 4, 7, 3, 8, 5], 0), _strips([18, 18], 1), _strips([1] * 36, 2)]
    )
    wanted = PrimSettings(windows=60, approximate=480, k=(1.0,), spaces=("rg",) * 3)
    boxes, made = randomized_prim.sample(
        graph, 36, 12, wanted, np.random.default_rng(9)
    )
    seeds = np.random.default_rng(9).integers(0, 2**64, 3, np.uint64)
    sizes = randomized_prim.default_sizes()
    alone = [_draws(graph, g, int(seeds[g]), wanted.draws, sizes) for g in range(3)]
    slow, looked = oracle.first_distinct(
        zip(*alone, strict=True), wanted.grid * 36 / 500, wanted.windows
    )
    assert [tuple(box) for box in boxes.tolist()] == slow
    assert made == looked


def test_draws_end_with_the_budget() -> None:
    graph = _strips([18, 18], 1)
    few = PrimSettings(approximate=400, spaces=("lab",))
    boxes, made = randomized_prim.sample(graph, 36, 12, few, np.random.default_rng(0))
    assert made == few.draws == 500
    assert len(boxes) == 3
