# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What kernels that rank the rows of each query are given."""

import numpy as np

from sklearn_ltr._kernels import _types


def rows_to_rank(offsets, n_threads):
    """Scratch of kernels that rank: twice the rows of the longest query for each thread."""
    return np.empty(2 * n_threads * int(np.diff(offsets).max(initial=1)), dtype=_types.RANKED_ROW)


def run_kernel(kernel, *inputs, offsets, n_threads):
    """Allocate what a kernel that ranks fills, and fill it.

    Parameters
    ----------
    kernel : callable
        ``kernel(*inputs, offsets, n_threads, work, out)``.
    *inputs : object
    offsets : ndarray of shape (n_queries + 1,), dtype intp
    n_threads : int

    Returns
    -------
    out : ndarray of shape (n_queries,), dtype float64
    """
    out = np.empty(len(offsets) - 1)
    kernel(*inputs, offsets, n_threads, rows_to_rank(offsets, n_threads), out)
    return out
