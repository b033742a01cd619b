# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker that grows trees grows symmetric ones, too, and checks what it is asked for."""

import numpy as np
import pytest
from every_ranker import RANKERS, assert_same, has, make, make_data
from oracles.symmetric_tree import levels

GROWERS = [R for R in RANKERS if has(R, "max_leaf_nodes")]
each_grower = pytest.mark.parametrize("R", GROWERS, ids=lambda R: R.__name__)


def trees_of(model):
    """The trees of a fitted ranker, those of all outputs."""
    return [weak for *_, weak in model.model_.terms]


def fit(R, **params):
    X, y, groups = make_data(R)
    return make(R, **params).fit(X, y, groups)


@each_grower
@pytest.mark.parametrize("value", ["depthwise", "Symmetric", "", None, 1, ["symmetric"], np.nan])
def test_unknown_policies(R, value):
    with pytest.raises(ValueError, match=r"`grow_policy` must be one of \['leafwise', 'symmetric'"):
        fit(R, grow_policy=value)


@each_grower
@pytest.mark.parametrize(
    ("params", "depth"),
    [
        ({"max_depth": 17}, 17),
        ({"max_depth": 10**20}, 10**20),
        ({"max_leaf_nodes": 2**17}, 17),
        ({"max_leaf_nodes": 2**16, "max_depth": 17}, 17),
    ],
)
def test_symmetric_trees_that_are_too_deep(R, params, depth):
    with pytest.raises(
        ValueError, match=f"at most 16 levels .* ask for {depth}\\. Set `max_depth`"
    ):
        fit(R, grow_policy="symmetric", **params)
    if depth == 17:
        fit(R, grow_policy="leafwise", n_estimators=1, **params)


@each_grower
@pytest.mark.parametrize("params", [{"max_leaf_nodes": 2**17 - 1}, {"max_depth": 16}])
def test_symmetric_trees_of_most_levels(R, params):
    model = fit(R, grow_policy="symmetric", n_estimators=1, min_samples_leaf=1, **params)
    assert max(len(levels(tree)) for tree in trees_of(model)) > 4


@each_grower
@pytest.mark.parametrize(
    ("params", "depth"),
    [
        ({"max_leaf_nodes": 15}, 3),
        ({"max_leaf_nodes": np.int64(15)}, 3),
        ({"max_leaf_nodes": 2, "max_depth": 4}, 4),  # which leaves do not bound then
        ({"max_leaf_nodes": 2**17, "max_depth": 2}, 2),
    ],
)
def test_depth_of_symmetric_trees(R, params, depth):
    model = fit(R, grow_policy="symmetric", min_samples_leaf=1, **params)
    found = [len(levels(tree)) for tree in trees_of(model)]
    assert max(found) == depth
    X, y, groups = make_data(R)
    again = make(R, grow_policy="symmetric", min_samples_leaf=1, max_depth=depth)
    assert_same(model, again.fit(X, y, groups), X)


@each_grower
def test_symmetric_trees_have_one_cut_a_level(R):
    """Which trees that grow leaf by leaf do not."""
    params = {"min_samples_leaf": 2, "max_leaf_nodes": 8}
    cuts = {
        policy: max(len(levels(tree)) for tree in trees_of(fit(R, grow_policy=policy, **params)))
        for policy in ("leafwise", "symmetric")
    }
    assert cuts["symmetric"] == 3 < cuts["leafwise"]
