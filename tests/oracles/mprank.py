# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPRank in slow NumPy: all pairs listed, one least squares problem; sharing no code."""

import numpy as np


def pairs(X, y, groups, weight=None, alike="query"):
    """Differences of all pairs of rows and of their grades, and the share of each in the loss.

    `weight` has one entry a row.
    """
    differences, targets, shares, weights = [], [], [], []
    for query in set(groups.tolist()):
        rows = np.flatnonzero(groups == query)
        if len(set(y[rows].tolist())) < 2:
            continue
        found = [(i, j) for i in rows for j in rows if i < j]
        v = 1.0 if weight is None else weight[rows[0]]
        weights.append(v)
        differences += [X[i] - X[j] for i, j in found]
        targets += [y[i] - y[j] for i, j in found]
        shares += [v if alike == "pair" else v / len(found)] * len(found)
    scale = np.mean(weights) if alike == "pair" else sum(weights)
    return np.array(differences), np.array(targets), np.array(shares) / scale


def objective(w, differences, targets, shares, C):
    return w @ w / 2 + C * (shares @ (differences @ w - targets) ** 2)


def solve(differences, targets, shares, C):
    """The minimum: a row of a least squares problem for each pair, and one for each feature."""
    n_features = differences.shape[1]
    root = np.sqrt(2 * C * shares)
    A = np.vstack([root[:, None] * differences, np.eye(n_features)])
    b = np.concatenate([root * targets, np.zeros(n_features)])
    return np.linalg.lstsq(A, b, rcond=None)[0]


def objective_of_ordered_pairs(w, X, y, C):
    """Another scale: all rows are one query, with the mean over all ordered pairs of them."""
    m, total = len(y), 0.0
    for i in range(m):
        for j in range(m):
            total += ((X[j] @ w - X[i] @ w) - (y[j] - y[i])) ** 2
    return w @ w + C / m**2 * total
