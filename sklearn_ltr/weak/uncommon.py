# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cells of sparse features that are worth adding up."""

from itertools import pairwise

import numpy as np

from sklearn_ltr._kernels import _uncommon

# Rows that tell which codes are common.
SAMPLE_ROWS = 10_000

# Cells of a block with uncommon codes, for each row, up to which listing them pays.
MOST_UNCOMMON = 1.5


class UncommonCells:
    """The cells of a binned matrix that do not hold the most common code of their feature.

    Where most cells of a block of features hold common codes, as in sparse data, a histogram is
    built faster from the others, which are listed row by row.

    Parameters
    ----------
    binned : BinnedMatrix
    starts : ndarray of shape (n_blocks * width + 1,), dtype intp
        First slot of each column in a histogram.
    n_threads : int

    Attributes
    ----------
    listed : ndarray of shape (n_blocks,), dtype uint8
        Whether the cells of a block are listed.
    common : ndarray of shape (n_blocks * width,), dtype intp
        Common code of each column.
    indptr : ndarray of shape (n_samples + 1,), dtype int64
        Where the slots of each row begin.
    slots : ndarray, dtype uint32
        Slots of the listed cells with uncommon codes.
    """

    def __init__(self, binned, starts, n_threads):
        codes, n, width = binned.codes, binned.n_samples, binned.codes.shape[2]
        counts = np.zeros(starts[-1], dtype=np.intp)
        sample = np.ascontiguousarray(codes[:, :: 1 + n // SAMPLE_ROWS])
        _uncommon.count_codes(sample, starts, counts, n_threads)
        self.common = np.array(
            [np.argmax(counts[first:last]) for first, last in pairwise(starts)], dtype=np.intp
        )
        share_of_common = counts[starts[:-1] + self.common] / max(sample.shape[1], 1)
        n_uncommon = (1 - share_of_common).reshape(-1, width).sum(axis=1)
        self.listed = (n_uncommon <= MOST_UNCOMMON).astype(np.uint8)
        self.indptr = np.zeros(n + 1, dtype=np.int64)
        common = self.common.reshape(-1, width).astype(codes.dtype)
        if self.listed.any():
            _uncommon.count_uncommon(codes, self.listed, common, self.indptr[1:], n_threads)
            np.cumsum(self.indptr, out=self.indptr)
        self.slots = np.zeros(self.indptr[-1] + 1, dtype=np.uint32)  # never empty
        if self.listed.any():
            places = self.indptr[:-1].copy()
            _uncommon.list_uncommon(
                codes, self.listed, common, starts, places, self.slots, n_threads
            )
