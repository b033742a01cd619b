# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Shapley values of sums of regression trees, dependent on the paths.

Serves `weak/attribution.py`.

A tree is a list of edges: edge e leads to node e, is about a feature, and holds for a row if all
splits on that feature down to there send the row this way. What a feature adds is an integral over
[0, 1] of a polynomial, which is summed over a few points; a row meets an edge in one of three ways:
the edge holds, fails where those above it on the same feature hold, or fails as one of these does.
"""

from cython.parallel cimport prange, threadid

from sklearn_ltr._kernels._types cimport floating


cdef struct Edges:              # of a tree
    Py_ssize_t n_nodes          # edge 0 is of the root: it always holds
    Py_ssize_t n_points         # even
    Py_ssize_t n_slots
    const int* parent           # node that it comes from
    const int* above            # edge above on the same feature; 0 if there is none
    const int* cut              # number of the split among the cuts of the tree
    const int* slot             # number of the feature among those of the tree
    const int* left             # node that the left child of its node is; 0 at a leaf
    const double* factors       # (n_nodes, 3, n_points), of the three ways
    const double* slopes        # (n_nodes, 2, n_points), of the first two; of the third 0


cdef inline bint goes_right(
    double value, double threshold, bint missing_right, const unsigned int* categories
) noexcept nogil:
    """The side of a row at a cut; `categories` are the codes that go right, NULL if it has none."""
    cdef unsigned int code
    if value != value:
        return missing_right
    if categories == NULL:
        return value > threshold
    code = <unsigned int>value
    return categories[code >> 5] >> (code & 31) & 1


cdef void attribute(
    const Edges* tree, const unsigned char* sides, unsigned char* ways, double* products,
    double* out,
) noexcept nogil:
    """What each feature of a tree adds for a row; `sides` are those at the cuts, 1 on the right."""
    cdef Py_ssize_t n_points = tree.n_points
    cdef Py_ssize_t e, p
    cdef unsigned char way
    cdef const double* upper
    cdef const double* change
    cdef double* lower
    cdef double first, second
    ways[0] = 0
    for p in range(n_points):
        products[p] = 1
    for p in range(tree.n_slots):
        out[p] = 0
    for e in range(1, tree.n_nodes):
        # Left children have odd numbers.
        way = 2 if ways[tree.above[e]] else sides[tree.cut[e]] == (e & 1)
        ways[e] = way
        upper = products + tree.parent[e] * n_points
        lower = products + e * n_points
        change = tree.factors + (3 * e + way) * n_points
        for p in range(0, n_points, 2):  # two at a time are one instruction
            first = upper[p] * change[p]
            second = upper[p + 1] * change[p + 1]
            lower[p] = first
            lower[p + 1] = second
    for e in range(tree.n_nodes - 1, 0, -1):  # sums over the leaves below an edge
        lower = products + e * n_points
        if tree.left[e]:
            upper = products + tree.left[e] * n_points
            for p in range(0, n_points, 2):
                first = upper[p] + upper[n_points + p]
                second = upper[p + 1] + upper[n_points + p + 1]
                lower[p] = first
                lower[p + 1] = second
        if ways[e] < 2:
            change = tree.slopes + (2 * e + ways[e]) * n_points
            first = second = 0
            for p in range(0, n_points, 2):
                first = first + lower[p] * change[p]
                second = second + lower[p + 1] * change[p + 1]
            out[tree.slot[e]] += first + second


cdef inline Edges edges_of(
    Py_ssize_t t, const Py_ssize_t[:, ::1] starts, const Py_ssize_t[::1] n_points,
    const int[:, ::1] edges, const double[::1] factors, const double[::1] slopes,
) noexcept nogil:
    cdef Edges tree
    cdef Py_ssize_t first = starts[0, t]
    tree.n_nodes = starts[0, t + 1] - first
    tree.n_slots = starts[1, t + 1] - starts[1, t]
    tree.n_points = n_points[t]
    tree.parent = &edges[0, first]
    tree.above = &edges[1, first]
    tree.cut = &edges[2, first]
    tree.slot = &edges[3, first]
    tree.left = &edges[4, first]
    tree.factors = &factors[3 * starts[3, t]]
    tree.slopes = &slopes[2 * starts[3, t]]
    return tree


def tabulate(
    Py_ssize_t first, Py_ssize_t last,      # IN, of the trees to tabulate, if they have a table
    const Py_ssize_t[:, ::1] starts,        # IN, (4, n_trees + 1) first node, slot, cut and point
                                            # of all nodes of each tree
    const Py_ssize_t[::1] n_points,         # IN, (n_trees,) of a node
    const int[:, ::1] edges,                # IN, (5, n_nodes), as Edges has them
    const double[::1] factors,              # IN
    const double[::1] slopes,               # IN
    const Py_ssize_t[::1] table_starts,     # IN, (n_trees + 1,) first value; of no table, the next
    unsigned char[:, :, ::1] ways,          # OUT, (n_threads, 2, most nodes), scratch
    double[:, ::1] products,                # OUT, (n_threads, most points), scratch
    double[::1] tables,                     # OUT
):
    """What features add for all sides at the cuts of a tree: bit k of a number is that of cut k."""
    cdef int n_threads = products.shape[0]
    cdef Py_ssize_t t, k, number, n_cuts, thread
    cdef Edges tree
    for t in range(first, last):
        if table_starts[t + 1] == table_starts[t]:
            continue
        tree = edges_of(t, starts, n_points, edges, factors, slopes)
        n_cuts = starts[2, t + 1] - starts[2, t]
        for number in prange(
            (<Py_ssize_t>1) << n_cuts, schedule="static", nogil=True, num_threads=n_threads
        ):
            thread = threadid()
            for k in range(n_cuts):
                ways[thread, 0, k] = (number >> k) & 1
            attribute(
                &tree, &ways[thread, 0, 0], &ways[thread, 1, 0], &products[thread, 0],
                &tables[table_starts[t] + number * tree.n_slots],
            )


def add_contributions(
    const floating[:, :] X,                 # IN, any strides
    const Py_ssize_t[:, ::1] starts,        # IN, as above
    const Py_ssize_t[::1] n_points,         # IN, as above
    const int[:, ::1] edges,                # IN, as above
    const double[::1] factors,              # IN
    const double[::1] slopes,               # IN
    const Py_ssize_t[::1] columns,          # IN, (n_cuts,) column of X of each cut
    const double[::1] thresholds,           # IN, (n_cuts,)
    const unsigned char[::1] missing_right,  # IN, (n_cuts,)
    const Py_ssize_t[::1] sets,             # IN, (n_cuts,) row of `categories`, -1 of no set
    const unsigned int[:, ::1] categories,  # IN, (at least 1, 8) bits of the codes that go right
    const Py_ssize_t[::1] features,         # IN, (n_slots,) the feature that it is
    const Py_ssize_t[::1] table_starts,     # IN, as above
    const double[::1] tables,               # IN
    Py_ssize_t block,                       # IN, rows that go through all trees together
    unsigned char[:, :, ::1] ways,          # OUT, (n_threads, 2, most nodes), scratch
    double[:, ::1] products,                # OUT, (n_threads, most points), scratch
    double[:, ::1] local,                   # OUT, (n_threads, most slots), scratch
    double[:, ::1] contributions,           # IN and OUT, (n_samples, n_features)
):
    """Add what the features add by each tree, in the order of the trees."""
    cdef int n_threads = products.shape[0]
    cdef Py_ssize_t n_trees = n_points.shape[0]
    cdef Py_ssize_t n_blocks = (X.shape[0] + block - 1) // block
    cdef Py_ssize_t b, t, i, k, number, thread, cut, n_cuts, slot
    cdef const double* added
    cdef Edges tree
    for b in prange(n_blocks, schedule="static", nogil=True, num_threads=n_threads):
        thread = threadid()
        for t in range(n_trees):
            tree = edges_of(t, starts, n_points, edges, factors, slopes)
            cut, slot = starts[2, t], starts[1, t]
            n_cuts = starts[2, t + 1] - cut
            for i in range(b * block, min((b + 1) * block, X.shape[0])):
                number = 0
                for k in range(n_cuts):
                    ways[thread, 0, k] = goes_right(
                        X[i, columns[cut + k]], thresholds[cut + k], missing_right[cut + k],
                        &categories[sets[cut + k], 0] if sets[cut + k] >= 0 else NULL,
                    )
                if table_starts[t + 1] > table_starts[t]:
                    for k in range(n_cuts):
                        number = number | (<Py_ssize_t>ways[thread, 0, k] << k)
                    added = &tables[table_starts[t] + number * tree.n_slots]
                else:
                    attribute(
                        &tree, &ways[thread, 0, 0], &ways[thread, 1, 0], &products[thread, 0],
                        &local[thread, 0],
                    )
                    added = &local[thread, 0]
                for k in range(tree.n_slots):
                    contributions[i, features[slot + k]] += added[k]
