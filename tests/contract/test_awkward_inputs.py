# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that break other ranking tools, for every ranker of the package.

What concerns metrics alone is in ``tests/metrics``, and what goes through pipelines and searches in
``test_routing.py``.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
from every_ranker import (
    allows_nan,
    allows_sparse,
    assert_alike,
    each_ranker,
    has,
    learns_from_single_rows,
    make,
    mixes_labels_and_pairs,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.ranking_data import RankingData

BIG = 72048431380967004


def needs_a_gain(R):
    return R().__sklearn_tags__().target_tags.positive_only


def make_rows(n_queries=20, size=6, seed=0, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * size, n_features))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=len(X)), [-0.5, 0.8]).astype(float)
    return X, y, np.repeat(np.arange(n_queries), size)


@each_ranker
@pytest.mark.parametrize("groups", [[3, 3, 1, 1, 2, 2], [1, 2, 3, 1, 2, 3]])
def test_ids_in_any_order(R, groups):
    X = np.array([[0.0], [1.0], [3.0], [4.0], [1.0], [2.0]])
    y = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 2.0])
    order = np.argsort(groups, kind="stable")
    # Where one query alone has rows of two grades, these are 1 and 2.
    model = make(R, relevant_from=2).fit(X, y, groups)
    by_id = make(R, relevant_from=2).fit(X[order], y[order], np.array(groups)[order])
    assert model.n_queries_ == 3
    assert_array_equal(model.predict(X)[order], by_id.predict(X[order]))


@each_ranker
def test_messages_about_groups(R):
    X, y, groups = make_rows()
    n = len(y)
    with pytest.raises(ValueError, match=rf"`groups` has {n - 1}.*{n} rows.*one query id for each"):
        make(R).fit(X, y, groups[:-1])
    with pytest.raises(ValueError, match=r"`groups`.*row 3.*every row needs a query id"):
        make(R).fit(X, y, np.where(np.arange(n) == 3, np.nan, groups))
    with pytest.warns(UserWarning, match=r"`groups` is None.*enable_metadata_routing"):
        make(R).fit(X, y)


@each_ranker
def test_types_of_ids(R):
    X, y, codes = make_rows(n_queries=6)
    variants = [
        codes.astype(float),
        np.array([1.2, 1.7, 2.2, 2.7, 3.2, 3.7])[codes],
        np.array(list("fedcba"))[codes],
        pd.Series(np.array(list("abcdef"))[codes]).astype("category"),
        codes.astype(np.uint64) + np.uint64(2**63),
    ]
    expected = make(R).fit(X, y, codes).predict(X)
    for groups in variants:
        model = make(R).fit(X, y, groups)
        assert model.n_queries_ == 6
        assert_array_equal(model.predict(X), expected)


@each_ranker
@pytest.mark.parametrize("ids", [(0, 2**32), (1.2, 1.7), (-1, -2), (BIG, BIG + 1)])
@pytest.mark.parametrize("form", [list, np.array, pd.Series])
def test_neighbouring_ids(R, ids, form):
    X, y, _ = make_rows(n_queries=4)
    groups = form([ids[0], ids[1]] * 12)
    assert make(R).fit(X, y, groups).n_queries_ == 2


@each_ranker
def test_early_stopping_behind_a_scaler(R):
    """The held-out queries are transformed rows: scaling them changes nothing."""
    if not has(R, "early_stopping"):
        pytest.skip("no early stopping")
    X, y, groups = make_rows(n_queries=50)
    y = np.digitize(X[:, 0], [-0.5, 0.8]).astype(float)
    params = {"n_estimators": 200, "early_stopping": True, "random_state": 0}
    scaled = make_pipeline(FunctionTransformer(lambda X: 1024 * X), make(R, **params))
    name = R.__name__.lower()
    scaled.fit(X, y, **{f"{name}__groups": groups})
    assert scaled[-1].n_iter_ < 200
    assert scaled[-1].validation_score_.max() > 0.95
    assert ndcg_score(y, scaled.predict(X), groups) > 0.95


@each_ranker
@pytest.mark.parametrize("top", [31, 72, 300])
def test_large_grades(R, top):
    X, y, groups = make_rows()
    y = np.where(X[:, 1] > 0, float(top), 0.0)
    with warnings.catch_warnings():
        # Steps overshoot where distances are far above 1, and the ranker says so.
        warnings.filterwarnings("ignore", message="The training loss rose")
        # For SVRank, whose penalty is as of distances of 1.
        model = make(R, C=10.0 * top).fit(X, y, groups)
    assert_array_equal(model.grades_, [0, top])
    scores = model.predict(X)
    assert np.isfinite(scores).all()
    assert ndcg_score(y, scores, groups) == pytest.approx(1)
    assert ndcg_score(y, scores, groups, gain="linear") == pytest.approx(1)


@each_ranker
def test_grades_whose_gain_is_infinite(R):
    X, y, groups = make_rows()
    y = np.where(X[:, 1] > 0, 1100.0, 0.0)
    model = make(R).fit(X, np.minimum(y, 1), groups)
    with pytest.raises(ValueError, match=r"grade 1100.*overflows"):
        model.score(X, y, groups)
    if has(R, "early_stopping"):
        with pytest.raises(ValueError, match=r"grade 1100.*overflows"):
            make(R, early_stopping=True).fit(X, y, groups)


@each_ranker
def test_fractional_grades(R):
    rng = np.random.default_rng(0)
    y = np.tile([0.1, 0.4, 0.9], 20)
    groups = np.repeat(np.arange(20), 3)
    X = np.column_stack([rng.normal(size=60), y + 0.01 * rng.normal(size=60)])
    scores = make(R, n_estimators=30, min_samples_leaf=1).fit(X, y, groups).predict(X)
    assert len(np.unique(scores)) >= 3
    assert ndcg_score(y, scores, groups, gain="linear") == pytest.approx(1)


@each_ranker
def test_bad_labels(R):
    X, y, groups = make_rows()
    for value in (np.nan, np.inf):
        if np.isnan(value) and mixes_labels_and_pairs(R):
            continue  # NaN marks an unlabelled row
        bad = np.where(np.arange(len(y)) == 4, value, y)
        with pytest.raises(ValueError, match=r"(?i)\by\b.*(NaN|infinity)"):
            make(R).fit(X, bad, groups)
    negative = y - 1
    if needs_a_gain(R):
        with pytest.raises(ValueError, match="negative"):
            make(R).fit(X, negative, groups)
        return
    model = make(R).fit(X, negative, groups)
    assert model.grades_.min() == -1
    assert ndcg_score(y, model.predict(X), groups) > 0.8
    with pytest.raises(ValueError, match=r"grade -1; a gain needs"):
        model.score(X, negative, groups)


@each_ranker
def test_queries_without_a_pair(R):
    if learns_from_single_rows(R):
        pytest.skip("uses every row")
    X, y, groups = make_rows()
    with pytest.raises(ValueError, match=r"No query.*pair"):
        make(R).fit(X, y, np.arange(len(y)))
    equal = groups % 3.0
    with pytest.raises(ValueError, match=r"No query.*different grades"):
        make(R).fit(X, equal, groups)
    equal[:6] = [2, 0, 1, 0, 2, 1]
    model = make(R).fit(X, equal, groups)
    assert model.n_queries_skipped_ == model.n_queries_ - 1
    assert np.isfinite(model.predict(X)).all()
    assert ndcg_score(equal[:6], model.predict(X[:6])) > ndcg_score(equal[:6], np.zeros(6))


@each_ranker
def test_weights(R):
    X, y, groups = make_rows()
    n = len(y)
    weight = 1.0 + groups % 2
    assert make(R).fit(X, y, groups, query_weight=weight).n_queries_ == 20
    for wrong, remedy in (
        (np.ones(20), "repeat each over the rows of its query"),
        (np.arange(n), "constant within a query"),
        (np.zeros(n), "at least one must be positive"),
    ):
        with pytest.raises(ValueError, match=rf"`query_weight`.*{remedy}"):
            make(R).fit(X, y, groups, query_weight=wrong)
    weight[groups == 4] = 0
    kept = groups != 4
    model = make(R).fit(X, y, groups, query_weight=weight)
    expected = make(R).fit(X[kept], y[kept], groups[kept], query_weight=weight[kept])
    assert model.n_queries_ == 19
    assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.slow
@each_ranker
def test_long_queries(R):
    """No limit of 10,000 rows; 2,500,000,000 pairs are in ``tests/rankers/test_mpboost.py``."""
    rng = np.random.default_rng(0)
    n = 10_001
    X = rng.normal(size=(n, 2))
    y = (X[:, 1] + rng.normal(size=n) > 2).astype(float)
    model = make(R, n_estimators=5).fit(X, y, np.zeros(n))
    assert model.score(X, y, np.zeros(n)) > 0.3


def test_number_of_pairs():
    assert RankingData.of(np.array([2.0, 2, 1, 0, 0, 0]), [0, 6]).pairs.n_pairs == 11
    n = 100_000
    assert RankingData.of(np.arange(n) % 2.0, [0, n]).pairs.n_pairs == 2_500_000_000


@each_ranker
def test_missing_and_sparse(R):
    X, y, groups = make_rows()
    whole = make(R).fit(X, y, groups)
    holes = X.copy()
    holes[::5, 0] = np.nan
    holes[:, 2] = np.nan
    if not allows_nan(R):
        for call in (lambda: make(R).fit(holes, y, groups), lambda: whole.predict(holes)):
            with pytest.raises(ValueError, match="NaN"):
                call()
    else:
        assert np.isfinite(whole.predict(holes)).all()
        assert np.isfinite(make(R).fit(holes, y, groups).predict(holes)).all()
    if allows_sparse(R):
        gaps = np.where(np.abs(X) > 0.7, X, 0)
        gaps[10:14] = 0
        expected = make(R).fit(gaps, y, groups)
        for form in (sparse.csr_matrix, sparse.csr_array):
            model = make(R).fit(form(gaps), y, groups)
            assert_alike(model, expected, gaps)
            assert_array_equal(model.predict(form(gaps)), model.predict(gaps))
    with pytest.raises(ValueError, match="infinity"):
        make(R).fit(np.where(np.arange(len(X))[:, None] == 2, np.inf, X), y, groups)
    with pytest.raises(ValueError, match="infinity"):
        whole.predict(np.full((1, 3), -np.inf))


@each_ranker
def test_rows_shuffled_within_queries(R):
    X, y, groups = make_rows(n_queries=60, size=12)
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(y)), groups))
    assert_array_equal(groups[order], groups)
    expected = make(R).fit(X, y, groups).predict(X)
    scores = make(R).fit(X[order], y[order], groups).predict(X)
    assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


@each_ranker
def test_ids_beside_a_frame(R):
    X, y, groups = make_rows()
    frame = pd.DataFrame(X, columns=["bm25", "clicks", "age"])
    frame["query"] = groups
    frame["grade"] = y
    features = frame[["bm25", "clicks", "age"]]
    model = make(R).fit(features, frame["grade"], groups=frame["query"])
    assert_array_equal(model.feature_names_in_, ["bm25", "clicks", "age"])
    assert_array_equal(model.predict(features), make(R).fit(X, y, groups).predict(X))
