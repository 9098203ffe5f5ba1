"""Structured SVM with one slack per image, by constraint generation.

With d(y) = joint(y) - joint(truth), solves over alpha and xi >= 0

    min 1/2 ||alpha||² + γ · sum_i xi_i
    s.t. loss_i(y) + <alpha, d_i(y)> <= xi_i   for every image i, every wrong answer y

that is, margin rescaling without bias. The learner asks its problem for three things
only: joint features, losses and the loss-augmented argmax.

Paper: section 4, "Learning alpha with structured output regression".
Departures: none in the problem; the paper leaves open eps (here 1e-3), the solver
(clarabel) and γ (see `learning`).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int64
from scipy import sparse

_NEARLY_BINDING = 0.05  # losses lie in [0, 1]
_ACTIVE = 1e-6  # of the largest multiplier
_SOLVER = 1e-6  # of 1 + primal: what the QP solver may add to the gap
_SOLVED = ("Solved", "AlmostSolved")  # how nearly, `Solution.converged` tells


class Violations(NamedTuple):
    """The wrong answer of each image with the largest loss + score.

    An image without any wrong answer says (-1, its truth, -inf).
    """

    answers: Int64[np.ndarray, " n"]
    joints: Float[np.ndarray, "n P"]
    losses: Float[np.ndarray, " n"]


@runtime_checkable
class Problem(Protocol):
    """What the learner asks."""

    def __len__(self) -> int: ...

    def truth(self, i: int) -> Float[np.ndarray, " P"]:
        """Joint feature of the right answer."""

    def most_violated(self, alpha: Float[np.ndarray, " P"]) -> Violations:
        """Exact argmax over the wrong answers y of loss(y) + <alpha, joint(y)>."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """How far to go.

    Args:
      eps: a constraint counts as violated when it exceeds its image's slack by more.
      passes: over all images, at most; where they do not suffice, the solution says so.
      tolerance: of the QP solver, on gap and feasibility.
    """

    eps: float = 1e-3
    passes: int = 100
    tolerance: float = 1e-8

    def __post_init__(self) -> None:
        if not (self.eps > 0 and self.passes > 0 and self.tolerance > 0):
            raise ValueError(f"{self} must hold positive numbers")


class ActiveConstraint(NamedTuple):
    """A constraint that holds alpha in place: alpha = -sum multiplier · d."""

    image: int
    answer: int
    multiplier: float


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """alpha with its proof.

    `primal` counts all constraints, found or not; `dual` is the value of feasible
    multipliers, hence a lower bound of the optimum. `converged` says that no constraint
    is violated by more than eps and the gap is at most n · gamma · eps, plus 1e-6 of
    the primal for the QP solver.
    """

    alpha: Float[np.ndarray, " P"]
    gamma: float
    primal: float
    dual: float
    slacks: Float[np.ndarray, " n"]
    active: tuple[ActiveConstraint, ...]
    passes: int
    converged: bool

    @property
    def gap(self) -> float:
        return self.primal - self.dual


@dataclasses.dataclass(frozen=True, eq=False)
class _Constraints:
    """The working set: rows loss + <alpha, d> <= slack of the image."""

    images: Int64[np.ndarray, " m"]
    answers: Int64[np.ndarray, " m"]
    differences: Float[np.ndarray, "m P"]
    losses: Float[np.ndarray, " m"]

    def __len__(self) -> int:
        return len(self.images)

    def hinges(self, alpha: Float[np.ndarray, " P"]) -> Float[np.ndarray, " m"]:
        return self.losses + self.differences @ alpha

    def slacks(self, alpha: Float[np.ndarray, " P"], n: int) -> Float[np.ndarray, " n"]:
        slacks = np.zeros(n)
        np.maximum.at(slacks, self.images, self.hinges(alpha))
        return slacks

    def where(self, kept: Bool[np.ndarray, " m"]) -> "_Constraints":
        return _Constraints(*(column[kept] for column in self._columns()))

    def extended(self, more: "_Constraints") -> "_Constraints":
        pairs = zip(self._columns(), more._columns(), strict=True)
        return _Constraints(*(np.concatenate(pair) for pair in pairs))

    def _columns(self) -> tuple[np.ndarray, ...]:
        return self.images, self.answers, self.differences, self.losses


def solve(problem: Problem, gamma: float, settings: Settings | None = None) -> Solution:
    """The weights alpha for one trade-off gamma."""
    return solve_path(problem, (gamma,), settings)[0]


def solve_path(
    problem: Problem, gammas: Sequence[float], settings: Settings | None = None
) -> list[Solution]:
    """A solution for each gamma in turn.

    A constraint found for one gamma is one for the next: those that nearly bind are
    handed on, which saves most passes.
    """
    if len(problem) == 0:
        raise ValueError("a structured SVM needs at least one training image")
    if not all(0 < gamma < np.inf for gamma in gammas):
        raise ValueError(f"gammas {gammas} must be positive and finite")
    truths = np.stack([problem.truth(i) for i in range(len(problem))])
    known = _no_constraints(truths.shape[1])
    solutions = []
    for gamma in gammas:
        solution, known = _generate(
            problem, truths, gamma, known, settings or Settings()
        )
        solutions.append(solution)
        distance = solution.slacks[known.images] - known.hinges(solution.alpha)
        known = known.where(distance < _NEARLY_BINDING)
    return solutions


def _generate(
    problem: Problem,
    truths: Float[np.ndarray, "n P"],
    gamma: float,
    known: _Constraints,
    settings: Settings,
) -> tuple[Solution, _Constraints]:
    """Alternates the QP over the known constraints and the search for violated ones."""
    for passes in range(1, settings.passes + 1):
        alpha, multipliers = _solve_qp(known, gamma, settings.tolerance)
        found = _most_violated(problem, truths, alpha)
        excess = found.hinges(alpha) - known.slacks(alpha, len(truths))
        new = found.where(excess > settings.eps)
        if len(new) == 0 or passes == settings.passes:
            break
        known = known.extended(new)
    slacks = np.maximum(found.hinges(alpha), 0)
    primal = float(alpha @ alpha / 2 + gamma * slacks.sum())
    dual = _dual(known, multipliers)
    promise = len(truths) * gamma * settings.eps + _SOLVER * (1 + primal)
    solution = Solution(
        alpha=alpha,
        gamma=gamma,
        primal=primal,
        dual=dual,
        slacks=slacks,
        active=_active(known, multipliers),
        passes=passes,
        converged=len(new) == 0 and primal - dual <= promise,
    )
    return solution, known


def _most_violated(
    problem: Problem, truths: Float[np.ndarray, "n P"], alpha: Float[np.ndarray, " P"]
) -> _Constraints:
    """The most violated constraint of each image, row i for image i."""
    worst = problem.most_violated(alpha)
    images = np.arange(len(truths))
    return _Constraints(images, worst.answers, worst.joints - truths, worst.losses)


def _no_constraints(p: int) -> _Constraints:
    none = np.zeros(0, np.int64)
    return _Constraints(none, none, np.zeros((0, p)), np.zeros(0))


def _solve_qp(
    known: _Constraints, gamma: float, tolerance: float
) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " m"]]:
    """alpha and feasible multipliers of the problem over the known constraints.

    The primal, with P variables and a slack for each image that has a constraint, is
    solved faster than the dual over the constraints.
    """
    m, p = known.differences.shape
    if m == 0:
        return np.zeros(p), np.zeros(0)
    import clarabel

    images, image = np.unique(known.images, return_inverse=True)
    n = len(images)
    # x = (alpha, xi):  d·alpha - xi + s = -loss,  -xi + s = 0,  s >= 0
    chosen = sparse.csc_array((np.full(m, -1.0), (np.arange(m), image)), (m, n))
    rows = sparse.block_array(
        [[sparse.csc_array(known.differences), chosen], [None, -sparse.eye_array(n)]]
    )
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags_array(np.repeat([1.0, 0.0], [p, n]))),
        np.repeat([0.0, gamma], [p, n]),
        sparse.csc_matrix(rows),
        np.concatenate([-known.losses, np.zeros(n)]),
        [clarabel.NonnegativeConeT(m + n)],
        _solver_settings(clarabel.DefaultSettings(), tolerance),
    )
    found = solver.solve()
    if str(found.status) not in _SOLVED:
        raise ArithmeticError(f"the QP of {m} constraints is {found.status}")
    # Feasible: not negative, and at most gamma in all for an image.
    multipliers = np.maximum(np.array(found.z[:m]), 0)
    total = np.bincount(image, multipliers)[image]
    return np.array(found.x[:p]), multipliers * (gamma / np.maximum(total, gamma))


def _solver_settings(settings: Any, tolerance: float) -> Any:
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return settings


def _dual(known: _Constraints, multipliers: Float[np.ndarray, " m"]) -> float:
    """sum_k beta_k loss_k - 1/2 ||sum_k beta_k d_k||²."""
    pull = multipliers @ known.differences
    return float(multipliers @ known.losses - pull @ pull / 2)


def _active(
    known: _Constraints, multipliers: Float[np.ndarray, " m"]
) -> tuple[ActiveConstraint, ...]:
    """Constraints whose multiplier is above the solver's noise."""
    rows = np.flatnonzero(multipliers > _ACTIVE * multipliers.max(initial=0))
    columns = (known.images[rows], known.answers[rows], multipliers[rows])
    return tuple(
        ActiveConstraint(int(image), int(answer), float(multiplier))
        for image, answer, multiplier in zip(*columns, strict=True)
    )
