# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Splits on sets of categories, against oracles that try all sets, or all that the order gives."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles.tree import right_set
from strategies import examples
from tree_problems import (
    ARRAYS,
    TreeProblem,
    assert_same_tree,
    binned_of,
    check,
    give_means,
    grower_of,
    parameters,
    tree_problems,
)

from sklearn_ltr.binning import MOST_CATEGORIES
from sklearn_ltr.weak.tree import Tree

each_policy = pytest.mark.parametrize("policy", ["leafwise", "symmetric"])


@st.composite
def categorical_problems(draw, *, most=6, exact=True, **options):
    """A problem with at least one column of categories, and how many each column has."""
    problem = draw(tree_problems(**options).filter(lambda p: not (exact and p.wild)))
    X, n_categories = problem.X.copy(), [0] * problem.X.shape[1]
    which = draw(st.lists(st.booleans(), min_size=len(n_categories), max_size=len(n_categories)))
    which[draw(st.integers(0, len(which) - 1))] = True
    for k in np.flatnonzero(which):
        n_categories[k] = draw(st.integers(1, most))
        value = st.integers(0, n_categories[k] - 1).map(float) | st.just(np.nan)
        X[:, k] = draw(st.lists(value, min_size=len(X), max_size=len(X)))
    return replace(problem, X=X), n_categories


@examples(150)
@given(
    drawn=categorical_problems(most=5, exact=False),
    max_leaf_nodes=st.sampled_from([2, 3, 5, 20]),
    max_bins=st.sampled_from([255, None, 2]),
    n_threads=st.sampled_from([1, 2, 3]),
)
def test_no_set_is_better(drawn, max_leaf_nodes, max_bins, n_threads):
    """Leafwise, without l2 and with leaves of any size: of all ways to part the categories."""
    problem, n_categories = drawn
    check(
        replace(problem, count=None),
        grow_policy="leafwise",
        max_leaf_nodes=max_leaf_nodes,
        max_bins=max_bins,
        n_threads=n_threads,
        categories={"n_categories": tuple(n_categories), "subsets": True},
    )


@each_policy
@examples(150)
@given(
    drawn=categorical_problems(),
    params=st.fixed_dictionaries(parameters),
    least=st.sampled_from([1, 1, 2, 3]),
    n_threads=st.sampled_from([1, 2, 3]),
)
def test_trees_equal_the_oracle(policy, drawn, params, least, n_threads):
    problem, n_categories = drawn
    categories = {"n_categories": tuple(n_categories), "min_samples_category": least}
    check(problem, grow_policy=policy, n_threads=n_threads, categories=categories, **params)


@each_policy
@examples(60)
@given(
    drawn=categorical_problems(max_queries=10, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
)
def test_several_blocks_of_features(policy, drawn, params):
    problem, n_categories = drawn
    categories = {"n_categories": tuple(n_categories)}
    check(problem, grow_policy=policy, categories=categories, **params)


@each_policy
@examples(60)
@given(drawn=categorical_problems(), params=st.fixed_dictionaries(parameters), data=st.data())
def test_constraints_on_other_features(policy, drawn, params, data):
    problem, n_categories = drawn
    signs = [st.just(0) if n else st.sampled_from([-1, 0, 1]) for n in n_categories]
    cst = data.draw(st.tuples(*signs))
    categories = {"n_categories": tuple(n_categories)}
    check(problem, grow_policy=policy, categories=categories, monotonic_cst=list(cst), **params)


def many(n_categories=MOST_CATEGORIES, n=3000, missing=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, n_categories, n), rng.normal(size=n)]).astype(float)
    effect = rng.normal(size=n_categories)
    target = np.round(8 * (effect[X[:, 0].astype(int)] + 0.5 * X[:, 1])) / 8
    X[rng.random(n) < missing, 0] = np.nan
    return X, target


@each_policy
@pytest.mark.parametrize("max_bins", [255, None])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_as_many_categories_as_there_may_be(policy, max_bins, missing):
    X, target = many(n=700, missing=missing)
    problem = TreeProblem(X, target, None, None, None, False)
    params = {"max_leaf_nodes": 4, "min_samples_leaf": 5, "grow_policy": policy}
    categories = {"n_categories": (MOST_CATEGORIES, 0)}
    _, leaves = check(problem, max_bins=max_bins, categories=categories, **params)
    assert leaves.tree.has_categories
    sets = [right_set(leaves.tree, i) for i in range(len(leaves.tree.feature))]
    assert max(code for codes in sets for code in codes) == MOST_CATEGORIES - 1


@each_policy
def test_order_of_rows_and_threads(policy):
    X, target = many()
    trees = []
    for seed in (None, 1, 2):
        order = (
            np.arange(len(X)) if seed is None else np.random.default_rng(seed).permutation(len(X))
        )
        for n_threads in (1, 3):
            _, binned = binned_of(X[order], n_categories=(MOST_CATEGORIES, 0))
            grower = grower_of(binned, n_threads, grow_policy=policy, max_leaf_nodes=16)
            trees.append(grower.grow(target[order]).tree)
    for tree in trees[1:]:
        assert_same_tree(tree, trees[0], (*ARRAYS, "gain", "categories"))


@each_policy
def test_names_of_categories_do_not_matter(policy):
    """Other codes of the same categories part the rows alike, where no two have the same mean."""
    X, target = many(40, missing=0.05)
    target = target + np.random.default_rng(1).normal(size=len(target))
    renamed = X.copy()
    names = np.random.default_rng(2).permutation(40).astype(float)
    present = ~np.isnan(X[:, 0])
    renamed[present, 0] = names[X[present, 0].astype(int)]
    values = []
    for x in (X, renamed):
        _, binned = binned_of(x, n_categories=(40, 0))
        leaves = grower_of(binned, grow_policy=policy, max_leaf_nodes=16).grow(target)
        give_means(leaves, target)
        values.append(leaves.tree.predict(x))
    assert_array_equal(*values)


@each_policy
def test_plain_data(policy):
    X, target = many(60)
    binner, binned = binned_of(X, n_categories=(60, 0))
    leaves = grower_of(binned, grow_policy=policy, max_leaf_nodes=16).grow(target)
    give_means(leaves, target)
    again = Tree.from_plain(leaves.tree.to_plain(), "tree", binner.thresholds_)
    assert_same_tree(again, leaves.tree, (*ARRAYS, "gain", "categories", "value"))
    assert_array_equal(again.predict(X), leaves.tree.apply(binned))
    node = int(np.flatnonzero(np.isnan(again.threshold))[0])
    assert set(again.categories_right(node).tolist()) == right_set(again, node)


def test_trees_without_categories_have_none():
    X, target = many(20)
    _, binned = binned_of(X)
    assert not grower_of(binned).grow(target).tree.has_categories
    _, binned = binned_of(X, n_categories=(20, 0))
    tree = grower_of(binned, max_features=0.5).grow(X[:, 1].copy(), seed=1).tree
    assert tree.has_categories == np.isnan(tree.threshold).any()
