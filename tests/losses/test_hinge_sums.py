# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The squared hinge of pairs, and squares of ties, against brute force."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_losses as oracle
from ranked_rows import make, scales, seeds
from strategies import examples

from sklearn_ltr.losses.hinge_sums import HingeSums, ListedHingeSums, TiedSums
from sklearn_ltr.pairs import ExplicitPairs
from sklearn_ltr.ranking_data import RankingData


def arrays(sums, h, direction):
    """All that sums give at `h`, with the product with a direction."""
    at = sums(h)
    return *at[:3], at.product(direction)


def assert_sums_equal(sums, h, direction, expected, degree=None):
    found = sums(h)
    size = np.abs(expected.gradient).max(initial=1)
    assert sums.n_pairs == expected.n_pairs
    assert_array_equal(sums.degree, expected.degree if degree is None else degree)
    assert_allclose(found.value, expected.value, rtol=1e-12, atol=1e-12)
    assert_allclose(found.gradient, expected.gradient, rtol=1e-11, atol=1e-13 * size)
    assert_array_equal(found.count, expected.count)
    assert_allclose(found.product(direction), expected.hessian @ direction, rtol=1e-11, atol=1e-11)


@examples(150)
@given(
    seed=seeds,
    scale=scales,
    margin=st.sampled_from(["grade", -1.0, 0.0, 0.5, 2.0]),
    missing=st.booleans(),
)
def test_hinge_sums_equal_brute_force(seed, scale, margin, missing):
    y, h, offsets = make(seed, scale, missing=missing)
    if margin == "grade":
        # An active pair is one of positive m; this makes m exact, so that both agree on it.
        y, h = np.round(8 * y) / 8, np.round(64 * h) / 64
    else:
        h = np.round(64 * h) / 64
    direction = np.random.default_rng(seed).normal(size=len(h))
    expected = oracle.graded_hinge(y, h, offsets, margin)
    assert_sums_equal(HingeSums(RankingData.of(y, offsets), margin), h, direction, expected)


@examples(60)
@given(seed=seeds, scale=scales, weighted=st.booleans())
def test_listed_hinge_sums_equal_brute_force(seed, scale, weighted):
    _, h, offsets = make(seed, scale)
    rng = np.random.default_rng(seed)
    # Preferences: some pairs of any two rows, contradictory ones and repeated ones among them, and
    # queries without any.
    ends = list(pairwise(offsets))
    pairs = [
        (q, *(int(start) + rng.permutation(stop - start)[:2]))
        for q, (start, stop) in enumerate(ends)
        for _ in range(rng.integers(0, 9) if stop - start > 1 else 0)
    ]
    query, winner, loser = np.array(pairs, dtype=np.int32).reshape(-1, 3).T.copy()
    pair_offsets = np.searchsorted(query, np.arange(len(offsets))).astype(np.intp)
    weight = rng.choice([0.5, 1.0, 3.0], len(pairs)) if weighted else None
    listed = ExplicitPairs(winner, loser, pair_offsets, offsets, weight=weight)
    expected = oracle.pair_sums(pairs, h, len(ends), True, lambda i, j: 0.5, weight)
    assert_sums_equal(ListedHingeSums(listed, 0.5), h, rng.normal(size=len(h)), expected)


@examples(60)
@given(seed=seeds, scale=scales, missing=st.booleans())
def test_tied_sums_equal_brute_force(seed, scale, missing):
    y, h, offsets = make(seed, scale, missing=missing)
    expected = oracle.tied(y, h, offsets)
    direction = np.random.default_rng(seed).normal(size=len(h))
    degree = expected.degree + (expected.degree > 0)
    assert_sums_equal(TiedSums(RankingData.of(y, offsets)), h, direction, expected, degree)
    assert np.linalg.eigvalsh(np.diag(degree) - expected.hessian).min() >= -1e-12


def test_sums_of_listed_graded_pairs_are_the_same():
    y, h, offsets = make(5)
    query, winner, loser = np.array(oracle.graded_pairs(y, offsets), dtype=np.int32).T.copy()
    pair_offsets = np.searchsorted(query, np.arange(len(offsets))).astype(np.intp)
    listed = arrays(ListedHingeSums(ExplicitPairs(winner, loser, pair_offsets, offsets), 1.0), h, h)
    for one, other in zip(
        listed, arrays(HingeSums(RankingData.of(y, offsets), 1.0), h, h), strict=True
    ):
        assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("margin", ["grade", 1.0])
@pytest.mark.parametrize("kind", [HingeSums, TiedSums])
def test_product_equals_differences_of_the_gradient(kind, margin):
    y, h, offsets = make(3, missing=True)
    h = h + 1e-3 * np.sin(np.arange(len(h)))  # away from the kinks
    data = RankingData.of(y, offsets)
    sums = kind(data, margin) if kind is HingeSums else kind(data)
    direction = np.cos(np.arange(len(h)))
    step = 1e-6 * direction
    slope = (sums(h + step).gradient - sums(h - step).gradient) / 2e-6
    assert_allclose(sums(h).product(direction), slope, atol=1e-6)


def test_a_pair_just_at_its_margin_is_not_active():
    y, h, offsets = np.array([2.0, 1.0, 0.0]), np.array([2.0, 1.0, 0.0]) + 1e6, np.array([0, 3])
    for margin in ("grade", 1.0):
        at = HingeSums(RankingData.of(y, offsets), margin)(h)
        assert_array_equal(at.value, 0)
        assert_array_equal([at.gradient, at.count], 0)
    short = HingeSums(RankingData.of(y, offsets), 1.0)(h - [0.5, 0, 0])
    assert_array_equal(short.count, [1, 1, 0])
    assert_array_equal(short.gradient, [-0.5, 0.5, 0])


def test_rows_without_grades_and_queries_of_one_grade():
    y, h = np.array([np.nan, np.nan, 1.0, 1.0, np.nan, 2.0]), np.arange(6.0)
    offsets = np.array([0, 2, 5, 6])
    for sums in (
        HingeSums(RankingData.of(y, offsets), "grade"),
        TiedSums(RankingData.of(np.full(6, np.nan), offsets)),
    ):
        assert sums.n_pairs == 0
        for result in (sums.degree, *arrays(sums, h, h)):
            assert_array_equal(result, 0)
    assert TiedSums(RankingData.of(y, offsets)).n_pairs == 1
    assert HingeSums(RankingData.of(np.full(6, np.nan), offsets), 1.0).n_pairs == 0


def test_no_digits_cancel_where_clusters_of_scores_are_far_apart():
    # Within each cluster m is of order 1; winners are in the upper cluster and the lower one.
    rng = np.random.default_rng(0)
    n = 40
    upper = np.repeat([True, False], n)
    y = np.where(upper, 2.0, 0.0) + rng.integers(0, 2, 2 * n)
    h = np.where(upper, 1e6, -1e6) + rng.integers(-16, 17, 2 * n) / 8  # exact in binary
    offsets = np.array([0, 2 * n])
    expected = oracle.graded_hinge(y, h, offsets, 1.0)
    assert 0 < expected.value[0] < 1e5
    found = HingeSums(RankingData.of(y, offsets), 1.0)(h)
    assert_allclose(found.value, expected.value, rtol=1e-13)
    assert_allclose(found.gradient, expected.gradient, rtol=1e-13)


@pytest.mark.parametrize("margin", ["grade", 1.0])
def test_threads_do_not_change_a_bit(margin):
    y, h, offsets = make(7, missing=True, n_queries=200)
    first = arrays(HingeSums(RankingData.of(y, offsets), margin), h, h)
    for n_threads in (2, 3):
        found = arrays(HingeSums(RankingData.of(y, offsets, n_threads=n_threads), margin), h, h)
        for one, other in zip(first, found, strict=True):
            assert_array_equal(one, other)


def test_a_call_forgets_earlier_scores():
    y, h, offsets = make(8)
    sums = HingeSums(RankingData.of(y, offsets), 1.0)
    before = sums(h)
    first = *before[:3], before.product(h)
    arrays(sums, 1e6 * h, h)
    for one, other in zip(first, arrays(sums, h, h), strict=True):
        assert_array_equal(one, other)
    assert_array_equal(before.product(h), first[3])


def test_more_pairs_than_32_bits_count():
    n = 100_000
    y, offsets = np.arange(n) % 2.0, np.array([0, n])
    tracemalloc.start()
    sums = HingeSums(RankingData.of(y, offsets), 1.0)
    found = sums(np.zeros(n))
    product = found.product(y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * n  # bytes; a list of the pairs would take 2e10
    assert sums.n_pairs == (n // 2) ** 2 > 2**31
    assert_array_equal(sums.degree, n / 2)
    assert_allclose(found.value, [sums.n_pairs / 2], rtol=1e-12)
    assert_allclose(found.gradient, np.where(y == 1, -n / 2, n / 2), rtol=1e-12)
    assert_allclose(product, np.where(y == 1, n / 2, -n / 2), rtol=1e-12)
    assert TiedSums(RankingData.of(y, offsets)).n_pairs == 2 * (n // 2) * (n // 2 - 1) // 2 > 2**31


def test_continuous_grades_of_a_long_query():
    n = 100_000
    y, offsets = np.random.default_rng(0).permutation(n).astype(float), np.array([0, n])
    sums = HingeSums(RankingData.of(y, offsets), "grade")
    assert sums.n_pairs == n * (n - 1) // 2
    # All scores equal: the loss is the sum of squared differences of the grades over pairs.
    found = sums(np.zeros(n))
    assert_allclose(found.value, [n * ((y - y.mean()) ** 2).sum() / 2], rtol=1e-11)
    assert_allclose(found.gradient, n * (y.mean() - y), rtol=1e-10, atol=1e-3)
    assert_array_equal(found.count, n - 1)
    # Scores equal to the grades: every pair is just at its margin.
    assert_array_equal(sums(y).count, 0)
