# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""
==================================
A loss of your own, tuned and used
==================================

:class:`~sklearn_ltr.QuadraticBoosting` boosts any loss of a query's scores that has a gradient and
a diagonal bound of its second derivatives. This example writes such a loss, checks it, tunes it
like any other ranker, and compares it with two rankers on queries held out. It takes less than 20
seconds.
"""

# %%
# The loss
# --------
# The logistic loss of pairs counts a pair of grades 4 and 0 like one of 1 and 0. Here a pair weighs
# as much as its grades are apart, to some power:
#
# .. math:: \sum_{y_i > y_j} (y_i - y_j)^p \ln(1 + e^{-(h_i - h_j)}) .
#
# A pair of weight a adds -a / (1 + exp(h_i - h_j)) to the gradient of its winner, and takes it from
# that of its loser. Its second derivative by the difference is a / 4 at most, and twice that bounds
# the block of the Hessian that belongs to its rows. :ref:`adding-a-loss` derives this step by step.
#
# ``BaseEstimator`` makes ``power`` a parameter that can be searched.

import numpy as np
import sklearn
from scipy.optimize import check_grad
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from sklearn_ltr import LambdaMART, QBRank, QuadraticBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.model_selection import train_test_split_queries
from sklearn_ltr.scorers import get_scorer


class GapPairs(BaseEstimator):
    def __init__(self, power=1.0):
        self.power = power

    def value(self, y, scores, offsets):
        pairs = self._pairs(y, scores, offsets)
        return np.array([(a * np.logaddexp(0, -m)).sum() for a, m in pairs])

    def gradient(self, y, scores, offsets):
        pulls = [a * expit(-m) for a, m in self._pairs(y, scores, offsets)]
        return np.concatenate([p.sum(axis=0) - p.sum(axis=1) for p in pulls])

    def curvature(self, y, scores, offsets):
        bends = [a / 2 for a, _ in self._pairs(y, scores, offsets)]
        return np.concatenate([b.sum(axis=0) + b.sum(axis=1) for b in bends])

    def _pairs(self, y, scores, offsets):
        for q in map(slice, offsets[:-1], offsets[1:]):
            gap = np.maximum(y[q, None] - y[q], 0)
            yield (gap > 0) * gap**self.power, scores[q, None] - scores[q]


# %%
# Checks
# ------
# The gradient against finite differences, and the bound for steps of several lengths, on one query.

rng = np.random.default_rng(0)
loss, y, h, offsets = (
    GapPairs(),
    rng.integers(0, 5, 12) * 1.0,
    rng.normal(size=12),
    np.array([0, 12]),
)
error = check_grad(
    lambda h: loss.value(y, h, offsets)[0], lambda h: loss.gradient(y, h, offsets), h
)
G, W = loss.gradient(y, h, offsets), loss.curvature(y, h, offsets)
steps = [-G / W] + [size * rng.normal(size=12) for size in (0.01, 0.1, 1, 10)]
slack = [
    loss.value(y, h, offsets)[0] + G @ g + g @ (W * g) / 2 - loss.value(y, h + g, offsets)[0]
    for g in steps
]
print(f"Gradient off by {error:.1e}; bound holds: {min(slack) >= 0}")

# %%
# Tuning
# ------
# ``loss__power`` is searched beside a parameter of the trees. Query ids reach every fit and score
# by metadata routing. Each of the two rankers to compare with gets a search of the same size.

sklearn.set_config(enable_metadata_routing=True)
X, y, groups = make_ranking(n_queries=100, n_docs=(5, 20), random_state=0)
X_train, X_test, y_train, y_test, groups_train, groups_test = train_test_split_queries(
    X, y, groups=groups, test_size=0.4, random_state=0
)
trees = {"n_estimators": 30, "learning_rate": 0.2}
searches = {
    "GapPairs": (QuadraticBoosting(loss=GapPairs(), **trees), {"loss__power": [0.0, 1.0, 2.0]}),
    "QBRank": (QBRank(**trees), {"pair_weight": [0.1, 0.5, 1.0]}),
    "LambdaMART": (LambdaMART(**trees), {"metric": ["ndcg@10", "ndcg", "map"]}),
}
scorer = get_scorer("ndcg@10")

print(f"\n{'NDCG@10':<12}{'in search':>12}{'test':>10}   best of the search")
for name, (ranker, grid) in searches.items():
    grid = {**grid, "max_leaf_nodes": [4, 8]}
    search = GridSearchCV(ranker, grid, cv=GroupKFold(3), scoring=scorer)
    search.fit(X_train, y_train, groups=groups_train)
    test = scorer(search, X_test, y_test, groups=groups_test)
    chosen = ", ".join(f"{key} = {value}" for key, value in search.best_params_.items())
    print(f"{name:<12}{search.best_score_:>12.4f}{test:>10.4f}   {chosen}")

# %%
# Cross-validation and early stopping
# -----------------------------------
# Nothing in them knows that the loss is not one of the package's own.

stopping = QuadraticBoosting(
    loss=GapPairs(), learning_rate=0.2, early_stopping=True, random_state=0
)
values = cross_val_score(
    stopping, X_train, y_train, cv=GroupKFold(3), scoring=scorer, params={"groups": groups_train}
)
stopping.fit(X_train, y_train, groups=groups_train)
print(f"\nWith early stopping, three folds: {np.array2string(values, precision=4)}")
print(f"On all training queries: best of {stopping.n_iter_} rounds is {stopping.best_iteration_}")
