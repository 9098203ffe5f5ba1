"""The comparison of methods on the same images, as `metrics.json` holds it."""

from collections.abc import Mapping

import numpy as np

from belvedere.core.assessment import evaluation, intervals
from belvedere.core.assessment.evaluation import Outcome


def compare(
    outcomes: Mapping[str, Outcome],
    rng: np.random.Generator,
    reference: str = "full",
    resamples: int = 2000,
) -> dict[str, dict[str, dict]]:
    """Figures of each method, and intervals of the reference minus each other one.

    All pairs are judged on the same draws of images, so that an interval depends
    neither on the order nor on the number of methods.

    Args:
      outcomes: by name of the method, of the same images in the same order.
      rng: seeds the draws.
      reference: the method the others are compared with.
      resamples: how many draws.
    """
    if reference not in outcomes:
        raise ValueError(f"{reference!r} is not among the methods {list(outcomes)}")
    seed = int(rng.integers(2**63))
    pairs = {
        f"{reference}-{name}": intervals.paired(
            outcomes[reference], outcome, np.random.default_rng(seed), resamples
        )
        for name, outcome in outcomes.items()
        if name != reference
    }
    return {
        "methods": {name: evaluation.figures(o) for name, o in outcomes.items()},
        "paired": {
            pair: {statistic: list(i) for statistic, i in found.items()}
            for pair, found in pairs.items()
        },
    }
