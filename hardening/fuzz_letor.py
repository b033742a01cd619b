# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Malformed LETOR files: a ValueError that names the file, or what a second parser reads.

    python hardening/fuzz_letor.py --inputs 100000

Takes well-formed files and damages them, in bytes, tokens, lines and compression. The second parser
is written from the format's description, slow and plain. Blocks of text are of any length. The
address space is limited, so that a file that asks for too much memory is seen. A fault ends with
its input printed.
"""

import argparse
import gzip
import io
import random
import re
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from sklearn_ltr.datasets import letor_text, load_letor_file

NUMBER = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE)
INTEGER = re.compile(rb"[+-]?\d+")
DOCID = re.compile(rb"docid[ \t\v\f\r]*=[ \t\v\f\r]*([^ \t\v\f\r]+)")
LONGEST_DOCID = 1_000  # bytes
LIMIT = 6 << 30  # bytes of address space
SLOW = 2.0  # seconds of processor time

TOKENS = [
    *b"""
    NULL nan -inf 1e400 1e-400 0x1F 1_000 1,5 -0 +3 1. .5 . 00012 1e 1e5 NULLX 1e308 -1e309 None
    qid: qid:NULL qid:9223372036854775807 qid:9223372036854775808 qid:-9223372036854775809 qid:1.0
    qid:1_0 qid:+7 qid:007 qid:1:2 qid:7 2147483647:1 2147483648:1 99999999999999999999:1
    4294967296:1 1000000:1 0:1 -1:1 1: :1 : :: 1:2:3 1:NULL 1:NULL:NULL 3:1_0 3:0x10 +4:1 04:2 1.0:2
    a:1 1:a # #docid #docid= #docid=x #docid = #qid:1 ## \\ " \xd9\xa1 \xc2\xbd 5:\xe2\x88\x9e
    """.split(),
    *(b"\0", b"\r", b"\n", b"\r\n", b"\v", b"\f", b"\x1c", b"\x85", b"\xa0", b"\xff", b" ", b"\t"),
    *(b"", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"#docid\t=\ty"),
    *(
        b"9" * 5_000,
        b"1:" + b"9" * 400,
        b"7:1e" + b"9" * 30,
        b"qid:" + b"1" * 5_000,
        b"x" * 100_000,
    ),
    *(b"#docid = " + b"d" * 900, b"#docid = " + b"d" * 5_000),
]


class Malformed(Exception):
    """What the second parser makes of a wrong file."""


def parse(data):
    """The rows of a file: label, query id, features as a dict, document id."""
    rows = []
    for line in data.split(b"\n"):
        if b"\0" in line or b"\r" in line.rstrip(b"\r"):
            raise Malformed
        text, _, comment = line.partition(b"#")
        tokens = [t for t in re.split(rb"[ \t\v\f\r]+", text) if t]
        if not tokens:
            continue
        if len(tokens) < 2 or not tokens[1].startswith(b"qid:"):
            raise Malformed
        query = integer(tokens[1][4:])
        if not -(2**63) <= query < 2**63:
            raise Malformed
        features, last = {}, -1
        for token in tokens[2:]:
            index, colon, value = token.partition(b":")
            index = integer(index)
            if not colon or not last < index < 2**31:
                raise Malformed
            features[index] = np.nan if value == b"NULL" else number(value)
            last = index
        docid = DOCID.search(comment)
        docid = docid[1] if docid else b""
        if len(docid) > LONGEST_DOCID:
            raise Malformed
        rows.append((number(tokens[0]), query, features, docid.decode(errors="replace")))
    if not rows:
        raise Malformed
    return rows


def integer(text):
    if not INTEGER.fullmatch(text):
        raise Malformed
    return int(text) if len(text) < 4_000 else 2**99  # none has so many zeros in front


def number(text):
    if not NUMBER.fullmatch(text):
        raise Malformed
    value = float(text)
    if np.isinf(value) and text[-1:] in b".0123456789":
        raise Malformed
    return value


def well_formed(rng):
    """A small file."""
    lines = []
    for _ in range(rng.randint(1, 6)):
        indices = sorted(rng.sample(range(1, 12), rng.randint(0, 6)))
        values = [rng.choice(["NULL", "0", "-1.5", "1e-3", f"{rng.random():.6f}"]) for _ in indices]
        line = f"{rng.randint(0, 4)} qid:{rng.randint(-3, 9)}"
        line += "".join(f" {i}:{v}" for i, v in zip(indices, values, strict=True))
        lines.append(line + rng.choice(["", f" #docid = GX{rng.randint(0, 99)} inc = 1", " # c"]))
    end = rng.choice(["\n", "\n", "\r\n"])
    return (end.join(lines) + rng.choice([end, ""])).encode()


def damage(data, rng):
    """One damage to the text."""
    kind = rng.randrange(9)
    at = rng.randrange(len(data) + 1)
    if kind == 0:  # a byte
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 1:  # a token put in
        return data[:at] + rng.choice(TOKENS) + data[at:]
    if kind == 2:  # a token replaced
        tokens = re.split(rb"([ \n:#])", data)
        tokens[rng.randrange(len(tokens))] = rng.choice(TOKENS)
        return b"".join(tokens)
    if kind == 3:  # cut off
        return data[:at]
    if kind == 4:  # a part left out
        return data[:at] + data[at + rng.randint(1, 8) :]
    if kind == 5:  # a part said twice
        return data[:at] + data[max(0, at - rng.randint(1, 20)) :]
    if kind == 6:  # two tokens exchanged
        tokens = data.split(b" ")
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
        return b" ".join(tokens)
    if kind == 7:  # other line ends
        return data.replace(b"\n", rng.choice([b"\r", b"\r\n", b"\n\n", b"\n#\n", b" \n", b""]))
    return rng.choice([b"", b"\n", b"#", b"# only\n# comments\n", b"\0" * 40, bytes(range(256))])


def damage_gzip(data, rng):
    """A compressed file, cut off, with wrong bytes, or with something after it."""
    packed = bytearray(gzip.compress(data))
    kind = rng.randrange(5)
    if kind == 0:
        return bytes(packed[: rng.randrange(len(packed) + 1)])
    if kind == 1:
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
        return bytes(packed)
    if kind == 2:
        return bytes(packed) + rng.choice([b"\0" * 9, b"junk", gzip.compress(b"0 qid:1 1:1\n")])
    return bytes(packed) if kind == 3 else data


def expected_of(content):
    if content.startswith(b"\x1f\x8b"):
        if len(content) > 3 and content[3] & 0xE2:
            # RFC 1952 has these bits refused, or a checksum of the header, which Python skips.
            raise Malformed
        try:
            content = gzip.decompress(content)
        except Exception as error:
            raise Malformed from error
    return parse(content)


def check(content, path, rng):
    """Read one file; returns "read" or "refused", and raises AssertionError on a fault."""
    try:
        rows = expected_of(content)
    except Malformed:
        rows = None
    options = {"sparse": rng.random() < 0.7}
    letor_text._TEXT = rng.choice([1, 2, 3, 5, 17, 100, 2**17])
    letor_text._COMPRESSED = rng.choice([1, 7, 2**14])
    if path is None:
        source = io.BytesIO(content)
    else:
        path.write_bytes(content)
        source = path
    try:
        data, message = load_letor_file(source, **options), None
    except ValueError as error:
        data, message = None, str(error)
    if message is not None:
        too_large = "sparse=True" in message
        assert rows is None or too_large, f"refused: {message}"
        assert len(message) < 1_000, f"message of {len(message)} characters"
        assert path is None or path.name in message, f"message without the file: {message}"
        return "too large" if too_large else "refused"
    assert rows is not None, "read, although malformed"
    compare(data, rows)
    return "read"


def compare(data, rows):
    labels, queries, features, docids = zip(*rows, strict=True)
    np.testing.assert_array_equal(data.y, labels)
    assert data.groups.tolist() == list(queries)
    assert data.docids.tolist() == list(docids)
    indices = [i for row in features for i in row]
    base = int(0 not in indices and bool(indices))
    width = max(indices, default=0) + 1 - base
    assert data.X.shape == (len(rows), width)
    for k, row in enumerate(features):
        if hasattr(data.X, "tocsr"):
            found = data.X[[k]]
            found = dict(zip((found.indices + base).tolist(), found.data.tolist(), strict=True))
        else:
            found = {i: data.X[k, i - base].item() for i in row}
            assert np.count_nonzero(data.X[k]) <= len(row)
        assert found.keys() == row.keys()
        np.testing.assert_array_equal(list(found.values()), list(row.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep-going", action="store_true", help="count faults, do not stop")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    counts, faults, slowest = Counter(), Counter(), (0.0, 0)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for k in range(arguments.inputs):
            rng = random.Random(f"{arguments.seed} {k}")
            content, path = well_formed(rng), None
            for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 6])):
                content = damage(content, rng)
            kind = rng.random()
            if kind < 0.1:
                path, content = Path(folder, "fuzz.txt.gz"), damage_gzip(content, rng)
            elif kind < 0.2:
                path = Path(folder, "fuzz.txt")
            start = time.process_time()
            try:
                counts[check(content, path, rng)] += 1
            except Exception as error:
                shown = content if len(content) < 2_000 else content[:2_000] + b"..."
                reason = f"{type(error).__name__}: {str(error).strip()[:300]}"
                faults[re.sub(r"\d+", "N", reason)[:60]] += 1
                if not arguments.keep_going:
                    raise SystemExit(f"input {k}: {reason}\n{shown!r}") from error
                if sum(faults.values()) <= 40:
                    print(f"input {k}: {reason}\n    {shown[:300]!r}")
            slowest = max(slowest, (time.process_time() - start, k))
    for name, count in counts.items():
        print(f"{name:12} {count:9,}")
    print(f"{'faults':12} {sum(faults.values()):9,}")
    for reason, count in faults.most_common():
        print(f"    {count:7,}  {reason}")
    seconds, k = slowest
    print(
        f"{time.perf_counter() - begin:.0f} s, slowest input {k} with {seconds:.2f} s of processor"
    )
    if seconds > SLOW:
        raise SystemExit("too slow")


if __name__ == "__main__":
    main()
