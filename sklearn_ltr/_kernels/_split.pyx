# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best split of a node on one feature, from its histogram.

Serves `_grown_tree.pyx`, `_leaf_gains.pyx`, `_leaf_search.pyx`, `_level_search.pyx`,
`_partition.pyx`, `_symmetric_tree.pyx` and `_tree.pyx`.

With G and H the high and low sums of words (see _histogram.pyx), a split gains
G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2).
"""

from libc.math cimport fabs

# A gain must exceed the best one by this share; the first of equals stays.
cdef double TIE = 1e-9

# What rounding may make of no gain at all, as a share of the terms of its difference.
cdef double ROUNDING = 1e-12


cdef inline void keep(
    Split* best, double gain, int feature, Py_ssize_t bin, Side missing, long long left,
    long long left_count
) noexcept nogil:
    best.gain, best.feature, best.bin, best.missing = gain, feature, <int>bin, missing
    best.left_word, best.left_count = left, left_count


cdef void scan_plain(
    const long long* cells, int feature, Py_ssize_t n_bins, Side missing, const Node* node,
    const Rules* rules, Split* best
) noexcept nogil:
    """`scan_any` without l2, constraints and counts.

    The gain is then (G_L H_R - G_R H_L)^2 / (H_L H_R H), without a difference of large terms.
    """
    cdef long long low_bits = (1LL << rules.shift) - 1
    cdef long long left = cells[n_bins] if missing == LEFT else 0
    cdef long long n_left, most = low(node.word, rules) - rules.min_low
    cdef double G = high(node.word, rules)
    cdef double H = <double>low(node.word, rules)
    cdef double bar = best.gain * (1 + TIE) * H
    cdef double g, h, difference
    cdef Py_ssize_t bin
    for bin in range(n_bins):
        left += cells[bin]
        n_left = left & low_bits
        if n_left < rules.min_low:
            continue
        if n_left > most:
            break
        g, h = <double>(left >> rules.shift), <double>n_left
        difference = g * H - G * h
        if difference * difference <= bar * (h * (H - h)):
            continue
        if fabs(difference) > (
            ROUNDING * (fabs(g) * H + fabs(G) * h) + node.rounding * (H + fabs(G))
        ):
            keep(
                best, difference * difference / (h * (H - h) * H), feature, bin, missing, left, 0
            )
            bar = best.gain * (1 + TIE) * H


cdef void scan_any(
    const long long* cells, const long long* counts, int feature, Py_ssize_t n_bins, int direction,
    Side missing, const Node* node, const Rules* rules, Split* best
) noexcept nogil:
    """Try every threshold of a feature, with its missing values on one side."""
    cdef long long left = cells[n_bins] if missing == LEFT else 0
    cdef long long left_count = counts[n_bins] if counts != NULL and missing == LEFT else 0
    cdef long long right
    cdef double left_mean, right_mean, gain, terms, slack
    cdef double before = fit(node.word, mean(node.word, node, rules), rules)
    cdef Py_ssize_t bin
    for bin in range(n_bins):
        left += cells[bin]
        right = node.word - left
        if counts != NULL:
            left_count += counts[bin]
            if min(left_count, node.count - left_count) < rules.min_count:
                continue
        if low(left, rules) < rules.min_low or low(right, rules) < rules.min_low:
            continue
        left_mean, right_mean = mean(left, node, rules), mean(right, node, rules)
        if direction * (right_mean - left_mean) < 0:
            continue
        terms = fit(left, left_mean, rules) + fit(right, right_mean, rules)
        gain = terms - before
        slack = node.rounding * (
            fabs(left_mean) * (2 + fabs(left_mean)) + fabs(right_mean) * (2 + fabs(right_mean))
        )
        if gain > best.gain * (1 + TIE) and gain > ROUNDING * fabs(terms) + slack:
            keep(best, gain, feature, bin, missing, left, left_count)


cdef void scan(
    const long long* cells, const long long* counts, int feature, Py_ssize_t n_bins, int direction,
    Side missing, const Node* node, const Rules* rules, Split* best
) noexcept nogil:
    if counts == NULL and rules.l2 == 0 and not rules.bounded:
        scan_plain(cells, feature, n_bins, missing, node, rules, best)
    else:
        scan_any(cells, counts, feature, n_bins, direction, missing, node, rules, best)


cdef bint is_better(
    const Split* other,     # found with missing values on the right
    const Split* best,      # found with them on the left
    int feature,
) noexcept nogil:
    """Whether the former of two is the better split: larger in gain, or else lower."""
    if other.feature != feature or other.gain == 0:
        return False
    return best.feature != feature or other.gain > best.gain * (1 + TIE) or (
        other.gain * (1 + TIE) >= best.gain and other.bin < best.bin
    )


cdef void search_feature(
    const long long* cells,         # IN, (n_bins + 1,) words by code, the last of missing values
    const long long* counts,        # IN, (n_bins + 1,) counts by code, or NULL
    int feature,
    Py_ssize_t n_bins,
    int direction,                  # 1, -1: the right side must be higher, lower; 0: either
    const Node* node,
    const Rules* rules,
    Split* best,                    # IN/OUT
) noexcept nogil:
    """Try every threshold of a feature, with the missing values on either side."""
    cdef Split other
    if cells[n_bins] == 0:
        scan(cells, counts, feature, n_bins, direction, UNDECIDED, node, rules, best)
        return
    other = best[0]
    scan(cells, counts, feature, n_bins, direction, LEFT, node, rules, best)
    scan(cells, counts, feature, n_bins, direction, RIGHT, node, rules, &other)
    if is_better(&other, best, feature):
        best[0] = other


cdef int order_codes(
    const long long* cells,         # IN, (n_bins + 1,) words by code, the last of missing values
    Py_ssize_t n_bins,
    long long word,                 # the packed sums of all
    long long count,                # of all, where counts are apart from the low sums; or 0
    const Rules* rules,
    int* order,                     # OUT, (n_bins,)
) noexcept nogil:
    """Codes with enough rows by their mean target, equal means by code. Returns how many there are.

    Among all ways to part these codes in two, one that gains most without l2 and constraints parts
    this order in two (Fisher 1958). Where counts are apart, that of a code is estimated by its
    share of the low sum.
    """
    cdef double means[MOST_CODES]
    cdef double mean
    cdef double per_low = <double>count if count else 1
    cdef double least = rules.min_category * (<double>low(word, rules) if count else 1)
    cdef Py_ssize_t code
    cdef int i, n = 0
    for code in range(n_bins):
        if cells[code] == 0 or <double>low(cells[code], rules) * per_low < least:
            continue
        mean = high(cells[code], rules) / <double>low(cells[code], rules)
        i = n
        while i > 0 and means[i - 1] > mean:
            means[i], order[i] = means[i - 1], order[i - 1]
            i -= 1
        means[i], order[i] = mean, <int>code
        n += 1
    return n


cdef void arrange(
    const long long* cells,         # IN, (n_bins + 1,)
    Py_ssize_t n_bins,
    const int* order,               # IN, (n,)
    int n,
    long long total,                # of all cells
    long long* arranged,            # OUT, (n + 1,)
) noexcept nogil:
    """Cells in another order of codes; those of missing values and all other codes last."""
    cdef int i
    for i in range(n):
        arranged[i] = cells[order[i]]
        total -= arranged[i]
    arranged[n] = total


cdef void note_codes(
    const int* order,               # IN, (n,)
    int n,
    Py_ssize_t n_bins,
    Split* split,                   # IN/OUT, whose bin is a place in this order
) noexcept nogil:
    """Write down which codes are on either side; those not in the order are as missing values."""
    cdef CodeSet* side
    cdef Py_ssize_t code
    cdef int i
    for i in range(4):
        split.left.bits[i] = split.right.bits[i] = 0
    if split.missing != UNDECIDED:
        side = &split.left if split.missing == LEFT else &split.right
        for code in range(n_bins + 1):
            side.bits[code >> 6] |= 1ULL << (code & 63)
    for i in range(n):
        code = order[i]
        split.left.bits[code >> 6] &= ~(1ULL << (code & 63))
        split.right.bits[code >> 6] &= ~(1ULL << (code & 63))
        side = &split.left if i <= split.bin else &split.right
        side.bits[code >> 6] |= 1ULL << (code & 63)


cdef void search_categories(
    const long long* cells,         # IN, (n_bins + 1,) words by code, the last of missing values
    const long long* counts,        # IN, (n_bins + 1,) counts by code, or NULL
    int feature,
    Py_ssize_t n_bins,              # less than MOST_CODES
    const Node* node,
    const Rules* rules,
    Split* best,                    # IN/OUT
) noexcept nogil:
    """`search_feature` with the codes in the order of their mean targets."""
    cdef int order[MOST_CODES]
    cdef long long arranged[MOST_CODES]
    cdef long long arranged_counts[MOST_CODES]
    cdef double before = best.gain
    cdef int n = order_codes(cells, n_bins, node.word, node.count, rules, order)
    arrange(cells, n_bins, order, n, node.word, arranged)
    if counts != NULL:
        arrange(counts, n_bins, order, n, node.count, arranged_counts)
        counts = arranged_counts
    search_feature(arranged, counts, feature, n, 0, node, rules, best)
    if best.gain > before:
        note_codes(order, n, n_bins, best)
