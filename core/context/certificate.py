"""Why the window returned by the search is the best one, and an independent check.

A certificate says how far each window was followed. `check` recomputes, in plain
float64 numpy and without the compiled routines, the exact scores of the windows that
were scored and the bound of each that was not, and confirms that none of them can win.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int, Int8

from belvedere.core.context import plain_bounds, search_compiled
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import Context
from belvedere.core.windows import relations

STAGES = ("excluded", "rows", "rank_one", "blocks", "single", "exact")
_TOLERANCE = 1e-9


@dataclasses.dataclass(frozen=True, eq=False)
class Certificate:
    """How the search knows its answer.

    Attributes:
      windows: best first, as many as were wanted and exist.
      scores: of these.
      evaluated: how many windows had their phi_G computed from all pairs.
      bound_left: the largest bound of the windows not scored in float64; -inf if none.
      stage_left: the stage which gave that bound.
      stages: what each window has reached, an index into STAGES.
      order: the windows block by block, as the block bounds used them.
      minorant: u with u_i u_j <= K_ij, which the bounds took out of K.
      reference: relations at which the subgradients for negative weights were taken;
        any would do.
    """

    windows: Int[np.ndarray, "W"]
    scores: Float[np.ndarray, "W"]
    evaluated: int
    bound_left: float
    stage_left: str
    stages: Int8[np.ndarray, "N"]
    order: Int[np.ndarray, "K"]
    minorant: Float[np.ndarray, "N"]
    reference: Float[np.ndarray, "3 N"]

    @classmethod
    def made(
        cls,
        bound: Float[np.ndarray, "N"],
        stages: Int8[np.ndarray, "N"],
        order: Int[np.ndarray, "K"],
        minorant: Float[np.ndarray, "N"],
        reference: Float[np.ndarray, "3 N"],
        windows: Int[np.ndarray, "W"],
        scores: Float[np.ndarray, "W"],
    ) -> "Certificate":
        """From what the compiled search returns."""
        left = int(bound.argmax())
        known = windows >= 0
        return cls(
            windows[known],
            scores[known],
            int((stages >= search_compiled.SINGLE).sum()),
            float(bound[left]),
            STAGES[stages[left]] if bound[left] > -np.inf else "none",
            stages,
            order,
            minorant,
            reference,
        )


def check(
    context: Context,
    weights: Float[np.ndarray, "P"],
    certificate: Certificate,
    extra: Float[np.ndarray, "N"] | None = None,
    consistency: Consistency = Consistency.MAX,
) -> None:
    """Raises ValueError unless the certificate proves its answer."""
    extra = np.zeros(len(context)) if extra is None else extra
    last = float(certificate.scores[-1])
    tolerance = _TOLERANCE * (1 + np.abs(weights).sum() + abs(last))
    claimed = dict(zip(certificate.windows.tolist(), certificate.scores, strict=True))
    for l, best in _possible(context, weights, certificate, extra, consistency):
        if l in claimed and abs(best - claimed[l]) > tolerance:
            raise ValueError(f"window {l} scores {best}, claimed is {claimed[l]}")
        if l not in claimed and best > last + tolerance:
            raise ValueError(f"window {l} may score {best}, above {last}")


def _possible(
    context: Context,
    weights: np.ndarray,
    certificate: Certificate,
    extra: np.ndarray,
    consistency: Consistency,
) -> Iterator[tuple[int, float]]:
    """For each window the largest score it can have, exact from stage `single` on."""
    kernel = context.kernel.astype(np.float64)
    np.fill_diagonal(kernel, 0)
    pairs = max(len(context) * (len(context) - 1) / 2, 1)
    u = certificate.minorant
    rest = kernel - np.outer(u, u)
    np.fill_diagonal(rest, 0)
    if (u < 0).any() or rest.min() < -_TOLERANCE:
        raise ValueError("the minorant is not below the kernel")
    rows = plain_bounds.RowSums(rest, certificate.reference)
    sums: dict[str, plain_bounds.Bounds] = {
        "rows": plain_bounds.Sum(plain_bounds.Moments(u), rows),
        "rank_one": plain_bounds.Sum(plain_bounds.Levels(u), rows),
        "blocks": plain_bounds.Sum(
            plain_bounds.Levels(u),
            rows,
            plain_bounds.BlockSums(rest, certificate.order),
        ),
        "single": plain_bounds.AllPairs(kernel),
        "exact": plain_bounds.AllPairs(kernel),
    }
    for l, stage in enumerate(certificate.stages):
        if STAGES[stage] == "excluded":
            if extra[l] != -np.inf:
                raise ValueError(f"window {l} was left out without leave")
            continue
        rho = relations.pairwise(context.boxes, context.boxes[l : l + 1])[:, :, 0]
        best = extra[l] + _without_global(context, weights, rho, l, consistency)
        for weight, values in zip(weights[:3] / pairs, rho, strict=True):
            if weight > 0:
                best += weight * sums[STAGES[stage]].above(values)
            elif weight < 0:
                best += weight * sums[STAGES[stage]].below(values)
        yield l, float(best)


def _without_global(
    context: Context,
    weights: np.ndarray,
    rho: np.ndarray,
    l: int,
    consistency: Consistency,
) -> float:
    similarity = context.kernel[:, l].astype(np.float64)
    apart = np.abs(rho - context.mean)
    agreed = apart.max(1) if consistency is Consistency.MAX else apart.mean(1)
    local = (np.abs(1 - rho) * similarity).mean(1)
    own = [context.mean[0, l], context.std[l]]
    return float(weights[3:] @ np.concatenate([local, agreed, own]))
