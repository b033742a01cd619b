# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""One value a query from the ranking that its scores give.

Each kernel reads queries ``offsets[q]:offsets[q + 1]`` of arrays in grouped order. A thread ranks
one query at a time in its own part of ``work``, which has room for twice the rows of the longest
query. Only the top positions are brought into order: at most O(n log n) for a query of n
rows, close to O(n) where the cut-off is small.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from sklearn_ltr._kernels._types cimport AVERAGE, BEST, INPUT, REVERSE, WORST, Row


cdef enum:
    RUN = 8             # rows put in order by insertion before the runs are merged
    LEVELS = 8          # distinct gains looked for one by one before the rows are sorted instead


cdef inline bint precedes(const Row* a, const Row* b) noexcept nogil:
    # Without short cuts: a branch on scores in no order is mispredicted every other time.
    return (a.score > b.score) | ((a.score == b.score) & (a.tie < b.tie))


cdef int64_t sort_rows(
    Row[::1] work,          # IN, OUT, the rows are work[:n]; the second half of work is scratch
    Py_ssize_t n,
) noexcept nogil:
    """Sort, and return how many pairs of rows were in the wrong order.

    By merging, whose time depends little on the order of the rows and on ties.
    """
    cdef Py_ssize_t spare = work.shape[0] // 2, source = 0, target = spare, width = RUN
    cdef Py_ssize_t low = 0, i, j, left, middle, right, high
    cdef int64_t wrong = 0
    cdef bint take_right
    cdef Row row
    while low < n:
        for i in range(low + 1, min(low + RUN, n)):
            row = work[i]
            j = i
            while j > low and precedes(&row, &work[j - 1]):
                work[j] = work[j - 1]
                j -= 1
            work[j] = row
            wrong += i - j
        low += RUN
    while width < n:
        low = 0
        while low < n:
            left = source + low
            middle = right = source + min(low + width, n)
            high = source + min(low + 2 * width, n)
            i = target + low
            while left < middle and right < high:
                take_right = precedes(&work[right], &work[left])
                work[i] = work[right if take_right else left]
                wrong += take_right * (middle - left)
                right += take_right
                left += not take_right
                i += 1
            while left < middle:
                work[i] = work[left]
                left += 1
                i += 1
            while right < high:
                work[i] = work[right]
                right += 1
                i += 1
            low += 2 * width
        source, target = target, source
        width *= 2
    if source == spare:
        for i in range(n):
            work[i] = work[spare + i]
    return wrong


cdef Py_ssize_t keep_top(
    Row[::1] work,          # IN, OUT
    Py_ssize_t n,
    Py_ssize_t k,           # positions wanted
    bint whole_groups,      # keep also the rows tied with the one at position k
) noexcept nogil:
    """Sort the first n rows and return how many of them to keep."""
    cdef Py_ssize_t kept = min(k, n)
    sort_rows(work, n)
    if whole_groups:
        while kept < n and work[kept].score == work[kept - 1].score:
            kept += 1
    return kept


cdef Py_ssize_t rank_top(
    const double[::1] values,       # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,               # first row of the query
    Py_ssize_t n,                   # its number of rows
    Py_ssize_t k,                   # positions wanted, at most n
    int ties,
    Row[::1] work,                  # OUT, the row at position j is work[j]
) noexcept nogil:
    """Rank the top k rows and, where ties are averaged, the rest of the tie group at k.

    Returns the number of rows ranked.
    """
    cdef Py_ssize_t i, kept = 0, limit = min(n, 2 * k + 2 * RUN)
    cdef bint average = ties == AVERAGE
    cdef Row row, last
    last.score = -INFINITY
    for i in range(n):
        row.score = scores[start + i]
        if row.score < last.score:
            continue
        row.value = values[start + i]
        if ties == INPUT:
            row.tie = i
        elif ties == REVERSE:
            row.tie = -i
        elif ties == WORST:
            row.tie = row.value
        else:  # an average, too, is summed in an order that does not depend on that of the rows
            row.tie = -row.value
        work[kept] = row
        kept += 1
        if kept == limit and i + 1 < n:
            kept = keep_top(work, kept, k, average)
            last = work[k - 1]
            limit = min(n, 2 * kept + 2 * RUN)
    return keep_top(work, kept, k, average)


cdef double query_dcg(
    const double[::1] gains,        # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    const double[::1] discounts,    # IN
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t k = min(n, discounts.shape[0]), j = 0, p, first
    cdef Py_ssize_t ranked = rank_top(gains, scores, start, n, k, ties, work)
    cdef double total = 0, gain
    while j < k:
        first = j
        gain = work[j].value
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                gain = gain + work[j].value
                j += 1
            if work[first].value == work[j - 1].value:
                # Equal gains: dividing their sum could round, and a perfect ranking miss 1.
                gain = work[first].value
            else:
                gain = gain / (j - first)
        for p in range(first, min(j, k)):
            total = total + gain * discounts[p]
    return total


cdef double query_ideal_dcg(
    const double[::1] gains,        # IN
    Py_ssize_t start,
    Py_ssize_t n,
    const double[::1] discounts,    # IN
    Row[::1] work,                  # OUT
) noexcept nogil:
    """The DCG of the query ranked by gain; grades are few, and counting them beats sorting."""
    cdef Py_ssize_t k = min(n, discounts.shape[0]), j = 0, i, p, count
    cdef double total = 0, above = INFINITY, level, lower
    cdef int _level
    for _level in range(LEVELS):
        level = 0
        for i in range(start, start + n):
            lower = gains[i] if gains[i] < above else 0
            level = lower if lower > level else level
        if level == 0:
            return total
        count = 0
        for i in range(start, start + n):
            count += gains[i] == level
        for p in range(j, min(j + count, k)):
            total += level * discounts[p]
        j += count
        if j >= k:
            return total
        above = level
    return query_dcg(gains, gains, start, n, discounts, BEST, work)


cdef double query_precision_sum(
    const double[::1] relevant,     # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, above = 0, r, slope
    k = min(k, n)
    ranked = rank_top(relevant, scores, start, n, k, ties, work)
    while j < k:
        first = j
        r = work[j].value
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                r = r + work[j].value
                j += 1
        if r > 0:
            # A position of a group with r relevant among m rows is relevant with probability r/m;
            # if it is, each of the group's positions before it is with probability (r-1)/(m-1).
            slope = (r - 1) / (j - first - 1) if j - first > 1 else 0
            for p in range(first, min(j, k)):
                total = total + r / (j - first) * (above + 1 + (p - first) * slope) / (p + 1)
        above = above + r
    return total


cdef double query_reciprocal_rank(
    const double[::1] relevant,     # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, none = 1, r, rest
    k = min(k, n)
    ranked = rank_top(relevant, scores, start, n, k, ties, work)
    while j < k:
        first = j
        r = work[j].value
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                r = r + work[j].value
                j += 1
        if r > 0:
            # Where the group's positions before p hold none of its r relevant rows, p does with
            # probability r over the rows that are left.
            for p in range(first, min(j, k)):
                rest = j - p
                total = total + none * r / rest / (p + 1)
                none = none * (rest - r) / rest
            return total
    return total


cdef double stop_in_group(
    Row[::1] work,                  # IN, OUT, the second half is scratch
    Py_ssize_t first,
    Py_ssize_t end,
    Py_ssize_t k,
) noexcept nogil:
    """Sum over positions p of tied rows of P(a user who reaches the group stops at p) / p.

    With a[t] the probability of passing t of the rows, drawn at random, and b[t] that of passing
    t of them and stopping at one more, each further row turns a and b into means of what they were
    with and without it.
    """
    cdef Py_ssize_t spare = work.shape[0] // 2, depth = min(end, k) - first, n, t
    cdef double total = 0, stop
    for t in range(depth):
        work[spare + t].score = t == 0      # a[t]
        work[spare + t].value = 0           # b[t]
    for n in range(1, end - first + 1):
        stop = work[first + n - 1].value
        for t in range(min(n, depth - 1), 0, -1):
            work[spare + t].value = (
                (n - 1 - t) * work[spare + t].value
                + t * (1 - stop) * work[spare + t - 1].value
                + stop * work[spare + t].score
            ) / n
            work[spare + t].score = (
                (n - t) * work[spare + t].score + t * (1 - stop) * work[spare + t - 1].score
            ) / n
        work[spare].value = ((n - 1) * work[spare].value + stop) / n
    for t in range(depth):
        total = total + work[spare + t].value / (first + t + 1)
    return total


cdef double query_expected_reciprocal_rank(
    const double[::1] stops,        # IN
    const double[::1] scores,       # IN
    Py_ssize_t start,
    Py_ssize_t n,
    Py_ssize_t k,
    int ties,
    Row[::1] work,                  # OUT
) noexcept nogil:
    cdef Py_ssize_t j = 0, p, first, ranked
    cdef double total = 0, none = 1
    k = min(k, n)
    ranked = rank_top(stops, scores, start, n, k, ties, work)
    while j < k and none > 0:
        first = j
        j += 1
        if ties == AVERAGE:
            while j < ranked and work[j].score == work[first].score:
                j += 1
        if j == first + 1:
            total = total + none * work[first].value / j
        else:
            total = total + none * stop_in_group(work, first, j, k)
        for p in range(first, j):
            none = none * (1 - work[p].value)
    return total


def dcg(
    const double[::1] gains,            # IN
    const double[::1] scores,           # IN
    const double[::1] discounts,        # IN, of positions 1, 2, ...; 0 for those after the last
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Sum of gain times discount over the ranking of each query."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_dcg(
            gains, scores, offsets[q], offsets[q + 1] - offsets[q], discounts, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )


def ideal_dcg(
    const double[::1] gains,            # IN, not negative
    const double[::1] discounts,        # IN, as in `dcg`, and descending
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """The largest DCG that a ranking of each query can have."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_ideal_dcg(
            gains, offsets[q], offsets[q + 1] - offsets[q], discounts,
            work[threadid() * share:(threadid() + 1) * share],
        )


def precision_sum(
    const double[::1] relevant,         # IN, 1 or 0
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Sum of the precisions at the relevant rows among the top k of each query."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_precision_sum(
            relevant, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )


def reciprocal_rank(
    const double[::1] relevant,         # IN, 1 or 0
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """One over the position of the first relevant row, 0 where that is not in the top k."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_reciprocal_rank(
            relevant, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )


def expected_reciprocal_rank(
    const double[::1] stops,            # IN, probability that a user who reaches the row stops
    const double[::1] scores,           # IN
    Py_ssize_t k,
    int ties,
    const Py_ssize_t[::1] offsets,      # IN
    int n_threads,
    Row[::1] work,                      # OUT, scratch
    double[::1] out,                    # OUT
):
    """Expectation of one over the position where the user stops, 0 where not in the top k."""
    cdef Py_ssize_t q, share = work.shape[0] // n_threads
    for q in prange(out.shape[0], schedule="guided", nogil=True, num_threads=n_threads):
        out[q] = query_expected_reciprocal_rank(
            stops, scores, offsets[q], offsets[q + 1] - offsets[q], k, ties,
            work[threadid() * share:(threadid() + 1) * share],
        )
