# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shapley values of a regression tree by their definition, sharing no code with the package.

The value of a set of features is what the tree is expected to say where these are known: a split on
one of them sends the row its way, any other split both ways, by the shares of the weight that came
there (Lundberg, Erion, Lee. "Consistent Individualized Feature Attribution for Tree Ensembles".
arXiv 1802.03888, Algorithm 1). All sets are gone through.
"""

from itertools import combinations
from math import factorial

import numpy as np


def expectation(tree, x, known, node=0):
    """What the tree says below a node, where only some features of a row are known."""
    feature = tree.feature[node]
    if feature < 0:
        return float(tree.value[node])
    left = tree.left[node]
    if feature in known:
        if np.isnan(x[feature]):
            right = tree.missing_right[node]
        elif np.isnan(tree.threshold[node]):  # on categories
            right = x[feature] in tree.categories_right(node)
        else:
            right = x[feature] > tree.threshold[node]
        return expectation(tree, x, known, left + int(right))
    share = tree.cover[left] / (tree.cover[left] + tree.cover[left + 1])
    below = [expectation(tree, x, known, child) for child in (left, left + 1)]
    return share * below[0] + (1 - share) * below[1]


def shapley_values(tree, x):
    """What each feature adds to the expectation: ndarray of shape (n_features,), and the latter."""
    players = sorted({int(feature) for feature in tree.feature if feature >= 0})
    n = len(players)
    found = np.zeros(len(x))
    for feature in players:
        others = [other for other in players if other != feature]
        for size in range(n):
            share = factorial(size) * factorial(n - 1 - size) / factorial(n)
            for known in combinations(others, size):
                with_it = expectation(tree, x, {*known, feature})
                found[feature] += share * (with_it - expectation(tree, x, set(known)))
    return found, expectation(tree, x, set())
