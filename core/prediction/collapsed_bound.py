"""How well a kernel explains the three relations: the objective of the fit.

The inducing variables are integrated out. With A = L⁻¹ K_uf, K_uu = L Lᵀ,
B = I + A Λ⁻¹ Aᵀ = C Cᵀ and c_r = C⁻¹ A Λ⁻¹ y_r, each relation has the log marginal

    log N(y_r; 0, AᵀA + Λ) =
        -1/2 (n log 2π + log|B| + log|Λ| + y_rᵀ Λ⁻¹ y_r - c_rᵀ c_r)

    FITC          Λ = sn2 + diag(K_ff - AᵀA), the sum of the log marginals;
    variational   Λ = sn2, the sum less tr(K_ff - AᵀA) / (2 sn2) for each relation:
                  a lower bound of the log marginal of the dense Gaussian process.

A, B and Λ are the same for all relations: one Cholesky of each matrix serves the three.
The jitter on K_uu only lowers AᵀA, so the bound stays one.

Paper: section 3, "learn the kernel". Departures: the paper does not say how; gpytorch's
own sparse objective takes one output at a time, hence this one, on its kernels.
"""

import warnings
from typing import Any

import numpy as np
from jaxtyping import Float

from belvedere.core.prediction import conditioning

Tensor = Any  # torch.Tensor; torch is loaded where a fit begins and not before


class CollapsedBound:
    """The log bound and its gradient in theta = (log ell_1..Q, log sf2, log sn2)."""

    def __init__(
        self,
        x: Float[np.ndarray, "n Q"],
        targets: Float[np.ndarray, "T n"],
        inducing: Float[np.ndarray, "M Q"],
        objective: conditioning.Objective,
    ) -> None:
        import torch

        self._x = torch.tensor(x, dtype=torch.float64)
        self._targets = torch.tensor(targets, dtype=torch.float64)
        self._inducing = torch.tensor(inducing, dtype=torch.float64)
        self._objective = objective
        self._kernel = _log_kernel(x.shape[1])

    def value_and_gradient(
        self, theta: Float[np.ndarray, "parameters"]
    ) -> tuple[float, Float[np.ndarray, "parameters"]]:
        """The bound in nats, summed over relations and windows."""
        import torch

        log = torch.tensor(theta, dtype=torch.float64)
        lengthscales = self._kernel.base_kernel.raw_lengthscale
        signal = self._kernel.raw_outputscale
        lengthscales.data, signal.data = log[None, :-2], log[-2]
        noise = log[-1].clone().requires_grad_()
        bound = self._bound(noise.exp())
        gradients = torch.autograd.grad(bound, (lengthscales, signal, noise))
        return bound.item(), torch.cat([g.reshape(-1) for g in gradients]).numpy()

    def _bound(self, sn2: Tensor) -> Tensor:
        import torch

        k_uu = self._kernel(self._inducing).to_dense()
        k_uf = self._kernel(self._inducing, self._x).to_dense()
        sf2 = self._kernel.outputscale
        a = torch.linalg.solve_triangular(_root(k_uu, sf2), k_uf, upper=False)
        unexplained = (sf2 - a.square().sum(0)).clamp_min(0)
        if self._objective == "fitc":
            return _log_marginals(a, sn2 + unexplained, self._targets)
        penalty = len(self._targets) * unexplained.sum() / (2 * sn2)
        return _log_marginals(a, sn2.expand(a.shape[1]), self._targets) - penalty


def _log_marginals(a: Tensor, variances: Tensor, targets: Tensor) -> Tensor:
    """Sum over relations of log N(y_r; 0, AᵀA + diag(variances))."""
    import torch

    scale = variances.rsqrt()
    a, y = a * scale, targets * scale
    root = torch.linalg.cholesky(torch.eye(len(a), dtype=a.dtype) + a @ a.T)
    c = torch.linalg.solve_triangular(root, a @ y.T, upper=False)
    determinant = 2 * root.diagonal().log().sum() + variances.log().sum()
    constant = a.shape[1] * np.log(2 * np.pi)
    fit = y.square().sum() - c.square().sum()
    return -(len(y) * (constant + determinant) + fit) / 2


def _root(k_uu: Tensor, sf2: Tensor) -> Tensor:
    """Cholesky factor of K_uu with the smallest jitter of the ladder that allows it."""
    import torch

    identity = torch.eye(len(k_uu), dtype=k_uu.dtype)
    for jitter in conditioning.JITTERS:
        root, failed = torch.linalg.cholesky_ex(k_uu + jitter * sf2 * identity)
        if not failed:
            return root
    raise ValueError(conditioning.singular(len(k_uu)))


def _log_kernel(q: int) -> Any:
    """gpytorch's scaled ARD-RBF whose raw parameters are the logarithms."""
    import torch

    with warnings.catch_warnings():  # gpytorch still decorates with torch.jit.script
        warnings.simplefilter("ignore", FutureWarning)
        import gpytorch

    def positive() -> Any:
        return gpytorch.constraints.Positive(torch.exp, torch.log)

    rbf = gpytorch.kernels.RBFKernel(ard_num_dims=q, lengthscale_constraint=positive())
    kernel = gpytorch.kernels.ScaleKernel(rbf, outputscale_constraint=positive())
    return kernel.double()
