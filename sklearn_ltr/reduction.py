# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums and extremes over all rows, or over all queries.

The one place that knows where the rows are. Nothing else sums over all of them, so that rows which
lie on several machines would have to be known of here only. Sums within a query, within a leaf or
over features are not of this kind.
"""

import numpy as np


def total(values, axis=0):
    """Sums of one number, or of several, for each row, query or pair.

    Parameters
    ----------
    values : ndarray of shape (n,), (n, n_sums) or (n_sums, n)
    axis : int, default=0
        That of the rows, queries or pairs.

    Returns
    -------
    total : float, or ndarray of shape (n_sums,)
    """
    return values.sum(axis=axis)


def dot(a, b):
    """Sum of products of two numbers for each row or query: float."""
    return a @ b


def mean(values, weights=None):
    """Mean of one number for each row or query, weighted by `weights` if they are given: float."""
    return np.average(values, weights=weights)


def largest(values):
    """The largest of one number for each row or query."""
    return values.max()


def smallest(values):
    """The smallest of one number for each row or query."""
    return values.min()


def merged(partial):
    """Sums that were formed over the rows that are here, such as a matrix product, over all."""
    return partial
