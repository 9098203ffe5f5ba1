"""What an explanation says, from all pairs of windows and by iteration."""

import numpy as np

from oracles import context as slow


def gaps(context, l):
    """|rho^r(w_i, w_l) - mu^r(x_i)|, [3][N]: what phi_C is the maximum or mean of."""
    rows = [slow.relation(w, context.boxes[l]) for w in context.boxes]
    return [
        [abs(rho[r] - context.mean[r, i]) for i, rho in enumerate(rows)]
        for r in range(3)
    ]


def contributions(context, l, model, mean_consistency):
    """alpha_p (phi_p - centre_p) / scale_p, one by one."""
    phi = slow.hyperfeatures(context, l, mean_consistency)
    scaling = model.scaling
    return [
        model.alpha[p] * (phi[p] - scaling.centre[p]) / scaling.scale[p]
        for p in range(len(phi))
    ]


def flattened(x):
    """Two principal components by power iteration, the largest loading positive."""
    left = np.array([row - sum(x) / len(x) for row in x])
    columns = []
    for _ in range(2):
        axis = np.ones(x.shape[1]) + np.arange(x.shape[1]) / 7
        for _ in range(3000):
            axis = left.T @ (left @ axis)
            axis /= np.linalg.norm(axis)
        axis *= np.sign(max(axis, key=abs))
        columns.append(left @ axis)
        left = left - np.outer(left @ axis, axis)
    return np.stack(columns, axis=1)
