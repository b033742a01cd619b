# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes, medians and distinct values over all rows, or over all queries.

The one place that knows where the rows are. Nothing else sums over all of them, or decides by what
is among them, so that rows which lie on several machines would have to be known of here only. Sums
within a query, within a leaf or over features are not of this kind.
"""

import numpy as np

# Sums of weights that agree to this, relatively, are the same in a median.
SAME_WEIGHT = 1e-12

# Bits of the sum of the weights of a median, as integers, but for the last that rounding adds.
MEDIAN_BITS = 62


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


def median(values, weights=None):
    """Median of one number for each row, weighted by `weights` if they are given: float.

    Where half the weight lies on either side of two values it is their mean, as in `numpy.median`,
    so that a row of a whole weight is as good as so many rows. It depends on the order of rows not
    even by rounding, as weights are added up as integers. But it is not a sum: those of parts do
    not make that of the whole, which needs the values of all its rows.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weights : ndarray of shape (n,), positive, default=None
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values)
    bits = np.frexp(len(values) * weights.max())[1]
    below = np.cumsum(np.rint(np.ldexp(weights[order], MEDIAN_BITS - bits)).astype(np.int64))
    half = below[-1] / 2
    low = np.searchsorted(below, half * (1 - SAME_WEIGHT))
    high = np.searchsorted(below, half * (1 + SAME_WEIGHT), side="right")
    return float(0.5 * (values[order[low]] + values[order[high]]))


def number(values):
    """How many there are of one number for each row or query: int."""
    return len(values)


def largest(values):
    """The largest of one number for each row or query."""
    return values.max()


def smallest(values):
    """The smallest of one number for each row or query."""
    return values.min()


def merged(partial):
    """Sums that were formed over the rows that are here, such as a matrix product, over all."""
    return partial


def somewhere(found):
    """Whether what was looked for in the rows that are here is in any row.

    Parameters
    ----------
    found : ndarray of any shape, dtype bool
        The answer of the rows that are here, to one question or several.

    Returns
    -------
    found : ndarray of the same shape, dtype bool
    """
    return found


def distinct(values, weight_up_to=None):
    """Distinct values of the rows that are here, over all rows.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Ascending.
    weight_up_to : ndarray of shape (n_values,), default=None
        Weight of the rows up to each value.

    Returns
    -------
    values : ndarray
        Or, where there are weights, the values and the weight up to each.
    """
    return values if weight_up_to is None else (values, weight_up_to)
