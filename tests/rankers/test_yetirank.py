# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""YetiRank: its rounds from the definition, and its own rules."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from every_ranker import assert_same
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import yetirank as oracle
from strategies import examples, ranking_problems

from sklearn_ltr import YetiRank
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.losses.yeti import ORDERS, YetiPairs
from sklearn_ltr.metrics import ndcg_score

SMALL = {
    "n_estimators": 8,
    "max_leaf_nodes": 5,
    "min_samples_leaf": 2,
    "learning_rate": 0.3,
    "random_state": 0,
}
DRAWS = {"n_permutations": 4, "decay": 0.7}


def make(seed=0, n_queries=30):
    """Queries of 1 to 6 rows with few distinct values, so that many rows share a leaf."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(1, 7, n_queries))
    X = np.round(2 * rng.normal(size=(len(groups), 3))) / 2
    y = np.clip(np.round(X[:, 0] + 0.7 * rng.normal(size=len(groups))), 0, 3)
    return X, y, groups


class Watched(YetiRank):
    """Keeps the rows it learns from, whose order is the ranker's own."""

    def _rounds(self, train):
        self.data_ = train.data
        return super()._rounds(train)


def oracle_at(ranker, scores, k, all_pairs_weight):
    """Loss, gradient and curvature of round k at scores that are in the caller's order."""
    data = ranker.data_
    return oracle.of_queries(
        data.y,
        scores[data.queries.order],
        [slice(*ends) for ends in pairwise(data.offsets)],
        data.seed(k, ORDERS),
        data.query_weight / data.query_weight.mean(),
        **DRAWS,
        all_pairs_weight=all_pairs_weight,
    )


@pytest.mark.parametrize("all_pairs_weight", [0.0, 0.5])
@examples(25)
@given(problem=ranking_problems(max_rows=6), seed=st.integers(0, 99), l2=st.sampled_from([0, 0.5]))
def test_leaves_are_newton_steps_along_what_each_round_draws(all_pairs_weight, problem, seed, l2):
    params = {"l2_regularization": l2, "random_state": seed, "all_pairs_weight": all_pairs_weight}
    ranker = Watched(n_estimators=3, learning_rate=0.3, min_samples_leaf=1, max_leaf_nodes=4)
    ranker.set_params(**DRAWS, **params, max_bins=None)
    X, y, groups, weight = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        ranker.fit(X, y, groups=groups, query_weight=weight)
    scores = np.zeros(len(y))
    for k, after in enumerate(ranker.staged_predict(X)):
        _, G, H = oracle_at(ranker, scores, k, all_pairs_weight)
        rows = ranker.data_.queries.order  # without those of weight 0
        trees = [tree for _, tree in ranker.model_.rounds[k]]
        leaves = np.zeros(len(rows), dtype=int)
        if trees:
            leaves = np.unique(trees[0].predict(X[rows]), return_inverse=True)[1].ravel()
        step = -np.bincount(leaves, G) / (np.bincount(leaves, H) + l2)
        expected = scores[rows] + (0.3 * step[leaves] if trees else 0)
        assert_allclose(after[rows], expected, rtol=1e-7, atol=1e-7)
        value = oracle_at(ranker, after, k + 1, all_pairs_weight)[0]
        assert ranker.train_loss_[k] == pytest.approx((ranker.data_.v * value).mean(), rel=1e-9)
        scores = after


def test_steps_follow_what_was_drawn():
    """Trees of all rounds are there, though no line search saw to it that the loss falls."""
    ranker = YetiRank(**SMALL | {"n_estimators": 60}).fit(*make())
    assert ranker.n_iter_ == 60
    assert all(len(terms) == 1 for terms in ranker.model_.rounds)
    assert (np.diff(ranker.train_loss_) > 0).any()
    assert ranker.train_loss_[-1] < ranker.train_loss_[0] / 2


def test_a_round_without_a_split_is_not_the_last():
    """The next one draws other pairs."""
    X, y, groups = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 0.0]), [0, 0, 0]
    ranker = YetiRank(30, n_permutations=1, decay=1e-9, min_samples_leaf=1, random_state=0)
    ranker.fit(X, y, groups=groups)
    n_terms = [len(terms) for terms in ranker.model_.rounds]
    assert ranker.n_iter_ == 30
    assert 0 < sum(n_terms) < 30
    assert 1 in n_terms[n_terms.index(0) :]


@pytest.mark.parametrize("metric", [5, 10])
def test_learns(metric):
    X, y, groups = make_ranking(n_queries=240, random_state=0)
    train, test = groups < 120, groups >= 120
    ranker = YetiRank(60, 0.1, random_state=0).fit(X[train], y[train], groups=groups[train])
    value = ndcg_score(y[test], ranker.predict(X[test]), groups[test], k=metric)
    at_random = ndcg_score(y[test], np.zeros(test.sum()), groups[test], k=metric)
    assert value > (1 + at_random) / 2


@pytest.mark.parametrize("grade", [0.0, 3.0])
def test_queries_of_one_grade_teach_nothing(grade):
    X, y, groups = make()
    alone = Watched(**SMALL).fit(X, y, groups=groups)
    extra = np.arange(0, len(y), 2)
    beside = Watched(**SMALL).fit(
        np.vstack([X, X[extra]]),
        np.concatenate([y, np.full(len(extra), grade)]),
        groups=np.concatenate([groups, 1000 + extra // 6]),
    )
    more = len(np.unique(extra // 6))
    assert beside.n_queries_skipped_ == alone.n_queries_skipped_ + more
    bound = YetiPairs().bind(beside.data_)
    bound.update(np.random.default_rng(0).normal(size=len(beside.data_.y)))
    one_grade = beside.data_.per_row(~beside.data_.informative)
    assert not bound.gradient[one_grade].any()
    assert not bound.curvature[one_grade].any()
    assert bound.curvature[~one_grade].any()


def test_the_same_queries_twice_are_drawn_for_twice():
    """Copies of a query are told apart by their place, and any of them may come first."""
    X, y, groups = make(n_queries=8)
    X, y, groups = np.vstack([X, X]), np.tile(y, 2), np.concatenate([groups, groups + 8])
    ranker = Watched(**SMALL).fit(X, y, groups=groups)
    swapped = Watched(**SMALL).fit(X, y, groups=(groups + 8) % 16)
    assert_same(ranker, swapped, X)
    bound = YetiPairs().bind(ranker.data_)
    bound.update(np.zeros(len(y)))
    by_content = np.sort(bound.value)
    assert (by_content[::2] != by_content[1::2]).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_permutations", 3), ("decay", 0.5), ("all_pairs_weight", 1.0), ("random_state", 1)],
)
def test_parameters_matter(name, value):
    X, y, groups = make()
    one, other = (YetiRank(**SMALL | p).fit(X, y, groups=groups) for p in ({}, {name: value}))
    assert (one.predict(X) != other.predict(X)).any()


def test_two_fits_with_one_random_state_are_one_model():
    X, y, groups = make()
    one, other = (
        YetiRank(**SMALL, all_pairs_weight=0.5).fit(X, y, groups=groups) for _ in range(2)
    )
    assert_same(one, other, X)


@pytest.mark.parametrize("n_first", [1, 4])
def test_a_warm_start_draws_what_an_uninterrupted_fit_draws(n_first):
    X, y, groups = make()
    params = SMALL | {"all_pairs_weight": 1.0}
    whole = YetiRank(**params).fit(X, y, groups=groups)
    ranker = YetiRank(**params | {"n_estimators": n_first, "warm_start": True})
    ranker.fit(X, y, groups=groups).set_params(n_estimators=8).fit(X, y, groups=groups)
    assert_same(ranker, whole, X)


def test_fractional_and_negative_grades():
    X, y, groups = make()
    scores = YetiRank(**SMALL).fit(X, y, groups=groups).predict(X)
    shifted = YetiRank(**SMALL).fit(X, y / 4 - 8, groups=groups).predict(X)
    # Rows come in another order where their grades are others, so that others are drawn.
    for found in (scores, shifted):
        assert ndcg_score(y, found, groups) > 0.85


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_permutations": 0}, "n_permutations == 0, must be >= 1"),
        ({"decay": 0.0}, "decay == 0.0, must be > 0"),
        ({"decay": 1.5}, "decay == 1.5, must be < 1"),
        ({"decay": np.nan}, "decay == nan"),
        ({"all_pairs_weight": -1.0}, "all_pairs_weight == -1.0, must be >= 0"),
        ({"all_pairs_weight": np.inf}, "all_pairs_weight == inf, must be < inf"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        YetiRank(**params).fit(*make())


@pytest.mark.parametrize(
    "params", [{"n_permutations": 2.5}, {"decay": "fast"}, {"all_pairs_weight": None}]
)
def test_types_are_checked(params):
    with pytest.raises(TypeError, match=f"{next(iter(params))} must be an instance of"):
        YetiRank(**params).fit(*make())


def test_a_decay_of_1_is_none():
    X, y, groups = make()
    scores = YetiRank(**SMALL, decay=1).fit(X, y, groups=groups).predict(X)
    assert_array_equal(np.isfinite(scores), True)
    assert ndcg_score(y, scores, groups) > 0.85
