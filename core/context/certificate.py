"""Why the window returned by the search is the best one, and an independent check.

A certificate says how far each window was followed. `check` recomputes, in plain
float64 numpy and without the compiled routines, the exact scores of the windows that
were scored and the bound of each that was not, and confirms that none of them can win.
"""

import dataclasses
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int, Int8

from belvedere.core.context import bounds_compiled, search_compiled
from belvedere.core.context.hyperfeatures import Consistency
from belvedere.core.types import Context
from belvedere.core.windows import relations

STAGES = ("excluded", "rows", "blocks", "single", "exact")
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
      reference: the window whose subgradient bounds negative weights.
    """

    windows: Int[np.ndarray, "W"]
    scores: Float[np.ndarray, "W"]
    evaluated: int
    bound_left: float
    stage_left: str
    stages: Int8[np.ndarray, "N"]
    order: Int[np.ndarray, "K"]
    reference: int

    @classmethod
    def made(
        cls,
        bound: Float[np.ndarray, "N"],
        stages: Int8[np.ndarray, "N"],
        order: Int[np.ndarray, "K"],
        reference: int,
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
    sums: dict[str, _Bounds] = {
        "rows": _RowSums(context, kernel, certificate.reference),
        "blocks": _BlockSums(kernel, certificate.order),
        "single": _AllPairs(kernel),
        "exact": _AllPairs(kernel),
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


class _Bounds(Protocol):
    """Bounds of f(a) = sum_{i<j} K_ij |a_i - a_j|."""

    def above(self, a: np.ndarray) -> float: ...

    def below(self, a: np.ndarray) -> float: ...


class _AllPairs:
    """f(a) itself."""

    def __init__(self, kernel: np.ndarray) -> None:
        self.kernel = kernel

    def above(self, a: np.ndarray) -> float:
        return float((np.abs(a[:, None] - a[None, :]) * self.kernel).sum() / 2)

    def below(self, a: np.ndarray) -> float:
        return self.above(a)


class _RowSums:
    """sum_i |a_i - c| r_i from above, a subgradient from below."""

    def __init__(self, context: Context, kernel: np.ndarray, reference: int) -> None:
        self.rows = kernel.sum(1)
        boxes = context.boxes
        at = relations.pairwise(boxes, boxes[reference : reference + 1])[:, :, 0]
        self.gradients = [
            (kernel * np.sign(b[:, None] - b[None, :])).sum(1) for b in at
        ]

    def above(self, a: np.ndarray) -> float:
        mean = (a @ self.rows) / max(self.rows.sum(), 1e-300)
        return float(min(np.abs(a - c) @ self.rows for c in (0, 1, mean)))

    def below(self, a: np.ndarray) -> float:
        return float(max(0, *(a @ g for g in self.gradients)))


class _BlockSums:
    """The same, with one c for each pair of blocks."""

    def __init__(self, kernel: np.ndarray, order: np.ndarray) -> None:
        self.order = order
        real = np.arange(len(order)) < len(kernel)  # the rest fills up the last block
        permuted = kernel[np.ix_(order, order)] * real[:, None] * real[None, :]
        blocks = len(order) // bounds_compiled.BLOCK
        self.sums = permuted.reshape(len(order), blocks, -1).sum(2)
        self.sums = self.sums.reshape(blocks, -1, blocks)  # [A, i in A, B]
        self.mass = self.sums.sum(1)

    def _moments(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = a[self.order].reshape(len(self.mass), -1)
        return values, np.einsum("ai,aib->ab", values, self.sums)

    def above(self, a: np.ndarray) -> float:
        values, moments = self._moments(a)
        both = np.maximum(self.mass + self.mass.T, 1e-300)
        centre = (moments + moments.T) / both
        spread = np.abs(values[:, :, None] - centre[:, None, :])
        loose = np.einsum("aib,aib->ab", spread, self.sums)
        low, high = values.min(1), values.max(1)
        apart = (low[:, None] >= high[None, :]) | (low[None, :] >= high[:, None])
        np.fill_diagonal(apart, False)
        shares = np.where(apart, np.abs(moments - moments.T), loose + loose.T)
        return float(np.triu(shares, 1).sum() + loose.trace())

    def below(self, a: np.ndarray) -> float:
        _, moments = self._moments(a)
        return float(np.triu(np.abs(moments - moments.T), 1).sum())
