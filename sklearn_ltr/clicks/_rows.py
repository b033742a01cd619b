# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of a query and a document, known by their ids whatever type these have."""

from typing import NamedTuple

import numpy as np

from sklearn_ltr.queries import encode_groups


def number_ids(values, n_rows, name, unit):
    """Number the distinct ids of a column, in an order that does not depend on that of the rows.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
    n_rows : int
    name : str
        Name of the argument in error messages.
    unit : str
        What an entry is called there, such as "query id".

    Returns
    -------
    codes : ndarray of shape (n_rows,), dtype intp
    ids : ndarray of shape (n_ids,)
    """
    return _in_order(*encode_groups(values, n_rows, name, unit))


def _in_order(codes, ids):
    """What `encode_groups` returns, ids that do not compare in order, and integers as integers."""
    if ids.dtype.kind != "O":
        return codes, ids
    values = ids.tolist()
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return codes, ids.astype(np.int64)
    try:
        sorted(values)
    except TypeError:
        order = sorted(range(len(ids)), key=lambda i: (type(values[i]).__name__, repr(values[i])))
        rank = np.empty(len(ids), dtype=np.intp)
        rank[order] = np.arange(len(ids))
        return rank[codes], ids[order]
    return codes, ids


def merge_ids(*parts):
    """The distinct ids of several arrays, and where those of each are among them.

    Ids are compared exactly: integers and strings as such, all else as objects of Python.

    Parameters
    ----------
    *parts : ndarrays of shape (n_ids,)

    Returns
    -------
    ids : ndarray
    numbers : list of ndarray, dtype intp
    """
    if all(len(part) == len(parts[0]) and part.dtype == parts[0].dtype for part in parts) and all(
        np.array_equal(part, parts[0]) for part in parts
    ):
        return parts[0], [np.arange(len(parts[0]))] * len(parts)
    alike = all(part.dtype.kind == parts[0].dtype.kind for part in parts)
    if alike and parts[0].dtype.kind != "O":
        ids, codes = np.unique(np.concatenate(parts), return_inverse=True)
        codes = codes.astype(np.intp, copy=False)
    else:
        joined = np.concatenate([part.astype(object) for part in parts])
        codes, ids = number_ids(joined, len(joined), "ids", "id")
    return ids, np.split(codes, np.cumsum([len(part) for part in parts])[:-1])


def name_of(ids, number):
    """An id as an error message has it: str."""
    return repr(ids[number : number + 1].tolist()[0])


class Rows(NamedTuple):
    """Pairs of a query and a document.

    Parameters
    ----------
    queries, documents : ndarray
        Distinct ids.
    query, document : ndarray of shape (n_rows,), dtype intp
        Number of each row's query and document among them.
    """

    queries: np.ndarray
    documents: np.ndarray
    query: np.ndarray
    document: np.ndarray

    @classmethod
    def from_columns(cls, groups, documents, n_rows):
        """Those of a table, in its order.

        Raises
        ------
        ValueError
            If an id is missing or a pair is there twice.
        """
        query, queries = number_ids(groups, n_rows, "groups", "query id")
        document, documents = number_ids(documents, n_rows, "documents", "document id")
        rows = cls(queries, documents, query, document)
        order = np.argsort(rows._keys(), kind="stable")
        again = np.diff(rows._keys()[order]) == 0
        if again.any():
            at = int(again.argmax())
            first, second = sorted((int(order[at]), int(order[at + 1])))
            raise ValueError(
                f"Rows {first} and {second} are the same document, "
                f"{name_of(documents, document[first])}, of the same query, "
                f"{name_of(queries, query[first])}: leave one of them out."
            )
        return rows

    def _keys(self):
        return self.query * len(self.documents) + self.document

    @property
    def n_rows(self):
        return len(self.query)

    def find(self, wanted):
        """The row of each of other rows; -1 where there is none.

        Parameters
        ----------
        wanted : Rows

        Returns
        -------
        rows : ndarray of shape (wanted.n_rows,), dtype intp
        """
        queries, of_query = merge_ids(self.queries, wanted.queries)
        documents, of_document = merge_ids(self.documents, wanted.documents)
        own, theirs = (
            Rows(queries, documents, q[rows.query], d[rows.document])._keys()
            for rows, q, d in zip((self, wanted), of_query, of_document, strict=True)
        )
        order = np.argsort(own, kind="stable")
        at = np.minimum(np.searchsorted(own[order], theirs), len(own) - 1)
        return np.where(own[order[at]] == theirs, order[at], -1)


def unite(parts):
    """The distinct rows of several, in the order of their ids, and where those of each are.

    Parameters
    ----------
    parts : list of Rows

    Returns
    -------
    rows : Rows
    numbers : list of ndarray, dtype intp
    """
    queries, of_query = merge_ids(*(rows.queries for rows in parts))
    documents, of_document = merge_ids(*(rows.documents for rows in parts))
    keys = np.concatenate(
        [
            Rows(queries, documents, q[rows.query], d[rows.document])._keys()
            for rows, q, d in zip(parts, of_query, of_document, strict=True)
        ]
    )
    distinct, numbers = np.unique(keys, return_inverse=True)
    rows = Rows(queries, documents, *np.divmod(distinct, len(documents)))
    sizes = [part.n_rows for part in parts]
    return rows, np.split(numbers.astype(np.intp, copy=False), np.cumsum(sizes)[:-1])
