# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Weights of listed preference pairs for the exponential loss, and their sums over rows.

Serves `losses/exponential.py`.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, exp


def explicit_log_weights(
    const double[::1] scores,               # IN, (n_samples,)
    pairs,                                  # IN, (winner, loser, distance, pair offsets)
    const double[::1] log_query_weight,     # IN, (n_queries,)
    const double[::1] log_pair_weight,      # IN, (n_pairs,), or empty for 0
    double[::1] log_weight,                 # OUT, (n_pairs,)
    double[::1] largest,                    # OUT, (n_queries,), -inf without pairs
    int n_threads,
):
    """Log weight of each pair, and the largest of each query."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const double[::1] distance = pairs[2]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[3]
    cdef Py_ssize_t q, p
    cdef double most
    for q in prange(largest.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        most = -INFINITY
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            log_weight[p] = log_query_weight[q] - distance[p] * (
                scores[winner[p]] - scores[loser[p]]
            )
            if log_pair_weight.shape[0] > 0:
                log_weight[p] += log_pair_weight[p]
            most = max(most, log_weight[p])
        largest[q] = most


def explicit_sums(
    pairs,                                  # IN, as for `explicit_log_weights`
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    double log_scale,                       # IN, M
    bint squared,                           # IN, weigh by the squared distance
    double[::1] weight,                     # IN, log weights; OUT, weights
    double[::1] gradient,                   # OUT, (n_samples,)
    double[::1] degree,                     # OUT, (n_samples,)
    double[::1] loss,                       # OUT, (n_queries,)
    int n_threads,
):
    """Weight of each pair, and for each row the sums over its pairs."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const double[::1] distance = pairs[2]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[3]
    cdef Py_ssize_t q, p, i
    cdef double w, pull, total
    for q in prange(loss.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        for i in range(offsets[q], offsets[q + 1]):
            gradient[i] = 0
            degree[i] = 0
        total = 0
        for p in range(pair_offsets[q], pair_offsets[q + 1]):
            w = exp(weight[p] - log_scale)
            pull = w * distance[p]
            total = total + w
            if squared:
                w = pull * distance[p]
            weight[p] = w
            gradient[winner[p]] -= pull
            gradient[loser[p]] += pull
            degree[winner[p]] += w
            degree[loser[p]] += w
        loss[q] = total
