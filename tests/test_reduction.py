# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all rows are exact, and so depend neither on order nor on parts."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal

from sklearn_ltr import reduction

NUMBERS = st.floats(-1e300, 1e300, allow_subnormal=True)
ARRAYS = npst.arrays(np.float64, st.integers(0, 400), elements=NUMBERS, fill=st.nothing())


def of_sizes(seed, n, spread):
    """Numbers over `spread` powers of two, every one of them twice with either sign but one."""
    rng = np.random.default_rng(seed)
    values = np.ldexp(rng.normal(size=n), rng.integers(-spread, spread + 1, size=n))
    return rng.permutation(np.concatenate([values, -values, np.ldexp(rng.normal(size=1), -spread)]))


@given(ARRAYS)
@example(np.array([1.0, 2.0**53, 1.0]))
@example(np.array([2.0**53, 1.0]))  # halfway: the even one
@example(np.array([2.0**53, 1.0, 5e-324]))  # a little more than halfway
@example(np.array([5e-324, -2.5e-323]))
@example(np.array([2.2250738585072014e-308, -5e-324]))
def test_sums_are_rounded_once(values):
    assert reduction.total(values) == math.fsum(values)
    assert reduction.size(values) == math.fsum(np.abs(values))


@pytest.mark.parametrize("spread", [0, 1, 30, 60, 300, 1000])
@pytest.mark.parametrize("n", [1, 50, 511, 512, 513, 5_000])
def test_of_many_numbers(n, spread):
    values = of_sizes(n, n, spread)
    weights = np.random.default_rng(0).random(len(values))
    assert reduction.total(values) == math.fsum(values)
    assert reduction.dot(values, weights) == math.fsum(values * weights)
    assert reduction.size(values, weights) == math.fsum(np.abs(values * weights))
    assert reduction.mean(values) == math.fsum(values) / len(values)
    expected = math.fsum(values * weights) / math.fsum(weights)
    assert reduction.mean(values, weights) == expected


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_threads_make_no_difference(n_threads):
    values = of_sizes(0, reduction.NUMBERS_PER_THREAD, 70)
    assert reduction.total(values, n_threads=n_threads) == math.fsum(values)
    table = values[: 10 * (len(values) // 10)].reshape(10, -1)
    expected = [math.fsum(row) for row in table]
    assert_array_equal(reduction.total(table, axis=1, n_threads=n_threads), expected)


def test_axes():
    values = of_sizes(1, 60, 100)[:120].reshape(4, 5, 6)
    for axis in range(3):
        expected = np.apply_along_axis(math.fsum, axis, values)
        assert_array_equal(reduction.total(values, axis), expected)
        whole = np.sign(values).astype(int)
        assert_array_equal(reduction.total(whole, axis), whole.sum(axis))
    assert_array_equal(reduction.total(np.empty((3, 0)), axis=1), np.zeros(3))
    part = values[:, 0, ::2]
    assert_array_equal(reduction.total(part.T), reduction.total(part, axis=1))


@pytest.mark.parametrize("n", [0, 1, 30, 70_000])
def test_products_of_several_sums(n):
    values = of_sizes(2, n, 70)[: 2 * n].reshape(n, 2).T
    weights = of_sizes(3, n, 20)[:n]
    for n_threads in (1, 2):
        found = reduction.dot(values, weights, n_threads)
        assert_array_equal(found, [math.fsum(row * weights) for row in values])


def test_what_is_no_number():
    inf, nan = np.inf, np.nan
    for values, expected in [
        ([inf, 1], inf), ([-inf, 1], -inf), ([inf, -inf], nan), ([nan, inf], nan),
        ([1e308] * 9, inf), ([-1e308] * 9, -inf), ([1e308] * 9 + [-1e308] * 9, 0), ([], 0),
    ]:  # fmt: skip
        assert_array_equal(reduction.total(np.array(values, dtype=np.float64)), expected)
    many = np.ones(3_000)
    many[2_000] = nan
    assert np.isnan(reduction.total(many))


def test_sums_of_other_types():
    assert reduction.total(np.array([True, False, True])) == 2
    assert reduction.total(np.array([2**62, 1 - 2**62])) == 1
    assert reduction.total(np.array([0.1, 0.2], dtype=np.float32)) == math.fsum(
        np.array([0.1, 0.2], dtype=np.float32).tolist()
    )


def test_extremes_of_nothing():
    assert reduction.largest(np.empty(0)) == -np.inf
    assert reduction.smallest(np.empty(0)) == np.inf
