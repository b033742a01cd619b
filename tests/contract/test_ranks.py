# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every ranker fits rows of several ranks to the bits of a fit to all of them, or refuses."""

import inspect
from functools import partial

import numpy as np
import pandas as pd
import pytest
from every_ranker import (
    RANKERS,
    allows_sparse,
    assert_same,
    each_ranker,
    has,
    make,
    make_data,
    takes_preferences,
    takes_sample_weight,
    variants,
)
from hypothesis import given
from hypothesis import strategies as st
from ranks import OtherCallError, run, shards_of
from scipy import sparse
from strategies import examples

from sklearn_ltr import BlendedRanker, LambdaMART, QBRank, RegressionRanker, reduction
from sklearn_ltr.boosting.trees import TreeBoosting

N_QUERIES = 30

# Those that take rows of several ranks, besides those that boost trees.
OTHERS = ("AdaRank", "BlendedRanker", "SingleFeatureRanker")

# Rankers and variants that refuse, the latter whatever the ranker.
REFUSING = {
    R.__name__ for R in RANKERS if not (issubclass(R, TreeBoosting) or R.__name__ in OTHERS)
}
REFUSED = ("loss=absolute_error",)

ranks_of_queries = st.one_of(
    st.lists(st.integers(0, 4), min_size=N_QUERIES, max_size=N_QUERIES),
    # Most queries on one rank, one each on some of the others, none on the rest.
    st.permutations(range(5)).map(lambda p: [p[0]] * (N_QUERIES - 2) + [p[1], p[2]]),
)


def fit(R, params, rows=slice(None), data=None, **others):
    X, y, groups = make_data(R) if data is None else data
    others = {name: values[rows] for name, values in others.items()}
    return make(R, **params).fit(X[rows], y[rows], groups=groups[rows], **others)


def fit_on_ranks(R, params, ranks, n_ranks, **others):
    """The models of the ranks, and the calls they made."""
    shards = shards_of(make_data(R)[2], np.array(ranks), n_ranks)
    return run([lambda rows=rows: fit(R, params, rows, **others) for rows in shards])


def trees(model):
    terms = model.model_.terms if hasattr(model, "model_") else ()
    return [vars(weak) for *_, weak in terms]


def assert_equal_models(model, expected, R):
    X = make_data(R)[0]
    assert_same(model, expected, X)
    for first, second in zip(trees(model), trees(expected), strict=True):
        assert first.keys() == second.keys()
        for name, value in first.items():
            np.testing.assert_array_equal(value, second[name], err_msg=name)


def starts_from_scores(R):
    return "init_score" in inspect.signature(R.fit).parameters


def refuses(R, id):
    return R.__name__ in REFUSING or any(name in id for name in REFUSED)


SPLIT = [p for p in variants() if not refuses(p.values[0], p.id)]


@pytest.mark.parametrize(
    "n_ranks", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 5))]
)
@pytest.mark.parametrize(("R", "params"), SPLIT)
def test_same_model(R, params, n_ranks):
    expected = fit(R, params)
    models, _ = fit_on_ranks(R, params, np.arange(N_QUERIES) ** 2 % n_ranks, n_ranks)
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize("R", [R for R in RANKERS if R.__name__ not in REFUSING])
@examples(20)
@given(ranks=ranks_of_queries, early=st.booleans())
def test_whatever_the_shards(R, ranks, early):
    params = {"early_stopping": early, "validation_fraction": 0.1, "n_estimators": 3}
    expected = fit(R, params)
    models, _ = fit_on_ranks(R, params, ranks, 5)
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize("R", [R for R in RANKERS if R.__name__ not in REFUSING])
@pytest.mark.parametrize("whole", [False, True])
def test_weights(R, whole):
    _, y, groups = make_data(R)
    rng = np.random.default_rng(0)
    weights = {"query_weight": 3 * rng.random(N_QUERIES)[groups] ** 2}
    if takes_sample_weight(R):
        weights["sample_weight"] = 3 * rng.random(len(y))
    if whole:
        weights = {name: np.rint(w) for name, w in weights.items()}
    expected = fit(R, {}, **weights)
    models, _ = fit_on_ranks(R, {}, np.arange(N_QUERIES) % 3, 3, **weights)
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize(
    "R",
    [R for R in RANKERS if R.__name__ not in REFUSING and R._no_propensity is None],
)
def test_clicks_with_propensities(R):
    """The weights of clicks are relative to the largest of all ranks."""
    X, y, groups = make_data(R)
    rng = np.random.default_rng(0)
    clicks = (y >= np.median(y)).astype(float)
    propensity = rng.uniform(0.2, 1, len(y))
    params = {"query_norm": False, "pair_weight": 1.0}
    if R is BlendedRanker:
        params = {
            "estimators": [(f"of {M.__name__}", make(M, **params)) for M in (LambdaMART, QBRank)]
        }
    params = {name: value for name, value in params.items() if has(R, name)}
    data = X, clicks, groups
    expected = fit(R, params, data=data, propensity=propensity)
    ranks = np.arange(N_QUERIES) % 3
    models, _ = fit_on_ranks(R, params, ranks, 3, data=data, propensity=propensity)
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "R", [R for R in RANKERS if R.__name__ not in REFUSING and has(R, "max_bins")]
)
def test_bins_of_a_sample(R, weighted, monkeypatch):
    """Every so many rows in canonical order, wherever they are."""
    monkeypatch.setattr("sklearn_ltr.binning.QUANTILE_ROWS", 37)
    weights = {}
    if weighted and takes_sample_weight(R):
        weights["sample_weight"] = np.random.default_rng(0).random(len(make_data(R)[1]))
    params = {"max_bins": 8}
    expected = fit(R, params, **weights)
    models, _ = fit_on_ranks(R, params, np.arange(N_QUERIES) % 3, 3, **weights)
    for model in models:
        assert_equal_models(model, expected, R)
        for first, second in zip(
            model._binner.thresholds_, expected._binner.thresholds_, strict=True
        ):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if R.__name__ not in REFUSING and allows_sparse(R)]
)
def test_sparse_shards(R):
    X, y, groups = make_data(R)
    X = sparse.csr_array(np.where(np.abs(X) < 0.6, 0, X))
    expected = fit(R, {}, data=(X, y, groups))
    shards = shards_of(groups, np.minimum(np.arange(N_QUERIES) % 3, 1), 3)
    models, _ = run([lambda rows=rows: fit(R, {}, rows, (X, y, groups)) for rows in shards])
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if R.__name__ not in REFUSING and has(R, "categorical_features")]
)
def test_categories_of_frames(R):
    """Of which each rank has others, and one has missing values only."""
    X, y, groups = make_data(R)
    ranks = np.arange(N_QUERIES) % 3
    frame = pd.DataFrame(X).rename(columns=str)
    brands = np.array(list("abcdefg"), dtype=object)[np.digitize(X[:, 0], [-1, -0.5, 0, 0.5, 1])]
    brands[ranks[groups] == 2] = None
    frame["0"] = pd.Series(brands, dtype="category")
    expected = make(R).fit(frame, y, groups=groups)

    def of_rank(rows):
        return make(R).fit(frame.iloc[rows], y[rows], groups=groups[rows])

    for model in run([partial(of_rank, rows) for rows in shards_of(groups, ranks, 3)])[0]:
        assert_same(model, expected, frame)


def test_features_that_ranks_tell_apart_otherwise():
    X, y, groups = make_data(LambdaMART)
    shards = shards_of(groups, np.arange(N_QUERIES) % 2, 2)
    with pytest.raises(ValueError, match="differ in whether feature 0 is categorical"):
        run(
            [
                lambda rows=rows, codes=codes: LambdaMART(categorical_features=codes).fit(
                    np.rint(np.abs(X[rows])), y[rows], groups=groups[rows]
                )
                for rows, codes in zip(shards, ([0], [1]), strict=True)
            ]
        )


@each_ranker
def test_those_that_refuse_say_why(R):
    if R.__name__ not in REFUSING:
        return
    with pytest.raises(NotImplementedError, match=f"{R.__name__} takes no rows of several ranks: "):
        fit_on_ranks(R, {}, np.arange(N_QUERIES) % 2, 2)


@pytest.mark.parametrize(
    ("R", "params"),
    [p for p in variants() if p.values[0].__name__ not in REFUSING and refuses(p.values[0], p.id)],
)
def test_what_is_refused(R, params):
    with pytest.raises(NotImplementedError, match=f"{R.__name__} takes no .* of several ranks: "):
        fit_on_ranks(R, params, np.arange(N_QUERIES) % 2, 2)


@pytest.mark.parametrize("n_rounds", [1, 5])
def test_calls_do_not_depend_on_the_shards(n_rounds):
    """As many, of the same shapes, from the same places."""
    params = {"n_estimators": n_rounds}
    calls = [
        fit_on_ranks(LambdaMART, params, np.arange(N_QUERIES) % n_ranks, n_ranks)[1]
        for n_ranks in (2, 3)
    ]
    of_ranks = [[(what, where) for what, _, where in c] for c in calls]
    assert of_ranks[0] == of_ranks[1]


def test_warm_start():
    expected = fit(LambdaMART, {"n_estimators": 6, "subsample": 0.7})

    def in_two(rows):
        model = fit(LambdaMART, {"n_estimators": 4, "subsample": 0.7}, rows)
        X, y, groups = make_data(LambdaMART)
        model.set_params(warm_start=True, n_estimators=6)
        return model.fit(X[rows], y[rows], groups=groups[rows])

    shards = shards_of(make_data(LambdaMART)[2], np.arange(N_QUERIES) % 3, 3)
    models, _ = run([lambda rows=rows: in_two(rows) for rows in shards])
    for model in models:
        assert_equal_models(model, expected, LambdaMART)
    # What several ranks began one can end, and the other way round.
    X, y, groups = make_data(LambdaMART)
    model = run(
        [lambda r=r: fit(LambdaMART, {"n_estimators": 4, "subsample": 0.7}, r) for r in shards]
    )[0][1]
    model.set_params(warm_start=True, n_estimators=6).fit(X, y, groups=groups)
    assert_equal_models(model, expected, LambdaMART)


def test_validation_sets():
    X, y, groups = make_data(LambdaMART)
    others = {"X_val": X, "y_val": y, "groups_val": groups}
    params = {"early_stopping": True, "n_iter_no_change": 2}
    expected = fit(LambdaMART, params, **others)
    models, _ = fit_on_ranks(LambdaMART, params, np.arange(N_QUERIES) % 3, 3, **others)
    for model in models:
        assert_equal_models(model, expected, LambdaMART)


def test_scores_are_of_all_rows():
    X, y, groups = make_data(LambdaMART)
    model = fit(LambdaMART, {})
    shards = shards_of(groups, np.arange(N_QUERIES) % 4, 4)
    scores, _ = run([lambda r=r: model.score(X[r], y[r], groups[r]) for r in shards])
    assert scores == [model.score(X, y, groups)] * 4


def test_seeds_are_those_of_the_first_rank():
    params = {"subsample": 0.5, "random_state": None}
    models, _ = fit_on_ranks(LambdaMART, params, np.arange(N_QUERIES) % 3, 3)
    for model in models:
        assert_equal_models(model, models[0], LambdaMART)


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if R.__name__ not in REFUSING and starts_from_scores(R)]
)
def test_scores_to_start_from(R):
    _, y, _ = make_data(R)
    start = {"init_score": np.random.default_rng(0).normal(size=len(y))}
    expected = fit(R, {}, **start)
    models, _ = fit_on_ranks(R, {}, np.arange(N_QUERIES) % 3, 3, **start)
    for model in models:
        assert_equal_models(model, expected, R)


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if R.__name__ not in REFUSING and takes_preferences(R)]
)
def test_preferences_are_refused(R):
    X, _, groups = make_data(R)
    pair = np.flatnonzero(groups == np.bincount(groups).argmax())[:2]

    def fit_pair(shift):
        return make(R).fit(X, groups=groups + shift, preferences=[pair])

    message = f"{R.__name__} takes no `preferences` with rows of several ranks"
    with pytest.raises(NotImplementedError, match=message):
        run([lambda: fit_pair(0), lambda: fit_pair(1000)])


def test_cut_queries():
    _, y, _ = make_data(LambdaMART)
    halves = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    with pytest.raises(ValueError, match="queries with rows on more than one rank"):
        run([lambda rows=rows: fit(LambdaMART, {}, rows) for rows in halves])


def test_no_groups():
    X, y, _ = make_data(LambdaMART)
    with pytest.raises(ValueError, match="LambdaMART needs `groups` with rows of several ranks"):
        run([lambda: make(LambdaMART).fit(X, y)] * 2)


def test_ranks_that_differ():
    X, y, groups = make_data(LambdaMART)
    fits = [
        lambda: make(LambdaMART).fit(X, y, groups),
        lambda: make(LambdaMART).fit(X, y, groups + 1000, query_weight=np.ones(len(y))),
    ]
    with pytest.raises(ValueError, match="differ in whether `query_weight` is given"):
        run(fits)
    fits[1] = lambda: make(LambdaMART).fit(X[:, 1:], y, groups + 1000)
    with pytest.raises(ValueError, match="differ in the number of features: from 4 to 5"):
        run(fits)


def test_an_error_of_one_rank_ends_all():
    X, y, groups = make_data(LambdaMART)
    wrong = y.copy()
    wrong[0] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        run(
            [
                lambda: make(LambdaMART).fit(X, y, groups),
                lambda: make(LambdaMART).fit(X, wrong, groups + 1000),
            ]
        )


def test_nothing_anywhere():
    X, y, groups = make_data(LambdaMART)
    fits = [lambda k=k: make(LambdaMART).fit(X, 0 * y, groups + 1000 * k) for k in range(2)]
    with pytest.raises(ValueError, match=f"found {2 * len(y)} sample.* in {2 * N_QUERIES} queries"):
        run(fits)
    none = [lambda: make(LambdaMART).fit(X[:0], y[:0], groups[:0])] * 2
    with pytest.raises(ValueError, match="No rank has a row"):
        run(none)


def test_functions_that_see_one_rank():
    params = {"early_stopping": True, "scoring": lambda y, scores, groups: 0.0}
    with pytest.raises(NotImplementedError, match="`scoring` <lambda> would see the rows of one"):
        fit_on_ranks(LambdaMART, params, np.arange(N_QUERIES) % 2, 2)
    params = {"gain": lambda grades: grades}
    with pytest.raises(NotImplementedError, match="callable `gain` is of all grades at once"):
        fit_on_ranks(RegressionRanker, params, np.arange(N_QUERIES) % 2, 2)


def test_only_the_first_rank_prints(capsys):
    fit(LambdaMART, {"verbose": 1})
    expected = capsys.readouterr().out
    fit_on_ranks(LambdaMART, {"verbose": 1}, np.arange(N_QUERIES) % 3, 3)
    assert capsys.readouterr().out == expected


def test_other_calls_are_noticed():
    def one(n):
        reduction.count(n)

    def other(n):
        reduction.total(np.ones(n))

    with pytest.raises(OtherCallError, match=r"\(70,\).* and .*\(1,\)"):
        run([lambda: one(1), lambda: other(1)])


def test_sums_and_extremes():
    rng = np.random.default_rng(0)
    values = np.ldexp(rng.normal(size=200), rng.integers(-300, 300, size=200))
    weights = rng.random(200)
    parts = np.split(np.arange(200), [0, 1, 150])

    def of(rows):
        return [
            reduction.total(values[rows]),
            reduction.total(weights[rows] > 0.5),
            reduction.dot(values[rows], weights[rows]),
            reduction.mean(values[rows], weights[rows]),
            reduction.mean(values[rows]),
            reduction.largest(values[rows]),
            reduction.smallest(values[rows]),
            reduction.largest(-np.abs(values[rows])),
            reduction.count(len(rows)),
            reduction.anywhere(values[rows] == values[0]),
            reduction.everywhere(values[rows] == values[0]),
            *reduction.gathered(values[rows]),
        ]

    for found in run([lambda rows=rows: of(rows) for rows in parts])[0]:
        assert found == of(np.arange(200))
    nan = np.array([np.nan])
    largest, _ = run([lambda: reduction.largest(nan), lambda: reduction.largest(values)])
    assert np.isnan(largest).all()
