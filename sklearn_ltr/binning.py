# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Feature values to small integer codes.

A threshold separates ``x <= threshold`` from ``x > threshold``; the code of a value is the number
of thresholds below it. A missing value has a code of its own, one above the last.
"""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ltr._kernels import _binning

MAX_BINS = 65_535  # codes of 16 bits, less one for missing values

# Quantiles of more rows than this are those of every n-th row.
QUANTILE_ROWS = 200_000


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
    """

    def __init__(self, codes, binner):
        self.codes = codes
        self.thresholds = binner.thresholds_
        self.n_bins = binner.n_bins_
        self.n_features = len(self.n_bins)
        self.n_samples = codes.shape[1]

    def column(self, feature):
        """Codes of one feature, a view of shape (n_samples,)."""
        block, position = divmod(feature, self.codes.shape[2])
        return self.codes[block, :, position]


class Binner:
    """Choose thresholds from training data and code matrices by them.

    Parameters
    ----------
    max_bins : int or None, default=255
        Most bins a feature may have. A feature with more distinct values is cut at quantiles. None
        keeps every distinct value.

    Attributes
    ----------
    thresholds_ : list of ndarrays
        Ascending thresholds of each feature, each halfway between two training values.
    n_bins_ : ndarray of shape (n_features,), dtype intp
    """

    def __init__(self, max_bins=255):
        self.max_bins = max_bins

    def fit(self, X, rows, n_threads=1):
        """Choose thresholds.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64
        rows : ndarray, dtype intp
            The rows to learn from, in an order that does not depend on the order of `X`.

        Raises
        ------
        ValueError
            If `max_bins` is None and a feature has more than 65,535 distinct values.
        """
        sample = rows
        if self.max_bins is not None and len(rows) > QUANTILE_ROWS:
            sample = rows[:: -(-len(rows) // QUANTILE_ROWS)]
        features = np.arange(X.shape[1])
        self.thresholds_ = self._cut(X, sample, features, n_threads)
        if len(sample) < len(rows):
            # A sample may miss rare values of a feature that has few.
            few = np.flatnonzero([len(t) + 1 < self.max_bins for t in self.thresholds_])
            for k, thresholds in zip(few, self._cut(X, rows, few, n_threads), strict=True):
                self.thresholds_[k] = thresholds
        self.n_bins_ = np.array([len(t) + 1 for t in self.thresholds_], dtype=np.intp)
        return self

    def _cut(self, X, rows, features, n_threads):
        """Thresholds of some features at the values of some rows."""
        if sparse.issparse(X):
            columns = _sparse_columns(X[rows][:, features].tocsc())
        else:
            columns = _dense_columns(X, rows, features)
        return Parallel(n_jobs=n_threads, prefer="threads")(
            delayed(_thresholds)(column, self.max_bins, k)
            for k, column in zip(features, columns, strict=True)
        )

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
        starts = np.concatenate(([0], np.cumsum(self.n_bins_ - 1))).astype(np.intp)
        thresholds = np.concatenate([*self.thresholds_, [0.0]])  # never empty
        if sparse.issparse(X):
            index_type = np.intc if X.indices.dtype.itemsize == 4 else np.longlong
            zero_codes = [np.searchsorted(t, 0.0, side="left") for t in self.thresholds_]
            _binning.bin_csr(
                X.data,
                X.indices.astype(index_type, copy=False),
                X.indptr.astype(index_type, copy=False),
                rows,
                thresholds,
                starts,
                np.array(zero_codes, dtype=dtype),
                codes,
                n_threads,
            )
        else:
            _binning.bin_dense(X, rows, thresholds, starts, codes, n_threads)
        return BinnedMatrix(codes, self)


def _dense_columns(X, rows, features, at_once=16):
    """Columns of the rows; some are gathered together, since they share cache lines."""
    for first in range(0, len(features), at_once):
        together = features[first : first + at_once]
        if together[-1] - together[0] == len(together) - 1:
            yield from np.ascontiguousarray(X[rows, together[0] : together[-1] + 1].T)
        else:
            yield from (X[rows, k] for k in together)


def _sparse_columns(X):
    """Columns of a CSC matrix, as values in any order."""
    for start, stop in pairwise(X.indptr):
        data = X.data[start:stop]
        yield np.concatenate([data, np.zeros(X.shape[0] - len(data), dtype=data.dtype)])


def _thresholds(values, max_bins, feature):
    """Thresholds of one feature: between all distinct values, or at quantiles."""
    values = np.sort(values[~np.isnan(values)]).astype(np.float64)
    distinct = values[np.concatenate(([True], values[1:] != values[:-1]))[: len(values)]]
    if max_bins is None and len(distinct) > MAX_BINS:
        raise ValueError(
            f"max_bins=None keeps every distinct value, but feature {feature} has {len(distinct)}; "
            f"at most {MAX_BINS} are possible. Set `max_bins`."
        )
    if max_bins is None or len(distinct) <= max_bins:
        right = np.arange(1, len(distinct))
    else:
        last_below = values[len(values) * np.arange(1, max_bins) // max_bins - 1]
        right = np.unique(np.searchsorted(distinct, last_below, side="right"))
        right = right[right < len(distinct)]
    low, high = distinct[right - 1], distinct[right]
    middle = 0.5 * low + 0.5 * high  # the sum of two large values could overflow
    return np.where((low <= middle) & (middle < high), middle, low)
