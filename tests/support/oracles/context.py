"""Hyper-features and their argmax by the definition, one pair of windows at a time."""

import numpy as np

from belvedere.core.context.voting import Voting
from belvedere.core.types import Context


def relation(a, b):
    """rho(a, b) of two boxes."""
    wide = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    high = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    shared = wide * high
    size_a = (a[2] - a[0]) * (a[3] - a[1])
    size_b = (b[2] - b[0]) * (b[3] - b[1])
    return np.array(
        [shared / (size_a + size_b - shared), shared / size_a, shared / size_b]
    )


def hyperfeatures(context: Context, l: int, mean_consistency=False):
    """The 11 numbers of window l, by the paper's formulas."""
    n = len(context)
    rho = np.array([relation(w, context.boxes[l]) for w in context.boxes])
    phi_g, phi_l = np.zeros(3), np.zeros(3)
    for i in range(n):
        phi_l += abs(1 - rho[i]) * float(context.kernel[i, l]) / n
        for j in range(i + 1, n):
            phi_g += abs(rho[i] - rho[j]) * float(context.kernel[i, j])
    phi_g *= 2 / (n * n - n) if n > 1 else 0
    gaps = abs(rho - context.mean.T)
    phi_c = gaps.mean(0) if mean_consistency else gaps.max(0)
    return np.concatenate([phi_g, phi_l, phi_c, [context.mean[0, l], context.std[l]]])


def scores(context: Context, weights, extra):
    """<weights, phi(l)> + extra(l) for every window, vectorised in another order."""
    boxes, kernel = context.boxes, context.kernel.astype(np.float64)
    n = len(boxes)
    result = np.array(extra, np.float64)
    for l in range(n):
        rho = np.array([relation(w, boxes[l]) for w in boxes]).T
        for r in range(3):
            gaps = np.abs(rho[r][None, :] - rho[r][:, None]) * kernel
            result[l] += weights[r] * gaps.sum() / max(n * n - n, 1)
            result[l] += weights[3 + r] * (np.abs(1 - rho[r]) @ kernel[:, l]) / n
            result[l] += weights[6 + r] * np.abs(rho[r] - context.mean[r]).max()
        result[l] += weights[9] * context.mean[0, l] + weights[10] * context.std[l]
    return result


def voted(boxes, scores, voting: Voting):
    """The box of the best window: an average of those that overlap it enough."""
    best = boxes[scores.argmax()]
    near = [i for i, w in enumerate(boxes) if relation(w, best)[0] >= voting.least_iou]
    weights = np.exp((scores[near] - scores.max()) / voting.temperature)
    return np.average(boxes[near], axis=0, weights=weights)
