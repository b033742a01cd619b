# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LETOR files larger than memory: chunks of whole queries, arrays on disk."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from letor_files import assert_same_data, read, same_bits
from numpy.testing import assert_array_equal
from strategies import examples

from sklearn_ltr import LambdaMART
from sklearn_ltr.datasets import (
    dump_letor_file,
    iter_letor_file,
    letor_text,
    letor_to_memmap,
    load_letor_file,
)

# --- chunks of whole queries ---------------------------------------------------------------------


@st.composite
def sizes_of_queries(draw):
    return draw(st.lists(st.integers(1, 7), min_size=1, max_size=8))


@examples(100)
@given(sizes_of_queries(), st.integers(1, 12), st.sampled_from([1, 7, 40, 1000]), st.booleans())
def test_chunks_are_as_many_queries_as_fit(sizes, chunk_rows, block, as_sparse):
    n = sum(sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    text = "".join(f"{i % 3} qid:{groups[i]} 1:{i} 3:1 #docid = d{i}\n" for i in range(n)).encode()
    options = {"n_features": 4, "sparse": as_sparse, "dtype": np.float32}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor_text, "_TEXT", block)
        chunks = list(iter_letor_file(io.BytesIO(text), chunk_rows=chunk_rows, **options))
    assert_same_data(letor_text.concatenate(chunks), read(text, zero_based=False, **options))
    begin = 0
    for chunk in chunks:
        queries = np.unique(chunk.groups).tolist()
        assert queries == list(range(begin, begin + len(queries)))
        assert len(chunk.y) == sum(sizes[q] for q in queries)
        assert len(chunk.y) <= chunk_rows or len(queries) == 1
        begin += len(queries)
        if begin < len(sizes):
            assert len(chunk.y) + sizes[begin] > chunk_rows
    assert begin == len(sizes)


@pytest.mark.parametrize("block", [1, 30, 1000])
def test_a_query_that_comes_again_is_no_chunk(monkeypatch, block):
    monkeypatch.setattr(letor_text, "_TEXT", block)
    text = b"# head\n1 qid:1 1:1\n1 qid:1 1:2\n1 qid:2 1:1\n\n0 qid:1 1:3\n"
    with pytest.raises(ValueError, match=r"line 6: rows of query 1 come again"):
        list(iter_letor_file(io.BytesIO(text), n_features=1))


def test_arguments_of_chunks_are_checked_before_the_first():
    text = io.BytesIO(b"1 qid:1 1:1\n1 qid:1 1:2 3:1\n")
    for wrong in ({"n_features": None}, {"n_features": 0}, {"chunk_rows": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            iter_letor_file(text, **{"n_features": 3} | wrong)
    with pytest.raises(ValueError, match="`zero_based` must be False or True"):
        iter_letor_file(text, n_features=3, zero_based="auto")
    with pytest.raises(ValueError, match=r"line 2: n_features was set to 2, but .* index 3"):
        list(iter_letor_file(text, n_features=2))
    with pytest.raises(ValueError, match=r"line 1 .*index 0, where indices start at 1: '0:1'"):
        list(iter_letor_file(io.BytesIO(b"1 qid:1 0:1"), n_features=2))
    with pytest.raises(ValueError, match="no row"):
        list(iter_letor_file(io.BytesIO(b"\n"), n_features=2))


# --- arrays on disk ------------------------------------------------------------------------------


def write_files(folder):
    (folder / "a.txt").write_bytes(b"1 qid:1 1:0.1\n0 qid:2 2:4\n2 qid:1 3:NULL\n")
    (folder / "b.gz").write_bytes(gzip.compress(b"3 qid:5 2:7\n"))
    return [folder / "a.txt", str(folder / "b.gz")]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [None, 5])
def test_memmap(tmp_path, dtype, n_features):
    paths = write_files(tmp_path)
    data = letor_to_memmap(paths, tmp_path / "x" / "y", n_features=n_features, dtype=dtype)
    assert isinstance(data.X, np.memmap)
    assert not data.X.flags.writeable
    parts = [load_letor_file(path, n_features=n_features or 3, dtype=dtype) for path in paths]
    expected = letor_text.concatenate(parts)
    same_bits(data.X, expected.X)
    same_bits(data.y, expected.y)
    same_bits(data.groups, expected.groups)
    for key in ("X", "y", "groups"):
        same_bits(np.load(tmp_path / "x" / "y" / f"{key}.npy"), data[key])
    assert len(list((tmp_path / "x" / "y").iterdir())) == 3
    one = letor_to_memmap(paths[1], tmp_path)
    assert_array_equal(one.X, [[0, 7]])


def test_index_base_is_that_of_all_files(tmp_path):
    (tmp_path / "a").write_bytes(b"1 qid:1 1:2")
    (tmp_path / "b").write_bytes(b"1 qid:2 0:3")
    data = letor_to_memmap([tmp_path / "a", tmp_path / "b"], tmp_path)
    assert_array_equal(data.X, [[0, 2], [3, 0]])


def test_what_cannot_be_converted_leaves_the_folder_alone(tmp_path, monkeypatch):
    paths = write_files(tmp_path)
    letor_to_memmap(paths, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "bad").write_bytes(b"1 qid:9 1:1\n1 qid:9 1:x\n")
    (tmp_path / "same").write_bytes(b"1 qid:5 1:1\n")
    with pytest.raises(ValueError, match="bad, line 2"):
        letor_to_memmap([*paths, tmp_path / "bad"], tmp_path)
    with pytest.raises(ValueError, match=r"Query 5 is both in .*b\.gz and in .*same"):
        letor_to_memmap([*paths, tmp_path / "same"], tmp_path)
    with pytest.raises(ValueError, match=r"a\.txt: n_features was set to 2, but .* 3 features"):
        letor_to_memmap(paths, tmp_path, n_features=2)
    for wrong in ([], [io.BytesIO(b"1 qid:1")]):
        with pytest.raises(ValueError, match="`paths` must be"):
            letor_to_memmap(wrong, tmp_path)
    # Files that are others when they are read again.
    disjoint = "sklearn_ltr.datasets.letor_large.check_disjoint"
    for text, why in ((b"1 qid:1 1:1\n", "has changed"), (b"1 qid:1 9:1\n", "line 1: n_features")):
        with monkeypatch.context() as patch:
            patch.setattr(disjoint, lambda *_, text=text: paths[0].write_bytes(text))
            with pytest.raises(ValueError, match=rf"a\.txt.*{why}"):
                letor_to_memmap(paths, tmp_path)
        paths[0].write_bytes(before["a.txt"])
    (tmp_path / "bad").unlink()
    (tmp_path / "same").unlink()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_rankers_fit_to_a_memmap(tmp_path):
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(200, 3)), rng.integers(0, 3, 200), np.arange(200) // 10
    dump_letor_file(X, y, groups, tmp_path / "a.txt")
    data = letor_to_memmap(tmp_path / "a.txt", tmp_path)
    ranker = LambdaMART(n_estimators=5, min_samples_leaf=5)
    expected = ranker.fit(X.astype(np.float32), y, groups=groups).predict(X)
    assert_array_equal(ranker.fit(data.X, data.y, groups=data.groups).predict(X), expected)
