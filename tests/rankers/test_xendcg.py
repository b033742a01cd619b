# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""XENDCG: its first round from the definition, and its grades."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr import XENDCG, QuadraticBoosting
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses import ListNDCGCrossEntropy
from sklearn_ltr.losses.xe_ndcg import GAMMAS
from sklearn_ltr.ranking_data import RankingData

SMALL = {"n_estimators": 10, "max_leaf_nodes": 5, "min_samples_leaf": 2, "random_state": 0}


def test_it_is_quadratic_boosting_of_its_loss():
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    ranker = XENDCG(**SMALL).fit(X, y, groups)
    expected = QuadraticBoosting(loss=ListNDCGCrossEntropy(), **SMALL).fit(X, y, groups)
    assert_array_equal(ranker.predict(X), expected.predict(X))
    assert_array_equal(ranker.train_loss_, expected.train_loss_)


def test_one_split_of_one_query():
    """Two leaves, whose values are those of the definition up to the length of the step."""
    y = np.array([2.0, 1.0, 0.0, 0.0])
    X = np.array([[1.0], [1.0], [0.0], [0.0]])
    params = SMALL | {"n_estimators": 1, "learning_rate": 1.0, "max_leaf_nodes": 2}
    ranker = XENDCG(**params).fit(X, y, np.zeros(4))
    low, high = ranker.predict([[0.0], [1.0]])
    # The rows of one leaf share the sum of their phi; so the loss is least where the softmax of the
    # two leaves has these sums. It is convex along the way, which ends there.
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    data = RankingData.of(y, [0, 4], random_seed=seed)
    phi = shares(X, y, data)
    assert_allclose(high - low, np.log(phi / (1 - phi)), rtol=0.02)


def shares(X, y, data):
    """The sum of phi over the rows of the upper leaf, in the order that the fit has them in."""
    gamma = np.random.default_rng(data.seed(0, GAMMAS)).random(4)
    ranker = XENDCG(**SMALL)
    ranker._check_params()
    order = ranker._validate_training_data(X, y, np.zeros(4), None).queries.order
    gain = 2 ** y[order] - gamma
    return gain[X[order, 0] == 1].sum() / gain.sum()


def test_negative_grades_are_refused():
    X, y, groups = make_ranking(n_queries=5, random_state=0)
    with pytest.raises(ValueError, match="`y` has the negative grade -1"):
        XENDCG(**SMALL).fit(X, y - 1, groups)


@pytest.mark.parametrize("size", [1e4, 1e100])
def test_gains_beyond_float64(size):
    """Only the rows of the highest grade count then."""
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    ranker = XENDCG(**SMALL).fit(X, size * y, groups)
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    best = 1e4 * (y == np.maximum.reduceat(y, starts)[groups])
    expected = XENDCG(**SMALL).fit(X, best, groups)
    assert_allclose(ranker.predict(X), expected.predict(X), rtol=1e-9)
    assert np.isfinite(ranker.train_loss_).all()
