# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The best split of a node; see _split.pyx."""


cdef enum Side:
    LEFT
    RIGHT
    UNDECIDED  # the node has no missing value


cdef enum:
    MOST_CODES = 256        # of a categorical feature, with that of a missing value


cdef struct CodeSet:
    unsigned long long bits[4]


cdef struct Split:
    double gain             # in quantised units; 0: no split
    int feature
    int bin                 # rows with a code up to this go left; of categories see `left`
    int missing             # where missing values go
    long long left_word     # the packed sums of the left side
    long long left_count
    CodeSet left            # of a categorical feature: the codes that the node has on either side
    CodeSet right


cdef struct Rules:
    int shift               # bits of the low sum of a word
    long long min_low       # least low sum of a side
    long long min_count     # least count of a side, where counts are apart from the low sum
    double l2               # added to low sums
    double rounding         # of each row's part of either sum, where the two are not in proportion
    bint bounded            # whether any feature has a monotonic constraint
    double min_category     # least count of a category that is told apart


cdef struct Node:
    long long word          # packed sums of the node
    long long count
    double rounding         # how far rounding may have moved either sum
    double lower            # bounds of the values below the node, from monotonic constraints
    double upper


cdef double TIE
cdef double ROUNDING

cdef inline long long low(long long word, const Rules* rules) noexcept nogil:
    return word & ((1LL << rules.shift) - 1)

cdef inline double high(long long word, const Rules* rules) noexcept nogil:
    return <double>(word >> rules.shift)

cdef inline double clip(double value, const Node* node) noexcept nogil:
    return min(max(value, node.lower), node.upper)

cdef inline double mean(long long word, const Node* node, const Rules* rules) noexcept nogil:
    """The value that fits packed sums best, within the node's bounds."""
    return clip(high(word, rules) / (<double>low(word, rules) + rules.l2), node)

cdef inline double fit(long long word, double value, const Rules* rules) noexcept nogil:
    """What a value lowers the squared error by, compared with 0."""
    cdef double h = <double>low(word, rules) + rules.l2
    return value * (2 * high(word, rules) - h * value)

cdef inline bint has_code(const CodeSet* codes, unsigned int code) noexcept nogil:
    return (codes.bits[code >> 6] >> (code & 63)) & 1

cdef bint is_better(const Split* other, const Split* best, int feature) noexcept nogil

cdef void search_feature(
    const long long* cells, const long long* counts, int feature, Py_ssize_t n_bins, int direction,
    const Node* node, const Rules* rules, Split* best
) noexcept nogil

cdef int order_codes(
    const long long* cells, Py_ssize_t n_bins, long long word, long long count, const Rules* rules,
    int* order
) noexcept nogil

cdef void arrange(
    const long long* cells, Py_ssize_t n_bins, const int* order, int n, long long total,
    long long* arranged
) noexcept nogil

cdef void note_codes(const int* order, int n, Py_ssize_t n_bins, Split* split) noexcept nogil

cdef void search_categories(
    const long long* cells, const long long* counts, int feature, Py_ssize_t n_bins,
    const Node* node, const Rules* rules, Split* best
) noexcept nogil
