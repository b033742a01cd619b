# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker that grows trees obeys the constraints that it is given."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from every_ranker import RANKERS, assert_same, has, make, make_data
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr import export
from sklearn_ltr.export import scoring

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


@each_grower
@each_policy
def test_directions_by_name(R, policy):
    X, _, _ = make_data(R)
    frame = pd.DataFrame(X, columns=NAMES)
    params = {"grow_policy": policy, "method": "ordinal"}
    named = fit(R, frame, monotonic_cst={"clicks": -1, "price": 1}, **params)
    assert_same(named, fit(R, monotonic_cst=[1, 0, 0, -1, 0], **params), frame, X)
    assert_same(fit(R, frame, monotonic_cst={}, **params), fit(R, **params), frame, X)


@each_grower
@pytest.mark.parametrize(
    ("cst", "named", "message"),
    [
        (
            {"prize": 1},
            True,
            r"has 'prize', which names no column of `X`: they are named \['price'",
        ),
        ({"price": 1}, False, "has 'price', which names no column of `X`: they have no names"),
        ({0: 1}, True, "has 0, which names no column"),
        ({"price": 2}, True, r"must hold -1, 0 and 1 only; got \[2, 0, 0, 0, 0\]"),
        ({"price": None}, True, "must hold -1, 0 and 1 only"),
    ],
)
def test_directions_of_what_is_no_feature(R, cst, named, message):
    X, _, _ = make_data(R)
    X = pd.DataFrame(X, columns=NAMES) if named else X
    with pytest.raises(ValueError, match=f"`monotonic_cst` {message}"):
        fit(R, X, monotonic_cst=cst, method="ordinal")
    model = fit(R, X, n_estimators=2, warm_start=True, method="ordinal")
    model.set_params(n_estimators=4, monotonic_cst=cst)
    with pytest.raises(ValueError, match=f"`monotonic_cst` {message}"):
        model.fit(X, *make_data(R)[1:])


EXPORTED = [R for R in GROWERS if R.__name__ in scoring.RANKERS]


@pytest.mark.parametrize("R", EXPORTED, ids=lambda R: R.__name__)
@pytest.mark.parametrize(
    ("params", "stored"),
    [
        ({"interaction_cst": "pairwise"}, "pairwise"),
        ({"interaction_cst": ({"stock", "price", 4}, [np.int64(2)])}, [[4, "price", "stock"], [2]]),
        ({"interaction_cst": np.array([[0, 1], [2, 3]])}, [[0, 1], [2, 3]]),
        ({"monotonic_cst": {"stock": np.int64(-1), "age": 1}}, {"stock": -1, "age": 1}),
    ],
)
def test_exports_keep_them(R, params, stored):
    """And what goes on with the model obeys them, to the last bit."""
    X, y, groups = make_data(R)
    frame = pd.DataFrame(X, columns=NAMES)
    model = fit(R, frame, warm_start=True, method="ordinal", **params)
    data = json.loads(json.dumps(export.to_dict(model)))
    assert data["params"][next(iter(params))] == stored
    again = export.from_dict(data)
    for each in (model, again):
        each.set_params(n_estimators=9).fit(frame, y, groups)
    assert_same(again, model, frame)


@pytest.mark.parametrize("R", EXPORTED, ids=lambda R: R.__name__)
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("interaction_cst", "trios", r"params: `interaction_cst` must be one of"),
        ("interaction_cst", [0], r"params.interaction_cst\[0\] must be a list"),
        ("interaction_cst", [[0, 1.5]], r"params.interaction_cst\[0\]\[1\] must be an integer"),
        ("interaction_cst", [[0, True]], r"params.interaction_cst\[0\]\[1\] must be an integer"),
        ("interaction_cst", [[0, 5]], r"params: `interaction_cst` has 5, which is no column"),
        ("interaction_cst", [["a"]], r"params: `interaction_cst` has 'a', which is no column"),
        ("interaction_cst", 2, r"params.interaction_cst must be a list"),
        ("interaction_cst", {}, r"params.interaction_cst must be a list"),
        ("monotonic_cst", {"a": 1}, r"params: `monotonic_cst` has 'a', which names no column"),
        ("monotonic_cst", {"price": "1"}, r"params.monotonic_cst\['price'\] must be a finite"),
        ("monotonic_cst", {"price": True}, r"params.monotonic_cst\['price'\] must be a finite"),
        ("monotonic_cst", {"price": 3}, r"params: `monotonic_cst` must hold -1, 0 and 1 only"),
        ("monotonic_cst", {3: 1}, r"monotonic_cst: the key 3 must be a string"),
    ],
)
def test_malformed_exports(R, name, value, message):
    X, _, _ = make_data(R)
    model = fit(R, pd.DataFrame(X, columns=NAMES), n_estimators=1, method="ordinal")
    data = export.to_dict(model)
    data["params"][name] = value
    with pytest.raises(ValueError, match=message):
        export.from_dict(data)
