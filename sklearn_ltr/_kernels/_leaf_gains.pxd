# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a leaf gains at every threshold of a feature; see _leaf_gains.pyx."""

from sklearn_ltr._kernels._split cimport Node, Rules, Side


cdef void add_gains(
    const long long* cells, const long long* counts, Py_ssize_t n_bins, int direction, Side missing,
    const Node* node, const Rules* rules, bint at_most, double* gains
) noexcept nogil

cdef bint gain_of(
    long long left, long long left_count, int direction, const Node* node, const Rules* rules,
    double before, double* gain
) noexcept nogil

cdef double fit_of(const Node* node, const Rules* rules) noexcept nogil
