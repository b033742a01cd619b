# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""`pair_weighting` means the same in every ranker that has it."""

import inspect
import warnings

import numpy as np
import pytest
from every_ranker import RANKERS, has, make, takes_preferences
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr import LambdaRank
from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.ranking_data import RankingData

# What counts the same in the paper of a ranker, where it is not each pair.
OWN = {"MPRank": "query", "SVRank": "query"}
# Those that keep distances have pairs of equal grades, too.
OF_ALL_ROWS = {"MPRank", "SVRank"}

WITH_SWITCH = [R for R in RANKERS if has(R, "pair_weighting")]
each = pytest.mark.parametrize("R", WITH_SWITCH, ids=lambda R: R.__name__)


def data(R=None):
    """Queries of 2 to 12 rows of few grades, which features do not tell apart."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), rng.integers(2, 13, 40))
    X = rng.normal(size=(len(groups), 3))
    y = np.clip(np.round(1 + 0.5 * X[:, 0] + rng.normal(size=len(groups))), 0, 2)
    X[:, 1] *= 1 + (groups % 3)
    pairs = np.array([n_pairs(y[groups == q]) for q in range(40)])
    kept = pairs[groups] > 0
    if R is not None and R.__name__ in OF_ALL_ROWS:
        n = np.bincount(groups, minlength=40)
        pairs = n * (n - 1) // 2
    return X[kept], y[kept], groups[kept], pairs[groups][kept]


def n_pairs(y):
    return sum(a > b for a in y for b in y)


def fit(R, X, y=None, groups=None, **given):
    """A fit that no penalty holds back, so that a factor of the loss does not matter."""
    params = {"pair_weighting": given.pop("pair_weighting")}
    params |= {"alpha": 0.0} if has(R, "alpha") else {"C": 1e4}
    params |= {"max_iter": 40 if R is LambdaRank else 5000, "tol": 1e-9}
    params |= {"batch_size": 64}  # all: weights have their say in the order that others go by
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to the last digit that there is
        return make(R, **params).fit(X, y, groups=groups, **given)


def scores(model, X):
    """Up to what a constant and nothing else makes of them."""
    found = model.predict(X)
    return found - found.mean()


def test_there_are_rankers():
    assert {"RankSVM", "RankNet", "LambdaRank"} <= {R.__name__ for R in WITH_SWITCH}


@each
def test_the_default_is_the_paper_s(R):
    own = OWN.get(R.__name__, "pair")
    assert inspect.signature(R).parameters["pair_weighting"].default == own
    X, y, groups, _ = data()
    expected = make(R).fit(X, y, groups=groups)
    model = make(R, pair_weighting=own).fit(X, y, groups=groups)
    assert_array_equal(model.predict(X), expected.predict(X))


@each
def test_queries_alike_are_pairs_that_weigh_less_where_there_are_more(R):
    """By `query_weight`, both ways."""
    X, y, groups, pairs = data(R)
    weight = np.random.default_rng(1).choice([1.0, 2.0, 5.0], 40)[groups]
    of_pairs = fit(R, X, y, groups, pair_weighting="pair", query_weight=weight)
    of_queries = fit(R, X, y, groups, pair_weighting="query", query_weight=weight)
    by_hand = fit(R, X, y, groups, pair_weighting="pair", query_weight=weight / pairs)
    assert_allclose(scores(of_queries, X), scores(by_hand, X), rtol=1e-3, atol=1e-3)
    back = fit(R, X, y, groups, pair_weighting="query", query_weight=weight * pairs)
    assert_allclose(scores(back, X), scores(of_pairs, X), rtol=1e-3, atol=1e-3)
    assert not np.allclose(scores(of_queries, X), scores(of_pairs, X), rtol=1e-2, atol=1e-2)


@each
def test_weights_of_preferences_are_shares_of_their_query(R):
    if not takes_preferences(R):
        pytest.skip("takes no preferences")
    X, y, groups, _ = data()
    i, j = np.nonzero((groups[:, None] == groups) & (y[:, None] > y))
    given = {"groups": groups, "preferences": np.column_stack([i, j])}
    factor = np.random.default_rng(2).choice([0.25, 1.0, 8.0], 40)[groups[i]]
    for alike, moves in (("query", False), ("pair", True)):
        one, other = (
            scores(fit(R, X, **given, pair_weighting=alike, preference_weight=w), X)
            for w in (np.ones(len(i)), factor)
        )
        assert np.allclose(one, other, rtol=1e-3, atol=1e-3) != moves


@each
def test_a_wrong_switch(R):
    X, y, groups, _ = data()
    with pytest.raises(ValueError, match="`pair_weighting` must be one of"):
        make(R, pair_weighting="queries").fit(X, y, groups=groups)


@pytest.mark.parametrize("metric", ["ndcg@3", "ndcg", "map", "mrr"])
def test_gradients_of_swaps_are_means(metric):
    """The loss, which is a metric, is what it was."""
    X, y, groups, pairs = data()
    offsets = np.concatenate([[0], np.cumsum(np.bincount(groups)[np.unique(groups)])])
    weight = np.random.default_rng(1).choice([1.0, 2.0, 5.0], len(offsets) - 1)
    rows = RankingData.of(y, offsets, weight)
    pair, query = (Lambdas(metric, pair_weighting=a).bind(rows) for a in ("pair", "query"))
    for bound in (pair, query):
        bound.update(X[:, 0].copy())
    assert_allclose(query.gradient, pair.gradient / pairs, rtol=1e-13, atol=1e-16)
    assert_allclose(query.curvature, pair.curvature / pairs, rtol=1e-13, atol=1e-16)
    assert query.loss == pair.loss
    assert query.total == pair.total == pytest.approx(pair.loss * rows.n_queries)
