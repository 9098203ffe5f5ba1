"""Random and adversarial images as the search sees them, and weights for them."""

import numpy as np

from belvedere.core.types import Context
from belvedere.core.windows import relations

KERNELS = ("smooth", "noise", "identity", "rank_one", "ones", "tiny")
SIGNS = ("mixed", "positive", "negative", "zero", "global_only", "learned")


def boxes(rng: np.random.Generator, n: int, grid: int = 512) -> np.ndarray:
    """Windows on a grid of dyadic numbers, a tenth of them duplicates."""
    corners = np.sort(rng.integers(0, grid, (n, 2, 2)), axis=1).astype(np.float64)
    corners[:, 1] += 1
    result = corners.reshape(n, 4)
    if n > 4:
        result[rng.integers(0, n, n // 10)] = result[rng.integers(0, n, n // 10)]
    return result


def kernel(rng: np.random.Generator, windows: np.ndarray, kind: str) -> np.ndarray:
    """A symmetric, non-negative float32 matrix with ones on the diagonal."""
    n = len(windows)
    if kind == "identity":
        return np.eye(n, dtype=np.float32)
    if kind == "ones":
        return np.ones((n, n), np.float32)
    if kind == "rank_one":
        u = rng.uniform(0, 1, n)
        result = np.outer(u, u).astype(np.float32)
    elif kind == "noise":
        result = rng.uniform(0, 1, (n, n)).astype(np.float32)
        result = np.triu(result) + np.triu(result, 1).T
    else:
        features = windows / 512 @ rng.normal(size=(4, 8)) + rng.normal(
            scale=0.2, size=(n, 8)
        )
        gaps = ((features[:, None] - features[None]) ** 2).sum(-1)
        result = np.exp(-gaps * (60 if kind == "tiny" else 1)).astype(np.float32)
        result = np.triu(result) + np.triu(result, 1).T
    np.fill_diagonal(result, 1)
    return np.ascontiguousarray(result)


def context(rng: np.random.Generator, n: int, kind: str = "smooth") -> Context:
    """An image whose windows predict their relations to one of them, with noise."""
    windows = boxes(rng, n)
    thing = windows[rng.integers(n)][None]
    mean = 0.7 * relations.to_object(windows, thing) + rng.normal(0, 0.1, (3, n))
    std = rng.uniform(0.05, 0.3, n)
    if rng.uniform() < 0.3:  # dyadic numbers, so that equal scores are equal bits
        mean, std = np.round(mean * 8) / 8, np.round(std * 8) / 8
    return Context(windows, kernel(rng, windows, kind), mean, std)


def weights(rng: np.random.Generator, signs: str) -> np.ndarray:
    """Weights of the hyper-features under a sign pattern of phi_G."""
    if signs == "zero":
        return np.zeros(11)
    result = rng.normal(size=11) * np.exp(rng.normal(size=11))
    if signs == "positive":
        result[:3] = np.abs(result[:3]) * 5
    elif signs == "negative":
        result[:3] = -np.abs(result[:3]) * 5
    elif signs == "global_only":
        result[3:] = 0
    elif signs == "learned":  # what learning mostly gives: phi_S leads
        result[9], result[10] = 8.0, -2.0
    return result
