# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the squared hinge over all pairs of a query, without listing them.

The pair of a winner i and a loser j has m = b_i + tau - b_j, and counts where m > 0. Going through
winners by ascending threshold b_i + tau, with the losers below it in a Fenwick tree over grades,
gives the sums of each winner; the same sweep with signs turned gives those of each loser.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._ranking cimport Row, sort_rows


cdef struct Node:
    double at           # threshold that the next two are for
    double sum          # of at - key over the rows of the node
    double square       # of its square
    double count        # of rows
    double along        # sum of the rows' direction


cdef inline void raise_to(Node* node, double at) noexcept nogil:
    """Move to a threshold that is no lower. No term is negative, so that no digits cancel."""
    cdef double d = at - node.at
    node.square += d * (2 * node.sum + d * node.count)
    node.sum += d * node.count
    node.at = at


cdef double sweep(
    const Row[::1] rows,                # IN, ascending b, which is -score; value is the row
    Py_ssize_t n,
    const int[::1] level,               # IN, (n_samples,)
    int top,                            # largest level of the query
    double tau,
    bint of_losers,                     # sums of losers over winners, not of winners over losers
    const double[::1] direction,        # IN, (n_samples,)
    double origin,                      # subtracted from the direction
    Node[::1] nodes,                    # OUT, scratch, more than `top`
    double[:, ::1] out,                 # IN, OUT, see `hinge_sums`
) noexcept nogil:
    """Add the sums of all winners, or of all losers, and return that of m^2."""
    cdef Py_ssize_t k, p, i, node, entered = 0
    cdef double at, key, m, count, along, total = 0
    for k in range(1, top + 1):
        nodes[k].at = nodes[k].sum = nodes[k].square = nodes[k].count = nodes[k].along = 0
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
                nodes[node].count += 1
                nodes[node].along += direction[i] - origin
                node += node & -node
            entered += 1
        p = n - 1 - k if of_losers else k
        i = <Py_ssize_t>rows[p].value
        node = top - level[i] if of_losers else level[i]
        m = count = along = 0
        while node > 0:
            raise_to(&nodes[node], at)
            m += nodes[node].sum
            total += nodes[node].square
            count += nodes[node].count
            along += nodes[node].along
            node &= node - 1
        out[0, i] += m if of_losers else -m
        out[1, i] += count
        out[2, i] += count * (direction[i] - origin) - along
    return total


cdef double query_sums(
    const double[::1] b,
    const int[::1] level,
    Py_ssize_t start,
    Py_ssize_t stop,
    double tau,
    const double[::1] direction,
    Row[::1] work,
    Node[::1] nodes,
    double[:, ::1] out,
) noexcept nogil:
    """Add the sums of one query's rows, and return that of m^2 / 2."""
    cdef Py_ssize_t i, n = 0
    cdef int top = 0
    for i in range(start, stop):
        if level[i] >= 0:
            work[n].score = -b[i]
            work[n].tie = 0
            work[n].value = i
            top = max(top, level[i])
            n += 1
    if top == 0:
        return 0
    sort_rows(work, n)
    sweep(work, n, level, top, tau, True, direction, direction[start], nodes, out)
    return sweep(work, n, level, top, tau, False, direction, direction[start], nodes, out) / 2


def hinge_sums(
    const double[::1] b,                # IN, (n_samples,)
    const int[::1] level,               # IN, (n_samples,), number of a row's grade in its query,
                                        #     ascending from 0; -1 for a row in no pair
    const Py_ssize_t[::1] offsets,      # IN, (n_queries + 1,)
    double tau,
    const double[::1] direction,        # IN, (n_samples,)
    int n_threads,
    Row[::1] work,                      # OUT, scratch, twice the longest query a thread
    Node[::1] nodes,                    # OUT, scratch, the most levels of a query a thread
    double[::1] value,                  # OUT, (n_queries,), sum of m^2 / 2
    double[:, ::1] out,                 # OUT, (3, n_samples), zeros: gradient with respect to -b,
                                        #     number of active pairs, Hessian times direction
):
    """Sums over the active pairs of each query and of each row."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads, levels = nodes.shape[0] // n_threads
    for q in prange(value.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        value[q] = query_sums(
            b, level, offsets[q], offsets[q + 1], tau, direction,
            work[threadid() * share:(threadid() + 1) * share],
            nodes[threadid() * levels:(threadid() + 1) * levels],
            out,
        )
