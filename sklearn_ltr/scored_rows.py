# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a ranker is told while it is scored, whatever is wrapped around it: the query of each row.

A scorer knows the query ids, which wrappers and pipelines may not hand on; a ranker knows which
queries it was trained on. Together they can tell when a figure would be another one in silence.
"""

import hashlib
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral

import numpy as np

from sklearn_ltr.exceptions import CutQueryWarning
from sklearn_ltr.queries import encode_groups, sums_of_cell_hashes
from sklearn_ltr.reduction import is_spread
from sklearn_ltr.validation import warn_caller


class _NoGroups:
    """Stands in where no scorer is at work, or it has no query ids."""

    n_samples = -1  # of no array

    def warn(self):
        pass


_NOBODY = _NoGroups()

_scored = ContextVar("the rows that a scorer has given to an estimator", default=_NOBODY)
_watched = ContextVar("whether to compare them with those trained on", default=True)


@contextmanager
def scoring_rows(groups, n_samples):
    """Tell rankers of the query ids of the rows that are given to `predict` here.

    Parameters
    ----------
    groups : array-like of shape (n_samples,) or None
    n_samples : int

    Yields
    ------
    rows : object
        Its ``warn()`` warns, once, of queries that a ranker was trained on with other rows.
    """
    if _scored.get().n_samples == n_samples:  # by whom the caller was called knows the ids
        yield _NOBODY
        return
    rows = _NOBODY if groups is None else _ScoredRows(groups, n_samples)
    token = _scored.set(rows)
    try:
        yield rows
    finally:
        _scored.reset(token)


@contextmanager
def unwatched():
    """Score rows of which it is known that they are not those trained on, without a warning."""
    token = _watched.set(False)
    try:
        yield
    finally:
        _watched.reset(token)


def watch(trained, X):
    """Compare rows that a ranker predicts for a scorer with those that it was trained on.

    Parameters
    ----------
    trained : ndarray of shape (n_queries, 2), dtype uint64, or None
        What `query_digests` gave in `fit`.
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    """
    rows = _scored.get()
    if trained is not None and X.shape[0] == rows.n_samples and _watched.get():
        rows.compare(trained, X)


def check_groups_arrived(groups, caller, n_samples):
    """Raise ValueError where a scorer has query ids and what it scores got none.

    Parameters
    ----------
    groups : array-like of shape (n_samples,) or None
    caller : str
        Who got them, or None, such as "FeatureRank.predict".
    n_samples : int
    """
    rows = _scored.get()
    if groups is None and rows.n_samples == n_samples:
        raise ValueError(
            f"{caller} got no `groups`, which the scorer has: an estimator around it does not hand "
            "them on, so that the score would be another one. Score the fitted ranker itself, or "
            "put around it what routes metadata to `predict`, such as a Pipeline."
        )


def query_digests(X, groups, n_threads=1):
    """What tells later whether a query was trained on, and whether with the same rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64
    groups : array-like of shape (n_samples,)
    n_threads : int, default=1

    Returns
    -------
    digests : ndarray of shape (n_queries, 2), dtype uint64
        Of the id; and the sum of the hashes of all cells, as numbers of single precision. It does
        not depend on the order of the rows, nor on that of the values within a column.
    """
    codes, ids = encode_groups(groups, X.shape[0])
    return np.column_stack([_id_digests(ids), _cell_sums(X, codes, len(ids), n_threads)])


def check_whole_queries(id_digests, name):
    """Raise ValueError if queries of two ranks have one id.

    Parameters
    ----------
    id_digests : ndarray of shape (n_queries,), dtype uint64
        Of all ranks, each of which has a query once.
    name : str
        Of the argument that has the ids.
    """
    twice = len(id_digests) - len(np.unique(id_digests))
    if is_spread() and twice:
        raise ValueError(
            f"`{name}` has {twice} queries with rows on more than one rank, which would be taken "
            "as so many queries: bring the rows of a query to one rank."
        )


class _ScoredRows:
    """The rows of a scorer, and what rankers found them to be.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
    n_samples : int
    """

    def __init__(self, groups, n_samples):
        self.n_samples = n_samples
        self._codes, self._ids = encode_groups(groups, n_samples)
        self._digests = _id_digests(self._ids)
        self._cut = np.zeros(len(self._ids), dtype=bool)

    def compare(self, trained, X):
        """Note the queries that were trained on with other rows."""
        known = np.isin(self._digests, trained[:, 0])
        if not known.any():
            return
        row_known = known[self._codes]
        number = np.cumsum(known) - 1  # of a known query among them
        codes = number[self._codes[row_known]]
        cells = _cell_sums(X[row_known], codes, int(known.sum()), 1)
        of_id = dict.fromkeys(self._digests[known].tolist(), ())
        for digest, content in trained[np.isin(trained[:, 0], self._digests)].tolist():
            of_id[digest] = (*of_id[digest], content)
        contents = [of_id[digest] for digest in self._digests[known].tolist()]
        other = np.array([c not in own for c, own in zip(cells.tolist(), contents, strict=True)])
        if not other.any():
            return
        # A column that is shuffled over all rows, as for an importance, has the same sum.
        before = sum(own[0] for own in contents) % 2**64
        if before != int(cells.sum(dtype=np.uint64)):
            self._cut[np.flatnonzero(known)[other]] = True

    def warn(self):
        """Warn of the queries noted."""
        if not self._cut.any():
            return
        first = self._ids[self._cut][:1].tolist()[0]
        warn_caller(
            f"{int(self._cut.sum())} of the {len(self._ids)} queries scored were trained on with "
            f"other rows, the first being {first!r}: the score says little of new queries. Split "
            "by whole queries, as GroupKFold does. If the ids were merely numbered afresh and "
            "these are other queries, number them on from those of the training rows, or silence "
            "sklearn_ltr.exceptions.CutQueryWarning.",
            CutQueryWarning,
        )


def _id_digests(ids):
    """A number of 64 bits for each id, the same in any process and for any type of number."""
    if ids.dtype.kind in "iub":
        return ids.astype(np.int64 if ids.dtype.kind != "u" else np.uint64).view(np.uint64)
    return np.array([_id_digest(x) for x in ids.tolist()], dtype=np.uint64)


def _id_digest(x):
    if isinstance(x, float) and x.is_integer():
        x = int(x)
    if isinstance(x, Integral):
        return int(x) % 2**64
    text = x if isinstance(x, str) else repr(x)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _cell_sums(X, codes, n_queries, n_threads):
    """Sum of the hashes of all cells of each query: ndarray of shape (n_queries,), uint64."""
    hashes = sums_of_cell_hashes(X, n_threads, single=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_queries))
    return np.add.reduceat(hashes[order], starts)
