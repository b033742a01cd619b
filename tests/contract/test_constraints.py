# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker that grows trees obeys the constraints that it is given."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, assert_same, has, make, make_data
from sklearn.tree import DecisionTreeRegressor

NAMES = ["price", "stock", "age", "clicks", "brand"]
GROWERS = [R for R in RANKERS if has(R, "max_leaf_nodes")]
each_grower = pytest.mark.parametrize("R", GROWERS, ids=lambda R: R.__name__)
each_policy = pytest.mark.parametrize("policy", ["leafwise", "symmetric"])

FORMS = [
    ("pairwise", [set(pair) for pair in combinations(range(5), 2)]),
    ("no_interactions", [{k} for k in range(5)]),
    ([{0, 1}, {1, 2}], [{0, 1}, {1, 2}, {3, 4}]),  # those in no group are a group
    ([[0, 1], (1, 2, 2), set()], [{0, 1}, {1, 2}, {3, 4}]),
    (({0},), [{0}, {1, 2, 3, 4}]),
    (np.array([[0, 4], [2, 3]]), [{0, 4}, {2, 3}, {1}]),
    ([{np.int64(0), 1}, {4}, {3, 2}], [{0, 1}, {4}, {2, 3}]),
]


def fit(R, X=None, **params):
    data, y, groups = make_data(R)
    params = {"max_leaf_nodes": 8, "max_depth": 3, "n_estimators": 6} | params
    return make(R, **params).fit(data if X is None else X, y, groups)


def used_together(model):
    """The features used on the way to each leaf of each tree: set of frozensets."""
    found = set()
    for _, tree in model.model_.terms:
        above = {0: frozenset()}
        for node, feature in enumerate(tree.feature):
            for child in (tree.left[node], tree.left[node] + 1) if feature >= 0 else ():
                above[child] = above[node] | {int(feature)}
        found |= {above[node] for node in np.flatnonzero(tree.feature < 0)}
    return found


def obeys(model, groups):
    return all(any(path <= group for group in groups) for path in used_together(model))


@each_grower
@each_policy
@pytest.mark.parametrize(("cst", "groups"), FORMS, ids=range(len(FORMS)))
def test_every_path_keeps_to_a_group(R, policy, cst, groups):
    params = {"grow_policy": policy, "max_features": 0.7}
    model = fit(R, interaction_cst=cst, **params)
    assert obeys(model, groups)
    assert not obeys(fit(R, **params), groups)
    if "warm_start" in model.get_params():
        half = fit(R, interaction_cst=cst, n_estimators=3, warm_start=True, **params)
        X, y, groups_of_rows = make_data(R)
        half.set_params(n_estimators=6).fit(X, y, groups_of_rows)
        assert_same(half, model, X)


@each_grower
def test_groups_by_name(R):
    X, _, _ = make_data(R)
    frame = pd.DataFrame(X, columns=NAMES)
    named = fit(R, frame, interaction_cst=[{"price", "stock"}, ("age", 1)])
    assert_same(named, fit(R, interaction_cst=[{0, 1}, {2, 1}]), frame, X)


@each_grower
@pytest.mark.parametrize(
    ("cst", "message"),
    [
        ("pairs", r"one of \['pairwise', 'no_interactions'\] or a sequence .*; got 'pairs'"),
        (3, "a sequence of groups of features, as in .*; got 3"),
        ([0, 1], r"a sequence of groups .*; got \[0, 1\]"),
        (["price", "stock"], r"a sequence of groups .*; got \['price', 'stock'\]"),
        ({"price": 1}, "a sequence of groups"),
        ([{0, 5}], "has 5, which is no column of `X`: there are 5, and they have no names"),
        ([{0, -1}], "has -1, which is no column"),
        ([{0, 1.0}], "has 1.0, which is no column"),
        ([{0, True}], "has True, which is no column"),
        ([{0, "price"}], "has 'price', which is no column of `X`: .* they have no names"),
    ],
)
def test_what_is_no_group_of_features(R, cst, message):
    with pytest.raises(ValueError, match=f"`interaction_cst` .*{message}"):
        fit(R, interaction_cst=cst)


@each_grower
def test_warm_start_checks_groups(R):
    model = fit(R, n_estimators=2, warm_start=True).set_params(interaction_cst=[{7}])
    with pytest.raises(ValueError, match="`interaction_cst` has 7"):
        model.set_params(n_estimators=4).fit(*make_data(R))


@pytest.mark.parametrize("R", [R for R in GROWERS if has(R, "estimator")], ids=lambda R: R.__name__)
@pytest.mark.parametrize(
    "params", [{"interaction_cst": "pairwise"}, {"monotonic_cst": [1, 0, 0, 0, 0]}]
)
def test_no_constraint_of_regressors(R, params):
    """They would not obey it."""
    with pytest.raises(ValueError, match=f"`{next(iter(params))}` constrains trees"):
        fit(R, estimator=DecisionTreeRegressor(), **params)
