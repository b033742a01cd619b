# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn by number, whatever was drawn before.

Serves `_leaf_search.pyx`, `_level_search.pyx` and `_yeti.pyx`.
"""


cdef void draw_candidates(
    unsigned long long seed,
    int number,                     # of the draw
    int n_drawn,
    Py_ssize_t n_features,
    unsigned char* chosen,          # OUT, (n_features,)
) noexcept nogil:
    """Choose some features without replacement."""
    cdef Py_ssize_t k, done = 0
    cdef unsigned long long x
    for k in range(n_features):
        x = split_mix(seed, number * n_features + k)
        # One of the features left is taken with the chance that as many are still wanted.
        chosen[k] = <double>(x >> 11) * 2.0 ** -53 * (n_features - k) < n_drawn - done
        done += chosen[k]
