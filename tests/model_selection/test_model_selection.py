# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy import sparse

from sklearn_ltr.model_selection import train_test_split_queries

N = 60


@pytest.fixture
def groups():
    """Ids of 12 queries of 5 rows, interleaved."""
    return np.random.default_rng(0).permutation(np.repeat(np.arange(100, 112), 5))


def test_queries_stay_whole_and_rows_stay_together_in_order(groups):
    row = np.arange(N)
    parts = train_test_split_queries(row, 10 * row, groups=groups, random_state=0)
    train, test, train10, test10, train_groups, test_groups = parts
    assert not set(train_groups) & set(test_groups)
    assert len(set(train_groups)) == 9
    assert len(set(test_groups)) == 3  # a quarter
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), row)
    for rows, tenfold, ids in ((train, train10, train_groups), (test, test10, test_groups)):
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(tenfold, 10 * rows)
        np.testing.assert_array_equal(ids, groups[rows])


@pytest.mark.parametrize(("test_size", "expected"), [(0.5, 6), (0.1, 2), (1, 1), (11, 11)])
def test_test_size(test_size, expected, groups):
    *_, test_groups = train_test_split_queries(
        np.arange(N), groups=groups, test_size=test_size, random_state=0
    )
    assert len(set(test_groups)) == expected


def test_random_state(groups):
    splits = [
        tuple(train_test_split_queries(np.arange(N), groups=groups, random_state=seed)[1])
        for seed in (0, 0, 1, np.random.RandomState(1))
    ]
    assert splits[0] == splits[1] != splits[2] == splits[3]


ID_TYPES = {
    "int64 beyond 2^53": lambda g: g + 2**60,
    "uint64": lambda g: g.astype(np.uint64),
    "float": lambda g: g / 7,
    "string": lambda g: g.astype(str),
    "object": lambda g: np.array([("query", int(id)) for id in g] + [None], dtype=object)[:-1],
    "list": list,
    "list beyond int64": lambda g: [int(id) + 2**70 for id in g],
}


@pytest.mark.parametrize("kind", ID_TYPES)
def test_ids_of_any_type_split_alike(kind, groups):
    row = np.arange(N)
    expected = train_test_split_queries(row, groups=groups, random_state=0)
    given = ID_TYPES[kind](groups)
    train, test, train_groups, test_groups = train_test_split_queries(
        row, groups=given, random_state=0
    )
    np.testing.assert_array_equal(test, expected[1])
    np.testing.assert_array_equal(train, expected[0])
    assert type(test_groups) is type(given)
    assert list(train_groups) == [given[i] for i in train]
    assert list(test_groups) == [given[i] for i in test]


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse(container, groups):
    X = sparse.random(N, 4, density=0.5, random_state=0).toarray()
    train, test, *_ = train_test_split_queries(container(X), groups=groups, random_state=0)
    dense_train, dense_test, *_ = train_test_split_queries(X, groups=groups, random_state=0)
    np.testing.assert_array_equal(train.toarray(), dense_train)
    np.testing.assert_array_equal(test.toarray(), dense_test)


def test_lists(groups):
    names = [f"row {i}" for i in range(N)]
    train, test, *_ = train_test_split_queries(names, groups=groups, random_state=0)
    rows = train_test_split_queries(np.arange(N), groups=groups, random_state=0)
    assert train == [names[i] for i in rows[0]]
    assert test == [names[i] for i in rows[1]]


def test_frames(groups):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": np.arange(N), "b": "x"}, index=np.arange(N)[::-1])
    frame["query"] = pd.Categorical(groups.astype(str))
    train, test, train_groups, test_groups = train_test_split_queries(
        frame, groups=frame["query"], random_state=0
    )
    rows = train_test_split_queries(np.arange(N), groups=groups, random_state=0)
    for part, ids, expected in ((train, train_groups, rows[0]), (test, test_groups, rows[1])):
        pd.testing.assert_frame_equal(part, frame.iloc[expected])
        pd.testing.assert_series_equal(ids, frame["query"].iloc[expected])


def test_errors(groups):
    row = np.arange(N)
    with pytest.raises(ValueError, match=rf"Array 1 has {N - 1} rows but array 0 has {N}"):
        train_test_split_queries(row, row[:-1], groups=groups)
    with pytest.raises(ValueError, match="at least one array"):
        train_test_split_queries(groups=groups)
    with pytest.raises(ValueError, match="`groups` is None"):
        train_test_split_queries(row, groups=None)
    with pytest.raises(ValueError, match="look like query sizes"):
        train_test_split_queries(row, groups=np.full(12, 5))
    with pytest.raises(ValueError, match="missing id at row 3"):
        train_test_split_queries(row, groups=np.where(row == 3, np.nan, groups))
    with pytest.raises(ValueError, match="test_size=12"):
        train_test_split_queries(row, groups=groups, test_size=12)
    with pytest.raises(ValueError, match="train set will be empty"):
        train_test_split_queries(row, groups=np.zeros(N))
