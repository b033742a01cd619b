# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What swaps of two rows do to NDCG, average precision and reciprocal rank.

Serves `_lambdas.pyx`.

If rows i and j at positions p < q swap, each of these metrics changes by |gain_i - gain_j| times

    x(p) + (sum of e(t) over p < t < q) - v(q),

where x, e and v depend on how many of the other rows are relevant, and on their order only for
MAP and MRR. Its expectation over the orders of tied rows separates into alpha_i + f_i beta_j for
rows of different tie groups and is one number, omega, within a group; f_i is the chance that j's
part counts at all. Each takes one pass over the positions of a group.
"""

from libc.math cimport fmax

from sklearn_ltr._kernels._types cimport MAP, MRR, NDCG


cdef enum Role:     # of a group in a sum
    UPPER       # i is in the group and j below it
    LOWER       # j is in the group and i above it
    WITHIN      # both are in the group
    ALONE       # not for a pair: what a relevant row i adds to the metric itself


cdef struct Group:          # of tied rows, at positions start, start + 1, ...
    Py_ssize_t start
    Py_ssize_t size
    Py_ssize_t top          # how many of its positions may be the upper one of a pair
    Py_ssize_t relevant     # how many of its rows are
    Py_ssize_t above        # relevant rows above the group


cdef inline double chance_irrelevant(
    Py_ssize_t rows, Py_ssize_t relevant, Py_ssize_t t
) noexcept nogil:
    """Chance that the row at t, counted from 0, is irrelevant where those before it are."""
    return <double>(rows - t - relevant) / (rows - t) if rows - t > relevant else 0


cdef double expectation(
    int kind, Role role, const Group* group, const double* discount, Py_ssize_t relevant_above,
    Py_ssize_t relevant_others,
) noexcept nogil:
    """The part of an expectation that comes from the positions of one group.

    Relevant rows are counted without i and j, above the group and in it.
    """
    cdef Py_ssize_t m = group.size, i_is_inside = role != LOWER, t, left, right
    cdef Py_ssize_t others = m - (2 if role == WITHIN else 1)
    cdef double share = <double>relevant_others / others if others > 0 else 0
    cdef double none = 1        # chance that no other row of the group before t is relevant
    cdef double none_next = 1   # and none before the position after t
    cdef double total = 0, x, e, v, d
    if not i_is_inside:
        none_next = chance_irrelevant(others, relevant_others, 0)
    for t in range(m):
        d = discount[group.start + t]
        if kind == NDCG:
            x = d
            e = 0
            v = d
        elif kind == MAP:
            x = (relevant_above + 1 + t * share) * d
            e = share * d
            v = (relevant_above + 1 + (t - i_is_inside) * share) * d
        else:
            x = none_next * d
            e = (none_next - none) * d
            v = none * d
            none = none_next
            none_next *= chance_irrelevant(others, relevant_others, t + 1 - i_is_inside)
        left = min(t, group.top)
        right = m - 1 - t
        if role == UPPER:
            total += (x if t < group.top else 0) + left * e
        elif role == LOWER:
            total += right * e - v
        elif role == ALONE:
            total += x
        else:
            total += right * ((x if t < group.top else 0) + left * e) - left * v
    return total / (m * (m - 1) / 2 if role == WITHIN else m)


cdef double expected_changes(
    int kind, Py_ssize_t n, Py_ssize_t T, const double* discount, const double* score,
    const double* gain, double* alpha, double* f, double* beta, double* omega,
) noexcept nogil:
    """Fill alpha, f, beta and omega of each row, and return the metric itself.

    The rows are sorted by score, then gain; the upper one of a pair is among the T first.
    """
    cdef Group group
    cdef Py_ssize_t label, first, count, j, end, found = 0
    cdef double expected = 0    # MAP: the sum that the groups above contribute, each row by itself
    cdef double[2] stop         # MRR: what j below a group with relevant rows counts, i above it
    cdef double row_alpha, row_f, row_beta, of_group, of_pair, gains, value = 0
    group.start = 0
    group.above = 0
    while group.start < n:
        group.relevant = 0
        of_group = 0
        gains = 0
        end = tie_end(score, n, group.start)
        for j in range(group.start, end):
            group.relevant += gain[j] > 0
            of_group += discount[j]
            gains += gain[j]
        group.size = end - group.start
        if kind == NDCG and group.size == 1:    # the same as below, and the usual case
            j = group.start
            f[j] = j < T
            alpha[j] = f[j] * discount[j]
            beta[j] = -discount[j]
            omega[j] = 0
            value += gains * discount[j]
            group.start += 1
            continue
        group.top = max(0, min(T - group.start, group.size))
        of_group *= <double>group.relevant / group.size
        if kind == MRR and group.above > 0:
            group.top = 0       # no pair changes what the first relevant row is
        elif group.relevant > 0:
            value += gains * expectation(
                kind, ALONE, &group, discount, group.above, group.relevant - 1
            )
        first = group.start
        for label in range(1, -1, -1):      # relevant rows come first
            row_alpha = 0
            row_f = <double>group.top / group.size
            if group.top > 0:
                row_alpha = expectation(
                    kind, UPPER, &group, discount, group.above, group.relevant - label
                )
            if kind == MAP:
                row_alpha -= row_f * (expected + of_group)
            elif kind == MRR and group.relevant > label:
                row_f = 0
            if kind == MRR and found > 1 - label:
                row_beta = stop[1 - label]
            else:
                row_beta = expected + expectation(
                    kind, LOWER, &group, discount, group.above + label - 1, group.relevant - label
                )
            count = group.relevant if label else group.size - group.relevant
            for j in range(first, first + count):
                alpha[j] = row_alpha
                f[j] = row_f
                beta[j] = row_beta
            first += count
        of_pair = 0
        if group.top > 0 and gain[group.start] > gain[first - 1]:
            of_pair = expectation(
                kind, WITHIN, &group, discount, group.above, group.relevant - 1
            )
        for j in range(group.start, first):
            omega[j] = fmax(of_pair, 0)     # below 0 by rounding only
        if kind == MAP:
            expected += of_group
        elif kind == MRR and group.relevant > 0 and found < 2:
            stop[found] = expectation(MRR, LOWER, &group, discount, 0, group.relevant - 1)
            found += 1
        group.above += group.relevant
        group.start += group.size
    return value
