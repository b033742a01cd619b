# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The contract of every ranker, found by walking the package: a new one is tested at once.

What a ranker's constructor does not have (`early_stopping`, `step`, `warm_start`, ...) is skipped.
"""

import copy
import inspect
import io
import itertools
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from every_ranker import (
    RANKERS,
    allows_nan,
    allows_sparse,
    always_draws,
    assert_alike,
    assert_same,
    each_ranker,
    each_variant,
    each_variant_if_slow,
    has,
    learns_from_single_rows,
    make,
    make_data,
    mixes_labels_and_pairs,
    parameters,
    takes_sample_weight,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import sklearn_ltr
from sklearn_ltr import rankers
from sklearn_ltr.base import predict_queries
from sklearn_ltr.estimator import Estimator
from sklearn_ltr.metrics import ndcg_score

BIG = 72048431380967004  # float64 cannot tell it from its neighbour


# --- scikit-learn's own checks -------------------------------------------------------------------


# With few rounds, as scikit-learn checks its own ensembles.
few_rounds = [R(n_estimators=5) if has(R, "n_estimators") else R() for R in RANKERS]
few_rounds = [make(type(r)) if has(type(r), "estimators") else r for r in few_rounds]
checks = parametrize_with_checks(few_rounds)
# scikit-learn 1.8 gives pytest a generator, which it will no longer take.
each_check = pytest.mark.parametrize(checks.args[0], list(checks.args[1]), **checks.kwargs)


@pytest.mark.filterwarnings("ignore:`groups` is None:UserWarning")
@pytest.mark.filterwarnings("ignore:`y` has .* distinct grades:UserWarning")
@each_check
def test_estimator_checks(estimator, check):
    check(estimator)


def test_walk_finds_the_rankers():
    assert rankers.MPBoost in RANKERS
    public = {name for name in dir(sklearn_ltr) if name in sklearn_ltr.__all__}
    assert {R.__name__ for R in RANKERS} <= public
    # One algorithm, one file, one class.
    files = [R.__module__ for R in RANKERS]
    assert len(files) == len(set(files))


@each_ranker
def test_at_most_four_bases_are_ours(R):
    # Before scikit-learn 1.9 ours has the name of its base of callbacks, and stands in for it.
    bases = [B for B in R.__mro__[1:] if B.__module__.startswith("sklearn_ltr.")]
    bases = [B for B in bases if B.__name__ != "CallbackSupportMixin"]
    # Ours in the place of its base of all estimators.
    assert issubclass(R, Estimator)
    bases = [B for B in bases if B not in Estimator.__mro__]
    assert 1 <= len(bases) <= 4, bases


@each_ranker
def test_parameters_and_docs(R):
    for name in inspect.signature(R).parameters:
        assert not name.endswith("_")
        doc = inspect.cleandoc(R.__doc__)  # Python 3.13 and later keep it so
        assert f"\n{name} : " in doc or f", {name}" in doc, name
    required = {"X", "y", "groups", "query_weight"}
    assert required <= inspect.signature(R.fit).parameters.keys()
    assert {"groups", "query_weight", "sample_weight"} <= inspect.signature(
        R.score
    ).parameters.keys()


# --- 1: groups -----------------------------------------------------------------------------------


def encodings(codes):
    """The same grouping under ids of every type."""
    n = codes.max() + 1
    words = np.array([f"q{(7 * k) % n} ä" for k in range(n)])
    yield "int64", codes.astype(np.int64)
    yield "int8", (codes - 10).astype(np.int8)
    yield "negative", -5 * codes - 1
    yield "beyond 32 bits", codes.astype(np.int64) << 32
    yield "neighbours beyond 2**53", BIG + codes.astype(np.int64)
    yield "uint64", np.uint64(2**64 - 1) - codes.astype(np.uint64)
    yield "float", codes.astype(float)
    yield "float fractions", 1.2 + codes / 2
    yield "float32", codes.astype(np.float32) / 3
    yield "str", words[codes]
    yield "bytes", np.char.encode(words, "utf-8")[codes]
    yield "object", words.astype(object)[codes]
    yield "StringDType", words[codes].astype(np.dtypes.StringDType())
    yield "list of int", codes.tolist()
    yield "list of huge int", [2**63 + int(c) for c in codes]
    yield "list of mixed int", [2**63 + 5 if c == 0 else -int(c) for c in codes]
    yield "list of str", words[codes].tolist()
    yield "list of tuples", [("query", int(c)) for c in codes]
    yield "mixed types", [f"q{c}" if c % 2 else int(c) for c in codes]
    yield "datetime", np.datetime64("2020-01-01") + codes.astype("timedelta64[D]")
    yield "column", codes[:, None]
    yield "big-endian", codes.astype(">i8")
    yield "strided", np.repeat(codes, 2)[::2]
    yield "Series", pd.Series(codes, index=np.arange(len(codes))[::-1])
    yield "str Series", pd.Series(words[codes])
    yield "categorical Series", pd.Series(words[codes]).astype("category")
    yield "Categorical", pd.Categorical(words[codes])
    yield "int categorical", pd.Series(BIG + codes.astype(np.int64)).astype("category")
    yield "nullable integers", pd.Series(BIG + codes.astype(np.int64)).astype("Int64")
    yield "Index", pd.Index(words[codes])
    yield "one-column frame", pd.DataFrame({"qid": codes})


@each_ranker
def test_ids_of_any_type_give_the_same_model(R):
    X, y, groups = make_data(R)
    expected = make(R).fit(X, y, groups)
    for name, ids in encodings(groups):
        try:
            model = make(R).fit(X, y, ids)
            assert_same(model, expected, X)
        except Exception as error:
            error.add_note(f"ids: {name}")
            raise


@each_ranker
@pytest.mark.parametrize(
    "ids",
    [
        [0, 2**32],
        np.array([0, 2**32]),
        [1.2, 1.7],
        [-1, -2],
        [BIG, BIG + 1],
        np.array([BIG, BIG + 1]),
        np.array([BIG, BIG + 1], dtype=np.uint64),
        [2**63, -1],
        ["a", "a "],
        ["1", 1],
        [2**53, 2**53 + 1],
        [2.0**53, 2**53 + 1],
    ],
)
def test_neighbouring_ids_stay_apart(R, ids):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    array = isinstance(ids, np.ndarray)
    rows = np.repeat(ids, 20) if array else [i for i in ids for _ in range(20)]
    assert make(R).fit(X, y, rows).n_queries_ == 2


@each_ranker
def test_without_groups(R):
    X, y, groups = make_data(R)
    one_query = make(R).fit(X, y, np.zeros(len(y)))
    with pytest.warns(UserWarning, match=r"`groups`.*enable_metadata_routing=True"):
        model = make(R).fit(X, y)
    assert model.n_queries_ == 1
    assert_same(model, one_query, X)
    with pytest.warns(UserWarning, match=r"`groups`.*enable_metadata_routing=True"):
        alone = model.score(X, y)
    assert alone == model.score(X, y, np.zeros(len(y)))
    assert alone != model.score(X, y, groups)


@each_ranker
def test_wrong_groups_are_refused(R):
    X, y, groups = make_data(R)
    n = len(y)
    sizes = np.bincount(groups)
    for given in (groups[:-1], list(groups[:-1]), pd.Series(groups[:-1])):
        with pytest.raises(ValueError, match=rf"`groups` has {n - 1} entries.*{n} rows"):
            make(R).fit(X, y, given)
    for given in (sizes, sizes.tolist(), pd.Series(sizes), sizes.astype(float)):
        with pytest.raises(ValueError, match=r"`groups`.*sizes.*np\.repeat"):
            make(R).fit(X, y, given)
    with pytest.raises(ValueError, match=r"`groups`.*shape"):
        make(R).fit(X, y, np.column_stack([groups, groups]))
    with pytest.raises(ValueError, match="`groups`"):
        make(R).fit(X, y, sparse.csr_array(groups[:, None]))
    with pytest.raises(ValueError, match="`groups`"):
        make(R).fit(X, y, 3)
    missing = groups.astype(float)
    missing[7] = np.nan
    names = pd.Series(groups).astype(str)
    names[7] = None
    integers = pd.Series(groups).astype("Int64")
    integers[7] = pd.NA
    some = [None if i == 7 else g for i, g in enumerate(groups)]
    for given in (missing, missing.tolist(), names, names.astype("category"), integers, some):
        with pytest.raises(ValueError, match=r"`groups` has a missing id at row 7"):
            make(R).fit(X, y, given)
    with pytest.raises(ValueError, match="`groups`"):
        make(R).fit(X, y, [[g] if i else g for i, g in enumerate(groups)])


# --- 3: row order, ids and threads do not matter -------------------------------------------------


@each_variant
@pytest.mark.parametrize("weighted", [False, True])
def test_row_order_and_ids_do_not_matter(R, params, weighted):
    X, y, groups = make_data(R)
    n = len(y)
    rng = np.random.default_rng(1)
    weight = rng.choice([0.0, 0.3, 1.0, 7.0], groups.max() + 1)[groups] if weighted else None
    expected = make(R, **params).fit(X, y, groups, query_weight=weight)
    assert len(np.unique(expected.predict(X))) >= 4  # leaves of a tree of depth 2

    within = np.lexsort((rng.random(n), groups))  # contiguous queries, rows shuffled
    reversed_ids = (groups.max() - groups)[np.arange(n)]
    for order, ids in (
        (rng.permutation(n), groups),
        (within, groups),
        (np.arange(n)[::-1], reversed_ids),
        (rng.permutation(n), rng.permutation(groups.max() + 1)[groups].astype(str)),
    ):
        model = make(R, **params)
        row_weight = None if weight is None else weight[order]
        model.fit(X[order], y[order], ids[order], query_weight=row_weight)
        assert_same(model, expected, X)
        assert_array_equal(model.predict(X[order]), expected.predict(X)[order])


@each_variant
def test_threads_do_not_matter(R, params):
    if not has(R, "n_jobs"):
        pytest.skip("no n_jobs")
    X, y, groups = make_data(R)
    X = np.column_stack([X, X[:, :4] ** 2, X[:, :4] + X[:, 1:5]])  # several blocks of features
    expected = make(R, n_jobs=1, **params).fit(X, y, groups)
    for n_jobs in (2, 3, -1, 10**6):
        assert_same(make(R, n_jobs=n_jobs, **params).fit(X, y, groups), expected, X)


@each_ranker
def test_validation_rows_may_come_in_any_order(R):
    if "X_val" not in inspect.signature(R.fit).parameters:
        pytest.skip("no validation set")
    X, y, groups = make_data(R)
    X_val, y_val, groups_val = make_data(R, seed=1)
    rng = np.random.default_rng(0)
    params = {"n_estimators": 40, "early_stopping": True, "n_iter_no_change": 30, "scoring": "ndcg"}
    expected = make(R, **params).fit(X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val)
    for ids in (groups_val, rng.permutation(groups_val.max() + 1)[groups_val].astype(str)):
        order = rng.permutation(len(y_val))
        model = make(R, **params)
        model.fit(X, y, groups, X_val=X_val[order], y_val=y_val[order], groups_val=ids[order])
        assert_same(model, expected, X)


@each_variant
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_full_steps_on_noise_stay_finite(R, params):
    """Long past the point where there is anything to learn, rows end up far in the wrong order."""
    X, y, groups = make_data(R)
    y = np.random.default_rng(0).permutation(y)
    long = {"n_estimators": 200, "max_iter": 200, "learning_rate": 1.0, "min_samples_leaf": 1}
    model = make(R, **long | params).fit(X, y, groups)
    assert np.isfinite(model.predict(X)).all()
    for name in ("train_loss_", "feature_importances_"):
        assert np.isfinite(getattr(model, name, 0)).all()


@each_variant
def test_a_seed_makes_a_fit_reproducible(R, params):
    X, y, groups = make_data(R)
    first = make(R, random_state=3, **params).fit(X, y, groups)
    assert_same(make(R, random_state=3, **params).fit(X, y, groups), first, X)
    assert_same(first.fit(X, y, groups), make(R, random_state=3, **params).fit(X, y, groups), X)


# --- 4, 5: grades and degenerate queries ---------------------------------------------------------


@each_ranker
def test_counts_and_grades(R):
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    frame = pd.DataFrame({"y": y, "q": groups}).groupby("q")["y"]
    assert model.n_queries_ == len(frame)
    if has(R, "relevant_from"):
        frame = pd.DataFrame({"y": y >= 1, "q": groups}).groupby("q")["y"]
    single = int((frame.nunique() == 1).sum())
    assert single > 0
    assert model.n_queries_skipped_ == (0 if learns_from_single_rows(R) else single)
    assert model.grades_.dtype == np.float64
    assert_array_equal(model.grades_, sorted(set(y)))
    assert model.n_features_in_ == X.shape[1]


@each_ranker
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_y_must_be_finite(R, value):
    if np.isnan(value) and mixes_labels_and_pairs(R):
        pytest.skip("NaN marks an unlabelled row")
    X, y, groups = make_data(R)
    y[3] = value
    with pytest.raises(ValueError, match=r"y contains (NaN|infinity)|`y`"):
        make(R).fit(X, y, groups)


@each_ranker
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, object, ">f8", bool])
def test_grades_of_any_type(R, dtype):
    X, y, groups = make_data(R)
    y = np.minimum(y, 1) if dtype is bool else y
    expected = make(R).fit(X, y, groups)
    assert_same(make(R).fit(X, y.astype(dtype), groups), expected, X)
    assert_same(make(R).fit(X, y.astype(dtype).tolist(), groups), expected, X)


@each_ranker
def test_no_pair_at_all(R):
    if learns_from_single_rows(R):
        pytest.skip("uses every row")
    X, y, _ = make_data(R)
    for grades, groups in (
        (y, np.arange(len(y))),
        (np.full(len(y), 2.0), np.arange(len(y)) // 4),
        (y, np.unique(y, return_inverse=True)[1]),
    ):
        with pytest.raises(ValueError, match=r"No query .*pair"):
            make(R).fit(X, grades, groups)


@each_ranker
def test_only_one_informative_query(R):
    X, y = make_data(R)[0][:60], np.ones(60)
    groups = np.arange(60) // 6
    y[12:18] = [0, 1, 2, 0, 1, 2]
    model = make(R).fit(X, y, groups)
    skipped = 0 if learns_from_single_rows(R) else 9
    assert (model.n_queries_, model.n_queries_skipped_) == (10, skipped)
    inside = slice(12, 18)
    assert ndcg_score(y[inside], model.predict(X[inside])) > 0.7
    assert np.isfinite(model.predict(X)).all()


@each_ranker
def test_early_stopping_needs_two_informative_queries(R):
    if not has(R, "early_stopping"):
        pytest.skip("no early stopping")
    X, y, _ = make_data(R)
    with pytest.raises(ValueError, match=r"two queries.*early_stopping=False"):
        make(R, early_stopping=True).fit(X, y, np.zeros(len(y)))


# --- 6: weights ----------------------------------------------------------------------------------


@each_ranker
def test_sample_weight_rules(R):
    if not takes_sample_weight(R):
        pytest.skip("no sample_weight")
    X, y, groups = make_data(R)
    n = len(y)
    for weight in (np.ones(n - 1), np.ones(groups.max() + 1), np.ones((n, 2))):
        with pytest.raises(ValueError, match=rf"`sample_weight`.*{n} rows"):
            make(R).fit(X, y, groups, sample_weight=weight)
    with pytest.raises(ValueError, match="`sample_weight` is zero for every row"):
        make(R).fit(X, y, groups, sample_weight=np.zeros(n))
    for value, message in ((-1, "negative"), (np.nan, "NaN"), (np.inf, "infinity")):
        weight = np.ones(n)
        weight[3] = value
        with pytest.raises(ValueError, match=f"sample_weight.*{message}"):
            make(R).fit(X, y, groups, sample_weight=weight)
    odd = np.arange(n) % 2
    of_query = 1.0 * (groups % 2)
    with pytest.raises(ValueError, match="zero at every row"):
        make(R).fit(X, y, groups, query_weight=of_query, sample_weight=1 - of_query)
    model = make(R).fit(X, y, groups, query_weight=of_query, sample_weight=odd)
    assert model.n_queries_ == len(np.unique(groups[(groups % 2 == 1) & (odd == 1)]))


@each_variant
def test_equal_sample_weights_are_none(R, params):
    if not takes_sample_weight(R):
        pytest.skip("no sample_weight")
    X, y, groups = make_data(R)
    expected = make(R, **params).fit(X, y, groups)
    model = make(R, **params).fit(X, y, groups, sample_weight=np.ones(len(y)))
    assert_same(model, expected, X)


@each_variant
def test_a_row_of_weight_zero_is_no_row(R, params):
    if not takes_sample_weight(R):
        pytest.skip("no sample_weight")
    X, y, groups = make_data(R)
    weight = np.random.default_rng(1).choice([0.0, 0.7, 1.0, 2.0], len(y))
    weight[groups == groups[0]] = 0  # a whole query
    kept = weight > 0
    expected = make(R, **params).fit(X[kept], y[kept], groups[kept], sample_weight=weight[kept])
    order = np.random.default_rng(2).permutation(len(y))
    model = make(R, **params)
    model.fit(X[order], y[order], groups[order], sample_weight=weight[order])
    assert_same(model, expected, X)


@each_ranker
def test_query_weight_rules(R):
    X, y, groups = make_data(R)
    n, n_queries = len(y), groups.max() + 1
    with pytest.raises(ValueError, match=rf"`query_weight`.*{n} rows.*query: repeat"):
        make(R).fit(X, y, groups, query_weight=np.ones(n_queries))
    with pytest.raises(ValueError, match=rf"`query_weight`.*{n} rows"):
        make(R).fit(X, y, groups, query_weight=np.ones(n - 1))
    with pytest.raises(ValueError, match=rf"`query_weight`.*{n} rows"):
        make(R).fit(X, y, groups, query_weight=np.ones((n, 2)))
    with pytest.raises(ValueError, match=rf"`query_weight`.*{n} rows"):
        make(R).fit(X, y, groups, query_weight=1.0)
    weight = np.ones(n)
    row = np.flatnonzero(np.bincount(groups)[groups] > 1)[0]
    weight[row] = 2
    names = np.array([f"query {g}" for g in groups])
    with pytest.raises(ValueError, match=rf"`query_weight`.*constant.*{names[row]}'"):
        make(R).fit(X, y, names, query_weight=weight)
    with pytest.raises(ValueError, match="`query_weight` is zero for every query"):
        make(R).fit(X, y, groups, query_weight=np.zeros(n))
    for value in (-1, np.nan, np.inf):
        weight = np.ones(n)
        weight[groups == groups[5]] = value
        with pytest.raises(ValueError, match="`query_weight` must be finite and not negative"):
            make(R).fit(X, y, groups, query_weight=weight)


@each_variant
def test_a_query_of_weight_zero_is_absent(R, params):
    X, y, groups = make_data(R)
    kept = groups % 3 != 1
    weight = np.where(kept, 1.0 + groups % 2, 0.0)
    # Its values must not move a bin, nor the codes of categories.
    X[~kept] *= 3 if "categorical_features" in params else 3.7
    y[~kept] += 1
    model = make(R, **params).fit(X, y, groups, query_weight=weight)
    expected = make(R, **params).fit(X[kept], y[kept], groups[kept], query_weight=weight[kept])
    assert_same(model, expected, X)


@each_variant_if_slow
def test_equal_weights_are_no_weights(R, params):
    X, y, groups = make_data(R)
    params = params | {"batch_size": len(y)}  # which queries share a batch depends on their content
    expected = make(R, **params).fit(X, y, groups)
    for ones in (np.ones(len(y)), [1] * len(y), pd.Series(np.ones(len(y), dtype=int))):
        assert_same(make(R, **params).fit(X, y, groups, query_weight=ones), expected, X)
    draws = params.get("early_stopping") or params.keys() & {"subsample", "weights"}
    if draws or always_draws(R):
        return  # what is drawn of queries depends on all their content, weights too
    double = make(R, **params).fit(X, y, groups, query_weight=np.full(len(y), 2.0))
    if not has(R, "C"):  # against a penalty twice the loss is not the same
        assert_allclose(double.predict(X), expected.predict(X), rtol=1e-6, atol=1e-9)


@each_ranker
def test_weights_change_the_model(R):
    X, y, groups = make_data(R)
    of_others = np.argsort(np.argsort(-X[:, 3])) // (len(y) // 4)
    y = np.where(groups % 2, of_others, y)  # every other query ranks by another feature
    weight = np.where(groups % 2, 1.0, 20.0)
    weighted = make(R).fit(X, y, groups, query_weight=weight)
    assert not np.array_equal(weighted.predict(X), make(R).fit(X, y, groups).predict(X))


# --- 7: X ----------------------------------------------------------------------------------------


@each_variant_if_slow
def test_layouts_of_X(R, params, tmp_path):
    X, y, groups = make_data(R)
    expected = make(R, **params).fit(X, y, groups)
    read_only = X.copy()
    read_only.setflags(write=False)
    np.save(tmp_path / "X.npy", X)
    wide = np.full((2 * len(X), 2 * X.shape[1]), 7.0)
    wide[::2, 1::2] = X
    memmap = np.load(tmp_path / "X.npy", mmap_mode="r")
    for name, given in {
        "Fortran": np.asfortranarray(X),
        "read-only": read_only,
        "memmap": memmap,
        "slice": wide[::2, 1::2],
        "reversed": X[::-1].copy()[::-1],
        "list": X.tolist(),
        "big-endian": X.astype(">f8"),
        "object": X.astype(object),
    }.items():
        model = make(R, **params).fit(given, y, groups)
        try:
            assert_same(model, expected, X)
            assert_array_equal(expected.predict(given), expected.predict(X))
        except AssertionError as error:
            error.add_note(f"X: {name}")
            raise
    del memmap
    y_read_only, ids = y.copy(), groups.copy()
    weight = np.ones(len(y))
    for array in (y_read_only, ids, weight):
        array.setflags(write=False)
    assert_same(
        make(R, **params).fit(read_only, y_read_only, ids, query_weight=weight), expected, X
    )


@each_ranker
def test_fit_does_not_change_its_arguments(R):
    X, y, groups = make_data(R)
    weight = 1.0 + groups % 2
    before = [a.copy() for a in (X, y, groups, weight)]
    make(R).fit(X, y, groups, query_weight=weight).predict(X)
    for array, copied in zip((X, y, groups, weight), before, strict=True):
        assert_array_equal(array, copied)


@pytest.mark.filterwarnings("ignore:The training loss rose from")  # of a column so narrow
@each_variant_if_slow
def test_float32_values_are_the_same_values(R, params):
    X, y, groups = make_data(R)
    X = X.astype(np.float32)
    # Neighbours in float32: what lies halfway between them is no float32.
    X[:, 0] = np.float32(1) + np.spacing(np.float32(1)) * np.nan_to_num(np.round(4 * X[:, 0]))
    model = make(R, **params).fit(X, y, groups)
    if not has(R, "max_bins"):
        assert_allclose(model.predict(X), model.predict(X.astype(float)), rtol=1e-5)
        return
    assert_same(model, make(R, **params).fit(X.astype(float), y, groups), X, X.astype(float))
    if hasattr(model, "staged_predict"):
        for single, double in zip(
            model.staged_predict(X), model.staged_predict(X.astype(float)), strict=True
        ):
            assert_array_equal(single, double)


@each_variant_if_slow
def test_signed_zeros_are_the_same(R, params):
    X, y, groups = make_data(R)
    X[:, 2:] = np.where(X[:, 2:] < 0, 0.0, X[:, 2:])
    negative = np.where(X == 0, -0.0, X)
    mixed = np.where(np.arange(len(X))[:, None] % 2, X, negative)
    expected = make(R, **params).fit(X, y, groups)
    assert np.signbit(negative).sum() > np.signbit(X).sum()
    for given in (negative, mixed):
        assert_same(make(R, **params).fit(given, y, groups), expected, X, given)
    grades = np.where(y == 0, -0.0, y)
    assert_same(make(R, **params).fit(X, grades, groups), expected, X)
    ids = np.where(groups == 0, -0.0, groups)
    ids[np.flatnonzero(groups == 0)[0]] = 0.0
    assert_same(make(R, **params).fit(X, y, ids), expected, X)


@each_ranker
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused(R, value):
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    X[5, 1] = value
    with pytest.raises(ValueError, match="infinity"):
        make(R).fit(X, y, groups)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(X)
    if allows_sparse(R):
        with pytest.raises(ValueError, match="infinity"):
            make(R).fit(sparse.csr_array(X), y, groups)


@each_ranker
def test_missing_values(R):
    X, y, groups = make_data()
    whole = make(R).fit(X, y, groups)
    X[::3, 1] = np.nan
    X[:, 2] = np.nan
    if not allows_nan(R):
        for call in (lambda: make(R).fit(X, y, groups), lambda: whole.predict(X)):
            with pytest.raises(ValueError, match="NaN"):
                call()
        return
    scores = whole.predict(X)  # missing where training had nothing missing
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 5
    model = make(R).fit(X, y, groups)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.predict(np.full((1, X.shape[1]), np.nan))).all()
    with pytest.raises(ValueError, match="infinity"):
        make(R).fit(np.where(np.isnan(X), np.inf, X), y, groups)


def sparse_versions(X):
    """The same matrix in every format that rankers accept, also not canonical."""
    yield "csr_matrix", sparse.csr_matrix(X)
    yield "csr_array", sparse.csr_array(X)
    yield "csc_matrix", sparse.csc_matrix(X)
    yield "csc_array", sparse.csc_array(X)
    yield "coo_array", sparse.coo_array(X)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "int64 indices", wide
    # Each entry split in two halves, in falling order of the columns, and zeros stored.
    rows, columns = np.nonzero(np.ones_like(X))
    values = X[rows, columns]
    rows, columns = np.r_[rows, rows], np.r_[columns, columns]
    order = np.lexsort((-columns, rows))
    split = sparse.csr_array(X.shape)
    split.data = (np.r_[values, values] / 2)[order]
    split.indices = columns[order].astype(np.int32)
    split.indptr = (np.arange(len(X) + 1) * 2 * X.shape[1]).astype(np.int32)
    split.has_canonical_format = False
    split.has_sorted_indices = False
    yield "duplicates, unsorted, stored zeros", split
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X))
    yield "sparse frame", frame


@each_variant_if_slow
def test_sparse_equals_dense(R, params):
    X, y, groups = make_data(R)
    X[:, :2] = np.where(np.abs(X[:, :2]) < 1, 0, X[:, :2])
    X[::7] = 0  # empty rows
    X[:, 4] = 0  # an empty column
    if not allows_sparse(R):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            make(R).fit(sparse.csr_array(X), y, groups)
        return
    expected = make(R, **params).fit(X, y, groups)
    staged = list(expected.staged_predict(X)) if hasattr(R, "staged_predict") else []
    for name, given in sparse_versions(X):
        try:
            model = make(R, **params).fit(given, y, groups)
            assert_alike(model, expected, X)
            assert_array_equal(expected.predict(given), expected.predict(X))
            if staged:
                assert_array_equal(list(model.staged_predict(given)), staged)
        except Exception as error:
            error.add_note(f"format: {name}")
            raise


@each_ranker
def test_sparse_validation_rows(R):
    if "X_val" not in inspect.signature(R.fit).parameters or not allows_sparse(R):
        pytest.skip("no validation set, or not sparse")
    X, y, groups = make_data(R)
    X_val, y_val, groups_val = make_data(R, seed=1)
    val = {"y_val": y_val, "groups_val": groups_val}
    expected = make(R).fit(X, y, groups, X_val=X_val, **val)
    model = make(R).fit(sparse.csr_array(X), y, groups, X_val=sparse.csc_array(X_val), **val)
    assert_alike(model, expected, X)


@each_ranker
def test_frames(R):
    X, y, groups = make_data(R)
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(len(X))[::-1])
    model = make(R).fit(frame, pd.Series(y), pd.Series(groups))
    assert_same(model, make(R).fit(X, y, groups), frame, X)
    assert_array_equal(model.feature_names_in_, list("abcde"))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("edcba")])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list("abcd")])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    if hasattr(model, "staged_predict"):
        with pytest.raises(ValueError, match="feature names"):
            next(model.staged_predict(frame[list("edcba")]))


# --- 9: errors -----------------------------------------------------------------------------------


@each_ranker
def test_validation_set_must_be_whole(R):
    if "X_val" not in inspect.signature(R.fit).parameters:
        pytest.skip("no validation set")
    X, y, groups = make_data(R)
    X_val, y_val, groups_val = make_data(R, seed=1)
    with pytest.raises(ValueError, match="y_val"):
        make(R).fit(X, y, groups, X_val=X_val, groups_val=groups_val)
    with pytest.raises(ValueError, match="X_val"):
        make(R).fit(X, y, groups, y_val=y_val, groups_val=groups_val)
    with pytest.raises(ValueError, match="groups_val"):
        make(R).fit(X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val[:-1])
    with pytest.raises(ValueError, match="y_val"):
        make(R).fit(X, y, groups, X_val=X_val, y_val=y_val[:-1], groups_val=groups_val[:-1])
    with pytest.raises(ValueError, match="y_val"):
        make(R).fit(
            X, y, groups, X_val=X_val, y_val=np.full(len(y_val), np.nan), groups_val=groups_val
        )
    with pytest.raises(ValueError, match="features"):
        make(R).fit(X, y, groups, X_val=X_val[:, 1:], y_val=y_val, groups_val=groups_val)
    with pytest.warns(UserWarning, match="`groups_val` is None"):
        make(R).fit(X, y, groups, X_val=X_val, y_val=y_val)


@each_ranker
def test_predict_before_fit(R):
    X, *_ = make_data(R)
    with pytest.raises(NotFittedError):
        make(R).predict(X)
    if hasattr(R, "staged_predict"):
        with pytest.raises(NotFittedError):
            next(make(R).staged_predict(X))
    if has(R, "max_bins"):
        with pytest.raises((NotFittedError, AttributeError)):
            _ = make(R).feature_importances_


@each_ranker
@pytest.mark.parametrize(
    ("name", "values"),
    list(
        {
            "n_estimators": [0, -1, 1.5, "3"],
            "learning_rate": [0, -0.1, np.nan, np.inf, "1", None],
            "max_bins": [1, 65_536, 2.5],
            "validation_fraction": [0, 1, -0.5, np.nan],
            "n_iter_no_change": [0, 2.5],
            "tol": [-1, np.nan],
            "alpha": [-1, np.nan, "1"],
            "learning_rate_init": [0, np.inf],
            "batch_size": [0, 2.5],
            "max_iter": [0, 2.5],
            "hidden_layer_sizes": [(0,), (2.5,), -3],
            "activation": ["cubic", None],
            "solver": ["newton", None],
        }.items()
    ),
)
def test_invalid_parameters(R, name, values):
    if not has(R, name):
        pytest.skip(f"no {name}")
    X, y, groups = make_data(R)
    for value in values:
        with pytest.raises((ValueError, TypeError), match=name):
            make(R, **{name: value}).fit(X, y, groups)


@each_ranker
def test_unknown_scoring(R):
    if not has(R, "scoring"):
        pytest.skip("no scoring")
    X, y, groups = make_data(R)
    with pytest.raises(ValueError, match="'nonsense@3'"):
        make(R, scoring="nonsense@3", early_stopping=True).fit(X, y, groups)


# --- 11: warm start ------------------------------------------------------------------------------


@each_variant
def test_warm_start(R, params):
    if not has(R, "warm_start") or params.get("early_stopping"):
        pytest.skip("no warm start, or rounds that stop early")
    X, y, groups = make_data(R)
    weight = 1.0 + groups % 2
    expected = make(R, n_estimators=5, **params).fit(X, y, groups, query_weight=weight)
    model = make(R, n_estimators=4, warm_start=True, **params)
    model.fit(X, y, groups, query_weight=weight)
    assert model.n_iter_ == min(4, expected.n_iter_)
    model = pickle.loads(pickle.dumps(model)).set_params(n_estimators=5)
    order = np.random.default_rng(0).permutation(len(y))
    model.fit(X[order], y[order], groups[order], query_weight=weight[order])
    assert_same(model, expected, X)
    model.fit(X, y, groups, query_weight=weight)  # as many rounds as there are: nothing to do
    assert_same(model, expected, X)


@each_ranker
def test_warm_start_refuses(R):
    if not has(R, "warm_start"):
        pytest.skip("no warm start")
    X, y, groups = make_data(R)
    model = make(R, n_estimators=4, warm_start=True).fit(X, y, groups)
    before = model.predict(X)
    with pytest.raises(ValueError, match=r"n_estimators=3 .* 4 rounds"):
        model.set_params(n_estimators=3).fit(X, y, groups)
    with pytest.raises(ValueError, match=r"4 features.*5 features"):
        model.set_params(n_estimators=6).fit(X[:, :4], y, groups)
    assert_array_equal(model.predict(X), before)
    model.set_params(warm_start=False).fit(X[:, :4], y, groups)
    assert_same(model, make(R, n_estimators=6).fit(X[:, :4], y, groups), X[:, :4])


@each_ranker
def test_warm_start_on_other_rows_keeps_the_first_rounds(R):
    if not has(R, "warm_start") or not hasattr(R, "staged_predict"):
        pytest.skip("no warm start")
    X, y, groups = make_data(R)
    X_other, y_other, groups_other = make_data(R, seed=5, n_queries=11)
    model = make(R, n_estimators=4, warm_start=True).fit(X, y, groups)
    first = list(model.staged_predict(X))
    model.set_params(n_estimators=7).fit(X_other, y_other, groups_other)
    assert (model.n_iter_, model.n_queries_) == (7, 11)
    assert_array_equal(list(model.staged_predict(X))[:4], first)


@each_variant
def test_warm_start_with_other_parameters(R, params):
    if not has(R, "warm_start"):
        pytest.skip("no warm start")
    X, y, groups = make_data(R)
    model = make(R, n_estimators=4, warm_start=True, **params).fit(X, y, groups)
    defaults = make(R, n_estimators=6, warm_start=True).get_params()
    model.set_params(**defaults)
    if params.get("method", defaults.get("method")) != defaults.get("method"):
        with pytest.raises(ValueError, match=r"`method` now asks for other ones"):
            model.fit(X, y, groups)
    else:
        assert np.isfinite(model.fit(X, y, groups).predict(X)).all()


@each_ranker
def test_warm_start_refuses_other_weak_rankers(R):
    if not (has(R, "warm_start") and has(R, "monotonic_cst")):
        pytest.skip("no warm start of trees")
    X, y, groups = make_data(R)
    params = {"method": "ordinal"}  # the one that knows constraints, where there is a choice
    model = make(R, n_estimators=4, warm_start=True, **params).fit(X, y, groups)
    model.set_params(n_estimators=6, monotonic_cst=[1])  # of one feature, where there are five
    with pytest.raises(ValueError, match="`monotonic_cst` must have one entry for each of the 5"):
        model.fit(X, y, groups)
    if has(R, "estimator"):
        model.set_params(monotonic_cst=None, estimator=DecisionTreeRegressor(max_depth=2))
        with pytest.raises(ValueError, match=r"`estimator` or .* now asks for other ones"):
            model.fit(X, y, groups)


# --- 13 and prediction ---------------------------------------------------------------------------


@each_variant_if_slow
def test_copies_predict_the_same(R, params, tmp_path):
    X, y, groups = make_data(R)
    model = make(R, **params).fit(X, y, groups)
    joblib.dump(model, tmp_path / "model.joblib")
    stream = io.BytesIO(pickle.dumps(model))
    stored = joblib.load(tmp_path / "model.joblib")
    for again in (pickle.load(stream), stored, copy.deepcopy(model)):
        assert_same(again, model, X)
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert_array_equal(mapped.predict(X), model.predict(X))
    fresh = clone(model)
    assert parameters(fresh) == parameters(model)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert_same(fresh.fit(X, y, groups), model, X)


@each_ranker
def test_html_repr(R):
    X, y, groups = make_data(R)
    model = make(R)
    for ranker in (model, model.fit(X, y, groups)):
        html = ranker._repr_html_()
        assert R.__name__ in html
        assert "href=" not in html.split("</style>")[-1]  # least of all to scikit-learn's pages


@each_variant
def test_predict_looks_at_one_row_at_a_time(R, params):
    X, y, groups = make_data(R)
    model = make(R, **params).fit(X, y, groups)
    if "groups" in inspect.signature(model.predict).parameters:
        pytest.skip("predict looks at queries")
    scores = model.predict(X)
    assert scores.shape == (len(X),)
    assert scores.dtype == np.float64
    alone = [model.predict(X[i : i + 1])[0] for i in range(20)]
    assert_array_equal(alone, scores[:20])


@each_variant
def test_staged_predict(R, params):
    if not hasattr(R, "staged_predict"):
        pytest.skip("no rounds")
    X, y, groups = make_data(R)
    model = make(R, **params).fit(X, y, groups)
    stages = list(model.staged_predict(X))
    if not has(R, "n_estimators"):  # a feature each
        assert len(stages) == len(model.beta_)
        assert_array_equal(stages[-1], model.predict(X))
        return
    assert len(stages) == model.n_iter_ > 0
    assert_allclose(stages[model.best_iteration_ - 1], model.predict(X), rtol=1e-12, atol=1e-12)
    if not params.get("early_stopping"):
        for rounds in {1, min(4, len(stages))}:
            shorter = make(R, n_estimators=rounds, **params).fit(X, y, groups)
            assert_allclose(stages[rounds - 1], shorter.predict(X), rtol=1e-12, atol=1e-12)


@each_ranker
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_early_stopping_keeps_the_best_round(R):
    if not has(R, "early_stopping"):
        pytest.skip("no early stopping")
    X, y, groups = make_data(R, n_queries=60)
    X_val, y_val, groups_val = make_data(R, seed=1, n_queries=25)
    # L-BFGS might converge before.
    params = {"solver": "adam"}
    long = {"n_estimators": 200, "max_iter": 200, "n_iter_no_change": 5}
    model = make(R, early_stopping=True, scoring="ndcg@5", **long, **params)
    model.fit(X, y, groups, X_val=X_val, y_val=y_val, groups_val=groups_val)
    assert model.n_iter_ < 200
    if hasattr(R, "staged_predict"):
        stages = list(model.staged_predict(X_val))
    else:  # of iterations only the best is kept
        shorter = [
            make(R, max_iter=n, **params).fit(X, y, groups) for n in range(1, model.n_iter_ + 1)
        ]
        stages = [s.predict(X_val) for s in shorter]
    scores = [ndcg_score(y_val, stage, groups_val, k=5) for stage in stages]
    assert_allclose(model.validation_score_, scores, rtol=1e-12)
    best = model.best_iteration_
    assert model.validation_score_[best - 1] == model.validation_score_.max()
    assert np.argmax(model.validation_score_) == best - 1
    if model.n_iter_ <= 5:
        pytest.skip("ended by itself")
    # It stopped at the first chance: five rounds without a gain of more than tol.
    improves = [
        max(scores[i - 5 : i]) > max(scores[: i - 5]) + model.tol for i in range(6, len(scores) + 1)
    ]
    assert all(improves[:-1])
    assert not improves[-1]


@each_ranker
def test_seeds_hold_out_other_queries(R):
    if not has(R, "early_stopping"):
        pytest.skip("no early stopping")
    X, y, groups = make_data(R)
    seen = set()
    for seed in range(3):
        params = {"early_stopping": True, "validation_fraction": 0.25, "random_state": seed}
        seen.add(make(R, **params).fit(X, y, groups).validation_score_.tobytes())
    assert len(seen) > 1


@each_ranker
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_held_out_queries_do_not_train(R):
    """What held-out rows hold does not move a stage; what the others hold does."""
    if not has(R, "early_stopping"):
        pytest.skip("no early stopping")
    X, y, groups = make_data(R, n_queries=12)
    params = {"n_iter_no_change": 10**6, "random_state": 0, "validation_fraction": 0.3}
    model = make(R, early_stopping=True, **params).fit(X, y, groups)
    learnable = [q for q in range(12) if len(set(y[groups == q])) > 1]
    n_held_out = round(0.3 * len(learnable))
    found = []
    for out in itertools.combinations(learnable, n_held_out):
        rest, held = ~np.isin(groups, out), np.isin(groups, out)
        # Learning from the rest alone, judged by these.
        part = make(R, n_estimators=2, max_iter=2).fit(X[rest], y[rest], groups[rest])
        if part.train_loss_.tobytes() != model.train_loss_[:2].tobytes():
            continue
        part = make(R, random_state=0)
        part.fit(
            X[rest], y[rest], groups[rest], X_val=X[held], y_val=y[held], groups_val=groups[held]
        )
        if np.array_equal(part.validation_score_, model.validation_score_):
            assert_array_equal(part.train_loss_, model.train_loss_)
            if hasattr(R, "staged_predict"):
                assert_array_equal(list(part.staged_predict(X)), list(model.staged_predict(X)))
            found.append(out)
    assert len(found) == 1


@each_ranker
def test_verbose(R, capsys):
    if not has(R, "verbose"):
        pytest.skip("no verbosity")
    X, y, groups = make_data(R)
    make(R, n_estimators=3).fit(X, y, groups)
    assert capsys.readouterr().out == ""
    make(R, n_estimators=3, verbose=1).fit(X, y, groups)
    assert len(capsys.readouterr().out.splitlines()) >= 3


@each_ranker
def test_score_is_the_mean_ndcg_at_10(R):
    X, y, groups = make_data(R)
    model = make(R).fit(X, y, groups)
    X, y, groups = make_data(R, seed=1)
    groups += 300  # other queries than those trained on
    values, counts = [], []
    for q in np.unique(groups):
        rows = groups == q
        if y[rows].max() > 0:
            scores = predict_queries(model, X[rows], groups[rows])
            values.append(ndcg_score(y[rows], scores, k=10))
            counts.append(1 + q % 3)
    assert model.score(X, y, groups) == pytest.approx(np.mean(values), rel=1e-12)
    weight = 1.0 + groups % 3
    assert model.score(X, y, groups, query_weight=weight) == pytest.approx(
        np.average(values, weights=counts), rel=1e-12
    )
    by_both = model.score(X, y, groups, query_weight=weight, sample_weight=weight)
    assert by_both == pytest.approx(np.average(values, weights=np.square(counts)), rel=1e-12)
    assert 0.5 < model.score(X, y, groups) < 1
    with pytest.raises(ValueError, match="`groups`"):
        model.score(X, y, groups[:-1])
