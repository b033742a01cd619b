# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""AdaRank (Xu, Li, SIGIR 2007) in slow NumPy, without package code.

E is a function of the grades and the scores of one query. Queries of which every order has the same
E, or none, say nothing and are left out.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np

TIE = 1e-9


class Round(NamedTuple):
    """Round t of the algorithm."""

    P: np.ndarray  # P_t, over the queries used
    phi: np.ndarray  # for each feature the sum of P_t(q) E(h, q)
    feature: int  # what the oracle chooses, whatever is followed
    gap: float  # from the best phi to the best one that does not tie with it
    alpha: float  # of the feature that is followed
    E_h: np.ndarray  # E of this feature on the queries used
    E_f: np.ndarray  # E of the combined ranker after the round
    loss: float  # weighted mean of exp(-E_f)
    bound: float  # of P_{t+1}, before they are made shares: their weighted mean


def used_queries(y, groups, E, weight):
    """The rows of each query that has a better and a worse order, and a positive weight."""
    found = []
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        if weight[rows[0]] == 0:
            continue
        distinct = np.arange(float(len(rows)))
        values = [E(y[rows], distinct[list(order)]) for order in permutations(range(len(rows)))]
        if max(values) - min(values) > 1e-12:
            found.append(rows)
    return found


def adarank(X, y, groups, E, follow, query_weight=None, update="paper"):
    """Figure 1 of the paper, along the terms (coefficient, feature) of a model.

    The sums f_t take the given coefficients, so that rows tie here where they tie there. After the
    last term comes one more round, without E_f, loss and bound: what would be chosen next. With
    update="adaboost" weights are products, as in AdaBoost.
    """
    weight = np.ones(len(y)) if query_weight is None else query_weight
    queries = used_queries(y, groups, E, weight)
    v = np.array([weight[rows[0]] for rows in queries])

    def performance(scores):
        return np.array([E(y[rows], scores[rows]) for rows in queries])

    E_of_features = np.array([performance(X[:, k]) for k in range(X.shape[1])])
    P = v / v.sum()
    bound = 1.0
    f = np.zeros(len(y))
    for coefficient, k in [*follow, (None, None)]:
        phi = E_of_features @ P
        level = phi.max() - TIE * abs(phi.max())
        best = int(np.flatnonzero(phi >= level)[0])
        gap = phi.max() - max(phi[phi < level], default=-np.inf)
        if k is None:
            yield Round(P, phi, best, gap, alpha_of(phi[best]), E_of_features[best], *3 * (None,))
            return
        f = f + coefficient * X[:, k]
        E_f = performance(f)
        loss = np.average(np.exp(-E_f), weights=v)
        if update == "paper":
            P_next, bound = v * np.exp(-E_f), loss
        else:
            P_next = P * np.exp(-coefficient * E_of_features[k])
            bound *= P_next.sum()
        yield Round(P, phi, best, gap, alpha_of(phi[k]), E_of_features[k], E_f, loss, bound)
        P = P_next / P_next.sum()


def alpha_of(phi):
    return 0.5 * np.log(max(1 + phi, 1e-12) / max(1 - phi, 1e-12))
