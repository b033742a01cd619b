# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of equal grades, in every ranker that takes them."""

import numpy as np
import pytest
from every_ranker import RANKERS, has, make
from numpy.testing import assert_array_equal

from sklearn_ltr import RankNet
from sklearn_ltr.datasets import make_ranking

OF_TIES = [R for R in RANKERS if has(R, "tie_weight")]
each = pytest.mark.parametrize("R", OF_TIES, ids=lambda R: R.__name__)


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=25, random_state=0)


def spread(scores, y, groups):
    """Share of the variance within queries that lies between rows of equal grade."""
    cells = groups * 10 + y.astype(int)
    within, between = (
        scores - (np.bincount(c, scores) / np.maximum(np.bincount(c), 1))[c]
        for c in (cells, groups)
    )
    return (within**2).sum() / (between**2).sum()


def test_there_are_rankers():
    assert {"QBRank", "GBRank"} <= {R.__name__ for R in OF_TIES}


@each
def test_no_weight_is_none(R, data):
    expected = make(R).fit(*data).predict(data[0])
    assert_array_equal(make(R, tie_weight=0.0).fit(*data).predict(data[0]), expected)


@each
def test_tied_rows_come_closer(R, data):
    X, y, groups = data
    loose, tied = (
        make(R, n_estimators=40, tie_weight=t).fit(X, y, groups).predict(X) for t in (0.0, 2.0)
    )
    # A linear function can turn a little only; stumps and trees bring rows together one by one.
    most = 1.0 if R is RankNet else 0.9
    assert spread(tied, y, groups) < most * spread(loose, y, groups)


@each
def test_ties_are_of_grades(R, data):
    with pytest.raises(ValueError, match="`tie_weight` is for pairs of equal grades"):
        make(R, tie_weight=1.0).fit(data[0], preferences=[[0, 1]])


@each
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, "1"])
def test_wrong_weights(R, wrong, data):
    with pytest.raises((ValueError, TypeError), match="tie_weight"):
        make(R, tie_weight=wrong).fit(*data)
