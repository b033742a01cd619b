# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The search for a stump against sums over all pairs at every threshold."""

from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import examples

from sklearn_ltr import MPBoost
from sklearn_ltr.binning import Binner
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.pairs import list_pairs, preference_pairs
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.weak import stump as module
from sklearn_ltr.weak.stump import StumpSearch

linear = partial(directed_distance, distance="linear", alpha=0.7)


def make(seed, *, n_features=3, n_grades=4, n_queries=6, rows=12, distinct=6, missing=0.2):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *rng.integers(1, rows + 1, n_queries)]).astype(np.intp)
    n = offsets[-1]
    X = rng.integers(0, distinct, (n, n_features)).astype(float)
    X[rng.random(X.shape) < missing * (rng.random(n_features) < 0.7)] = np.nan
    y = rng.integers(0, n_grades, n).astype(float)
    y[np.repeat(np.diff(offsets), np.diff(offsets)).argmax() + np.arange(2)] = 0, n_grades - 1
    return X, y, offsets, rng.choice([0.3, 1.0, 4.0], n_queries), rng.normal(size=n)


def search_of(X, y, offsets, weight, *, squared, listed=False, n_threads=1, max_bins=None):
    binner = Binner(max_bins).fit(X, np.arange(len(X)))
    binned = binner.transform(X, np.arange(len(X)), n_threads)
    data = RankingData.of(y, offsets, weight, n_threads=n_threads)
    if listed:
        vars(data)["pairs"] = list_pairs(data)
    return StumpExponential(linear, squared).bind(data), StumpSearch(binned, data)


def sums_by_slot(loss, search):
    """Numerators and denominators of every candidate, as the search lays them out."""
    ceiling, _ = search._bound_gains(loss)
    features = np.arange(search.binned.n_features)
    slots, den = search._slots(features), search._denominators(loss, features)
    found = np.full(search._num.shape, np.nan)
    found[slots] = den
    gains = np.where(found > 1e-9, search._num**2 / np.where(found > 0, found, 1), 0)
    by_feature = np.maximum.reduceat(gains.max(axis=1), search._starts[: len(ceiling)])
    assert (by_feature <= ceiling * (1 + 1e-9)).all()
    return search._num, found


def check_every_threshold(X, y, offsets, weight, scores, *, squared, **options):
    loss, search = search_of(X, y, offsets, weight, squared=squared, **options)
    loss.update(scores)
    num, den = sums_by_slot(loss, search)
    query = np.repeat(np.arange(len(weight)), np.diff(offsets))
    winner, loser = np.nonzero((query[:, None] == query) & (y[:, None] > y))
    d = 0.7 * (y[winner] - y[loser])
    log_w = np.log(weight[query[winner]]) - d * (scores[winner] - scores[loser])
    w = np.exp(log_w - loss.log_scale)
    cost = w * d**2 if squared else w
    for k in range(X.shape[1]):
        x = X[:, k]
        gone = np.isnan(x)
        values = np.unique(x[~gone])
        for t, value in enumerate(values):
            for side in range(2 if gone.any() else 1):
                if t == len(values) - 1 and side == 0:
                    continue
                above = (x > value) | (gone if side else False)
                signed = above[winner].astype(int) - above[loser]
                slot = search._starts[k] + t
                assert_allclose(num[slot, side], (w * d * signed).sum(), rtol=1e-12, atol=1e-11)
                expected = (cost * np.abs(signed)).sum()
                assert_allclose(den[slot, side], expected, rtol=1e-12, atol=1e-11)
                num[slot, side] = 0
    assert not num.any()  # there is no other candidate


@examples(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_features=st.sampled_from([1, 3, 7, 8, 9, 17]),
    n_grades=st.sampled_from([2, 3, 4, 5, 7]),
    squared=st.booleans(),
    listed=st.booleans(),
    n_threads=st.sampled_from([1, 2]),
)
def test_sums_at_every_threshold(seed, n_features, n_grades, squared, listed, n_threads):
    problem = make(seed, n_features=n_features, n_grades=n_grades)
    check_every_threshold(*problem, squared=squared, listed=listed, n_threads=n_threads)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("n_features", [1, 4, 5])
def test_sums_with_codes_of_16_bits(listed, n_features):
    problem = make(0, n_features=n_features, n_queries=25, rows=40, distinct=5000)
    check_every_threshold(*problem, squared=True, listed=listed)
    _, search = search_of(*problem[:4], squared=True)
    assert search.binned.codes.dtype == np.uint16


@pytest.mark.parametrize("n_distinct", [255, 256])
def test_codes_of_missing_values_fit(n_distinct):
    """255 values and one code for the missing fill a byte."""
    x = np.r_[np.arange(float(n_distinct)), np.full(20, np.nan)]
    y = np.r_[np.arange(n_distinct) % 3, np.arange(20) % 3].astype(float)
    offsets = np.array([0, 100, 200, len(x)])
    scores = np.random.default_rng(0).normal(size=len(x))
    order = np.random.default_rng(1).permutation(len(x))
    problem = x[order, None], y[order], offsets, np.ones(3), scores
    check_every_threshold(*problem, squared=False)
    _, search = search_of(*problem[:4], squared=False)
    assert search.binned.codes.dtype == (np.uint8 if n_distinct == 255 else np.uint16)


@pytest.mark.parametrize("n", [65_536, 65_537, 140_000])
def test_long_queries(n):
    """Positions in a query beyond 16 bits; the sums of two grades have a closed form."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, n).astype(float)
    x[rng.random(n) < 0.1] = np.nan
    y = (rng.random(n) < 0.3).astype(float)
    offsets = np.array([0, n])
    loss, search = search_of(x[:, None], y, offsets, np.ones(1), squared=False)
    assert search._order.dtype == (np.uint16 if n <= 65_536 else np.uint32)
    loss.update(np.zeros(n))
    num, den = sums_by_slot(loss, search)
    for t in range(4):
        for side in range(2):
            above = (x > t) | (np.isnan(x) & bool(side))
            won = int(y[above].sum()) * int((1 - y)[~above].sum())
            lost = int(y[~above].sum()) * int((1 - y)[above].sum())
            assert_allclose(num[t, side], 0.7 * (won - lost), rtol=1e-9)
            assert_allclose(den[t, side], won + lost, rtol=1e-9)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("max_bins", [None, 255])
def test_threads_do_not_change_a_bit(listed, max_bins):
    problem = make(3, n_features=19, n_queries=30, distinct=400)
    results = []
    for n_threads in (1, 2, 3):
        options = {"listed": listed, "n_threads": n_threads, "max_bins": max_bins}
        loss, search = search_of(*problem[:4], squared=True, **options)
        loss.update(problem[4])
        num, den = sums_by_slot(loss, search)
        results.append((num.copy(), den, search._order, vars(search.best(loss))))
    for other in results[1:]:
        for first, second in zip(results[0][:3], other[:3], strict=True):
            assert_array_equal(first, second)
        assert results[0][3] == other[3]


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), squared=st.booleans(), listed=st.booleans())
def test_best_stump_is_the_best_candidate(seed, squared, listed):
    X, y, offsets, weight, scores = make(seed, n_features=9)
    loss, search = search_of(X, y, offsets, weight, squared=squared, listed=listed)
    loss.update(scores)
    num, den = sums_by_slot(loss, search)
    gains = np.where(den > 1e-9, num**2 / np.where(den > 0, den, 1), 0)
    _, fresh = search_of(X, y, offsets, weight, squared=squared, listed=listed)
    best = fresh.best(loss)
    if gains.max() <= 1e-9:
        return
    assert best.gain * loss.total == pytest.approx(gains.max(), rel=1e-9)
    slot, side = divmod(int(np.argmax(gains >= gains.max() * (1 - 1e-9))), 2)
    assert best.feature == np.searchsorted(search._starts, slot, side="right") - 1
    assert best.bin == slot - search._starts[best.feature]
    if np.isnan(X[:, best.feature]).any():
        assert best.missing_above == bool(side)
    rows = best.above(search.binned)
    x = X[:, best.feature]
    assert_array_equal(rows, (x > best.threshold) | (np.isnan(x) & best.missing_above))
    best.value = 2.5
    assert_array_equal(best.apply(search.binned), 2.5 * rows)
    assert_array_equal(best.predict(X), 2.5 * rows)


def test_ties_go_to_the_lowest_feature_threshold_and_side():
    x = np.array([0.0, 1, 2, 3] * 5)
    y = (x >= 2).astype(float)
    offsets = np.arange(0, 21, 4)
    constant = np.zeros(20)
    columns = {
        "copies": ([constant, x, x, -x], (1, 1.5, True)),  # as many above as below...
        "complement": ([-x, x], (0, -1.5, False)),
    }
    for name, (features, (feature, threshold, _)) in columns.items():
        X = np.column_stack(features)
        loss, search = search_of(X, y, offsets, np.ones(5), squared=False)
        loss.update(np.zeros(20))
        best = search.best(loss)
        assert (best.feature, best.threshold) == (feature, threshold), name
        assert not best.missing_above  # ... so that missing values go below
    # Two thresholds that separate the same pairs: the lower one.
    X = np.array([[0.0], [1.0], [2.0], [5.0], [6.0]])
    loss, search = search_of(X, np.array([0, 1.0, 1, 0, 1]), np.array([0, 2, 3, 5]), np.ones(3),
                             squared=False)  # fmt: skip
    loss.update(np.zeros(5))
    assert search.best(loss).threshold == 0.5


def test_side_of_values_missing_only_in_prediction():
    """They go where most rows went."""
    for n_above, expected in ((7, True), (3, False), (5, False)):
        x = np.r_[np.zeros(10 - n_above), np.ones(n_above)]
        loss, search = search_of(x[:, None], x, np.array([0, 10]), np.ones(1), squared=False)
        loss.update(np.zeros(10))
        best = search.best(loss)
        assert best.missing_above is expected
        assert best.predict(np.array([[np.nan]])) == [float(expected)]


def test_nothing_to_gain():
    y, offsets = np.array([0.0, 1, 0, 1]), np.array([0, 2, 4])
    for x in ([0, 0, 1, 1], [2, 2, 2, 2], [np.nan] * 4, [np.nan, np.nan, 1, 1], [0, 1, 1, 0]):
        X = np.array(x, dtype=float)[:, None]
        for squared in (False, True):
            loss, search = search_of(X, y, offsets, np.ones(2), squared=squared)
            loss.update(np.zeros(4))
            assert search.best(loss) is None


@pytest.mark.filterwarnings("ignore:The training loss rose:UserWarning")
@pytest.mark.parametrize("step", ["paper", "newton", "exact"])
@pytest.mark.parametrize("learning_rate", [1.0, 0.1, 40.0])
@pytest.mark.parametrize("listed", [False, True])
def test_bounds_leave_no_better_feature_out(step, learning_rate, listed):
    """The search that skips features by their bounds equals the one that looks at all."""
    X, y, offsets, weight, _ = make(5, n_features=40, n_queries=25, distinct=9)
    y = np.round(np.nan_to_num(X[:, 3]) / 4 + np.nan_to_num(X[:, 30]) / 5 + 0.2 * y)
    groups = np.repeat(np.arange(25), np.diff(offsets))
    row_weight = weight[groups]
    params = {"n_estimators": 50, "step": step, "learning_rate": learning_rate}
    params |= {"distance": "linear", "alpha": 0.7}
    counts = []
    best, denominators = StumpSearch.best, StumpSearch._denominators

    def count(self, loss, features):
        counts.append(len(features))
        return denominators(self, loss, features)

    def look_at_all(self, loss):
        self._lower[:] = 0
        return best(self, loss)

    kind = list_pairs if listed else preference_pairs
    with mock.patch("sklearn_ltr.ranking_data.preference_pairs", kind):
        with mock.patch.object(StumpSearch, "_denominators", count):
            lazy = MPBoost(**params).fit(X, y, groups, query_weight=row_weight)
        n_lazy = sum(counts)
        counts.clear()
        with (
            mock.patch.object(StumpSearch, "best", look_at_all),
            mock.patch.object(StumpSearch, "_denominators", count),
            mock.patch.object(module, "BATCH", 1000),
        ):
            eager = MPBoost(**params).fit(X, y, groups, query_weight=row_weight)
    assert lazy.n_iter_ == eager.n_iter_ == 50
    for (_, one), (_, other) in zip(lazy.model_.terms, eager.model_.terms, strict=True):
        assert vars(one) == vars(other)
    assert sum(counts) > 40 * 50 * 0.8
    if learning_rate <= 1:
        assert n_lazy < 0.7 * sum(counts)
