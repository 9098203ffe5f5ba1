"""The bounds of the exact search in plain float64 numpy, for its independent checker.

`bounds_compiled` says what they are and computes them fast; nothing of it is used here
but the size of a block.
"""

from typing import Protocol, runtime_checkable

import numpy as np

from belvedere.core.context import bounds_compiled


@runtime_checkable
class Bounds(Protocol):
    """Bounds of f(a) = sum_{i<j} K_ij |a_i - a_j|."""

    def above(self, a: np.ndarray) -> float: ...

    def below(self, a: np.ndarray) -> float: ...


class AllPairs:
    """f(a) itself."""

    def __init__(self, kernel: np.ndarray) -> None:
        self.kernel = kernel

    def above(self, a: np.ndarray) -> float:
        return float((np.abs(a[:, None] - a[None, :]) * self.kernel).sum() / 2)

    def below(self, a: np.ndarray) -> float:
        return self.above(a)


class Levels:
    """f_u by sorting the values: exact."""

    def __init__(self, u: np.ndarray) -> None:
        self.u = u

    def above(self, a: np.ndarray) -> float:
        order = np.argsort(a)
        value, weight = a[order], self.u[order]
        below = np.cumsum(weight) - weight
        moment = np.cumsum(weight * value) - weight * value
        return float((weight * value * below - weight * moment).sum())

    def below(self, a: np.ndarray) -> float:
        return self.above(a)


class Moments:
    """f_u by Cauchy and Schwarz from above, by nothing from below."""

    def __init__(self, u: np.ndarray) -> None:
        self.u = u

    def above(self, a: np.ndarray) -> float:
        total = self.u.sum()
        spread = total * (self.u @ a**2) - (self.u @ a) ** 2
        return float(total * np.sqrt(max(spread, 0) / 2))

    def below(self, a: np.ndarray) -> float:
        return 0.0


class Sum:
    """Bounds of f_u and of f_rest, of the latter the best."""

    def __init__(self, common: Bounds, *rest: Bounds) -> None:
        self.common = common
        self.rest = rest

    def above(self, a: np.ndarray) -> float:
        return self.common.above(a) + min(one.above(a) for one in self.rest)

    def below(self, a: np.ndarray) -> float:
        return self.common.below(a) + max(one.below(a) for one in self.rest)


class RowSums:
    """sum_i |a_i - c| r_i from above, a subgradient from below."""

    def __init__(self, kernel: np.ndarray, reference: np.ndarray) -> None:
        self.rows = kernel.sum(1)
        self.gradients = [
            (kernel * np.sign(b[:, None] - b[None, :])).sum(1) for b in reference
        ]

    def above(self, a: np.ndarray) -> float:
        mean = (a @ self.rows) / max(self.rows.sum(), 1e-300)
        return float(min(np.abs(a - c) @ self.rows for c in (0, 1, mean)))

    def below(self, a: np.ndarray) -> float:
        return float(max(0, *(a @ g for g in self.gradients)))


class BlockSums:
    """The same, with one c for each pair of blocks.

    Of values rounded to float32, as the search saw them: which are equal decides which
    blocks interleave. Rounding moves f by 2^-25 times the sum of K at most.
    """

    def __init__(self, kernel: np.ndarray, order: np.ndarray) -> None:
        self.order = order
        real = np.arange(len(order)) < len(kernel)  # the rest fills up the last block
        permuted = kernel[np.ix_(order, order)] * real[:, None] * real[None, :]
        blocks = len(order) // bounds_compiled.BLOCK
        self.sums = permuted.reshape(len(order), blocks, -1).sum(2)
        self.sums = self.sums.reshape(blocks, -1, blocks)  # [A, i in A, B]
        self.mass = self.sums.sum(1)
        self.shift = 2.0**-25 * kernel.sum()

    def _moments(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rounded = a.astype(np.float32).astype(np.float64)
        values = rounded[self.order].reshape(len(self.mass), -1)
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
        return float(np.triu(shares, 1).sum() + loose.trace() + self.shift)

    def below(self, a: np.ndarray) -> float:
        _, moments = self._moments(a)
        return float(np.triu(np.abs(moments - moments.T), 1).sum() - self.shift)
