"""Slow, obvious twins of what the report computes."""

import numpy as np
import scipy.stats


def mean_of_returned(ious, scores, fraction):
    """Mean IoU of the pictures with the highest scores, at least this share of them.

    Pictures with the score of the last one are returned with it.
    """
    order = sorted(range(len(ious)), key=lambda i: -scores[i])
    wanted = int(np.ceil(fraction * len(ious) - 1e-9))
    last = scores[order[wanted - 1]]
    return float(np.mean([ious[i] for i in order if scores[i] >= last]))


def interval_of_mean(values):
    """95% interval of the mean by Student's t."""
    return scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)


def group_means(values, belongs):
    """Mean of the values of each group, by its key, in a plain loop."""
    groups = {}
    for value, key in zip(values, belongs, strict=True):
        groups.setdefault(key, []).append(value)
    return {key: sum(members) / len(members) for key, members in groups.items()}
