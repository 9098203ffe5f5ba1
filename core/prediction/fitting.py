"""Learning the kernel: lengthscales, signal and noise, jointly for three relations.

Inducing points are k-means centres and stay where they are; the logarithms of the
parameters are moved by L-BFGS-B on the collapsed bound, a few evaluations only.

Paper: section 3, K(x, x') is learned so that windows alike in appearance are alike in
their relation to the object; one kernel and one set of inducing points for all three.
Departures: the paper refers to another for the learning. Chosen here: the sum of the
relations' bounds (or that of overlap alone, `learn_from`), zero mean without centring
the targets, lengthscales that begin at sqrt(Q) deviations (at one deviation the kernel
vanishes in 54 dimensions and nothing moves).

The same bytes in the same order give the same bytes out, for a given number of threads
of torch and BLAS; neither is set here, the caller decides.
"""

import dataclasses
from typing import Literal, TypeAlias

import numpy as np
import scipy.optimize
from jaxtyping import Float, Int64

from belvedere.core.prediction import conditioning, inducing_points
from belvedere.core.prediction.collapsed_bound import CollapsedBound
from belvedere.core.prediction.conditioning import SparsePrior
from belvedere.core.prediction.relation_gp import RelationGP
from belvedere.core.prediction.variational_bound import VariationalBound
from belvedere.core.types import require_positive, require_range

Bound: TypeAlias = VariationalBound | CollapsedBound
_RANGE = np.log(1e3)  # how far lengthscales and variances may leave their start
_NOISE_SHARE = 0.1  # of the signal variance, at the start


@dataclasses.dataclass(frozen=True)
class GPSettings:
    """How a Gaussian process is fitted.

    Attributes:
      objective: the bound that is maximised, and the approximation that predicts.
      inducing: number of inducing points, at most.
      evaluations: of the objective, at most; the first is the starting point.
      noise_floor: smallest variance of noise and signal, in squared relations.
      learn_from: the relations the kernel is learned from; weights are for all three.
    """

    objective: conditioning.Objective = "variational"
    inducing: int = 300
    evaluations: int = 20
    noise_floor: float = 1e-6
    learn_from: Literal["all", "overlap"] = "all"

    def __post_init__(self) -> None:
        if self.objective not in ("variational", "fitc"):
            raise ValueError(
                f"objective {self.objective!r}, wanted variational or fitc"
            )
        if self.learn_from not in ("all", "overlap"):
            raise ValueError(f"learn_from {self.learn_from!r}, wanted all or overlap")
        require_range(self, ("inducing", "evaluations"), 1)
        require_positive(self, ("noise_floor",))

    @property
    def needs_torch(self) -> bool:
        """Whether the fit differentiates automatically; by default it does not."""
        return self.objective != "variational"


@dataclasses.dataclass(frozen=True, eq=False)
class FitResult:
    """A fitted Gaussian process and how the fit went.

    Attributes:
      gp: has seen all windows.
      bound_before: log bound in nats at the starting point.
      bound_after: at the parameters kept, the best that were seen.
      evaluations: of the bound and its gradient.
      jitter: on the inducing kernel's diagonal, relative to the signal variance.
      converged: the optimiser ended by itself and not for want of evaluations.
    """

    gp: RelationGP
    bound_before: float
    bound_after: float
    evaluations: int
    jitter: float
    converged: bool


def fit(
    x: Float[np.ndarray, "n Q"],
    targets: Float[np.ndarray, "3 n"],
    settings: GPSettings,
    rng: np.random.Generator,
) -> FitResult:
    """Learns the kernel, then the weights of the three relations.

    Args:
      x: features of the training windows.
      targets: their relations to the object: overlap, part, container.
      settings: see there.
      rng: seeds the choice of inducing points.
    """
    conditioning.require_windows(x, targets)
    x, targets = x.astype(np.float64), targets.astype(np.float64)
    learned = targets if settings.learn_from == "all" else targets[:1]
    start = initial_parameters(x, learned, settings.noise_floor)
    centres = inducing_points.choose(x, np.exp(start[:-2]), settings.inducing, rng)
    bound = _bound(x, learned, centres, settings.objective)
    ascent = _Ascent(bound, learned.size, settings.evaluations)
    ascent.run(start, settings.noise_floor)
    prior = SparsePrior(
        inducing=centres,
        lengthscales=np.exp(ascent.best[:-2]),
        signal_variance=float(np.exp(ascent.best[-2])),
        noise_variance=float(np.exp(ascent.best[-1])),
        objective=settings.objective,
    )
    return FitResult(
        gp=conditioning.condition(prior, x, targets),
        bound_before=ascent.bounds[0],
        bound_after=max(ascent.bounds),
        evaluations=len(ascent.bounds),
        jitter=conditioning.cholesky(prior)[1],
        converged=ascent.converged,
    )


def fit_without(
    x: Float[np.ndarray, "n Q"],
    targets: Float[np.ndarray, "3 n"],
    folds: Int64[np.ndarray, "n"],
    settings: GPSettings,
    seed: int,
) -> dict[int, RelationGP]:
    """For each fold the Gaussian process that knows nothing of its windows.

    Kernel, inducing points and noise are learned again: those that have seen the
    windows of a small class predict them better than they will predict others. With as
    many evaluations as in `fit`: the longer a kernel is learned the wider it becomes,
    and alpha would be learned for other similarities than it meets.

    Args:
      x: features of the training windows.
      targets: their relations.
      folds: number of the fold of each window; those of one image must share one.
      settings: see there.
      seed: of the choice of inducing points.

    Returns:
      Fold number -> Gaussian process, in the order of the numbers.
    """
    if folds.shape != (len(x),):
        raise ValueError(f"folds have shape {folds.shape}, wanted ({len(x)},)")
    numbers = np.unique(folds).tolist()
    if len(numbers) < 2:
        raise ValueError(f"the windows are in folds {numbers}, wanted at least two")
    return {
        k: fit(
            x[folds != k], targets[:, folds != k], settings, np.random.default_rng(seed)
        ).gp
        for k in numbers
    }


def initial_parameters(
    x: Float[np.ndarray, "n Q"], targets: Float[np.ndarray, "T n"], floor: float
) -> Float[np.ndarray, "Q+2"]:
    """(log ell_1..Q, log sf2, log sn2) to start from.

    A constant column gets lengthscale 1; its gradient is zero and it stays there.
    Variances are about zero, since the mean is zero, and not below `floor`.
    """
    # max == min, as the deviation of equal numbers need not round to zero
    constant = x.max(axis=0) == x.min(axis=0)
    with np.errstate(over="ignore"):
        lengthscales = np.where(constant, 1.0, np.sqrt(x.shape[1]) * x.std(axis=0))
    if not ((lengthscales > 0) & (lengthscales < np.inf)).all():
        raise ValueError(f"columns vary by {lengthscales}, too little or too much")
    signal = max(float(np.square(targets).mean()), floor)
    noise = max(_NOISE_SHARE * signal, floor)
    return np.log(np.r_[lengthscales, signal, noise])


def _bound(
    x: Float[np.ndarray, "n Q"],
    targets: Float[np.ndarray, "T n"],
    inducing: Float[np.ndarray, "M Q"],
    objective: conditioning.Objective,
) -> Bound:
    """The objective, by the fastest way there is."""
    if objective == "variational":
        return VariationalBound(x, targets, inducing)
    return CollapsedBound(x, targets, inducing, objective)


class _SpentError(Exception):
    """The evaluations are used up."""


class _Ascent:
    """Maximises a bound within a number of evaluations and keeps the best point.

    scipy looks at its own limit between line searches only, so it is enforced here.
    """

    def __init__(self, bound: Bound, observations: int, limit: int) -> None:
        self._bound, self._observations, self._limit = bound, observations, limit
        self.bounds: list[float] = []
        self.best = np.empty(0)
        self.converged = False

    def run(self, start: Float[np.ndarray, "parameters"], floor: float) -> None:
        low, high = start - _RANGE, start + _RANGE
        low[-2:] = np.log(floor)
        try:
            result = scipy.optimize.minimize(
                self._loss,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=scipy.optimize.Bounds(low, high),
            )
            self.converged = bool(result.success)
        except _SpentError:
            pass

    def _loss(
        self, theta: Float[np.ndarray, "parameters"]
    ) -> tuple[float, Float[np.ndarray, "parameters"]]:
        """Minus the bound, in nats an observation: steps do not grow with the data."""
        if len(self.bounds) == self._limit:
            raise _SpentError
        bound, gradient = self._bound.value_and_gradient(theta)
        if not self.bounds or bound > max(self.bounds):
            self.best = theta.copy()
        self.bounds.append(bound)
        return -bound / self._observations, -gradient / self._observations
