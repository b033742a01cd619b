# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""McRank with line 4 of Algorithm 1 where the paper has it: inside the loop over the classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import mcrank as oracle
from oracles.tree import Growth, check_tree, regions

from sklearn_ltr import McRank
from sklearn_ltr.datasets import make_ranking

X, y, groups = make_ranking(n_queries=4, random_state=0)
X = X[:, :4].round(1)  # the oracle tries every threshold
level = y.astype(int)
K = len(set(y))
options = {"min_samples_leaf": 3, "max_leaf_nodes": 6, "max_bins": None}


def trees_of(model):
    return [[tree for _, tree in terms] for terms in model.model_.rounds]


def checked(trees):
    """What the oracle grows trees by: those of the model, each of which must fit its target."""
    trees = iter(trees)

    def fit_tree(target):
        tree = next(trees)
        growth = Growth(X, target, max_leaf_nodes=6, min_samples_leaf=3)
        check_tree(tree, growth, exact=False, rel=1e-4)
        return [rows for _, rows in regions(tree, X)]

    return fit_tree


def test_by_hand():
    """Three rows and grades, a round at rate .5: a split in turn, and one step each."""
    three = np.array([0.0, 1.0, 2.0])
    model = McRank(1, 0.5, min_samples_leaf=1, probabilities="tree")
    scores = model.fit(three[:, None], three, groups=np.zeros(3)).predict(three[:, None])
    assert_allclose(scores, [0.4856, 1.0095, 1.4498], atol=5e-5)
    once = McRank(1, 0.5, min_samples_leaf=1).fit(three[:, None], three, groups=np.zeros(3))
    assert_allclose(once.predict(three[:, None]), [0.4628, 1.0, 1.5372], atol=5e-5)


def test_each_tree_fits_what_those_before_it_left():
    model = McRank(3, 0.3, probabilities="tree", **options).fit(X, y, groups=groups)
    fit_tree = checked([tree for trees in trees_of(model) for tree in trees])
    loop = oracle.classification(level, K, 3, 0.3, fit_tree, literal=True)
    for staged, expected in zip(model.staged_predict(X), loop, strict=True):
        assert_allclose(staged, oracle.softmax(expected.F) @ np.arange(K), rtol=1e-9)
    once = McRank(3, 0.3, **options).fit(X, y, groups=groups)
    assert not np.allclose(once.predict(X), model.predict(X), rtol=1e-3)


def test_ordinal_takes_the_two_trees_of_each_problem():
    """Section 4 to the letter: Algorithm 1 for two classes, K - 1 times."""
    model = McRank(3, 0.3, method="ordinal", probabilities="tree", **options)
    model.fit(X, y, groups=groups)
    rounds = trees_of(model)
    assert [len(trees) for trees in rounds] == [2 * (K - 1)] * 3
    at_least = []
    for k in range(1, K):
        # Of the two classes the one that is, y >= k, comes first. The tree of the other one fits
        # the mirror image of what the package fits, by the same splits.
        of_k = [tree for trees in rounds for tree in (trees[k - 1], trees[k - 1 + K - 1])]
        loop = oracle.classification(
            (level < k).astype(int), 2, 3, 0.3, checked(of_k), literal=True
        )
        at_least.append(oracle.softmax([r.F for r in loop][-1])[:, 0])
    assert_allclose(model.predict(X), sum(at_least), rtol=1e-9)


@pytest.mark.parametrize("method", ["classification", "ordinal"])
def test_one_leaf_trees_come_to_the_shares(method):
    model = McRank(200, 0.1, method=method, probabilities="tree").fit(0 * X, y, groups=groups)
    shares = np.bincount(level) / len(y)
    assert_allclose(model.predict_grade_proba(X[:1] * 0), [shares], rtol=1e-6)


@pytest.mark.parametrize("method", ["classification", "ordinal"])
@pytest.mark.parametrize("init", ["zero", "prior"])
def test_warm_start(method, init):
    params = {"method": method, "init": init, "probabilities": "tree", **options}
    at_once = McRank(6, 0.3, **params).fit(X, y, groups=groups)
    grown = McRank(2, 0.3, warm_start=True, **params).fit(X, y, groups=groups)
    grown.set_params(n_estimators=6).fit(X, y, groups=groups)
    assert_array_equal(grown.predict(X), at_once.predict(X))


def test_unknown():
    with pytest.raises(ValueError, match="`probabilities` must be one of"):
        McRank(probabilities="class").fit(X, y, groups=groups)
