# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a leaf gains at every threshold of a feature.

Serves `_level_search.pyx`.

With G and H the high and low sums of words (see _histogram.pyx), a cut gains
G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2), which l2 may make negative.
"""

from libc.math cimport fabs

from sklearn_ltr._kernels._split cimport (
    LEFT,
    ROUNDING,
    Node,
    Rules,
    Side,
    fit,
    high,
    low,
    mean,
)


cdef double fit_of(const Node* node, const Rules* rules) noexcept nogil:
    """What the best value of a node lowers the squared error by, compared with 0."""
    return fit(node.word, mean(node.word, node, rules), rules)


cdef inline double plain_gain(
    double g, double h, double G, double H, double slack
) noexcept nogil:
    """What a side of sums g and h gains without l2 and constraints; 0 where rounding may be all.

    It is (G_L H_R - G_R H_L)^2 / (H_L H_R H), without a difference of large terms.
    """
    cdef double difference = g * H - G * h
    if fabs(difference) > ROUNDING * (fabs(g) * H + fabs(G) * h) + slack:
        return difference * difference / (h * (H - h) * H)
    return 0


cdef bint gain_of(
    long long left,             # packed sums of the left side
    long long left_count,
    int direction,              # 1, -1: the right side must be higher, lower; 0: either
    const Node* node,
    const Rules* rules,
    double before,              # `fit_of` the node
    double* gain,               # OUT, 0 where rounding may be all of it
) noexcept nogil:
    """Whether a leaf may be cut so, and what that gains."""
    cdef long long right = node.word - left
    cdef double G, H, left_mean, right_mean, terms, slack
    gain[0] = 0
    if rules.min_count and min(left_count, node.count - left_count) < rules.min_count:
        return False
    if low(left, rules) < rules.min_low or low(right, rules) < rules.min_low:
        return False
    if rules.l2 == 0 and not rules.bounded:
        G, H = high(node.word, rules), <double>low(node.word, rules)
        gain[0] = plain_gain(
            high(left, rules), <double>low(left, rules), G, H, node.rounding * (H + fabs(G))
        )
        return True
    left_mean, right_mean = mean(left, node, rules), mean(right, node, rules)
    if direction * (right_mean - left_mean) < 0:
        return False
    terms = fit(left, left_mean, rules) + fit(right, right_mean, rules)
    slack = node.rounding * (
        fabs(left_mean) * (2 + fabs(left_mean)) + fabs(right_mean) * (2 + fabs(right_mean))
    )
    if fabs(terms - before) > ROUNDING * fabs(terms) + slack:
        gain[0] = terms - before
    return True


cdef void add_plain(
    const long long* cells, Py_ssize_t n_bins, Side missing, const Node* node, const Rules* rules,
    double* gains
) noexcept nogil:
    """`add_gains` without l2, constraints and counts."""
    cdef long long low_bits = (1LL << rules.shift) - 1
    cdef long long left = cells[n_bins] if missing == LEFT else 0
    cdef long long n_left, most = low(node.word, rules) - rules.min_low
    cdef double G = high(node.word, rules)
    cdef double H = <double>low(node.word, rules)
    cdef double slack = node.rounding * (H + fabs(G))
    cdef Py_ssize_t bin
    for bin in range(n_bins):
        left += cells[bin]
        n_left = left & low_bits
        if n_left < rules.min_low:
            continue
        if n_left > most:
            break
        gains[bin] += plain_gain(high(left, rules), <double>n_left, G, H, slack)


cdef void add_gains(
    const long long* cells,     # IN, (n_bins + 1,) words by code, the last of missing values
    const long long* counts,    # IN, (n_bins + 1,) counts by code, or NULL
    Py_ssize_t n_bins,
    int direction,
    Side missing,               # where missing values go
    const Node* node,           # the leaf
    const Rules* rules,
    bint at_most,               # a bound of what remains if the leaf may turn out not to be cut
    double* gains,              # IN/OUT, (n_bins,)
) noexcept nogil:
    """Add what a leaf gains at every threshold where it may be cut."""
    cdef long long left, left_count
    cdef double gain, before
    cdef Py_ssize_t bin
    if counts == NULL and rules.l2 == 0 and not rules.bounded:
        add_plain(cells, n_bins, missing, node, rules, gains)
        return
    left = cells[n_bins] if missing == LEFT else 0
    left_count = counts[n_bins] if counts != NULL and missing == LEFT else 0
    before = fit_of(node, rules)
    for bin in range(n_bins):
        left += cells[bin]
        if counts != NULL:
            left_count += counts[bin]
        gain_of(left, left_count, direction, node, rules, before, &gain)
        gains[bin] += max(gain, 0.0) if at_most else gain
