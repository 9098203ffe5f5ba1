"""Exemplar SVMs: one window against all negatives, for many windows at once.

Paper: section 3 through Vezhnevets & Ferrari 2014, which builds on Malisiewicz et al.
2011; C = 0.01 and a positive weight of 50 are the values of the latter's public code.

For exemplar e with feature x_e and shared negatives z_j

    min  1/2 |w|² + 50 C max(0, 1 - w x_e - b) + C sum_j max(0, 1 + w z_j + b)

with a bias that is not regularised (an appended constant feature would be, and would
need three times as many negatives at their bound to reach b = -1). Solved in the dual,
where w_e = a_e x_e - sum_j beta_ej z_j, on the Gram matrix of the negatives, which all
exemplars share, and the exemplar's row of products with them: D does not occur.

The search starts where most solutions lie nearby: with 50 negatives at their bound,
those nearest to the exemplar once the mean negative is taken away. (Without a positive
the solution is w = 0: it is no help as a start.) It ends when the optimality conditions
hold to `tolerance`, in units of the margin.

Departures: no mining rounds; all negatives take part from the beginning.
"""

import dataclasses

import numpy as np
from jaxtyping import Bool, Float, Float32, Int64

from belvedere.core.embedding import exemplar_svms_compiled
from belvedere.core.types import require_positive, require_range


@dataclasses.dataclass(frozen=True)
class SvmSettings:
    """C of a negative, how much more the positive weighs, and when to stop."""

    penalty: float = 0.01
    positive_weight: float = 50.0
    tolerance: float = 1e-4
    limit: int = 100_000

    def __post_init__(self) -> None:
        require_positive(self, ("penalty", "positive_weight", "tolerance"))
        require_range(self, ("limit",), 1)


@dataclasses.dataclass(frozen=True, eq=False)
class ExemplarSvms:
    """w_e = positives_e x_e - negatives_e Z, and b_e.

    `gaps` are (primal - dual) / primal objective.
    """

    positives: Float[np.ndarray, "e"]
    negatives: Float[np.ndarray, "e m"]
    biases: Float[np.ndarray, "e"]
    gaps: Float[np.ndarray, "e"]
    steps: Int64[np.ndarray, "e"]
    penalty: float

    def at(self, some: Int64[np.ndarray, "k"]) -> "ExemplarSvms":
        """Those of some exemplars."""
        return ExemplarSvms(
            self.positives[some],
            self.negatives[some],
            self.biases[some],
            self.gaps[some],
            self.steps[some],
            self.penalty,
        )

    @property
    def at_bound(self) -> float:
        """Share of the negatives' support vectors that are at their bound."""
        support = int(np.count_nonzero(self.negatives))
        return np.count_nonzero(self.negatives == self.penalty) / max(support, 1)

    @property
    def support(self) -> float:
        """Support vectors among the negatives, mean over exemplars."""
        return float(np.count_nonzero(self.negatives) / len(self.negatives))

    @property
    def worst_gap(self) -> float:
        return float(self.gaps.max())


def fit(
    gram: Float32[np.ndarray, "m m"],
    cross: Float32[np.ndarray, "e m"],
    norms: Float[np.ndarray, "e"],
    allowed: Bool[np.ndarray, "e m"],
    settings: SvmSettings,
) -> ExemplarSvms:
    """Trains all exemplar SVMs of one feature type.

    Args:
      gram: products of negatives with negatives.
      cross: products of exemplars with negatives.
      norms: products of exemplars with themselves.
      allowed: False where a negative comes from the exemplar's own image.
      settings: of the SVMs.
    """
    if len(cross) == 0:
        raise ValueError("there are no exemplars, wanted at least one")
    lonely = np.flatnonzero(~allowed.any(axis=1))
    if len(lonely):
        raise ValueError(f"exemplar {lonely[0]} has no negative from another image")
    positives, solutions, biases, left, primal, dual, steps = (
        exemplar_svms_compiled.solve(
            gram,
            cross,
            norms.astype(np.float64),
            allowed,
            _nearest(gram, cross, allowed, settings),
            settings.penalty,
            settings.positive_weight,
            settings.tolerance,
            settings.limit,
        )
    )
    if left.max() > settings.tolerance:
        raise RuntimeError(
            f"exemplar {left.argmax()} misses optimality by {left.max():.2g} after "
            f"{settings.limit} steps, wanted {settings.tolerance:.2g}"
        )
    gaps = (primal - dual) / np.maximum(primal, np.finfo(float).tiny)
    return ExemplarSvms(positives, -solutions, biases, gaps, steps, settings.penalty)


def _nearest(
    gram: Float32[np.ndarray, "m m"],
    cross: Float32[np.ndarray, "e m"],
    allowed: Bool[np.ndarray, "e m"],
    settings: SvmSettings,
) -> Int64[np.ndarray, "e k"]:
    count = min(int(settings.positive_weight), len(gram))
    nearness = np.where(allowed, cross - gram.mean(axis=0), -np.inf)
    return np.argsort(-nearness, axis=1, kind="stable")[:, :count].astype(np.int64)
