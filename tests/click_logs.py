# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Logs of clicks that tests draw, as sessions for the oracle and as columns for `ClickLog`."""

import numpy as np
from hypothesis import strategies as st

from sklearn_ltr.clicks import ClickLog

COLUMNS = ("groups", "documents", "positions", "clicks", "sessions")


@st.composite
def sessions(draw, *, max_sessions=12, n_queries=2, n_documents=5, max_position=6, click=None):
    """Lists of (query, [(document, position, click), ...]) from the top down."""
    found = []
    for _ in range(draw(st.integers(1, max_sessions))):
        query = draw(st.integers(0, n_queries - 1))
        documents = draw(
            st.lists(st.integers(0, n_documents - 1), min_size=1, max_size=5, unique=True)
        )
        positions = draw(
            st.sets(
                st.integers(1, max_position), min_size=len(documents), max_size=len(documents)
            ).map(sorted)
        )
        clicks = [draw(st.booleans() if click is None else click) for _ in documents]
        found.append((query, list(zip(documents, positions, map(int, clicks), strict=True))))
    return found


def columns(sessions, order=None):
    """Columns of a log, a dict of arrays, in some order of the impressions."""
    rows = [
        (query, document, position, click, number)
        for number, (query, shown) in enumerate(sessions)
        for document, position, click in shown
    ]
    values = np.array(rows)
    values = values if order is None else values[order]
    return dict(zip(COLUMNS, values.T, strict=True))


def make_log(sessions, **params):
    return ClickLog(**columns(sessions), **params)


def cells_of(log):
    """Shown and clicked by ((query, document), position), as the oracle takes them."""
    cells = log.cells()
    rows = zip(cells.groups.tolist(), cells.documents.tolist(), strict=True)
    counts = zip(cells.shown.tolist(), cells.clicked.tolist(), strict=True)
    return dict(zip(zip(rows, cells.positions.tolist(), strict=True), counts, strict=True))
