# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the squared hinge over all pairs of a query, without listing them.

Serves `losses/hinge_sums.py`.

The pair of a winner i and a loser j has m = b_i + tau - b_j, and counts where m > 0. Going through
winners by ascending threshold b_i + tau, with the losers below it in a Fenwick tree over grades,
gives the sums of each winner; the same sweep with signs turned gives those of each loser.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport sort_rows
from sklearn_ltr._kernels._types cimport HingeNode, Row


cdef inline void raise_to(HingeNode* node, double at) noexcept nogil:
    """Move to a threshold that is no lower. No term is negative, so that no digits cancel."""
    cdef double d = at - node.at
    node.square += d * (2 * node.sum + d * node.count)
    node.sum += d * node.count
    node.at = at


cdef double sweep(
    const Row[::1] rows,                # IN, ascending b, which is -score; value is the row
    const double[::1] weight,           # IN, (n_samples,), of the pairs that a row wins
    Py_ssize_t n,
    const int[::1] level,               # IN, (n_samples,)
    int top,                            # largest level of the query
    double tau,
    bint of_losers,                     # sums of losers over winners, not of winners over losers
    HingeNode[::1] nodes,                    # OUT, scratch, more than `top`
    Py_ssize_t[::1] reach,              # OUT, if of winners, see `hinge_sums`
    double[:, ::1] out,                 # IN, OUT, see `hinge_sums`
) noexcept nogil:
    """Add the sums of all winners, or of all losers, and return that of m^2."""
    cdef Py_ssize_t k, p, i, node, entered = 0
    cdef double at, key, m, count, factor, total = 0
    for k in range(1, top + 1):
        nodes[k].at = nodes[k].sum = nodes[k].square = nodes[k].count = 0
    for k in range(n):
        p = n - 1 - k if of_losers else k
        at = rows[p].score if of_losers else tau - rows[p].score
        while entered < n:
            p = n - 1 - entered if of_losers else entered
            key = rows[p].score - tau if of_losers else -rows[p].score
            if not key < at:
                break
            i = <Py_ssize_t>rows[p].value
            node = 1 + (top - level[i] if of_losers else level[i])
            while node <= top:
                raise_to(&nodes[node], key)
                nodes[node].count += weight[i] if of_losers else 1
                node += node & -node
            entered += 1
        if not of_losers:
            reach[k] = entered
        p = n - 1 - k if of_losers else k
        i = <Py_ssize_t>rows[p].value
        node = top - level[i] if of_losers else level[i]
        m = count = 0
        factor = 1 if of_losers else weight[i]
        while node > 0:
            raise_to(&nodes[node], at)
            m += nodes[node].sum
            total += factor * nodes[node].square
            count += nodes[node].count
            node &= node - 1
        out[0, i] += m if of_losers else -factor * m
        out[1, i] += factor * count
    return total


cdef double query_sums(
    const double[::1] b,
    const double[::1] weight,
    const int[::1] level,
    Py_ssize_t start,
    Py_ssize_t stop,
    double tau,
    Row[::1] work,
    HingeNode[::1] nodes,
    Py_ssize_t[::1] order,
    Py_ssize_t[::1] reach,
    double[:, ::1] out,
) noexcept nogil:
    """Add the sums of one query's rows, and return that of m^2 / 2."""
    cdef Py_ssize_t i, k, n = 0
    cdef int top = 0
    for i in range(start, stop):
        if level[i] >= 0:
            work[n].score = -b[i]
            work[n].tie = 0
            work[n].value = i
            top = max(top, level[i])
            n += 1
        else:
            order[stop - 1 - (i - start - n)] = i
    if top > 0:
        sort_rows(work, n)
    for k in range(n):
        order[start + k] = <Py_ssize_t>work[k].value
    if top == 0:
        return 0
    sweep(work, weight, n, level, top, tau, True, nodes, reach[start:stop], out)
    return sweep(work, weight, n, level, top, tau, False, nodes, reach[start:stop], out) / 2


def hinge_sums(
    const double[::1] b,                # IN, (n_samples,)
    const double[::1] weight,           # IN, (n_samples,), of the pairs that a row wins
    const int[::1] level,               # IN, (n_samples,), number of a row's grade in its query,
                                        #     ascending from 0; -1 for a row in no pair
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    double tau,
    int n_threads,
    Row[::1] work,                      # OUT, scratch, twice the longest query a thread
    HingeNode[::1] nodes,                    # OUT, scratch, the most levels of a query a thread
    double[::1] value,                  # OUT, (n_queries,), sum of m^2 / 2
    double[:, ::1] out,                 # OUT, (2, n_samples), zeros: gradient with respect to -b,
                                        #     weights of active pairs, summed
    Py_ssize_t[::1] order,              # OUT, (n_samples,), rows of a query by ascending b, those
                                        #     in no pair last
    Py_ssize_t[::1] reach,              # OUT, (n_samples,), zeros: the first so many rows of its
                                        #     query in that order are the losers that a row, at
                                        #     its place in it, can have an active pair with
):
    """Sums over the active pairs of each query and of each row."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads, levels = nodes.shape[0] // n_threads
    for q in prange(value.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        value[q] = query_sums(
            b, weight, level, offsets[q], offsets[q + 1], tau,
            work[threadid() * share:(threadid() + 1) * share],
            nodes[threadid() * levels:(threadid() + 1) * levels],
            order, reach, out,
        )


cdef void partners(
    const int[::1] level,
    const Py_ssize_t[::1] reach,
    const double[::1] z,
    const double[::1] weight,
    bint of_losers,
    double[::1] nodes,
    double[::1] out,
) noexcept nogil:
    """Sums over the losers of each winner of a query, or over the winners of each loser."""
    cdef Py_ssize_t n = 0, k, p, other, node, entered = 0
    cdef int top = 0
    cdef double total
    while n < level.shape[0] and level[n] >= 0:
        top = max(top, level[n])
        n += 1
    for k in range(1, top + 1):
        nodes[k] = 0
    for k in range(n):
        p = n - 1 - k if of_losers else k
        while entered < n:
            other = n - 1 - entered if of_losers else entered
            if (reach[other] <= p) if of_losers else (reach[p] <= other):
                break
            node = 1 + (top - level[other] if of_losers else level[other])
            while node <= top:
                nodes[node] += z[other] * weight[other] if of_losers else z[other]
                node += node & -node
            entered += 1
        node = top - level[p] if of_losers else level[p]
        total = 0
        while node > 0:
            total += nodes[node]
            node &= node - 1
        out[p] = total if of_losers else weight[p] * total


def partner_sums(
    const int[::1] level,               # IN, (n_samples,), as of `hinge_sums`, in its order
    const Py_ssize_t[::1] reach,        # IN, (n_samples,)
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    const double[::1] z,                # IN, (n_samples,), a number of each row, in that order
    const double[::1] weight,           # IN, (n_samples,), what it counts for as a winner
    int n_threads,
    double[::1] nodes,                  # OUT, scratch, the most levels of a query a thread
    double[:, ::1] out,                 # OUT, (2, n_samples), zeros: sum over the losers of a row's
                                        #     active pairs, and over the winners
):
    """Sums of numbers of the rows that each row is in active pairs with."""
    cdef Py_ssize_t t, q, side, levels = nodes.shape[0] // n_threads
    # The two sides of a query are two tasks, so that a single long one has two threads.
    for t in prange(2 * (offsets.shape[0] - 1), schedule="guided", nogil=True,
                    num_threads=n_threads):
        q = t // 2
        side = t % 2
        partners(
            level[offsets[q]:offsets[q + 1]], reach[offsets[q]:offsets[q + 1]],
            z[offsets[q]:offsets[q + 1]], weight[offsets[q]:offsets[q + 1]], side,
            nodes[threadid() * levels:(threadid() + 1) * levels],
            out[side, offsets[q]:offsets[q + 1]],
        )
