"""Where the inducing points stand: k-means centres of the training windows.

Paper: section 3, "the same ... inducing points". Departures: the paper does not say how
they are chosen. k-means runs in units of the starting lengthscales, so that no column
rules by its scale; with no more distinct windows than points, the windows themselves.
"""

import numpy as np
from jaxtyping import Float

_ROUNDS = 25  # of Lloyd's algorithm; the centres need not be perfect


def choose(
    x: Float[np.ndarray, "n Q"],
    lengthscales: Float[np.ndarray, "Q"],
    count: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, "M Q"]:
    """At most `count` distinct points amid the rows of x.

    Args:
      x: features of the training windows.
      lengthscales: unit of each column.
      count: wanted number of points.
      rng: seeds k-means.
    """
    import threadpoolctl
    from sklearn.cluster import KMeans

    distinct = np.unique(x, axis=0)
    if len(distinct) <= count:
        return distinct.astype(np.float64)
    seed = int(rng.integers(2**31))
    means = KMeans(count, n_init=1, max_iter=_ROUNDS, random_state=seed)
    # more threads would add up the centres in the order in which they finish
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        means.fit(np.ascontiguousarray(x / lengthscales, dtype=np.float64))
    return means.cluster_centers_ * lengthscales
