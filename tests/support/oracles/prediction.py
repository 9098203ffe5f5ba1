"""The Gaussian process written out: n x n matrices and explicit inverses."""

import numpy as np


def kernel(x, z, lengthscales):
    """K / sf2, one pair at a time."""
    return np.array(
        [[np.exp(-0.5 * np.sum(((a - b) / lengthscales) ** 2)) for b in z] for a in x]
    ).reshape(len(x), len(z))


def dense(x, targets, lengthscales, sf2, sn2, new):
    """Mean [3, N] and latent variance [N] of the Gaussian process without shortcuts."""
    inverse = np.linalg.inv(sf2 * kernel(x, x, lengthscales) + sn2 * np.eye(len(x)))
    k = sf2 * kernel(new, x, lengthscales)
    return targets @ inverse @ k.T, sf2 - np.diagonal(k @ inverse @ k.T)


def log_normal(targets, covariance):
    """Sum over the rows y of log N(y; 0, covariance)."""
    _, log_determinant = np.linalg.slogdet(2 * np.pi * covariance)
    inverse = np.linalg.inv(covariance)
    return sum(-0.5 * (log_determinant + y @ inverse @ y) for y in targets)


def dense_log_marginal(x, targets, lengthscales, sf2, sn2):
    gram = sf2 * kernel(x, x, lengthscales)
    return log_normal(targets, gram + sn2 * np.eye(len(x)))


class Sparse:
    """The sparse model as a plain Gaussian on the n windows seen."""

    def __init__(self, x, inducing, lengthscales, sf2, sn2, objective, jitter):
        self.inducing, self.lengthscales = inducing, lengthscales
        self.sf2, self.sn2, self.objective = sf2, sn2, objective
        k_uu = sf2 * kernel(inducing, inducing, lengthscales)
        self.inverse = np.linalg.inv(k_uu + jitter * sf2 * np.eye(len(inducing)))
        self.k_fu = sf2 * kernel(x, inducing, lengthscales)
        approximate = self.k_fu @ self.inverse @ self.k_fu.T
        self.missing = sf2 - np.diagonal(approximate)
        own = self.missing if objective == "fitc" else 0
        self.covariance = approximate + np.diag(sn2 + own + np.zeros(len(x)))

    def objective_value(self, targets):
        value = log_normal(targets, self.covariance)
        if self.objective == "fitc":
            return value
        return value - len(targets) * self.missing.sum() / (2 * self.sn2)

    def predict(self, targets, new):
        """Mean [3, N] and latent variance [N]."""
        k_u = self.sf2 * kernel(new, self.inducing, self.lengthscales)
        k = k_u @ self.inverse @ self.k_fu.T
        seen = np.linalg.inv(self.covariance)
        return targets @ seen @ k.T, self.sf2 - np.diagonal(k @ seen @ k.T)
