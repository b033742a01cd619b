# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writing LETOR files: what is written is read again, to the last bit."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from letor_files import needs_zstd, read, same_bits
from scipy import sparse
from strategies import examples

from sklearn_ltr.datasets import dump_letor_file, load_letor_file

ids = st.text(st.characters(codec="utf-8", exclude_characters="\0 \t\n\r\v\f"), max_size=6)


@examples(200)
@given(st.data(), st.booleans(), st.sampled_from([np.float64, np.float32]))
def test_what_is_written_is_read(data, as_sparse, dtype):
    n_rows, n_features = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    value = st.sampled_from([0.0, -0.0, 1.0]) | st.floats(width=np.dtype(dtype).itemsize * 8)
    cells = st.lists(value, min_size=n_features, max_size=n_features)
    X = np.array(data.draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=dtype)
    y = np.array(data.draw(st.lists(st.floats(), min_size=n_rows, max_size=n_rows)))
    query = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2)
    groups = data.draw(st.lists(query, min_size=n_rows, max_size=n_rows))
    docids = data.draw(st.lists(ids, min_size=n_rows, max_size=n_rows))
    file = io.BytesIO()
    dump_letor_file(sparse.csr_array(X) if as_sparse else X, y, groups, file, docids=docids)
    for read_dtype in {np.float64, dtype}:
        got = read(file.getvalue(), dtype=read_dtype, sparse=as_sparse)
        expected = X + 0.0 if as_sparse else X  # a sparse matrix has no zeros of either sign
        same_bits(got.X.toarray() if as_sparse else got.X, expected.astype(read_dtype))
        same_bits(got.y, y)
        assert got.groups.tolist() == groups
        assert got.docids.tolist() == docids


@pytest.mark.parametrize("ending", ["txt", "gz", pytest.param("zst", marks=needs_zstd)])
def test_writes_paths(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    dump_letor_file([[1, 2], [0, 0]], [1, 0], np.array([3, 3], dtype=np.uint8), str(path))
    begin = {"txt": b"1 qid:3 1:1 2:2\n0 qid:3\n", "gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd"}
    assert path.read_bytes().startswith(begin[ending])
    assert load_letor_file(path).X.tolist() == [[1, 2], [0, 0]]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_writes_frames(library):
    module = pytest.importorskip(library)
    columns = {"a": [0.1, 2.0], "b": [1, 0]}
    X = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    ids = module.array([7, 8]) if library == "pyarrow" else module.Series([7, 8])
    file = io.BytesIO()
    dump_letor_file(X, [1, 0], ids, file)
    assert file.getvalue() == b"1 qid:7 1:0.1 2:1\n0 qid:8 1:2\n"


def test_columns_of_sparse_matrices_are_written_in_order():
    X = sparse.csr_array((np.array([5.0, 3, 4]), [3, 1, 3], [0, 3]), shape=(1, 4))
    file = io.BytesIO()
    dump_letor_file(X, [0], [0], file)
    assert file.getvalue() == b"0 qid:0 2:3 4:9\n"
    assert X.data.tolist() == [5, 3, 4]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"groups": ["a", "b"]}, "`groups` must be integers of 64 bits.*'a'.*return_inverse"),
        ({"groups": [1.5, 1.5]}, "`groups` must be integers of 64 bits"),
        ({"groups": [2**63, 1]}, "`groups` must be integers of 64 bits"),
        ({"groups": None}, "`groups` is None"),
        ({"groups": [1]}, "`groups` has 1 entries"),
        ({"y": [1]}, "`y` must have one entry"),
        ({"X": [["a"], ["b"]]}, "Column 0 of `X`"),
        ({"docids": ["a b", ""]}, "'a b' at row 0"),
        ({"docids": ["", "a\0"]}, "at row 1"),
        ({"docids": ["\ud800", ""]}, "at row 0"),
        ({"docids": [1001 * "d", ""]}, "1,000 bytes"),
        ({"docids": ["a"]}, "`docids` has 1 entries"),
        ({"docids": [1, 2]}, "`docids` must be of type str; got 1"),
    ],
)
def test_what_cannot_be_read_again_is_not_written(tmp_path, change, error):
    arguments = {"X": [[1], [2]], "y": [1, 0], "groups": [1, 1], "path": tmp_path / "a"} | change
    with pytest.raises((TypeError, ValueError), match=error):
        dump_letor_file(**arguments)
    assert not (tmp_path / "a").exists()


def test_what_writes_zstandard_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("sklearn_ltr.datasets.letor_writer.zstd_module", lambda: None)
    with pytest.raises(ImportError, match=r"a\.zst.* pip install \"sklearn_ltr\[zstd\]\""):
        dump_letor_file([[1]], [1], [1], tmp_path / "a.zst")
