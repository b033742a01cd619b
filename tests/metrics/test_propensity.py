# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Clicks with propensities in the place of grades: every metric takes them or says that not.

Unbiasedness is shown by the sum over all patterns of clicks, without chance.
"""

import inspect
import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from oracles.counterfactual import (
    click_patterns,
    dcg_of_gains,
    positions_of_gains,
    weighted_ratio,
)
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_ltr import metrics
from sklearn_ltr.exceptions import EstimatedIdealWarning
from sklearn_ltr.metrics import (
    Metric,
    average_relevance_position,
    dcg_score,
    get_metric,
    ndcg_score,
)
from sklearn_ltr.metrics.registry import METRICS

TAKERS = {"dcg", "ndcg", "neg_arp"}
FUNCTIONS = {
    name: function
    for name, function in inspect.getmembers(metrics, inspect.isfunction)
    if {"y_true", "y_score"} <= inspect.signature(function).parameters.keys()
}

# Two queries that were shown in one order and are scored in another, with a tie.
GROUPS = ["b", "b", "b", "a", "a", "b"]
PROPENSITY = [1.0, 0.5, 0.4, 1.0, 0.3, 0.2]
ATTRACTIVENESS = [0.1, 0.9, 0.6, 0.3, 0.8, 0.35]
SCORES = [0.2, 0.7, 0.7, 1.0, 2.0, -1.0]
WEIGHT = [2.0, 2.0, 2.0, 0.5, 0.5, 2.0]
ROWS = {"b": [0, 1, 2, 5], "a": [3, 4]}


def of_query(values, query):
    return [values[row] for row in ROWS[query]]


def mean_of_patterns(value):
    """Expectation of a function of the clicks over all of their patterns."""
    return sum(p * value(clicks) for clicks, p in click_patterns(PROPENSITY, ATTRACTIVENESS))


def mean_of_queries(function, gains):
    """The weighted mean over the queries, of a function of gains and scores."""
    values = [(WEIGHT[ROWS[q][0]], function(of_query(gains, q), of_query(SCORES, q))) for q in ROWS]
    return sum(w * value for w, value in values) / sum(w for w, _ in values)


@pytest.mark.parametrize("k", [None, 1, 2])
@pytest.mark.parametrize("ties", ["average", "input", "reverse"])
@pytest.mark.parametrize("gain", ["exponential", "linear"])
def test_dcg_is_unbiased(k, ties, gain):
    """Its expectation is the DCG of what attracts; clicks are 0 or 1, so any gain is the same."""
    estimate = mean_of_patterns(
        lambda clicks: dcg_score(
            clicks,
            SCORES,
            GROUPS,
            k=k,
            ties=ties,
            gain=gain,
            propensity=PROPENSITY,
            query_weight=WEIGHT,
        )
    )
    true = mean_of_queries(lambda a, s: dcg_of_gains(a, s, k, ties), ATTRACTIVENESS)
    assert estimate == pytest.approx(true, rel=1e-13)
    naive = mean_of_patterns(
        lambda clicks: dcg_score(clicks, SCORES, GROUPS, k=k, ties=ties, query_weight=WEIGHT)
    )
    assert abs(naive - true) > 0.1 * true


@pytest.mark.parametrize("ties", ["average", "input", "reverse"])
def test_sum_of_positions_is_unbiased(ties):
    estimate = mean_of_patterns(
        lambda clicks: average_relevance_position(
            clicks,
            SCORES,
            GROUPS,
            ties=ties,
            self_normalized=False,
            propensity=PROPENSITY,
            query_weight=WEIGHT,
        )
    )
    true = mean_of_queries(lambda a, s: positions_of_gains(a, s, ties), ATTRACTIVENESS)
    assert estimate == pytest.approx(true, rel=1e-13)


def test_each_query_is_unbiased():
    for q, rows in ROWS.items():

        def value(clicks, q=q):
            found = dcg_score(clicks, SCORES, GROUPS, propensity=PROPENSITY, per_query=True)
            return found.values[found.ids.tolist().index(q)]

        estimate = mean_of_patterns(value)
        true = dcg_of_gains([ATTRACTIVENESS[r] for r in rows], [SCORES[r] for r in rows])
        assert estimate == pytest.approx(true, rel=1e-13)


@pytest.mark.parametrize(
    ("function", "oracle"),
    [
        (lambda *args, **kw: dcg_score(*args, self_normalized=True, **kw), dcg_of_gains),
        (average_relevance_position, positions_of_gains),
    ],
    ids=["dcg", "arp"],
)
def test_self_normalized(function, oracle):
    """The ratio of two sums, of which each is unbiased; a common factor is without effect."""
    true_ratio = weighted_ratio(
        [oracle(of_query(ATTRACTIVENESS, q), of_query(SCORES, q)) for q in ROWS],
        [sum(of_query(ATTRACTIVENESS, q)) for q in ROWS],
        [2.0, 0.5],
    )
    above = below = 0.0
    for clicks, chance in click_patterns(PROPENSITY, ATTRACTIVENESS):
        gains = [c / p for c, p in zip(clicks, PROPENSITY, strict=True)]
        if not any(clicks):
            continue
        sums = [oracle(of_query(gains, q), of_query(SCORES, q)) for q in ROWS]
        totals = [sum(of_query(gains, q)) for q in ROWS]
        expected = weighted_ratio(sums, totals, [2.0, 0.5])
        for factor in (1, 0.25):
            propensity = np.multiply(PROPENSITY, factor)
            given = {"propensity": propensity, "query_weight": WEIGHT}
            found = function(clicks, SCORES, GROUPS, **given)
            assert found == pytest.approx(expected, rel=1e-13)
            values = function(clicks, SCORES, GROUPS, per_query=True, **given).values
            assert np.average(values, weights=[0.5, 2.0]) == pytest.approx(expected, rel=1e-13)
        above += chance * (2.0 * sums[0] + 0.5 * sums[1])
        below += chance * (2.0 * totals[0] + 0.5 * totals[1])
    assert above / below == pytest.approx(true_ratio, rel=1e-13)


def test_self_normalized_without_clicks_is_undefined():
    for function in (average_relevance_position, get_metric("dcg", self_normalized=True)):
        with pytest.warns(UndefinedMetricWarning, match="no row has a positive gain"):
            assert math.isnan(function([0, 0], [1, 2], propensity=[1, 0.5]))
    # Without the denominator there is nothing that is undefined.
    assert average_relevance_position([0, 0], [1, 2], self_normalized=False) == 0


@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.EstimatedIdealWarning")
def test_ndcg_of_lists_of_one_click():
    """The propensity does not cancel, and the mean over where the click is has no bias."""
    p, a, scores = PROPENSITY[:3], [0.1, 0.3, 0.5], [1, 2, 3]
    total = 0.0
    for i in range(3):
        clicks = [float(i == row) for row in range(3)]
        value = ndcg_score(clicks, scores, propensity=p)
        assert value == pytest.approx(1 / math.log2(4 - i) / p[i])
        total += p[i] * a[i] * value
    assert total == pytest.approx(dcg_of_gains(a, scores))  # whose ideal is 1, that of a click


def test_ndcg_says_that_its_ideal_is_an_estimate():
    with pytest.warns(EstimatedIdealWarning, match=r"biased|'dcg@3'") as record:
        value = ndcg_score([1, 0, 1], [1, 2, 3], k=3, propensity=[1, 0.5, 0.25])
    assert [warning.filename for warning in record] == [__file__]
    ideal = 1 + 1 / math.log2(3)
    assert value == pytest.approx((4 + 1 / 2) / ideal)
    assert value > 1
    assert "estimate" in inspect.getdoc(ndcg_score)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_every_metric_takes_it_or_refuses_by_name(name):
    cut_off, switches = "@2" if name in ("p", "precision") else "", {}
    if name == "err":
        switches["max_grade"] = 1
    metric = get_metric(name + cut_off, **switches)
    assert metric.takes_propensity == (name in TAKERS)
    args = [1, 0, 1, 0], [3, 1, 2, 4], [0, 0, 1, 1]
    plain = metric(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimatedIdealWarning)
        if name in TAKERS:
            assert metric(*args, propensity=np.ones(4)) == plain
            assert metric(*args, propensity=[1, 1, 0.5, 1]) != plain
            return
        with pytest.raises(ValueError, match=f"{metric.name} takes no `propensity`: .* dcg and"):
            metric(*args, propensity=np.ones(4))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_takes_it_or_refuses_by_name(name):
    function = FUNCTIONS[name]
    takes = {"dcg_score", "ndcg_score", "average_relevance_position"}
    assert ("propensity" in inspect.signature(function).parameters) == (name in takes)
    if name not in takes:
        with pytest.raises(TypeError, match=f"{name}.*'propensity'"):
            function([1, 0], [1, 2], propensity=[1, 1])


TAKING = [get_metric("dcg"), get_metric("ndcg"), get_metric("neg_arp")]
each_taking = pytest.mark.parametrize("metric", TAKING, ids=lambda m: m.label)


@each_taking
@pytest.mark.parametrize(
    ("propensity", "message"),
    [
        ([1, 0], "has 0 at row 1; propensities are above 0 and at most 1. .* give 1"),
        ([-0.1, 1], "has -0.1 at row 0"),
        ([0.5, 1.5], "has 1.5 at row 1.*Divide all of them by the largest"),
        ([1, np.nan], "contains NaN"),
        ([1, np.inf], "contains infinity"),
        ([1], "2 rows"),
        ([[1, 1]], "one-dimensional"),
        (["a", "b"], "cannot be read as a column"),
    ],
)
def test_wrong_propensities(metric, propensity, message):
    with pytest.raises(ValueError, match=f"`?propensity`?.*{message}"):
        metric([1, 0], [1, 2], propensity=propensity)


@each_taking
@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.EstimatedIdealWarning")
def test_what_would_be_biased_is_refused(metric):
    cls = type(metric)
    for ties in ("worst", "best"):
        with pytest.raises(ValueError, match=f"no ties='{ties}': rows .* by their clicks.*average"):
            cls(ties=ties)([1, 0], [1, 1], propensity=[1, 0.5])
    with pytest.raises(ValueError, match="takes no gain of the grade 0"):
        cls(gain=[0.5, 1])([1, 0], [1, 2], propensity=[1, 0.5])
    assert np.isfinite(cls(gain=[0, 2])([1, 0], [1, 2], propensity=[1, 0.5]))
    with pytest.raises(ValueError, match="overflows"):
        metric([1, 0], [1, 2], propensity=[1e-300, 1])


@each_taking
@pytest.mark.filterwarnings("ignore::sklearn_ltr.exceptions.EstimatedIdealWarning")
def test_order_of_rows_and_queries_of_no_weight(metric):
    rng = np.random.default_rng(0)
    groups, scores = rng.integers(0, 5, 40), rng.normal(size=40)
    clicks, propensity = rng.integers(0, 2, 40), rng.uniform(0.1, 1, 40)
    weight = np.where(groups == 2, 0.0, 1.0 + groups)
    value = metric(clicks, scores, groups, weight, propensity=propensity)
    order, kept = rng.permutation(40), groups != 2
    columns = clicks, scores, groups, weight, propensity
    for rows in (order, kept):
        c, s, g, w, p = (column[rows] for column in columns)
        assert metric(c, s, g, w, propensity=p) == pytest.approx(value, rel=1e-13)


def test_a_metric_of_ones_own_refuses():
    @dataclass(frozen=True)
    class First(Metric):
        label: ClassVar[str] = "first"

        def _values(self, y_true, y_score, offsets, n_threads):
            return y_true[offsets[:-1]]

    assert First()([3, 1], [1, 2]) == 3
    with pytest.raises(ValueError, match="first takes no `propensity`"):
        First()([3, 1], [1, 2], propensity=[1, 1])
