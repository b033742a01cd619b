# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause

cdef extern from *:
    # Arrays that do not overlap, as the compiler must know to use SIMD.
    ctypedef const double* in_t "const double* CYTHON_RESTRICT"
    ctypedef double* out_t "double* CYTHON_RESTRICT"


cdef void pairs_within(
    Py_ssize_t m, double factor, const double* gain, double* gradient, double* curvature,
    double* total,
) noexcept nogil


cdef void pairs_below(
    Py_ssize_t n, double score, double gain, double alpha, double f, double reference,
    double offset, double slope, in_t scores, in_t gains, in_t weights, in_t beta, out_t pull,
    out_t bend, out_t gradient, out_t curvature, out_t total,
) noexcept nogil


cdef double sum_of(const double* values, Py_ssize_t n) noexcept nogil
