# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of numbers of 64 bits, without any rounding.

Serves `reduction.py`.

A sum is an integer in units of the smallest positive number, in limbs of 32 bits of int64 words, so
that words of several sums can be added up as they are. Three more words count what is no number:
NaN, infinity, minus infinity.
"""

from cython.parallel cimport prange
from libc.math cimport INFINITY, NAN, fabs, frexp, ldexp
from libc.string cimport memcpy, memset

cdef enum:
    LIMBS = 67          # 2,098 bits, and 46 for the number of what is added up
    NAN_WORD = 67
    INF_WORD = 68
    MINUS_INF_WORD = 69
    N_WORDS = 70
    BLOCK = 1024        # numbers that are taken at a time
    BLOCK_BITS = 10
    LANES = 8
    LONGEST_LANE = 128  # a block is LANES of them
    SHORT_LANE = 32     # of fewer numbers
    FEW = 32            # numbers that are added one by one
    LARGEST = 990       # exponents of sums of absolute numbers for which `add_block` is exact
    SMALLEST = -850

WORDS = N_WORDS


cdef void add_one(double x, long long* words) noexcept nogil:
    """Add a number."""
    cdef unsigned long long bits, mantissa, low, high
    cdef long long sign
    cdef int exponent, shift
    cdef long long* limb
    if x == 0:
        return
    memcpy(&bits, &x, sizeof(double))
    sign = -1 if bits >> 63 else 1
    exponent = (bits >> 52) & 0x7FF
    mantissa = bits & 0xFFFFFFFFFFFFFULL
    if exponent == 0x7FF:
        words[NAN_WORD if mantissa else (INF_WORD if sign > 0 else MINUS_INF_WORD)] += 1
        return
    if exponent:
        mantissa |= 1ULL << 52
        exponent -= 1
    limb = words + (exponent >> 5)
    shift = exponent & 31
    low = (mantissa & 0xFFFFFFFFULL) << shift
    high = (mantissa >> 32) << shift
    limb[0] += sign * <long long>(low & 0xFFFFFFFFULL)
    limb[1] += sign * <long long>((low >> 32) + (high & 0xFFFFFFFFULL))
    limb[2] += sign * <long long>(high >> 32)


cdef void carry(long long* words) noexcept nogil:
    """Bring all limbs but the last between 0 and 2^32."""
    cdef int i
    for i in range(LIMBS - 1):
        words[i + 1] += words[i] >> 32
        words[i] &= 0xFFFFFFFFLL


cdef double fold(double* x, Py_ssize_t n) noexcept nogil:
    """Sum of numbers, a power of two of them, by halves: processors add up several at a time."""
    cdef Py_ssize_t i
    while n > 1:
        n = n // 2
        for i in range(n):
            x[i] += x[n + i]
    return x[0]


cdef inline double add_level(
    double* x, Py_ssize_t lane, double unit, bint look, long long* words
) noexcept nogil:
    """Add a block's numbers rounded to multiples of `unit`, and leave what is left of them.

    Returns 0 if that is nothing, where it is to `look`.
    """
    cdef double sums[LONGEST_LANE]
    cdef double rests[LONGEST_LANE]
    cdef double anchor = 1.5 * ldexp(unit, 52)
    cdef double value, q, sum, rest
    cdef Py_ssize_t i, j
    for i in range(lane):
        sum = rest = 0
        for j in range(LANES):
            value = x[lane * j + i]
            q = (value + anchor) - anchor
            value -= q
            x[lane * j + i] = value
            sum += q
            if look:
                rest += fabs(value)
        sums[i] = sum
        if look:
            rests[i] = rest
    add_one(fold(sums, lane), words)
    return fold(rests, lane) if look else 1


cdef inline void add_block(double* x, Py_ssize_t lane, long long* words) noexcept nogil:
    """Add numbers, LANES times a power of two of them and BLOCK at most, which are lost.

    A number is parted into a multiple of a unit, so coarse that sums of a block's are exact, and a
    rest, which is parted again. Two units are enough for all but numbers of very different sizes.
    """
    cdef double sizes[LONGEST_LANE]
    cdef double size
    cdef Py_ssize_t i, j
    cdef int exponent
    for i in range(lane):
        size = 0
        for j in range(LANES):
            size += fabs(x[lane * j + i])
        sizes[i] = size
    size = fold(sizes, lane)
    if size == 0:
        return
    # Infinity and NaN are not in the range.
    if size - size == 0:
        frexp(size, &exponent)
        if SMALLEST < exponent < LARGEST:
            exponent += 1  # the size is rounded
            add_level(x, lane, ldexp(1.0, exponent - 51), False, words)
            # What is left of a number is at most half a unit.
            exponent += BLOCK_BITS - 51
            if add_level(x, lane, ldexp(1.0, exponent - 51), True, words) == 0:
                return
    for i in range(LANES * lane):
        add_one(x[i], words)


cdef void add_part(
    const double* values, const double* weights, bint absolute, Py_ssize_t n, long long* words
) noexcept nogil:
    """The words of a sum."""
    cdef double x[BLOCK]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t i, m
    memset(words, 0, N_WORDS * sizeof(long long))
    while start < n:
        m = min(n - start, BLOCK)
        for i in range(m):
            x[i] = values[start + i]
        if weights != NULL:
            for i in range(m):
                x[i] *= weights[start + i]
        if absolute:
            for i in range(m):
                x[i] = fabs(x[i])
        # Loops of a fixed length are vectorised.
        if m > 2 * LANES * SHORT_LANE:
            memset(x + m, 0, (LANES * LONGEST_LANE - m) * sizeof(double))
            add_block(x, LONGEST_LANE, words)
        elif m > FEW:
            m = min(m, LANES * SHORT_LANE)
            memset(x + m, 0, (LANES * SHORT_LANE - m) * sizeof(double))
            add_block(x, SHORT_LANE, words)
        else:
            for i in range(m):
                add_one(x[i], words)
        start += m
    carry(words)


def add(
    const double[::1] values,       # IN
    const double[::1] weights,      # IN, what they are multiplied by; or empty: nothing
    bint absolute,                  # whether to add up absolute values
    long long[:, ::1] words,        # OUT, (n_threads, N_WORDS); the sum is in the first one
):
    """Sum of numbers, or of their products with others, each rounded."""
    cdef Py_ssize_t n = values.shape[0]
    cdef int n_parts = <int>words.shape[0]
    cdef const double* factors = &weights[0] if weights.shape[0] else NULL
    cdef Py_ssize_t part, first, i
    if n == 0:
        words[0, :] = 0
        return
    for part in prange(n_parts, schedule="static", nogil=True, num_threads=n_parts):
        first = n * part // n_parts
        add_part(
            &values[0] + first, factors + first if factors != NULL else NULL, absolute,
            n * (part + 1) // n_parts - first, &words[part, 0],
        )
    for part in range(1, n_parts):
        for i in range(N_WORDS):
            words[0, i] += words[part, i]


def add_each(
    const double[:, ::1] values,    # IN, (n_sums, n)
    const double[::1] weights,      # IN, (n,), what those of each sum are multiplied by; or empty
    long long[:, ::1] words,        # OUT, (n_sums, N_WORDS)
    int n_threads,
):
    """Sums of several numbers, or of their products with others, each rounded."""
    cdef Py_ssize_t n = values.shape[1]
    cdef const double* factors = &weights[0] if weights.shape[0] else NULL
    cdef Py_ssize_t k
    if n == 0:
        words[:] = 0
        return
    for k in prange(values.shape[0], schedule="static", nogil=True, num_threads=n_threads):
        add_part(&values[k, 0], factors, False, n, &words[k, 0])


cdef double round_sum(long long* words) noexcept nogil:
    """The number nearest to a sum, the even one of two. The words are changed."""
    cdef bint negative
    cdef int i, top, spare
    cdef unsigned long long high, third
    cdef double found
    if words[NAN_WORD] or (words[INF_WORD] and words[MINUS_INF_WORD]):
        return NAN
    if words[INF_WORD] or words[MINUS_INF_WORD]:
        return INFINITY if words[INF_WORD] else -INFINITY
    carry(words)
    negative = words[LIMBS - 1] < 0
    if negative:
        for i in range(LIMBS):
            words[i] = -words[i]
        carry(words)
    top = LIMBS - 1
    while top > 1 and words[top] == 0:
        top -= 1
    if top == LIMBS - 1:            # at least 2^1038
        return -INFINITY if negative else INFINITY
    high = (<unsigned long long>words[top] << 32) | <unsigned long long>words[top - 1]
    spare = 0
    if top > 1:
        # 64 bits from the first one that is set, the last of which says if there are more below.
        third = words[top - 2]
        while not high >> 63:
            high = high << 1 | ((third >> 31) & 1)
            third <<= 1
            spare += 1
        third &= 0xFFFFFFFFULL
        for i in range(top - 2):
            third |= words[i]
        high |= third != 0
    # With fewer bits the number is exact, or rounded above the smallest normal ones.
    found = ldexp(<double>high, 32 * (top - 1) - spare - 1074)
    return -found if negative else found


def rounded(
    long long[:, ::1] words,        # IN, (n_sums, N_WORDS); changed
    double[::1] sums,               # OUT, (n_sums,)
):
    """The numbers nearest to sums."""
    cdef Py_ssize_t k
    for k in range(words.shape[0]):
        sums[k] = round_sum(&words[k, 0])
