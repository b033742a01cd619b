# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn by number, whatever was drawn before.

Serves `_allowed.pyx` and `_yeti.pyx`.
"""


cdef void draw_candidates(
    unsigned long long seed,
    int number,                     # of the draw
    double share,                   # how many of those to choose among, but one at least
    Py_ssize_t n_features,
    unsigned char* chosen,          # IN, (n_features,), which to choose among; OUT, the chosen
) noexcept nogil:
    """Choose some features without replacement."""
    cdef Py_ssize_t k, wanted, n_left = 0
    cdef unsigned long long x
    for k in range(n_features):
        n_left += chosen[k]
    wanted = max(1, <Py_ssize_t>(share * n_left))
    for k in range(n_features):
        if not chosen[k]:
            continue
        x = split_mix(seed, number * n_features + k)
        # One of the features left is taken with the chance that as many are still wanted.
        chosen[k] = <double>(x >> 11) * 2.0 ** -53 * n_left < wanted
        wanted -= chosen[k]
        n_left -= 1
