# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lists of preference pairs.

Serves `pairs.py` and `labels.py`.
"""


def list_pairs(
    const double[::1] y,                    # IN, (n_samples,), rows grouped by query
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const unsigned char[::1] ties,          # IN, (n_queries,), list pairs of equal grades, too
    int[::1] winner,                        # OUT, (n_pairs,)
    int[::1] loser,                         # OUT, (n_pairs,)
):
    """Rows of every pair of a query with different grades, queries in order, and of ties.

    In one thread: where the pairs of a query begin depends on all queries before it.
    """
    cdef Py_ssize_t q, i, j
    cdef Py_ssize_t p = 0
    with nogil:
        for q in range(offsets.shape[0] - 1):
            for i in range(offsets[q], offsets[q + 1]):
                for j in range(offsets[q], offsets[q + 1]):
                    if y[i] > y[j] or (ties[q] and i > j and y[i] == y[j]):
                        winner[p] = <int>i
                        loser[p] = <int>j
                        p += 1
