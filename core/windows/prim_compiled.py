# mypy: ignore-errors
"""The loops of Randomized Prim: random numbers, one draw, all draws.

Random numbers come from splitmix64 (Steele, Lea and Flood 2014), one 64-bit state for
each segmentation: a few lines that give the same stream with every library version.
"""

import numba
import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)


@numba.njit(inline="always")
def next_random(states, g):
    """64 random bits of stream g."""
    states[g] += _GOLDEN
    z = states[g]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@numba.njit(inline="always")
def _below(bits, n):
    """A number from 0 to n - 1 by the upper 32 bits."""
    return np.int64(((bits >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@numba.njit(cache=True, nogil=True)
def extremes(first, starts, similarities):
    """Smallest and largest similarity of each segmentation; 1 and 1 without edges."""
    out = np.ones((first.size - 1, 2))
    for g in range(first.size - 1):
        entries = similarities[starts[first[g]] : starts[first[g + 1]]]
        if entries.size:
            out[g, 0], out[g, 1] = entries.min(), entries.max()
    return out


@numba.njit(cache=True, nogil=True)
def draw(graph, g, states, extreme, sizes, whole, marks, mark, frontier, box):
    """Grows one group of superpixels of segmentation g and writes its bounding box.

    `frontier` lists the edges that led out of the group when they were added. Taking
    an entry at random, striking it out if it leads inside by now, and accepting it with
    probability s / max s picks each outward edge with probability s / sum of s.

    The box is settled early in two cases: when the threshold is out of reach, so that
    the group grows over the whole (connected) segmentation, and when the box has
    become the whole picture.
    """
    first, areas, boxes, starts, neighbours, similarities = graph
    bits = next_random(states, g)
    new = first[g] + _below(bits, first[g + 1] - first[g])
    limit = np.float64(next_random(states, g) >> np.uint64(11)) * 2.0**-52
    if limit >= 2.0 - extreme[0]:
        box[:] = whole
        return
    x0, y0, x1, y1 = boxes[new]
    scale = np.float64(sizes.size - 1) / (np.float64(whole[2]) * np.float64(whole[3]))
    area, count = np.int64(0), 0
    while True:
        marks[new] = mark
        area += areas[new]
        x0, y0 = min(x0, boxes[new, 0]), min(y0, boxes[new, 1])
        x1, y1 = max(x1, boxes[new, 2]), max(y1, boxes[new, 3])
        if x0 == whole[0] and y0 == whole[1] and x1 == whole[2] and y1 == whole[3]:
            break
        for edge in range(starts[new], starts[new + 1]):
            frontier[count] = edge
            count += marks[neighbours[edge]] != mark
        # α(A) + (1 - s) > E0, with E0 = limit
        enough = sizes[np.int64(scale * area + 0.5)] + 1.0 - limit
        edge = -1
        while count > 0:
            bits = next_random(states, g)
            place = _below(bits, count)
            entry = frontier[place]
            if marks[neighbours[entry]] == mark:
                count -= 1
                frontier[place] = frontier[count]
            elif np.float64(bits & _LOW) * 2.0**-32 * extreme[1] < similarities[entry]:
                edge = entry
                break
        if edge < 0 or enough > similarities[edge]:
            break
        new = np.int64(neighbours[edge])
    box[0], box[1], box[2], box[3] = x0, y0, x1, y1


@numba.njit(inline="always")
def _is_new(box, cell, table):
    """Whether no box of the same rounded corners was seen; remembers this one."""
    key = np.uint64(1)
    for i in range(4):
        key = (key << np.uint64(15)) | np.uint64(np.int64(box[i] / cell + 0.5))
    place = np.int64((key * _GOLDEN) >> np.uint64(20)) % table.size
    while table[place] != 0:
        if table[place] == key:
            return False
        place = (place + 1) % table.size
    table[place] = key
    return True


@numba.njit(cache=True, nogil=True)
def sample(graph, seeds, draws, windows, sizes, whole, cell):
    """Draws from each segmentation in turn until there are enough distinct boxes.

    Returns:
      the boxes in the order drawn, without those whose corners agree with an earlier
      box on a grid of cells this wide, and the number of draws made.
    """
    first, starts, neighbours, similarities = graph[0], graph[3], graph[4], graph[5]
    limits = extremes(first, starts, similarities)
    states = seeds.copy()
    marks = np.full(first[-1], -1, np.int64)
    frontier = np.empty(neighbours.size + 1, np.int64)
    table = np.zeros(4 * windows + 1, np.uint64)
    out = np.empty((windows + 1, 4), np.int32)
    count, made = 0, 0
    while made < draws * seeds.size and count < windows:
        g = made % seeds.size
        draw(
            graph, g, states, limits[g], sizes, whole, marks, made, frontier, out[count]
        )
        count += _is_new(out[count], cell, table)
        made += 1
    return out[:count], made
