# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LETOR files larger than memory: chunk by chunk, or as arrays on disk."""

import os
from contextlib import ExitStack, contextmanager
from numbers import Integral
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch, check_scalar

from sklearn_ltr.datasets.letor_text import (
    LetorText,
    check_arguments,
    check_disjoint,
    columns_of,
    concatenate,
)


def iter_letor_file(
    path, *, n_features, chunk_rows=100_000, sparse=False, zero_based=False, dtype=np.float64
):
    """Read a file in LETOR's format chunk by chunk, each of whole queries.

    Parameters
    ----------
    path : str, path-like or file-like
        As in `load_letor_file`.
    n_features : int
        Number of columns of each `X`.
    chunk_rows : int, default=100_000
        Most rows of a chunk, but for a single query that has more.
    sparse : bool, default=False
        Whether each `X` is a CSR matrix; else it is dense.
    zero_based : bool, default=False
        Whether indices start at 0 or at 1.
    dtype : {np.float64, np.float32}, default=np.float64
        As in `load_letor_file`.

    Yields
    ------
    chunk : Bunch
        X, y, groups and docids of as many queries as fit, as `load_letor_file` returns them.

    Raises
    ------
    ValueError
        As `load_letor_file` does, when the chunk is due; and if rows of a query are not below one
        another, as then a chunk cannot hold all of it.

    See Also
    --------
    load_letor_file : All at once.
    letor_to_memmap : To a file that rankers are fitted to.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_ltr.datasets import iter_letor_file
    >>> text = b"1 qid:1 1:5\\n0 qid:1 2:4\\n2 qid:2 1:3\\n0 qid:3 1:2\\n"
    >>> for chunk in iter_letor_file(BytesIO(text), n_features=2, chunk_rows=3):
    ...     print(chunk.groups, chunk.X.tolist())
    [1 1 2] [[5.0, 0.0], [0.0, 4.0], [3.0, 0.0]]
    [3] [[2.0, 0.0]]
    """
    if n_features is None:
        raise ValueError("`n_features` must be given, so that all chunks have as many columns.")
    if isinstance(zero_based, str):
        raise ValueError(  # noqa: TRY004 - other functions take a string
            f"`zero_based` must be False or True, as the first chunk cannot tell; got "
            f"{zero_based!r}."
        )
    n_features, dtype = check_arguments(n_features, zero_based, dtype)
    check_scalar(chunk_rows, "chunk_rows", Integral, min_val=1)
    file = LetorText(path, zero_based, dtype)
    return _chunks(file, n_features, int(chunk_rows), sparse, dtype)


def letor_to_memmap(paths, folder, *, n_features=None, zero_based="auto", dtype=np.float32):
    """Convert files in LETOR's format, larger than memory, to arrays of NumPy on disk.

    The files are read twice: what shape `X` has is known at their end. In memory there are the
    labels and query ids, 16 bytes a row, and a block of rows.

    Parameters
    ----------
    paths : str, path-like or list of them
        Files of one data set, compressed or not; their rows follow one another.
    folder : str or path-like
        Where to write ``X.npy``, ``y.npy`` and ``groups.npy``, in the place of those that are
        there. It is made if need be.
    n_features : int, default=None
        Number of columns of `X`; None takes the highest index in the files.
    zero_based : bool or "auto", default="auto"
        As in `load_letor_file`; "auto" decides once for all the files.
    dtype : {np.float32, np.float64}, default=np.float32
        Of `X`, as in `load_letor_file`.

    Returns
    -------
    data : Bunch
        X : memmap of shape (n_samples, n_features), dtype `dtype`
            To be read only. Later, ``np.load("X.npy", mmap_mode="r")`` gives it again.
        y : ndarray of shape (n_samples,), dtype float64
            The labels.
        groups : ndarray of shape (n_samples,), dtype int64
            The query ids.

    Raises
    ------
    ValueError
        As `load_letor_file` does; if two files share a query id; if a file is another one when
        it is read again. The folder is then as it was.

    See Also
    --------
    iter_letor_file : Chunks without a file on disk.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import letor_to_memmap
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("1 qid:1 1:0.5\\n0 qid:1 2:1\\n")
    ...     _ = Path(folder, "b.txt").write_text("2 qid:2 1:3\\n")
    ...     data = letor_to_memmap([Path(folder, "a.txt"), Path(folder, "b.txt")], folder)
    ...     print(type(data.X).__name__, data.X.dtype, data.X.tolist(), data.groups)
    ...     del data  # Windows removes no file that is mapped
    memmap float32 [[0.5, 0.0], [0.0, 1.0], [3.0, 0.0]] [1 1 2]
    """
    paths = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise ValueError(f"`paths` must be a path or a list of paths; got {paths!r}.")
    n_features, dtype = check_arguments(n_features, zero_based, dtype)
    files, labels = [], []
    for path in paths:
        files.append(LetorText(path, zero_based, dtype))
        blocks = [(block.y.copy(), block.groups.copy()) for block in files[-1]]
        labels.append([np.concatenate(arrays) for arrays in zip(*blocks, strict=True)])
    base, n_features = columns_of(files, n_features, zero_based)
    check_disjoint([groups for _, groups in labels], paths)
    y, groups = (np.concatenate(arrays) for arrays in zip(*labels, strict=True))
    del labels
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with _in_place_of(folder / "X.npy", folder / "y.npy", folder / "groups.npy") as parts:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (len(y), n_features)}
        np.lib.format.write_array_header_1_0(parts[0], header)
        for file in files:
            again = LetorText(file.source, zero_based, dtype)
            for block in again:
                again.check_width(block, base, n_features)
                parts[0].write(block.dense(base, n_features, dtype))
            if (again.n_rows, again.n_cells) != (file.n_rows, file.n_cells):
                raise ValueError(f"{file.name} has changed since it was read for the first time.")
        np.save(parts[1], y)
        np.save(parts[2], groups)
    return Bunch(X=np.load(folder / "X.npy", mmap_mode="r"), y=y, groups=groups)


def _chunks(file, n_features, chunk_rows, sparse, dtype):
    waiting, seen = [], set()
    for block in file:
        _check_whole(file, block, waiting, seen)
        waiting.append(_part(file, block, n_features, sparse, dtype))
        n_rows = sum(len(part.y) for part in waiting)
        if n_rows > chunk_rows and waiting[0].groups[0] != waiting[-1].groups[-1]:
            rows = concatenate(waiting)
            first, stops = 0, _starts(rows.groups)[1:]
            while n_rows - first > chunk_rows and len(stops):
                # As many queries as fit, or one.
                n = max(1, np.searchsorted(stops, first + chunk_rows, side="right"))
                yield _cut(rows, first, stops[n - 1])
                first, stops = stops[n - 1], stops[n:]
            waiting = [_cut(rows, first, n_rows)]
    yield concatenate(waiting)


def _part(file, block, n_features, sparse, dtype):
    base = 1 - file.zero_based
    file.check_width(block, base, n_features)
    return Bunch(
        X=(block.sparse if sparse else block.dense)(base, n_features, dtype),
        y=block.y.copy(),
        groups=block.groups.copy(),
        docids=block.docids,
    )


def _starts(groups):
    """Where rows of another query begin."""
    return np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))


def _check_whole(file, block, waiting, seen):
    last = waiting[-1].groups[-1] if waiting else None
    for row in _starts(block.groups).tolist():
        query = block.groups[row].item()
        if row == 0 and query == last:
            continue
        if query in seen:
            raise ValueError(
                f"{file.name}, line {block.line_of(row)}: rows of query {query} come again after "
                "those of another query, so that no chunk can hold all of them. Sort the file by "
                "query, or read it by load_letor_file."
            )
        seen.add(query)


def _cut(rows, first, stop):
    return Bunch(**{key: values[first:stop] for key, values in rows.items()})


@contextmanager
def _in_place_of(*paths):
    """Open files to write that take the places of others when all is written."""
    parts = [path.with_name(path.name + ".part") for path in paths]
    try:
        with ExitStack() as stack:
            yield [stack.enter_context(open(part, "wb")) for part in parts]
        for part, path in zip(parts, paths, strict=True):
            os.replace(part, path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
