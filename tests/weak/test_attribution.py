# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shapley values of sums of trees against their definition."""

import numpy as np
import pytest
import tree_problems
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.treeshap import expectation, shapley_values
from scipy import sparse
from strategies import examples

from sklearn_ltr.weak import attribution
from sklearn_ltr.weak.attribution import PathAttribution
from sklearn_ltr.weak.tree import Tree


def chain(features, seed=0):
    """A tree whose left children are leaves, of splits on these features from the root on."""
    rng = np.random.default_rng(seed)
    n = len(features)
    feature, left = np.full(2 * n + 1, -1, dtype=np.intc), np.zeros(2 * n + 1, dtype=np.intc)
    at = np.arange(n) * 2
    feature[at], left[at] = features, at + 1
    cover = np.zeros(2 * n + 1)
    cover[at + 1] = rng.uniform(0.5, 2, n)
    cover[-1] = 1
    for node in at[::-1]:
        cover[node] = cover[node + 1] + cover[node + 2]
    value = np.where(feature < 0, rng.normal(size=2 * n + 1), 0)
    missing_right = rng.random(2 * n + 1) < 0.5
    threshold = np.where(feature < 0, 0, rng.normal(size=2 * n + 1) - 1)
    zeros = np.zeros_like(feature)
    return Tree(feature, zeros, threshold, missing_right, left, zeros * 0.0, value, cover)


def by_definition(terms, X):
    """Contributions, and the expectation that they are added to."""
    found, expected = np.zeros(X.shape), 0.0
    for coefficient, tree in terms:
        for row, x in zip(found, X, strict=True):
            row += coefficient * shapley_values(tree, x)[0]
        expected += coefficient * expectation(tree, X[0], ())
    return found, expected


def check(terms, X):
    """All there is, by all ways to it."""
    expected, base = by_definition(terms, X)
    model = PathAttribution(terms)
    found = model.contributions(X)
    assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    assert model.expectation == pytest.approx(base, rel=1e-12, abs=1e-12)
    scores = sum(coefficient * tree.predict(X) for coefficient, tree in terms)
    assert_allclose(model.expectation + found.sum(axis=1), scores, rtol=1e-11, atol=1e-11)
    repeated = np.repeat(X, 1100, axis=0)  # more rows than any table has
    assert_array_equal(model.contributions(repeated, 2), np.repeat(found, 1100, axis=0))
    assert_array_equal(model.contributions(sparse.csr_array(X)), found)
    assert_array_equal(model.contributions(np.asfortranarray(X)), found)
    return found


@examples(60)
@given(
    problem=tree_problems.tree_problems(),
    policy=st.sampled_from(["leafwise", "symmetric"]),
    params=st.fixed_dictionaries(tree_problems.parameters),
    coefficient=st.sampled_from([1.0, -0.3]),
)
def test_by_definition(problem, policy, params, coefficient):
    params |= {"max_depth": min(params["max_depth"] or 4, 4)}
    leaves = tree_problems.grow(
        problem.X, problem.target, problem.weight, problem.count, rows=problem.rows,
        grow_policy=policy, **params,
    )  # fmt: skip
    tree_problems.give(leaves, np.random.default_rng(0).normal(size=len(leaves.nodes)))
    X = np.vstack([problem.X[:3], np.full_like(problem.X[:1], np.nan)])
    check([(coefficient, leaves.tree), (1.0, Tree.constant(0.5)), (1.0, leaves.tree)], X)


@pytest.mark.parametrize(
    "features",
    [[0], [0, 0], [0, 1], [2, 0, 1, 0], [0, 1, 2, 3, 4], list(range(10)), [0, 1, 2, 1, 0, 2, 2, 1]],
    ids=str,
)
def test_chains(features):
    """One to ten features on a path, once or several times."""
    X = np.random.default_rng(1).normal(size=(8, 10)) - 0.5
    X[:4, :4][np.eye(4, dtype=bool)] = np.nan
    terms = [(0.5, chain(features)), (2.0, chain(features[::-1], seed=1))]
    found = check(terms, X)
    assert not found[:, np.setdiff1d(np.arange(10), features)].any()


def test_a_path_of_300_features():
    """More than sets of could be gone through: what they add sums to the score."""
    tree = chain(np.random.default_rng(0).permutation(300))
    X = np.random.default_rng(1).normal(size=(20, 300))
    X[0] = 10  # down to the end
    model = PathAttribution([(1.0, tree)])
    found = model.contributions(X)
    assert_allclose(model.expectation + found.sum(axis=1), tree.predict(X), rtol=0, atol=1e-12)


def test_tables_and_walks_agree(monkeypatch):
    X, target = tree_problems.make(1500, missing=0.1)
    leaves = tree_problems.grow(X, target, grow_policy="symmetric", max_depth=6)
    tree_problems.give_means(leaves, target)
    terms = [(1.0, leaves.tree)]
    tabulated = []
    original = attribution._attribution.tabulate
    monkeypatch.setattr(
        attribution._attribution, "tabulate", lambda *args: tabulated.append(original(*args))
    )
    expected = PathAttribution(terms).contributions(X)
    assert len(tabulated) == 1
    monkeypatch.setattr("sklearn_ltr.interrupts.NUMBERS_AT_A_TIME", 5000)
    assert_array_equal(PathAttribution(terms).contributions(X), expected)
    monkeypatch.setattr(attribution, "MOST_BITS", 0)
    assert_array_equal(PathAttribution(terms).contributions(X), expected)


def test_trees_without_splits():
    X = np.zeros((3, 2))
    for terms, expected in (([], 0.0), ([(2.0, Tree.constant(3.0))], 6.0)):
        model = PathAttribution(terms)
        assert model.expectation == expected
        assert_array_equal(model.contributions(X), X)


def test_covers_that_were_not_kept():
    tree = chain([0, 1])
    tree.cover = None
    with pytest.raises(ValueError, match="Fit it again"):
        PathAttribution([(1.0, tree)])
