# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The rows of LETOR files, block by block, so that the text is never in memory as a whole."""

import gzip
import os
import re
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Integral

import numpy as np
from scipy import sparse as sp
from sklearn.utils import Bunch, check_scalar

from sklearn_ltr._kernels._letor import copy_ascii, parse_rows, scatter

# Bytes of text that are parsed at a time, and of compressed text, which become many more.
_TEXT = 2**17
_COMPRESSED = 2**14

# Longest document id, in bytes: an array of strings gives each as much room as the longest.
LONGEST_DOCID = 1_000

# Messages quote at most so many bytes of a token, and so many of the line.
_LONGEST_TOKEN = 200
_LONGEST_START = 60
_TOKEN = re.compile(rb"[^\s#]*")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass
class Block:
    """Some rows of a file.

    The arrays of cells, and `y` and `groups`, are scratch that the next block is written to.
    """

    values: np.ndarray
    indices: np.ndarray  # as written
    indptr: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    docids: np.ndarray
    text: bytes
    starts: np.ndarray  # where the line of each row begins in the text
    line: int  # number of the text's first line

    def line_of(self, row):
        return self.line + self.text.count(b"\n", 0, self.starts[row])

    @property
    def cells_nbytes(self):
        return self.values.nbytes + self.indices.nbytes

    def scatter(self, base, X):
        """Put the cells into a dense array of zeros, whose first column has the index `base`."""
        scatter(self.values, self.indices, self.indptr, base, X)

    def dense(self, base, n_features, dtype):
        X = np.zeros((len(self.y), n_features), dtype)
        self.scatter(base, X)
        return X

    def sparse(self, base, n_features, dtype):
        content = self.values.astype(dtype), self.indices - base, self.indptr.astype(np.int32)
        return sp.csr_matrix(content, shape=(len(self.y), n_features))


class LetorText:
    """A LETOR file that is read in blocks.

    Parameters
    ----------
    source : str, path-like or file-like
    zero_based : bool or "auto"
        Whether indices start at 0 or at 1.
    dtype : dtype
        What values have to fit into.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    n_rows, n_cells : int
        How many have been read.
    lowest, highest : int
        The extreme indices that have been read.
    """

    def __init__(self, source, zero_based, dtype):
        self.source = source
        self.name = str(getattr(source, "name", source) if hasattr(source, "read") else source)
        self.zero_based = bool(zero_based)  # as long as it is not known
        # What would be rounded to infinity: half a unit beyond the largest number, or infinity.
        self.limit = 2.0**128 - 2.0**103 if dtype == np.float32 else np.inf
        self.n_rows = self.n_cells = 0
        self.lowest, self.highest = 2**31, -1

    def __iter__(self):
        """Read the blocks, each of at least one row.

        Raises
        ------
        ValueError
            If a line is malformed, the file has no row, or is compressed and damaged.
        """
        line, arrays = 1, None
        with self._open() as file:
            try:
                for text in _whole_lines(_pieces(file, self.name)):
                    if arrays is None or len(arrays[0]) <= len(text) // 4:
                        arrays = _scratch(len(text))
                    block, n_lines = self._parse(text, line, *arrays)
                    line += n_lines
                    if len(block.y):
                        self._count(block)
                        yield block
            except _damages() as error:
                raise ValueError(f"{self.name}, after line {line - 1}: {error}.") from error
        if not self.n_rows:
            raise ValueError(f"{self.name}: the file has no row.")

    def _open(self):
        if hasattr(self.source, "read"):
            return nullcontext(self.source)
        return open(os.fspath(self.source), "rb")  # which takes no number, unlike open

    def _parse(self, text, line, values, indices, indptr, labels, queries, places):
        n, n_lines, fault, start, token = parse_rows(
            text, self.zero_based, self.limit, values, indices, indptr, labels, queries, places
        )
        cells = slice(0, indptr[n])
        block = Block(
            values=values[cells],
            indices=indices[cells],
            indptr=indptr[: n + 1],
            y=labels[:n],
            groups=queries[:n],
            docids=None,
            text=text,
            starts=places[:n, 0],
            line=line,
        )
        block.docids = self._docids(block, places[:n])
        if fault is not None:
            if token is not None:
                token = _TOKEN.match(text, token, token + _LONGEST_TOKEN)[0]
                fault += f": {token.decode(errors='replace')!r}"
            raise ValueError(self._refusal(text, line, start, fault))
        return block, n_lines

    def check_width(self, block, base, n_features):
        """Raise ValueError if rows have more features than there are."""
        wide = block.indices >= n_features + base
        if wide.any():
            cell = wide.argmax()
            row = np.searchsorted(block.indptr, cell, side="right") - 1
            raise ValueError(
                f"{self.name}, line {block.line_of(row)}: n_features was set to {n_features}, but "
                f"there is an index {block.indices[cell]}."
            )

    def _docids(self, block, places):
        lengths = places[:, 2] - places[:, 1]
        longest = lengths.max(initial=0)
        if longest > LONGEST_DOCID:
            fault = f"the document id is longer than {LONGEST_DOCID:,} bytes"
            start = block.starts[(lengths > LONGEST_DOCID).argmax()]
            raise ValueError(self._refusal(block.text, block.line, start, fault))
        letters = np.zeros((len(places), max(1, longest)), dtype=np.uintc)
        if copy_ascii(block.text, places, letters):
            return letters.view(f"U{letters.shape[1]}")[:, 0]
        spans = places[:, 1:].tolist()
        return np.array([block.text[i:j].decode(errors="replace") for i, j in spans])

    def _refusal(self, text, line, start, fault):
        number = line + text.count(b"\n", 0, start)
        begin = text[start : start + _LONGEST_START].split(b"\n")[0]
        return (
            f"{self.name}, line {number} ({begin.decode(errors='replace').strip()!r}): {fault}. A "
            "row must read `label qid:N index:value ...`, with N a signed 64-bit integer and "
            "ascending indices."
        )

    def _count(self, block):
        self.n_rows += len(block.y)
        self.n_cells += len(block.values)
        if len(block.values):
            self.lowest = min(self.lowest, block.indices.min().item())
            self.highest = max(self.highest, block.indices.max().item())


def _scratch(n_bytes):
    """What `parse_rows` fills, for text of a length."""
    n_cells, n_rows = n_bytes // 4 + 1, n_bytes // 8 + 2
    return (
        np.empty(n_cells),
        np.empty(n_cells, dtype=np.intc),
        np.empty(n_rows, dtype=np.intp),
        np.empty(n_rows),
        np.empty(n_rows, dtype=np.int64),
        np.empty((n_rows, 3), dtype=np.intp),
    )


def _whole_lines(pieces):
    """The text in blocks of whole lines, with LF after the last one, too."""
    rest = []
    for piece in pieces:
        for start in range(0, len(piece), _TEXT):
            part = piece[start : start + _TEXT]
            cut = part.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, memoryview(part)[:cut]])
                rest = []
            rest.append(part[cut:])
    last = b"".join(rest)
    if last:
        yield last + b"\n"


def check_arguments(n_features, zero_based, dtype):
    """Raise an error if an argument is wrong; returns the number of features and the dtype."""
    if n_features is not None:
        check_scalar(n_features, "n_features", Integral, min_val=1)
        n_features = int(n_features)  # of all sizes of integers
    if not isinstance(zero_based, (bool, np.bool_)) and zero_based != "auto":
        raise ValueError(f'`zero_based` must be False, True or "auto"; got {zero_based!r}.')
    if dtype is None or np.dtype(dtype) not in (np.float64, np.float32):
        raise ValueError(f"`dtype` must be np.float64 or np.float32; got {dtype!r}.")
    return n_features, np.dtype(dtype)


def columns_of(files, n_features, zero_based):
    """Index of the first column, and the number of columns, of files that have been read."""
    if isinstance(zero_based, str):
        empty = [file.name for file in files if file.n_cells == 0]
        if 0 < len(empty) < len(files):
            # Such a file would let indices start at 0 in all of them.
            raise ValueError(
                f"{empty[0]}: no row has a feature, so that it cannot be told where indices "
                "start. Give zero_based=False or True."
            )
        base = int(not empty and min(file.lowest for file in files) > 0)
    else:
        base = 1 - bool(zero_based)
    widest = max(files, key=lambda file: file.highest)
    found = max(1, widest.highest + 1 - base)
    if n_features is None:
        return base, found
    if n_features < found:
        raise ValueError(
            f"{widest.name}: n_features was set to {n_features}, but the file has {found} features."
        )
    return base, n_features


def check_disjoint(groups, paths):
    """Raise ValueError if two files share a query id."""
    # Files that each number their queries from 1 would be merged without a word.
    seen = {}
    for ids, path in zip(groups, paths, strict=True):
        for query in np.unique(ids).tolist():
            if query in seen:
                raise ValueError(
                    f"Query {query} is both in {seen[query]} and in {path}; the parts of a data "
                    "set must not share query ids."
                )
            seen[query] = path


def concatenate(parts):
    """One Bunch with the rows of several."""
    joined = Bunch(
        **{key: np.concatenate([p[key] for p in parts]) for key in ("y", "groups", "docids")}
    )
    Xs = [part.X for part in parts]
    joined.X = sp.vstack(Xs, format="csr") if sp.issparse(Xs[0]) else np.concatenate(Xs)
    return joined


# Files --------------------------------------------------------------------------------------------


def _pieces(file, name):
    """The bytes of an open file; unpacked if it is compressed, which its first bytes tell."""

    def read(size):
        piece = file.read(size)
        if isinstance(piece, str):
            raise TypeError(f"`path` must be a file open in binary mode; {name} is not.")
        return piece

    first = b""
    while len(first) < len(_ZSTD) and (piece := read(_COMPRESSED)):
        first += piece
    for magic, new in ((_GZIP, partial(zlib.decompressobj, 31)), (_ZSTD, partial(_unzstd, name))):
        if first.startswith(magic):
            return _unpack(chain([first], iter(partial(read, _COMPRESSED), b"")), new)
    return chain([first], iter(partial(read, _TEXT), b""))


def _unpack(pieces, new):
    """Unpack a compressed file, which may be several, one after the other, and zeros."""
    unpacker = None
    for piece in pieces:
        while piece := piece if unpacker else piece.lstrip(b"\0"):
            unpacker = unpacker or new()
            yield unpacker.decompress(piece)
            if not unpacker.eof:
                break
            piece, unpacker = unpacker.unused_data, None
    if unpacker:
        raise EOFError("the compressed file is cut off")


def zstd_module():
    """The module of Python, from 3.14 on, or else the package that reads and writes Zstandard."""
    try:
        from compression import zstd
    except ImportError:
        try:
            import zstandard as zstd
        except ImportError:
            return None
    return zstd


def _unzstd(name):
    zstd = zstd_module()
    if zstd is None:
        raise ImportError(
            f"{name} is compressed by Zstandard, which takes Python 3.14 or the package "
            '`zstandard`: pip install "sklearn_ltr[zstd]".'
        )
    unpacker = zstd.ZstdDecompressor()
    return unpacker.decompressobj() if hasattr(unpacker, "decompressobj") else unpacker


def _damages():
    """What is raised where a compressed file is damaged."""
    zstd = zstd_module()
    return (EOFError, zlib.error, gzip.BadGzipFile, *([zstd.ZstdError] if zstd else []))
