# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in text; see _numbers.pyx."""

ctypedef const unsigned char* letters_t

cdef letters_t parse_integer(letters_t at, long long* value) noexcept nogil

cdef letters_t parse_float(letters_t at, double* value) except? NULL nogil
