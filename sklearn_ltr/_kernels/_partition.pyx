# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a node by the side of its split, each side in the order they had.

Serves `_leaf_search.pyx`, `_level_search.pyx`, `_symmetric_tree.pyx` and `_tree.pyx`.

Lists of rows have AHEAD more entries.
"""

from cython.parallel cimport prange
from libc.string cimport memcpy, memmove

from sklearn_ltr._kernels._histogram cimport AHEAD, prefetch
from sklearn_ltr._kernels._split cimport RIGHT, CodeSet, Split, has_code
from sklearn_ltr._kernels._types cimport code_t

cdef enum:
    ROWS_PER_THREAD = 20_000  # with fewer a second thread costs more than it does
    MAX_PARTS = 64


cdef Cut cut_of(
    const Split* split, Py_ssize_t n_bins, Py_ssize_t width, bint categorical
) noexcept nogil:
    """The codes that are on the right of a split, in blocks of so many features.

    Those of categories are the split's, which has to stay where it is.
    """
    cdef unsigned int first = split.bin + 1
    cdef unsigned int n_present = <unsigned int>n_bins - first
    cdef const CodeSet* right = NULL
    if categorical:
        right = &split.right
    return Cut(
        split.feature % width, first, n_present + 1 if split.missing == RIGHT else n_present, right
    )


cdef inline bint is_right(unsigned int code, Cut cut) noexcept nogil:
    if cut.right != NULL:
        return has_code(cut.right, code)
    return code - cut.first_right < cut.n_right  # of unsigned integers


cdef Py_ssize_t partition_part(
    const code_t[:, ::1] codes, Cut cut, unsigned int* rows, Py_ssize_t n, unsigned int* right_rows
) noexcept nogil:
    """Rows of the left side to the front, those of the right side to another list."""
    cdef const code_t* column = &codes[0, cut.column]
    cdef Py_ssize_t width = codes.shape[1]
    cdef Py_ssize_t i, n_left = 0
    cdef unsigned int row
    for i in range(n):
        # Not beyond the part, where another thread writes.
        prefetch(column + width * <size_t>rows[min(i + AHEAD, n - 1)])
        row = rows[i]
        # Written to both sides, since which one it belongs to cannot be predicted.
        rows[n_left] = right_rows[i - n_left] = row
        n_left += not is_right(column[width * <size_t>row], cut)
    return n_left


cdef Py_ssize_t partition(
    const code_t[:, ::1] codes,     # IN, of the block with the split's feature
    Cut cut,
    unsigned int* rows,             # IN/OUT
    Py_ssize_t n,
    unsigned int* buffer,           # (n,)
    int n_threads,
) noexcept nogil:
    """Put the rows of the left side first. Returns how many they are."""
    cdef Py_ssize_t n_left[MAX_PARTS]
    cdef Py_ssize_t first[MAX_PARTS + 1]
    cdef Py_ssize_t part, m, done = 0
    cdef int n_parts = min(n_threads, MAX_PARTS) if n >= ROWS_PER_THREAD else 1
    cdef Py_ssize_t total
    for part in range(n_parts + 1):
        first[part] = n * part // n_parts
    for part in prange(n_parts, schedule="static", num_threads=n_parts):
        n_left[part] = partition_part(
            codes, cut, rows + first[part], first[part + 1] - first[part], buffer + first[part]
        )
    for part in range(n_parts):
        memmove(rows + done, rows + first[part], n_left[part] * sizeof(unsigned int))
        done += n_left[part]
    total = done
    for part in range(n_parts):
        m = first[part + 1] - first[part] - n_left[part]
        memcpy(rows + done, buffer + first[part], m * sizeof(unsigned int))
        done += m
    return total


cdef long long count_left(
    const code_t[:, ::1] codes, Cut cut, const unsigned int* rows, Py_ssize_t n,
    const long long[::1] counts
) noexcept nogil:
    """Sum of `counts` over the rows of the left side."""
    cdef const code_t* column = &codes[0, cut.column]
    cdef Py_ssize_t width = codes.shape[1]
    cdef Py_ssize_t i
    cdef long long count = 0
    for i in range(n):
        # Not beyond the leaf, where another thread may write.
        prefetch(column + width * <size_t>rows[min(i + AHEAD, n - 1)])
        if not is_right(column[width * <size_t>rows[i]], cut):
            count += counts[rows[i]]
    return count


cdef Py_ssize_t rows_left(
    const code_t[:, ::1] codes, Cut cut, const unsigned int* rows, Py_ssize_t n
) noexcept nogil:
    """How many rows are on the left side."""
    cdef const code_t* column = &codes[0, cut.column]
    cdef Py_ssize_t width = codes.shape[1]
    cdef Py_ssize_t i, n_left = 0
    for i in range(n):
        n_left += not is_right(column[width * <size_t>rows[i]], cut)
    return n_left
