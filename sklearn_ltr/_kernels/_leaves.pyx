# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a tree before and after it is grown: packed words, sums of leaves, values.

Serves `weak/tree.py`.
"""

from cython.parallel cimport prange
from libc.math cimport copysign

from sklearn_ltr._kernels._types cimport code_t


cdef inline long long fixed(double value, double scale) noexcept nogil:
    """The nearest integer, halves away from zero."""
    value = value * scale
    return <long long>(value + copysign(0.5, value))


def pack(
    const double[::1] target,       # IN, by row
    const double[::1] weight,       # IN, by row; or empty: all 1
    bint whole,                     # whether all weights are whole: a row of weight w is w rows
    const unsigned int[::1] rows,   # IN
    Py_ssize_t n,                   # how many of `rows`
    double scale,                   # of the target
    double weight_scale,
    int shift,                      # bits of the low sum
    long long[::1] words,           # OUT, by row
    int n_threads,
):
    """Weighted target and weight of rows as integers in one word."""
    cdef Py_ssize_t i
    cdef unsigned int row
    cdef double w
    for i in prange(n, schedule="static", nogil=True, num_threads=n_threads):
        row = rows[i]
        if weight.shape[0] == 0:
            words[row] = fixed(target[row], scale) * (1LL << shift) + 1
        elif whole:
            w = weight[row]
            words[row] = <long long>w * fixed(target[row], scale) * (1LL << shift) + <long long>w
        else:
            w = weight[row]
            # A row counts, however light it is.
            words[row] = (
                fixed(w * target[row], scale) * (1LL << shift) + max(fixed(w, weight_scale), 1)
            )


def sum_leaves(
    const double[::1] values,       # IN, by row
    const double[::1] weight,       # IN, by row; or empty: all 1
    bint whole,                     # whether all weights are whole: a row of weight w is w rows
    double scale,
    const unsigned int[::1] rows,   # IN, leaf after leaf
    const Py_ssize_t[::1] start,    # IN, (n_leaves,)
    const Py_ssize_t[::1] stop,     # IN
    long long[::1] sums,            # OUT, times the scale
    int n_threads,
):
    """Sum of weight * value over the rows of each leaf, in fixed point: in any order the same."""
    cdef Py_ssize_t i, leaf
    cdef long long total
    for leaf in prange(sums.shape[0], schedule="dynamic", nogil=True, num_threads=n_threads):
        total = 0
        for i in range(start[leaf], stop[leaf]):
            if weight.shape[0] == 0:
                total = total + fixed(values[rows[i]], scale)
            elif whole:
                total = total + <long long>weight[rows[i]] * fixed(values[rows[i]], scale)
            else:
                total = total + fixed(weight[rows[i]] * values[rows[i]], scale)
        sums[leaf] = total


def add_values(
    const double[::1] values,       # IN, (n_leaves,)
    const unsigned int[::1] rows,   # IN, leaf after leaf
    const Py_ssize_t[::1] start,    # IN
    const Py_ssize_t[::1] stop,     # IN
    double[::1] scores,             # IN/OUT, by row
    int n_threads,
):
    """Add the value of its leaf to each row."""
    cdef Py_ssize_t i, leaf
    for leaf in prange(values.shape[0], schedule="dynamic", nogil=True, num_threads=n_threads):
        for i in range(start[leaf], stop[leaf]):
            scores[rows[i]] += values[leaf]


def apply(
    const code_t[:, :, ::1] codes,
    const Py_ssize_t[::1] n_bins,
    const int[::1] feature,
    const int[::1] bin,
    const int[::1] left,
    const unsigned char[::1] missing_right,
    const unsigned char[::1] categorical,   # IN, (n_features,)
    const unsigned int[:, ::1] categories,  # IN, (n_nodes, 8) codes on the right, a bit each; or
                                            # empty, if no node splits on a categorical feature
    int[::1] leaves,                # OUT, the node of each row's leaf
    int n_threads,
):
    """Send coded rows down a tree."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t i, k
    cdef int node, code
    for i in prange(leaves.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        node = 0
        while feature[node] >= 0:
            k = feature[node]
            code = codes[k // width, i, k % width]
            if code == n_bins[k]:
                node = left[node] + missing_right[node]
            elif categorical[k]:
                node = left[node] + ((categories[node, code >> 5] >> (code & 31)) & 1)
            else:
                node = left[node] + (code > bin[node])
        leaves[i] = node
