# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The order of the rows of each query that most violates the margin of average precision.

Serves `rankers/svmmap.py`.

Relevant rows i = 1..p and irrelevant rows k = 1..m are each in descending order of their scores s
and t, and stay so. Behind a_k relevant rows, row k adds the sum over i > a_k of

    i / (p (i + k - 1) (i + k)) - 2 (s_i - t_k) / (p m)

to the loss less the margin. The terms fall as k grows, so that the best a_k, the largest of equals,
does not fall: the middle k is settled first, and bounds those before and after it.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport Row


cdef void place(
    const double* s,            # IN, (p,)
    const double* t,            # IN, (m,)
    double p,
    double m,
    Py_ssize_t first,           # irrelevant rows to place, from 0
    Py_ssize_t stop,
    Py_ssize_t low,             # bounds of where
    Py_ssize_t high,
    Py_ssize_t* ahead,          # OUT, (m,), number of relevant rows ahead of each
) noexcept nogil:
    cdef Py_ssize_t k, i, best
    cdef double total, most
    while first < stop:
        k = (first + stop) // 2
        best = high
        total = most = 0
        for i in range(high, low, -1):
            total += i / (p * (i + k) * (i + k + 1)) - 2 * (s[i - 1] - t[k]) / (p * m)
            if total > most:
                most = total
                best = i - 1
        ahead[k] = best
        place(s, t, p, m, first, k, low, best, ahead)
        first = k + 1
        low = best


cdef double of_query(
    const double[::1] scores,
    const unsigned char[::1] relevant,
    Py_ssize_t start,
    Py_ssize_t stop,
    Row[::1] work,
    double[::1] ordered,
    Py_ssize_t[::1] row,
    Py_ssize_t[::1] ahead,
    double[::1] weight,
) noexcept nogil:
    """Fill the weights of one query's rows and return its loss."""
    cdef Py_ssize_t n = stop - start, p = 0, i, k, after_relevant, next_relevant = start
    cdef double loss = 0, unit
    for i in range(n):
        work[i].score = scores[start + i]
        work[i].tie = i
        work[i].value = start + i
        p += relevant[start + i]
    sort_rows(work, n)
    after_relevant = start + p
    for k in range(n):
        i = <Py_ssize_t>work[k].value
        if relevant[i]:
            ordered[next_relevant] = work[k].score
            row[next_relevant] = i
            next_relevant += 1
        else:
            ordered[after_relevant] = work[k].score
            row[after_relevant] = i
            after_relevant += 1
    place(&ordered[start], &ordered[start] + p, p, n - p, 0, n - p, 0, p, &ahead[start])
    unit = 2.0 / (<double>p * (n - p))
    k = 0
    for i in range(p):
        # Of the irrelevant rows those before k are ahead of relevant row i.
        while k < n - p and ahead[start + k] <= i:
            weight[row[start + p + k]] = -unit * (p - ahead[start + k])
            k += 1
        loss += <double>k / (i + 1 + k)
        weight[row[start + i]] = unit * k
    while k < n - p:
        weight[row[start + p + k]] = 0
        k += 1
    return loss / p


def most_violated(
    const double[::1] scores,           # IN, (n_samples,)
    const unsigned char[::1] relevant,  # IN, (n_samples,), 1 or 0, both in each query
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    int n_threads,
    Row[::1] work,                      # OUT, scratch, twice the longest query a thread
    double[::1] ordered,                # OUT, scratch, (n_samples,)
    Py_ssize_t[::1] row,                # OUT, scratch, (n_samples,)
    Py_ssize_t[::1] ahead,              # OUT, (n_samples,), the first of each query: number of
                                        #     relevant rows ahead of its irrelevant ones, by
                                        #     descending score
    double[::1] weight,                 # OUT, (n_samples,): times scores and summed, by how much
                                        #     the right order is ahead of the most violating one
    double[::1] loss,                   # OUT, (n_queries,), 1 less the average precision of that
):
    """The order of each query of the largest loss less margin."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(loss.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        loss[q] = of_query(
            scores, relevant, offsets[q], offsets[q + 1],
            work[threadid() * share:(threadid() + 1) * share],
            ordered, row, ahead, weight,
        )
