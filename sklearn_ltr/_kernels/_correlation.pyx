# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many pairs of a query with different grades its scores order rightly and wrongly.

Serves `metrics/correlation.py` and `metrics/pairwise.py`.

Pairs are counted, never listed: O(n log n) for a query of n rows, in 64-bit integers.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int64_t

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport Row


cdef void query_pairs(
    const double[::1] y,            # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Row[::1] work,                  # OUT, scratch
    int64_t[:] counts,              # OUT, pairs of different grades; those wrong; those tied
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int64_t pairs = n * (n - 1) // 2, tied = 0, same_score = 0, same_grade = 0
    for i in range(n):
        work[i].score = scores[start + i]
        # Of equal scores the higher grade first, so that none of their pairs looks wrong.
        work[i].tie = -y[start + i]
    sort_rows(work, n)
    for i in range(n):
        if i == 0 or work[i].score != work[i - 1].score:
            same_score = same_grade = 0
        elif work[i].tie != work[i - 1].tie:
            same_grade = 0
        tied += same_score - same_grade
        same_score += 1
        same_grade += 1
    for i in range(n):
        work[i].score = -work[i].tie
        work[i].tie = 0
    counts[1] = sort_rows(work, n)
    same_grade = 0
    for i in range(1, n):
        same_grade = same_grade + 1 if work[i].score == work[i - 1].score else 0
        pairs -= same_grade
    counts[0] = pairs
    counts[2] = tied


def count_pairs(
    const double[::1] y,                # IN, finite
    const double[::1] scores,           # IN, finite
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch, twice the longest query for each thread
    int64_t[:, ::1] counts,             # OUT, (n_queries, 3)
):
    """Pairs of different grades of each query: all, those in the wrong order, those tied."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(counts.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        query_pairs(
            y, scores, offsets[q], offsets[q + 1] - offsets[q],
            work[threadid() * share:(threadid() + 1) * share],
            counts[q],
        )


cdef int64_t sum_below(const int64_t[::1] tree, Py_ssize_t level) noexcept nogil:
    """Number of added rows whose grade has a number below `level`."""
    cdef int64_t total = 0
    while level > 0:
        total += tree[level]
        level -= level & -level
    return total


def count_wide_pairs(
    const double[::1] scores,           # IN, descending within each query
    const Py_ssize_t[::1] levels,       # IN, number of the row's grade among those of its query
    const Py_ssize_t[::1] offsets,      # IN
    double gap,                         # positive
    int64_t[::1] tree,                  # OUT, scratch, one more than the longest query
):
    """Pairs of different grades whose scores differ by at least `gap`: those right, those wrong.

    In one thread, as the function that it serves takes no number of threads.
    """
    cdef Py_ssize_t q, i, j, level, n_levels
    cdef int64_t right = 0, wrong = 0, upto
    with nogil:
        for q in range(offsets.shape[0] - 1):
            n_levels = 0
            for j in range(offsets[q], offsets[q + 1]):
                n_levels = max(n_levels, levels[j] + 1)
            tree[:n_levels + 1] = 0
            # Rows i of scores at least `gap` above that of row j: ever more as j goes down.
            i = offsets[q]
            for j in range(offsets[q], offsets[q + 1]):
                while scores[i] - scores[j] >= gap:
                    level = levels[i] + 1
                    while level <= n_levels:
                        tree[level] += 1
                        level += level & -level
                    i += 1
                wrong += sum_below(tree, levels[j])
                upto = sum_below(tree, levels[j] + 1)
                right += i - offsets[q] - upto
    return right, wrong
