# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What nodes keep of the rows that came to them, in every ranker of stumps or trees."""

import numpy as np
import pytest
from every_ranker import RANKERS, has, make
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr import RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import scoring
from sklearn_ltr.weak.tree import Tree

CASES = [
    pytest.param(R, params, id=f"{R.__name__}-{params.get('grow_policy', 'any')}")
    for R in RANKERS
    if R in scoring.RANKERS.values()
    for params in (
        [{"grow_policy": "leafwise"}, {"grow_policy": "symmetric"}]
        if has(R, "grow_policy")
        else [{}]
    )
]


def trees_of(model):
    """Those that are no constants."""
    trees = [weak.as_tree() for _, weak in model.model_.terms]
    return [tree for tree in trees if tree.n_leaves > 1]


def reached(tree, X):
    """Which rows come to each node: ndarray of shape (n_nodes, n_samples)."""
    found = np.zeros((len(tree.feature), len(X)), dtype=bool)
    found[0] = True
    for node in np.flatnonzero(tree.feature >= 0):
        x = X[:, tree.feature[node]]
        right = np.where(np.isnan(x), tree.missing_right[node], x > tree.threshold[node])
        found[tree.left[node]] = found[node] & ~right
        found[tree.left[node] + 1] = found[node] & right
    return found


@pytest.mark.parametrize(("R", "params"), CASES)
def test_rows_of_nodes(R, params):
    X, y, groups = make_ranking(n_queries=20, n_docs=12, random_state=0)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    y = np.tile(np.arange(12.0) % 3, 20)  # no query of one grade, which would be in no node
    model = make(R, n_estimators=3, **params).fit(X, y, groups)
    trees = trees_of(model)
    assert trees
    for tree in trees:
        assert_array_equal(tree.n_samples, reached(tree, X).sum(axis=1))
        inner = np.flatnonzero(tree.feature >= 0)
        children = tree.cover[tree.left[inner]] + tree.cover[tree.left[inner] + 1]
        assert_allclose(tree.cover[inner], children, rtol=1e-12)
        assert (tree.cover > 0).all()


@pytest.mark.parametrize("grow_policy", ["leafwise", "symmetric"])
@pytest.mark.parametrize("whole", [False, True])
def test_cover_is_the_weight(grow_policy, whole):
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, len(y)).astype(float) if whole else rng.random(len(y)) + 0.1
    model = RegressionRanker(3, grow_policy=grow_policy).fit(X, y, groups, sample_weight=weight)
    for tree in trees_of(model):
        expected = reached(tree, X) @ weight
        assert_allclose(tree.cover, expected, rtol=0 if whole else 1e-7)


def test_rows_that_are_drawn():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    model = RegressionRanker(5, subsample=0.5, random_state=0).fit(X, y, groups)
    sizes = [tree.n_samples[0] for tree in trees_of(model)]
    assert all(0.3 * len(y) < n < 0.7 * len(y) for n in sizes)


def test_a_constant_has_none():
    tree = Tree.constant(1.0)
    assert tree.cover is tree.n_samples is None
