# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What Python and the kernels share: enumerators and structs are the same on both sides."""

import ctypes
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import sklearn_ltr
from sklearn_ltr import scorefunction
from sklearn_ltr._kernels import _types
from sklearn_ltr.losses import lambdas, sums_over_pairs
from sklearn_ltr.metrics import _per_query
from sklearn_ltr.weak import stump

KERNELS = Path(sklearn_ltr.__file__).parent / "_kernels"
DECLARATIONS = (KERNELS / "_types.pxd").read_text(encoding="utf-8")


def declared(kind, name):
    """Lines of the declaration of an enum or a struct, without comments."""
    body = re.search(rf"^cp?def {kind} {name}:.*\n((?: +\S.*\n)+)", DECLARATIONS, re.MULTILINE)[1]
    return [
        line.partition("#")[0].strip() for line in body.splitlines() if line.split("#")[0].strip()
    ]


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        ("Ties", _per_query.TIES),
        ("PairTerm", sums_over_pairs.TERMS),
        ("Criterion", stump.CRITERIA),
        ("Activation", tuple(scorefunction.ACTIVATIONS)),
        ("SwapMetric", tuple(metric.label for metric in lambdas.METRICS)),
    ],
)
def test_position_of_a_name_is_the_value_of_its_enumerator(enum, names):
    members = getattr(_types, enum).__members__
    assert [name.upper().replace(" ", "_") for name in names] == declared("enum", enum)
    assert [names.index(name.lower().replace("_", " ")) for name in members] == [
        int(member) for member in members.values()
    ]


@pytest.mark.parametrize(
    ("struct", "dtype"),
    [
        ("Row", _types.RANKED_ROW),
        ("HingeNode", _types.HINGE_NODE),
        ("ForestSplit", _types.FOREST_SPLIT),
    ],
)
def test_dtypes_are_the_structs(struct, dtype):
    fields = [line.split() for line in declared("struct", struct)]

    class Declared(ctypes.Structure):
        _fields_ = [(name, getattr(ctypes, f"c_{kind}")) for kind, name in fields]

    assert dtype.names == tuple(name for _, name in fields)
    assert dtype == np.dtype(Declared)
    assert dtype.itemsize == ctypes.sizeof(Declared)


def test_types_are_declared_once():
    pattern = r"^(?:ctypedef|cp?def (?:packed )?(?:struct|enum)) (?:.* )?(\w+)(?::|$)"
    found = Counter()
    for path in sorted([*KERNELS.glob("*.pyx"), *KERNELS.glob("*.pxd")]):
        lines = (line.partition("#")[0].rstrip() for line in path.read_text("utf-8").splitlines())
        found.update(m[1] for line in lines if (m := re.match(pattern, line)))
    assert {"code_t", "code8_t", "floating", "Row", "Ties", "Cut", "key_t"} <= found.keys()
    assert not [name for name, count in found.items() if count > 1]
