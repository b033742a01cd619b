# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The readers and makers of ranking data."""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import norm
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures
from strategies import examples

from sklearn_ltr.datasets import (
    load_letor_file,
    load_letor_folds,
    make_cubic_ranking,
    make_ranking,
)

BIG = 72048431380967004  # float64 cannot tell it from its neighbour


def read(text, **options):
    return load_letor_file(io.BytesIO(text), **options)


# --- letor: one file -----------------------------------------------------------------------------


def test_values_ids_and_dtypes():
    text = (
        b"# a comment alone\n\n2 qid:%d 1:0.5 3:-1e-3 #docid = GX1-2 inc = 1 prob = 0.5\n"
        b"0.5 qid:%d 2:NULL # docid = b3 \n-1 qid:-4\n" % (BIG, BIG + 1)
    )
    data = read(text)
    assert_array_equal(data.X, [[0.5, 0, -1e-3], [0, np.nan, 0], [0, 0, 0]])
    assert_array_equal(data.y, [2, 0.5, -1])
    assert data.groups.tolist() == [BIG, BIG + 1, -4]
    assert data.docids.tolist() == ["GX1-2", "b3", ""]
    assert (data.X.dtype, data.y.dtype, data.groups.dtype) == (float, float, np.int64)
    assert data.X.flags.writeable
    assert data.y.flags.writeable


@pytest.mark.parametrize(
    "change", [lambda t: t.rstrip(b"\n"), lambda t: t.replace(b"\n", b"\r\n")], ids=["cut", "crlf"]
)
def test_line_ends_do_not_matter(change):
    text = b"1 qid:1 1:2 2:NULL #docid = a\n0 qid:2 1:3 2:4 #docid = b\n"
    expected, got = read(text), read(change(text))
    for key in expected:
        assert_array_equal(got[key], expected[key])


def test_null_only_as_a_value():
    assert read(b"1 qid:1 1:1 #docid = a:NULL\n").docids.tolist() == ["a:NULL"]
    with pytest.raises(ValueError, match=r"line 1 .*NULLX"):
        read(b"1 qid:1 1:NULLX\n")


@pytest.mark.parametrize("as_type", [str, Path])
@pytest.mark.parametrize("ending", ["txt", "txt.gz"])
def test_reads_paths_plain_and_compressed(tmp_path, as_type, ending):
    path = tmp_path / f"data.{ending}"
    text = b"1 qid:1 1:2\n0 qid:1 2:3\n"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = load_letor_file(as_type(path))
    assert_array_equal(data.X, [[2, 0], [0, 3]])


def test_file_object_stays_open(tmp_path):
    (tmp_path / "data").write_bytes(b"1 qid:1 1:2\n")
    with open(tmp_path / "data", "rb") as file:
        assert load_letor_file(file).X.shape == (1, 1)
        assert not file.closed
    with pytest.raises(TypeError, match="binary mode"):
        load_letor_file(io.StringIO("1 qid:1 1:2\n"))


def test_index_base():
    text = b"1 qid:1 1:5 2:6\n"
    assert_array_equal(read(text).X, [[5, 6]])
    assert_array_equal(read(text, zero_based=True).X, [[0, 5, 6]])
    assert_array_equal(read(b"1 qid:1 0:4 1:5\n").X, [[4, 5]])
    with pytest.raises(ValueError, match=r"line 1 .*index 0"):
        read(b"1 qid:1 0:4 1:5\n", zero_based=False)


def test_n_features():
    text = b"1 qid:1 1:5 3:6\n"
    assert_array_equal(read(text, n_features=5).X, [[5, 0, 6, 0, 0]])
    with pytest.raises(ValueError, match=r"n_features was set to 2, but .* 3 features"):
        read(text, n_features=2)
    with pytest.raises(ValueError, match="n_features"):
        read(text, n_features=0)


def test_sparse_equals_dense():
    text = b"1 qid:1 2:5\n0 qid:1\n2 qid:1 1:NULL 4:1\n"
    X = read(text, sparse=True).X
    assert X.format == "csr"
    assert X.nnz == 3
    assert_array_equal(X.toarray(), read(text).X)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"1", "no query id"),
        (b"1 1:2 2:3", "no query id"),
        (b"1 1:2 # qid:7", "no query id"),
        (b"qid:1 1:2", "no query id"),
        (b"x qid:1 1:2", "the label is not a number: 'x'"),
        (b"1 qid: 1:2", "the query id is not a .*'qid:'"),
        (b"1 qid:1.5 1:2", r"the query id is not a .*'qid:1\.5'"),
        (b"1 qid:9223372036854775808 1:2", "the query id is not a signed 64-bit integer"),
        (b"1 qid:1 1:a#b", "the value is not a number: '1:a'"),
        (b"1 qid:1 1:", "the value is not a number: '1:'"),
        (b"1 qid:1 1:1e999", "the value is too large: '1:1e999'"),
        (b"-1e999 qid:1 1:1", "the label is too large: '-1e999'"),
        (b"1 qid:1 a:1", "not `index:value`: 'a:1'"),
        (b"1 qid:1 7", "not `index:value`: '7'"),
        (b"1 qid:1 -1:2", "index is not between 0 and 2,147,483,647: '-1:2'"),
        (b"1 qid:1 2:1 1:1", "sorted and unique"),
        (b"1 qid:1 2:1 2:1", "sorted and unique"),
        (b"1 qid:1 99999999999:1", "index is not between .* '99999999999:1'"),
        (b"1 qid:1_0 1:2", "the query id is not a .*'qid:1_0'"),
        (b"1 qid:1 1:1_0", "the value is not a number: '1:1_0'"),
        (b"1 qid:1 1:2 #docid = a\0b", "NUL"),
        # All but the first row would be a comment.
        (b"1 qid:1 1:2 #docid = a\r0 qid:1 1:3 #docid = b\r", "carriage return"),
        (b"1 qid:1 1:2 #docid = " + 1001 * b"d", "longer than 1,000 bytes"),
        (b"1 qid:1 1:" + 100_000 * b"x", r"\.\.\."),
    ],
)
def test_malformed_line_is_named(tmp_path, line, reason):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"# head\n1 qid:1 1:2\n" + line + b"\n0 qid:1 1:3\n")
    with pytest.raises(ValueError, match=rf"bad\.txt, line 3 .*{reason}") as raised:
        load_letor_file(path)
    assert len(str(raised.value)) < 1_000


def test_odd_but_well_formed():
    text = b"+1. qid:-007 01:.5\t+2:inf 3:-1E3 4:nan\v#_ docid\t=\ty_1 docid = z\r\r\n \n#\n"
    data = read(text)
    assert_array_equal(data.X, [[0.5, np.inf, -1000, np.nan]])
    assert (data.y.tolist(), data.groups.tolist()) == ([1], [-7])
    assert data.docids.tolist() == ["y_1"]
    longest = "d" * 1_000
    assert read(b"1 qid:1 #docid = " + longest.encode()).docids.tolist() == [longest]


def test_too_large_for_a_dense_array(tmp_path):
    path = tmp_path / "wide.txt"
    path.write_bytes(b"1 qid:1 2147483647:1\n" * 20_000)  # more than 64-bit processors address
    with pytest.raises(ValueError, match=r"wide\.txt: 20,000 rows of 2,147,483,647 .*sparse=True"):
        load_letor_file(path)
    assert load_letor_file(path, sparse=True).X.shape == (20_000, 2_147_483_647)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# only a comment\n"])
def test_file_without_rows(tmp_path, text):
    (tmp_path / "none.txt").write_bytes(text)
    with pytest.raises(ValueError, match=r"none\.txt: the file has no row"):
        load_letor_file(tmp_path / "none.txt")


def test_broken_gzip_is_named(tmp_path):
    text = gzip.compress(b"".join(b"1 qid:%d 1:%d\n" % (i, i * i) for i in range(5000)))
    damaged = bytearray(text)
    damaged[len(text) // 2 :] = b"\xff" * (len(text) - len(text) // 2)
    for content in (text[:-20], bytes(damaged), text + b"junk"):
        (tmp_path / "bad.txt.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"bad\.txt\.gz"):
            load_letor_file(tmp_path / "bad.txt.gz")
    with pytest.raises(FileNotFoundError, match="absent"):
        load_letor_file(tmp_path / "absent.txt")


@examples(60)
@given(st.data(), st.booleans(), st.booleans())
def test_round_trip(data, zero_based, as_sparse):
    n_rows, n_features = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 5))
    # scikit-learn writes 16 digits, which is not every float64.
    value = st.integers(-(10**6), 10**6).map(lambda v: v / 1000)
    row = st.lists(value, min_size=n_features, max_size=n_features)
    X = np.array(data.draw(st.lists(row, min_size=n_rows, max_size=n_rows)))
    y = np.array(data.draw(st.lists(value, min_size=n_rows, max_size=n_rows)))
    query = st.integers(-(2**63), 2**63 - 1) | st.integers(BIG, BIG + 2)
    ids = np.array(data.draw(st.lists(query, min_size=n_rows, max_size=n_rows)), dtype=np.int64)
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based, query_id=ids, comment="c")
    file.seek(0)
    got = load_letor_file(file, n_features=n_features, zero_based=zero_based, sparse=as_sparse)
    assert sparse.issparse(got.X) == as_sparse
    assert_array_equal(got.X.toarray() if as_sparse else got.X, X)
    assert_array_equal(got.y, y)
    assert_array_equal(got.groups, ids)


# --- letor: folds --------------------------------------------------------------------------------


def write_parts(folder, names, text="{i} qid:{i} 1:{i} #docid = d{i}\n0 qid:{i} 2:1\n"):
    for i, name in enumerate(names, start=1):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        content = text.format(i=i).encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


FOLDS = [
    ([1, 2, 3], 4, 5),
    ([2, 3, 4], 5, 1),
    ([3, 4, 5], 1, 2),
    ([4, 5, 1], 2, 3),
    ([5, 1, 2], 3, 4),
]


@pytest.mark.parametrize("as_sparse", [False, True])
def test_folds(tmp_path, as_sparse):
    write_parts(tmp_path, ["S1.txt", "S2.txt.gz", "S3.txt", "S4.txt", "S5.txt"])
    folds = list(load_letor_folds(str(tmp_path), sparse=as_sparse))
    assert len(folds) == 5
    for fold, (train, validation, test) in zip(folds, FOLDS, strict=True):
        for data, parts in (
            (fold.train, train),
            (fold.validation, [validation]),
            (fold.test, [test]),
        ):
            X = data.X.toarray() if as_sparse else data.X
            assert_array_equal(X, [row for i in parts for row in ([i, 0], [0, 1])])
            assert_array_equal(data.y, [v for i in parts for v in (i, 0)])
            assert_array_equal(data.groups, np.repeat(parts, 2))
            assert data.docids.tolist() == [d for i in parts for d in (f"d{i}", "")]
            assert sparse.issparse(data.X) == as_sparse


def test_parts_agree_on_features_and_index_base(tmp_path):
    # Only part 2 has index 0 and only part 5 has index 4.
    write_parts(tmp_path, [f"S{i}.txt" for i in range(1, 6)], "1 qid:{i} 1:{i}\n")
    (tmp_path / "S2.txt").write_text("1 qid:2 0:9 1:2\n")
    (tmp_path / "S5.txt").write_text("1 qid:5 1:5 4:7\n")
    fold = next(load_letor_folds(tmp_path))
    assert_array_equal(fold.train.X, [[0, 1, 0, 0, 0], [9, 2, 0, 0, 0], [0, 3, 0, 0, 0]])
    assert_array_equal(fold.test.X, [[0, 5, 0, 0, 7]])
    assert next(load_letor_folds(tmp_path, n_features=8)).test.X.shape == (1, 8)


def test_a_part_without_features_does_not_decide_the_index_base(tmp_path):
    write_parts(tmp_path, [f"S{i}.txt" for i in range(1, 6)], "1 qid:{i} 1:{i}\n")
    (tmp_path / "S3.txt").write_text("1 qid:3\n")
    with pytest.raises(ValueError, match=r"S3\.txt: no row has a feature.*zero_based"):
        load_letor_folds(tmp_path)
    fold = next(load_letor_folds(tmp_path, zero_based=False))
    assert_array_equal(fold.train.X, [[1], [2], [0]])
    for part in tmp_path.iterdir():
        part.write_text(f"1 qid:{part.stem[1]}\n")
    assert not next(load_letor_folds(tmp_path)).train.X.any()


def test_test_files_of_folds_serve_as_parts(tmp_path):
    # Fold 1 tests on S5, fold 2 on S1, ...: five test files are the parts, shifted by one.
    write_parts(tmp_path, [f"Fold{i}/test.txt" for i in (2, 3, 4, 5, 1)])
    folds = load_letor_folds(tmp_path, parts="Fold{}/test")
    for fold, number in zip(folds, (5, 1, 2, 3, 4), strict=True):
        train, validation, test = FOLDS[number - 1]
        assert np.unique(fold.train.groups).tolist() == sorted(train)
        assert np.unique(fold.validation.groups).tolist() == [validation]
        assert np.unique(fold.test.groups).tolist() == [test]


def test_folds_errors(tmp_path):
    names = [f"S{i}.txt" for i in range(1, 6)]
    write_parts(tmp_path, names[:4])
    with pytest.raises(FileNotFoundError, match=r"S5\.txt nor .*S5\.txt\.gz"):
        load_letor_folds(tmp_path)
    with pytest.raises(ValueError, match="`parts`"):
        load_letor_folds(tmp_path, parts="S1")
    write_parts(tmp_path, names)
    (tmp_path / "S4.txt").write_text("1 qid:4 1:1\n1 qid:4 1:x\n")
    with pytest.raises(ValueError, match=r"S4\.txt, line 2 "):
        load_letor_folds(tmp_path)
    (tmp_path / "S4.txt").write_text("1 qid:4 1:1\n1 qid:2 1:1\n")
    with pytest.raises(ValueError, match=r"Query 2 is both in .*S2\.txt and in .*S4\.txt"):
        load_letor_folds(tmp_path)
    (tmp_path / "S4.txt").write_text("")
    with pytest.raises(ValueError, match=r"S4\.txt: the file has no row"):
        load_letor_folds(tmp_path)


# --- real data -----------------------------------------------------------------------------------

real_data = pytest.mark.skipif(
    "SKLEARN_LTR_DATA" not in os.environ, reason="SKLEARN_LTR_DATA names no folder of data"
)


def real_folder(name):
    return Path(os.environ["SKLEARN_LTR_DATA"], name)


OHSUMED = {0: 11_303, 1: 2_585, 2: 2_252}


@real_data
@pytest.mark.parametrize(
    ("name", "n_queries", "n_features", "labels", "n_missing", "has_docids"),
    [
        ("mq2008", 784, 46, {0: 12_279, 1: 2_001, 2: 931}, 0, True),
        ("mq2007-agg", 1_692, 21, {0: 51_632, 1: 14_128, 2: 3_863}, 508_381, True),
        ("ohsumed-letor3-qln", 106, 45, OHSUMED, 0, True),
        ("ohsumed-letor3-null", 106, 45, OHSUMED, 51_490, True),
        (
            "webtrack-clueweb09",
            61,
            42,
            {0: 21_808, 1: 3_274, 2: 1_242, 3: 172, 4: 150},
            0,
            True,
        ),
        (
            "lightgbm-lambdarank",
            251,
            300,
            {0: 851, 1: 1_467, 2: 1_110, 3: 266, 4: 79},
            0,
            False,
        ),
        ("trec-news-2018", 50, 5, {0: 317, 1: 271, 2: 150, 3: 31, 4: 54}, 0, False),
    ],
)
def test_real_counts(name, n_queries, n_features, labels, n_missing, has_docids):
    files = [load_letor_file(path) for path in sorted(real_folder(name).glob("*.txt.gz"))]
    grades, counts = np.unique(np.concatenate([file.y for file in files]), return_counts=True)
    assert dict(zip(grades, counts, strict=True)) == labels
    assert len(np.unique(np.concatenate([file.groups for file in files]))) == n_queries
    assert {file.X.shape[1] for file in files} == {n_features}
    assert sum(np.isnan(file.X).sum() for file in files) == n_missing
    for file in files:
        assert_array_equal(file.docids != "", has_docids)


@real_data
def test_real_continuous_labels():
    data = load_letor_file(real_folder("imat2009-sample") / "learn-head.txt.gz")
    assert data.X.shape == (1_000, 245)
    assert np.count_nonzero((data.X != 0).any(axis=0)) <= 242
    assert len(np.unique(data.groups)) == 104
    assert len(np.unique(data.y)) == 17
    assert [np.count_nonzero(data.y == v) for v in (0, 0.5, 1, 2, 3)] == [288, 21, 313, 315, 29]


@real_data
def test_real_sparse_equals_dense():
    path = real_folder("lightgbm-lambdarank") / "train.txt.gz"
    dense, csr = load_letor_file(path), load_letor_file(path, sparse=True)
    assert csr.X.nnz < dense.X.size / 2
    assert_array_equal(csr.X.toarray(), dense.X)


@real_data
def test_real_fold_sizes():
    rows = [2933, 3635, 3062, 2707, 2874]
    for i, fold in enumerate(load_letor_folds(real_folder("mq2008"))):
        expected = [rows[(i + k) % 5] for k in range(5)]
        assert len(fold.train.X) == sum(expected[:3])
        assert [len(fold.validation.X), len(fold.test.X)] == expected[3:]


@real_data
def test_real_folds_reproduce_letor_regression():
    # LETOR 3.0's own "Regression" on OHSUMED: the NDCG@1 of least squares, averaged over the folds.
    means = []
    for fold in load_letor_folds(real_folder("ohsumed-letor3-qln")):
        scores = LinearRegression().fit(fold.train.X, fold.train.y).predict(fold.test.X)
        values = []
        for query in np.unique(fold.test.groups):
            of_query = fold.test.groups == query
            gains = 2.0 ** fold.test.y[of_query] - 1
            values.append(gains[np.argmax(scores[of_query])] / max(gains.max(), 1))
        means.append(np.mean(values))
    assert_allclose(np.mean(means), 0.4456, atol=5e-5)


# --- make_ranking --------------------------------------------------------------------------------


def centred(values, groups):
    """Values less the mean of their query."""
    sizes = np.bincount(groups).astype(float)
    values = values.reshape(len(groups), -1)
    means = np.stack([np.bincount(groups, column) / sizes for column in values.T], axis=1)
    return values - means[groups]


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


def test_make_ranking_shapes():
    X, y, groups = make_ranking(random_state=0)
    assert X.shape == (len(groups), 20)
    assert y.shape == groups.shape
    assert (X.dtype, y.dtype, groups.dtype) == (float, float, np.int64)
    assert np.isfinite(X).all()
    assert (np.diff(groups) >= 0).all()
    sizes = np.bincount(groups)
    assert len(sizes) == 100
    assert (sizes.min(), sizes.max()) == (5, 40)
    assert_array_equal(np.unique(y), np.arange(5))
    assert_array_equal(np.bincount(make_ranking(7, n_docs=3, random_state=0)[2]), np.full(7, 3))


def test_make_ranking_is_deterministic():
    one, same, other = (make_ranking(30, 10, random_state=seed) for seed in (0, 0, 1))
    for a, b in zip(one, same, strict=True):
        assert_array_equal(a, b)
    assert (one[0] != other[0]).any()
    # The noise and the grades leave X alone, so that data sets can be compared.
    for change in (
        {"noise": 3},
        {"query_difficulty": 2},
        {"query_effect": 0},
        {"n_grades": 2},
    ):
        X, y, _ = make_ranking(30, 10, random_state=0, **change)
        assert_array_equal(X, one[0])
        assert (y != one[1]).any()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, np.array([16, 8, 4, 2, 1]) / 31),
        ({"n_grades": 3}, np.array([4, 2, 1]) / 7),
        ({"n_grades": 2, "grade_proportions": [3, 1]}, [0.75, 0.25]),
    ],
)
def test_make_ranking_grade_proportions(options, expected):
    _, y, _ = make_ranking(300, random_state=0, **options)
    shares = np.bincount(y.astype(int)) / len(y)
    assert_allclose(shares, expected, atol=2 / len(y))


@pytest.mark.parametrize("query_shift", [0, 2])
def test_make_ranking_redundant_and_noise_features(query_shift):
    X, y, groups = make_ranking(
        200,
        n_docs=100,
        n_features=12,
        n_informative=3,
        n_redundant=4,
        query_shift=query_shift,
        random_state=0,
    )
    informative, redundant = X[:, :3], X[:, 3:7]
    mixing, *_ = np.linalg.lstsq(informative, redundant, rcond=None)
    assert_allclose(informative @ mixing, redundant, atol=1e-10)
    assert np.linalg.matrix_rank(mixing) == 3
    columns, grades = centred(X, groups), centred(y, groups).ravel()
    correlations = np.array([abs(correlation(column, grades)) for column in columns.T])
    assert (correlations[:3] > 0.1).all()
    assert (correlations[7:] < 5 / np.sqrt(len(y))).all()
    # and no combination of the informative features gives a noise feature
    assert (
        LinearRegression().fit(columns[:, :3], columns[:, 7:]).score(columns[:, :3], columns[:, 7:])
        < 0.01
    )


@pytest.mark.parametrize("query_shift", [0, 3.0])
def test_make_ranking_without_noise_grades_follow_the_informative_feature(query_shift):
    X, y, groups = make_ranking(
        50,
        n_features=3,
        n_informative=1,
        n_redundant=1,
        noise=0,
        query_shift=query_shift,
        random_state=0,
    )
    ascending = np.lexsort((X[:, 0], groups))
    steps = np.diff(y[ascending])[np.diff(groups[ascending]) == 0]
    assert (steps >= 0).all() or (steps <= 0).all()
    assert np.count_nonzero(steps) >= 50


def test_make_ranking_dependence_is_not_linear():
    # Several functions of single features explain the grade better than the features themselves.
    X, y, _ = make_ranking(
        300, 50, 3, n_informative=3, n_redundant=0, n_grades=50, grade_proportions=np.ones(50),
        noise=0, query_effect=0, query_shift=0, random_state=0,
    )  # fmt: skip
    utility = norm.ppf((y + 0.5) / 50)
    shaped = np.column_stack([np.tanh(2 * X[:, 0]), np.exp(X[:, 1]), X[:, 2] ** 3])
    linear, nonlinear = (LinearRegression().fit(Z, utility).score(Z, utility) for Z in (X, shaped))
    assert nonlinear > linear + 0.05


def test_make_ranking_query_shift_moves_features_not_grades():
    means, grades = {}, make_ranking(400, 50, random_state=0)[1]
    for query_shift in (0, 1, 2):
        X, y, groups = make_ranking(400, 50, query_shift=query_shift, random_state=0)
        means[query_shift] = (X - centred(X, groups))[::50]
        assert_array_equal(y, grades)
    informative_and_noise = np.r_[0:5, 10:20]
    for query_shift, expected in ((0, 1 / np.sqrt(50)), (1, 1), (2, 2)):
        deviation = means[query_shift][:, informative_and_noise].std(axis=0)
        assert_allclose(deviation, expected, rtol=0.15)


def test_make_ranking_query_effect_and_queries_without_relevant_documents():
    spread, empty = [], []
    for query_effect in (0, 0.5, 2):
        _, y, groups = make_ranking(400, query_effect=query_effect, random_state=0)
        relevant = np.bincount(groups, y > 0) / np.bincount(groups)
        spread.append(relevant.std())
        empty.append(np.mean(relevant == 0))
    assert spread[0] + 0.03 < spread[1] < spread[2] - 0.1
    assert 0 < empty[1] < 0.1
    assert empty[2] > 0.15


def test_make_ranking_noise_and_query_difficulty():
    options = {"n_queries": 200, "n_docs": 200, "query_effect": 0, "random_state": 0}
    _, clean, groups = make_ranking(noise=0, **options)

    def agreement(**noise):
        _, y, _ = make_ranking(**noise, **options)
        return np.array([correlation(y[groups == q], clean[groups == q]) for q in range(200)])

    equal = agreement(noise=1, query_difficulty=0)
    varied = agreement(noise=1, query_difficulty=1)
    assert agreement(noise=0.2, query_difficulty=0).mean() > equal.mean() + 0.2
    # Without query_difficulty what is left is the sampling error of a correlation of 200 rows.
    assert equal.std() < 0.08
    assert varied.std() > 2 * equal.std()
    # Hard and easy queries are hard and easy whatever the noise.
    again = agreement(noise=0.5, query_difficulty=1)
    assert correlation(varied, again) > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_queries": 0}, "n_queries"),
        ({"n_docs": 0}, "n_docs"),
        ({"n_docs": (5, 4)}, "least, greatest"),
        ({"n_docs": (1, 2, 3)}, "pair of ints"),
        ({"n_docs": "ab c"}, "pair of ints"),
        ({"n_docs": None}, "pair of ints"),
        ({"n_features": 9}, "n_informative"),
        ({"n_informative": 0}, "n_informative"),
        ({"n_redundant": -1}, "n_redundant"),
        ({"n_grades": 1}, "n_grades"),
        ({"grade_proportions": [0.5, 0.5]}, "2 entries but `n_grades` is 5"),
        ({"grade_proportions": [1, 1, 1, 1, 0]}, "positive"),
        ({"grade_proportions": [1, 1, 1, 1, np.nan]}, "positive"),
        ({"grade_proportions": np.ones((5, 1))}, "one-dimensional"),
        ({"noise": -1}, "noise"),
        ({"noise": np.nan}, "noise"),
        ({"query_difficulty": -0.1}, "query_difficulty"),
        ({"query_effect": np.inf}, "query_effect"),
        ({"query_shift": -1}, "query_shift"),
    ],
)
def test_make_ranking_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        make_ranking(**options)


@pytest.mark.parametrize("options", [{"n_queries": 2.5}, {"n_docs": (1, 2.5)}, {"noise": "much"}])
def test_make_ranking_refuses_types(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        make_ranking(**options)


def test_make_ranking_one_row():
    X, y, groups = make_ranking(1, 1, random_state=0)
    assert X.shape == (1, 20)
    assert np.isfinite(X).all()
    assert y.shape == groups.shape == (1,)


# --- make_cubic_ranking --------------------------------------------------------------------------


def mean_ndcg_at_10(y, scores, n_docs):
    discounts = 1 / np.log2(np.arange(2, 12))
    gains, scores = (2.0**y - 1).reshape(-1, n_docs), scores.reshape(-1, n_docs)
    got = np.take_along_axis(gains, np.argsort(-scores, axis=1), axis=1)[:, :10]
    best = -np.sort(-gains, axis=1)[:, :10]
    return np.mean((got @ discounts) / (best @ discounts))


def test_make_cubic_shapes():
    X, y, groups = make_cubic_ranking(40, n_docs=20, n_features=7, random_state=0)
    assert X.shape == (800, 7)
    assert (X.dtype, y.dtype, groups.dtype) == (float, float, np.int64)
    assert_array_equal(groups, np.repeat(np.arange(40), 20))
    assert -1 <= X.min() < -0.99
    assert 0.99 < X.max() <= 1
    assert_allclose(X.var(axis=0), 1 / 3, rtol=0.1)
    for a, b in zip((X, y), make_cubic_ranking(40, 20, 7, random_state=0), strict=False):
        assert_array_equal(a, b)
    assert (make_cubic_ranking(40, 20, 7, random_state=1)[0] != X).any()


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, [0.26, 0.36, 0.29, 0.076, 0.019]), ({"grade_proportions": [1, 2, 1]}, [1, 2, 1])],
)
def test_make_cubic_grade_proportions(options, expected):
    _, y, _ = make_cubic_ranking(100, random_state=0, **options)
    expected = np.array(expected) / np.sum(expected)
    assert_allclose(np.bincount(y.astype(int)) / len(y), expected, atol=2 / len(y))


def test_make_cubic_is_a_cubic_with_three_terms_of_equal_variance():
    X, y, _ = make_cubic_ranking(200, n_features=10, grade_proportions=np.ones(200), random_state=2)
    # Of so many grades of equal size the normal quantile is the target, nearly.
    target = norm.ppf((y + 0.5) / 200)
    explained = []
    for degree in (1, 2, 3):
        Z = PolynomialFeatures(degree).fit_transform(X)
        explained.append(LinearRegression().fit(Z, target).score(Z, target))
    # Where permutations agree, the cubic term has a part x_i x_j^2, which is in part linear.
    assert_allclose(explained[:2], [1 / 3, 2 / 3], atol=0.12)
    assert explained[2] > 0.98


def test_make_cubic_splits_share_the_polynomial():
    X, y, groups = make_cubic_ranking(600, n_features=10, random_state=0)
    Z = PolynomialFeatures(3).fit_transform(X)
    train = groups < 400
    assert LinearRegression().fit(Z[train], y[train]).score(Z[~train], y[~train]) > 0.85


@pytest.mark.parametrize(
    ("proportions", "linear", "quadratic"),
    [((0.26, 0.36, 0.29, 0.076, 0.019), 0.686, 0.851), (np.ones(5), 0.727, 0.865)],
)
def test_make_cubic_difficulty(proportions, linear, quadratic):
    X, y, _ = make_cubic_ranking(1500, grade_proportions=proportions, random_state=0)
    # The features are independent: moments of the grade show the coefficients of both terms.
    grades = y - y.mean()
    by_linear = X @ (X.T @ grades)
    products = X.T @ (X * grades[:, None])
    products[np.abs(products) < 0.3 * np.abs(products).max()] = 0  # 50 pairs stand out
    by_quadratic = 3 / 2 * np.einsum("ij,ij->i", X @ products, X)
    # Draws of the polynomial differ by 0.012 in the linear figure (standard deviation).
    assert_allclose(mean_ndcg_at_10(y, by_linear, 50), linear, atol=0.04)
    assert_allclose(mean_ndcg_at_10(y, by_linear + by_quadratic, 50), quadratic, atol=0.02)


@pytest.mark.parametrize(
    "options",
    [{"n_queries": 0}, {"n_docs": 0}, {"n_features": 0}, {"grade_proportions": [1, -1, 1]}],
)
def test_make_cubic_refuses(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        make_cubic_ranking(**options)
