# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics against slow oracles, worked cases and their own rules."""

import copy
import pickle
from functools import partial
from itertools import permutations
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import metrics as oracle
from sklearn.base import clone
from sklearn.exceptions import UndefinedMetricWarning
from strategies import examples

from sklearn_ltr._kernels import _dcg
from sklearn_ltr.metrics import (
    Metric,
    average_precision_score,
    dcg_score,
    get_metric,
    ndcg_score,
    precision_at_k_score,
)
from sklearn_ltr.metrics._per_query import TIES
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.ranking import run_kernel

SCORES = {
    "ndcg": ndcg_score,
    "dcg": dcg_score,
    "map": average_precision_score,
    "p": partial(precision_at_k_score, k=3),
}
EVERY_SCORE = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES.keys())


@st.composite
def rankings(draw, max_rows=5, max_queries=4):
    """Interleaved queries with string ids, few scores (ties) and few grades (empty queries)."""
    sizes = draw(st.lists(st.integers(1, max_rows), min_size=1, max_size=max_queries))
    n = sum(sizes)
    groups = draw(st.permutations([f"q{q}" for q, size in enumerate(sizes) for _ in range(size)]))
    grades = st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.25])
    scores = st.sampled_from([-1.5, 0.0, -0.0, 0.5, 1e300])
    y_true = draw(st.lists(grades, min_size=n, max_size=n))
    y_score = draw(st.lists(scores, min_size=n, max_size=n))
    return y_true, y_score, list(groups)


def assert_equal_to_oracle(score, slow, data, undefined=None):
    y_true, y_score, groups = data
    score = score if undefined is None else partial(score, undefined=undefined)
    rule = "skip" if undefined is None else undefined
    values, mean = oracle.mean_over_queries(slow, y_true, y_score, groups, rule)
    got = score(y_true, y_score, groups, per_query=True)
    assert list(got.ids) == sorted(values)
    np.testing.assert_allclose(got.values, [values[q] for q in got.ids], rtol=1e-13, atol=1e-15)
    if not np.isnan(mean):
        assert score(y_true, y_score, groups) == pytest.approx(mean, rel=1e-13, abs=1e-15)


switches_dcg = {
    "k": st.sampled_from([None, 1, 2, 3, 5, 9]),
    "gain": st.sampled_from(["exponential", "linear"]),
    "discount": st.sampled_from(["log2", "letor"]),
    "ties": st.sampled_from(TIES),
}


@examples(300)
@given(
    data=rankings(),
    undefined=st.sampled_from(["skip", 0, 1]),
    switches=st.fixed_dictionaries(switches_dcg | {"short": st.sampled_from(["clip", "zero"])}),
)
def test_ndcg_equals_oracle(data, undefined, switches):
    assert_equal_to_oracle(
        partial(ndcg_score, **switches), partial(oracle.ndcg, **switches), data, undefined
    )


@given(data=rankings(), switches=st.fixed_dictionaries(switches_dcg))
def test_dcg_equals_oracle(data, switches):
    assert_equal_to_oracle(partial(dcg_score, **switches), partial(oracle.dcg, **switches), data)


@examples(300)
@given(
    data=rankings(),
    undefined=st.sampled_from(["skip", 0, 1]),
    switches=st.fixed_dictionaries(
        {
            "k": switches_dcg["k"],
            "relevant_from": st.sampled_from([0.25, 1, 2]),
            "denominator": st.sampled_from(["relevant", "min(relevant,k)"]),
            # Average precision sees relevance, the oracle's worst and best see grades.
            "ties": st.sampled_from(["average", "input", "reverse"]),
        }
    ),
)
def test_average_precision_equals_oracle(data, undefined, switches):
    assert_equal_to_oracle(
        partial(average_precision_score, **switches),
        partial(oracle.average_precision, **switches),
        data,
        undefined,
    )


@given(
    data=rankings(),
    switches=st.fixed_dictionaries(
        {
            "k": st.sampled_from([1, 2, 3, 5, 9]),
            "relevant_from": st.sampled_from([0.25, 1, 2]),
            "ties": st.sampled_from(TIES),
            "short": st.sampled_from(["pad", "clip", "zero"]),
        }
    ),
)
def test_precision_at_k_equals_oracle(data, switches):
    assert_equal_to_oracle(
        partial(precision_at_k_score, **switches),
        partial(oracle.precision_at_k, **switches),
        data,
    )


@given(data=rankings(max_rows=6, max_queries=1), k=switches_dcg["k"])
@pytest.mark.parametrize("score", [ndcg_score, average_precision_score])
def test_averaged_ties_lie_between_worst_and_best(score, data, k):
    y_true, y_score, _ = data
    values = {t: score(y_true, y_score, k=k, ties=t, undefined=0) for t in TIES}
    assert all(values["worst"] <= v + 1e-15 for v in values.values())
    assert all(values["best"] >= v - 1e-15 for v in values.values())


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("k", [1, 3, 10, 40, 1000, 70_000])
@pytest.mark.parametrize("order", ["random", "ascending", "descending", "constant"])
def test_long_queries_equal_a_full_sort(ties, k, order):
    """The kernel ranks only the top k; queries here are longer than 2^16 rows and of 1 to 300."""
    rng = np.random.default_rng(0)
    sizes = np.array([70_000, 1, 2, 7, 8, 9, 15, 16, 17, 33, 300])
    n = sizes.sum()
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    gains = rng.integers(0, 4, n).astype(float)
    scores = rng.integers(0, 5000, n).astype(float)
    scores = {
        "random": scores,
        "ascending": np.sort(scores),
        "descending": -np.sort(scores),
        "constant": np.zeros(n),
    }[order]
    discounts = 1 / np.log2(2 + np.arange(min(k, sizes.max())))
    got = run_kernel(
        _dcg.dcg, gains, scores, discounts, TIES.index(ties), offsets=offsets, n_threads=1
    )
    for q, size in enumerate(sizes):
        g, s = gains[offsets[q] :][:size], scores[offsets[q] :][:size]
        row = np.arange(size)
        second = {"average": row, "input": row, "reverse": -row, "worst": g, "best": -g}[ties]
        ranking = np.lexsort((second, -s))
        d = np.zeros(size)
        d[: min(k, size)] = discounts[:size]
        if ties == "average":
            group = np.unique(-s[ranking], return_inverse=True)[1]
            d = (np.bincount(group, d) / np.bincount(group))[group]
        assert got[q] == pytest.approx(g[ranking] @ d, rel=1e-11)


@pytest.mark.parametrize("k", [1, 10, 400])
@pytest.mark.parametrize("n_grades", [1, 2, 8, 9, 10, 10**9])
def test_ideal_equals_a_full_sort(k, n_grades):
    """Few distinct gains are counted, many are sorted."""
    rng = np.random.default_rng(0)
    offsets = np.array([0, 1, 12, 300])
    gains = rng.integers(0, n_grades, 300).astype(float)
    discounts = 1 / np.log2(2 + np.arange(k))
    got = run_kernel(_dcg.ideal_dcg, gains, discounts, offsets=offsets, n_threads=1)
    for q in range(3):
        best = -np.sort(-gains[offsets[q] : offsets[q + 1]])[:k]
        assert got[q] == pytest.approx(best @ discounts[: len(best)], rel=1e-13)


@pytest.mark.parametrize(
    "name", ["ndcg@10", "ndcg", "dcg@3", "map", "map@4", "mrr", "p@5", "kendall"]
)
def test_threads_do_not_change_a_bit(name):
    rng = np.random.default_rng(1)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(1, 40, 200))))
    y_true = rng.integers(0, 3, offsets[-1]).astype(float)
    y_score = rng.integers(0, 30, offsets[-1]).astype(float)
    metric = get_metric(name)
    assert metric.on_groups(y_true, y_score, offsets, n_threads=2) == metric.on_groups(
        y_true, y_score, offsets
    )


def test_kernels_read_read_only_arrays():
    y_true, y_score, offsets = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0, 2])
    for array in (y_true, y_score, offsets):
        array.flags.writeable = False
    assert get_metric("ndcg").on_groups(y_true, y_score, offsets) == 1 / log2(3)
    assert get_metric("map").on_groups(y_true, y_score, offsets) == 1 / 2
    assert get_metric("kendall").on_groups(y_true, y_score, offsets) == -1


def test_on_groups_equals_call():
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 20, 200)
    y_true, y_score = rng.integers(0, 3, 200).astype(float), rng.normal(size=200)
    weight = rng.uniform(1, 2, 20)
    queries = QueryGroups.from_ids(groups, 200)
    for name in ("ndcg@5", "map", "p@5", "dcg", "kendall"):
        metric = get_metric(name)
        assert metric.on_groups(
            y_true[queries.order], y_score[queries.order], queries.offsets, weight
        ) == metric(y_true, y_score, groups, query_weight=weight[groups])


# ---- worked cases -------------------------------------------------------------------------------


def test_ids_are_compared_exactly():
    for groups in ([0, 2**32], [1.2, 1.7], [-1, 1], [72048431380967004, 72048431380967005]):
        assert len(ndcg_score([1, 1], [0, 1], groups, per_query=True).ids) == 2


@EVERY_SCORE
@pytest.mark.parametrize(
    "variant",
    [
        lambda g: g,
        lambda g: g.astype(float),
        lambda g: g.astype(np.uint64) + np.uint64(2**63),
        lambda g: np.array([f"q{v}" for v in g]),
        lambda g: pd.Categorical([f"q{v}" for v in g]),
        lambda g: pd.Series([f"q{v}" for v in g]),
    ],
)
def test_type_of_ids_does_not_matter(score, variant):
    groups = np.array([3, 1, 2, 3, 1, 2, 3])
    y_true, y_score = [1, 0, 2, 0, 1, 0, 2], [0.1, 0.5, 0.3, 0.7, 0.2, 0.6, 0.4]
    assert score(y_true, y_score, variant(groups)) == score(y_true, y_score, groups)


def test_negative_grades():
    y_true, y_score = np.array([-0.89, -0.53, -0.47, 0.39, 0.56]), [0.07, 0.31, 0.75, 0.33, 0.27]
    for score in (ndcg_score, dcg_score):
        with pytest.raises(ValueError, match=r"`y_true` has the negative grade -0.89"):
            score(y_true, y_score, gain="linear")
    assert ndcg_score(y_true + 1, y_score, gain="linear") == pytest.approx(0.799603, abs=5e-7)


def test_query_of_one_row():
    assert ndcg_score([1], [0.3]) == 1
    # alone at its only position; 1/log2(3) for the other query's relevant row at position 2
    assert ndcg_score([1, 0, 1], [0.3, 0.2, 0.1], ["a", "b", "b"]) == (1 + 1 / log2(3)) / 2


@pytest.mark.parametrize(
    ("score", "reason"), [(ndcg_score, "positive gain"), (average_precision_score, "is relevant")]
)
def test_query_without_relevant_row(score, reason):
    y_true, groups = [1, 0, 1, 0, 0, 0], ["a"] * 3 + ["b"] * 3
    assert score(y_true, y_true, groups) == 1
    assert score(y_true, y_true, groups, undefined=0) == 1 / 2
    assert score(y_true, y_true, groups, undefined=1) == 1
    values, ids = score(y_true, y_true, groups, per_query=True)
    np.testing.assert_array_equal(values, [1, np.nan])
    assert list(ids) == ["a", "b"]
    with pytest.raises(ValueError, match=rf"no row.*{reason}: so in query 'b', and in 1 of 2"):
        score(y_true, y_true, groups, undefined="raise")
    with pytest.warns(UndefinedMetricWarning, match=reason) as record:
        assert np.isnan(score([0, 0], [1, 2]))
    assert record[0].filename == __file__
    assert np.isnan(score([0, 0], [1, 2], per_query=True).values).all()


def test_tied_scores_are_averaged_over_orders():
    for y_true in set(permutations([1, 0, 0])):
        ndcg = ndcg_score(y_true, [7, 7, 7])
        assert ndcg == pytest.approx((1 / log2(2) + 1 / log2(3) + 1 / log2(4)) / 3)
        assert ndcg == pytest.approx(0.710310, abs=5e-7)
        assert average_precision_score(y_true, [7, 7, 7]) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    y_true = [10, 0, 0, 1, 5]
    assert ndcg_score(y_true, [0] * 5, gain="linear") == pytest.approx(0.690979, abs=5e-7)


def test_tie_rules():
    # the relevant row is the second of three tied rows, below one irrelevant row
    y_true, y_score = [0, 0, 1, 0], [9, 5, 5, 5]
    position = {"input": 3, "reverse": 3, "worst": 4, "best": 2}
    for ties, j in position.items():
        assert average_precision_score(y_true, y_score, ties=ties) == 1 / j
        assert ndcg_score(y_true, y_score, ties=ties) == 1 / log2(1 + j)
        assert precision_at_k_score(y_true, y_score, k=2, ties=ties) == (1 / 2 if j <= 2 else 0)
    assert ndcg_score([1, 0], [0, 0], ties="reverse") == 1 / log2(3)
    assert ndcg_score([1, 0], [0, 0], ties="input") == 1
    assert precision_at_k_score(y_true, y_score, k=2) == pytest.approx(1 / 3 / 2)


def test_zero_of_either_sign_is_one_score():
    assert precision_at_k_score([1, 0], [-0.0, 0.0], k=1) == 1 / 2


def test_gains():
    y_true, y_score = [3, 2, 0], [1, 2, 3]
    linear = (2 / log2(3) + 3 / log2(4)) / (3 + 2 / log2(3))
    exponential = (3 / log2(3) + 7 / log2(4)) / (7 + 3 / log2(3))
    assert linear == pytest.approx(0.648041, abs=5e-7)
    assert exponential == pytest.approx(0.606423, abs=5e-7)
    assert ndcg_score(y_true, y_score, gain="linear") == pytest.approx(linear, rel=1e-15)
    assert ndcg_score(y_true, y_score) == pytest.approx(exponential, rel=1e-15)
    assert dcg_score(y_true, y_score) == pytest.approx(3 / log2(3) + 7 / 2, rel=1e-15)
    assert dcg_score(y_true, y_score, discount="letor") == pytest.approx(3 + 7 / log2(3), rel=1e-15)


def test_cut_off_divides_by_the_ideal_of_the_whole_query():
    y_true, y_score = [10, 0, 0, 1, 5], [0.1, 0.2, 0.3, 4, 70]
    at_3 = (5 + 1 / log2(3)) / (10 + 5 / log2(3) + 1 / 2)
    assert at_3 == pytest.approx(0.412382, abs=5e-7)
    assert ndcg_score(y_true, y_score, gain="linear", k=3) == pytest.approx(at_3, rel=1e-15)
    assert ndcg_score(y_true, y_score, gain="linear") == pytest.approx(0.695694, abs=5e-7)


def test_average_precision_with_cut_off():
    # relevant rows at positions 1, 3 and 4
    y_true, y_score = [1, 0, 1, 1], [4, 3, 2, 1]
    score = partial(average_precision_score, y_true, y_score)
    assert score() == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    assert score(k=2) == pytest.approx(1 / 3)
    assert score(k=2, denominator="min(relevant,k)") == pytest.approx(1 / 2)
    assert score(k=99, denominator="min(relevant,k)") == score()


def test_average_precision_of_every_tie_pattern():
    """The closed form against all orders, at every cut-off."""
    for y_score in ([1, 1, 1, 1, 1], [2, 1, 1, 1, 0], [1, 1, 0, 0, 0], [3, 1, 1, 0, 0]):
        for y_true in permutations([1, 1, 0, 0, 1]):
            for k in (1, 2, 3, 4, 5):
                slow = oracle.average_precision(y_true, y_score, k)
                got = average_precision_score(y_true, y_score, k=k)
                assert got == pytest.approx(slow, rel=1e-14, abs=1e-16)


def test_short_queries():
    y_true, y_score = [1, 0], [2, 1]
    assert ndcg_score(y_true, y_score, k=3) == 1
    assert ndcg_score(y_true, y_score, k=3, short="zero") == 0
    assert ndcg_score(y_true, y_score, k=2, short="zero") == 1
    assert ndcg_score(y_true, y_score, short="zero") == 1
    assert precision_at_k_score(y_true, y_score, k=3) == 1 / 3
    assert precision_at_k_score(y_true, y_score, k=3, short="clip") == 1 / 2
    assert precision_at_k_score(y_true, y_score, k=3, short="zero") == 0
    # an undefined query stays undefined, however short
    both = ndcg_score([0, 1], [1, 1], ["a", "b"], k=2, short="zero", per_query=True)
    np.testing.assert_array_equal(both.values, [np.nan, 0])


@pytest.mark.parametrize("top", [31, 72, 300, 1023])
def test_large_grades(top):
    assert ndcg_score([0, top, 1], [0, 2, 1]) == 1
    assert ndcg_score([top, 0], [0, 1]) == pytest.approx(1 / log2(3), rel=1e-15)
    # three rows of the largest grade: at 1023 the sum of their gains is above the largest float
    worst, best = (sum(1 / log2(1 + j) for j in positions) for positions in ((1, 3, 4), (1, 2, 3)))
    assert ndcg_score([top, top, top, 0], [2, 0, 0, 1]) == pytest.approx(worst / best, rel=1e-14)


def test_grades_whose_gain_overflows():
    for score in (ndcg_score, dcg_score):
        with pytest.raises(ValueError, match=r"`y_true` has the grade 1100, .* overflows"):
            score([0, 1100], [0, 1])
    assert ndcg_score([0, 1100], [0, 1], gain="linear") == 1
    assert ndcg_score([1e308] * 4, [0, 1, 1, 2], gain="linear") == 1
    with pytest.raises(ValueError, match="sum of gains overflows"):
        dcg_score([1023, 1023, 1023], [0, 1, 2])


def test_relevance_takes_any_grade():
    assert average_precision_score([-1, 1e300], [1, 0]) == 1 / 2
    assert average_precision_score([-1, -3], [1, 0], relevant_from=-2) == 1
    assert precision_at_k_score([2, 1], [1, 0], k=2, relevant_from=1.5) == 1 / 2


@given(
    grades=st.lists(st.floats(0, 30), min_size=1, max_size=40).filter(lambda y: max(y) > 1e-9),
    k=st.sampled_from([None, 3]),
)
def test_perfect_ranking_scores_exactly_one(grades, k):
    assert ndcg_score(grades, grades, k=k) == 1
    distinct = np.argsort(np.argsort(grades, kind="stable"), kind="stable")
    assert ndcg_score(grades, distinct, k=k) == 1


def test_rounding_does_not_move_a_tie_of_equal_grades_off_one():
    for grade in np.arange(1, 50) / 10:
        for n in range(2, 8):  # such as 0.1 + 0.1 + 0.1, which is not 3 * 0.1
            assert ndcg_score([grade] * n, [0] * n, gain="linear") == 1


def test_rounding_does_not_exceed_one():
    # the two sums differ in their last bit, and the worse ranking has the larger one
    assert ndcg_score([0.3, 0.30000000000000004, 0.7], [1, 0, 2], gain="linear") == 1


@given(data=rankings(max_rows=8), seed=st.integers(0, 99), k=st.sampled_from([None, 1, 3]))
@pytest.mark.parametrize("score", [ndcg_score, dcg_score, average_precision_score])
def test_order_of_rows_does_not_change_a_bit(score, data, seed, k):
    order = np.random.default_rng(seed).permutation(len(data[0]))
    shuffled = [[column[i] for i in order] for column in data]
    given_order = score(*data, k=k, per_query=True).values
    np.testing.assert_array_equal(score(*shuffled, k=k, per_query=True).values, given_order)


# ---- weights ------------------------------------------------------------------------------------


@EVERY_SCORE
def test_query_weight(score):
    y_true, y_score, groups = [1, 0, 0, 1, 1, 0], [1, 2, 2, 1, 1, 0], [0, 0, 1, 1, 2, 2]
    values = score(y_true, y_score, groups, per_query=True).values
    weighted = score(y_true, y_score, groups, query_weight=[3, 3, 1, 1, 2, 2])
    assert weighted == pytest.approx((3 * values[0] + values[1] + 2 * values[2]) / 6)


@EVERY_SCORE
def test_weight_zero_is_as_without_the_query(score):
    y_true, y_score, groups = [1, 0, -1, 0], [1, 2, 2, 1], ["a", "a", "b", "b"]
    without = score(y_true[:2], y_score[:2])
    # the grade -1 would be refused by a gain if its query counted
    assert score(y_true, y_score, groups, query_weight=[2, 2, 0, 0]) == without
    values, ids = score(y_true, y_score, groups, query_weight=[2, 2, 0, 0], per_query=True)
    assert list(values) == [without]
    assert list(ids) == ["a"]


def test_skipped_query_takes_its_weight_along():
    y_true, y_score, groups = [1, 0, 0, 0, 1, 0], [1, 0, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2]
    weight = [1, 1, 5, 5, 3, 3]
    value = average_precision_score(y_true, y_score, groups, query_weight=weight)
    assert value == pytest.approx((1 * 1 + 3 * 1 / 2) / 4)


@EVERY_SCORE
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1], "`query_weight` must have one entry for each of the 3 rows"),
        ([1, 2, 1], "constant within a query"),
        ([0, 0, 0], "zero for every query"),
        ([1, 1, -1], "not negative"),
        ([1, 1, np.nan], "finite"),
    ],
)
def test_wrong_query_weight(score, weight, message):
    with pytest.raises(ValueError, match=message):
        score([1, 0, 1], [1, 2, 3], ["a", "a", "b"], query_weight=weight)


# ---- arguments ----------------------------------------------------------------------------------


@EVERY_SCORE
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["y_true", "y_score"])
def test_missing_or_infinite_values(score, bad, name):
    arguments = {"y_true": [1.0, 0.0], "y_score": [0.0, 1.0], name: [1.0, bad]}
    with pytest.raises(ValueError, match=f"Input {name} contains"):
        score(**arguments)


@EVERY_SCORE
@pytest.mark.parametrize(
    ("y_true", "y_score", "groups", "message"),
    [
        ([1, 0], [1, 2, 3], None, "`y_true` and `y_score` must have the same length; got 2 and 3"),
        ([1, 0], [1, 2], [1], "`groups` has 1 entries but there are 2 rows"),
        ([1, 0], [1, 2], [1, None], "`groups` has a missing id"),
        ([[1, 0], [0, 1]], [1, 2], None, "`y_true` must be one-dimensional"),
        ([1, 0], [[1, 2], [2, 1]], None, "`y_score` must be one-dimensional"),
        ([], [], None, "0 sample"),
    ],
)
def test_wrong_arrays(score, y_true, y_score, groups, message):
    with pytest.raises(ValueError, match=message):
        score(y_true, y_score, groups)


@EVERY_SCORE
def test_arrays_may_be_frames_columns_or_integers(score):
    frame = pd.DataFrame({"y": [1, 0, 2], "s": [0.3, 0.2, 0.4], "q": ["a", "a", "b"]})
    expected = score([1, 0, 2], [0.3, 0.2, 0.4], ["a", "a", "b"])
    assert score(frame["y"], frame["s"], frame["q"]) == expected
    assert score(frame[["y"]], frame[["s"]], frame["q"]) == expected
    flags = score(np.array([True, False]), np.array([2, 1], dtype=np.int8))
    assert flags == score([1, 0], [2, 1])


@pytest.mark.parametrize(
    ("score", "switch"),
    [
        (ndcg_score, {"gain": "log"}),
        (ndcg_score, {"discount": "linear"}),
        (ndcg_score, {"ties": "random"}),
        (ndcg_score, {"undefined": 0.5}),
        (ndcg_score, {"undefined": None}),
        (ndcg_score, {"short": "pad"}),
        (ndcg_score, {"k": 0}),
        (ndcg_score, {"k": 2.0}),
        (ndcg_score, {"k": True}),
        (ndcg_score, {"like": "excel"}),
        (dcg_score, {"gain": 2}),
        (average_precision_score, {"denominator": "k"}),
        (average_precision_score, {"relevant_from": np.nan}),
        (average_precision_score, {"relevant_from": "1"}),
        (precision_at_k_score, {"k": 1, "short": "raise"}),
        (precision_at_k_score, {"k": None}),
    ],
)
def test_wrong_switch(score, switch):
    with pytest.raises(ValueError, match=f"`{list(switch)[-1]}`"):
        score([1, 0], [1, 2], **switch)


@pytest.mark.parametrize(
    ("score", "switch"),
    [
        (ndcg_score, {"gain": "linear"}),
        (ndcg_score, {"undefined": 1}),
        (average_precision_score, {"ties": "input"}),
        (partial(precision_at_k_score, k=1), {"relevant_from": 2}),
    ],
)
def test_like_excludes_other_switches(score, switch):
    with pytest.raises(ValueError, match="sets every switch"):
        score([1, 0], [1, 2], like="trec_eval", **switch)


def test_like_takes_what_is_no_switch():
    y_true, y_score, groups = [3, 0, 2, 1], [1, 2, 1, 1], [0, 0, 1, 1]
    weight = [1, 1, 3, 3]
    assert ndcg_score(y_true, y_score, groups, k=1, query_weight=weight, like="sklearn") == (
        ndcg_score(y_true, y_score, groups, k=1, query_weight=weight, gain="linear", undefined=0)
    )
    assert len(ndcg_score(y_true, y_score, groups, per_query=True, like="letor3").values) == 2


# ---- registry -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "score", "same_name"),
    [
        ("ndcg@2", partial(ndcg_score, k=2), "ndcg@2"),
        ("ndcg", ndcg_score, "ndcg"),
        ("dcg@1", partial(dcg_score, k=1), "dcg@1"),
        ("map", average_precision_score, "map"),
        ("map@2", partial(average_precision_score, k=2), "map@2"),
        ("p@2", partial(precision_at_k_score, k=2), "p@2"),
        ("precision@2", partial(precision_at_k_score, k=2), "p@2"),
    ],
)
def test_names(name, score, same_name):
    y_true, y_score, groups = [2, 0, 1, 1, 3], [1, 3, 2, 0, 0], [0, 0, 0, 1, 1]
    metric = get_metric(name)
    assert metric(y_true, y_score, groups) == score(y_true, y_score, groups)
    assert metric.name == same_name
    assert get_metric(same_name) == metric


def test_switches_of_a_named_metric():
    y_true, y_score = [3, 2, 0], [1, 2, 3]
    metric = get_metric("ndcg@2", gain="linear")
    assert metric(y_true, y_score) == ndcg_score(y_true, y_score, k=2, gain="linear")
    assert "gain='linear'" in repr(metric)
    assert get_metric("map@3", like="lightgbm").undefined == 1
    assert get_metric(metric) is metric


@pytest.mark.parametrize("name", ["auc", "ndcg@", "ndcg@x", "ndcg@-1", "@5", "ndcg@5@5", 5, None])
def test_unknown_name(name):
    with pytest.raises(
        ValueError,
        match=r"Unknown metric .* Known names: dcg, err, kendall, map, mrr, ndcg, neg_arp, p, prec",
    ):
        get_metric(name)


def test_cut_offs_of_names():
    with pytest.raises(ValueError, match="needs a cut-off"):
        get_metric("p")
    with pytest.raises(ValueError, match=r"'kendall' looks at whole queries .* got 'kendall@5'"):
        get_metric("kendall@5")
    with pytest.raises(ValueError, match="`k` must be an integer of at least 1"):
        get_metric("ndcg@0")
    with pytest.raises(TypeError, match="in the name, as in 'ndcg@5'"):
        get_metric("ndcg", k=5)
    with pytest.raises(TypeError, match="gain"):
        get_metric("map", gain="linear")
    with pytest.raises(ValueError, match="has its switches already"):
        get_metric(get_metric("map"), ties="best")


def test_metric_is_a_value():
    metric = get_metric("ndcg@10", like="letor4")
    assert isinstance(metric, Metric)
    for copied in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):
        assert copied == metric
        assert hash(copied) == hash(metric)
    assert clone(metric, safe=False) == metric
    assert metric != get_metric("ndcg@9", like="letor4")
    with pytest.raises(AttributeError):
        metric.k = 3
