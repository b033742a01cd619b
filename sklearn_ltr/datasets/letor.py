# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LETOR files: SVMlight text with a query id, ``label qid:N 1:v 2:v ... #docid = D``."""

import math
import mmap
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch

from sklearn_ltr._kernels._letor import scatter
from sklearn_ltr.datasets.letor_text import (
    LetorText,
    check_arguments,
    check_disjoint,
    columns_of,
    concatenate,
)

# Memory of this process alone, where the system asks; Windows does not.
_PRIVATE = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
)


def load_letor_file(path, *, n_features=None, sparse=False, zero_based="auto", dtype=np.float64):
    """Read a ranking data set in LETOR's format.

    A line is a row, ``label qid:N index:value ... #comment``: LETOR 2.0 to 4.0, MSLR-WEB10K/30K,
    Yahoo and Istella come this way. Line ends may be LF or CRLF; blank lines and lines with only
    a comment are skipped. Labels and values are decimal numbers, ``inf`` or ``nan``.

    Files compressed by gzip or Zstandard, which their first bytes tell, are uncompressed.
    Zstandard takes Python 3.14 or the package `zstandard`.

    Parameters
    ----------
    path : str, path-like or file-like
        A file-like object must be open in binary mode; it is not closed.
    n_features : int, default=None
        Number of columns of `X`; None takes the highest index in the file. Give it when several
        sparse files belong together.
    sparse : bool, default=False
        Whether `X` is a CSR matrix; else it is dense.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0 or at 1; "auto" takes 1 unless an index 0 occurs, as
        `sklearn.datasets.load_svmlight_file` does.
    dtype : {np.float64, np.float32}, default=np.float64
        Of `X`. Values are the float64 nearest to what is written, or this rounded to float32.

    Returns
    -------
    data : Bunch
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype `dtype`
            A feature that a line leaves out is 0, a value ``NULL`` is NaN.
        y : ndarray of shape (n_samples,), dtype float64
            The labels.
        groups : ndarray of shape (n_samples,), dtype int64
            The query ids, exactly as written.
        docids : ndarray of shape (n_samples,), dtype str
            What a comment ``docid = D`` names, else the empty string; at most 1,000 bytes. Bytes
            that are not UTF-8 are replaced.

    Raises
    ------
    ValueError
        If a line is malformed or has no query id, the id does not fit into 64 bits, or a number
        not into `dtype`; if the file has no row; if it has more than `n_features` features; if a
        compressed file is damaged; if the rows do not fit into memory as a dense array. The
        message has the file and, where there is one, the line.
    ImportError
        If the file is compressed by Zstandard, and nothing can read that.

    See Also
    --------
    iter_letor_file : One chunk of queries after the other.
    letor_to_memmap : Files larger than memory.
    load_letor_folds : The five folds of a LETOR data set.
    dump_letor_file : The inverse.

    Notes
    -----
    The text is parsed block by block as it is read. Beside the result there is only the last
    block in memory.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_ltr.datasets import load_letor_file
    >>> text = b'''2 qid:7 1:0.5 2:1 #docid = A12
    ... 0 qid:7 1:NULL #docid = B03
    ... 1 qid:9 2:0.25 #docid = A12
    ... '''
    >>> data = load_letor_file(BytesIO(text))
    >>> data.X
    array([[0.5 , 1.  ],
           [ nan, 0.  ],
           [0.  , 0.25]])
    >>> data.y, data.groups
    (array([2., 0., 1.]), array([7, 7, 9]))
    >>> data.docids
    array(['A12', 'B03', 'A12'], dtype='<U3')
    """
    return _load([path], n_features, sparse, zero_based, dtype)[0]


def load_letor_folds(
    folder, *, parts="S{}", n_features=None, sparse=False, zero_based="auto", dtype=np.float64
):
    """Read the five cross-validation folds of a LETOR data set from its five parts.

    Fold i trains on the parts i, i + 1 and i + 2, validates on i + 3 and tests on i + 4, counted
    cyclically from 1 to 5.

    Parameters
    ----------
    folder : str or path-like
        Where the parts are.
    parts : str, default="S{}"
        Name of part i with ``{}`` for i, without the ending, which is ``.txt``, ``.txt.gz`` or
        ``.txt.zst``. A set that comes as folders of folds only, such as MSLR-WEB10K, has its parts
        in the test files: ``parts="Fold{}/test"`` gives its folds 5, 1, 2, 3 and 4, in this order.
    n_features : int, default=None
        Number of columns of every `X`; None takes the highest index in the five parts.
    sparse : bool, default=False
        Whether every `X` is a CSR matrix; else it is dense.
    zero_based : bool or "auto", default="auto"
        As in `load_letor_file`; "auto" decides once for all the parts.
    dtype : {np.float64, np.float32}, default=np.float64
        Of every `X`, as in `load_letor_file`.

    Returns
    -------
    folds : iterator over five Bunch
        Each with `train`, `validation` and `test`: Bunch of `X`, `y`, `groups` and `docids` as
        `load_letor_file` returns. Every part is read once, when the function is called, but a
        training set is put together only when its fold is asked for; `validation` and `test` are
        the parts themselves, shared between folds, so do not write into them.

    Raises
    ------
    FileNotFoundError
        If a part is missing.
    ValueError
        If `parts` has no ``{}``, a file is malformed, or two parts share a query id; with
        ``zero_based="auto"`` also if a part has no feature in any row, and others have.

    See Also
    --------
    load_letor_file : One file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_ltr.datasets import load_letor_folds
    >>> with TemporaryDirectory() as folder:
    ...     for i in range(1, 6):
    ...         _ = Path(folder, f"S{i}.txt").write_text(f"1 qid:{i} 1:0.5\\n0 qid:{i} 2:1\\n")
    ...     folds = load_letor_folds(folder)
    >>> for fold in folds:
    ...     print(fold.train.groups, fold.validation.groups, fold.test.groups)
    [1 1 2 2 3 3] [4 4] [5 5]
    [2 2 3 3 4 4] [5 5] [1 1]
    [3 3 4 4 5 5] [1 1] [2 2]
    [4 4 5 5 1 1] [2 2] [3 3]
    [5 5 1 1 2 2] [3 3] [4 4]
    """
    if "{}" not in parts:
        raise ValueError(
            f"`parts` must have {{}} where the number of the part goes; got {parts!r}."
        )
    paths = [_find_part(Path(folder), parts.format(i)) for i in range(1, 6)]
    data = _load(paths, n_features, sparse, zero_based, dtype)
    check_disjoint([part.groups for part in data], paths)
    return (
        Bunch(
            train=concatenate([data[(i + k) % 5] for k in range(3)]),
            validation=data[(i + 3) % 5],
            test=data[(i + 4) % 5],
        )
        for i in range(5)
    )


def _load(sources, n_features, sparse, zero_based, dtype):
    n_features, dtype = check_arguments(n_features, zero_based, dtype)
    files = [LetorText(source, zero_based, dtype) for source in sources]
    room = _Room()
    kept = [[_keep(block, sparse, dtype, room) for block in file] for file in files]
    del room
    base, n_features = columns_of(files, n_features, zero_based)
    join = _join_sparse if sparse else _join_dense
    return [
        join(file, blocks, base, n_features, dtype)
        for file, blocks in zip(files, kept, strict=True)
    ]


class _Room:
    """Memory for many arrays, which the system has back when they are gone.

    An allocator would keep it, and so blocks and what is made of them would take twice the room.
    """

    SMALLEST = 2**20

    def __init__(self):
        self._slab, self._used, self._total = b"", 0, 0

    def zeros(self, shape, dtype):
        n_bytes = math.prod(shape) * dtype.itemsize
        if self._used + n_bytes > len(self._slab):
            size = max(self.SMALLEST, n_bytes, self._total // 16)
            try:
                self._slab, self._used = mmap.mmap(-1, size, **_PRIVATE), 0
            except OSError as error:
                raise MemoryError(
                    "The rows that have been read do not fit into memory; see letor_to_memmap."
                ) from error
            self._total += size
        array = np.ndarray(shape, dtype, self._slab, self._used)
        self._used += -(-n_bytes // 64) * 64
        return array

    def copy(self, array, dtype=None):
        copy = self.zeros(array.shape, dtype or array.dtype)
        copy[...] = array
        return copy


def _keep(block, sparse, dtype, room):
    """A copy of a block; dense only where that takes less memory."""
    kept = Bunch(**{key: room.copy(getattr(block, key)) for key in ("y", "groups", "docids")})
    shape = len(block.y), int(block.indices.max(initial=0)) + 1
    if not sparse and math.prod(shape) * dtype.itemsize <= block.cells_nbytes:
        kept.X = room.zeros(shape, dtype)
        block.scatter(0, kept.X)
    else:
        kept.data = room.copy(block.values, dtype if sparse else None)
        kept.indices, kept.indptr = room.copy(block.indices), room.copy(block.indptr)
    return kept


def _join_dense(file, blocks, base, n_features, dtype):
    try:
        X = np.zeros((file.n_rows, n_features), dtype)
    except (MemoryError, ValueError) as error:  # numpy's word for even larger arrays
        raise ValueError(
            f"{file.name}: {file.n_rows:,} rows of {n_features:,} features do not fit into memory "
            "as a dense array. Give sparse=True, or look for an index that is far too high."
        ) from error
    data = _no_rows(file, blocks)
    for block, rows, _ in _taken(blocks, data):
        if "X" in block:
            X[rows, : block.X.shape[1] - base] = block.X[:, base:]
        else:
            scatter(block.data, block.indices, block.indptr, base, X[rows])
    return Bunch(X=X, **data)


def _join_sparse(file, blocks, base, n_features, dtype):
    values = np.empty(file.n_cells, dtype)
    index_dtype = np.int32 if max(file.n_cells, n_features) < 2**31 else np.int64
    indices = np.empty(file.n_cells, index_dtype)
    indptr = np.zeros(file.n_rows + 1, index_dtype)
    data = _no_rows(file, blocks)
    for block, rows, cells in _taken(blocks, data):
        values[cells] = block.data
        indices[cells] = block.indices
        indptr[rows.start + 1 : rows.stop + 1] = block.indptr[1:]
        indptr[rows.start + 1 : rows.stop + 1] += cells.start
    indices -= base
    X = sp.csr_matrix((values, indices, indptr), shape=(file.n_rows, n_features))
    return Bunch(X=X, **data)


def _no_rows(file, blocks):
    return {
        "y": np.empty(file.n_rows),
        "groups": np.empty(file.n_rows, dtype=np.int64),
        "docids": np.empty(file.n_rows, max(block.docids.dtype for block in blocks)),
    }


def _taken(blocks, data):
    """Take the blocks off their list, and put their labels and ids where they belong.

    Yields
    ------
    block, rows, cells : Bunch, slice, slice
    """
    row = cell = 0
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        rows = slice(row, row + len(block.y))
        cells = slice(cell, cell + len(block.get("data", ())))
        row, cell = rows.stop, cells.stop
        for key, array in data.items():
            array[rows] = block[key]
        yield block, rows, cells


def _find_part(folder, name):
    candidates = [folder / f"{name}.txt{ending}" for ending in ("", ".gz", ".zst")]
    for path in candidates:
        if path.exists():
            return path
    raise FileNotFoundError("There is neither " + " nor ".join(map(str, candidates)) + ".")
