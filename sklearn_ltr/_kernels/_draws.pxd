# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What is drawn by number, whatever was drawn before; see _draws.pyx."""


cdef inline unsigned long long split_mix(
    unsigned long long seed, unsigned long long n
) noexcept nogil:
    """Number n of the SplitMix64 sequence of a seed."""
    cdef unsigned long long x = seed + (n + 1) * 0x9E3779B97F4A7C15ULL
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL
    return x ^ (x >> 31)


cdef void draw_candidates(
    unsigned long long seed, int number, double share, Py_ssize_t n_features, unsigned char* chosen
) noexcept nogil
