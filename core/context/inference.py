"""Which window is the object: the exact argmax of the score over all windows.

Paper: section 4.1. The score is E(l) = <weights, Phi(l)> + extra(l): `weights` are
alpha divided by the scale of each hyper-feature, `extra` is zero when localizing; where
it is the loss Delta(l, l*), the answer is the most violated constraint of learning. A
window whose extra is -inf is left out. Equal scores go to the lowest window number.

Three ways to the same answer:
  brute_force   scores every window;
  early_reject  the paper's queue, ordered by one constant bound on phi_G;
  search        our search, with bounds that differ from window to window.
All three call the one routine that defines the score, so they agree to the last bit.

Departures: the paper's constant bound hardly rejects anything once alpha is learned
(phi_G is a small part of it), so `search` tightens bounds in stages; see
`bounds_compiled` for what they are and `certificate` for how the answer is checked.
Learning does not search: it has the hyper-features of all windows anyway (`problems`).
"""

import dataclasses

import numpy as np
from jaxtyping import Float, Int64

from belvedere.core.context import (
    early_rejection_compiled,
    hyperfeatures,
    hyperfeatures_compiled,
    search_compiled,
)
from belvedere.core.context.certificate import Certificate
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import Context, P, R, require_shape


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """The best window, the second best, and how that is known.

    `runner_up` is -1 and its score -inf where there is no second window.
    """

    window: int
    score: float
    hyperfeatures: Float[np.ndarray, "P"]
    runner_up: int
    runner_up_score: float
    certificate: Certificate


def search(
    context: Context,
    weights: Float[np.ndarray, "P"],
    extra: Float[np.ndarray, "N"] | None = None,
    consistency: Consistency = Consistency.MAX,
    wanted: int = 2,
) -> Found:
    """The best window, and with `wanted` 2 the second best, by best-first search."""
    extra = _checked(context, weights, extra)
    reference = int(context.mean[0].argmax())
    windows, scores, bound, stage, order, u, phi = search_compiled.search(
        *_compiled(context, consistency), weights, extra, reference, wanted
    )
    certificate = Certificate.made(
        bound, stage, order, u, _relations_to(context, reference), windows, scores
    )
    second = (int(windows[1]), float(scores[1])) if wanted > 1 else (-1, -np.inf)
    return Found(
        int(windows[0]), float(scores[0]), phi[windows[0]], *second, certificate
    )


def brute_force(
    context: Context,
    weights: Float[np.ndarray, "P"],
    extra: Float[np.ndarray, "N"] | None = None,
    consistency: Consistency = Consistency.MAX,
) -> Float[np.ndarray, "N"]:
    """The score of every window; its argmax is the answer."""
    extra = _checked(context, weights, extra)
    phi = hyperfeatures.of_all(context, consistency)
    return np.array(
        [
            hyperfeatures_compiled.score(row, weights, one)
            for row, one in zip(phi, extra, strict=True)
        ]
    )


def scores(
    context: Context,
    windows: Int64[np.ndarray, "k"],
    weights: Float[np.ndarray, "P"],
    consistency: Consistency = Consistency.MAX,
) -> Float[np.ndarray, "k"]:
    """The scores of some windows, to the bit as the search has them."""
    require_shape("weights", weights, P)
    return np.array(
        [
            hyperfeatures_compiled.score(
                hyperfeatures.of_window(context, int(l), consistency), weights, 0.0
            )
            for l in windows
        ]
    )


def early_reject(
    context: Context,
    weights: Float[np.ndarray, "P"],
    extra: Float[np.ndarray, "N"] | None = None,
    consistency: Consistency = Consistency.MAX,
) -> tuple[int, float, int]:
    """The paper's queue: best window, its score, how many windows were scored."""
    extra = _checked(context, weights, extra)
    window, score, evaluated = early_rejection_compiled.early_reject(
        *_compiled(context, consistency), weights, extra
    )
    return int(window), float(score), int(evaluated)


def _relations_to(context: Context, window: int) -> np.ndarray:
    """The relations to a window, to the bit as the search has them."""
    rho = np.empty((R, len(context)))
    geometry = hyperfeatures.geometry(context)
    hyperfeatures_compiled.relations_to(geometry, window, rho)
    return rho


def _compiled(context: Context, consistency: Consistency) -> tuple:
    """A context as the compiled routines take it."""
    by_mean = consistency is Consistency.MEAN
    geometry = hyperfeatures.geometry(context)
    return geometry, context.kernel, context.mean, context.std, by_mean


def _checked(
    context: Context, weights: np.ndarray, extra: np.ndarray | None
) -> np.ndarray:
    require_shape("weights", weights, P)
    if not hyperfeatures_compiled.is_similarity(context.kernel):
        raise ValueError("the kernel must be symmetric and have no negative entry")
    if extra is None:
        return np.zeros(len(context))
    if extra.shape != (len(context),):
        raise ValueError(f"extra has shape {extra.shape}, wanted ({len(context)},)")
    if np.isnan(extra).any() or (extra == np.inf).any():
        raise ValueError("extra must be finite, or -inf to leave a window out")
    if (extra == -np.inf).all():
        raise ValueError("every window is left out: there is nothing to find")
    return extra
