"""Slow twins of the learned baselines: kernel, tables, mining, ranking."""

import numpy as np

from oracles import assessment


def intersection(a, b):
    """sum_i min(a_i, b_i) of histograms whose square roots are given, dense."""
    return np.array([[np.minimum(g**2, h**2).sum() for h in b] for g in a])


def table_output(table, knots, histogram):
    """The sum over bins of the broken line of each."""
    return sum(
        np.interp(share, knots, row)
        for share, row in zip(histogram, table, strict=True)
    )


def hardest(scores, candidates, known, count, apart):
    """Windows from the highest score down, each apart from all before it."""
    taken, chosen = [list(box) for box in known], []
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        alone = all(assessment.iou(candidates[i], box) <= apart for box in taken)
        if len(chosen) < count and alone and scores[i] > -np.inf:
            chosen.append(i)
            taken.append(list(candidates[i]))
    return chosen


def top_ious(scores, ious, images, judged):
    """IoU of the first of the highest-scoring windows of each image."""
    result = []
    for image in sorted(
        {i for i, is_judged in zip(images, judged, strict=True) if is_judged}
    ):
        mine = [k for k in range(len(images)) if images[k] == image]
        result.append(ious[max(mine, key=lambda k: (scores[k], -k))])
    return result


def two_levels(features, machines, location, second):
    """The output of the second SVM over those of the first, and location."""
    outputs = [
        f @ m.weights + m.offset for f, m in zip(features, machines, strict=True)
    ]
    return np.column_stack([*outputs, location]) @ second.weights + second.offset
