# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A log of what was shown where and clicked, as counts."""

from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.validation import _num_samples

from sklearn_ltr.clicks._counts import CELL_COUNTS, count, merge
from sklearn_ltr.clicks._rows import Rows, name_of, number_ids
from sklearn_ltr.validation import check_choice, check_column
from sklearn_ltr.versions import Versioned

# Click models have dense arrays of pairs of positions.
MAX_POSITION = 2000

# Impressions that are counted at a time, so that what is made of them stays small beside a log.
BLOCK = 2**20


class ClickLog(Versioned):
    r"""What was shown at which position, and whether it was clicked.

    A row is an *impression*: a document that was shown for a query. Impressions are counted by
    query, document and position, its *cells*, and forgotten. With `sessions`, of which each is one
    list that was shown once, each cell also has how often it was at or above the first and the last
    click, and pairs of documents have how often one was clicked and the other passed over. So the
    log takes memory by the number of distinct cells and pairs, and not of impressions: a day at a
    time can be added by `add`, and the order in which they come does not matter.

    Parameters
    ----------
    groups : array-like of shape (n_impressions,), default=None
        Query id of each impression: numbers, strings or anything hashable, as the column of a
        frame. None, as for all others: an empty log.
    documents : array-like of shape (n_impressions,), default=None
        Id of the document, of the same kinds. The same id in two queries is two rows, as what
        attracts for one query does not for another.
    positions : array-like of shape (n_impressions,), default=None
        Whole numbers from 1, at the top, to 2,000.
    clicks : array-like of shape (n_impressions,), default=None
        1 or true where it was clicked, 0 or false where not.
    sessions : array-like of shape (n_impressions,), default=None
        Id of the list that was shown, of the same kinds as query ids. No two impressions of it have
        the same document or position. None: the log knows of no lists. That is enough for
        :class:`PositionBasedModel`; cascades and preferences need to know what was shown together.
    keep_pairs : bool, default=True
        Count pairs of documents, for :func:`preferences_from_clicks`. There may be as many in a
        session as it has clicks times impressions, so that logs of long lists take less memory
        without.
    keep_sessions : bool, default=False
        Keep every session as it was. That takes 13 bytes an impression, and is needed for
        ``to_training(by_session=True)``, and for `score` and `perplexity` of models of sessions.

    Attributes
    ----------
    n_impressions, n_clicks : int
    n_sessions : int
        0 if none are given.
    n_positions : int
        The largest position.
    n_rows : int
        Number of distinct pairs of a query and a document.
    n_cells : int
        Number of distinct triples of a query, a document and a position.

    See Also
    --------
    simulate_clicks : Clicks of which it is known how they came about.
    PositionBasedModel : How much more clicks the first positions get, whatever is there.

    Examples
    --------
    >>> from sklearn_ltr.clicks import ClickLog
    >>> log = ClickLog(
    ...     groups=["jaguar"] * 6,
    ...     documents=["car", "cat", "film", "cat", "car", "film"],
    ...     positions=[1, 2, 3, 1, 2, 3],
    ...     clicks=[0, 1, 0, 1, 1, 0],
    ...     sessions=[7, 7, 7, 8, 8, 8],
    ... )
    >>> log
    ClickLog(2 sessions, 6 impressions, 3 clicks, 3 rows, 5 cells, 3 positions)
    >>> cells = log.cells()
    >>> cells.documents
    array(['car', 'car', 'cat', 'cat', 'film'], dtype=object)
    >>> cells.positions, cells.shown, cells.clicked
    (array([1, 2, 1, 2, 3]), array([1, 1, 1, 1, 2]), array([0, 1, 1, 1, 0]))

    A log may come in parts, such as days, each with whole sessions:

    >>> log.add(["jaguar"], ["cat"], positions=[1], clicks=[0], sessions=[9])
    ClickLog(3 sessions, 7 impressions, 3 clicks, 3 rows, 5 cells, 3 positions)

    With the propensity of each position, which a click model estimates, it becomes a training set.
    The cat was clicked 2 times of 3, at positions 1, 1 and 2, that is of 2.5 that count:

    >>> training = log.to_training([1, 0.5, 0.25])
    >>> training.documents, training.y
    (array(['car', 'cat', 'film'], dtype=object), array([0.66666667, 0.8       , 0.        ]))
    """

    def __init__(
        self,
        groups=None,
        documents=None,
        positions=None,
        clicks=None,
        sessions=None,
        *,
        keep_pairs=True,
        keep_sessions=False,
    ):
        check_choice(keep_pairs, "keep_pairs", (False, True))
        check_choice(keep_sessions, "keep_sessions", (False, True))
        self.keep_pairs = keep_pairs
        self.keep_sessions = keep_sessions
        self._parts = []
        if any(given is not None for given in (groups, documents, positions, clicks, sessions)):
            self.add(groups, documents, positions, clicks, sessions)

    def __repr__(self):
        if not self._parts:
            return "ClickLog(empty)"
        names = ("sessions", "impressions", "clicks", "rows", "cells", "positions")
        known = names if self.has_sessions else names[1:]
        found = ", ".join(f"{getattr(self, 'n_' + name):,} {name}" for name in known)
        return f"ClickLog({found})"

    def add(self, groups, documents, positions, clicks, sessions=None):
        """Count further impressions.

        Parameters
        ----------
        groups, documents, positions, clicks : array-like of shape (n_impressions,)
            As for the class.
        sessions : array-like of shape (n_impressions,), default=None
            As for the class. Sessions must be whole: an id that was there in an earlier call is
            another session. Either all calls have them or none.

        Returns
        -------
        self : ClickLog

        Raises
        ------
        ValueError
            If the arguments are not of one length, an id is missing, a position or a click is no
            such, or a session has two queries or the same document or position twice. Nothing is
            counted then.
        """
        if self._parts and self.has_sessions != (sessions is not None):
            has, other = ("has", "has none") if self.has_sessions else ("has no", "has some")
            raise ValueError(
                f"The log {has} sessions so far, and what is added {other}: give `sessions` in all "
                "calls or in none."
            )
        position = _check_positions(positions)
        n = len(position)
        clicked = _check_clicks(clicks, n)
        query, queries = number_ids(groups, n, "groups", "query id")
        document, ids = number_ids(documents, n, "documents", "document id")
        sizes = None
        if sessions is not None:
            session, names = number_ids(sessions, n, "sessions", "session id")
            order = np.lexsort((position, session))
            _check_sessions(session[order], query, document, position, order, (names, queries, ids))
            sizes = np.bincount(session)
            query, document, position, clicked = (
                column[order] for column in (query, document, position, clicked)
            )
        key, row = np.unique(query * len(ids) + document, return_inverse=True)
        rows = Rows(queries, ids, *np.divmod(key, len(ids)))
        for block, own_sizes in _blocks(n, sizes):
            columns = row[block], position[block], clicked[block]
            self._push(count(rows, *columns, own_sizes, self.keep_pairs, self.keep_sessions))
        return self

    def _push(self, part):
        # Parts are merged when they are about as large, so that many small ones cost little more
        # than one large one.
        while self._parts and self._parts[-1].size <= 2 * part.size:
            part = merge(self._parts.pop(), part)
        self._parts.append(part)

    @property
    def _counts(self):
        """All there is, as Counts."""
        if not self._parts:
            raise ValueError("The log is empty: add impressions to it first.")
        while len(self._parts) > 1:
            last = self._parts.pop()
            self._parts.append(merge(self._parts.pop(), last))
        return self._parts[0]

    @property
    def has_sessions(self):
        """Whether it is known what was shown together: bool."""
        return bool(self._parts) and self._parts[0].cells.shape[0] > 2

    @property
    def n_impressions(self):
        return self._total("shown")

    @property
    def n_clicks(self):
        return self._total("clicked")

    def _total(self, name):
        return sum(int(part.cells[CELL_COUNTS.index(name)].sum()) for part in self._parts)

    @property
    def n_sessions(self):
        return sum(part.n_sessions for part in self._parts)

    @property
    def n_positions(self):
        return max((int(part.cell_position.max()) + 1 for part in self._parts), default=0)

    @property
    def n_rows(self):
        return self._counts.rows.n_rows if self._parts else 0

    @property
    def n_cells(self):
        return len(self._counts.cell_row) if self._parts else 0

    def cells(self):
        """How often each document of a query was shown and clicked at each position.

        Returns
        -------
        cells : Bunch
            Arrays of shape (`n_cells`,), such as ``pandas.DataFrame(log.cells())`` takes:
            ``groups``, ``documents``, ``positions``, ``shown`` and ``clicked``. By query,
            document and position.
        """
        counts = self._counts
        rows = counts.rows
        return Bunch(
            groups=rows.queries[rows.query[counts.cell_row]],
            documents=rows.documents[rows.document[counts.cell_row]],
            positions=counts.cell_position + 1,
            shown=counts.cells[0],
            clicked=counts.cells[1],
        )

    def to_training(
        self,
        propensities,
        X=None,
        groups=None,
        documents=None,
        *,
        by_session=False,
        missing="raise",
    ):
        r"""Rows to train a ranker with, freed of the bias of positions by inverse propensities.

        By default each document of a query is one row, and its label is what an unbiased estimate
        of its attractiveness is, if clicks are such as :class:`PositionBasedModel` says,

        .. math:: y_{qd} = \frac{\sum_k c_{qdk}}{\sum_k p_k n_{qdk}} ,

        with :math:`c_{qdk}` clicks in :math:`n_{qdk}` impressions at position :math:`k`, whose
        propensity is :math:`p_k`. It is a real number that takes a linear gain, and can be above 1.
        Whether a document was ever clicked would be no label: given time nearly all are.

        Parameters
        ----------
        propensities : array-like of shape (n_positions,)
            How likely each position from 1 on is looked at, relative to the others: positive and at
            most 1, such as `propensities_` of a click model.
        X : {array-like, sparse matrix, frame} of shape (n_table, n_features), default=None
            Features of documents of queries: the table that the log is joined to. None: the rows
            come without.
        groups, documents : array-like of shape (n_table,), default=None
            Query and document id of each row of `X`.
        by_session : bool, default=False
            Give a list for each session, with its clicks as labels, and with the propensity of each
            row, for rankers that weigh clicks themselves. Needs ``keep_sessions=True``.
        missing : {"raise", "drop"}, default="raise"
            What to do about documents that were shown and are not in the table: raise, or leave
            them out.

        Returns
        -------
        training : Bunch
            By query and document, unless `by_session`:

            - ``X``: what `X` has of each row, of its own type; only if it is given
            - ``y``: ndarray of shape (n_rows,), the label
            - ``groups``: ndarray of shape (n_rows,), the query, or the number of the session
            - ``queries``, ``documents``: ndarray of shape (n_rows,), ids of the query and the
              document
            - ``rows``: ndarray of shape (n_rows,), where it is in the table; only if `X` is given
            - ``shown``, ``clicked``: ndarray of shape (n_rows,), the counts that ``y`` is made of;
              not with `by_session`
            - ``positions``, ``propensity``: ndarray of shape (n_rows,), the position and what
              `propensities` says of it; only with `by_session`

        Raises
        ------
        ValueError
            If there is no propensity for a position, it is out of range, a document is not in the
            table or in it twice, or the sessions are asked for and were not kept.
        """
        check_choice(missing, "missing", ("raise", "drop"))
        check_choice(by_session, "by_session", (False, True))
        counts = self._counts
        propensity = self._check_propensities(propensities)
        if by_session:
            training = self._by_session(propensity)
            row = training.pop("row")
        else:
            n_rows, row = counts.rows.n_rows, np.arange(counts.rows.n_rows)
            shown, clicked = (
                np.bincount(counts.cell_row, weights=c, minlength=n_rows) for c in counts.cells[:2]
            )
            seen = np.bincount(
                counts.cell_row,
                weights=propensity[counts.cell_position] * counts.cells[0],
                minlength=n_rows,
            )
            training = Bunch(
                y=clicked / seen, shown=shown.astype(np.int64), clicked=clicked.astype(np.int64)
            )
        training["queries"] = counts.rows.queries[counts.rows.query[row]]
        training["documents"] = counts.rows.documents[counts.rows.document[row]]
        if not by_session:
            training["groups"] = training.queries
        if X is None:
            if groups is not None or documents is not None:
                raise ValueError("`groups` and `documents` are those of the rows of `X`: give `X`.")
            return training
        n_table = X.shape[0] if hasattr(X, "shape") else _num_samples(X)
        at = self._find(n_table, groups, documents, missing)[row]
        kept = at >= 0
        training = Bunch(**{name: column[kept] for name, column in training.items()})
        rows = at[kept]
        X = X.tocsr() if sparse.issparse(X) else X
        return Bunch(X=_safe_indexing(X, rows), rows=rows, **training)

    def _by_session(self, propensity):
        sessions = self._sessions("`by_session`")
        return Bunch(
            row=sessions.row,
            y=sessions.clicked.astype(np.float64),
            groups=np.repeat(np.arange(len(sessions.sizes)), sessions.sizes),
            positions=sessions.position.astype(np.intp) + 1,
            propensity=propensity[sessions.position],
        )

    def _sessions(self, who):
        """The sessions, in an order of their own."""
        self._check_has_sessions(who)
        if not self.keep_sessions:
            raise ValueError(
                f"{who} needs every session as it was, and the log has counted them only: "
                "make it with ClickLog(..., keep_sessions=True)."
            )
        return self._counts.sessions.in_order()

    def _check_has_sessions(self, who):
        _ = self._counts  # which is an error if there are none
        if not self.has_sessions:
            raise ValueError(
                f"{who} needs to know what was shown together: give the log `sessions`, the id of "
                "the list that each impression was in."
            )

    def _check_propensities(self, propensities):
        propensities = check_column(propensities, "propensities")
        if len(propensities) < self.n_positions:
            raise ValueError(
                f"`propensities` has {len(propensities)} entries, and the log has positions up to "
                f"{self.n_positions}: give one for each."
            )
        wrong = ~((propensities > 0) & (propensities <= 1))
        wrong[self.n_positions :] = False
        if wrong.any():
            k = int(wrong.argmax())
            remedy = (
                "Without a click at a position nothing can be said of it: leave its impressions "
                "out, or raise it to the least that you would divide by, np.maximum(p, 0.01)."
                if propensities[k] == 0
                else "Divide all of them by the largest."
            )
            raise ValueError(
                f"`propensities` has {propensities[k]:g} for position {k + 1}; they are above 0 "
                f"and at most 1. {remedy}"
            )
        return propensities

    def _find(self, n_table, groups, documents, missing):
        """Where each row of the log is in a table; -1 where it is not and that is allowed."""
        own = self._counts.rows
        at = Rows.from_columns(groups, documents, n_table).find(own)
        absent = at < 0
        if absent.all() or (absent.any() and missing == "raise"):
            r = int(absent.argmax())
            query = name_of(own.queries, own.query[r])
            document = name_of(own.documents, own.document[r])
            remedy = (
                "Are the ids of one kind, such as numbers and not strings?"
                if absent.all()
                else 'missing="drop" leaves them out.'
            )
            raise ValueError(
                f"{int(absent.sum())} of the {own.n_rows} documents of queries that were shown "
                f"are not in the table, the first being {document} of {query}. {remedy}"
            )
        return at


def _blocks(n, sizes):
    """Slices of impressions, of whole sessions, and the sizes of their sessions."""
    if sizes is None:
        for start in range(0, n, BLOCK):
            yield slice(start, min(start + BLOCK, n)), None
        return
    stops = np.cumsum(sizes)
    firsts = np.flatnonzero(np.diff((stops - 1) // BLOCK, prepend=-1))
    for first, end in pairwise([*firsts, len(sizes)]):
        yield slice(stops[first] - sizes[first], stops[end - 1]), sizes[first:end]


def _check_positions(positions):
    """Positions from 0: ndarray of intp."""
    if positions is None:
        raise ValueError("`positions` is None; give the position of each row, from 1 on.")
    column = check_column(positions, "positions")
    wrong = ~((column >= 1) & (column <= MAX_POSITION) & (column == np.floor(column)))
    if wrong.any():
        row = int(wrong.argmax())
        remedy = "Leave what is further down out." if column[row] > MAX_POSITION else ""
        if column[row] == 0:
            remedy = "Add 1 if they are counted from 0."
        raise ValueError(
            f"`positions` has {column[row]:g} at row {row}; positions are whole numbers from 1 to "
            f"{MAX_POSITION:,}. {remedy}".rstrip()
        )
    return column.astype(np.intp) - 1


def _check_clicks(clicks, n_rows):
    if clicks is None:
        raise ValueError("`clicks` is None; give 1 or 0 for each row.")
    column = check_column(clicks, "clicks", n_rows)
    wrong = (column != 0) & (column != 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"`clicks` has {column[row]:g} at row {row}; a row is one impression, which was "
            "clicked, 1, or not, 0. Use `clicks > 0` where one impression may be clicked often, "
            "and repeat rows that stand for several impressions."
        )
    return column == 1


def _check_sessions(session, query, document, position, order, ids):
    """Raise ValueError if a session is not one list: its id is of the ordered impressions."""
    names, queries, documents = ids

    def refuse(at, what, remedy):
        rows = sorted((int(order[at]), int(order[at + 1])))
        raise ValueError(
            f"Session {name_of(names, session[at])} has {what(order[at], order[at + 1])} at rows "
            f"{rows[0]} and {rows[1]}; a session is one list that was shown once. {remedy}"
        )

    same = session[1:] == session[:-1]
    q = query[order]
    if (two := same & (q[1:] != q[:-1])).any():
        refuse(
            int(two.argmax()),
            lambda a, b: (
                f"the queries {name_of(queries, query[a])} and {name_of(queries, query[b])}"
            ),
            "Number the lists, such as by the session and the query together.",
        )
    k = position[order]
    if (two := same & (k[1:] == k[:-1])).any():
        refuse(
            int(two.argmax()),
            lambda a, b: f"position {position[a] + 1} twice",
            "Number the lists, or number positions over pages and columns.",
        )
    order = order[np.lexsort((document[order], session))]
    d = document[order]
    if (two := same & (d[1:] == d[:-1])).any():
        refuse(
            int(two.argmax()),
            lambda a, b: f"document {name_of(documents, document[a])} twice",
            "Number the lists, or keep the first of the two impressions.",
        )
