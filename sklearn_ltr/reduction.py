# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums, extremes, medians and distinct values over all rows, or all queries, wherever they are.

The one place that knows where the rows are. Nothing else sums over all of them, or decides by what
is among them. Sums within a query, within a leaf or over features are not of this kind.

Sums are exact, and rounded once. So they depend neither on the order of rows nor on which of them
lie together, and what is learnt from rows on several machines is what is learnt from all of them on
one, to the last bit. What machines tell each other are sums and maxima of integers, of the shape
that all of them know: a call that only some of them make is a call that the others wait for. Hence
what is done next must never depend on the rows that happen to be here.
"""

import json
import math
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from sklearn_ltr._kernels import _exact

# Sums of weights that agree to this, relatively, are the same in a median.
SAME_WEIGHT = 1e-12

# Bits of the sum of the weights of a median, as integers, but for the last that rounding adds.
MEDIAN_BITS = 62

# Numbers below which a second thread costs more than it does.
NUMBERS_PER_THREAD = 50_000

NO_WEIGHTS = np.empty(0)
LOW_BITS = np.iinfo(np.int64).max  # all but the sign

_reducer = ContextVar("what adds up integers of all ranks", default=None)


@contextmanager
def over(reducer):
    """Fit to the rows of several processes, each of which has some, as if one had all of them.

    In each process, called a rank::

        with sklearn_ltr.reduction.over(reducer):
            ranker.fit(X_here, y_here, groups=groups_here)

    All ranks fit equal rankers, and all get the same model: that of one process with all rows, to
    the last bit. The rows of a query are on one rank; a rank may have none. Rankers that cannot say
    so.

    Parameters
    ----------
    reducer : object
        With the attributes ``rank``, from 0, and ``n_ranks``, and the methods ``sum(array)`` and
        ``max(array)``. These replace the numbers in a one-dimensional, contiguous ndarray of int64
        by their sums, or maxima, over the arrays that the other ranks give in the same call; sums
        wrap at 64 bits. They return when all ranks have called, and raise where one has failed.
    """
    token = _reducer.set(reducer)
    try:
        yield
    finally:
        _reducer.reset(token)


def alone():
    """Within this, only the rows that are here count: context manager."""
    return over(None)


def is_spread():
    """Whether rows may be elsewhere."""
    return _reducer.get() is not None


def is_first():
    """Whether this is the rank that speaks for all."""
    reducer = _reducer.get()
    return reducer is None or reducer.rank == 0


def merger():
    """What replaces integers by their sums over all ranks, for kernels; None where rows are here.

    Returns
    -------
    merge : callable or None
        ``merge(array)`` of a contiguous one, of int64.
    """
    reducer = _reducer.get()
    return None if reducer is None else lambda array: reducer.sum(np.asarray(array).reshape(-1))


def merged(partial):
    """Integers that were summed up over the rows that are here, over all.

    Parameters
    ----------
    partial : ndarray of int64; or of float64, where all rows are here

    Returns
    -------
    merged : ndarray of the same shape
    """
    reducer = _reducer.get()
    if reducer is None:
        return partial
    if partial.dtype != np.int64:
        raise NotImplementedError("Sums of rounded numbers over several ranks depend on the ranks.")
    merged = np.array(partial).ravel()
    reducer.sum(merged)
    return merged.reshape(partial.shape)


def count(n):
    """How many there are everywhere of what there are `n` of here."""
    return n if _reducer.get() is None else int(merged(np.array([n]))[0])


def anywhere(flags):
    """Whether any of some truth values is true."""
    here = bool(np.any(flags))
    return here if _reducer.get() is None else count(int(here)) > 0


def everywhere(flags):
    """Whether all of some truth values are true."""
    return not anywhere(np.logical_not(flags))


def total(values, axis=0, n_threads=1):
    """Sums of one number, or of several, for each row, query or pair.

    Parameters
    ----------
    values : ndarray of shape (n,), or of several dimensions
    axis : int, default=0
        That of the rows, queries or pairs.
    n_threads : int, default=1

    Returns
    -------
    total : float64 or int64, or ndarray of them of the shape of the other dimensions
        Exact sums of floating-point numbers, rounded to the nearest.
    """
    if values.dtype.kind != "f":
        return merged(np.asarray(values.sum(axis=axis, dtype=np.int64)))[()]
    if values.ndim == 1:
        return _rounded(_words(values, n_threads=n_threads))[0]
    values = np.moveaxis(values, axis, -1)
    shape = math.prod(values.shape[:-1]), values.shape[-1]
    return _each_dot(values.reshape(shape), NO_WEIGHTS, n_threads).reshape(values.shape[:-1])


def dot(a, b, n_threads=1):
    """Exact sums, rounded, of rounded products of two numbers for each row or query.

    Parameters
    ----------
    a : ndarray of shape (n,) or (n_sums, n)
    b : ndarray of shape (n,)
    n_threads : int, default=1

    Returns
    -------
    dot : float64 or ndarray of shape (n_sums,)
    """
    if a.ndim > 1:
        return _each_dot(a, b, n_threads)
    return _rounded(_words(a, b, n_threads=n_threads))[0]


def size(values, weights=None, n_threads=1):
    """Exact sum, rounded, of absolute values or of their rounded products with weights: float64."""
    return _rounded(_words(values, weights, True, n_threads))[0]


def mean(values, weights=None, n_threads=1):
    """Mean of one number for each row or query, weighted by `weights` if they are given: float64.

    Of none it is NaN, with the warning of a division by 0.
    """
    if weights is None:
        return np.float64(total(values, n_threads=n_threads)) / count(len(values))
    return dot(values, weights, n_threads) / total(weights, n_threads=n_threads)


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
    if is_spread():
        raise NotImplementedError("A median takes all rows at once.")
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values)
    bits = np.frexp(len(values) * weights.max())[1]
    below = np.cumsum(np.rint(np.ldexp(weights[order], MEDIAN_BITS - bits)).astype(np.int64))
    half = below[-1] / 2
    low = np.searchsorted(below, half * (1 - SAME_WEIGHT))
    high = np.searchsorted(below, half * (1 + SAME_WEIGHT), side="right")
    return float(0.5 * (values[order[low]] + values[order[high]]))


def largest(values):
    """The largest of one number for each row or query: NaN where one is, -inf of none."""
    here = np.float64(values.max() if values.size else -np.inf)
    return here if _reducer.get() is None else largest_of_each(np.array([here]))[0]


def largest_of_each(here):
    """The largest over all ranks of each of some numbers that each has, NaN where one is.

    Parameters
    ----------
    here : ndarray of shape (n,), dtype float64
    """
    reducer = _reducer.get()
    if reducer is None:
        return here
    # Integers in the order of the numbers, NaN as the last.
    bits = np.where(np.isnan(here), np.nan, here).view(np.int64)
    found = bits ^ ((bits >> 63) & LOW_BITS)
    reducer.max(found)
    return (found ^ ((found >> 63) & LOW_BITS)).view(np.float64)


def smallest(values):
    """The smallest of one number for each row or query: NaN where one is, inf of none."""
    if not is_spread():
        return np.float64(values.min() if values.size else np.inf)
    return -largest(-np.asarray(values, dtype=np.float64))


def gathered(values):
    """The numbers of all ranks, one rank after the other.

    Parameters
    ----------
    values : ndarray of 64 bits, of shape (n,) or (n, n_columns)

    Returns
    -------
    gathered : ndarray of shape (n_all,) or (n_all, n_columns)
    """
    reducer = _reducer.get()
    return values if reducer is None else _placed(values, reducer)[0]


def _placed(values, reducer):
    """What `gathered` returns, and where in it the rows of this rank begin."""
    sizes = np.zeros(reducer.n_ranks, dtype=np.int64)
    sizes[reducer.rank] = len(values)
    reducer.sum(sizes)
    first = int(sizes[: reducer.rank].sum())
    everything = np.zeros((int(sizes.sum()), *values.shape[1:]), dtype=np.int64)
    # Adding zeros to the bits of a number of any type leaves them as they are.
    everything[first : first + len(values)] = np.ascontiguousarray(values).view(np.int64)
    reducer.sum(everything.reshape(-1))
    return everything.view(values.dtype), first


def distinct(values, weight_up_to=None):
    """Distinct values of the rows that are here, over all rows.

    Parameters
    ----------
    values : ndarray of shape (n_values,), of floating-point numbers or of strings
        Ascending, without NaN. Strings are objects.
    weight_up_to : ndarray of shape (n_values,), default=None
        Weight of the rows up to each number, of sums that are exact.

    Returns
    -------
    values : ndarray
        Or, where there are weights, the values and the weight up to each.
    """
    if not is_spread():
        return values if weight_up_to is None else (values, weight_up_to)
    if values.dtype == object:
        # A line of each rank, filled with blanks to words.
        line = json.dumps(values.tolist()).encode() + b"\n"
        lines = gathered(np.frombuffer(line + b" " * (-len(line) % 8), dtype=np.int64))
        of_ranks = lines.tobytes().decode().splitlines()
        known = set().union(*(json.loads(line) for line in of_ranks if line.strip()))
        return np.array(sorted(known), dtype=object)
    columns = [values.astype(np.float64)]
    if weight_up_to is not None:
        columns.append(np.diff(weight_up_to, prepend=0).astype(np.float64))
    found = gathered(np.column_stack(columns))
    found = found[np.lexsort((~np.signbit(found[:, 0]), found[:, 0]))]
    is_last = np.ones(len(found), dtype=bool)
    is_last[:-1] = found[1:, 0] != found[:-1, 0]
    of_all = found[is_last, 0].astype(values.dtype)
    return of_all if weight_up_to is None else (of_all, np.cumsum(found[:, 1])[is_last])


def places(keys):
    """The place of each of some things in the order of all of them by key, and their number.

    Parameters
    ----------
    keys : ndarray of shape (n,), dtype uint64
        Ascending.

    Returns
    -------
    places : ndarray of shape (n,), dtype intp
        Ascending; different where keys are equal.
    n : int
    """
    reducer = _reducer.get()
    if reducer is None:
        return np.arange(len(keys)), len(keys)
    everything, first = _placed(keys, reducer)
    place = np.empty(len(everything), dtype=np.intp)
    place[np.argsort(everything, kind="stable")] = np.arange(len(everything))
    return place[first : first + len(keys)], len(everything)


def from_first(value):
    """An integer as the first rank has it."""
    reducer = _reducer.get()
    return value if reducer is None else count(value if reducer.rank == 0 else 0)


def check_same(numbers):
    """Raise ValueError unless integers are the same everywhere: a dict, by what they say."""
    reducer = _reducer.get()
    if reducer is None:
        return
    values = np.array(list(numbers.values()), dtype=np.int64)
    ends = np.concatenate([values, -values])
    reducer.max(ends)
    most, least = ends[: len(values)], -ends[len(values) :]
    for name, low, high in zip(numbers, least, most, strict=True):
        if low != high:
            raise ValueError(f"The ranks of a fit differ in {name}: from {low} to {high}.")


def _words(values, weights=None, absolute=False, n_threads=1):
    """The words of a sum over the rows that are here: ndarray of shape (1, WORDS), dtype int64."""
    if len(values) < NUMBERS_PER_THREAD:
        n_threads = 1
    words = np.empty((n_threads, _exact.WORDS), dtype=np.int64)
    weights = NO_WEIGHTS if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    _exact.add(np.ascontiguousarray(values, dtype=np.float64), weights, absolute, words)
    return words[:1]


def _each_dot(values, weights, n_threads):
    """`dot` of each row of a matrix, or its sum where there are no weights."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    words = np.empty((len(values), _exact.WORDS), dtype=np.int64)
    n_threads = n_threads if values.size >= NUMBERS_PER_THREAD else 1
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    _exact.add_each(values, weights, words, n_threads)
    return _rounded(words)


def _rounded(words):
    """Sums over all rows, each as the nearest number of 64 bits."""
    words = merged(words)
    sums = np.empty(len(words))
    _exact.rounded(words, sums)
    return sums
