# mypy: ignore-errors
"""The loops that measure superpixels and their borders; see superpixel_graph.py."""

import math

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def joint_bins(channels):
    """Number of the 16 x 16 x 16 bin of every pixel; only bins in use get numbers."""
    first, second, third = channels[0], channels[1], channels[2]
    bins = np.empty(first.size, np.uint16)
    used = np.zeros(4096, np.uint16)
    for i in range(first.size):
        joint = (
            (np.uint16(first[i] >> 4) << 8)
            | (np.uint16(second[i] >> 4) << 4)
            | np.uint16(third[i] >> 4)
        )
        bins[i] = joint
        used[joint] = 1
    count = 0
    for one in range(used.size):
        if used[one]:
            used[one] = count
            count += 1
    for i in range(first.size):
        bins[i] = used[bins[i]]
    return bins, count


@numba.njit(cache=True, nogil=True)
def measure(labels, superpixels):
    """Area and half-open bounding box of every superpixel."""
    height, width = labels.shape
    areas = np.zeros(superpixels, np.int64)
    boxes = np.empty((superpixels, 4), np.int32)
    boxes[:, 0], boxes[:, 1], boxes[:, 2] = width, height, 0
    for y in range(height):
        row = labels[y]
        start = 0
        for x in range(1, width + 1):
            if x < width and row[x] == row[start]:
                continue
            box = boxes[row[start]]
            box[0], box[2] = min(box[0], start), max(box[2], x)
            box[1], box[3] = min(box[1], y), y + 1
            areas[row[start]] += x - start
            start = x
    return areas, boxes


@numba.njit(cache=True, nogil=True)
def histograms(labels, bins, superpixels, count):
    """Pixels of every superpixel in every colour bin."""
    counts = np.zeros((superpixels, count), np.float32)
    for i in range(labels.size):
        counts[np.uint32(labels[i]), np.uint32(bins[i])] += np.float32(1)
    return counts


@numba.njit(inline="always")
def _inner(y, x, height, width):
    return 0 < y and y < height - 1 and 0 < x and x < width - 1


@numba.njit(cache=True, nogil=True)
def contacts(labels):
    """Pairs of labels that meet between two neighbouring pixels, and how often.

    Every pixel inside the image's border looks at its 8 neighbours, so that a pair of
    pixels counts 2, 1 or 0 by how many of the two lie inside. A neighbour outside the
    picture is replaced by one on its border, beside a pixel on the border: that counts
    0, as do all pairs of the last row.
    """
    height, width = labels.shape
    pairs = np.empty((4 * labels.size, 2), np.int32)
    counts = np.empty(4 * labels.size, np.int32)
    found = 0
    for y in range(height - 1):
        row, below = labels[y], labels[y + 1]
        for x in range(width):
            own, right, left = row[x], min(x + 1, width - 1), max(x - 1, 0)
            if (
                own == row[right]
                and own == below[x]
                and own == below[right]
                and own == below[left]
            ):
                continue
            first = 1 if _inner(y, x, height, width) else 0
            for step in range(4):
                v = y if step == 0 else y + 1
                u = left if step == 3 else (x if step == 1 else right)
                second = 1 if _inner(v, u, height, width) else 0
                if labels[v, u] != own and first + second > 0:
                    pairs[found, 0], pairs[found, 1] = own, labels[v, u]
                    counts[found] = first + second
                    found += 1
    return pairs[:found], counts[:found]


@numba.njit(cache=True, nogil=True)
def adjacency(pairs, counts, superpixels):
    """Neighbours of every superpixel in the order first met, with summed counts.

    Returns:
      where the neighbours of each start, the neighbours, and the counts c_ij + c_ji.
    """
    starts = np.zeros(superpixels + 1, np.int64)
    for i in range(len(pairs)):
        starts[pairs[i, 0] + 1] += 1
        starts[pairs[i, 1] + 1] += 1
    starts = np.cumsum(starts)
    fill = starts[:-1].copy()
    met = np.empty((2 * len(pairs), 2), np.int32)
    for i in range(len(pairs)):
        for side in range(2):
            own = pairs[i, side]
            met[fill[own], 0], met[fill[own], 1] = pairs[i, 1 - side], counts[i]
            fill[own] += 1
    place = np.full(superpixels, -1, np.int64)
    total = 0
    for own in range(superpixels):
        first, start = starts[own], total
        for i in range(first, starts[own + 1]):
            other, count = met[i, 0], met[i, 1]
            if place[other] < start:
                place[other] = total
                met[total, 0], met[total, 1] = other, 0
                total += 1
            met[place[other], 1] += count
        starts[own] = start
    starts[superpixels] = total
    return starts, met[:total, 0].copy(), met[:total, 1].copy()


# Sums of whole numbers below 2^53 are the same in any order.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "nnan"})
def _shared(a, b, area_a, area_b):
    """Intersection of two histograms of areas a and b, times both areas."""
    shared = 0.0
    for i in range(a.size):
        shared += min(a[i] * area_b, b[i] * area_a)
    return shared


@numba.njit(cache=True, nogil=True, error_model="numpy")
def similarities(starts, neighbours, borders, areas, counts, pixels, weights):
    """s_ij = logistic(w0 + w1 border + w2 colour + w3 size) of all neighbours."""
    perimeters = np.zeros(areas.size, np.int64)
    for i in range(areas.size):
        perimeters[i] = borders[starts[i] : starts[i + 1]].sum()
    out = np.empty(neighbours.size, np.float64)
    for i in range(areas.size):
        for edge in range(starts[i], starts[i + 1]):
            j = neighbours[edge]
            shorter = max(min(perimeters[i], perimeters[j]), 1)
            area_i, area_j = np.float64(areas[i]), np.float64(areas[j])
            colour = _shared(counts[i], counts[j], area_i, area_j) / (area_i * area_j)
            size = 1.0 - np.float64(areas[i] + areas[j]) / pixels
            border = borders[edge] / shorter
            score = (weights[0] + weights[1] * border + weights[2] * colour) + weights[
                3
            ] * size
            out[edge] = 1.0 / (1.0 + math.exp(-score))
    return out
