# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Figures that would be other ones in silence: cut queries, and groups lost on the way."""

import pickle
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn
from every_ranker import allows_sparse, each_ranker, has, make
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import FeatureRank, LambdaMART, RankSVM
from sklearn_ltr.exceptions import CutQueryWarning
from sklearn_ltr.model_selection import compare_rankers, learning_curve, permutation_importance
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.scored_rows import query_digests
from sklearn_ltr.scorers import get_scorer

IDS = {
    "int": lambda q: q,
    "uint8": lambda q: q.astype(np.uint8),
    "float": lambda q: q + 0.5,
    "str": lambda q: np.array([f"q{k}" for k in q]),
    "object": lambda q: np.array([("q", k) for k in q.tolist()] + [None], dtype=object)[:-1],
}


def make_rows(n_queries=24, size=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * size, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=len(X)), [-0.5, 0.8]).astype(float)
    return X, y, np.repeat(np.arange(n_queries), size)


@contextmanager
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error", CutQueryWarning)
        yield


@each_ranker
@pytest.mark.parametrize("kind", IDS)
def test_scoring_tells_of_cut_queries(R, kind):
    X, y, codes = make_rows()
    groups = IDS[kind](codes)
    cut = codes < 3
    first, second = np.arange(len(y)) % 8 < 5, np.arange(len(y)) % 8 >= 5
    train = ~cut | first
    ranker = make(R).fit(X[train], y[train], groups=groups[train])
    match = f"3 of the 24 queries scored .* {groups[:1].tolist()[0]!r}"
    match = match.replace("(", r"\(").replace(")", r"\)")
    score = get_scorer("ndcg@10")
    with pytest.warns(CutQueryWarning, match=match) as caught:
        ranker.score(X, y, groups=groups)
    assert "GroupKFold" in str(caught[0].message)
    assert caught[0].filename == __file__
    for scored in (ranker, pickle.loads(pickle.dumps(ranker)), FrozenEstimator(ranker)):
        test = cut & second
        with pytest.warns(CutQueryWarning, match="3 of the 3") as caught:
            score(scored, X[test], y[test], groups=groups[test])
        assert sum(w.category is CutQueryWarning for w in caught) == 1


@each_ranker
def test_silent_where_no_query_is_cut(R):
    X, y, groups = make_rows()
    train = groups < 12
    ranker = make(R).fit(X[train], y[train], groups=groups[train])
    new = ~train
    order = np.random.default_rng(0).permutation(int(train.sum()))
    with silent():
        ranker.score(X[train], y[train], groups=groups[train])
        ranker.score(X[train][order], y[train][order], groups=groups[train][order])
        ranker.score(X[train].astype(np.float32), y[train] * 2, groups=groups[train].astype(float))
        ranker.score(np.asfortranarray(X[train]), y[train], groups=groups[train].tolist())
        ranker.score(X[groups < 3], y[groups < 3], groups=groups[groups < 3])
        ranker.score(X[new], y[new], groups=groups[new])
        ranker.score(X, y, groups=groups)
        if allows_sparse(R):
            ranker.score(sparse.csr_array(X[train]), y[train], groups=groups[train])


@each_ranker
def test_numbers_afresh_cannot_be_told_apart(R):
    X, y, groups = make_rows()
    new, y_new, _ = make_rows(seed=1)
    ranker = make(R).fit(X, y, groups=groups)
    with pytest.warns(CutQueryWarning, match="numbered afresh"):
        ranker.score(new, y_new, groups=groups)
    with silent():
        ranker.score(new, y_new, groups=groups + 24)


@each_ranker
def test_rows_of_no_weight_and_held_out_ones_were_seen(R):
    X, y, groups = make_rows()
    weight = np.where(groups < 4, 0.0, 1.0)
    ranker = make(R).fit(X, y, groups=groups, query_weight=weight)
    with silent():
        ranker.score(X, y, groups=groups)
    if has(R, "early_stopping"):
        ranker = make(R, early_stopping=True).fit(X, y, groups=groups)
        with silent():
            ranker.score(X, y, groups=groups)


@each_ranker
def test_shuffled_folds_are_told_and_whole_queries_are_not(R):
    X, y, groups = make_rows()
    scoring = get_scorer("ndcg@10")
    with sklearn.config_context(enable_metadata_routing=True):
        arguments = {"scoring": scoring, "params": {"groups": groups}}
        shuffled = KFold(3, shuffle=True, random_state=0)
        with pytest.warns(CutQueryWarning) as caught:
            cross_val_score(make(R), X, y, cv=shuffled, **arguments)
        assert sum(w.category is CutQueryWarning for w in caught) == 3
        pipeline = make_pipeline(StandardScaler(), make(R))
        with pytest.warns(CutQueryWarning):
            cross_val_score(pipeline, X, y, cv=shuffled, **arguments)
        with silent():
            cross_validate(pipeline, X, y, cv=GroupKFold(3), return_train_score=True, **arguments)
    with silent():
        learning_curve(make(R), X, y, groups, train_sizes=[0.5, 1.0], cv=3)


@each_ranker
def test_shuffled_columns_are_no_cut_queries(R):
    X, y, groups = make_rows()
    ranker = make(R).fit(X, y, groups=groups)
    X_constant = X.copy()
    X_constant[:, 2] = groups % 5  # shuffled between queries
    other = make(R).fit(X_constant, y, groups=groups)
    scorer = get_scorer("ndcg@10")
    with silent():
        permutation_importance(ranker, X, y, groups, n_repeats=2)
        permutation_importance(other, X_constant, y, groups, n_repeats=2)
        sklearn_importance(
            ranker, X, y, scoring=lambda e, X, y: scorer(e, X, y, groups=groups), n_repeats=2
        )


@each_ranker
def test_a_warm_start_remembers_all_queries(R):
    if not has(R, "warm_start"):
        pytest.skip("no warm start")
    X, y, groups = make_rows()
    ranker = make(R, warm_start=True, n_estimators=3).fit(X, y, groups=groups)
    ranker.set_params(n_estimators=5).fit(X[::2], y[::2], groups=groups[::2])
    with silent():
        ranker.score(X, y, groups=groups)
        ranker.score(X[::2], y[::2], groups=groups[::2])
    with pytest.warns(CutQueryWarning):
        ranker.score(X[1::2], y[1::2], groups=groups[1::2])


def test_comparisons_tell_once_a_ranker():
    X, y, groups = make_rows()
    rankers = {
        "a": RankSVM().fit(X[::2], y[::2], groups=groups[::2]),
        "b": LambdaMART(n_estimators=2).fit(X, y, groups=groups),
    }
    with pytest.warns(CutQueryWarning) as caught:
        compare_rankers(rankers, X, y, groups)
    assert len(caught) == 1


@each_ranker
def test_sixteen_bytes_a_query(R):
    X, y, groups = make_rows()
    ranker = make(R).fit(X, y, groups=groups)
    assert ranker._trained_on.nbytes == 16 * 24
    assert "_trained_on" not in vars(clone(ranker))


def test_digests_are_of_ids_and_numbers_alone():
    X, _, groups = make_rows()
    digests = query_digests(X, groups)
    rows = np.random.default_rng(0).permutation(len(X))
    by_id = digests[np.argsort(digests[:, 0])]
    variants = [
        query_digests(X[rows], groups[rows].astype(float)),
        query_digests(np.asfortranarray(X.astype(np.float32)), groups.astype(object)),
        query_digests(sparse.csr_matrix(X), groups.astype(np.uint16)),
    ]
    for other in variants:
        assert np.array_equal(other[np.argsort(other[:, 0])], by_id)
    X[0, 0] += 1
    assert (query_digests(X, groups) != digests).sum() == 1


# --- Groups that a wrapper does not hand on ------------------------------------------------------


class Wrapper(RegressorMixin, BaseEstimator):
    """Takes metadata in `fit`, and none in `predict`."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, groups=None):
        self.estimator_ = clone(self.estimator).fit(X, y, groups=groups)
        return self

    def predict(self, X):
        return self.estimator_.predict(X)


X_FEW, Y_FEW, G_FEW = np.array([[0.0, 3], [0, 2], [3, 3], [1, 0]]), [0, 1, 1, 0], [0, 0, 1, 1]


def test_a_frozen_ranker_gets_its_groups():
    ranker = FeatureRank(n_classes=2).fit(X_FEW, Y_FEW, groups=G_FEW)
    scorer = get_scorer("ndcg@10")
    assert scorer(ranker, X_FEW, Y_FEW, groups=G_FEW) == 1
    assert scorer(FrozenEstimator(ranker), X_FEW, Y_FEW, groups=G_FEW) == 1
    assert scorer(FrozenEstimator(FrozenEstimator(ranker)), X_FEW, Y_FEW, groups=G_FEW) == 1
    search = GridSearchCV(FeatureRank(), {"n_classes": [2]}, cv=2)
    search.best_estimator_ = FrozenEstimator(ranker)
    assert scorer(search, X_FEW, Y_FEW, groups=G_FEW) == 1


def test_groups_lost_in_a_wrapper_are_an_error():
    scorer = get_scorer("ndcg@10")
    wrapper = Wrapper(FeatureRank(n_classes=2)).fit(X_FEW, Y_FEW, groups=G_FEW)
    with pytest.raises(ValueError, match=r"FeatureRank.predict got no `groups`, which the scorer"):
        scorer(wrapper, X_FEW, Y_FEW, groups=G_FEW)
    wrapper.predict(X_FEW)  # without a scorer no groups are lost
    target = TransformedTargetRegressor(FrozenEstimator(wrapper.estimator_)).fit(X_FEW, Y_FEW)
    with pytest.raises(ValueError, match=r"FeatureRank.predict got no `groups`"):
        scorer(target, X_FEW, Y_FEW, groups=G_FEW)


def test_groups_lost_before_a_transformer_are_an_error():
    X, y, groups = make_rows()
    scorer = get_scorer("ndcg@10")
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), RankSVM()).fit(X, y, groups=groups)
        figure = scorer(pipeline, X, y, groups=groups)
        assert scorer(FrozenEstimator(pipeline), X, y, groups=groups) == figure
        wrapper = Wrapper(pipeline).fit(X, y, groups=groups)
        with pytest.raises(ValueError, match=r"QueryScaler.transform got no `groups`"):
            scorer(wrapper, X, y, groups=groups)
