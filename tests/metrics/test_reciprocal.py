# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reciprocal rank against every order of the tied rows, and its own rules."""

from functools import partial
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metrics as oracle
from sklearn.exceptions import UndefinedMetricWarning
from strategies import examples

from sklearn_ltr.metrics import get_metric, reciprocal_rank_score
from sklearn_ltr.metrics._per_query import TIES
from sklearn_ltr.scorers import get_scorer


def slow_reciprocal_rank(y_true, y_score, k, relevant_from, ties):
    """NaN where undefined."""
    relevant = [float(y >= relevant_from) for y in y_true]
    if not any(relevant):
        return np.nan

    def value(order):
        position = 1 + [relevant[row] for row in order].index(1)
        return 0.0 if k is not None and position > k else 1 / position

    return oracle.expected(value, relevant, y_score, ties)


@st.composite
def rankings(draw):
    n = draw(st.integers(1, 12))
    query = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(fits))
    grades = st.sampled_from([0.0, 0.0, 0.0, 0.25, 1.0, 2.0])
    scores = st.sampled_from([-1.5, 0.0, -0.0, 0.5, 1e300])
    y_true = draw(st.lists(grades, min_size=n, max_size=n))
    return y_true, draw(st.lists(scores, min_size=n, max_size=n)), query


def fits(query):
    """Whether no query has more rows than there is time to permute."""
    return np.bincount(query).max() <= 6


@examples(300)
@given(
    data=rankings(),
    undefined=st.sampled_from(["skip", 0, 1]),
    switches=st.fixed_dictionaries(
        {
            "k": st.sampled_from([None, 1, 2, 3, 5, 9]),
            "relevant_from": st.sampled_from([0.25, 1, 2]),
            "ties": st.sampled_from(TIES),
        }
    ),
)
def test_equals_every_order(data, undefined, switches):
    y_true, y_score, groups = data
    slow = partial(slow_reciprocal_rank, **switches)
    values, mean = oracle.mean_over_queries(slow, y_true, y_score, groups, undefined)
    score = partial(reciprocal_rank_score, undefined=undefined, **switches)
    got = score(y_true, y_score, groups, per_query=True)
    np.testing.assert_allclose(got.values, [values[q] for q in got.ids], rtol=1e-13, atol=1e-15)
    if not np.isnan(mean):
        assert score(y_true, y_score, groups) == pytest.approx(mean, rel=1e-13, abs=1e-15)


@given(n_relevant=st.integers(1, 6), n=st.integers(6, 40), k=st.integers(1, 41))
def test_all_tied(n_relevant, n, k):
    """The first of r relevant rows is at t with probability C(n - t, r - 1) / C(n, r)."""
    y = np.zeros(n)
    y[:n_relevant] = 1
    expected = sum(
        comb(n - t, n_relevant - 1) / comb(n, n_relevant) / t for t in range(1, min(n, k) + 1)
    )
    assert reciprocal_rank_score(y, np.zeros(n), k=k) == pytest.approx(expected, rel=1e-13)


def test_perfect_and_long_ties_are_exact():
    assert reciprocal_rank_score(np.ones(10**5), np.zeros(10**5)) == 1
    assert reciprocal_rank_score([1, 1, 0], [2, 2, 1]) == 1


def test_order_of_rows_does_not_matter():
    y_true, y_score = np.array([1.0, 0, 2, 0, 1]), np.array([0.0, 1, 0, 1, 0])
    values = {
        reciprocal_rank_score(y_true[list(rows)], y_score[list(rows)])
        for rows in permutations(range(5))
    }
    assert len(values) == 1


def test_presets_and_names():
    y_true, y_score, groups = [1, 0, 0, 0], [0, 0, 1, 2], [0, 0, 1, 1]
    assert reciprocal_rank_score(y_true, y_score, groups, like="trec_eval") == 0.25
    assert get_metric("mrr@10").name == "mrr@10"
    assert get_metric("mrr", relevant_from=2).relevant_from == 2
    assert get_scorer("mrr@5") is not None
    with pytest.raises(ValueError, match="`like` of mrr must be"):
        reciprocal_rank_score(y_true, y_score, like="xgboost")
    with pytest.raises(ValueError, match="`undefined` must be one of"):
        reciprocal_rank_score(y_true, y_score, undefined=2)
    with pytest.raises(ValueError, match="mrr is undefined where no row is relevant"):
        reciprocal_rank_score(y_true, y_score, groups, undefined="raise")
    with pytest.warns(UndefinedMetricWarning, match="no row is relevant"):
        assert np.isnan(reciprocal_rank_score([0, 0], [1, 2]))
