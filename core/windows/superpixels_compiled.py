# mypy: ignore-errors
"""The loops of graph-based segmentation; see superpixels.py.

An edge is one int32: four times the number of its first pixel, plus its direction.
"""

import numba
import numpy as np

_CHUNK = 256


@numba.njit(cache=True, nogil=True)
def smooth(channels, mask):
    """Convolves each channel with a symmetric mask, given by its right half.

    Pixels beyond the border repeat those on it. Sums run from the middle outwards.
    """
    count, height, width = channels.shape
    reach = mask.size - 1
    out = np.empty((count, height, width), np.float32)
    padded = np.empty(width + 2 * reach, np.float32)
    across = np.empty((height, width), np.float32)
    for c in range(count):
        for y in range(height):
            padded[:reach] = channels[c, y, 0]
            padded[reach : reach + width] = channels[c, y]
            padded[reach + width :] = channels[c, y, width - 1]
            row, middle = across[y], padded[reach : reach + width]
            for x in range(width):
                row[x] = mask[0] * middle[x]
            for k in range(1, reach + 1):
                left = padded[reach - k : reach - k + width]
                _add_pair(row, mask[k], left, padded[reach + k : reach + k + width])
        for y in range(height):
            row, middle = out[c, y], across[y]
            for x in range(width):
                row[x] = mask[0] * middle[x]
            for k in range(1, reach + 1):
                above = across[max(y - k, 0)]
                _add_pair(row, mask[k], above, across[min(y + k, height - 1)])
    return out


@numba.njit(inline="always")
def _add_pair(row, weight, a, b):
    for x in range(row.size):
        row[x] += weight * (a[x] + b[x])


@numba.njit(inline="always")
def _distances(smoothed, y, x, down, right, steps, out):
    """Colour distances, in whole steps, of the pixels from (y, x) on to others."""
    n, v, u = out.size, y + down, x + right
    a0, b0 = smoothed[0, y, x : x + n], smoothed[0, v, u : u + n]
    a1, b1 = smoothed[1, y, x : x + n], smoothed[1, v, u : u + n]
    a2, b2 = smoothed[2, y, x : x + n], smoothed[2, v, u : u + n]
    for i in range(n):
        d0, d1, d2 = a0[i] - b0[i], a1[i] - b1[i], a2[i] - b2[i]
        distance = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2)
        out[i] = np.uint16(np.int32(distance * steps + np.float32(0.5)))


@numba.njit(cache=True, nogil=True)
def weigh_edges(smoothed, steps):
    """Weights [H, 4, W] of the edges to the right, down, down right and down left.

    Entries whose second pixel lies outside the picture are never read.
    """
    _, height, width = smoothed.shape
    weights = np.empty((height, 4, width), np.uint16)
    for y in range(height):
        _distances(smoothed, y, 0, 0, 1, steps, weights[y, 0, : width - 1])
        if y + 1 < height:
            _distances(smoothed, y, 0, 1, 0, steps, weights[y, 1])
            _distances(smoothed, y, 0, 1, 1, steps, weights[y, 2, : width - 1])
            _distances(smoothed, y, 1, 1, -1, steps, weights[y, 3, 1:])
    return weights


@numba.njit(inline="always")
def _span(y, direction, height, width):
    """First and last + 1 column of the pixels that have an edge in this direction."""
    if direction > 0 and y == height - 1:
        return 0, 0
    first = 1 if direction == 3 else 0
    return first, width if direction == 1 or direction == 3 else width - 1


@numba.njit(cache=True, nogil=True)
def sort_edges(weights, heaviest):
    """Edges by weight, those of equal weight by row, direction and column.

    Returns:
      the edges, and for every weight where its edges end.
    """
    height, _, width = weights.shape
    ends = np.zeros(heaviest + 2, np.int32)
    for y in range(height):
        for direction in range(4):
            first, last = _span(y, direction, height, width)
            for weight in weights[y, direction, first:last]:
                ends[np.uint32(weight) + np.uint32(1)] += 1
    total = np.int32(0)
    for weight in range(ends.size):
        total += ends[weight]
        ends[weight] = total
    edges = np.empty(total, np.int32)
    for y in range(height):
        for direction in range(4):
            first, last = _span(y, direction, height, width)
            row = weights[y, direction, first:last]
            code = np.int32(4 * (y * width + first) + direction)
            for x in range(row.size):
                weight = np.uint32(row[x])
                place = np.uint32(ends[weight])
                edges[place] = code
                ends[weight] = place + 1
                code += 4
    return edges, ends[:-1]


@numba.njit(inline="always")
def _root(parents, node):
    while parents[node] != node:
        node = np.uint32(parents[node])
    return node


@numba.njit(cache=True, nogil=True, error_model="numpy")
def join(edges, ends, pixels, width, k, min_size):
    """The forest that two passes over the sorted edges leave: a parent per pixel.

    The first pass joins two components when the edge weighs no more than either's
    threshold, then sets the threshold to its weight + k / size. The second joins those
    below `min_size`; it needs only the edges that the first one refused, and of these
    only those beside a small component, for components never shrink.

    Most edges lie inside a component. They are sifted out chunk by chunk without a
    branch, by looking two parents up; what is left takes the full search.
    """
    parents = np.arange(pixels).astype(np.int32)
    sizes = np.ones(pixels, np.int32)
    thresholds = np.full(pixels, np.int32(k))
    steps = np.array([1, width, width + 1, width - 1], np.int32)
    left = np.empty((_CHUNK, 2), np.int32)
    refused = np.empty((edges.size, 2), np.int32)
    refusals = 0
    done = 0
    for weight in range(ends.size):
        while done < ends[weight]:
            chunk = edges[done : min(done + _CHUNK, ends[weight])]
            done += chunk.size
            count = np.uint32(0)
            for edge in chunk:
                p = np.uint32(edge >> 2)
                q = np.uint32(p + np.uint32(steps[edge & 3]))
                a = parents[np.uint32(parents[p])]
                b = parents[np.uint32(parents[q])]
                parents[p], parents[q] = a, b
                left[count, 0], left[count, 1] = a, b
                count += np.uint32(a != b)
            for i in range(count):
                a = _root(parents, np.uint32(left[i, 0]))
                b = _root(parents, np.uint32(left[i, 1]))
                if a == b:
                    continue
                if weight <= min(thresholds[a], thresholds[b]):
                    size = sizes[a] + sizes[b]
                    swap = sizes[a] < sizes[b]
                    large, small = b if swap else a, a if swap else b
                    parents[small] = large
                    sizes[large] = size
                    thresholds[large] = weight + k // size
                elif sizes[a] < min_size or sizes[b] < min_size:
                    refused[refusals, 0], refused[refusals, 1] = a, b
                    refusals += 1
    for i in range(refusals):
        a = _root(parents, np.uint32(refused[i, 0]))
        b = _root(parents, np.uint32(refused[i, 1]))
        if a != b and (sizes[a] < min_size or sizes[b] < min_size):
            if sizes[a] < sizes[b]:
                a, b = b, a
            parents[b] = a
            sizes[a] += sizes[b]
    return parents


@numba.njit(cache=True, nogil=True)
def number(parents):
    """Labels 0, 1, ... in the order in which components are first met."""
    labels = np.empty(parents.size, np.int32)
    names = np.full(parents.size, np.int32(-1))
    count = np.int32(0)
    for pixel in range(parents.size):
        root = _root(parents, np.uint32(pixel))
        parents[pixel] = root
        if names[root] < 0:
            names[root] = count
            count += 1
        labels[pixel] = names[root]
    return labels
