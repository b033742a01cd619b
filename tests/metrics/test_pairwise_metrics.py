# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Precision at K % and the misordering rate against all pairs, listed."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metrics as oracle
from sklearn.exceptions import UndefinedMetricWarning
from strategies import examples

from sklearn_ltr import MPBoost
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import (
    kendall_tau_distance,
    misordering_rate,
    pair_precision_score,
)


@st.composite
def rankings(draw, max_pairs=6):
    """Few queries, scores and differences, and no more pairs than there is time to permute."""
    n = draw(st.integers(2, 7))
    groups = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    y_true = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.0, 0.5, 1.0]), min_size=n, max_size=n))
    scores = st.sampled_from([-1.7e308, -1.0, 0.0, -0.0, 5e-324, 1.0, 2.0, 2.5, 1.7e308])
    y_score = draw(st.lists(scores, min_size=n, max_size=n))
    if not 1 <= len(pairs_of(y_true, groups)) <= max_pairs:
        y_true, groups = [0.0] * n, ["a"] * n
        y_true[draw(st.integers(0, n - 1))] = 1.0
    return y_true, y_score, groups


def pairs_of(y_true, groups):
    return [(i, j) for i, j in oracle.comparable_pairs(y_true) if groups[i] == groups[j]]


@examples(300)
@given(data=rankings(), share=st.sampled_from([0.01, 0.1, 0.25, 0.4, 0.5, 0.75, 0.99, 1.0]))
def test_precision_equals_every_order_of_the_pairs(data, share):
    expected = oracle.precision_of_surest_pairs(*data, share)
    assert pair_precision_score(*data, share=share) == pytest.approx(expected, rel=1e-13)


@given(data=rankings(max_pairs=99), weighted=st.booleans())
def test_misordering_rate_equals_all_pairs(data, weighted):
    y_true, y_score, groups = data
    weight = [1.0 + 2 * weighted * ord(g) for g in groups]
    pairs = pairs_of(y_true, groups)
    total = sum(weight[i] for i, _ in pairs)
    for ties, tied in (("average", 0.5), ("wrong", 1.0)):
        wrong = sum(
            weight[i] * ((y_score[i] < y_score[j]) + tied * (y_score[i] == y_score[j]))
            for i, j in pairs
        )
        got = misordering_rate(*data, ties=ties, query_weight=weight if weighted else None)
        assert got == pytest.approx(wrong / total, rel=1e-13)


def sorted_pairs(y, s, groups):
    """|difference| and whether right, of all pairs, by a full sort."""
    gaps = np.concatenate(
        [
            (s[rows][:, None] - s[rows])[y[rows][:, None] > y[rows]]
            for rows in (groups == query for query in np.unique(groups))
        ]
    )
    gaps = gaps[np.argsort(-np.abs(gaps), kind="stable")]
    return np.abs(gaps), (np.sign(gaps) + 1) / 2


@pytest.mark.parametrize("n_grades", [2, 5, 10**6])
def test_precision_of_many_pairs_equals_a_full_sort(n_grades):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 700)
    y = rng.integers(0, n_grades, 700).astype(float)
    s = rng.normal(size=700) + y / n_grades
    gap, right = sorted_pairs(y, s, groups)
    shares = np.concatenate(([1e-9], np.arange(1, 11) / 10))
    ends = np.maximum(1, np.rint(shares * len(gap)).astype(int))
    assert (np.diff(gap) < 0).all()  # so there is no choice at the cut
    expected = np.cumsum(right)[ends - 1] / ends
    got = pair_precision_score(y, s, groups, share=shares)
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    single = [pair_precision_score(y, s, groups, share=share) for share in shares]
    np.testing.assert_array_equal(single, got)


def test_order_of_rows_does_not_change_a_bit():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 5, 80)
    y, s = rng.integers(0, 3, 80), rng.integers(0, 6, 80)
    shares = [0.05, 0.3, 0.8, 1]
    precision = pair_precision_score(y, s, groups, share=shares)
    rate = misordering_rate(y, s, groups)
    for _ in range(5):
        rows = rng.permutation(80)
        shuffled = y[rows], s[rows], groups[rows] * -1.5
        np.testing.assert_array_equal(pair_precision_score(*shuffled, share=shares), precision)
        assert misordering_rate(*shuffled) == rate


def test_the_figures_agree_with_one_another():
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 4, 60), rng.integers(0, 9, 60)
    rate = misordering_rate(y, s)
    assert pair_precision_score(y, s) == pytest.approx(1 - rate, rel=1e-14)
    assert kendall_tau_distance(y, s) == rate  # of one query
    groups = np.repeat([0, 1], [10, 50])
    distances = kendall_tau_distance(y, s, groups, per_query=True).values
    n_pairs = [np.sum(y[g][:, None] > y[g]) for g in (groups == 0, groups == 1)]
    pooled = np.average(distances, weights=n_pairs)
    assert misordering_rate(y, s, groups) == pytest.approx(pooled, rel=1e-14)


def test_worked_values():
    y, s, groups = [2, 1, 0, 1, 0], [0.9, 0.1, 0.5, 0.3, 0.3], list("aaabb")
    precision = partial(pair_precision_score, y, s, groups)
    # .8 right; then .4 right and .4 wrong, either of them first; last the tied pair
    assert precision(share=0.25) == 1
    assert precision(share=0.5) == 3 / 4
    assert precision(share=0.75) == pytest.approx(2 / 3, rel=1e-15)
    assert precision() == 2.5 / 4
    assert precision(share=0.001) == 1  # at least one pair
    assert precision(share=0.62) == 3 / 4  # 2.48 pairs are two
    assert type(precision()) is float
    assert precision(share=[[1.0], [0.25]]).shape == (2, 1)
    assert misordering_rate(y, s, groups) == 1.5 / 4
    assert misordering_rate(y, s, groups, ties="wrong") == 2 / 4
    assert misordering_rate(y, s, groups, query_weight=[1, 1, 1, 3, 3]) == 2.5 / 6
    assert misordering_rate(y, s, groups, query_weight=[0, 0, 0, 3, 3]) == 1 / 2


def test_more_pairs_than_memory_could_list():
    """10^10 of them, by the distance d = i - j of the winner from the loser."""
    n = 200_000
    y = np.arange(n) % 2
    d = np.arange(1 - n, n, 2)
    count = np.where(d > 0, n - d + 1, n + d - 1) // 2
    gap = d + 2.5
    order = np.argsort(-np.abs(gap))  # of distinct gaps
    n_pairs, n_right = np.cumsum(count[order]), np.cumsum(count[order] * (gap[order] > 0))
    assert n_pairs[-1] == (n // 2) ** 2
    shares = np.array([0.001, 0.3, 0.9, 1])
    m = np.rint(shares * n_pairs[-1])
    expected = np.interp(m, n_pairs, n_right) / m
    got = pair_precision_score(y, np.arange(n) + 2.5 * y, share=shares)
    np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_theorem_1_bounds_the_misordering_rate(weighted):
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    query_weight = 1.0 + groups % 3 if weighted else None
    model = MPBoost(n_estimators=20).fit(X, y, groups=groups, query_weight=query_weight)
    rates = [
        misordering_rate(y, scores, groups, ties="wrong", query_weight=query_weight)
        for scores in model.staged_predict(X)
    ]
    assert (rates <= model.bound_ * (1 + 1e-12)).all()
    assert all(a >= 0 for a in rates)
    assert rates[-1] < rates[0]


def test_nothing_to_compare():
    y, s, groups = [1, 1, 0], [1, 2, 3], [0, 0, 1]
    with pytest.warns(UndefinedMetricWarning, match="misordering rate is undefined") as record:
        assert np.isnan(misordering_rate(y, s, groups))
    assert record[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match="Pair precision is undefined") as record:
        assert np.isnan(pair_precision_score(y, s, groups))
    assert record[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(pair_precision_score(y, s, groups, share=[0.5, 1])).tolist() == [True] * 2


def test_wrong_arguments():
    for share in (0, -0.1, 1.1, np.nan, [0.5, 0], []):
        with pytest.raises(ValueError, match="`share` must be above 0 and at most 1"):
            pair_precision_score([1, 0], [1, 0], share=share)
    with pytest.raises(ValueError, match="`ties` must be one of"):
        misordering_rate([1, 0], [1, 0], ties="agree")
    for score in (misordering_rate, pair_precision_score):
        with pytest.raises(ValueError, match="same length; got 2 and 3"):
            score([1, 0], [1, 0, 2])
        with pytest.raises(ValueError, match="Input y_score contains NaN"):
            score([1, 0], [1, np.nan])
        with pytest.raises(ValueError, match="`groups` has 1 entries"):
            score([1, 0], [1, 0], [1])
