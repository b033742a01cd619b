# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Feature values to small integer codes.

A threshold separates ``x <= threshold`` from ``x > threshold``; the code of a value is the number
of thresholds below it. A missing value has a code of its own, one above the last.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _binning, _sorting
from sklearn_ltr.interrupts import parts
from sklearn_ltr.reduction import count, is_spread, merged, total
from sklearn_ltr.reduction import distinct as distinct_of_all

MAX_BINS = 65_535  # codes of 16 bits, less one for missing values

MOST_CATEGORIES = 255  # of a feature: a set of them and the missing value has 256 bits

# Quantiles of more rows than this are those of every n-th row.
QUANTILE_ROWS = 200_000

# Rows that are looked through for missing values at a time.
MISSING_ROWS = 10_000

# Bins of the adaptive rule are this long, or this times the least power of two that will do.
SHORTEST_BIN = 1e-8


class BinnedMatrix:
    """Bin codes of a data matrix.

    Parameters
    ----------
    codes : ndarray of shape (n_blocks, n_samples, width), dtype uint8 or uint16
        Feature ``k`` is ``codes[k // width, :, k % width]``: blocks of features, row-major inside a
        block, so that one 64-bit load brings the codes of a row for the whole block.
    binner : Binner

    Attributes
    ----------
    n_samples, n_features : int
    thresholds : list of ndarrays
        Ascending thresholds of each feature.
    n_bins : ndarray of shape (n_features,), dtype intp
        Bins of each feature without the one for missing values, whose code is ``n_bins[k]``.
    categorical : ndarray of shape (n_features,), dtype uint8
        Whether the bins of a feature are categories, in no order.
    """

    def __init__(self, codes, binner):
        self.codes = codes
        self.thresholds = binner.thresholds_
        self.n_bins = binner.n_bins_
        self.n_features = len(self.n_bins)
        self.categorical = np.zeros(self.n_features, dtype=np.uint8)
        if binner.n_categories is not None:
            self.categorical[:] = binner.n_categories > 0
        self.n_samples = codes.shape[1]

    def slot_starts(self):
        """Where each column begins among the cells of a histogram over all codes.

        A feature has a cell for each bin and one for missing values, a column that pads the last
        block has one.

        Returns
        -------
        starts : ndarray of shape (n_blocks * width + 1,), dtype intp
        """
        slots = np.ones(len(self.codes) * self.codes.shape[2], dtype=np.intp)
        slots[: self.n_features] = self.n_bins + 1
        return np.concatenate(([0], np.cumsum(slots))).astype(np.intp)

    def has_missing(self):
        """Which features have a missing value in some row: ndarray of shape (n_features,), bool."""
        n_blocks, _, width = self.codes.shape
        missing = np.zeros(n_blocks * width, dtype=self.codes.dtype)
        missing[: self.n_features] = self.n_bins
        found = np.zeros((n_blocks, width), dtype=bool)
        for block in range(n_blocks):
            cells = self.codes[block].reshape(-1)
            pattern = np.tile(missing[block * width : (block + 1) * width], MISSING_ROWS)
            for first in range(0, len(cells), len(pattern)):
                some = cells[first : first + len(pattern)]
                # A row of truth values is a word; words are joined many times faster than columns.
                words = (some == pattern[: len(some)]).view(f"u{width}")
                found[block] |= np.bitwise_or.reduce(words, keepdims=True).view(bool)
        return found.ravel()[: self.n_features]

    def column(self, feature):
        """Codes of one feature, a view of shape (n_samples,)."""
        block, position = divmod(feature, self.codes.shape[2])
        return self.codes[block, :, position]


class Rows:
    """The rows of a data matrix as they are, for weak rankers that need no bins.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    """

    def __init__(self, X):
        self.X = X


class Unbinned:
    """Takes the place of a `Binner` where there is nothing to bin."""

    def fit(self, X, rows, n_threads=1, weight=None, running=None):
        return self

    def transform(self, X, rows, n_threads=1):
        return Rows(X[rows])

    def note_missing(self, binned):
        """What a regressor makes of missing values is its own affair."""


class Binner:
    """Choose thresholds from training data and code matrices by them.

    Parameters
    ----------
    max_bins : int or None, default=255
        Most bins a feature may have. None keeps every distinct value, whatever the rule.
    rule : {"quantile", "adaptive"}, default="quantile"
        With "quantile", a feature with more distinct values than `max_bins` is cut at quantiles.
        "adaptive" is the rule of McRank's Appendix I, which looks at the distinct values only, not
        at how many rows have them: a bin starts at the smallest value that is in no bin yet and
        takes in all values that are no more than a length above it. The length starts at 1e-8 and
        is doubled until there are at most `max_bins` bins.
    n_categories : ndarray of shape (n_features,), dtype intp, or None, default=None
        How many categories a categorical feature has, whose values are 0, 1, 2, ...: each is a bin,
        whatever `max_bins`. 0 for other features; None if all are others.

    Attributes
    ----------
    thresholds_ : list of ndarrays
        Ascending thresholds of each feature, each halfway between two training values, or between
        two categories.
    n_bins_ : ndarray of shape (n_features,), dtype intp
    has_missing_ : ndarray of shape (n_features,), dtype bool, or None
        Which features had missing values in the matrices that `note_missing` has seen; None where
        that is not known, of a model stored before this was kept.
    float32_ : list of (int, int, float or None)
        Feature, number of a threshold and what to compare with in its place where values have 32
        bits, so that training values, rounded, are on the same side; None where no number does.
        Thresholds that need only be rounded down are not listed.
    """

    has_missing_ = None
    float32_ = ()
    n_categories = None  # of those stored before there were any

    def __init__(self, max_bins=255, rule="quantile", n_categories=None):
        self.max_bins = max_bins
        self.rule = rule
        self.n_categories = n_categories

    def fit(self, X, rows, n_threads=1, weight=None, running=np.cumsum):
        """Choose thresholds.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64
        rows : ndarray, dtype intp
            The rows to learn from, in an order that does not depend on the order of `X`.
        n_threads : int, default=1
        weight : ndarray of shape (len(rows),), dtype float64, default=None
            Positive: how many rows a row counts for in quantiles. The adaptive rule ignores it.
        running : callable, default=numpy.cumsum
            ``running(values)`` gives the sums of one number a row, whose sums are exact, up to each
            row: those of rows elsewhere that come before it included.

        Raises
        ------
        ValueError
            If `max_bins` is None and a feature has more than 65,535 distinct values.
        """
        by_quantiles = self.max_bins is not None and self.rule == "quantile"
        weight = _in_units(weight) if by_quantiles and weight is not None else None
        n = (count(len(rows)) if weight is None else total(weight)) if by_quantiles else 0
        sampled = n > QUANTILE_ROWS
        sample, counts = _sample(rows, weight, n, running) if sampled else (rows, weight)
        cut = self._cut(X, sample, counts, np.arange(X.shape[1]), n_threads)
        if sampled:
            # A sample may miss rare values of a feature that has few.
            few = np.flatnonzero([len(t) + 1 < self.max_bins for t, _ in cut])
            for k, again in zip(few, self._cut(X, rows, weight, few, n_threads), strict=True):
                cut[k] = again
        if self.n_categories is not None:
            for k in np.flatnonzero(self.n_categories):
                cut[k] = between_categories(self.n_categories[k]), []
        self.thresholds_ = [thresholds for thresholds, _ in cut]
        self.float32_ = [(k, *close) for k, (_, found) in enumerate(cut) for close in found]
        self.n_bins_ = np.array([len(t) + 1 for t in self.thresholds_], dtype=np.intp)
        self.has_missing_ = np.zeros(X.shape[1], dtype=bool)
        return self

    def note_missing(self, binned):
        """Remember which features have missing values in a BinnedMatrix that was learned from."""
        if self.has_missing_ is not None:
            found = merged(binned.has_missing().astype(np.int64)) > 0
            self.has_missing_ = self.has_missing_ | found

    def _cut(self, X, rows, weight, features, n_threads):
        """`_thresholds` of some features at the values of some rows."""
        if sparse.issparse(X):
            X = X[rows].tocsc()
        # Neighbouring columns share cache lines, but columns of many rows take much memory.
        at_once = 8 if len(features) == X.shape[1] and len(rows) <= QUANTILE_ROWS else 1
        blocks = [features[i : i + at_once] for i in range(0, len(features), at_once)]
        if is_spread():
            return [
                self._thresholds(k, *distinct_of_all(*distinct))
                for block in blocks
                for k, distinct in _distinct_of_block(X, rows, weight, block)
            ]
        cut = partial(self._cut_block, X, rows, weight)
        # Not joblib: its polls take longer than the bins of a small matrix.
        with ThreadPoolExecutor(n_threads) as pool:
            return list(chain.from_iterable(pool.map(cut, blocks)))

    def _cut_block(self, X, rows, weight, features):
        """`_cut` of neighbouring features, one after the other."""
        found = _distinct_of_block(X, rows, weight, features)
        return [self._thresholds(k, *distinct) for k, distinct in found]

    def _thresholds(self, feature, distinct, weight_up_to):
        """Thresholds of one feature, by its distinct values and the weight up to each.

        And those that are not only to be rounded down for values of 32 bits, as `float32_`.
        """
        if self.max_bins is None and len(distinct) > MAX_BINS:
            raise ValueError(
                f"max_bins=None keeps every distinct value, but feature {feature} has "
                f"{len(distinct)}; at most {MAX_BINS} are possible. Set `max_bins`."
            )
        # Where each bin but the first starts.
        if self.max_bins is not None and self.rule == "adaptive":
            right = _adaptive_bins(distinct, self.max_bins)[1:]
        elif self.max_bins is None or len(distinct) <= self.max_bins:
            right = np.arange(1, len(distinct))
        else:
            # Bins 1..c end with the value of row number floor(c n / max_bins), counted from one:
            # the first that more than c n / max_bins - 1 rows reach.
            cuts = weight_up_to[-1] * np.arange(1, self.max_bins) / self.max_bins - 1
            right = np.unique(np.searchsorted(weight_up_to, cuts, side="right")) + 1
            right = right[right < len(distinct)]
        below, above = distinct[right - 1], distinct[right]
        low, high = below.astype(np.float64), above.astype(np.float64)
        middle = 0.5 * low + 0.5 * high  # the sum of two large values could overflow
        thresholds = np.where((low <= middle) & (middle < high), middle, low)
        close = _close_in_float32(thresholds, low, high) if below.dtype == np.float64 else ()
        return thresholds, close

    def transform(self, X, rows, n_threads=1):
        """Code rows of `X`.

        Returns
        -------
        binned : BinnedMatrix
            One row for each entry of `rows`.
        """
        # The code of a missing value must fit too.
        dtype, width = (np.uint8, 8) if self.n_bins_.max() <= 255 else (np.uint16, 4)
        n_blocks = -(-X.shape[1] // width)
        codes = np.zeros((n_blocks, len(rows), width), dtype=dtype)
        # Infinity after the thresholds makes the code of NaN, which is above all, one more.
        cuts = np.concatenate([np.append(t, np.inf) for t in self.thresholds_])
        keys = np.empty(len(cuts), dtype=np.uint64)
        _binning.keys_of(cuts, keys)
        starts = np.concatenate(([0], np.cumsum(self.n_bins_)))
        if sparse.issparse(X):
            index_type = np.intc if X.indices.dtype.itemsize == 4 else np.longlong
            zero_codes = np.zeros((n_blocks, width), dtype=dtype)
            zero_codes.flat[: X.shape[1]] = [np.searchsorted(t, 0.0) for t in self.thresholds_]
            matrix = X.data, *(a.astype(index_type, copy=False) for a in (X.indices, X.indptr))
            cuts = keys, starts, zero_codes
            for part in parts(len(rows), X.shape[1]):
                _binning.bin_csr(*matrix, rows[part], *cuts, part.start, codes, n_threads)
        else:
            for part in parts(len(rows), X.shape[1]):
                _binning.bin_dense(X, rows[part], keys, starts, part.start, codes, n_threads)
        return BinnedMatrix(codes, self)


def _close_in_float32(thresholds, low, high):
    """Which thresholds, rounded down to 32 bits, do not part rounded values; what does instead.

    A list of (number, float or None) as of ``Binner.float32_``.
    """
    with np.errstate(over="ignore"):
        below, above, narrow = (x.astype(np.float32) for x in (low, high, thresholds))
    # Rounding keeps the order: only neighbours in 32 bits can be on a wrong side.
    near = np.flatnonzero((narrow == below) | (narrow == above))
    found = []
    for i in near:
        down = narrow[i] if narrow[i] <= thresholds[i] else np.nextafter(narrow[i], -np.inf)
        if not below[i] <= down < above[i]:
            found.append((int(i), float(below[i]) if below[i] < above[i] else None))
    return found


def between_categories(n):
    """The thresholds of a feature of `n` categories."""
    return np.arange(1, n) - 0.5


def _in_units(weight):
    """Weights as they are, or as multiples of their mean where that is less than one.

    They are rounded to a grid so fine that whole numbers are on it, and so coarse that sums are
    exact and hence do not depend on the order.
    """
    of_all = total(weight)
    weight = weight / max(min(1.0, of_all / count(len(weight))), 2.0**-47 * of_all)
    grid = 2.0 ** (np.frexp(total(weight))[1] - 48)
    return np.maximum(np.rint(weight / grid), 1) * grid


def _sample(rows, weight, n, running):
    """Rows to take quantiles of, every so many of `n` that there are, and how often each is taken.

    A row of a weight is so many rows.
    """
    step = -(-n // QUANTILE_ROWS)
    if weight is None:
        numbers = running(np.ones(len(rows), dtype=np.int64)) - 1
        return rows[numbers % step == 0], None
    up_to = running(weight)
    ends = np.searchsorted(np.arange(0, n, step), np.stack([up_to - weight, up_to]))
    counts = ends[1] - ends[0]
    return rows[counts > 0], counts[counts > 0].astype(np.float64)


def _distinct_of_block(X, rows, weight, features):
    """The number and `_distinct` of each of neighbouring features."""
    columns = _sparse_columns if sparse.issparse(X) else _dense_columns
    for k, column in zip(features, columns(X, rows, weight, features), strict=True):
        yield k, _distinct(*column)


def _dense_columns(X, rows, weight, features):
    """Values, their weights and the weight of absent zeros for each of neighbouring features."""
    columns = np.empty((len(features), len(rows)), dtype=X.dtype)
    _binning.gather(X, rows, features[0], columns)
    for column in columns:
        yield column, weight, 0


def _sparse_columns(X, rows, weight, features):
    """`_dense_columns` of a CSC matrix that has just the rows."""
    of_rows = len(rows) if weight is None else weight.sum()
    for k in features:
        cells = slice(X.indptr[k], X.indptr[k + 1])
        data = X.data[cells]
        if weight is None:
            yield data, None, of_rows - len(data)
        else:
            present = weight[X.indices[cells]]
            yield data, present, of_rows - present.sum()


def _distinct(values, weight, absent):
    """Distinct values in ascending order, without NaN, and the weight up to each.

    `values` are overwritten. A zero of weight `absent` comes on top of them.
    """
    present = ~np.isnan(values)
    if not present.all():
        values = values[present]
        weight = None if weight is None else weight[present]
    if weight is None and len(values):
        bits = values.view(f"u{values.itemsize}")
        _sorting.sort_floats(bits, np.empty_like(bits))
    elif weight is not None:
        order = np.argsort(values)
        values, weight = values[order], np.cumsum(weight[order])
    is_last = np.ones(len(values), dtype=bool)
    is_last[:-1] = values[1:] != values[:-1]
    last = np.flatnonzero(is_last)
    distinct = values[last]
    up_to = last + 1 if weight is None else weight[last]
    if absent:
        at = np.searchsorted(distinct, 0)
        if at == len(distinct) or distinct[at] != 0:
            distinct = np.insert(distinct, at, 0)
            up_to = np.insert(up_to, at, up_to[at - 1] if at else 0)
        up_to[at:] += absent
    return distinct, up_to


def _adaptive_bins(distinct, max_bins):
    """Where McRank's bins start among distinct values."""
    starts = np.empty(max_bins, dtype=np.intp)
    length = SHORTEST_BIN
    while (n_bins := _sorting.bins_of_length(distinct, length, starts)) > max_bins:
        length *= 2
    return starts[:n_bins]
