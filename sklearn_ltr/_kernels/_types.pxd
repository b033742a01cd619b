# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Types that several kernels share, and those that they share with Python.

A struct that one kernel's functions take is declared with them. Python has dtypes of the structs
and names of the enumerators from `_types.pyx`.
"""

ctypedef unsigned char code8_t
ctypedef unsigned short code16_t


ctypedef fused floating:
    float
    double


ctypedef fused code_t:          # bin codes of a BinnedMatrix
    code8_t
    code16_t


ctypedef fused position_t:      # of a row in its query
    unsigned short
    unsigned int


ctypedef fused index_t:         # of sparse matrices
    int
    long long


cdef struct Row:                # of a query that is ranked
    double score
    double tie                  # the smaller comes first among equal scores
    double value                # its gain, 1 if it is relevant, or its number


cdef struct HingeNode:          # of a Fenwick tree over grades
    double at                   # threshold that the next two are for
    double sum                  # of at - key over the rows of the node
    double square               # of its square
    double count                # of rows


cdef struct ForestSplit:
    int column                  # number of its feature among those used
    int first                   # rows with first <= code < first + count go right
    int count
    int leaf                    # number of the leaf that is split; its left part keeps it
    int left                    # what follows: a split of the same tree, or -1 - number of a leaf
    int right


cpdef enum Ties:                # how a metric ranks rows of equal scores
    AVERAGE
    INPUT
    REVERSE
    WORST
    BEST


cpdef enum SwapMetric:          # whose change by a swap of two rows is known
    NDCG
    MAP
    MRR


cpdef enum PairTerm:            # function of a score difference that is summed over pairs
    LOGISTIC_CURVATURE
    FIDELITY
    FIDELITY_SLOPE


cpdef enum Activation:          # function of a net's hidden units
    TANH
    LOGISTIC
    RELU


cpdef enum Criterion:           # what the best stump maximises
    SQUARED
    EXPONENTIAL
    CORRELATION


cpdef enum:
    LAMBDA_ARRAYS = 12          # of a thread's scratch for the gradients of LambdaRank
