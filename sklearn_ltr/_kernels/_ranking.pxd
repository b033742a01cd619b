# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a query in the order of their scores; see _ranking.pyx."""

from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport Row


cdef int64_t sort_rows(Row[::1] work, Py_ssize_t n) noexcept nogil

cdef Py_ssize_t rank_top(
    const double[::1] values, const double[::1] scores, Py_ssize_t start, Py_ssize_t n,
    Py_ssize_t k, int ties, Row[::1] work
) noexcept nogil
