"""Slow twins of the figures, the intervals, the baselines and the calibration."""

import numpy as np


def curve(ious, scores):
    """[(fraction, mean IoU)] by trying each score as a threshold."""
    points = []
    for threshold in sorted(set(scores), reverse=True):
        kept = [i for i, s in zip(ious, scores, strict=True) if s >= threshold]
        points.append((len(kept) / len(ious), sum(kept) / len(kept)))
    return points


def returned_at(ious, scores, mean_iou):
    return max([0, *(f for f, m in curve(ious, scores) if m >= mean_iou - 1e-12)])


def auc(ious, scores):
    """Mean over images of the curve at the image's own score."""
    total = 0
    for own in scores:
        kept = [i for i, s in zip(ious, scores, strict=True) if s >= own]
        total += sum(kept) / len(kept)
    return total / len(ious)


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
