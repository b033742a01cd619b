# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVRank in slow NumPy: a constraint and a slack for each side of each pair; sharing no code."""

import numpy as np
from scipy.optimize import minimize

from oracles.mprank import pairs

__all__ = ["objective", "pairs", "solve"]


def objective(w, differences, targets, shares, C, epsilon):
    missed = np.abs(differences @ w - targets) - epsilon
    return w @ w / 2 + C * (shares @ np.maximum(missed, 0))


def solve(differences, targets, shares, C, epsilon):
    """SLSQP on w and a slack for each pair."""
    n_pairs, n_features = differences.shape
    c = np.concatenate([np.zeros(n_features), C * shares])
    A = np.vstack(
        [np.hstack([sign * differences, np.eye(n_pairs)]) for sign in (1, -1)],
    )
    b = np.concatenate([targets - epsilon, -targets - epsilon])

    def value(x):
        return x[:n_features] @ x[:n_features] / 2 + c @ x

    def gradient(x):
        return np.concatenate([x[:n_features], np.zeros(n_pairs)]) + c

    found = minimize(
        value,
        np.concatenate([np.zeros(n_features), np.abs(targets)]),
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * n_features + [(0, None)] * n_pairs,
        constraints={"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return found.x[:n_features]
