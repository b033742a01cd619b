# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankSVM in slow NumPy: pairs listed, solved by a general solver; sharing no code."""

import numpy as np
from scipy.optimize import minimize


def pairs(X, y, groups, weight=None, alike="pair"):
    """Differences of all pairs, and the share of each in the loss; `weight` has one entry a row."""
    differences, shares, total, n_queries = [], [], 0.0, 0
    for query in set(groups.tolist()):
        rows = np.flatnonzero(groups == query)
        found = [X[i] - X[j] for i in rows for j in rows if y[i] > y[j]]
        if found:
            v = 1.0 if weight is None else weight[rows[0]]
            total += v
            n_queries += 1
            differences += found
            shares += [v if alike == "pair" else v / len(found)] * len(found)
    all_count = total / n_queries if alike == "pair" else total
    return np.array(differences), np.array(shares) / all_count


def objective(w, differences, shares, C, loss):
    m = np.maximum(1 - differences @ w, 0)
    return w @ w / 2 + C * (shares @ (m**2 if loss == "squared_hinge" else m))


def solve_squared_hinge(differences, shares, C):
    """L-BFGS; then Newton on the active pairs, which is exact once they are the right ones."""

    def value_and_gradient(w):
        m = np.maximum(1 - differences @ w, 0)
        return w @ w / 2 + C * (shares @ m**2), w - 2 * C * differences.T @ (shares * m)

    n_features = differences.shape[1]
    w = minimize(
        value_and_gradient,
        np.zeros(n_features),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10},
    ).x
    for _ in range(20):
        active = differences @ w < 1
        D, c = differences[active], 2 * C * shares[active]
        w = np.linalg.solve(np.eye(n_features) + D.T @ (c[:, None] * D), D.T @ c)
    return w


def solve_hinge(differences, shares, C):
    """SLSQP on w and a slack for each pair."""
    n_pairs, n_features = differences.shape
    c = C * shares

    def value(x):
        return x[:n_features] @ x[:n_features] / 2 + c @ x[n_features:]

    def gradient(x):
        return np.concatenate([x[:n_features], c])

    A = np.hstack([differences, np.eye(n_pairs)])
    start = np.concatenate([np.zeros(n_features), np.ones(n_pairs)])
    found = minimize(
        value,
        start,
        jac=gradient,
        method="SLSQP",
        bounds=[(None, None)] * n_features + [(0, None)] * n_pairs,
        constraints={"type": "ineq", "fun": lambda x: A @ x - 1, "jac": lambda x: A},
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return found.x[:n_features]
