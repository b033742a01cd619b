# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause

from libc.stdint cimport int64_t


cdef struct Row:
    double score
    double tie      # the smaller comes first among equal scores
    double value    # what comes with the row: its gain, 1 if it is relevant, or its number


cdef int64_t sort_rows(Row[::1] work, Py_ssize_t n) noexcept nogil
