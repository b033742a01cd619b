# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Expected reciprocal rank against every order of the tied rows, and its own rules."""

from functools import partial
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metrics as oracle
from sklearn.exceptions import UndefinedMetricWarning
from strategies import examples

from sklearn_ltr import RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import expected_reciprocal_rank_score, get_metric
from sklearn_ltr.metrics._per_query import TIES
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer


@st.composite
def rankings(draw):
    n = draw(st.integers(1, 12))
    query = draw(
        st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(
            lambda q: np.bincount(q).max() <= 6  # there is not time to permute more
        )
    )
    grades = st.sampled_from([0.0, 0.0, 0.0, 1e-9, 0.25, 1.0, 2.0, 4.0])
    scores = st.sampled_from([-1.5, 0.0, -0.0, 0.5, 1e300])
    y_true = draw(st.lists(grades, min_size=n, max_size=n))
    return y_true, draw(st.lists(scores, min_size=n, max_size=n)), query


@examples(300)
@given(
    data=rankings(),
    undefined=st.sampled_from(["skip", 0, 1]),
    switches=st.fixed_dictionaries(
        {
            "k": st.sampled_from([None, 1, 2, 3, 5, 9]),
            "max_grade": st.sampled_from([4, 5.5, 40]),
            "ties": st.sampled_from(TIES),
        }
    ),
)
def test_equals_every_order(data, undefined, switches):
    slow = partial(oracle.expected_reciprocal_rank, **switches)
    values, mean = oracle.mean_over_queries(slow, *data, undefined)
    score = partial(expected_reciprocal_rank_score, undefined=undefined, **switches)
    got = score(*data, per_query=True)
    # Relative, so that values near 2^-40 are held to as many digits; 2^1e-9 - 1 has but seven.
    np.testing.assert_allclose(got.values, [values[q] for q in got.ids], rtol=1e-12, atol=1e-16)
    if not np.isnan(mean):
        assert score(*data) == pytest.approx(mean, rel=1e-12, abs=1e-16)


@given(
    counts=st.lists(st.integers(0, 30), min_size=3, max_size=3).filter(lambda c: c[1] + c[2] > 0),
    k=st.sampled_from([None, 1, 4, 40]),
)
def test_all_tied_by_counting_sets(counts, k):
    """Over the sets of t of the rows, by how many of each grade they hold."""
    y = np.repeat([0, 1, 2], counts)
    n, stop = len(y), (0, 1 / 4, 3 / 4)
    passing = [
        sum(
            comb(counts[0], t - a - b) * comb(counts[1], a) * comb(counts[2], b)
            * (1 - stop[1]) ** a * (1 - stop[2]) ** b
            for a in range(t + 1) for b in range(t + 1 - a)
        ) / comb(n, t)
        for t in range(n + 1)
    ]  # fmt: skip
    depth = n if k is None else min(k, n)
    expected = sum((passing[t] - passing[t + 1]) / (t + 1) for t in range(depth))
    got = expected_reciprocal_rank_score(y, np.zeros(n), max_grade=2, k=k)
    assert got == pytest.approx(expected, rel=1e-11)


def test_long_ties_and_tiny_probabilities_keep_their_digits():
    """One relevant row at each of n positions, as likely: R times the mean of 1/p."""
    n = 2000
    y = np.zeros(n)
    y[77] = 1
    for max_grade in (1, 50, 900):
        got = expected_reciprocal_rank_score(y, np.ones(n), max_grade=max_grade)
        expected = 2.0**-max_grade * np.mean(1 / np.arange(1, n + 1))
        assert got == pytest.approx(expected, rel=1e-12)
    at_10 = expected_reciprocal_rank_score(y, np.ones(n), max_grade=1, k=10)
    assert at_10 == pytest.approx(np.sum(0.5 / np.arange(1, 11)) / n, rel=1e-12)


@given(data=rankings(), seed=st.integers(0, 99), k=st.sampled_from([None, 1, 3]))
def test_order_of_rows_does_not_change_a_bit(data, seed, k):
    order = np.random.default_rng(seed).permutation(len(data[0]))
    shuffled = [[column[i] for i in order] for column in data]
    score = partial(expected_reciprocal_rank_score, k=k, max_grade=4, per_query=True)
    np.testing.assert_array_equal(score(*shuffled).values, score(*data).values)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 40, 200))))
    y = rng.integers(0, 3, offsets[-1]).astype(float)
    s = rng.integers(0, 8, offsets[-1]).astype(float)
    metric = get_metric("err@10", max_grade=4)
    assert metric.on_groups(y, s, offsets, n_threads=2) == metric.on_groups(y, s, offsets)


def test_worked_values():
    y, s = [0, 2, 1], [0.9, 0.8, 0.7]
    score = partial(expected_reciprocal_rank_score, y, s)
    assert score(max_grade=2) == 3 / 4 / 2 + 1 / 4 * 1 / 4 / 3
    assert score(max_grade=2, k=1) == 0
    assert score(max_grade=4) == pytest.approx(3 / 16 / 2 + 13 / 16 * 1 / 16 / 3)
    assert score(like="ranklib") == score(like="gdeval") == score(max_grade=4)
    assert expected_reciprocal_rank_score([1, 0], [0, 0], max_grade=1) == (1 / 2 + 1 / 4) / 2


def test_presets():
    y, s, groups = [0, 1, 0, 0, 0], [1, 1, 0, 1, 2], [0, 0, 0, 1, 1]
    score = partial(expected_reciprocal_rank_score, y, s, groups)
    assert score(like="ranklib") == 1 / 16 / 2 / 2
    assert score(like="gdeval") == 1 / 16
    assert get_metric("err@5", like="gdeval") == get_metric("err@5", max_grade=4, ties="reverse")
    for switch in ({"max_grade": 4}, {"ties": "best"}):
        with pytest.raises(ValueError, match="`like='ranklib'` sets every switch"):
            score(like="ranklib", **switch)
    with pytest.raises(ValueError, match="`like` of err must be"):
        score(like="trec_eval")


def test_scale_must_be_given():
    for call in (
        lambda: get_metric("err@10"),
        lambda: get_metric("err"),
        lambda: get_scorer("err@10"),
        lambda: expected_reciprocal_rank_score([1, 0], [1, 0]),
    ):
        with pytest.raises(ValueError, match=r"needs `max_grade`.*get_metric\('err@10', max_g"):
            call()
    for wrong in (0, -1, np.inf, np.nan, "4"):
        with pytest.raises(ValueError, match="`max_grade` must be a positive finite grade"):
            get_metric("err", max_grade=wrong)


def test_wrong_grades_and_switches():
    score = partial(expected_reciprocal_rank_score, max_grade=2)
    with pytest.raises(ValueError, match="a grade above max_grade=2: 3"):
        score([0, 3], [1, 2])
    with pytest.raises(ValueError, match=r"the negative grade -0\.5"):
        score([0, -0.5], [1, 2])
    # the grade would be refused if its query counted
    assert score([1, 3], [1, 2], [0, 1], query_weight=[1, 0]) == 1 / 4
    for switch in ({"ties": "random"}, {"undefined": 2}, {"k": 0}):
        with pytest.raises(ValueError, match=f"`{next(iter(switch))}` must be"):
            score([0, 1], [1, 2], **switch)


def test_undefined_queries():
    y, s, groups = [1, 0, 0, 0], [2, 1, 3, 2], ["a", "a", "b", "b"]
    score = partial(expected_reciprocal_rank_score, max_grade=1)
    np.testing.assert_array_equal(score(y, s, groups, per_query=True).values, [0.5, np.nan])
    assert score(y, s, groups) == 0.5
    assert score(y, s, groups, undefined=0) == 0.25
    with pytest.raises(ValueError, match="err is undefined where no row has a positive grade"):
        score(y, s, groups, undefined="raise")
    with pytest.warns(UndefinedMetricWarning, match="no row has a positive grade"):
        assert np.isnan(score([0, 0], [0, 1]))


def test_scorer_and_early_stopping():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    scorer = make_ranking_scorer("err@10", max_grade=4)
    model = RegressionRanker(n_estimators=20, early_stopping=True, scoring=scorer.metric)
    model.fit(X, y, groups=groups)
    expected = expected_reciprocal_rank_score(y, model.predict(X), groups, k=10, max_grade=4)
    assert scorer(model, X, y, groups=groups) == expected
    too_small = get_metric("err@10", max_grade=1)
    with pytest.raises(ValueError, match="above max_grade=1"):
        model.set_params(scoring=too_small).fit(X, y, groups=groups)
