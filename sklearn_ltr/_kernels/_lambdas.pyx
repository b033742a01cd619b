# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of LambdaRank: sums over the pairs of a query, each times what its swap changes.

Serves `losses/lambdas.py`.
"""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport prange, threadid
from libc.math cimport M_LN2, exp, log1p

from sklearn_ltr._kernels._lambda_pairs cimport pairs_below, pairs_within, sum_of
from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._swaps cimport expected_changes, tie_end
from sklearn_ltr._kernels._types cimport Row


cdef enum:
    LARGEST_EXPONENT = 300  # of weights relative to the reference score
    PAIRS_AT_A_TIME = 1 << 26   # a thread goes through, or so, before an interrupt is heard


cdef struct Progress:       # of a query
    Py_ssize_t row          # of those sorted, the next whose pairs are to be added
    Py_ssize_t end          # of the rows tied with it, 0 before the first
    double reference        # the score that weights are relative to
    double value            # the metric


cdef void start_query(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, double sigmoid,
    Row[::1] work, double[:, ::1] arrays, Progress* progress,
) noexcept nogil:
    """Prepare a query whose rows, in `work`, are sorted."""
    cdef double* score = &arrays[0, 0]
    cdef double* gain = &arrays[1, 0]
    cdef Py_ssize_t i
    progress.row = progress.end = 0
    progress.reference = work[0].score
    for i in range(n):
        score[i] = work[i].score
        gain[i] = -work[i].tie
        arrays[2, i] = exp(sigmoid * (score[i] - progress.reference))
        arrays[8, i] = arrays[9, i] = arrays[10, i] = 0
    progress.value = expected_changes(
        kind, n, T, discount, score, gain, &arrays[3, 0], &arrays[4, 0], &arrays[5, 0],
        &arrays[11, 0],
    )


cdef bint add_pairs(
    Py_ssize_t n, Py_ssize_t T, double sigmoid, bint query_norm, Py_ssize_t most,
    double[:, ::1] arrays, Progress* progress,
) noexcept nogil:
    """Add the pairs of the rows that come next, about `most`; returns whether all are added."""
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
    cdef Py_ssize_t i, j, end = progress.end
    cdef bint by_gap = query_norm and score[0] != score[n - 1]
    cdef double offset = 0.01 if by_gap else 1, slope = 1 if by_gap else 0
    for i in range(progress.row, n):
        if i == end:
            if i >= T:
                return True
            end = tie_end(score, n, i)
            if omega[i] > 0:
                pairs_within(
                    end - i, omega[i] / offset, gain + i, gradient + i, curvature + i, total + i
                )
            if sigmoid * (progress.reference - score[i]) > LARGEST_EXPONENT:
                progress.reference = score[i]
                for j in range(i, n):
                    weight[j] = exp(sigmoid * (score[j] - progress.reference))
        if alpha[i] == 0 and f[i] == 0:
            continue
        pairs_below(
            n - end, score[i], gain[i], alpha[i], f[i], 1 / weight[i], offset, slope, score + end,
            gain + end, weight + end, beta + end, pull, bend, gradient + end, curvature + end,
            total + end,
        )
        gradient[i] -= sum_of(pull, n - end)
        curvature[i] += sum_of(bend, n - end)
        most -= n - end
        if most < 0:
            progress.row, progress.end = i + 1, end
            return i + 1 == n
    return True


cdef void finish_query(
    Py_ssize_t n, double sigmoid, bint query_norm, double scale, Row[::1] work,
    double[:, ::1] arrays, double* gradient_out, double* curvature_out,
) noexcept nogil:
    cdef double both_sides = 2 * sigmoid * sum_of(&arrays[10, 0], n)
    cdef Py_ssize_t i, j
    if query_norm and both_sides > 0:
        scale *= log1p(both_sides) / (M_LN2 * both_sides)
    for i in range(n):
        j = <Py_ssize_t>work[i].value
        gradient_out[j] = scale * sigmoid * arrays[8, i]
        curvature_out[j] = scale * sigmoid * sigmoid * arrays[9, i]


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


cdef void whole_query(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, double sigmoid, bint query_norm,
    double scale, Row[::1] work, double[:, ::1] arrays, double* gradient, double* curvature,
    double* value,
) noexcept nogil:
    cdef Progress progress
    start_query(kind, n, T, discount, sigmoid, work, arrays, &progress)
    add_pairs(n, T, sigmoid, query_norm, n * n, arrays, &progress)
    finish_query(n, sigmoid, query_norm, scale, work, arrays, gradient, curvature)
    value[0] = progress.value


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
    cdef Py_ssize_t n_queries = offsets.shape[0] - 1, share = work.shape[0] // n_threads
    cdef Py_ssize_t q, n, pairs, first = 0, last = 0
    cdef Progress progress
    cdef bint done
    gradient[:] = 0
    curvature[:] = 0
    while first < n_queries:
        PyErr_CheckSignals()    # an interrupt ends the work between two parts of it
        pairs = 0
        while last < n_queries and (pairs == 0 or pairs < n_threads * PAIRS_AT_A_TIME):
            n = offsets[last + 1] - offsets[last]
            pairs += n * min(truncation_level, n)
            last += 1
        if last > first + 1 or pairs <= PAIRS_AT_A_TIME:
            for q in prange(first, last, schedule="guided", nogil=True, num_threads=n_threads):
                n = offsets[q + 1] - offsets[q]
                if load_query(
                    scores, gains, offsets[q], n,
                    work[threadid() * share:(threadid() + 1) * share],
                ):
                    whole_query(
                        kind, n, min(truncation_level, n), &discounts[0], sigmoid, query_norm,
                        query_weight[q], work[threadid() * share:(threadid() + 1) * share],
                        arrays[threadid()], &gradient[offsets[q]], &curvature[offsets[q]],
                        &value[q],
                    )
        elif load_query(scores, gains, offsets[first], n, work):
            start_query(
                kind, n, min(truncation_level, n), &discounts[0], sigmoid, work, arrays[0],
                &progress,
            )
            done = False
            while not done:
                PyErr_CheckSignals()
                with nogil:
                    done = add_pairs(
                        n, min(truncation_level, n), sigmoid, query_norm, PAIRS_AT_A_TIME,
                        arrays[0], &progress,
                    )
            finish_query(
                n, sigmoid, query_norm, query_weight[first], work, arrays[0],
                &gradient[offsets[first]], &curvature[offsets[first]],
            )
            value[first] = progress.value
        first = last
