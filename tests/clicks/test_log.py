# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a log counts, whatever the order, the parts and the ids, and what it refuses."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click_logs import COLUMNS, columns, make_log, sessions
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clicks as oracle
from scipy import sparse

from sklearn_ltr import RegressionRanker
from sklearn_ltr.clicks import ClickLog
from sklearn_ltr.clicks import log as module


def everything(log):
    """All that a log holds, as a list of arrays."""
    counts = log._counts
    found = [counts.rows.queries, counts.rows.documents, counts.rows.query, counts.rows.document]
    found += [counts.cell_row, counts.cell_position, counts.cells, counts.n_sessions]
    if counts.pairs is not None:
        found += [counts.winner, counts.loser, counts.pairs]
    if counts.sessions is not None:
        found += list(counts.sessions.in_order())
    return found


def assert_same_logs(first, second):
    for a, b in zip(everything(first), everything(second), strict=True):
        assert_array_equal(a, b)


@given(sessions())
def test_cells(drawn):
    log = make_log(drawn)
    counts = log._counts
    rows = counts.rows
    found = {
        (rows.queries[rows.query[r]], rows.documents[rows.document[r]], k + 1): values.tolist()
        for r, k, values in zip(counts.cell_row, counts.cell_position, counts.cells.T, strict=True)
    }
    expected = oracle.count_cells(drawn)
    assert found == {key: values.tolist() for key, values in expected.items()}
    cells = log.cells()
    assert list(zip(cells.groups, cells.documents, cells.positions, strict=True)) == sorted(found)
    assert log.n_sessions == len(drawn)
    assert log.n_impressions == sum(len(shown) for _, shown in drawn)
    assert log.n_clicks == sum(click for _, shown in drawn for _, _, click in shown)
    assert log.n_cells == len(expected)
    assert log.n_rows == len({key[:2] for key in expected})
    assert log.n_positions == max(key[2] for key in expected)


@given(sessions(), st.data(), st.sampled_from([1, 7, 2**20]))
def test_order_and_parts_are_lost(drawn, data, block):
    """Shuffled sessions, shuffled impressions, several calls, small blocks: the same counts."""
    params = {"keep_sessions": True}
    expected = make_log(drawn, **params)
    shuffled = data.draw(st.permutations(drawn))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        cuts = sorted(data.draw(st.sets(st.integers(1, len(drawn)), max_size=4)) | {len(drawn)})
        log = ClickLog(**params)
        for start, end in zip([0, *cuts[:-1]], cuts, strict=True):
            part = shuffled[start:end]
            order = data.draw(st.permutations(range(sum(len(shown) for _, shown in part))))
            log.add(**columns(part, order))
    assert_same_logs(log, expected)
    assert_same_logs(pickle.loads(pickle.dumps(log)), expected)


@given(sessions(), st.integers(0, 2**31))
def test_impressions_without_sessions(drawn, seed):
    values = columns(drawn)
    del values["sessions"]
    log, expected = ClickLog(**values), make_log(drawn)
    order = np.random.default_rng(seed).permutation(len(values["clicks"]))
    shuffled = ClickLog(**{name: column[order] for name, column in values.items()})
    assert_same_logs(log, shuffled)
    assert not log.has_sessions
    assert log.n_sessions == 0
    cells, known = log.cells(), expected.cells()
    for name in cells:
        assert_array_equal(cells[name], known[name])


KINDS = {
    "strings": lambda ids: ids.astype(str),
    "list of strings": lambda ids: ids.astype(str).tolist(),
    "list of integers": lambda ids: ids.tolist(),
    "narrow": lambda ids: ids.astype(np.int8),
    "unsigned": lambda ids: ids.astype(np.uint64),
    "beyond doubles": lambda ids: ids + 2**53,
    "pandas strings": lambda ids: pd.Series(ids.astype(str)).astype("string"),
    "pandas categories": lambda ids: pd.Series(ids.astype(str)).astype("category"),
    "pandas integers": lambda ids: pd.Series(ids).astype("Int64"),
    "polars strings": lambda ids: pl.Series(ids.astype(str)),
    "polars integers": lambda ids: pl.Series(ids),
    "tuples": lambda ids: [(i, "x") for i in ids.tolist()],
    "of several kinds": lambda ids: [i if i % 2 else str(i) for i in ids.tolist()],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_parts", [1, 2])
def test_ids_of_any_kind(kind, n_parts):
    """Equal counts, whatever the ids; and joined to a table by ids of the same kind."""
    rng = np.random.default_rng(0)
    n = 40
    session = np.repeat(np.arange(n // 4), 4)
    values = {
        "groups": rng.integers(0, 3, n // 4)[session],
        "documents": np.concatenate([rng.permutation(6)[:4] for _ in range(n // 4)]),
        "positions": np.tile(np.arange(1, 5), n // 4),
        "clicks": rng.integers(0, 2, n),
        "sessions": session,
    }
    expected = ClickLog(**values).cells()
    log = ClickLog()
    for part in np.array_split(np.arange(n // 4), n_parts):
        inside = np.isin(session, part)
        log.add(
            **{
                name: KINDS[kind](column[inside])
                if name in ("groups", "documents", "sessions")
                else column[inside]
                for name, column in values.items()
            }
        )
    cells = log.cells()
    assert sorted(zip(cells.shown, cells.clicked, cells.positions, strict=True)) == sorted(
        zip(expected.shown, expected.clicked, expected.positions, strict=True)
    )
    assert log.n_rows == len(set(zip(expected.groups, expected.documents, strict=True)))
    table = np.array([(q, d) for q in range(3) for d in range(6)])
    training = log.to_training(
        np.ones(4), table, KINDS[kind](table[:, 0]), KINDS[kind](table[:, 1])
    )
    clicked = {}
    for q, d, c in zip(values["groups"], values["documents"], values["clicks"], strict=True):
        clicked[q, d] = clicked.get((q, d), 0) + c
    assert dict(zip(map(tuple, training.X), training.clicked, strict=True)) == clicked


def test_ids_of_one_value_in_several_types():
    """1 is 1, as an integer of any width or as a float, and "1" is another id."""
    log = ClickLog([1], [1], [1], [0])
    for ids in (np.array([1], dtype=np.uint8), np.array([1.0]), np.array([1], dtype=np.uint64)):
        log.add(ids, ids, [1], [1])
    assert log.n_rows == 1
    assert log.add(["1"], [1], [1], [0]).n_rows == 2


def test_frames():
    values = [1, 1], ["a", "b"], [1, 2], [False, True], [5, 5]
    frame = pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
    expected = ClickLog([1, 1], ["a", "b"], [1, 2], [0, 1], [5, 5])
    for one in (frame, pl.from_pandas(frame)):
        log = ClickLog(**{name: one[name] for name in COLUMNS})
        assert_same_logs(log, expected)
    cells = pd.DataFrame(expected.cells())
    assert cells.to_dict("list") == {
        "groups": [1, 1],
        "documents": ["a", "b"],
        "positions": [1, 2],
        "shown": [1, 1],
        "clicked": [0, 1],
    }


GOOD = {
    "groups": [1, 1, 2],
    "documents": [4, 5, 6],
    "positions": [1, 2, 1],
    "clicks": [0, 1, 0],
    "sessions": [7, 7, 8],
}
BAD = {
    "from 0": ({"positions": [0, 1, 1]}, r"`positions` has 0 at row 0.*Add 1 if they are counted"),
    "fraction": ({"positions": [1, 1.5, 1]}, r"`positions` has 1\.5 at row 1; .* whole numbers"),
    "far": ({"positions": [1, 3000, 1]}, r"`positions` has 3000 at row 1.*Leave what is further"),
    "nan": ({"positions": [1, np.nan, 1]}, "positions contains NaN"),
    "no position": ({"positions": None}, r"`positions` is None; give the position of each row"),
    "count": ({"clicks": [0, 2, 0]}, r"`clicks` has 2 at row 1; .*repeat rows"),
    "no click": ({"clicks": None}, r"`clicks` is None; give 1 or 0"),
    "short": ({"clicks": [0, 1]}, r"`clicks` must have one entry for each of the 3 rows"),
    "no query": ({"groups": None}, r"`groups` is None; give one query id for each row"),
    "no document": ({"documents": None}, r"`documents` is None; give one document id for each"),
    "missing": (
        {"documents": ["a", None, "b"]},
        r"`documents` has a missing id at row 1; every row needs a document id",
    ),
    "missing session": ({"sessions": [7.0, np.nan, 8.0]}, r"`sessions` has a missing id at row 1"),
    "few documents": ({"documents": [1, 2]}, r"`documents` has 2 entries but there are 3 rows"),
    "two queries": (
        {"sessions": [7, 8, 7], "positions": [1, 1, 2]},
        r"Session 7 has the queries 1 and 2 at rows 0 and 2; .*by the session and the query",
    ),
    "position twice": (
        {"positions": [3, 3, 1]},
        r"Session 7 has position 3 twice at rows 0 and 1; a session is one list",
    ),
    "document twice": (
        {"documents": [4, 4, 6]},
        r"Session 7 has document 4 twice at rows 0 and 1; .*keep the first",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    changed, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        ClickLog(**GOOD | changed)
    log = ClickLog(**GOOD)
    with pytest.raises(ValueError, match=message):
        log.add(**GOOD | changed)
    assert_same_logs(log, ClickLog(**GOOD))  # nothing of it was counted


def test_sessions_in_all_calls_or_none():
    without = {name: GOOD[name] for name in COLUMNS[:-1]}
    with pytest.raises(ValueError, match="has sessions so far, and what is added has none"):
        ClickLog(**GOOD).add(**without)
    with pytest.raises(ValueError, match="has no sessions so far, and what is added has some"):
        ClickLog(**without).add(**GOOD)


@pytest.mark.parametrize("name", ["keep_pairs", "keep_sessions"])
def test_switches(name):
    with pytest.raises(ValueError, match=f"`{name}` must be one of"):
        ClickLog(**{name: "yes"})


def test_an_empty_log():
    log = ClickLog()
    assert repr(log) == "ClickLog(empty)"
    assert (log.n_impressions, log.n_sessions, log.n_positions, log.n_cells) == (0, 0, 0, 0)
    with pytest.raises(ValueError, match="The log is empty"):
        log.cells()
    with pytest.raises(ValueError, match="The log is empty"):
        log.to_training([1])


def test_repr():
    log = ClickLog(**GOOD)
    assert (
        repr(log) == "ClickLog(2 sessions, 3 impressions, 1 clicks, 3 rows, 3 cells, 2 positions)"
    )
    del log
    assert repr(ClickLog([1], [1], [1], [1])) == (
        "ClickLog(1 impressions, 1 clicks, 1 rows, 1 cells, 1 positions)"
    )


def test_memory_is_by_cells_and_pairs():
    """A thousand times the impressions take no more of it."""

    def n_bytes(log):
        return sum(np.asarray(held).nbytes for held in everything(log))

    log = ClickLog(**GOOD)
    once = n_bytes(log)
    for _ in range(1000):
        log.add(**GOOD)
    assert log.n_impressions == 3003
    assert n_bytes(log) == once
    assert len(log._parts) == 1


# Training sets ----------------------------------------------------------------------------------

PROPENSITIES = [1, 0.5, 0.4, 0.25, 0.2, 0.1]


@given(sessions())
def test_labels(drawn):
    log = make_log(drawn)
    training = log.to_training(PROPENSITIES)
    shown, clicked, seen = {}, {}, {}
    for query, impressions in drawn:
        for document, position, click in impressions:
            row = query, document
            shown[row] = shown.get(row, 0) + 1
            clicked[row] = clicked.get(row, 0) + click
            seen[row] = seen.get(row, 0) + PROPENSITIES[position - 1]
    rows = list(zip(training.queries.tolist(), training.documents.tolist(), strict=True))
    assert rows == sorted(shown)
    assert_array_equal(training.groups, training.queries)
    assert training.shown.tolist() == [shown[row] for row in rows]
    assert training.clicked.tolist() == [clicked[row] for row in rows]
    assert_allclose(training.y, [clicked[row] / seen[row] for row in rows], rtol=1e-12)


@given(sessions(), st.sampled_from(["array", "csr", "pandas", "polars"]))
def test_a_table_is_joined(drawn, kind):
    log = make_log(drawn)
    groups, documents = np.divmod(np.random.default_rng(0).permutation(10), 5)
    values = np.column_stack([groups, documents]).astype(float)
    X = {
        "array": lambda: values,
        "csr": lambda: sparse.coo_array(values),
        "pandas": lambda: pd.DataFrame(values, columns=["q", "d"]),
        "polars": lambda: pl.DataFrame(values, schema=["q", "d"]),
    }[kind]()
    training = log.to_training(PROPENSITIES, X, groups, documents)
    found = training.X.toarray() if kind == "csr" else np.asarray(training.X)
    assert type(training.X) is type(X) or kind == "csr"
    assert_array_equal(found, np.column_stack([training.queries, training.documents]))
    assert_array_equal(values[training.rows], found)
    assert_array_equal(training.y, log.to_training(PROPENSITIES).y)


@given(sessions())
def test_a_list_for_each_session(drawn):
    log = make_log(drawn, keep_sessions=True)
    training = log.to_training(PROPENSITIES, by_session=True)
    assert "shown" not in training
    found = []
    for number in range(len(drawn)):
        rows = training.groups == number
        (query,) = set(training.queries[rows].tolist())
        shown = (training.documents, training.positions, training.y)
        found.append((query, list(zip(*(column[rows].tolist() for column in shown), strict=True))))
    assert sorted(found) == sorted(drawn)
    assert_array_equal(training.propensity, np.array(PROPENSITIES)[training.positions - 1])
    groups, documents = np.divmod(np.arange(10), 5)
    joined = log.to_training(
        PROPENSITIES, np.arange(10)[:, None], groups, documents, by_session=True
    )
    assert_array_equal(joined.rows, training.queries * 5 + training.documents)


def test_rankers_take_it():
    rng = np.random.default_rng(0)
    X, groups, documents = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10), np.arange(60)
    log = ClickLog(groups, documents, documents % 10 + 1, X[:, 0] > 0)
    training = log.to_training(np.ones(10), X, groups, documents)
    ranker = RegressionRanker().fit(training.X, training.y, groups=training.groups)
    assert ranker.score(X, (X[:, 0] > 0).astype(float), groups=groups) == 1


@pytest.mark.parametrize(
    ("propensities", "message"),
    [
        ([1], "has 1 entries, and the log has positions up to 2"),
        ([1, 0], r"has 0 for position 2; .* raise it to the least"),
        ([2, 1], r"has 2 for position 1; .* Divide all of them by the largest"),
        ([1, -0.5], "has -0.5 for position 2"),
        ([1, np.nan], "NaN"),
    ],
)
def test_wrong_propensities(propensities, message):
    with pytest.raises(ValueError, match=message):
        ClickLog(**GOOD).to_training(propensities)


def test_propensities_beyond_the_log():
    log = ClickLog(**GOOD)
    assert_array_equal(log.to_training([1, 0.5, 0]).y, log.to_training([1, 0.5]).y)


def test_documents_that_the_table_lacks():
    log = ClickLog(**GOOD)
    X, groups, documents = np.arange(2)[:, None], [1, 2], [4, 6]
    message = r"1 of the 3 documents .* the first being 5 of 1\. missing=\"drop\""
    with pytest.raises(ValueError, match=message):
        log.to_training([1, 1], X, groups, documents)
    training = log.to_training([1, 1], X, groups, documents, missing="drop")
    assert training.documents.tolist() == [4, 6]
    assert training.X.tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="Are the ids of one kind"):
        log.to_training([1, 1], X, ["1", "2"], ["4", "6"], missing="drop")
    with pytest.raises(ValueError, match="Rows 0 and 1 are the same document, 4, of the same"):
        log.to_training([1, 1], X, [1, 1], [4, 4])
    with pytest.raises(ValueError, match="are those of the rows of `X`: give `X`"):
        log.to_training([1, 1], groups=groups)
    with pytest.raises(ValueError, match="`groups` is None"):
        log.to_training([1, 1], X)
    with pytest.raises(ValueError, match="`missing` must be one of"):
        log.to_training([1, 1], missing="ignore")


def test_sessions_that_were_not_kept():
    with pytest.raises(ValueError, match=re.escape("ClickLog(..., keep_sessions=True)")):
        ClickLog(**GOOD).to_training([1, 1], by_session=True)
    without = {name: GOOD[name] for name in COLUMNS[:-1]}
    with pytest.raises(ValueError, match="give the log `sessions`"):
        ClickLog(**without, keep_sessions=True).to_training([1, 1], by_session=True)
