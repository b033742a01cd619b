# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LETOR files: SVMlight text with a query id, ``label qid:N 1:v 2:v ... #docid = D``."""

import gzip
import re
import zlib
from array import array
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from scipy import sparse as sp
from sklearn.datasets import load_svmlight_files
from sklearn.utils import Bunch

_DOCID = re.compile(rb"docid\s*=\s*(\S+)")

# Longest document id, in bytes: an array of strings gives each as much room as the longest.
_LONGEST_DOCID = 1_000

# Messages quote at most so many characters of what scikit-learn or Python say of a line.
_LONGEST_REASON = 200


def load_letor_file(path, *, n_features=None, sparse=False, zero_based="auto"):
    """Read a ranking data set in LETOR's format.

    A line is a row, ``label qid:N index:value ... #comment``: LETOR 2.0 to 4.0, MSLR-WEB10K/30K,
    Yahoo and Istella come this way. Line ends may be LF or CRLF; blank lines and lines with only
    a comment are skipped. Labels and values are decimal numbers, ``inf`` or ``nan``.

    Parameters
    ----------
    path : str, path-like or file-like
        A path that ends in ``.gz`` is uncompressed. A file-like object must be open in binary
        mode; it is not closed.
    n_features : int, default=None
        Number of columns of `X`; None takes the highest index in the file. Give it when several
        sparse files belong together.
    sparse : bool, default=False
        Whether `X` is a CSR matrix; else it is dense.
    zero_based : bool or "auto", default="auto"
        Whether indices start at 0 or at 1; "auto" takes 1 unless an index 0 occurs, as
        `sklearn.datasets.load_svmlight_file` does.

    Returns
    -------
    data : Bunch
        X : ndarray or CSR matrix of shape (n_samples, n_features), dtype float64
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
        If a line is malformed or has no query id, or the id does not fit into 64 bits; if the
        file has no row; if it has more than `n_features` features; if a compressed file is
        damaged; if the rows do not fit into memory as a dense array. The message has the file
        and, where there is one, the line.

    See Also
    --------
    load_letor_folds : The five folds of a LETOR data set.

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
    return _load([path], n_features, sparse, zero_based)[0]


def load_letor_folds(folder, *, parts="S{}", n_features=None, sparse=False, zero_based="auto"):
    """Read the five cross-validation folds of a LETOR data set from its five parts.

    Fold i trains on the parts i, i + 1 and i + 2, validates on i + 3 and tests on i + 4, counted
    cyclically from 1 to 5.

    Parameters
    ----------
    folder : str or path-like
        Where the parts are.
    parts : str, default="S{}"
        Name of part i with ``{}`` for i, without the ending ``.txt`` or ``.txt.gz``. A set that
        comes as folders of folds only, such as MSLR-WEB10K, has its parts in the test files:
        ``parts="Fold{}/test"`` gives its folds 5, 1, 2, 3 and 4, in this order.
    n_features : int, default=None
        Number of columns of every `X`; None takes the highest index in the five parts.
    sparse : bool, default=False
        Whether every `X` is a CSR matrix; else it is dense.
    zero_based : bool or "auto", default="auto"
        As in `load_letor_file`; "auto" decides once for all the parts.

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
    data = _load(paths, n_features, sparse, zero_based)
    _check_disjoint(data, paths)
    return (
        Bunch(
            train=_concatenate([data[(i + k) % 5] for k in range(3)]),
            validation=data[(i + 3) % 5],
            test=data[(i + 4) % 5],
        )
        for i in range(5)
    )


class _Rows:
    """A LETOR file in the form that scikit-learn's SVMlight reader takes, row by row.

    That reader does not know ``NULL``, returns fewer query ids than rows where some have none, and
    copies all earlier ids to append one, which is quadratic in the number of rows. So query ids
    are collected here, and so are document ids, which it drops as comments. It takes a row only
    when it has digested the one before: `number` and `line` are where it fails.
    """

    def __init__(self, source):
        self.source = source
        self.name = str(getattr(source, "name", source) if hasattr(source, "read") else source)
        self.number = 0
        self.line = None
        self.groups = array("q")
        self.docids = []

    def read(self, size=-1):
        # scikit-learn tells an open file by this method, but iterates over its lines.
        raise NotImplementedError

    def __iter__(self):
        with self._open() as file:
            for line in file:
                if isinstance(line, str):
                    raise TypeError(
                        f"`path` must be a file open in binary mode; {self.name} is not."
                    )
                self.number += 1
                self.line = line
                if b"\0" in line:
                    raise ValueError("the line has a NUL byte")
                if b"\r" in line.rstrip(b"\r\n"):
                    # Lines that end in CR alone would be lost behind the first comment.
                    raise ValueError("the line has a carriage return in its midst")
                row, _, comment = line.partition(b"#")
                fields = row.split(None, 2)
                if not fields:
                    continue
                if len(fields) < 2 or not fields[1].startswith(b"qid:"):
                    raise ValueError("no query id after the label")
                if b"_" in row:  # which Python takes in numbers
                    raise ValueError("the line has an underscore outside of its comment")
                self.groups.append(int(fields[1][4:]))
                docid = _DOCID.search(comment)
                docid = docid[1] if docid else b""
                if len(docid) > _LONGEST_DOCID:
                    raise ValueError(f"the document id is longer than {_LONGEST_DOCID:,} bytes")
                self.docids.append(docid.decode(errors="replace"))
                yield row.replace(b":NULL", b":nan")
        self.line = None
        if not self.groups:
            raise ValueError("the file has no row")

    def _open(self):
        if hasattr(self.source, "read"):
            return nullcontext(self.source)
        path = Path(self.source)
        return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")


def _load(sources, n_features, sparse, zero_based):
    files = [_Rows(source) for source in sources]
    try:
        arrays = load_svmlight_files(files, n_features=n_features, zero_based=zero_based)
    except (ValueError, OverflowError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(_explain(error, files)) from error
    empty = [file.name for X, file in zip(arrays[::2], files, strict=True) if X.nnz == 0]
    if zero_based == "auto" and 0 < len(empty) < len(files):
        # scikit-learn would let such a file decide for all of them that indices start at 0.
        raise ValueError(
            f"{empty[0]}: no row has a feature, so that it cannot be told where indices start. "
            "Give zero_based=False or True."
        )
    return [
        Bunch(
            X=X if sparse else _dense(X, file),
            y=y,
            groups=np.array(file.groups, dtype=np.int64),
            docids=np.array(file.docids),
        )
        for X, y, file in zip(arrays[::2], arrays[1::2], files, strict=True)
    ]


def _dense(X, file):
    try:
        return X.toarray()
    except (MemoryError, ValueError) as error:  # numpy's word for even larger arrays
        n_rows, n_features = X.shape
        raise ValueError(
            f"{file.name}: {n_rows:,} rows of {n_features:,} features do not fit into memory as a "
            "dense array. Give sparse=True, or look for an index that is far too high."
        ) from error


def _explain(error, files):
    reason = str(error).rstrip(".")
    if len(reason) > _LONGEST_REASON:
        reason = reason[:_LONGEST_REASON] + " ..."
    for file in files:
        if file.line is not None:
            start = file.line[:60].decode(errors="replace").strip()
            return (
                f"{file.name}, line {file.number} ({start!r}): {reason}. A row must read "
                "`label qid:N index:value ...`, with N a signed 64-bit integer and ascending "
                "indices."
            )
        if not file.groups:
            return f"{file.name}: {reason}."
    return f"{', '.join(file.name for file in files)}: {reason}."


def _find_part(folder, name):
    candidates = [folder / f"{name}{ending}" for ending in (".txt", ".txt.gz")]
    for path in candidates:
        if path.exists():
            return path
    raise FileNotFoundError(f"There is neither {candidates[0]} nor {candidates[1]}.")


def _check_disjoint(data, paths):
    # Parts that each number their queries from 1 would be merged without a word.
    seen = {}
    for part, path in zip(data, paths, strict=True):
        for query in np.unique(part.groups).tolist():
            if query in seen:
                raise ValueError(
                    f"Query {query} is both in {seen[query]} and in {path}; the parts of a data "
                    "set must not share query ids."
                )
            seen[query] = path


def _concatenate(parts):
    joined = Bunch(
        **{key: np.concatenate([p[key] for p in parts]) for key in ("y", "groups", "docids")}
    )
    Xs = [part.X for part in parts]
    joined.X = sp.vstack(Xs, format="csr") if sp.issparse(Xs[0]) else np.concatenate(Xs)
    return joined
