# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVMMAP in slow NumPy: every order of every query is tried; sharing no code."""

from itertools import combinations, permutations

import numpy as np
from scipy.optimize import minimize


def average_precision(relevant):
    """Of rows in the order of a ranking."""
    found, total = 0, 0.0
    for position, is_relevant in enumerate(relevant, start=1):
        if is_relevant:
            found += 1
            total += found / position
    return total / found


def psi(X, relevant, order):
    """The paper's joint feature vector of a query and an order of its rows."""
    place = {row: position for position, row in enumerate(order)}
    good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    total = np.zeros(X.shape[1])
    for i in good:
        for j in bad:
            total += (1 if place[i] < place[j] else -1) * (X[i] - X[j])
    return total / (len(good) * len(bad))


def constraints(X, relevant):
    """Loss, and right order's Psi less its own, of every order of the rows of a query."""
    right = sorted(range(len(X)), key=lambda row: not relevant[row])
    truth = psi(X, relevant, right)
    losses, differences = [], []
    for order in permutations(range(len(X))):
        losses.append(1 - average_precision(relevant[list(order)]))
        differences.append(truth - psi(X, relevant, order))
    return np.array(losses), np.array(differences)


def largest_violation(scores, relevant):
    """Of the loss less the margin, by all ways to merge relevant and irrelevant rows by score."""
    s, t = (np.sort(scores[kind])[::-1] for kind in (relevant, ~relevant))
    n, best = len(scores), -np.inf
    for places in combinations(range(n), len(s)):
        order = np.zeros(n, dtype=bool)
        order[list(places)] = True
        behind = np.cumsum(~order)[order]  # irrelevant rows ahead of each relevant one
        margin = sum(2 * (s[i] - t[: behind[i]]).sum() for i in range(len(s)))
        best = max(best, 1 - average_precision(order) - margin / (len(s) * len(t)))
    return best


def problem(X, y, groups, relevant_from, weight=None):
    """Constraints of each query that has both kinds of rows, and the share of each in the loss."""
    found, shares = [], []
    for query in sorted(set(groups.tolist())):
        rows = np.flatnonzero(groups == query)
        relevant = y[rows] >= relevant_from
        if relevant.any() and not relevant.all():
            found.append(constraints(X[rows], relevant))
            shares.append(1.0 if weight is None else weight[rows[0]])
    return found, np.array(shares) / sum(shares)


def objective(w, found, shares, C):
    slacks = [(losses - differences @ w).max() for losses, differences in found]
    return w @ w / 2 + C * (shares @ np.array(slacks))


def solve(found, shares, C):
    """The minimum, by SLSQP on w and a slack for each query."""
    n_features = found[0][1].shape[1]
    rows, limits = [], []
    for q, (losses, differences) in enumerate(found):
        slack = np.zeros(len(found))
        slack[q] = 1
        whole = np.unique(np.column_stack([differences, losses]).round(13), axis=0)
        for *difference, loss in whole:
            rows.append(np.concatenate([difference, slack]))
            limits.append(loss)
    A, b = np.array(rows), np.array(limits)
    slope = np.concatenate([np.zeros(n_features), C * shares])

    def value(x):
        return x[:n_features] @ x[:n_features] / 2 + slope @ x

    def gradient(x):
        return np.concatenate([x[:n_features], np.zeros(len(found))]) + slope

    start = np.concatenate([np.zeros(n_features), np.ones(len(found))])
    result = minimize(
        value,
        start,
        jac=gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: A @ x - b, "jac": lambda x: A},
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return result.x[:n_features]
