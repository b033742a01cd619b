# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaRank's gradients against literal swaps in every order of the tied rows."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import lambdas as oracle
from strategies import examples

from sklearn_ltr.labels import gains
from sklearn_ltr.losses.lambdas import LONGEST_STEP, Lambdas
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.ranking_data import RankingData

LABELS = ("ndcg", "map", "mrr")
CUT_OFFS = st.sampled_from([None, None, 1, 2, 3, 5, 9])


def gradients(y, scores, metric, offsets=None, weight=None, n_threads=1, **options):
    """Lambdas of rows, of one query by default, after an update."""
    y, scores = np.asarray(y, dtype=float), np.asarray(scores, dtype=float)
    offsets = np.array([0, len(y)] if offsets is None else offsets, dtype=np.intp)
    options = {"truncation_level": 30, "sigmoid": 1.0, "query_norm": True} | options
    data = RankingData.of(y, offsets, weight, n_threads=n_threads)
    result = Lambdas(metric, **options).bind(data)
    result.update(scores)
    return result


@st.composite
def metrics(draw, label=None, k=CUT_OFFS):
    """A metric with the oracle's version, a function of grades and truncation level."""
    label = draw(st.sampled_from(LABELS)) if label is None else label
    k = draw(k)
    name = label if k is None else f"{label}@{k}"
    if label == "ndcg":
        switches = {
            "gain": draw(st.sampled_from(["exponential", "linear"])),
            "discount": draw(st.sampled_from(["log2", "letor"])),
        }
        slow = partial(oracle.ndcg, k=k, **switches)
    else:
        switches = {"relevant_from": draw(st.sampled_from([1, 2, 0.25]))}
        function = oracle.reciprocal_rank
        if label == "map":
            switches["denominator"] = draw(st.sampled_from(["relevant", "min(relevant,k)"]))
            function = oracle.average_precision
        slow = partial(without_truncation, function, k=k, **switches)
    return get_metric(name, **switches), slow


def without_truncation(function, y, T, k, **switches):
    return function(y, k, **switches)


def gain_of(metric, y):
    y = np.asarray(y)
    return gains(y, metric.gain) if metric.label == "ndcg" else (y >= metric.relevant_from) * 1.0


@st.composite
def queries(draw, max_rows=6):
    n = draw(st.integers(1, max_rows))
    grade = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0])
    levels = draw(st.sampled_from([[0.0], [0.0, 1.0], [-1.5, 0.0, 0.25, 3.0]]))
    score = st.sampled_from(levels) | st.sampled_from(levels) | st.integers(-400, 400).map(float)
    if draw(st.booleans()):
        score = st.sampled_from(levels)
    y = draw(st.lists(grade, min_size=n, max_size=n))
    return y, draw(st.lists(score, min_size=n, max_size=n))


@pytest.mark.parametrize("label", LABELS)
@examples(300)
@given(data=st.data())
def test_gradients_equal_oracle(label, data):
    y, scores = data.draw(queries())
    metric, slow = data.draw(metrics(label))
    T = data.draw(st.integers(1, len(y) + 1))
    sigmoid = data.draw(st.sampled_from([1.0, 0.5, 2.5]))
    query_norm = data.draw(st.booleans())
    delta = oracle.expected_changes(slow(y, T=T), y, scores, T)
    gradient, curvature = oracle.lambdas(delta, gain_of(metric, y), scores, sigmoid, query_norm)
    got = gradients(y, scores, metric, truncation_level=T, sigmoid=sigmoid, query_norm=query_norm)
    np.testing.assert_allclose(got.gradient, gradient, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(got.hessian_diagonal, curvature, rtol=1e-10, atol=1e-11)
    assert (got.hessian_diagonal >= 0).all()


@examples(300)
@given(
    data=st.data(),
    problem=st.lists(queries(), min_size=1, max_size=4),
)
def test_loss_is_1_less_that_of_the_metric(data, problem):
    """Whatever the truncation: it cuts the pairs and not the metric."""
    metric, _ = data.draw(metrics())
    y, scores = (np.concatenate(part) for part in zip(*problem, strict=True))
    sizes = [len(query[0]) for query in problem]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    weight = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=4, max_size=4)))
    weight = weight[: len(sizes)]
    T = data.draw(st.integers(1, 7))
    got = gradients(y, scores, metric, offsets, weight, truncation_level=T)
    defined = np.add.reduceat(gain_of(metric, y), offsets[:-1]) > 0
    if not defined.any():
        assert got.loss == 1
        return
    expected = metric(y, scores, np.repeat(range(len(sizes)), sizes), np.repeat(weight, sizes))
    assert 1 - got.loss == pytest.approx(expected, rel=1e-12, abs=1e-15)


def random_queries(n_queries=40, longest=60, seed=0, *, tied=True):
    """Grades, scores (many equal if tied) and offsets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_queries)
    y = rng.choice(4, sizes.sum(), p=[0.6, 0.2, 0.1, 0.1]).astype(float)
    scores = rng.normal(size=len(y))
    return y, np.round(scores, 1) if tied else scores, np.concatenate([[0], np.cumsum(sizes)])


def arrays_of(result):
    return result.gradient, result.hessian_diagonal, np.array([result.loss])


METRIC_NAMES = pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "map", "map@5", "mrr", "mrr@3"])


@METRIC_NAMES
@pytest.mark.parametrize("query_norm", [True, False])
def test_order_of_rows_does_not_matter(name, query_norm):
    """Not even to the last bit, where all scores tie or some do."""
    y, tied, offsets = random_queries()
    shuffled = np.concatenate(
        [
            first + np.random.default_rng(first).permutation(last - first)
            for first, last in pairwise(offsets)
        ]
    )
    for scores in (tied, np.zeros(len(y))):
        options = {"query_norm": query_norm, "truncation_level": 12}
        got = gradients(y[shuffled], scores[shuffled], get_metric(name), offsets, **options)
        expected = gradients(y, scores, get_metric(name), offsets, **options)
        np.testing.assert_array_equal(got.gradient, expected.gradient[shuffled])
        np.testing.assert_array_equal(got.hessian_diagonal, expected.hessian_diagonal[shuffled])
        assert got.loss == expected.loss


@METRIC_NAMES
def test_threads_do_not_matter(name):
    y, scores, offsets = random_queries(300)
    one = gradients(y, scores, get_metric(name), offsets)
    for n_threads in (2, 3, 7):
        several = gradients(y, scores, get_metric(name), offsets, n_threads=n_threads)
        for got, expected in zip(arrays_of(several), arrays_of(one), strict=True):
            np.testing.assert_array_equal(got, expected)


@METRIC_NAMES
def test_queries_are_on_their_own(name):
    """Each has what it has alone, times its weight over the mean; updates leave nothing behind."""
    y, scores, offsets = random_queries(12)
    weight = np.arange(1.0, 13)
    result = gradients(y, -scores, get_metric(name), offsets, weight)
    result.update(scores)
    for q, (first, last) in enumerate(pairwise(offsets)):
        alone = gradients(y[first:last], scores[first:last], get_metric(name))
        factor = weight[q] / weight.mean()
        np.testing.assert_allclose(result.gradient[first:last], factor * alone.gradient, rtol=1e-14)
        np.testing.assert_allclose(
            result.hessian_diagonal[first:last], factor * alone.hessian_diagonal, rtol=1e-14
        )


@METRIC_NAMES
def test_shifted_scores_give_the_same(name):
    y, scores, offsets = random_queries()
    here, there = (
        gradients(y, np.round(scores, 1) + shift, get_metric(name), offsets, sigmoid=2.0)
        for shift in (0, 1024)
    )
    np.testing.assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(here.hessian_diagonal, there.hessian_diagonal, rtol=1e-9, atol=1e-12)


@METRIC_NAMES
def test_gradients_of_a_query_sum_to_zero(name):
    y, scores, offsets = random_queries()
    result = gradients(y, scores, get_metric(name), offsets)
    np.testing.assert_allclose(np.add.reduceat(result.gradient, offsets[:-1]), 0, atol=1e-13)
    assert (result.hessian_diagonal >= 0).all()
    assert ((result.hessian_diagonal > 0) == (result.gradient != 0))[y == 0].all()


@METRIC_NAMES
def test_queries_in_which_no_order_is_better_give_zeros(name):
    """One row, no relevant row, one grade; they are not divided by either."""
    y, offsets = [1.0, 0, 0, 0, 2, 2, 2], [0, 1, 4, 7]
    for scores in (np.zeros(7), np.arange(7.0)):
        result = gradients(y, scores, get_metric(name), offsets)
        assert not result.gradient.any()
        assert not result.hessian_diagonal.any()
        assert 1 - result.loss == pytest.approx(
            get_metric(name)(y, scores, np.repeat([0, 1, 2], np.diff(offsets)))
        )


@METRIC_NAMES
@pytest.mark.parametrize("scale", [1e-3, 1.0, 400.0, 1e5])
def test_scores_of_any_range(name, scale):
    """The factorised exponentials hold where a query's scores lie further apart than exp can."""
    y, scores, offsets = random_queries(6, 12, tied=False)
    y[offsets[:-1]] = 1
    scores *= scale
    result = gradients(y, scores, get_metric(name), offsets, truncation_level=5)
    for first, last in pairwise(offsets):
        of_query, metric = y[first:last].tolist(), get_metric(name)
        slow = {
            "ndcg": partial(oracle.ndcg, of_query, metric.k, 5),
            "map": partial(oracle.average_precision, of_query, metric.k),
            "mrr": partial(oracle.reciprocal_rank, of_query, metric.k),
        }[metric.label]()
        own = scores[first:last]
        order = np.argsort(-own)
        delta = oracle.swap_changes(slow, order.tolist(), 5)
        gradient, curvature = oracle.lambdas(delta, gain_of(metric, y[first:last]), own, 1.0, True)
        np.testing.assert_allclose(result.gradient[first:last], gradient, rtol=1e-10, atol=1e-15)
        np.testing.assert_allclose(
            result.hessian_diagonal[first:last], curvature, rtol=1e-10, atol=1e-15
        )


def test_curvature_keeps_newtons_step_short():
    """Where a pair is far in the wrong order its derivatives vanish and its pull does not."""
    result = gradients([1.0, 0.0], [-50.0, 50.0], get_metric("ndcg"), sigmoid=2.0, query_norm=False)
    assert (result.hessian_diagonal < 1e-80).all()
    np.testing.assert_allclose(
        np.abs(result.gradient) / result.curvature, LONGEST_STEP / 2.0, rtol=1e-14
    )
    usual = gradients([1.0, 0.0], [0.0, 0.5], get_metric("ndcg"), query_norm=False)
    np.testing.assert_array_equal(usual.curvature, usual.hessian_diagonal)


def test_truncation_beyond_the_longest_query_is_none():
    y, scores, offsets = random_queries(longest=20)
    far, further = (
        gradients(y, scores, get_metric("ndcg"), offsets, truncation_level=T) for T in (20, 10**9)
    )
    np.testing.assert_array_equal(far.gradient, further.gradient)
    near = gradients(y, scores, get_metric("ndcg"), offsets, truncation_level=3)
    assert (near.gradient != far.gradient).any()


def test_rows_below_the_cut_off_only_meet_those_above_it():
    y, scores = [0.0, 1, 0, 2, 0], [5.0, 4, 3, 2, 1]
    result = gradients(y, scores, get_metric("ndcg@1"), query_norm=False)
    # The pairs of row 0, at position 1, alone count: those of the others change nothing.
    assert result.gradient[1] < 0
    assert result.gradient[3] < 0
    assert result.gradient[2] == result.gradient[4] == 0


def test_largest_grades_do_not_overflow():
    result = gradients([0.0, 1023.0, 1.0], [0.0, 1.0, 2.0], get_metric("ndcg"))
    assert np.isfinite(result.gradient).all()
    assert 1 - result.loss == pytest.approx(1 / np.log2(3))
    assert result.gradient[1] < 0


@pytest.mark.parametrize("name", ["dcg", "p@5"])
def test_other_metrics_are_refused(name):
    with pytest.raises(ValueError, match=r"must be one of .*'ndcg', 'map', 'mrr'"):
        gradients([0, 1], [0, 0], get_metric(name))


def test_gradients_equal_lightgbm():
    """Of untied scores: the leaf values of stumps that split the rows at random."""
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(3)
    sizes = [9, 12, 1, 4]
    y = rng.integers(0, 4, sum(sizes)).astype(float)
    y[-4:] = 0
    scores = rng.normal(size=len(y))
    ours = gradients(
        y, scores, get_metric("ndcg"), np.cumsum([0, *sizes]), truncation_level=4, sigmoid=1.5
    )
    params = {
        "objective": "lambdarank",
        "lambdarank_truncation_level": 4,
        "sigmoid": 1.5,
        "learning_rate": 1.0,
        "num_leaves": 2,
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "min_sum_hessian_in_leaf": 0,
        "deterministic": True,
        "num_threads": 1,
        "verbose": -1,
    }
    for _ in range(25):
        above = rng.random(len(y)) < 0.4
        for l2 in (0.0, 1.0):
            data = lightgbm.Dataset(above[:, None] * 1.0, y, group=sizes, init_score=scores)
            booster = lightgbm.train(params | {"lambda_l2": l2}, data, num_boost_round=1)
            for value, rows in zip(booster.predict([[0.0], [1.0]]), (~above, above), strict=True):
                expected = -ours.gradient[rows].sum() / (ours.hessian_diagonal[rows].sum() + l2)
                assert value == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_a_long_query_in_parts_has_the_same_gradients():
    """Alone it is done in parts, between which an interrupt is heard; beside others at once."""
    rng = np.random.default_rng(0)
    n = 9000  # whose square is more than one part
    y = rng.integers(0, 3, n + 2).astype(float)
    y[n:] = [1, 0]
    scores = rng.normal(size=n + 2)
    scores[: n // 2] = scores[: n // 2].round(2)  # with ties
    offsets = [0, n, n + 2]
    alone = gradients(y, scores, "map", offsets, truncation_level=None)
    together = gradients(y, scores, "map", offsets, truncation_level=None, n_threads=2)
    assert np.array_equal(alone.gradient, together.gradient)
    assert np.array_equal(alone.hessian_diagonal, together.hessian_diagonal)
    assert alone.loss == together.loss
