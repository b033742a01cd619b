# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds and codes."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from strategies import examples

from sklearn_ltr import binning as module
from sklearn_ltr.binning import Binner

finite = st.floats(allow_nan=False, allow_infinity=False)
awkward = st.one_of(
    finite,
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, np.nextafter(1.0, 2)]),
    st.just(np.nan),
)


def fit_transform(X, max_bins=None, rule="quantile", **options):
    rows = np.arange(X.shape[0])
    binner = Binner(max_bins, rule).fit(X, rows, **options)
    return binner, binner.transform(X, rows, **options)


def check_same_thresholds(one, two):
    for a, b in zip(one.thresholds_, two.thresholds_, strict=True):
        assert_array_equal(a, b)


def codes_of(binned):
    return np.column_stack([binned.column(k) for k in range(binned.n_features)])


def check_codes(x, thresholds, codes):
    """Codes are the number of thresholds below the value."""
    for value, code in zip(x, codes, strict=True):
        expected = len(thresholds) + 1 if np.isnan(value) else (thresholds < value).sum()
        assert code == expected


@examples(150)
@given(x=hnp.arrays(float, st.integers(1, 12), elements=awkward))
def test_every_distinct_value_has_a_bin(x):
    binner, binned = fit_transform(x[:, None])
    (thresholds,) = binner.thresholds_
    distinct = sorted(set(x[~np.isnan(x)].tolist()))
    assert len(thresholds) == max(len(distinct) - 1, 0)
    assert binner.n_bins_.tolist() == [len(thresholds) + 1]
    for low, threshold, high in zip(distinct, thresholds, distinct[1:], strict=False):
        assert low <= threshold < high
    check_codes(x, thresholds, binned.column(0))


@examples(100)
@given(
    x=hnp.arrays(float, st.integers(1, 60), elements=st.integers(0, 25).map(float)),
    max_bins=st.integers(2, 12),
    missing=st.booleans(),
)
def test_quantiles(x, max_bins, missing):
    x = np.where((x == 3) & missing, np.nan, x)
    binner, binned = fit_transform(x[:, None], max_bins)
    (thresholds,) = binner.thresholds_
    present = np.sort(x[~np.isnan(x)])
    distinct = np.unique(present)
    assert len(thresholds) <= max_bins - 1
    assert (np.diff(thresholds) > 0).all()
    if len(distinct) <= max_bins:
        assert len(thresholds) == max(len(distinct) - 1, 0)
        return
    check_codes(x, thresholds, binned.column(0))
    # Cut number c is above the value at rank n c / max_bins, halfway to the next one.
    cuts = set()
    for c in range(1, max_bins):
        value = present[len(present) * c // max_bins - 1]
        if value < distinct[-1]:
            cuts.add((value + distinct[np.searchsorted(distinct, value) + 1]) / 2)
    assert_array_equal(thresholds, sorted(cuts))
    # No bin of several values holds more than its share, but for one value's copies.
    largest = np.unique(present, return_counts=True)[1].max()
    sizes = np.bincount(binned.column(0)[~np.isnan(x)])
    assert sizes.max() <= len(present) / max_bins + 1 + largest


def test_even_quantiles():
    x = np.random.default_rng(0).permutation(1000).astype(float)
    binner, binned = fit_transform(x[:, None], 10)
    assert_array_equal(binner.thresholds_[0], np.arange(99.5, 900, 100))
    assert_array_equal(np.bincount(binned.column(0)), np.full(10, 100))


def adaptive_bins(values, max_bins):
    """McRank's rule to the letter, value by value."""
    length = 1e-8
    while True:
        bins = []
        for value in sorted(values):
            if bins and value - bins[-1][0] <= length:
                bins[-1].append(value)
            else:
                bins.append([value])
        if len(bins) <= max_bins:
            return bins
        length *= 2


@examples(150)
@given(
    x=hnp.arrays(
        float,
        st.integers(1, 40),
        elements=st.one_of(
            awkward,
            st.integers(-20, 20).map(float),
            st.integers(0, 9).map(lambda k: 1e12 + k),
            st.integers(-9, 9).map(lambda k: 4e-9 * k),
        ),
    ),
    max_bins=st.integers(2, 12),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_adaptive_rule(x, max_bins, dtype):
    with np.errstate(over="ignore"):
        x = x.astype(dtype)
    x[np.isinf(x)] = 0
    binner, binned = fit_transform(x[:, None], max_bins, rule="adaptive")
    bins = adaptive_bins(x[~np.isnan(x)].tolist(), max_bins)
    (thresholds,) = binner.thresholds_
    assert binner.n_bins_.tolist() == [max(len(bins), 1)]
    for left, threshold, right in zip(bins, thresholds, bins[1:], strict=False):
        assert left[-1] <= threshold < right[0]
        assert threshold == pytest.approx(left[-1] / 2 + right[0] / 2, rel=1e-15, abs=1e-323)
    for number, values in enumerate(bins):
        assert (binned.column(0)[np.isin(x, values)] == number).all()
    check_codes(x, thresholds, binned.column(0))


def test_adaptive_bins_of_many_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=3000), 1e12 + rng.integers(0, 10**9, 3000)])
    X = np.column_stack([X, np.exp(5 * X[:, 0])])
    binner = Binner(255, "adaptive").fit(X, np.arange(3000))
    for x, thresholds in zip(X.T, binner.thresholds_, strict=True):
        bins = adaptive_bins(x.tolist(), 255)
        expected = [(a[-1] + b[0]) / 2 for a, b in pairwise(bins)]
        assert_array_equal(thresholds, expected)
    # How often a value is there does not matter.
    rows = np.repeat(np.arange(3000), rng.integers(1, 4, 3000))
    check_same_thresholds(binner, Binner(255, "adaptive").fit(X, rows))
    weight = rng.uniform(0.1, 9, 3000)
    check_same_thresholds(binner, Binner(255, "adaptive").fit(X, np.arange(3000), weight=weight))


@pytest.mark.parametrize("sampled", [False, True])
@examples(60)
@given(
    seed=st.integers(0, 10**6),
    max_bins=st.sampled_from([2, 3, 7, 20, 255, None]),
    convert=st.sampled_from([np.asarray, sparse.csr_matrix]),
)
def test_weight_repeats_a_row(sampled, seed, max_bins, convert):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 120))
    X = np.column_stack([rng.normal(size=n), rng.integers(-9, 30, n), rng.integers(0, 3, n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = rng.permutation(n)
    count = rng.integers(1, 6, n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "QUANTILE_ROWS", 50 if sampled else 200_000)
        repeated = Binner(max_bins).fit(X, np.repeat(rows, count))
        weighted = Binner(max_bins).fit(convert(X), rows, weight=count.astype(float))
        check_same_thresholds(repeated, weighted)
        # Equal weights below one are as good as none.
        plain = Binner(max_bins).fit(X, rows)
        check_same_thresholds(plain, Binner(max_bins).fit(X, rows, weight=np.full(n, 0.1)))


def test_fractional_weights():
    rng = np.random.default_rng(0)
    n = 5000
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 700, n)])
    weight = rng.lognormal(size=n) / 4
    assert weight.mean() < 1
    binner = Binner(50).fit(X, np.arange(n), weight=weight)
    # Each bin has its share of the weight, give or take a row, here copies of one number.
    for x, thresholds, copies in zip(X.T, binner.thresholds_, [1, 30], strict=True):
        shares = np.bincount(np.searchsorted(thresholds, x), weight) / weight.sum()
        assert len(shares) == 50
        assert np.abs(shares - 1 / 50).max() < copies * weight.max() / weight.sum()
    # Neither the order of the rows nor a factor changes a bit.
    order = rng.permutation(n)
    check_same_thresholds(binner, Binner(50).fit(X, order, weight=weight[order]))
    check_same_thresholds(binner, Binner(50).fit(X, np.arange(n), weight=weight / 1024))
    # Weights of any size do no harm.
    large = Binner(50).fit(X, np.arange(n), weight=weight * 1e9)  # sampled, so nearly the same
    assert_allclose(large.thresholds_[0], binner.thresholds_[0], atol=0.01)
    extreme = 10.0 ** rng.integers(-300, 300, n)
    assert (Binner(50).fit(X, np.arange(n), weight=extreme).n_bins_ > 1).all()


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [
        (1.0, 2.0, 1.5),
        (1.0, np.nextafter(1.0, 2), 1.0),
        (np.nextafter(1.0, 0), 1.0, np.nextafter(1.0, 0)),
        (np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2), np.nextafter(1.0, 2)),
        (-1.7e308, 1.7e308, 0.0),
        (1.6e308, 1.7e308, 1.65e308),
        (-1.7e308, -1.6e308, -1.65e308),
        (0.0, 5e-324, 0.0),
        (-5e-324, 0.0, -5e-324),
        (-5e-324, 5e-324, 0.0),
        (5e-324, 1e-323, 5e-324),
        (1.5e-323, 2e-323, 1.5e-323),
        (-2e-323, -1.5e-323, -2e-323),
        (-0.0, 1.0, 0.5),
        (np.finfo(float).max / 2, np.finfo(float).max, np.finfo(float).max * 0.75),
    ],
)
@pytest.mark.parametrize("max_bins", [None, 255])
def test_halfway_between_neighbours(low, high, middle, max_bins):
    X = np.array([[high], [low]])
    binner, binned = fit_transform(X, max_bins)
    (threshold,) = binner.thresholds_[0]
    assert low <= threshold < high
    assert threshold == pytest.approx(middle, rel=1e-15, abs=1e-323)
    assert binned.column(0).tolist() == [1, 0]


def test_signed_zeros_are_one_value():
    X = np.array([[0.0, -0.0], [-0.0, 0.0], [0.0, -1.0], [-0.0, 1.0]])
    binner, binned = fit_transform(X)
    assert binner.n_bins_.tolist() == [1, 3]
    assert_array_equal(binner.thresholds_[1], [-0.5, 0.5])
    assert codes_of(binned).tolist() == [[0, 1], [0, 1], [0, 0], [0, 2]]


def test_columns_without_a_threshold():
    X = np.array([[np.nan, 7.0, np.nan], [np.nan, 7.0, 7.0]])
    for max_bins in (None, 2):
        binner, binned = fit_transform(X, max_bins)
        assert binner.n_bins_.tolist() == [1, 1, 1]
        assert codes_of(binned).tolist() == [[1, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    ("n_distinct", "max_bins", "n_bins", "dtype"),
    [
        (255, 255, 255, np.uint8),
        (256, 255, 255, np.uint8),
        (256, 256, 256, np.uint16),
        (256, None, 256, np.uint16),
        (255, None, 255, np.uint8),
        (65_535, None, 65_535, np.uint16),
        (65_536, 65_535, 65_535, np.uint16),
    ],
)
def test_number_of_bins_and_type_of_codes(n_distinct, max_bins, n_bins, dtype):
    x = np.r_[np.random.default_rng(0).permutation(n_distinct), np.nan].astype(float)
    binner, binned = fit_transform(x[:, None], max_bins)
    assert binner.n_bins_.tolist() == [n_bins]
    assert binned.codes.dtype == dtype
    assert binned.column(0)[-1] == n_bins
    expected = np.searchsorted(binner.thresholds_[0], x[:-1], side="left")
    assert_array_equal(binned.column(0)[:-1], expected)


@pytest.mark.parametrize(("n_distinct", "n_bins"), [(65_535, 65_535), (65_536, 32_768)])
def test_most_adaptive_bins(n_distinct, n_bins):
    x = np.random.default_rng(0).permutation(n_distinct).astype(float)
    binner, binned = fit_transform(x[:, None], 65_535, rule="adaptive")
    assert binner.n_bins_.tolist() == [n_bins]
    assert_array_equal(binned.column(0), x // (n_distinct / n_bins))


@pytest.mark.parametrize("rule", ["quantile", "adaptive"])
def test_too_many_distinct_values(rule):
    X = np.zeros((65_536, 2))
    X[:, 1] = np.arange(65_536)
    with pytest.raises(ValueError, match=r"max_bins=None.*feature 1 has 65536.*65535.*`max_bins`"):
        fit_transform(X, rule=rule)


@pytest.mark.parametrize("rule", ["quantile", "adaptive"])
@pytest.mark.parametrize("max_bins", [None, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse_equals_dense(rule, max_bins, dtype, index_type):
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (50, 11)) * (rng.random((50, 11)) < 0.4).astype(dtype)
    X = X.astype(dtype)
    X[:, 2] = 0
    X[:, 3] = np.abs(X[:, 3]) + 1  # no zero
    X[:, 4] = np.nan
    X[rng.random(X.shape) < 0.05] = np.nan
    X[10:13] = 0
    X[:, 10] = np.abs(X[:, 10])  # zero is the smallest
    S = sparse.csr_array(X)
    S.indices, S.indptr = S.indices.astype(index_type), S.indptr.astype(index_type)
    S.data[:5] = 0  # stored zeros
    X = S.toarray()
    rows = rng.permutation(50)[:40]
    for weight in (rng.uniform(0.5, 3, 40), None):
        dense = Binner(max_bins, rule).fit(X, rows, weight=weight)
        other = Binner(max_bins, rule).fit(S, rows, weight=weight)
        check_same_thresholds(dense, other)
        check_same_thresholds(other, Binner(max_bins, rule).fit(S, rows, 2, weight))
    for chosen in (rows, np.arange(50)):
        expected = dense.transform(X, chosen).codes
        assert_array_equal(other.transform(S, chosen).codes, expected)
        assert_array_equal(dense.transform(S, chosen, n_threads=2).codes, expected)


@pytest.mark.parametrize("n_features", [1, 7, 8, 9, 16, 17, 33])
@pytest.mark.parametrize("max_bins", [255, None])
def test_blocks_of_features(n_features, max_bins):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 400, (600, n_features)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    for layout in (X, np.asfortranarray(X), X.astype(np.float32)):
        for n_threads in (1, 2):
            binner, binned = fit_transform(layout, max_bins, n_threads=n_threads)
            assert binned.n_features == n_features
            width = 8 if max_bins else 4
            assert binned.codes.shape == (-(-n_features // width), 600, width)
            for k in range(n_features):
                expected = np.searchsorted(binner.thresholds_[k], X[:, k], side="left")
                expected[np.isnan(X[:, k])] = binner.n_bins_[k]
                assert_array_equal(binned.column(k), expected)


def test_only_the_given_rows_count():
    X = np.array([[0.0], [1.0], [50.0], [2.0], [np.nan]])
    binner = Binner(None).fit(X, np.array([3, 0, 1]))
    assert_array_equal(binner.thresholds_[0], [0.5, 1.5])
    binned = binner.transform(X, np.array([4, 2, 0, 0]))
    assert binned.column(0).tolist() == [3, 2, 0, 0]


def test_more_rows_than_quantiles_are_taken_from():
    n = 2 * module.QUANTILE_ROWS + 11
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 9, n)])
    binner, binned = fit_transform(X, 20)
    counts = np.bincount(binned.column(0), minlength=20)
    assert np.abs(counts * 20 / n - 1).max() < 0.05
    assert_array_equal(binner.thresholds_[1], np.arange(0.5, 8))
    # max_bins=None keeps every distinct value, also the rarest.
    X[:, 0] = 0
    X[n - 2, 0] = 1
    assert fit_transform(X, None)[0].n_bins_.tolist() == [2, 9]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_rare_values_of_many_rows(convert):
    """Quantiles of a sample are enough; a feature with few values keeps them all."""
    n = 200_011
    X = np.zeros((n, 2))
    X[[5, 77, 1003], 0] = 1
    X[:, 1] = np.arange(n)
    binner = Binner(255).fit(convert(X), np.arange(n))
    assert_array_equal(binner.n_bins_, [2, 255])
    assert_array_equal(binner.thresholds_[0], [0.5])
    assert_array_equal(binner.transform(convert(X), np.arange(n)).column(0), X[:, 0])


def peak_memory(X, max_bins):
    tracemalloc.start()
    try:
        rows = np.arange(X.shape[0])
        binned = Binner(max_bins).fit(X, rows).transform(X, rows)
        return tracemalloc.get_traced_memory()[1], binned.codes.nbytes
    finally:
        tracemalloc.stop()


def test_no_float_copy():
    """Beside the codes: a few numbers for each row, and for each value of a sparse matrix."""
    X = np.random.default_rng(0).normal(size=(300_000, 24)).astype(np.float32)
    X[:, ::2] = np.round(X[:, ::2])
    peak, codes = peak_memory(X, 255)
    assert peak < codes + 4 * 8 * len(X)
    X = sparse.random_array((10_000, 2000), density=0.002, format="csr", rng=0)
    peak, codes = peak_memory(X, 255)
    assert peak < codes + 10 * 8 * (X.nnz + sum(X.shape))
