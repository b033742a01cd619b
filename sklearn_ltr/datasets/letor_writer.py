# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writing LETOR files."""

import gzip
import re
from contextlib import nullcontext
from numbers import Integral
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from sklearn.utils import check_array

from sklearn_ltr.columns import explained
from sklearn_ltr.datasets.letor_text import LONGEST_DOCID, zstd_module
from sklearn_ltr.queries import encode_groups
from sklearn_ltr.validation import check_column


def dump_letor_file(X, y, groups, path, *, docids=None):
    """Write a ranking data set in LETOR's format.

    Whatever the numbers, `load_letor_file` reads the same ones: they have as many digits as tell
    them from all others. Indices start at 1. Zeros of a dense `X` are left out, but for the last
    column of the first row if that column would be lost.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features, which may be NaN or infinite. Numbers of float32 are written as the float64
        that are equal to them.
    y : array-like of shape (n_samples,)
        Labels.
    groups : array-like of shape (n_samples,)
        Query ids: integers of 64 bits.
    path : str, path-like or file-like
        What ends in ``.gz`` or ``.zst`` is compressed. A file-like object must be open in binary
        mode; it is not closed.
    docids : array-like of shape (n_samples,), default=None
        Document ids, str without white space and of at most 1,000 bytes; written as
        ``#docid = D`` unless empty.

    Raises
    ------
    ValueError
        If an argument cannot be written such that it is read again.
    ImportError
        If the path ends in ``.zst``, and neither Python nor the package `zstandard` can write it.

    See Also
    --------
    load_letor_file : The inverse.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sklearn_ltr.datasets import dump_letor_file
    >>> file = BytesIO()
    >>> dump_letor_file([[0.1, 0], [2, 1e-7]], [1, 0], [7, 7], file, docids=["A12", "B03"])
    >>> print(file.getvalue().decode(), end="")
    1 qid:7 1:0.1 #docid = A12
    0 qid:7 1:2 2:1e-07 #docid = B03
    """
    with explained(X):
        X = check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False
        )
    y = check_column(y, "y", X.shape[0], finite=False)
    groups = _check_ids(groups, X.shape[0])
    ends = [b""] * X.shape[0] if docids is None else _check_docids(docids, X.shape[0])
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    last = X.shape[1] - 1
    if sp.issparse(X):
        is_lost = X.nnz == 0 or X.indices.max() < last
    else:
        is_lost = not _is_written(X[:, last]).any()
    with _open_to_write(path) as file:
        for i, (label, query, end) in enumerate(zip(y.tolist(), groups, ends, strict=True)):
            if sp.issparse(X):
                cells = slice(X.indptr[i], X.indptr[i + 1])
                columns, values = X.indices[cells], X.data[cells]
            else:
                columns = np.flatnonzero(_is_written(X[i]))
                values = X[i, columns]
            line = [_number(label), f"qid:{query}"]
            pairs = zip((columns + 1).tolist(), values.tolist(), strict=True)
            line += [f"{index}:{_number(value)}" for index, value in pairs]
            if i == 0 and is_lost:
                line.append(f"{last + 1}:0")
            file.write(" ".join(line).encode() + end + b"\n")


def _is_written(X):
    return (X != 0) | np.signbit(X)  # -0.0, too


def _number(value):
    return repr(value).removesuffix(".0")


def _check_ids(groups, n_rows):
    codes, ids = encode_groups(groups, n_rows)
    ids = ids.tolist()
    for query in ids:
        if not isinstance(query, Integral) or not -(2**63) <= query < 2**63:
            raise ValueError(
                f"`groups` must be integers of 64 bits, as LETOR files have no other query ids; "
                f"got {query!r}. np.unique(groups, return_inverse=True)[1] numbers the queries."
            )
    return [ids[code] for code in codes.tolist()]


def _check_docids(docids, n_rows):
    """What follows each row."""
    docids = list(docids)
    if len(docids) != n_rows:
        raise ValueError(f"`docids` has {len(docids)} entries but there are {n_rows} rows.")
    ends = []
    for i, docid in enumerate(docids):
        if not isinstance(docid, str):
            raise TypeError(f"`docids` must be of type str; got {docid!r} at row {i}.")
        written = docid.encode(errors="replace")
        if written.decode() != docid or not re.fullmatch(
            rb"[^\s\0]{0,%d}" % LONGEST_DOCID, written
        ):
            raise ValueError(
                f"`docids` has {docid[:100]!r} at row {i}, which would not be read again: ids are "
                f"Unicode without white space and NUL, of at most {LONGEST_DOCID:,} bytes."
            )
        ends.append(b" #docid = " + written if docid else b"")
    return ends


def _open_to_write(path):
    if hasattr(path, "write"):
        return nullcontext(path)
    ending = Path(path).suffix
    if ending == ".gz":
        return gzip.open(path, "wb")
    if ending == ".zst":
        zstd = zstd_module()
        if zstd is None:
            raise ImportError(
                f"To write {path} takes Python 3.14 or the package `zstandard`: pip install "
                '"sklearn_ltr[zstd]".'
            )
        return zstd.open(path, "wb")
    return open(path, "wb")
