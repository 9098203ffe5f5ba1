"""Slow twins of core/appearance: one pixel, one descriptor, one word at a time."""

import math

import numpy as np
import scipy.ndimage


def smoothed(channel, margin, sigma):
    """A channel with a reflected margin, smoothed by scipy's Gaussian."""
    wide = np.pad(channel.astype(np.float64), margin, mode="symmetric")
    if sigma == 0:
        return wide
    return scipy.ndimage.gaussian_filter(wide, sigma, mode="reflect", truncate=4.0)


def gradient(plane, y, x):
    """Central differences at a pixel: (dx, dy)."""
    return plane[y, x + 1] - plane[y, x - 1], plane[y + 1, x] - plane[y - 1, x]


def orientation_shares(dx, dy, count):
    """(orientation, share of the strength) for the two nearest orientations."""
    place = (math.atan2(dy, dx) % (2 * math.pi)) / (2 * math.pi) * count
    low = math.floor(place)
    return [(low % count, 1 - (place - low)), ((low + 1) % count, place - low)]


def patch_pixels(top, left, side):
    """(y, x, bin row, bin column, share) of the pixels of a patch's spatial bins.

    (top, left) is the corner of the patch of 4x4 bins; a bin's share falls linearly
    from 1 at its centre to 0 one side away.
    """
    for a in range(4):
        for b in range(4):
            cy, cx = top + side * (a + 0.5), left + side * (b + 0.5)
            for y in range(math.floor(cy - side), math.ceil(cy + side)):
                for x in range(math.floor(cx - side), math.ceil(cx + side)):
                    share_y = max(0.0, 1 - abs(y + 0.5 - cy) / side)
                    share_x = max(0.0, 1 - abs(x + 0.5 - cx) / side)
                    yield y, x, a, b, share_y * share_x


def sift(plane, cy, cx, side, clip=0.2, length=512.0):
    """SIFT of the patch centred on the pixel corner (cy, cx), not rounded."""
    histogram = np.zeros((4, 4, 8))
    for y, x, a, b, share in patch_pixels(cy - 2 * side, cx - 2 * side, side):
        dx, dy = gradient(plane, y, x)
        for o, part in orientation_shares(dx, dy, 8):
            histogram[a, b, o] += share * part * math.hypot(dx, dy)
    vector = histogram.ravel() / np.linalg.norm(histogram)
    vector = np.minimum(vector, clip)
    return vector / np.linalg.norm(vector) * length


def surf(plane, cy, cx, side, length=512.0):
    """dx, |dx|, dy, |dy| of 4x4 bins of the patch centred on (cy, cx), not rounded."""
    sums = np.zeros((4, 4, 4))
    for y, x, a, b, share in patch_pixels(cy - 2 * side, cx - 2 * side, side):
        dx, dy = gradient(plane, y, x)
        sums[a, b] += share * np.array([dx, abs(dx), dy, abs(dy)])
    return sums.ravel() / np.linalg.norm(sums) * length


def nearest(vector, centres):
    """The first of the centres at the smallest distance, in Python's integers."""
    distances = [
        sum((int(p) - int(q)) ** 2 for p, q in zip(vector, centre, strict=True))
        for centre in centres
    ]
    return distances.index(min(distances))


def word(vector, branches, leaves, starts):
    """Nearest branch, then nearest of its leaves."""
    b = nearest(vector, branches)
    return starts[b] + nearest(vector, leaves[starts[b] : starts[b + 1]])


def word_histogram(words, step, box, parts, vocabulary):
    """Counts [parts·parts·vocabulary] of a window, descriptor by descriptor."""
    x0, y0, x1, y1 = box
    counts = np.zeros((parts, parts, vocabulary))
    for i, row in enumerate(words):
        for j, found in enumerate(row):
            cell_y = cell(step // 2 + i * step, y0, y1, parts)
            cell_x = cell(step // 2 + j * step, x0, x1, parts)
            if cell_y is not None and cell_x is not None:
                counts[cell_y, cell_x, found] += 1
    return counts.ravel()


def cell(centre, low, high, parts):
    """Which of the equal half-open parts of [low, high) holds the centre, or None."""
    cuts = [low + (high - low) * k / parts for k in range(parts)] + [high]
    for k in range(parts):
        if cuts[k] <= centre < cuts[k + 1]:
            return k
    return None


def bag_of_words(words, step, box, levels, vocabulary):
    """L1 for each level, square root, L2 of the whole."""
    parts = []
    for level in levels:
        counts = word_histogram(words, step, box, level, vocabulary)
        parts.append(np.sqrt(counts / max(counts.sum(), 1)))
    vector = np.concatenate(parts)
    return vector / max(np.linalg.norm(vector), 1e-12)


def energies(strength, direction, block):
    """Gradients by 18 orientations, evened out over blocks; directions in 18ths."""
    energy = np.zeros((*strength.shape, 18))
    for y, x in np.ndindex(strength.shape):
        low = math.floor(direction[y, x])
        share = direction[y, x] - low
        energy[y, x, low % 18] += strength[y, x] * (1 - share)
        energy[y, x, (low + 1) % 18] += strength[y, x] * share
    for y in range(0, len(energy), block):
        for x in range(0, energy.shape[1], block):
            here = energy[y : y + block, x : x + block]
            here[:] = here.mean(axis=(0, 1))
    return energy


def overlaps(low, high, side):
    """How much of each pixel of [0, side) lies in [low, high)."""
    pixels = np.arange(side)
    return np.clip(np.minimum(pixels + 1, high) - np.maximum(pixels, low), 0, None)


def hog(energy, box, floor, clip=0.2):
    """8x8 cells x 32 channels of a window, from energy by pixel; of length 1."""
    x0, y0, x1, y1 = box
    height, width = energy.shape[:2]
    w, h = (x1 - x0) / 8, (y1 - y0) / 8
    cells = np.zeros((10, 10, 18))
    for i in range(10):
        for j in range(10):
            rows = overlaps(y0 + (i - 1) * h, y0 + i * h, height)
            columns = overlaps(x0 + (j - 1) * w, x0 + j * w, width)
            cells[i, j] = np.einsum("y,x,yxo->o", rows, columns, energy) / (w * h)
    unsigned = cells[:, :, :9] + cells[:, :, 9:]
    squares = (unsigned**2).sum(axis=2)
    vector = np.zeros((8, 8, 32))
    for i in range(8):
        for j in range(8):
            corners = [(i, j), (i, j + 1), (i + 1, j), (i + 1, j + 1)]
            for number, (a, b) in enumerate(corners):
                length = math.sqrt(squares[a : a + 2, b : b + 2].sum() + floor**2)
                signed = np.minimum(cells[i + 1, j + 1] / length, clip)
                both = np.minimum(unsigned[i + 1, j + 1] / length, clip)
                vector[i, j, :18] += signed / 2
                vector[i, j, 18:27] += both / 2
                vector[i, j, 27 + number] = signed.sum() / math.sqrt(18)
    return vector.ravel() / max(np.linalg.norm(vector), 1e-12)
