"""Slow, obvious twins of what the report computes."""

import scipy.stats


def interval_of_mean(values):
    """95% interval of the mean by Student's t."""
    return scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)


def group_means(values, belongs):
    """Mean of the values of each group, by its key, in a plain loop."""
    groups = {}
    for value, key in zip(values, belongs, strict=True):
        groups.setdefault(key, []).append(value)
    return {key: sum(members) / len(members) for key, members in groups.items()}
