# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The features that a node may split on: by interaction constraints, and by draws.

Serves `_leaf_search.pyx` and `_level_search.pyx`.
"""

import numpy as np

cimport cython
from libc.string cimport memcpy, memset

from sklearn_ltr._kernels._draws cimport draw_candidates


@cython.nonecheck(False)  # of `self`, never None: the check would need the GIL
cdef class AllowedFeatures:
    """Keeps which features are used above each leaf, and says which may follow.

    Parameters
    ----------
    interactions : Interactions or None
        A leaf may use the features that go together with all that are used above it; None: any.
    share : float
        Of the features that it may use, a node chooses among this share.
    n_features, max_leaves : int
        A symmetric tree has one leaf here, which stands for all of a level.
    """

    def __init__(self, interactions, share, n_features, max_leaves):
        self.constrained = interactions is not None
        self.share, self.n_features = share, n_features
        self.vary = self.constrained or share < 1
        if self.constrained:
            self.most = interactions.most
            self.members, self.member_starts = interactions.members, interactions.member_starts
            self.groups, self.group_starts = interactions.groups, interactions.group_starts
            self.used = np.zeros((max_leaves, n_features), dtype=np.uint8)

    cdef void plant(self) noexcept nogil:
        """Start with a root, above which nothing is used."""
        if self.constrained:
            memset(&self.used[0, 0], 0, self.n_features)

    cdef void divide(self, int leaf, int new, int feature) noexcept nogil:
        """Make two leaves of one by a split on a feature; they may be the same."""
        if not self.constrained:
            return
        self.used[leaf, feature] = True
        if new != leaf:
            memcpy(&self.used[new, 0], &self.used[leaf, 0], self.n_features)

    cdef void choose(
        self,
        unsigned long long seed,
        int number,                     # of the draw
        int leaf,
        unsigned char* chosen,          # OUT, (n_features,)
    ) noexcept nogil:
        """The features that a leaf may split on."""
        self.list_allowed(leaf, chosen)
        if self.share < 1:
            draw_candidates(seed, number, self.share, self.n_features, chosen)

    cdef void list_allowed(
        self,
        int leaf,
        unsigned char* allowed,         # OUT, (n_features,)
    ) noexcept nogil:
        """The features that go together with all that are used above a leaf."""
        cdef Py_ssize_t k, g, i, of_group
        cdef Py_ssize_t any_used = -1
        cdef Py_ssize_t n_used = 0
        if self.constrained:
            for k in range(self.n_features):
                if self.used[leaf, k]:
                    n_used += 1
                    any_used = k
        if n_used == 0 or n_used < self.most:
            memset(allowed, 1, self.n_features)
            return
        if self.most:
            memcpy(allowed, &self.used[leaf, 0], self.n_features)
            return
        memset(allowed, 0, self.n_features)
        for g in range(self.group_starts[any_used], self.group_starts[any_used + 1]):
            of_group = 0
            for i in range(
                self.member_starts[self.groups[g]], self.member_starts[self.groups[g] + 1]
            ):
                of_group += self.used[leaf, self.members[i]]
            if of_group < n_used:
                continue
            for i in range(
                self.member_starts[self.groups[g]], self.member_starts[self.groups[g] + 1]
            ):
                allowed[self.members[i]] = True
