# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Categorical features of every ranker with trees: by value, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from every_ranker import RANKERS, assert_same, has, make
from numpy.testing import assert_allclose, assert_array_equal
from oracles.treeshap import shapley_values
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, cross_val_score

from sklearn_ltr import BlendedRanker, LambdaMART, QBRank, RegressionRanker
from sklearn_ltr.export import from_dict, to_dict, to_ranklib_xml
from sklearn_ltr.model_selection import permutation_importance
from sklearn_ltr.scorers import get_scorer

GROWERS = [R for R in RANKERS if has(R, "categorical_features")]
OTHERS = [R for R in RANKERS if not has(R, "categorical_features") and R is not BlendedRanker]
each_grower = pytest.mark.parametrize("R", GROWERS, ids=lambda R: R.__name__)
each_library = pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
POLICIES = ("leafwise", "symmetric")
NAMES = np.array([f"kind {k}" for k in range(9)])


def make_kinds(n=240, seed=0):
    """A number and a kind a row, in an order of its own; some kinds are missing."""
    rng = np.random.default_rng(seed)
    number, kind = rng.normal(size=n), rng.integers(0, len(NAMES), n)
    effect = rng.permutation(len(NAMES)) / 3
    y = np.clip(np.round(effect[kind] + 0.5 * number), 0, 4)
    kind = np.where(rng.random(n) < 0.1, np.nan, kind)
    return number, kind, y, np.arange(n) // 12


def as_text(kind, names=NAMES):
    """Names of kinds, None where they are missing."""
    return np.array([None if np.isnan(k) else names[int(k)] for k in kind], dtype=object)


def frame(library, number, texts, *, categories=True, listed=None):
    """A frame of a number and a kind, a column of categories or of strings."""
    module = pytest.importorskip(library)
    texts = list(texts)
    if library == "pandas":
        kind = pd.Categorical(texts, categories=listed) if categories else pd.Series(texts)
        return pd.DataFrame({"number": number, "kind": kind})
    if library == "polars":
        kind = module.Series(texts, dtype=module.String)
        if categories:
            kind = kind.cast(module.Categorical if listed is None else module.Enum(list(listed)))
        return module.DataFrame({"number": number, "kind": kind})
    kind = module.array(texts, module.string())
    return module.table(
        {"number": number, "kind": kind.dictionary_encode() if categories else kind}
    )


def fit(R, X, y, groups, **params):
    return make(R, **params).fit(X, y, groups=groups)


@pytest.mark.parametrize("R", [R for R in GROWERS if hasattr(make(R), "contributions")])
@pytest.mark.parametrize("policy", POLICIES)
def test_contributions(R, policy):
    number, kind, y, groups = make_kinds()
    X = np.column_stack([number, kind, number.round(), kind % 3])
    params = {"categorical_features": [1, 3], "grow_policy": policy, "min_samples_category": 1}
    model = fit(R, X, y, groups, n_estimators=4, **params)
    assert any(weak.has_categories for _, weak in model.model_.terms)
    X = np.vstack([X[:6], [[0.3, 77, 1, np.nan]]])  # a category that was not seen
    found = model.contributions(X)
    assert_allclose(model.expected_score_ + found.sum(axis=1), model.predict(X), atol=1e-12)
    codes = model._validate_X(X, reset=False)
    expected = np.zeros(X.shape)
    for coefficient, tree in model.model_.first(model.best_iteration_).terms:
        for row, x in zip(expected, codes, strict=True):
            row += coefficient * shapley_values(tree, x)[0]
    assert_allclose(found, expected, atol=1e-12)


@each_grower
@each_library
@pytest.mark.parametrize("policy", POLICIES)
def test_categories_are_known_by_value(R, library, policy):
    """Whatever the library, the order they are listed in, and whether they have a dtype at all."""
    number, kind, y, groups = make_kinds()
    expected = fit(
        R,
        np.column_stack([number, kind]),
        y,
        groups,
        grow_policy=policy,
        categorical_features=[1],
    )
    scores = expected.predict(np.column_stack([number, kind]))
    assert expected.n_splits_[1] > 0
    texts = as_text(kind)
    forms = [
        (frame(library, number, texts), "from_dtype"),
        (frame(library, number, texts), ["kind"]),
        (frame(library, number, texts, categories=False), ["kind"]),
        (frame(library, number, texts, categories=False), [1]),
        (frame(library, number, texts, categories=False), np.array([False, True])),
    ]
    if library != "pyarrow":
        forms.append((frame(library, number, texts, listed=NAMES[::-1]), "from_dtype"))
        forms.append(
            (frame(library, number, texts, listed=[*NAMES[3:], "x", *NAMES[:3]]), ["kind"])
        )
    for X, value in forms:
        model = fit(R, X, y, groups, grow_policy=policy, categorical_features=value)
        assert_same(model, expected, X, np.column_stack([number, kind]))
        for other, _ in forms:
            assert_array_equal(model.predict(other), scores)
        assert model.categories_[0] is None
        assert model.categories_[1].tolist() == NAMES.tolist()
    assert expected.categories_[1].tolist() == list(range(len(NAMES)))


@each_grower
def test_integers_of_any_form(R):
    """Codes may have gaps and be as large as 2^53, in dense and sparse matrices and in frames."""
    number, kind, y, groups = make_kinds()
    gaps = np.array([0, 1, 5, 6, 7, 100, 1000, 2**40, 2**53], dtype=float)
    coded = np.array([np.nan if np.isnan(k) else gaps[int(k)] for k in kind])
    small, X = np.column_stack([number, kind]), np.column_stack([number, coded])
    expected = fit(R, small, y, groups, categorical_features=[1])
    category = pd.Categorical(pd.Series(coded).astype("Int64"))
    forms = [
        X,
        X.tolist(),
        X.astype(object),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        pd.DataFrame({"number": number, "kind": coded}),
        pd.DataFrame({"number": number, "kind": pd.Series(coded).astype("Int64")}),
        pd.DataFrame({"number": number, "kind": category}),
    ]
    before = X.copy()
    for form in forms:
        model = fit(R, form, y, groups, categorical_features=[1])
        assert_array_equal(model.predict(form), expected.predict(small))
        assert_array_equal(model.categories_[1], gaps)
    assert_array_equal(X, before)
    single = small.astype(np.float32)
    model = fit(R, single, y, groups, categorical_features=[1])
    assert_array_equal(model.predict(single), model.predict(single.astype(np.float64)))


@each_grower
@pytest.mark.parametrize("policy", POLICIES)
def test_unknown_ones_are_as_missing_ones(R, policy):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    model = fit(R, X, y, groups, grow_policy=policy)
    texts = as_text(kind)
    changed = np.arange(len(y)) % 3 == 0
    unknown = frame("pandas", number, np.where(changed, "of no kind", texts))
    missing = frame("pandas", number, np.where(changed, None, texts))
    assert_array_equal(model.predict(unknown), model.predict(missing))
    assert (model.predict(unknown) != model.predict(X)).any()
    model = fit(R, np.column_stack([number, kind]), y, groups, categorical_features=[1])
    assert_array_equal(
        model.predict(np.column_stack([number, np.where(changed, 77, kind)])),
        model.predict(np.column_stack([number, np.where(changed, np.nan, kind)])),
    )
    none_known = np.column_stack([number, np.full(len(y), 77)])
    assert_array_equal(
        model.predict(sparse.csr_array(none_known)),
        model.predict(np.column_stack([number, np.full(len(y), np.nan)])),
    )


@each_grower
def test_rows_of_weight_zero_leave_no_category(R):
    number, kind, y, groups = make_kinds()
    kind[groups == 3] = 99
    weight = (groups != 3).astype(float)
    X = np.column_stack([number, kind])
    kept = groups != 3
    model = make(R, categorical_features=[1]).fit(X, y, groups, query_weight=weight)
    expected = fit(R, X[kept], y[kept], groups[kept], categorical_features=[1])
    assert_same(model, expected, X)
    assert 99 not in model.categories_[1]


@each_grower
def test_columns_without_values(R):
    number, kind, y, groups = make_kinds()
    X = np.column_stack([number, kind, np.full(len(y), np.nan), np.full(len(y), 3)])
    model = fit(R, X, y, groups, categorical_features=[1, 2, 3])
    assert [len(values) for values in model.categories_[1:]] == [9, 0, 1]
    assert model.n_splits_[2:].tolist() == [0, 0]
    expected = model.predict(X)
    X[:, 2:] = 5
    assert_array_equal(model.predict(X), expected)


@each_grower
def test_most_categories(R):
    rng = np.random.default_rng(0)
    kind = rng.permutation(np.tile(np.arange(256), 3))
    number, y, groups = rng.normal(size=768), rng.integers(0, 3, 768), np.arange(768) // 12
    X = np.column_stack([number, kind % 255])
    assert len(fit(R, X, y, groups, categorical_features=[1]).categories_[1]) == 255
    X = pd.DataFrame({"number": number, "kind": pd.Categorical(kind.astype(str))})
    with pytest.raises(ValueError, match=r"'kind' of `X`.* 256 distinct values; at most 255"):
        fit(R, X, y, groups)
    with pytest.raises(ValueError, match=r"Column 1 of `X`.* 256 distinct values; at most 255"):
        fit(R, np.column_stack([number, kind]), y, groups, categorical_features=[1])


@each_grower
def test_what_is_no_code(R):
    number, kind, y, groups = make_kinds()
    X = np.column_stack([number, kind])
    model = fit(R, X, y, groups, categorical_features=[1])
    for wrong in (-1.0, 0.5, 2.0**53 + 2):
        bad = X.copy()
        bad[7, 1] = wrong
        for form in (bad, sparse.csr_array(bad), pd.DataFrame(bad)):
            with pytest.raises(
                ValueError, match=r"Column 1 of `X`.*must be integers from 0 on; got"
            ):
                fit(R, form, y, groups, categorical_features=[1])
            with pytest.raises(
                ValueError, match=r"Column 1 of `X`.*must be integers from 0 on; got"
            ):
                model.predict(form)


@each_grower
def test_values_of_another_kind(R):
    number, kind, y, groups = make_kinds()
    texts, numbers = frame("pandas", number, as_text(kind)), np.column_stack([number, kind])
    numbers = pd.DataFrame(numbers, columns=["number", "kind"])
    model = fit(R, texts, y, groups)
    with pytest.raises(ValueError, match=r"'kind' of `X`.* holds numbers where `fit` had strings"):
        model.predict(numbers)
    with (
        pytest.warns(UserWarning, match=r"feature names"),
        pytest.raises(ValueError, match=r"'kind' of `X`.* holds numbers where `fit` had strings"),
    ):
        model.predict(numbers.to_numpy())
    with pytest.raises(ValueError, match=r"'number' of `X`, of dtype category, .*holds categories"):
        model.predict(texts.assign(number=texts["kind"]))
    with pytest.raises(ValueError, match=r"feature names should match"):
        model.predict(texts[["kind", "number"]])
    with pytest.raises(ValueError, match=r"feature names should match"):
        model.predict(texts[["number"]])
    model = fit(R, numbers, y, groups, categorical_features=["kind"])
    with pytest.raises(ValueError, match=r"'kind' of `X`.* holds strings where `fit` had numbers"):
        model.predict(texts)


@each_grower
def test_what_a_category_may_be(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    for values, holds in (
        (pd.cut(number, 4), "Interval"),
        (pd.Categorical(pd.date_range("2020-01-01", periods=240).astype("M8[ns]")), "datetime64"),
        (pd.Categorical(pd.Series([(1, 2), (3, 4)] * 120)), r"\(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=rf"'kind' of `X`.*holds .*{holds}.*Make strings"):
            fit(R, X.assign(kind=values), y, groups)
    with pytest.raises(ValueError, match=r"'kind' of `X`.* both strings and numbers"):
        fit(R, X.assign(kind=pd.Series(["a", 1] * 120)), y, groups, categorical_features=["kind"])
    booleans = X.assign(kind=pd.Categorical(kind > 4))
    assert fit(R, booleans, y, groups).categories_[1].tolist() == [0, 1]
    halves = X.assign(kind=pd.Categorical(kind / 2 - 1))  # by value, as they are listed
    model = fit(R, halves, y, groups)
    assert_array_equal(model.categories_[1], np.arange(9) / 2 - 1)
    assert_array_equal(model.predict(halves), fit(R, X, y, groups).predict(X))


@each_grower
def test_none(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    for column in (X["kind"], X["kind"].astype(object), X["kind"].astype("string")):
        with pytest.raises(ValueError, match=r"Column 'kind' of `X`, .*`categorical_features`"):
            fit(R, X.assign(kind=column), y, groups, categorical_features=None)
    numbers = X.assign(kind=pd.Categorical(kind))
    with pytest.raises(
        ValueError, match=r"'kind' of `X`, .*holds categories.*categorical_features"
    ):
        fit(R, numbers, y, groups, categorical_features=None)
    as_numbers = np.column_stack([number, kind])
    expected = fit(R, as_numbers, y, groups, categorical_features=None)
    assert_same(expected, fit(R, as_numbers, y, groups), as_numbers)  # there is no dtype


@pytest.mark.parametrize("R", OTHERS, ids=lambda R: R.__name__)
def test_rankers_without_trees_order_no_categories(R):
    number, kind, y, groups = make_kinds()
    kind = np.nan_to_num(kind)
    X = pd.DataFrame({"number": number, "kind": pd.Categorical(kind)})
    with pytest.raises(ValueError, match=r"'kind' of `X`, of dtype category, .*holds categories"):
        fit(R, X, y, groups)
    model = fit(R, X.astype(float), y, groups)
    if "groups" not in model.predict.__code__.co_varnames:
        with pytest.raises(ValueError, match=r"'kind' of `X`, of dtype category, .*holds categor"):
            model.predict(X)


@each_grower
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("kind", "must be .from_dtype., None, a boolean mask"),
        (True, "must be .from_dtype., None, a boolean mask"),
        (1, "must be .from_dtype., None, a boolean mask"),
        ([1.0], "must be .from_dtype., None, a boolean mask"),
        ([1, "kind"], "must be .from_dtype., None, a boolean mask"),
        ([[False, True]], "must be .from_dtype., None, a boolean mask"),
        ([True], "must have one entry for each of the 2 features; got 1"),
        ([2], "has 2, which is no column of `X`"),
        ([-1], "has -1, which is no column of `X`"),
        (["color"], "has 'color', which is no column of `X`"),
    ],
)
def test_invalid_parameters(R, value, message):
    number, kind, y, groups = make_kinds()
    for X in (frame("pandas", number, as_text(kind)), np.column_stack([number, kind])):
        with pytest.raises(ValueError, match=rf"`categorical_features` {message}"):
            fit(R, X, y, groups, categorical_features=value)


@each_grower
def test_monotonic_constraints(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    params = {"method": "ordinal"} if has(R, "method") else {}
    with pytest.raises(
        ValueError, match=r"`monotonic_cst` has -1 for feature 'kind', .*categorical"
    ):
        fit(R, X, y, groups, monotonic_cst=[1, -1], **params)
    model = fit(R, X, y, groups, monotonic_cst=[1, 0], **params)
    higher = X.assign(number=X["number"] + 1)
    assert (model.predict(higher) >= model.predict(X)).all()


@each_grower
def test_a_warm_start_keeps_the_categories(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    expected = fit(R, X, y, groups, n_estimators=6)
    model = fit(R, X, y, groups, n_estimators=3, warm_start=True)
    relisted = frame("pandas", number, as_text(kind), listed=NAMES[::-1])
    model.set_params(n_estimators=6).fit(relisted, y, groups=groups)
    assert_same(model, expected, X)
    for value in (None, ["number"], [0, 1]):
        model.set_params(categorical_features=value, n_estimators=8)
        with pytest.raises(ValueError, match=r"`categorical_features` now names other features"):
            model.fit(X, y, groups=groups)


@each_grower
def test_validation_rows(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    X_val = frame(
        "pandas", number[:60], as_text(np.where(kind[:60] == 1, 8, kind[:60]), [*NAMES[:8], "x"])
    )
    model = make(R, early_stopping=True)
    model.fit(X, y, groups=groups, X_val=X_val, y_val=y[:60], groups_val=groups[:60] + 100)
    best = model.validation_score_[model.best_iteration_ - 1]
    assert get_scorer("ndcg@10")(model, X_val, y[:60], groups=groups[:60] + 100) == pytest.approx(
        best
    )
    with pytest.raises(
        ValueError, match=r"'kind' of `X_val`.* holds numbers where `fit` had strings"
    ):
        make(R).fit(
            X, y, groups, X_val=X_val.assign(kind=1), y_val=y[:60], groups_val=groups[:60] + 100
        )


@each_grower
def test_copies_and_searches(R):
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    model = fit(R, X, y, groups)
    assert_same(pickle.loads(pickle.dumps(model)), model, X)
    assert_same(clone(model).fit(X, y, groups=groups), model, X)
    scorer = get_scorer("ndcg@10")
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            make(R), X, y, cv=GroupKFold(3), scoring=scorer, params={"groups": groups}
        )
    assert not np.isnan(scores).any()
    found = permutation_importance(model, X, y, groups, scoring=scorer, n_repeats=3, random_state=0)
    assert found.importances_mean[1] > 0


@each_grower
def test_export(R):
    number, kind, y, groups = make_kinds()
    for X, params in (
        (frame("pandas", number, as_text(kind)), {}),
        (frame("pandas", number, as_text(kind)), {"categorical_features": ["kind"]}),
        (np.column_stack([number, kind]), {"categorical_features": np.array([False, True])}),
    ):
        model = fit(R, X, y, groups, **params)
        again = from_dict(to_dict(model))
        assert_array_equal(again.predict(X), model.predict(X))
        assert to_dict(again) == to_dict(model)
        assert again.categories_[1].tolist() == model.categories_[1].tolist()
        if not has(R, "grade_values"):
            with pytest.raises(ValueError, match=r"splits on categories of feature ('kind'|1)"):
                to_ranklib_xml(model)


def test_malformed_exports():
    number, kind, y, groups = make_kinds()
    data = to_dict(fit(RegressionRanker, frame("pandas", number, as_text(kind)), y, groups))

    def changed(change):
        copy = pickle.loads(pickle.dumps(data))
        change(copy)
        return copy

    def trees(d):
        return [t for terms in d["rounds"] for t in terms if "categories" in t]

    def first(t):
        return next(i for i, codes in enumerate(t["categories"]) if codes is not None)

    def set_codes(codes):
        def change(d):
            t = trees(d)[0]
            t["categories"][first(t)] = codes

        return change

    def of_a_leaf(d):
        t = trees(d)[0]
        t["categories"][t["feature"].index(-1)] = [1]

    def without(d):
        del d["categories"]

    def of_numbers(d):
        trees(d)[0].pop("categories")

    cases = [
        (set_codes([9]), "be below 9, the categories of the feature"),
        (set_codes([255]), "from 0 to 254"),
        (set_codes([2, 1]), "ascend"),
        (set_codes(["a"]), "must be int"),
        (of_a_leaf, "be null at a leaf"),
        (without, "be null but at splits on categorical features"),
        (of_numbers, "be null but at splits on categorical features"),
        (lambda d: d.update(categories=[None]), "categories must have 2 entries"),
        (lambda d: d["categories"].__setitem__(1, ["b", "a"]), r"categories\[1\] must ascend"),
        (lambda d: d["categories"].__setitem__(1, ["a", 1]), r"categories\[1\]\[1\] must be str"),
        (lambda d: d["categories"].__setitem__(1, ["a", "b"]), r"bins\[1\] must be between"),
        (lambda d: d["params"].update(categorical_features=[1.5]), "categorical_features"),
    ]
    for change, message in cases:
        with pytest.raises(ValueError, match=message):
            from_dict(changed(change))


def test_no_regressor_takes_codes_for_numbers():
    number, kind, y, groups = make_kinds()
    X = frame("pandas", number, as_text(kind))
    for R in (R for R in GROWERS if has(R, "estimator")):
        with pytest.raises(ValueError, match=r"`categorical_features` is of trees"):
            fit(R, X, y, groups, estimator=LinearRegression(), categorical_features=["kind"])
        with pytest.raises(ValueError, match=r"'kind' of `X`, of dtype category"):
            fit(R, X, y, groups, estimator=LinearRegression())
    assert has(QBRank, "estimator")


@each_library
@pytest.mark.parametrize("standardize", ["query", "train"])
def test_members_of_a_blend(library, standardize):
    number, kind, y, groups = make_kinds()
    scores = []
    for categories in (True, False):
        X = frame(library, number, as_text(kind), categories=categories)
        value = "from_dtype" if categories else ["kind"]
        members = [
            ("a", make(LambdaMART, categorical_features=value)),
            ("b", make(RegressionRanker, categorical_features=value)),
        ]
        blend = BlendedRanker(members, standardize=standardize).fit(X, y, groups=groups)
        scores.append(blend.predict(X, groups=groups))
        assert blend.score(X, y, groups=groups) > 0.8
        order = np.random.default_rng(0).permutation(len(y))
        shuffled = frame(library, number[order], as_text(kind[order]), categories=categories)
        other = clone(blend).fit(shuffled, y[order], groups=groups[order])
        assert_array_equal(other.predict(X, groups=groups), scores[-1])
    assert_array_equal(*scores)
    with pytest.raises(ValueError, match=r'member "b": Column .kind. of `X`.*OneHotEncoder'):
        BlendedRanker([members[0], ("b", make(OTHERS[-1]))]).fit(X, y, groups=groups)
