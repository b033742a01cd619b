# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reading LETOR files: the parser beside scikit-learn's and Python's, blocks, memory."""

import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from letor_files import assert_same_data, needs_zstd, read, same_bits, zstd
from numpy.testing import assert_array_equal
from oracles import letor as oracle
from strategies import examples

from sklearn_ltr.datasets import letor_text, load_letor_file, load_letor_folds

# --- beside scikit-learn's reader ----------------------------------------------------------------

integers = st.integers(-5, 30).map(str) | st.integers(-(2**65), 2**65).map(str)
floats = (
    st.floats().map(repr)
    | st.floats(width=16).map(repr)
    | st.decimals(places=6, min_value=-1000, max_value=1000).map(str)
    | st.from_regex(
        r"[+-]?([0-9]{0,25}\.?[0-9]{0,25}|[1-9]{17,20})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    )
    | st.sampled_from(["NULL", "nan", "-NaN", "inf", "+Infinity", "-INF", "1e400", "5e-324", "-0"])
)
spaces = st.sampled_from([" ", " ", " ", "\t", "  ", "\v", " \f"])
comments = st.sampled_from(
    ["", "", " ", "#", "# docid = GX1-2 inc = 1", "#docid=é", " # docid =", "#1 qid:1 1:x", "#_"]
)


@st.composite
def rows(draw):
    """A row that mostly is well-formed."""
    indices = draw(st.lists(st.integers(0, 12), max_size=5, unique=True).map(sorted))
    line = [draw(floats), "qid:" + draw(integers)]
    line += [f"{index}:{draw(floats)}" for index in indices]
    return "".join(draw(spaces) + token for token in line)[1:] + draw(comments)


@st.composite
def texts(draw):
    """A file: rows, blank lines and comments, with any line ends."""
    lines = draw(st.lists(rows() | comments, min_size=1, max_size=6))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\n\n"]))
    return (end.join(lines) + draw(st.sampled_from([end, ""]))).encode()


@st.composite
def damaged(draw):
    """A file in which some bytes are replaced, put in or left out."""
    text = bytearray(draw(texts()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        new = draw(
            st.binary(max_size=2)
            | st.sampled_from(list(b" \n\r\0#:.-e_1")).map(lambda b: bytes([b]))
        )
        text[at : at + draw(st.integers(0, 2))] = new
    return bytes(text)


def check(text, **options):
    """Both readers give the same, or both refuse the same line."""
    try:
        expected = oracle.load(text, **options)
    except ValueError as error:
        is_gzip = text.startswith(b"\x1f\x8b")  # and damaged, which is not for a line
        where = "" if error.line is None or is_gzip else rf", line {error.line} \("
        with pytest.raises(ValueError, match=f"BytesIO.*{where}"):
            read(text, **options)
        return
    got = read(text, sparse=True, **options)
    expected.X.indices, expected.X.indptr = (
        part.astype(np.int32) for part in (expected.X.indices, expected.X.indptr)
    )
    assert_same_data(got, expected)
    dense = np.zeros(expected.X.shape)
    cells = expected.X.tocoo()
    dense[cells.row, cells.col] = cells.data  # as toarray(), which has no -0.0
    same_bits(read(text, **options).X, dense)
    largest = np.abs(dense[np.isfinite(dense)]).max(initial=0)
    if largest < 2.0**128 - 2.0**103:
        single = read(text, dtype=np.float32, **options).X
        same_bits(single, dense.astype(np.float32))
        csr = read(text, dtype=np.float32, sparse=True, **options).X
        same_bits(csr.data, expected.X.data.astype(np.float32))
    else:
        with pytest.raises(ValueError, match="the value is too large"):
            read(text, dtype=np.float32, **options)


@examples(600)
@given(texts(), st.sampled_from(["auto", True, False]), st.none() | st.integers(1, 14))
@example(b"1 qid:1 1:3.4028235677973366e38\n", "auto", None)  # just above all float32
@example(b"1 qid:1 1:3.4028235677973362e38\n", "auto", None)
def test_reads_what_scikit_learn_reads(text, zero_based, n_features):
    check(text, zero_based=zero_based, n_features=n_features)


@examples(600)
@given(damaged())
@example(b"1 qid:1 1:2\n1\x00")
@example(b"\xef\xbb\xbf1 qid:1 1:2")
@example(b"1 qid:1 1:2 qid:1\n")
@example(b"1 qid:-9223372036854775809")
@example(b"1 qid:1 1:+-2")
@example(b"1 qid:1 1 :2")
@example(b"1 qid:1 1:2#\r3")
@example(b"\x1f\x8b0.0 qid:0\n")
@example(b"1 qid:1 1:2 # docid docid= docidd = docid =\vx y docid = z\r\r\n")
@example(b"1 qid:1 1:2 #docid = \xc3\xa9\n1 qid:1 1:2 #docid = abc\xff\n")
def test_refuses_what_scikit_learn_refuses(text):
    check(text)


@examples(300)
@given(st.lists(floats, min_size=1, max_size=40))
def test_numbers_are_those_of_python(tokens):
    numbers = [token for token in tokens if is_number(token)]
    text = "".join(f"{t.replace('NULL', 'nan')} qid:1 1:{t}\n" for t in numbers).encode()
    if numbers:
        expected = np.array([float(t.replace("NULL", "nan")) for t in numbers])
        data = read(text)
        same_bits(data.y, expected)
        same_bits(data.X[:, 0], expected)


def is_number(token):
    try:
        return token == "NULL" or np.isfinite(float(token)) or not token[-1].isdigit()
    except ValueError:
        return False


def test_numbers_that_need_all_their_digits():
    """Half way between two floats, and a bit above, of all lengths and exponents."""
    rng = np.random.default_rng(0)
    tokens = []
    for _ in range(3_000):
        exponent = int(rng.integers(-1074, 971))
        odd = 2 * int(rng.integers(2**52, 2**53)) + 1
        digits, power = (odd << exponent, 0) if exponent >= 0 else (odd * 5**-exponent, exponent)
        tokens += [f"{digits + k}e{power - 1}" for k in (-1, 0, 1)]
        cut = len(str(digits)) - int(rng.integers(15, 21))
        if cut > 0:
            tokens += [f"{digits // 10**cut + k}e{power + cut - 1}" for k in (0, 1)]
    tokens += ["0." + 400 * "0" + "17e401", 700 * "0" + "17." + 700 * "0", "17" + 9 * "0" + "e-9"]
    tokens = [t for t in tokens if np.isfinite(float(t))]
    got = read("".join(f"0 qid:1 1:{t}\n" for t in tokens).encode()).X[:, 0]
    assert [float(t) for t in tokens] == got.tolist()
    assert len(tokens) > 10_000


ODD = (
    b"# \xff\n\n2 qid:7 1:0.5 3:-1e-3 #docid = GX1-2\r\n0.5 qid:8 2:NULL # docid = \xc3\xa9 \n"
    b" \r\n#\n-1 qid:-4\n1 qid:8 1:12345678901234567890 4:2#docid=z\r\n3 qid:9 4:1"
)


@pytest.mark.parametrize("packed", [False, True])
def test_blocks_end_anywhere(monkeypatch, packed):
    text = gzip.compress(ODD) if packed else ODD
    expected = {s: read(text, sparse=s) for s in (False, True)}
    assert_same_data(expected[True], oracle_of(ODD))
    for size in range(1, len(ODD) + 2):
        monkeypatch.setattr(letor_text, "_TEXT", size)
        monkeypatch.setattr(letor_text, "_COMPRESSED", size)
        for as_sparse, data in expected.items():
            assert_same_data(read(text, sparse=as_sparse), data)
        bad = ODD.replace(b"4:2", b"4:x")
        with pytest.raises(ValueError, match=r", line 8 .*'4:x'"):
            read(gzip.compress(bad) if packed else bad)


def oracle_of(text):
    data = oracle.load(text)
    data.X.indices, data.X.indptr = (p.astype(np.int32) for p in (data.X.indices, data.X.indptr))
    return data


def test_sources_that_give_few_bytes_at_a_time():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 3))

    for text in (ODD, gzip.compress(ODD)):
        assert_same_data(load_letor_file(Slow(text)), read(ODD))


def test_long_lines(monkeypatch):
    monkeypatch.setattr(letor_text, "_TEXT", 1_000)
    line = " ".join(f"{i}:{i / 7!r}" for i in range(1, 50_001))
    text = f"1 qid:1 {line}\n0 qid:1 3:1 #{100_000 * 'x'} docid = a\n".encode()
    data = read(text)
    assert_array_equal(data.X[0], np.arange(1, 50_001) / 7)
    assert data.X[1].nonzero()[0].tolist() == [2]
    assert data.docids.tolist() == ["", "a"]


def test_dense_blocks_that_are_mostly_zero_do_not_take_room(monkeypatch):
    """A few cells far apart, among rows that are full, and in blocks of their own."""
    full = " ".join(f"{i}:{i}" for i in range(1, 101))
    text = f"1 qid:1 {full}\n1 qid:1 5000:7\n2 qid:1 {full}\n".encode()
    for size in (50, 400, 10_000):
        monkeypatch.setattr(letor_text, "_TEXT", size)
        assert_array_equal(read(text).X, read(text, sparse=True).X.toarray())


def test_dtypes():
    text = b"1 qid:1 1:0.1 2:16777217\n"
    single = read(text, dtype=np.float32)
    same_bits(single.X, np.array([[0.1, 16777217]], dtype=np.float32))
    assert (single.y.dtype, single.groups.dtype) == (np.float64, np.int64)
    assert read(text, dtype="float32", sparse=True).X.dtype == np.float32
    assert read(b"1 qid:1 1:inf 2:-inf\n", dtype=np.float32).X.tolist() == [[np.inf, -np.inf]]
    with pytest.raises(ValueError, match=r"line 1 .*the value is too large: '1:-1e39'"):
        read(b"1 qid:1 1:-1e39\n", dtype=np.float32)
    for wrong in (np.int64, "float16", ">f4", None):
        with pytest.raises(ValueError, match=r"`dtype` must be np\.float64 or np\.float32"):
            read(text, dtype=wrong)
    with pytest.raises(ValueError, match="`zero_based`"):
        read(text, zero_based="yes")


def test_no_room_for_what_is_read(monkeypatch):
    def refuse(*_, **__):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("sklearn_ltr.datasets.letor.mmap.mmap", refuse)
    with pytest.raises(MemoryError, match="letor_to_memmap"):
        read(b"1 qid:1 1:1\n")


def test_numbers_are_no_paths():
    with pytest.raises(TypeError, match="int"):
        load_letor_file(0)


# --- compressed files ----------------------------------------------------------------------------

PACKINGS = [gzip.compress, pytest.param(lambda text: zstd.compress(text), marks=needs_zstd)]
each_packing = pytest.mark.parametrize("pack", PACKINGS, ids=["gzip", "zstd"])
MANY = b"".join(b"%d qid:%d 1:%d #docid = d%d\n" % (i % 3, i // 9, i * i, i) for i in range(20_000))


@each_packing
def test_content_tells_how_a_file_is_compressed(tmp_path, pack):
    expected = read(MANY)
    for name in ("a.txt", "a.gz", "a"):
        (tmp_path / name).write_bytes(pack(MANY))
        assert_same_data(load_letor_file(tmp_path / name), expected)
    (tmp_path / "b.txt.gz").write_bytes(MANY)
    assert_same_data(load_letor_file(tmp_path / "b.txt.gz"), expected)
    # Several, one after the other, and zeros.
    half = len(MANY) // 2
    assert_same_data(read(pack(MANY[:half]) + b"\0\0" + pack(MANY[half:]) + 9 * b"\0"), expected)


@each_packing
def test_damaged_files_are_refused(pack):
    packed = pack(MANY)
    middle = len(packed) // 2
    flipped = packed[:middle] + bytes([packed[middle] ^ 64]) + packed[middle + 1 :]
    for content in (packed[:-5], packed[:middle], packed + b"junk", flipped):
        with pytest.raises(ValueError, match="BytesIO"):
            read(content)
    with pytest.raises(ValueError, match=r"after line \d+: the compressed file is cut off"):
        read(packed[:-1])


def test_what_reads_zstandard_is_named(monkeypatch):
    monkeypatch.setattr(letor_text, "zstd_module", lambda: None)
    with pytest.raises(ImportError, match=r"BytesIO.* pip install \"sklearn_ltr\[zstd\]\""):
        read(b"\x28\xb5\x2f\xfd and more")


@needs_zstd
def test_parts_compressed_by_zstandard(tmp_path):
    for i in range(1, 6):
        (tmp_path / f"S{i}.txt.zst").write_bytes(zstd.compress(b"1 qid:%d 1:%d\n" % (i, i)))
    fold = next(load_letor_folds(tmp_path, dtype=np.float32))
    assert fold.train.X.tolist() == [[1], [2], [3]]
    assert fold.train.X.dtype == np.float32


# --- memory --------------------------------------------------------------------------------------

CHILD = """
import sys
import numpy as np
from sklearn_ltr.datasets import load_letor_file

def peak():
    status = open("/proc/self/status").read().split()
    return 1024 * int(status[status.index("VmHWM:") + 1])

as_sparse = sys.argv[2] == "sparse"
dtype = np.dtype(sys.argv[3])
load_letor_file(sys.argv[1] + ".small", sparse=as_sparse, dtype=dtype)
before = peak()
data = load_letor_file(sys.argv[1], sparse=as_sparse, dtype=dtype)
X = data.X
arrays = [X.data, X.indices, X.indptr] if as_sparse else [X]
size = sum(a.nbytes for a in [*arrays, data.y, data.groups, data.docids])
print((peak() - before) / size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_memory_is_little_more_than_that_of_the_result(tmp_path, kind, dtype):
    rng = np.random.default_rng(0)
    rows = ["".join(f" {j}:{v:.3f}" for j, v in enumerate(rng.random(60), 1)) for _ in range(500)]
    lines = "".join(f"{i % 3} qid:{i // 50}{row} #docid = d{i}\n" for i, row in enumerate(rows))
    (tmp_path / "big").write_text(lines * 160)
    (tmp_path / "big.small").write_text(lines)
    command = [sys.executable, "-c", CHILD, str(tmp_path / "big"), kind, dtype]
    root = str(Path(letor_text.__file__).parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert float(done.stdout) <= 1.3
