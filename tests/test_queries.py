# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Query ids, the canonical order of rows, and hold-out by query."""

import datetime
import fractions
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sklearn_ltr import queries
from sklearn_ltr.queries import (
    QueryGroups,
    centre,
    encode_groups,
    per_query,
    row_hash,
    split_queries,
)

ids = st.one_of(
    st.lists(st.integers(-(2**70), 2**70)),
    st.lists(st.integers(2**53 - 3, 2**53 + 3)),
    st.lists(st.floats(allow_nan=False)),
    st.lists(st.text(max_size=3)),
    st.lists(st.one_of(st.integers(0, 3), st.text("12", max_size=2), st.booleans())),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2))),
    st.lists(st.dates(min_value=datetime.date(2020, 1, 1), max_value=datetime.date(2020, 1, 4))),
    st.lists(st.fractions(max_denominator=3, min_value=0, max_value=2)),
)


@given(groups=ids)
def test_equal_ids_are_one_query(groups):
    codes, found = encode_groups(groups, len(groups))
    assert len(found) == len(set(groups))
    assert [found[c] for c in codes] == groups
    assert codes.dtype == np.intp
    if not any(isinstance(g, str) for g in groups) or all(isinstance(g, str) for g in groups):
        assert list(found) == sorted(set(groups))
    else:
        assert set(found) == set(groups)


@given(
    groups=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    kind=st.sampled_from(["array", "big-endian", "Series", "Int64", "category", "object"]),
)
def test_integers_of_64_bits_are_compared_exactly(groups, kind):
    array = np.array(groups, dtype=np.int64)
    given = {
        "array": lambda: array,
        "big-endian": lambda: array.astype(">i8"),
        "Series": lambda: pd.Series(array),
        "Int64": lambda: pd.Series(array, dtype="Int64"),
        "category": lambda: pd.Series(array).astype("category"),
        "object": lambda: array.astype(object),
    }[kind]()
    codes, found = encode_groups(given, len(groups))
    assert [int(found[c]) for c in codes] == groups
    assert len(found) == len(set(groups))


def test_order_of_first_appearance_where_ids_do_not_compare():
    codes, found = encode_groups([1, "a", 1, None.__class__, "a"], 5)
    assert codes.tolist() == [0, 1, 0, 2, 1]
    assert list(found) == [1, "a", type(None)]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, "`qid` is None"),
        ([1, 2], "`qid` has 2 entries but there are 3 rows"),
        ([1, 1, 1, 1], "`qid` has 4 entries but there are 3 rows"),
        (np.ones((3, 2)), r"one-dimensional.*\(3, 2\)"),
        (np.float64(3), r"one-dimensional.*\(\)"),
        (5, "`qid`"),
        (sparse.csr_array((3, 1)), "sparse"),
        ([1, None, 2], "missing id at row 1"),
        ([1, 2, np.nan], "missing id at row 2"),
        (np.array([1, np.nan, 2]), "missing id at row 1"),
        (np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "missing id at row 1"),
        (pd.Series(["a", "b", None]), "missing id at row 2"),
        (pd.Series([1, None, 3], dtype="Int64"), "missing id at row 1"),
        (pd.Categorical(["a", None, "b"]), "missing id at row 1"),
        ([1, [2], 3], r"unhashable id at row 1: \[2\]"),
        ([1, 2], "np.repeat"),
        (np.array([1, 2]), "np.repeat"),
        (np.array([1.0, 2.0]), "np.repeat"),
        (pd.Series([1, 2]), "np.repeat"),
    ],
)
def test_wrong_ids(groups, message):
    with pytest.raises(ValueError, match=message) as raised:
        encode_groups(groups, 3, "qid")
    assert "qid" in str(raised.value)


def test_what_is_said_of_sizes_is_right():
    sizes = np.array([2, 1, 3])
    with pytest.raises(ValueError, match=r"np\.repeat") as raised:
        encode_groups(sizes, 6)
    remedy = str(raised.value).split(": ")[-1].split(" turns")[0]
    groups = eval(remedy, {"np": np, "groups": sizes})
    assert encode_groups(groups, 6)[0].tolist() == [0, 0, 1, 2, 2, 2]
    for other in ([1, 2], ["a", "b"], [fractions.Fraction(1, 2)] * 2):
        with pytest.raises(ValueError, match="entries") as raised:
            encode_groups(other, 6)
        assert "np.repeat" not in str(raised.value)


# --- hashes --------------------------------------------------------------------------------------

cells = st.sampled_from([0.0, -0.0, 1.0, -1.0, np.nan, 5e-324, 1e300, 0.5])


@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=12),
    single=st.booleans(),
    wide=st.booleans(),
)
def test_hashes_are_equal_where_contents_are(rows, single, wide):
    X = np.array(rows)
    if single:
        X = np.where(np.abs(X) > 1e30, 7.0, X).astype(np.float32)
    y = np.arange(len(X)) % 2.0
    hashes = row_hash(X, y)
    assert hashes.dtype == np.uint64
    S = sparse.csr_array(X)
    if wide:
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    assert_array_equal(row_hash(S, y), hashes)
    assert_array_equal(row_hash(S, y, n_threads=2), hashes)
    assert_array_equal(row_hash(X.astype(float), y, n_threads=2), hashes)
    assert_array_equal(row_hash(np.asfortranarray(X), y), hashes)
    assert_array_equal(row_hash(X[::-1], y[::-1])[::-1], hashes)

    def content(row, label):
        return tuple("nan" if np.isnan(v) else float(v) + 0.0 for v in row) + (label,)

    contents = [content(row, label) for row, label in zip(X, y, strict=True)]
    assert len(set(hashes.tolist())) == len(set(contents))


def test_hashes_see_the_column():
    X = np.eye(4) + 1
    assert len(set(row_hash(X).tolist())) == 4
    one, two = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    assert row_hash(np.zeros((2, 1)), one, two)[0] != row_hash(np.zeros((2, 1)), two, one)[0]
    # A column belongs to its place: the last feature is not the first further column.
    assert row_hash(np.array([[0.0, 3.0]]), [0.0])[0] != row_hash(np.array([[0.0, 0.0]]), [3.0])[0]


def test_hashes_spread():
    X = np.arange(100_000.0)[:, None]
    hashes = row_hash(X)
    assert len(np.unique(hashes)) == len(X)
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(len(X), 64).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 0.01


# --- QueryGroups ---------------------------------------------------------------------------------


@given(
    groups=st.lists(st.integers(0, 5), min_size=1, max_size=30),
    seed=st.integers(0, 2**32 - 1),
    canonical=st.booleans(),
)
def test_order_and_offsets(groups, seed, canonical):
    groups = np.array(groups)
    n = len(groups)
    keys = np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)
    queries = QueryGroups.from_ids(groups, n, keys=keys if canonical else None)
    assert (queries.n_samples, queries.n_queries) == (n, len(set(groups.tolist())))
    assert sorted(queries.order.tolist()) == list(range(n))
    assert queries.order.dtype == queries.offsets.dtype == np.intp
    assert_array_equal(queries.sizes, np.diff(queries.offsets))
    for q, (start, stop) in enumerate(pairwise(queries.offsets)):
        rows = queries.order[start:stop]
        assert set(groups[rows].tolist()) == {queries.ids[q]}
        assert len(rows) == (groups == queries.ids[q]).sum()
        if canonical:
            assert (np.diff(keys[rows].astype(object)) >= 0).all()
        else:
            assert (np.diff(rows) > 0).all()
    of_row = np.repeat(np.arange(queries.n_queries), queries.sizes)
    assert_array_equal(queries.query_of_row(), of_row)
    if not canonical:
        assert_array_equal(queries.ids, np.unique(groups))


@given(groups=st.lists(st.integers(0, 5), min_size=1, max_size=30), seed=st.integers(0, 999))
def test_canonical_order_depends_on_contents_alone(groups, seed):
    rng = np.random.default_rng(seed)
    groups = np.array(groups)
    n = len(groups)
    X = rng.integers(0, 3, (n, 2)).astype(float)  # with rows that are alike
    first = QueryGroups.from_ids(groups, n, keys=row_hash(X))
    order = rng.permutation(n)
    names = np.array([f"id {i}" for i in rng.permutation(6)])
    second = QueryGroups.from_ids(names[groups[order]], n, keys=row_hash(X[order]))
    assert_array_equal(first.offsets, second.offsets)
    assert_array_equal(X[first.order], X[order][second.order])


def test_one_query_without_ids():
    queries = QueryGroups.from_ids(None, 4)
    assert queries.offsets.tolist() == [0, 4]
    assert queries.order.tolist() == [0, 1, 2, 3]
    empty = QueryGroups.from_ids(None, 0)
    assert (empty.n_queries, empty.n_samples) == (0, 0)
    assert QueryGroups.from_ids([], 0, keys=np.empty(0, np.uint64)).n_queries == 0


@given(groups=st.lists(st.integers(0, 4), min_size=1, max_size=20), mask_bits=st.integers(0, 31))
def test_select(groups, mask_bits):
    groups = np.array(groups)
    queries = QueryGroups.from_ids(groups, len(groups))
    mask = np.array([bool(mask_bits >> q & 1) for q in range(queries.n_queries)])
    kept, positions = queries.select(mask)
    assert_array_equal(kept.ids, queries.ids[mask])
    assert_array_equal(kept.order, queries.order[positions])
    assert_array_equal(kept.sizes, queries.sizes[mask])
    assert_array_equal(np.sort(kept.order), np.flatnonzero(np.isin(groups, queries.ids[mask])))
    assert_array_equal(groups[kept.order], np.repeat(kept.ids, kept.sizes))


# --- split_queries and per_query -----------------------------------------------------------------


@given(
    eligible=st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda e: sum(e) >= 2),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 999),
)
def test_split(eligible, fraction, seed):
    eligible = np.array(eligible)
    held_out = split_queries(eligible, fraction, seed)
    assert held_out.dtype == bool
    assert not (held_out & ~eligible).any()
    assert 1 <= held_out.sum() <= eligible.sum() - 1
    assert abs(held_out.sum() - fraction * eligible.sum()) <= 1
    assert_array_equal(split_queries(eligible, fraction, seed), held_out)


def test_split_draws_every_query():
    seen = sum(split_queries(np.ones(20, dtype=bool), 0.2, seed) for seed in range(100))
    assert seen.sum() == 400
    assert seen.min() > 5


@pytest.mark.parametrize("eligible", [[], [True], [False, True, False]])
def test_split_needs_two_queries(eligible):
    with pytest.raises(ValueError, match=rf"two queries.*got {sum(eligible)}.*X_val"):
        split_queries(np.array(eligible, dtype=bool), 0.5)


def test_per_query():
    groups = np.array(["b", "a", "b", "c"])
    queries = QueryGroups.from_ids(groups, 4)
    assert per_query([3, 0, 3, 1], queries).tolist() == [0, 3, 1]
    assert per_query(pd.Series([3, 0, 3, 1], index=[9, 8, 7, 6]), queries).tolist() == [0, 3, 1]
    for values, message in (
        ([3, 0, 2, 1], r"`w` must be constant within a query.*'b'"),
        ([3, 0, 3], r"`w` must have one entry for each of the 4 rows.*\(3,\).*np\.unique\(groups"),
        ([3, 0, 3, 1, 1], r"`w` must have one entry for each of the 4 rows"),
        ([0, 0, 0, 0], r"`w` is zero"),
        ([1, -1, 1, 1], r"`w`.*row 1 has -1"),
        ([1, 1, 1, np.nan], r"`w`.*row 3 has nan"),
        (["x"] * 4, "`w`"),
    ):
        with pytest.raises(ValueError, match=message):
            per_query(values, queries, "w")


def test_remedy_for_one_weight_a_query_is_right():
    groups = np.array(["b", "a", "b", "c"])
    queries = QueryGroups.from_ids(groups, 4)
    query_weight = np.array([5.0, 7.0, 9.0])  # of a, b, c
    with pytest.raises(ValueError, match="repeat") as raised:
        per_query(query_weight, queries)
    remedy = str(raised.value).split("query, ")[-1].rstrip(".")
    rows = eval(remedy, {"np": np, "groups": groups, "query_weight": query_weight})
    assert rows.tolist() == [7, 5, 7, 9]
    assert per_query(rows, queries).tolist() == [5, 7, 9]


def test_keep_rows():
    groups = np.array(["b", "a", "b", "c", "a"])
    queries = QueryGroups.from_ids(groups, 5)  # rows 1, 4; 0, 2; 3
    kept = queries.keep_rows(np.array([False, True, True, True, False]))
    assert kept.order.tolist() == [4, 0, 2]
    assert kept.offsets.tolist() == [0, 1, 3]
    assert kept.ids.tolist() == ["a", "b"]
    assert queries.keep_rows(np.ones(5, dtype=bool)).order.tolist() == queries.order.tolist()


@pytest.mark.parametrize("block", [1, 6, 20, 10**6])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_centre(block, shape, monkeypatch):
    monkeypatch.setattr(queries, "BLOCK", block)
    offsets = np.array([0, 1, 4, 5, 11, 13])
    rows = np.random.default_rng(0).normal(size=(13, *shape))
    rows[1:4] = 1 / 3  # equal rows give 0, not nearly 0
    rows[5:11] += 1e9
    expected = rows.copy()
    for start, stop in pairwise(offsets):
        expected[start:stop] -= rows[start:stop].mean(axis=0)
    found = centre(rows, offsets)
    assert found is rows
    assert_allclose(found, expected, atol=1e-6)
    assert_array_equal(found[:5], 0)
