# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of LambdaRank: sums over the pairs of a query, each times what its swap changes.

Serves `losses/lambdas.py`.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport M_LN2, exp, fabs, fmax, log1p

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._swaps cimport expected_changes, tie_end
from sklearn_ltr._kernels._types cimport Row


cdef enum:
    LARGEST_EXPONENT = 300  # of weights relative to the reference score


cdef extern from *:
    # Arrays that do not overlap, as the compiler must know to use SIMD.
    ctypedef const double* in_t "const double* CYTHON_RESTRICT"
    ctypedef double* out_t "double* CYTHON_RESTRICT"


cdef void pairs_within(
    Py_ssize_t m, double factor, const double* gain, double* gradient, double* curvature,
    double* total,
) noexcept nogil:
    """Add the pairs of tied rows, which come by descending gain, in O(m).

    Their probabilities are 1/2.
    """
    cdef Py_ssize_t j
    cdef double gains = 0, part = 0
    for j in range(m):                  # pairs that j loses
        if j == 0 or gain[j] != gain[j - 1]:
            part = 0.5 * factor * fmax(gains - j * gain[j], 0)
        gradient[j] += part
        curvature[j] += 0.5 * part
        total[j] += part
        gains += gain[j]
    gains = 0
    for j in range(m - 1, -1, -1):      # pairs that j wins
        if j == m - 1 or gain[j] != gain[j + 1]:
            part = 0.5 * factor * fmax((m - 1 - j) * gain[j] - gains, 0)
        gradient[j] -= part
        curvature[j] += 0.5 * part
        gains += gain[j]


cdef void pairs_below(
    Py_ssize_t n, double score, double gain, double alpha, double f, double reference,
    double offset, double slope, in_t scores, in_t gains, in_t weights, in_t beta, out_t pull,
    out_t bend, out_t gradient, out_t curvature, out_t total,
) noexcept nogil:
    """Add the pairs of one row with n rows of lower scores: to theirs, and in `pull` and `bend`.

    Without branches and sums over rows, so that it compiles to SIMD instructions.
    """
    cdef Py_ssize_t j
    cdef double odds, gap, inverse, difference, delta, push
    for j in range(n):
        odds = weights[j] * reference           # exp(-(score - scores[j])), without an exp
        gap = offset + slope * (score - scores[j])
        inverse = 1 / ((1 + odds) * gap)
        difference = gain - gains[j]
        delta = alpha + f * beta[j]             # below 0 by rounding only
        delta = (delta if delta > 0 else 0) * inverse
        push = difference * delta * (odds if difference > 0 else 1.0)
        pull[j] = push
        bend[j] = fabs(difference) * delta * odds * inverse * gap
        gradient[j] += push
        total[j] += fabs(push)
        curvature[j] += bend[j]


cdef inline double sum_of(const double* values, Py_ssize_t n) noexcept nogil:
    cdef double a = 0, b = 0, c = 0, d = 0
    cdef Py_ssize_t j
    for j in range(0, n - 3, 4):
        a += values[j]
        b += values[j + 1]
        c += values[j + 2]
        d += values[j + 3]
    for j in range(n - n % 4, n):
        a += values[j]
    return (a + b) + (c + d)


cdef double query_lambdas(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, double sigmoid, bint query_norm,
    double scale, Row[::1] work, double[:, ::1] arrays, double* gradient_out, double* curvature_out,
) noexcept nogil:
    """Gradients of one query whose rows, in `work`, are sorted; returns its metric."""
    cdef double* score = &arrays[0, 0]
    cdef double* gain = &arrays[1, 0]
    cdef double* weight = &arrays[2, 0]
    cdef double* alpha = &arrays[3, 0]
    cdef double* f = &arrays[4, 0]
    cdef double* beta = &arrays[5, 0]
    cdef double* pull = &arrays[6, 0]
    cdef double* bend = &arrays[7, 0]
    cdef double* gradient = &arrays[8, 0]
    cdef double* curvature = &arrays[9, 0]
    cdef double* total = &arrays[10, 0]
    cdef double* omega = &arrays[11, 0]
    cdef Py_ssize_t i, j, end = 0
    cdef bint by_gap = query_norm and work[0].score != work[n - 1].score
    cdef double offset = 0.01 if by_gap else 1, slope = 1 if by_gap else 0
    cdef double reference = work[0].score, both_sides, value
    for i in range(n):
        score[i] = work[i].score
        gain[i] = -work[i].tie
        gradient[i] = curvature[i] = total[i] = 0
        weight[i] = exp(sigmoid * (score[i] - reference))
    value = expected_changes(kind, n, T, discount, score, gain, alpha, f, beta, omega)
    for i in range(n):
        if i == end:
            if i >= T:
                break
            end = tie_end(score, n, i)
            if omega[i] > 0:
                pairs_within(
                    end - i, omega[i] / offset, gain + i, gradient + i, curvature + i, total + i
                )
            if sigmoid * (reference - score[i]) > LARGEST_EXPONENT:
                reference = score[i]
                for j in range(i, n):
                    weight[j] = exp(sigmoid * (score[j] - reference))
        if alpha[i] == 0 and f[i] == 0:
            continue
        pairs_below(
            n - end, score[i], gain[i], alpha[i], f[i], 1 / weight[i], offset, slope, score + end,
            gain + end, weight + end, beta + end, pull, bend, gradient + end, curvature + end,
            total + end,
        )
        gradient[i] -= sum_of(pull, n - end)
        curvature[i] += sum_of(bend, n - end)
    both_sides = 2 * sigmoid * sum_of(total, n)
    if query_norm and both_sides > 0:
        scale *= log1p(both_sides) / (M_LN2 * both_sides)
    for i in range(n):
        j = <Py_ssize_t>work[i].value
        gradient_out[j] = scale * sigmoid * gradient[i]
        curvature_out[j] = scale * sigmoid * sigmoid * curvature[i]
    return value


cdef bint load_query(
    const double[::1] scores, const double[::1] gains, Py_ssize_t start, Py_ssize_t n,
    Row[::1] work,
) noexcept nogil:
    """Sort a query by score, then gain; False, unsorted, if its rows are of one gain."""
    cdef Py_ssize_t i
    cdef bint differ = False
    for i in range(n):
        work[i].score = scores[start + i]
        work[i].tie = -gains[start + i]
        work[i].value = i
        differ |= gains[start + i] != gains[start]
    if differ:
        sort_rows(work, n)
    return differ


def lambdas(
    const double[::1] scores,           # IN, (n_samples,)
    const double[::1] gains,            # IN, (n_samples,), not negative, over the ideal value
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    const double[::1] query_weight,     # IN, (n_queries,)
    const double[::1] discounts,        # IN, of positions 1, 2, ...; 0 after the cut-off
    int kind,
    Py_ssize_t truncation_level,        # positions that may be the upper one of a pair
    double sigmoid,
    bint query_norm,
    int n_threads,
    Row[::1] work,                      # OUT, scratch: twice the longest query for each thread
    double[:, :, ::1] arrays,           # OUT, scratch, (n_threads, LAMBDA_ARRAYS, longest query)
    double[::1] gradient,               # OUT, (n_samples,)
    double[::1] curvature,              # OUT, (n_samples,)
    double[::1] value,                  # OUT, (n_queries,), the metric; kept where gains are equal
):
    """Gradient and curvature of each row: O(n log n + T n) for a query of n rows."""
    cdef Py_ssize_t q, start, n, i, share = work.shape[0] // n_threads
    for q in prange(offsets.shape[0] - 1, schedule="guided", nogil=True, num_threads=n_threads):
        start = offsets[q]
        n = offsets[q + 1] - start
        if load_query(
            scores, gains, start, n, work[threadid() * share:(threadid() + 1) * share]
        ):
            value[q] = query_lambdas(
                kind, n, min(truncation_level, n), &discounts[0], sigmoid, query_norm,
                query_weight[q], work[threadid() * share:(threadid() + 1) * share],
                arrays[threadid()], &gradient[start], &curvature[start],
            )
        else:
            for i in range(start, start + n):
                gradient[i] = 0
                curvature[i] = 0
