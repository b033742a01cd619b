# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause

from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport Row


cdef int64_t sort_rows(Row[::1] work, Py_ssize_t n) noexcept nogil
