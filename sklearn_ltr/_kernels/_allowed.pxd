# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The features that a node may split on; see _allowed.pyx."""


cdef class AllowedFeatures:
    cdef readonly bint vary                 # whether not all nodes may split on all features
    cdef bint constrained
    cdef Py_ssize_t n_features
    cdef double share
    cdef Py_ssize_t most                    # features that go together whatever they are; 0: groups
    cdef const Py_ssize_t[::1] members, member_starts   # features of each group
    cdef const Py_ssize_t[::1] groups, group_starts     # groups of each feature
    cdef unsigned char[:, ::1] used         # (max_leaves, n_features), whether above a leaf

    cdef void plant(self) noexcept nogil

    cdef void divide(self, int leaf, int new, int feature) noexcept nogil

    cdef void choose(
        self, unsigned long long seed, int number, int leaf, unsigned char* chosen
    ) noexcept nogil

    cdef void list_allowed(self, int leaf, unsigned char* allowed) noexcept nogil
