"""Slow twins of the figures, the intervals, the baselines and the calibration."""

import itertools

import numpy as np


def curve(ious, scores):
    """[(fraction, mean IoU)] of the first image, of the first two ...

    Of equals that are not all returned, each counts with the mean of them all.
    """
    points = []
    for k, last in enumerate(sorted(scores, reverse=True), 1):
        above = [i for i, s in zip(ious, scores, strict=True) if s > last]
        equal = [i for i, s in zip(ious, scores, strict=True) if s == last]
        total = sum(above) + (k - len(above)) * sum(equal) / len(equal)
        points.append((k / len(ious), total / k))
    return points


def curve_over_orders(ious, scores):
    """Mean IoU of the first k, for each k, over all orders of falling score."""
    tried = []
    for order in itertools.permutations(range(len(ious))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            returned = [[ious[i] for i in order[: k + 1]] for k in range(len(order))]
            tried.append([sum(some) / len(some) for some in returned])
    return np.mean(tried, axis=0)


def returned_at(ious, scores, mean_iou):
    return max([0, *(f for f, m in curve(ious, scores) if m >= mean_iou - 1e-12)])


def auc(ious, scores):
    """Mean over images of the curve where the image is returned."""
    return sum(m for _, m in curve(ious, scores)) / len(ious)


def differences(one, other, statistic, draws):
    """statistic(one) - statistic(other) on each list of image numbers."""
    return [
        statistic(one.ious[d], one.scores[d])
        - statistic(other.ious[d], other.scores[d])
        for d in draws
    ]


def iou(a, b):
    width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return width * height / (area - width * height)


def worth_of_box(box, truths):
    return sum(max(iou(box, t) for t in image) for image in truths) / len(truths)


def isotonic(scores, values):
    """Fitted value of each point, by max-min of means over runs of distinct scores."""
    levels = sorted(set(scores))
    groups = [
        [v for s, v in zip(scores, values, strict=True) if s == x] for x in levels
    ]

    def mean(j, k):
        run = [v for group in groups[j : k + 1] for v in group]
        return sum(run) / len(run)

    last = len(levels)
    fitted = [
        max(min(mean(j, k) for k in range(i, last)) for j in range(i + 1))
        for i in range(last)
    ]
    return np.array([fitted[levels.index(s)] for s in scores])
