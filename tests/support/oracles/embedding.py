"""Slow twins of sampling, exemplar SVMs, associative embedding and ridge regression."""

import hashlib
import struct

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.svm import SVC


def lot(purpose, image_id, box):
    text = f"{purpose}\0{image_id}\0".encode() + struct.pack("<4d", *box)
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def iou(a, b):
    width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return width * height / (area - width * height)


def sample(boxes, truth, image_id, quotas, seed):
    """[(stratum, box)] with quotas of true, high, middle and low boxes."""
    pools = [list(map(tuple, truth)), [], [], []]
    for box in map(tuple, boxes):
        best = max(iou(box, t) for t in truth)
        pools[1 if best >= 0.5 else 2 if best >= 0.2 else 3].append(box)
    return [
        (stratum, box)
        for stratum, pool in enumerate(pools)
        for box in sorted(pool, key=lambda b: lot(f"draw {seed}", image_id, b))[
            : quotas[stratum]
        ]
    ]


def exemplar_svm(exemplar, negatives, penalty, weight):
    """(w, b) of one exemplar SVM by libsvm on the raw features."""
    machine = SVC(
        kernel="linear", C=penalty, class_weight={1: weight, -1: 1.0}, tol=1e-8
    )
    machine.fit(
        np.vstack([exemplar, negatives]).astype(np.float64),
        [1] + [-1] * len(negatives),
    )
    return machine.coef_[0], machine.intercept_[0]


def primal(w, b, exemplar, negatives, penalty, weight):
    positive = max(0, 1 - w @ exemplar - b)
    losses = [max(0, 1 + w @ z + b) for z in negatives]
    return w @ w / 2 + penalty * weight * positive + penalty * sum(losses)


def weights(svms, exemplars, negatives):
    """W, one row for each exemplar, written out."""
    return np.array(
        [
            a * x - sum(beta * z for beta, z in zip(row, negatives, strict=True))
            for a, x, row in zip(svms.positives, exemplars, svms.negatives, strict=True)
        ]
    )


def associative(w, b, probes, dimensions):
    """(embedding of any window, share of variance kept), by a full SVD."""
    responses = probes @ w.T + b
    mean, deviation = responses.mean(axis=0), responses.std(axis=0)
    standard = (responses - mean) / deviation
    _, singular, right = np.linalg.svd(standard, full_matrices=False)
    leading = right[:dimensions]
    scale = (standard @ leading.T).std(axis=0)

    def embed(x):
        return (leading @ ((w @ x + b - mean) / deviation)) / scale

    share = (singular[:dimensions] ** 2).sum() / (singular**2).sum()
    return embed, share


def variance(features):
    """Mean squared distance from the mean window."""
    centre = features.mean(axis=0)
    return np.mean([((x - centre) ** 2).sum() for x in features])


def ridge(features, targets, members, penalty):
    """Predictions for all windows by a regression that sees the members only."""
    machine = Ridge(alpha=penalty, solver="cholesky")
    machine.fit(features[members].astype(np.float64), targets[members])
    return machine.predict(features.astype(np.float64))
