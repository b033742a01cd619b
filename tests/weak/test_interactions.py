# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose features go together by groups only."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.symmetric_tree import levels
from strategies import examples
from tree_problems import (
    any_bins,
    assert_same_tree,
    binned_of,
    check,
    grow,
    grower_of,
    make,
    parameters,
    tree_problems,
)

each_policy = pytest.mark.parametrize("policy", ["leafwise", "symmetric"])


def complete(groups, n_features):
    """The groups, and one of what is in none, as growers take them."""
    return [*groups, set(range(n_features)).difference(*groups)]


def paths(tree):
    """The features used above each leaf: list of sets."""
    above, found = {0: set()}, []
    for node, feature in enumerate(tree.feature):
        if feature < 0:
            found.append(above[node])
            continue
        for child in (tree.left[node], tree.left[node] + 1):
            above[child] = above[node] | {int(feature)}
    return found


def obeys(tree, groups):
    return all(any(path <= set(group) for group in groups) for path in paths(tree))


@each_policy
@examples(200)
@given(
    problem=tree_problems(max_features=5),
    params=st.fixed_dictionaries(parameters),
    max_bins=any_bins,
    n_threads=st.sampled_from([1, 2]),
    data=st.data(),
)
def test_trees_equal_the_oracle(policy, problem, params, max_bins, n_threads, data):
    n_features = problem.X.shape[1]
    group = st.sets(st.integers(0, n_features - 1), max_size=3)
    groups = complete(data.draw(st.lists(group, max_size=4)), n_features)
    _, leaves = check(
        problem,
        grow_policy=policy,
        max_bins=max_bins,
        n_threads=n_threads,
        interaction_cst=groups,
        **params,
    )
    assert obeys(leaves.tree, groups)


@each_policy
@examples(40)
@given(
    problem=tree_problems(max_queries=10, max_rows=8, max_features=17),
    params=st.fixed_dictionaries(parameters),
    data=st.data(),
)
def test_several_blocks_of_features_and_monotonic_constraints(policy, problem, params, data):
    n_features = problem.X.shape[1]
    group = st.sets(st.integers(0, n_features - 1), max_size=n_features)
    groups = complete(data.draw(st.lists(group, max_size=4)), n_features)
    directions = st.lists(st.sampled_from([-1, 0, 1]), min_size=n_features, max_size=n_features)
    cst = data.draw(directions)
    check(problem, grow_policy=policy, interaction_cst=groups, monotonic_cst=cst, **params)


GROUPS = [
    [{0, 1}, {2, 3, 4}, {5}],
    [{k} for k in range(6)],
    [{0, 1}, {1, 2}, {2, 0}, {3, 4, 5}],  # which overlap
    [{i, k} for k in range(6) for i in range(k)],
]


@each_policy
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("max_features", [1.0, 0.5])
@pytest.mark.parametrize("counted", [False, True])
def test_large_trees_obey(policy, groups, max_features, counted):
    """Also where features are drawn, and where counts bound a split that was found without."""
    X, target = make(2000, 6)
    target += np.nan_to_num(X) @ np.arange(6.0)  # so that a tree that is free uses many features
    weight = np.random.default_rng(0).random(2000) if counted else None
    params = {"grow_policy": policy, "max_leaf_nodes": 64, "max_features": max_features}
    broken = False
    for seed in range(5):
        tree = grow(X, target, weight, min_samples_leaf=15, seed=seed, **params).tree
        broken |= not obeys(tree, groups)
        params_with = params | {"interaction_cst": groups}
        tree = grow(X, target, weight, min_samples_leaf=15, seed=seed, **params_with).tree
        assert obeys(tree, groups)
        assert tree.n_leaves > 4
    assert broken


@each_policy
@pytest.mark.parametrize("max_features", [1.0, 0.6, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_one_group_of_all_features_changes_nothing(policy, max_features, seed):
    X, target = make(1000, 7)
    params = {"grow_policy": policy, "max_leaf_nodes": 32, "max_features": max_features}
    expected = grow(X, target, seed=seed, **params).tree
    tree = grow(X, target, seed=seed, interaction_cst=[set(range(7)), {1, 2}], **params).tree
    assert_same_tree(tree, expected)


@each_policy
def test_the_share_is_one_of_the_features_that_are_allowed(policy):
    """Which are never none: below a split on a feature alone in its group, it is the only one."""
    X, target = make(2000, 8)
    groups = [{k} for k in range(8)]
    params = {"grow_policy": policy, "interaction_cst": groups, "max_features": 0.25}
    roots = set()
    for seed in range(8):
        tree = grow(X, target, seed=seed, max_leaf_nodes=16, **params).tree
        # A level of a symmetric tree can cut one feature again in one leaf only.
        assert tree.n_leaves == 16 if policy == "leafwise" else tree.n_leaves >= 5
        assert set(tree.feature.tolist()) == {-1, tree.feature[0]}
        roots.add(int(tree.feature[0]))
    assert len(roots) > 1


@each_policy
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_a_number_stands_for_all_groups_of_so_many(policy, most, max_features):
    X, target = make(1000, 6)
    target += np.nan_to_num(X) @ np.arange(6.0)
    params = {"grow_policy": policy, "max_leaf_nodes": 64, "max_features": max_features}
    for seed in range(3):
        tree = grow(X, target, seed=seed, interaction_cst=most, **params).tree
        groups = list(combinations(range(6), most))
        assert_same_tree(tree, grow(X, target, seed=seed, interaction_cst=groups, **params).tree)
        assert max(map(len, paths(tree))) == most
    wide = np.hstack([X] * 100)  # with many groups
    tree = grow(wide, target, interaction_cst=most, **params).tree
    assert max(map(len, paths(tree))) <= most


@each_policy
def test_one_grower_grows_tree_after_tree(policy):
    X, target = make(1000, 6)
    _, binned = binned_of(X)
    params = {"grow_policy": policy, "interaction_cst": GROUPS[0], "max_leaf_nodes": 16}
    grower = grower_of(binned, **params)
    for k in (0, 2, 0, 5):
        shifted = target + 5 * np.nan_to_num(X[:, k])
        tree = grower.grow(shifted).tree
        assert_same_tree(tree, grower_of(binned, **params).grow(shifted).tree)


def test_a_leaf_that_a_level_left_whole_counts_the_cut_as_used():
    """One set of features serves a whole level, so that the tree stays symmetric."""
    # The first cut, on 0, parts 6 rows from 2; the second, on 1, only the larger side.
    X = np.array([[0, a, b] for a in (0, 1) for b in (0, 0, 1)] + [[1, 0, 0], [1, 0, 1]], float)
    target = np.where(X[:, 0] == 1, 100.0 + 9 * X[:, 2], 10 * X[:, 1] + X[:, 2])
    params = {"grow_policy": "symmetric", "max_depth": 3}
    groups = [{0, 1}, {0, 2}]
    tree = grow(X, target, interaction_cst=groups, **params).tree
    assert [tree.feature[nodes[0]] for nodes in levels(tree)] == [0, 1]
    free = grow(X, target, **params).tree
    assert [free.feature[nodes[0]] for nodes in levels(free)] == [0, 1, 2]
