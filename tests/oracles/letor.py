# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LETOR files by scikit-learn's SVMlight reader, line by line.

That reader knows neither ``NULL`` nor document ids, and reads query ids slowly: this is left to the
lines that it is given.
"""

import io
import re

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

DOCID = re.compile(rb"docid\s*=\s*(\S+)")


class Rows:
    """The rows of a text, as scikit-learn's reader takes an open file."""

    def __init__(self, text):
        self.text = text
        self.groups = []
        self.docids = []
        self.number = 0

    def read(self):
        raise NotImplementedError  # tells that this is an open file; its lines are iterated over

    def __iter__(self):
        for line in io.BytesIO(self.text):
            self.number += 1
            if b"\0" in line or b"\r" in line.rstrip(b"\r\n"):
                raise ValueError("a NUL byte, or a carriage return in the midst")
            row, _, comment = line.partition(b"#")
            fields = row.split()
            if not fields:
                continue
            if len(fields) < 2 or not fields[1].startswith(b"qid:") or b"_" in row:
                raise ValueError("no query id, or underscores, which Python takes in numbers")
            for field in fields[:1] + fields[2:]:
                number = field.rpartition(b":")[2]
                if number[-1:].isdigit() and np.isinf(float(number)):
                    raise ValueError("a number beyond all floats")
            query = int(fields[1][4:])
            if not -(2**63) <= query < 2**63:
                raise ValueError("a query id beyond 64 bits")
            self.groups.append(query)
            docid = DOCID.search(comment)
            docid = docid[1] if docid else b""
            if len(docid) > 1_000:
                raise ValueError("a long document id")
            self.docids.append(docid.decode(errors="replace"))
            yield row.replace(b":NULL", b":nan")


def load(text, zero_based="auto", n_features=None):
    """A Bunch of a CSR matrix `X`, `y`, `groups` and `docids`.

    Raises
    ------
    ValueError, with `line`, the number of the malformed line, or None if it is not one line.
    """
    rows = Rows(text)
    try:
        X, y = load_svmlight_file(rows, zero_based=zero_based, n_features=n_features)
    except (ValueError, OverflowError) as error:
        raised = ValueError(str(error))
        raised.line = rows.number if "n_features" not in str(error) else None
        raise raised from error
    if not rows.groups:
        raised = ValueError("no row")
        raised.line = None
        raise raised
    return Bunch(X=X, y=y, groups=np.array(rows.groups), docids=np.array(rows.docids))
