# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms from the cells with uncommon codes; see _uncommon.pyx."""

cdef void add_uncommon(
    const long long* indptr, const unsigned int* slots, const unsigned int* rows,
    const long long* words, Py_ssize_t n, long long* histogram
) noexcept nogil

cdef void fill_common(
    Py_ssize_t common, Py_ssize_t first, Py_ssize_t last, long long total, long long* histogram
) noexcept nogil
