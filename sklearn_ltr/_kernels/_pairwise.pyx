# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums over preference pairs for the exponential loss.

The weight of a pair (i, j) with grades a > b factorises, exp(-d(F_i - F_j)) = E[i, b] E[j, a] with
E[i, b] = exp(-d_ab (F_i - c)) and E[j, a] = exp(d_ab (F_j - c)) for any c, so sums over pairs are
products of sums over rows. c is chosen for each query and pair of grades so that the largest E of
both sides are equal, and the largest weight of all, exp(M), is divided out: no E exceeds 1, and a
weight that underflows is smaller than the largest by exp(-700).
"""

from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY, exp
from libc.string cimport memset

from sklearn_ltr._kernels._types cimport code_t, position_t

cdef enum:
    BLOCK_BYTES = 262144    # of E that a sweep goes through for one feature after another


cdef inline void extremes(
    const double* F, const unsigned char* grade, Py_ssize_t n, Py_ssize_t L,
    double* low, double* high,
) noexcept nogil:
    """Smallest and largest score of each grade; (inf, -inf) of an absent one."""
    cdef Py_ssize_t a, i
    for a in range(L):
        low[a] = INFINITY
        high[a] = -INFINITY
    for i in range(n):
        a = grade[i]
        low[a] = min(low[a], F[i])
        high[a] = max(high[a], F[i])


def largest_log_weight(
    const double[::1] scores,               # IN, (n_samples,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[:, ::1] distance,          # IN, (L, L), symmetric
    const double[::1] log_query_weight,     # IN, (n_queries,)
    double[:, ::1] buffer,                  # OUT, (1, at least 2 L), scratch
):
    """M: the largest log weight of a pair, -inf without pairs."""
    cdef Py_ssize_t q, a, b, start
    cdef Py_ssize_t L = distance.shape[0]
    cdef double largest = -INFINITY
    cdef double* low = &buffer[0, 0]
    cdef double* high = low + L
    with nogil:
        for q in range(offsets.shape[0] - 1):
            start = offsets[q]
            extremes(&scores[start], &grade[start], offsets[q + 1] - start, L, low, high)
            for a in range(1, L):
                for b in range(a):
                    # -inf where either grade is absent
                    largest = max(
                        largest, log_query_weight[q] + distance[a, b] * (high[b] - low[a])
                    )
    return largest


cdef void query_sums_of_grades(
    const double* F, const unsigned char* grade, Py_ssize_t n, Py_ssize_t L,
    const double* distance, const double* factors, double shift,
    double* S, double* E, double* gradient, double* degree, double* loss,
) noexcept nogil:
    """`graded_sums` of one query; S has room for L (L + 2) numbers."""
    cdef double* low = S + L * L
    cdef double* high = low + L
    cdef const double* scale = factors
    cdef const double* signed = factors + L * L
    cdef const double* unit = factors + 2 * L * L
    cdef Py_ssize_t a, b, i
    cdef double d, product, pi, deg
    cdef double total = 0
    extremes(F, grade, n, L, low, high)
    memset(S, 0, L * L * sizeof(double))
    for i in range(n):
        a = grade[i]
        for b in range(L):
            d = distance[a * L + b]
            if b == a or high[b] < low[b]:
                E[i * L + b] = 0
            elif b < a:
                E[i * L + b] = scale[a * L + b] * exp(shift - d * (F[i] - (low[a] + high[b]) / 2))
            else:
                E[i * L + b] = scale[a * L + b] * exp(shift + d * (F[i] - (low[b] + high[a]) / 2))
            S[a * L + b] += E[i * L + b]
    for i in range(n):
        a = grade[i]
        pi = 0
        deg = 0
        for b in range(L):
            product = E[i * L + b] * S[b * L + a]
            deg += product
            pi += product * signed[a * L + b]
            if b < a:
                total += product * unit[a * L + b]
        gradient[i] = -pi
        degree[i] = deg
    loss[0] = total


def graded_sums(
    const double[::1] scores,               # IN, (n_samples,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[:, ::1] distance,          # IN, (L, L), symmetric
    const double[:, :, ::1] factors,        # IN, (3, L, L): of E, of the gradient, of the loss
    const double[::1] shift,                # IN, (n_queries,): (log query weight - M) / 2
    double[:, ::1] buffer,                  # OUT, (n_threads, L (L + 2)), scratch
    double[:, ::1] E,                       # OUT, (n_samples, L)
    double[::1] gradient,                  # OUT, (n_samples,)
    double[::1] degree,                     # OUT, (n_samples,)
    double[::1] loss,                       # OUT, (n_queries,)
):
    """Weight factors E, and for each row the sums over its pairs; O(n L)."""
    cdef Py_ssize_t q, start
    cdef Py_ssize_t L = distance.shape[0]
    cdef int n_threads = buffer.shape[0]
    for q in prange(loss.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        start = offsets[q]
        query_sums_of_grades(
            &scores[start], &grade[start], offsets[q + 1] - start, L, &distance[0, 0],
            &factors[0, 0, 0], shift[q], &buffer[threadid(), 0], &E[start, 0],
            &gradient[start], &degree[start], &loss[q],
        )


def graded_crossing(
    const unsigned char[::1] above,         # IN, (n_samples,), 1 where a row is above
    const unsigned char[::1] grade,         # IN
    const Py_ssize_t[::1] offsets,          # IN
    const double[:, ::1] E,                 # IN
    double[:, :, ::1] sums,                 # OUT, (2, L, L), scratch
    double[:, ::1] crossing,                # OUT, (L, L), zeroed
):
    """crossing[a, b]: products E E of the pairs with grade a above and grade b below."""
    cdef Py_ssize_t q, i, a, b
    cdef Py_ssize_t L = E.shape[1]
    with nogil:
        for q in range(offsets.shape[0] - 1):
            memset(&sums[0, 0, 0], 0, 2 * L * L * sizeof(double))
            for i in range(offsets[q], offsets[q + 1]):
                a = grade[i]
                for b in range(L):
                    sums[above[i], a, b] += E[i, b]
            for a in range(L):
                for b in range(L):
                    crossing[a, b] += sums[1, a, b] * sums[0, b, a]


cdef inline void move_row(
    Py_ssize_t i, Py_ssize_t code, const unsigned char* grade, const double* E,
    const double* degree, Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    """Row i goes below: its pairs with rows above start to cross, those with rows below cease."""
    cdef Py_ssize_t a = grade[i]
    cdef Py_ssize_t b
    cdef double ceased = 0
    for b in range(L):
        ceased += E[i * L + b] * S[b * L + a]
    for b in range(L):
        S[a * L + b] += E[i * L + b]
    delta[2 * code] += degree[i] - 2 * ceased


cdef inline void sweep_rows(
    const position_t* order, Py_ssize_t first, Py_ssize_t last, const code_t* codes,
    Py_ssize_t stride, const unsigned char* grade, const double* E, const double* degree,
    Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    cdef Py_ssize_t p, i
    for p in range(first, last):
        i = order[p]
        move_row(i, codes[i * stride], grade, E, degree, L, S, delta)


cdef void sweep_query(
    const position_t* order, Py_ssize_t n, const code_t* codes, Py_ssize_t stride,
    Py_ssize_t n_bins, Py_ssize_t n_sides, const unsigned char* grade, const double* E,
    const double* degree, Py_ssize_t L, double* S, double* delta,
) noexcept nogil:
    """Add one query to the changes of the crossing weight of a feature.

    delta[2 t] has the missing values below, delta[2 t + 1] above. Common numbers of grades are
    written out for the compiler to unroll.
    """
    cdef Py_ssize_t present = n
    cdef Py_ssize_t p
    cdef Py_ssize_t side
    while present > 0 and codes[order[present - 1] * stride] == n_bins:
        present -= 1
    for side in range(n_sides):
        memset(S, 0, L * L * sizeof(double))
        if side == 0:
            for p in range(present, n):
                move_row(order[p], 0, grade, E, degree, L, S, delta)
        if L == 2:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 2, S, delta + side)
        elif L == 3:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 3, S, delta + side)
        elif L == 4:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 4, S, delta + side)
        elif L == 5:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, 5, S, delta + side)
        else:
            sweep_rows(order, 0, present, codes, stride, grade, E, degree, L, S, delta + side)


cdef Py_ssize_t block_end(
    const Py_ssize_t[::1] offsets, Py_ssize_t q, Py_ssize_t n_rows
) noexcept nogil:
    """The query after a block that starts at q and has n_rows rows, or one query if longer."""
    cdef Py_ssize_t last = offsets[q] + n_rows
    q += 1
    while q < offsets.shape[0] - 1 and offsets[q + 1] <= last:
        q += 1
    return q


cdef void sweep_share(
    Py_ssize_t share, Py_ssize_t n_shares, const Py_ssize_t[:, ::1] features,
    const code_t[:, :, ::1] codes, const position_t[:, ::1] order, const Py_ssize_t[::1] offsets,
    const unsigned char* grade, const double[:, ::1] E, const double* degree, double* S,
    double[:, ::1] delta,
) noexcept nogil:
    """Every n_shares-th feature, block by block of queries, whose E stay in the cache."""
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t L = E.shape[1]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last, f, k, q, start
    while first < offsets.shape[0] - 1:
        last = block_end(offsets, first, BLOCK_BYTES // (8 * L))
        f = share
        while f < features.shape[0]:
            k = features[f, 0]
            for q in range(first, last):
                start = offsets[q]
                sweep_query(
                    &order[k, start], offsets[q + 1] - start, &codes[k // width, start, k % width],
                    width, features[f, 2], features[f, 3], grade + start, &E[start, 0],
                    degree + start, L, S, &delta[features[f, 1], 0],
                )
            f += n_shares
        first = last


def graded_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, (n_swept, 4): feature, first row in delta, bins,
                                            #     and 2 sides where it has missing values, else 1
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const position_t[:, ::1] order,         # IN, (n_features, n_samples): rows of a query by code
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const unsigned char[::1] grade,         # IN, (n_samples,)
    const double[:, ::1] E,                 # IN, (n_samples, L)
    const double[::1] degree,               # IN, (n_samples,)
    double[:, ::1] buffer,                  # OUT, (n_threads, at least L L), scratch
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
):
    """Change of the crossing weight at each bin: O(n L) a feature, for every threshold."""
    cdef Py_ssize_t t
    cdef int n_threads = buffer.shape[0]
    for t in prange(n_threads, schedule="static", nogil=True, num_threads=n_threads):
        sweep_share(
            t, n_threads, features, codes, order, offsets, &grade[0], E, &degree[0], &buffer[t, 0],
            delta,
        )


def listed_log_weights(
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


def listed_sums(
    pairs,                                  # IN, as for `listed_log_weights`
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    double log_scale,                       # IN, M
    bint squared,                           # IN, weigh by the squared distance
    double[::1] weight,                     # IN, log weights; OUT, weights
    double[::1] gradient,                  # OUT, (n_samples,)
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


cdef void fill_matrix(
    const int* winner, const int* loser, const double* weight, Py_ssize_t n_pairs,
    Py_ssize_t start, Py_ssize_t n, double* W,
) noexcept nogil:
    cdef Py_ssize_t p, i, j
    memset(W, 0, n * n * sizeof(double))
    for p in range(n_pairs):
        i = winner[p] - start
        j = loser[p] - start
        # A pair may be listed more than once, and both ways round.
        W[i * n + j] += weight[p]
        W[j * n + i] += weight[p]


cdef void sweep_matrix(
    const position_t* order, Py_ssize_t n, const code_t* codes, Py_ssize_t stride,
    Py_ssize_t n_bins, Py_ssize_t n_sides, const double* W, const double* degree, double* below,
    double* delta,
) noexcept nogil:
    """`sweep_query` by rows of the matrix: below[j] = weight between j and the rows below."""
    cdef Py_ssize_t present = n
    cdef Py_ssize_t p, i, j
    cdef const double* row
    cdef Py_ssize_t side
    while present > 0 and codes[order[present - 1] * stride] == n_bins:
        present -= 1
    for side in range(n_sides):
        memset(below, 0, n * sizeof(double))
        for p in range(n if side == 0 else present):
            # side 0: the missing rows first, then the others
            i = order[(p + present) % n] if side == 0 else order[p]
            row = W + i * n
            j = 0 if codes[i * stride] == n_bins else 2 * codes[i * stride]
            delta[j + side] += degree[i] - 2 * below[i]
            for j in range(n):
                below[j] += row[j]


def explicit_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, as for `graded_sweep`
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    const position_t[:, ::1] order,         # IN, (n_features, n_samples)
    pairs,                                  # IN, (winner, loser, weight, pair offsets)
    const Py_ssize_t[::1] offsets,          # IN, (n_queries + 1,)
    const double[::1] degree,               # IN, (n_samples,)
    double[:, ::1] buffer,                  # OUT, (n_threads, n (n + 1)), n of the longest query
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
):
    """`graded_sweep` of listed pairs: O(n^2) a query and feature, in SIMD rows.

    A query's weights are laid out once for all the features of a thread and stay in its cache.
    """
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef const double[::1] weight = pairs[2]
    cdef const Py_ssize_t[::1] pair_offsets = pairs[3]
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t t, f, k, q, start, n, first, n_pairs
    cdef int n_threads = buffer.shape[0]
    cdef double* W
    for t in prange(n_threads, schedule="static", nogil=True, num_threads=n_threads):
        W = &buffer[t, 0]
        for q in range(offsets.shape[0] - 1):
            start = offsets[q]
            n = offsets[q + 1] - start
            first = pair_offsets[q]
            n_pairs = pair_offsets[q + 1] - first
            if n_pairs == 0:
                continue
            fill_matrix(
                &winner[first], &loser[first], &weight[first], n_pairs, start, n, W
            )
            f = t
            while f < features.shape[0]:
                k = features[f, 0]
                sweep_matrix(
                    &order[k, start], n, &codes[k // width, start, k % width], width,
                    features[f, 2], features[f, 3], W, &degree[start], W + n * n,
                    &delta[features[f, 1], 0],
                )
                f = f + n_threads


cdef void add_pairs(
    const int* winner, const int* loser, const double* weight, Py_ssize_t n_pairs,
    const code_t* codes, Py_ssize_t width, Py_ssize_t n_bins, Py_ssize_t n_sides, double* delta,
) noexcept nogil:
    """Each pair is cut from the bin of its lower row on, and no more from that of its higher."""
    cdef Py_ssize_t p, a, b, low, high, side
    for p in range(n_pairs):
        a = codes[winner[p] * width]
        b = codes[loser[p] * width]
        low = min(a, b)
        high = max(a, b)
        if high == n_bins and low < n_bins:     # one value is missing
            delta[0] += weight[p]
            delta[2 * low] -= weight[p]
            delta[2 * low + 1] += weight[p]
        elif low < high:
            for side in range(n_sides):
                delta[2 * low + side] += weight[p]
                delta[2 * high + side] -= weight[p]


def sparse_sweep(
    const Py_ssize_t[:, ::1] features,      # IN, (n_swept, 4), as for `explicit_sweep`
    const code_t[:, :, ::1] codes,          # IN, (n_blocks, n_samples, width)
    pairs,                                  # IN, (winner, loser, pair offsets)
    const double[::1] weight,               # IN, (n_pairs,)
    double[:, ::1] delta,                   # OUT, (sum of bins, 2), zeroed for the features
    int n_threads,
):
    """`explicit_sweep` in time and memory that grow with the pairs, not rows squared."""
    cdef const int[::1] winner = pairs[0]
    cdef const int[::1] loser = pairs[1]
    cdef Py_ssize_t width = codes.shape[2]
    cdef Py_ssize_t f, k
    for f in prange(features.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        k = features[f, 0]
        add_pairs(
            &winner[0], &loser[0], &weight[0], weight.shape[0], &codes[k // width, 0, k % width],
            width, features[f, 2], features[f, 3], &delta[features[f, 1], 0],
        )
