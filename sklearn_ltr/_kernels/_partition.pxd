# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a node by the side of its split; see _partition.pyx."""

from sklearn_ltr._kernels._split cimport CodeSet, Split
from sklearn_ltr._kernels._types cimport code_t


cdef struct Cut:
    Py_ssize_t column           # of the codes of a block
    unsigned int first_right    # the first code on the right
    unsigned int n_right        # how many codes from there on are, too
    const CodeSet* right        # of a categorical feature: the codes on the right; else NULL


cdef Cut cut_of(
    const Split* split, Py_ssize_t n_bins, Py_ssize_t width, bint categorical
) noexcept nogil

cdef Py_ssize_t partition(
    const code_t[:, ::1] codes, Cut cut, unsigned int* rows, Py_ssize_t n, unsigned int* buffer,
    int n_threads
) noexcept nogil

cdef long long count_left(
    const code_t[:, ::1] codes, Cut cut, const unsigned int* rows, Py_ssize_t n,
    const long long[::1] counts
) noexcept nogil

cdef Py_ssize_t rows_left(
    const code_t[:, ::1] codes, Cut cut, const unsigned int* rows, Py_ssize_t n
) noexcept nogil
