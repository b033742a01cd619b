# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers in text, as Python's ``int`` and ``float`` read them, to the last bit.

Serves `_letor.pyx`.

Functions return where the number ends, or NULL if there is none. They look no further than the
first byte that is not of a number: one has to be there, such as a line's end.

Numbers of up to 19 digits after Lemire, "Number parsing at a gigabyte per second", 2021: the digits
times a power of five of 128 bits show all bits of the result, or that they cannot. Python is asked
then, and for longer numbers.
"""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char* s, char** end, void* overflow) except? -1.0

cdef enum:
    MOST_DIGITS = 19    # that 64 bits hold
    EXACT_POWER = 22    # powers of ten up to this one are floats
    LOWEST = -342       # powers of ten that make a float64 of 19 digits
    HIGHEST = 308
    N_POWERS = 651

cdef double tens[EXACT_POWER + 1]
for _i in range(EXACT_POWER + 1):
    tens[_i] = float(10**_i)

# 128 bits of each power of five, high word first.
cdef uint64_t fives[N_POWERS][2]


def _power_of_five(q):
    """5^q times a power of two, as an integer of 128 bits: cut off, or up from 5^-27 to 5^-1."""
    if q >= 0:
        shift = (5**q).bit_length() - 128
        return 5**q >> shift if shift > 0 else 5**q << -shift
    return (1 << (5**-q).bit_length() + 127) // 5**-q + (q >= -27)


for _i in range(N_POWERS):
    fives[_i] = divmod(_power_of_five(LOWEST + _i), 2**64)


cdef inline bint is_digit(unsigned char letter) noexcept nogil:
    return <unsigned char>(letter - 48) < 10


cdef letters_t parse_integer(letters_t at, long long* value) noexcept nogil:
    """Parse a signed 64-bit integer."""
    cdef bint negative = at[0] == b"-"
    cdef uint64_t size = 0
    at += negative or at[0] == b"+"
    if not is_digit(at[0]):
        return NULL
    while is_digit(at[0]):
        if size > (<uint64_t>1 << 63) // 10:
            return NULL
        size = 10 * size + (at[0] - 48)
        at += 1
    if size > (<uint64_t>1 << 63) - (not negative):
        return NULL
    value[0] = <long long>(0 - size if negative else size)
    return at


cdef letters_t parse_float(letters_t at, double* value) except? NULL nogil:
    """Parse a decimal number, inf, infinity or nan."""
    cdef bint negative = at[0] == b"-"
    cdef bint minus
    cdef uint64_t digits = 0    # of which those beyond 19 make nonsense
    cdef Py_ssize_t n_digits
    cdef letters_t first, start
    cdef long long exponent = 0, power = 0
    at += negative or at[0] == b"+"
    first = start = at
    while is_digit(at[0]):
        digits = 10 * digits + (at[0] - 48)
        at += 1
    n_digits = at - first
    if at[0] == b".":
        at += 1
        while is_digit(at[0]):
            digits = 10 * digits + (at[0] - 48)
            at += 1
            exponent -= 1
        n_digits -= exponent
    if n_digits == 0:
        return parse_word(first, negative, value)
    if at[0] == b"e" or at[0] == b"E":
        at += 1
        minus = at[0] == b"-"
        at += minus or at[0] == b"+"
        if not is_digit(at[0]):
            return NULL
        while is_digit(at[0]):
            if power < <long long>1 << 56:     # more than a text has digits
                power = 10 * power + (at[0] - 48)
            at += 1
        exponent += -power if minus else power
    if n_digits > MOST_DIGITS:
        while start[0] == b"0" or start[0] == b".":
            n_digits -= start[0] == b"0"
            start += 1
    if n_digits <= MOST_DIGITS and digits >> 53 == 0 and -EXACT_POWER <= exponent <= EXACT_POWER:
        # Two exact numbers, and so one rounding.
        if exponent < 0:
            value[0] = <double>digits / tens[-exponent]
        else:
            value[0] = <double>digits * tens[exponent]
    elif n_digits > MOST_DIGITS or not nearest_double(digits, exponent, value):
        value[0] = as_python(first)
    if negative:
        value[0] = -value[0]
    return at


cdef letters_t parse_word(letters_t at, bint negative, double* value) noexcept nogil:
    cdef double size = NAN
    cdef letters_t end = after_word(at, "nan")
    if end == NULL:
        size = INFINITY
        end = after_word(at, "infinity")
    if end == NULL:
        end = after_word(at, "inf")
    value[0] = -size if negative else size
    return end


cdef letters_t after_word(letters_t at, const char* word) noexcept nogil:
    """Where a word in letters of any case ends, or NULL if it is another one."""
    while word[0]:
        if (at[0] | 32) != word[0]:
            return NULL
        at += 1
        word += 1
    return at


cdef double as_python(letters_t at) except? -1.0 nogil:
    cdef char* end = NULL
    with gil:
        return PyOS_string_to_double(<const char*>at, &end, NULL)


cdef inline void multiply(uint64_t a, uint64_t b, uint64_t* high, uint64_t* low) noexcept nogil:
    # In halves, as not every compiler has 128 bits.
    cdef uint64_t a_low = <uint32_t>a, a_high = a >> 32, b_low = <uint32_t>b, b_high = b >> 32
    cdef uint64_t least = a_low * b_low
    cdef uint64_t middle = a_high * b_low + (least >> 32)
    cdef uint64_t other = a_low * b_high + <uint32_t>middle
    high[0] = a_high * b_high + (middle >> 32) + (other >> 32)
    low[0] = (other << 32) | <uint32_t>least


cdef bint nearest_double(uint64_t digits, long long exponent, double* nearest) noexcept nogil:
    """The float64 nearest to ``digits * 10**exponent``; False where it takes more to tell."""
    cdef uint64_t high, low, carry, unused, mantissa
    cdef int leading = 0, upper
    cdef long long power
    if digits == 0:
        nearest[0] = 0
        return True
    if not LOWEST <= exponent <= HIGHEST:
        return False
    while not digits >> 63:
        digits = digits << 1
        leading += 1
    multiply(digits, fives[exponent - LOWEST][0], &high, &low)
    if (high & 0x1FF) == 0x1FF:     # what the lower word adds may carry as far as to the result
        multiply(digits, fives[exponent - LOWEST][1], &carry, &unused)
        low = low + carry
        high += low < carry
        if low == <uint64_t>0xFFFFFFFFFFFFFFFF:
            return False
    upper = <int>(high >> 63)
    mantissa = high >> (upper + 9)
    # log2(10) is 217706 / 2^16, near enough for these powers.
    power = ((217706 * exponent) >> 16) + 63 + upper - leading + 1023
    if not 0 < power < 2046:        # not a normal number, or near the largest
        return False
    if low <= 1 and -4 <= exponent <= 23 and (mantissa & 3) == 1:
        if mantissa << (upper + 9) == high:
            mantissa ^= 1           # half way: to the even one
    mantissa = (mantissa + (mantissa & 1)) >> 1
    if mantissa >> 53:
        mantissa = <uint64_t>1 << 52
        power += 1
    mantissa = (mantissa & ((<uint64_t>1 << 52) - 1)) | (<uint64_t>power << 52)
    memcpy(nearest, &mantissa, 8)
    return True
