# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kendall's tau against every order of the tied rows, SciPy and its own rules; ranks in queries."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import metrics as oracle
from scipy.stats import kendalltau, rankdata, somersd
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import roc_auc_score
from strategies import examples

from sklearn_ltr import RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import get_metric, kendall_tau_distance, rank_in_query
from sklearn_ltr.metrics.correlation import count_pairs
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer


@st.composite
def rankings(draw, max_rows=6, max_queries=3):
    """Interleaved queries with string ids, few scores (ties) and few grades."""
    sizes = draw(st.lists(st.integers(1, max_rows), min_size=1, max_size=max_queries))
    n = sum(sizes)
    groups = draw(st.permutations([f"q{q}" for q, size in enumerate(sizes) for _ in range(size)]))
    grades = st.sampled_from([-1e300, 0.0, -0.0, 0.25, 1.0, 1.0, 2.0])
    scores = st.sampled_from([-1.5, 0.0, -0.0, 5e-324, 0.5, 1e300])
    y_true = draw(st.lists(grades, min_size=n, max_size=n))
    y_score = draw(st.lists(scores, min_size=n, max_size=n))
    return y_true, y_score, list(groups)


@examples(300)
@given(
    data=rankings(),
    undefined=st.sampled_from(["skip", 0, 1]),
    switches=st.fixed_dictionaries(
        {
            "denominator": st.sampled_from(["comparable", "all"]),
            "ties": st.sampled_from(["average", "agree"]),
        }
    ),
)
def test_equals_oracle(data, undefined, switches):
    slow = partial(oracle.kendall_tau_distance, **switches)
    values, mean = oracle.mean_over_queries(slow, *data, undefined)
    score = partial(kendall_tau_distance, undefined=undefined, **switches)
    got = score(*data, per_query=True)
    assert list(got.ids) == sorted(values)
    np.testing.assert_allclose(got.values, [values[q] for q in got.ids], rtol=1e-13, atol=1e-15)
    if not np.isnan(mean):
        assert score(*data) == pytest.approx(mean, rel=1e-13, abs=1e-15)


@given(
    n=st.integers(1, 300),
    n_grades=st.integers(1, 400),
    n_scores=st.integers(1, 400),
    seed=st.integers(0, 999),
)
def test_counts_equal_those_of_all_pairs(n, n_grades, n_scores, seed):
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, n_grades, n).astype(float), rng.integers(0, n_scores, n).astype(float)
    cut = int(rng.integers(0, n))
    offsets = np.unique([0, cut, n])
    pairs, wrong, tied = count_pairs(y, s, offsets, n_threads=2)
    for q, (start, stop) in enumerate(pairwise(offsets)):
        winner = y[start:stop, None] > y[start:stop]
        gap = s[start:stop, None] - s[start:stop]
        assert pairs[q] == winner.sum()
        assert wrong[q] == (winner & (gap < 0)).sum()
        assert tied[q] == (winner & (gap == 0)).sum()


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_is_tau_where_nothing_is_tied(n):
    rng = np.random.default_rng(n)
    y, s = rng.permutation(n), rng.normal(size=n)
    tau = kendalltau(y, s).statistic
    for denominator in ("comparable", "all"):
        distance = kendall_tau_distance(y, s, denominator=denominator)
        assert 1 - 2 * distance == pytest.approx(tau, abs=1e-14)
        assert get_metric("kendall", denominator=denominator)(y, s) == 1 - 2 * distance


@given(seed=st.integers(0, 999), n=st.integers(2, 60))
@example(seed=2, n=4)
def test_coefficients_of_ties(seed, n):
    """The table of the docstring."""
    rng = np.random.default_rng(seed)
    y, s = rng.integers(0, 4, n), rng.integers(0, 5, n)
    y[0] = y[1] + 1
    e = 1 - 2 * kendall_tau_distance(y, s)
    if len(set(s)) > 1:  # SciPy's are NaN else
        with np.errstate(invalid="ignore"):  # its p-value may be 0 / 0
            assert e == pytest.approx(somersd(y, s).statistic, abs=1e-12)
        comparable, distinct = (np.sum(v[:, None] > v) for v in (y, s))
        tau_b = kendalltau(y, s).statistic
        assert e * np.sqrt(comparable / distinct) == pytest.approx(tau_b, abs=1e-12)
    binary = y > y.min()
    assert kendall_tau_distance(binary, s) == pytest.approx(1 - roc_auc_score(binary, s))


def test_order_of_rows_does_not_change_a_bit():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 5, 90)
    y, s = rng.integers(0, 3, 90), rng.integers(0, 4, 90)
    expected = kendall_tau_distance(y, s, groups, per_query=True).values
    for _ in range(5):
        rows = rng.permutation(90)
        got = kendall_tau_distance(y[rows], s[rows], groups[rows], per_query=True)
        np.testing.assert_array_equal(got.values, expected)


def test_worked_values():
    # three pairs right, one tied, one wrong; a sixth has equal grades
    y, s = [2, 1, 0, 0], [3, 1, 1, 2]
    assert kendall_tau_distance(y, s) == 1.5 / 5
    assert kendall_tau_distance(y, s, ties="agree") == 1 / 5
    assert kendall_tau_distance(y, s, denominator="all") == 1.5 / 6
    assert kendall_tau_distance(y, s, denominator="all", ties="agree") == 1 / 6
    assert get_metric("kendall", ties="agree")(y, s) == 1 - 2 / 5
    assert kendall_tau_distance(y, np.zeros(4)) == 1 / 2
    assert kendall_tau_distance(y, y) == 0
    assert kendall_tau_distance(y, np.negative(y)) == 1


def test_long_query_counts_beyond_32_bits():
    n = 200_000
    y = np.arange(n) % 2
    assert count_pairs(y * 1.0, -y * 1.0, np.array([0, n]))[1] == (n // 2) ** 2 > 2**32
    assert kendall_tau_distance(np.arange(n), -np.arange(n)) == 1


def test_undefined_queries():
    y, s, groups = [1, 0, 1, 1, 2], [2, 1, 3, 2, 0], ["a", "a", "b", "b", "c"]
    for denominator in ("comparable", "all"):
        distance = partial(kendall_tau_distance, denominator=denominator)
        np.testing.assert_array_equal(
            distance(y, s, groups, per_query=True).values, [0, np.nan, np.nan]
        )
        assert distance(y, s, groups) == 0
        assert distance(y, s, groups, undefined=1) == 2 / 3
        with pytest.raises(ValueError, match="kendall_tau_distance is undefined where all rows"):
            distance(y, s, groups, undefined="raise")
    # 0 and 1 are values of the distance above and of the coefficient here
    assert get_metric("kendall", undefined=0)(y, s, groups) == 1 / 3
    with pytest.warns(UndefinedMetricWarning, match="all rows have one grade"):
        assert np.isnan(kendall_tau_distance([1, 1], [0, 1]))


def test_query_weight():
    y, s, groups = [1, 0, 1, 0, 1, 1], [2, 1, 1, 2, 0, 0], [0, 0, 1, 1, 2, 2]
    assert kendall_tau_distance(y, s, groups, query_weight=[3, 3, 1, 1, 9, 9]) == 1 / 4


def test_wrong_switches():
    for switch in ("denominator", "ties", "undefined"):
        with pytest.raises(ValueError, match=f"`{switch}` must be one of"):
            kendall_tau_distance([1, 0], [1, 2], **{switch: "best"})
    with pytest.raises(ValueError, match="`like` of kendall must be None"):
        get_metric("kendall", like="sklearn")


def test_scorer_and_early_stopping():
    X, y, groups = make_ranking(n_queries=40, random_state=0)
    model = RegressionRanker(n_estimators=30, early_stopping=True, scoring="kendall")
    model.fit(X, y, groups=groups)
    assert max(model.validation_score_) <= 1
    scores = model.predict(X)
    value = get_scorer("kendall")(model, X, y, groups=groups)
    assert value == pytest.approx(1 - 2 * kendall_tau_distance(y, scores, groups), rel=1e-14)
    assert value > 0.3
    agree = make_ranking_scorer("kendall", ties="agree")
    assert agree(model, X, y, groups=groups) >= value


@given(data=rankings())
def test_rank_in_query(data):
    _, scores, groups = data
    ranks = rank_in_query(scores, groups)
    assert ranks.dtype == np.float64
    for query in set(groups):
        rows = [i for i, g in enumerate(groups) if g == query]
        expected = rankdata([-scores[i] for i in rows])
        np.testing.assert_array_equal(ranks[rows], expected)


def test_rank_in_query_of_any_ids():
    scores = [0.5, 0.7, 0.7, 0.1]
    assert rank_in_query(scores).tolist() == [3, 1.5, 1.5, 4]
    for groups in (
        [5, 3, 5, 3],
        ["b", "a", "b", "a"],
        [2**63, -1, 2**63, -1],
        [0.5, 0.1, 0.5, 0.1],
    ):
        assert rank_in_query(scores, groups).tolist() == [2, 1, 1, 2]
    with pytest.raises(ValueError, match="Input scores contains NaN"):
        rank_in_query([1, np.nan])
    with pytest.raises(ValueError, match="`groups` has 1 entries but there are 2 rows"):
        rank_in_query([1, 2], [1])
