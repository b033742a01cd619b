# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of packed words over bin codes; see _histogram.pyx."""

from sklearn_ltr._kernels._types cimport code_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define LTR_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define LTR_PREFETCH(address) ((void) (address))
    #endif
    """
    void prefetch "LTR_PREFETCH"(const void* address) noexcept nogil

cdef enum:
    AHEAD = 16  # rows that are prefetched before their turn; row lists have as many to spare

cdef void add_rows(
    const code_t* codes, const unsigned int* rows, const long long* words, Py_ssize_t n,
    const Py_ssize_t* starts, long long* histogram
) noexcept nogil

cdef void subtract(
    const long long* child, Py_ssize_t start, Py_ssize_t stop, long long* parent
) noexcept nogil
