# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of LETOR text, ``label qid:N index:value ... #comment``.

Serves `datasets/letor_text.py` and `datasets/letor.py`.
"""

from libc.math cimport INFINITY, NAN, fabs
from libc.string cimport memchr, memcmp

from sklearn_ltr._kernels._numbers cimport letters_t, parse_float, parse_integer
from sklearn_ltr._kernels._types cimport floating

cdef struct Fault:
    const char* reason          # NULL if there is none
    letters_t token             # NULL if it is of the line


def parse_rows(
    const unsigned char[::1] text,  # IN, whole lines; the last one ends in LF, too
    bint zero_based,                # whether there may be an index 0
    double limit,                   # what is too large for a value
    double[::1] values,             # OUT, by cell: `len(text) // 4 + 1` are enough
    int[::1] indices,               # OUT, by cell, as written
    Py_ssize_t[::1] indptr,         # OUT, by row, and one more: `len(text) // 8 + 2` are enough
    double[::1] labels,             # OUT, by row, as are the following
    long long[::1] queries,         # OUT
    Py_ssize_t[:, ::1] places,      # OUT, where its line and its document id begin, and this ends
):
    """Parse the rows of some lines.

    Returns how many rows and lines there are before the end or the first malformed line; what is
    wrong with it, or None; and where it, and the malformed token in it, begin.
    """
    cdef letters_t begin = &text[0]
    cdef letters_t at = begin
    cdef letters_t end = begin + text.shape[0]
    cdef letters_t line_end, stop, sharp, docid, docid_end
    cdef Py_ssize_t n_rows = 0, n_lines = 0, n_cells = 0
    cdef Fault fault = Fault(NULL, NULL)
    indptr[0] = 0
    with nogil:
        while at < end:
            line_end = <letters_t>memchr(at, b"\n", end - at)
            stop = line_end
            while stop > at and (stop - 1)[0] == b"\r":
                stop -= 1
            if memchr(at, 0, stop - at):
                fault = Fault("the line has a NUL byte", NULL)
                break
            if memchr(at, b"\r", stop - at):
                # Lines that end in CR alone would be lost behind the first comment.
                fault = Fault("the line has a carriage return in its midst", NULL)
                break
            sharp = <letters_t>memchr(at, b"#", stop - at)
            docid = docid_end = at
            if sharp != NULL:
                docid = docid_of(sharp, stop)
                docid_end = after_token(docid, stop)
                stop = sharp
            if after_space(at, stop) < stop:
                places[n_rows, 0] = at - begin
                places[n_rows, 1] = docid - begin
                places[n_rows, 2] = docid_end - begin
                n_cells = parse_row(
                    at, stop, zero_based, limit, &labels[n_rows], &queries[n_rows],
                    &values[0], &indices[0], n_cells, &fault,
                )
                if fault.reason != NULL:
                    break
                n_rows += 1
                indptr[n_rows] = n_cells
            n_lines += 1
            at = line_end + 1
    if fault.reason == NULL:
        return n_rows, n_lines, None, 0, None
    token = None if fault.token == NULL else fault.token - begin
    return n_rows, n_lines, fault.reason.decode(), at - begin, token


cdef inline bint is_space(unsigned char letter) noexcept nogil:
    return letter == b" " or 9 <= letter <= 13


cdef inline letters_t after_space(letters_t at, letters_t stop) noexcept nogil:
    while at < stop and is_space(at[0]):
        at += 1
    return at


cdef inline letters_t after_token(letters_t at, letters_t stop) noexcept nogil:
    while at < stop and not is_space(at[0]):
        at += 1
    return at


cdef letters_t docid_of(letters_t at, letters_t stop) noexcept nogil:
    """Where what a comment ``docid = D`` names begins; `stop` if there is none."""
    cdef letters_t name
    while at < stop:
        name = <letters_t>memchr(at, b"d", stop - at)
        if name == NULL:
            break
        at = name + 1
        if stop - name > 5 and memcmp(name, b"docid", 5) == 0:
            name = after_space(name + 5, stop)
            if name < stop and name[0] == b"=":
                name = after_space(name + 1, stop)
                if name < stop:
                    return name
    return stop


cdef inline bint is_end(letters_t at, letters_t stop) noexcept nogil:
    """Whether a number was found, and is all of its token."""
    return at != NULL and (at == stop or is_space(at[0]))


cdef inline bint is_overflow(letters_t end, double value, double limit) noexcept nogil:
    """Whether a number is too large; what ends in a letter is no number, but the word inf."""
    return fabs(value) >= limit and (end - 1)[0] < b"A"


cdef Py_ssize_t parse_row(
    letters_t at, letters_t stop, bint zero_based, double limit, double* label, long long* query,
    double* values, int* indices, Py_ssize_t n_cells, Fault* fault,
) except -1 nogil:
    """Parse a line up to its comment; returns the number of cells up to its end.

    At `stop` is a comment or the line's end, at which numbers and names end, too.
    """
    cdef letters_t token = after_space(at, stop)
    cdef letters_t end = after_token(token, stop)
    cdef long long index, last = -1
    at = after_space(end, stop)
    if not (at[0] == b"q" and at[1] == b"i" and at[2] == b"d" and at[3] == b":"):
        fault[0] = Fault("no query id after the label", NULL)
        return 0
    if parse_float(token, label) != end:
        fault[0] = Fault("the label is not a number", token)
        return 0
    if is_overflow(end, label[0], INFINITY):
        fault[0] = Fault("the label is too large", token)
        return 0
    token = at
    at = parse_integer(token + 4, query)
    if not is_end(at, stop):
        fault[0] = Fault("the query id is not a signed 64-bit integer", token)
        return 0
    while True:
        token = after_space(at, stop)
        if token == stop:
            return n_cells
        at = parse_integer(token, &index)
        if at == NULL or at[0] != b":":
            fault[0] = Fault("this is not `index:value`", token)
            return 0
        if not 0 <= index <= 2147483647:
            fault[0] = Fault("the index is not between 0 and 2,147,483,647", token)
            return 0
        if index == 0 and not zero_based:
            fault[0] = Fault("there is an index 0, where indices start at 1", token)
            return 0
        if index <= last:
            fault[0] = Fault("indices must be sorted and unique", token)
            return 0
        last = index
        if at[1] == b"N" and at[2] == b"U" and at[3] == b"L" and at[4] == b"L":
            at += 5
            values[n_cells] = NAN
        else:
            at = parse_float(at + 1, &values[n_cells])
        if not is_end(at, stop):
            fault[0] = Fault("the value is not a number", token)
            return 0
        if is_overflow(at, values[n_cells], limit):
            fault[0] = Fault("the value is too large", token)
            return 0
        indices[n_cells] = <int>index
        n_cells += 1


def copy_ascii(
    const unsigned char[::1] text,      # IN
    const Py_ssize_t[:, ::1] places,    # IN, of each row as in `parse_rows`
    unsigned int[:, ::1] out,           # OUT, letters of the document ids
):
    """Copy the document ids; returns whether all of them are ASCII."""
    cdef Py_ssize_t i, k
    cdef unsigned char all_letters = 0
    with nogil:
        for i in range(places.shape[0]):
            for k in range(places[i, 1], places[i, 2]):
                all_letters |= text[k]
                out[i, k - places[i, 1]] = text[k]
    return all_letters < 128


def scatter(
    const double[::1] values,           # IN, by cell
    const int[::1] indices,             # IN, by cell
    const Py_ssize_t[::1] indptr,       # IN, by row, and one more
    int base,                           # index of the first column
    floating[:, ::1] out,               # OUT, only the cells that there are
):
    """Put the cells of sparse rows into a dense array."""
    cdef Py_ssize_t i, p
    with nogil:
        for i in range(out.shape[0]):
            for p in range(indptr[i], indptr[i + 1]):
                out[i, indices[p] - base] = <floating>values[p]
