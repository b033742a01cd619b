# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Imports go down only: the layers of the package."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import sklearn_ltr

ROOT = Path(sklearn_ltr.__file__).parent

# Parts of the package by layer; a part is a module or a folder right below the root.
LAYERS = {
    "_kernels": 0,
    "exceptions": 0,
    "interrupts": 0,
    "cached": 0,
    "reduction": 0,
    "validation": 1,
    "versions": 1,
    "estimator": 1,
    "progress": 1,
    "linear": 1,
    "queries": 1,
    "columns": 1,
    "categories": 1,
    "scored_rows": 1,
    "threads": 1,
    "keywords": 1,
    "labels": 1,
    "ranking": 1,
    "binning": 1,
    "preprocessing": 1,
    "datasets": 1,
    "pairs": 2,
    "ranking_data": 2,
    "losses": 2,
    "metrics": 2,
    "weak": 3,
    "base": 4,
    "boosting": 4,
    "scorefunction": 4,
    "cutting_planes": 4,
    "members": 4,
    "blending": 4,
    "rankers": 5,
    "clicks": 6,
    "scorers": 6,
    "plotting": 6,
    "model_selection": 6,
    "export": 6,
    "": 7,  # the public names
}
# Where parts of one layer may import each other; nothing else may, nor in a circle.
WITHIN_A_LAYER = {
    ("reduction", "_kernels"),
    ("columns", "queries"),
    ("categories", "queries"),
    ("categories", "columns"),
    ("labels", "queries"),
    ("labels", "validation"),
    ("columns", "validation"),
    ("datasets", "columns"),
    ("datasets", "queries"),
    ("datasets", "validation"),
    ("queries", "validation"),
    ("preprocessing", "keywords"),
    ("preprocessing", "queries"),
    ("preprocessing", "columns"),
    ("preprocessing", "validation"),
    ("preprocessing", "scored_rows"),
    ("scored_rows", "queries"),
    ("scored_rows", "validation"),
    ("preprocessing", "versions"),
    ("preprocessing", "estimator"),
    ("estimator", "versions"),
    ("versions", "validation"),
    ("ranking_data", "pairs"),
    ("losses", "pairs"),
    ("losses", "ranking_data"),
    ("losses", "metrics"),
    ("boosting", "base"),
    ("members", "base"),
    ("scorefunction", "base"),
    ("scorefunction", "boosting"),
    ("model_selection", "scorers"),
    ("plotting", "export"),
}
# The one ranker that is made of others: nothing imports it.
MADE_OF_RANKERS = "blended"
SOURCES = sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.pyx"), *ROOT.rglob("*.pxd")])


def part_of(module):
    """Part of the package that a dotted name below it belongs to."""
    return module.split(".")[1] if "." in module else ""


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name):
    path = ROOT.parent.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(s).exists() for s in (".py", ".pyx"))


def imports_of_python(text, package):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")
                above = above[: len(above) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                full = f"{base}.{alias.name}"
                yield full if is_module(full) else base


def imports_of_cython(text, package):
    for line in text.splitlines():
        if found := re.match(r"\s*from\s+(\S+)\s+c?import\b", line):
            name = found[1]
            yield package + name.rstrip(".") if name.startswith(".") else name
        elif found := re.match(r"\s*c?import\s+(.+)", line):
            yield from (name.split(" as ")[0].strip() for name in found[1].split(","))
        elif found := re.match(r"\s*cdef\s+extern\s+from\s+\"(.+)\"", line):
            continue


def package_imports(path):
    name = name_of(path)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    read = imports_of_python if path.suffix == ".py" else imports_of_cython
    found = set(read(path.read_text(encoding="utf-8"), package))
    return sorted(i for i in found if i.split(".")[0] == "sklearn_ltr")


def test_every_part_has_a_layer():
    parts = {part_of(name_of(path)) for path in SOURCES}
    assert parts <= LAYERS.keys()
    assert {"_kernels", "queries", "rankers", "base", "weak", "scorers"} <= parts


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down(path):
    own = part_of(name_of(path))
    for imported in package_imports(path):
        part = part_of(imported)
        if own == "_kernels":
            # A kernel may share declarations with another kernel, and knows nothing else.
            assert part == "_kernels", f"{path} imports {imported}"
        elif part == own:
            other_ranker = own == "rankers" and path.stem not in ("__init__", MADE_OF_RANKERS)
            assert not other_ranker, f"{path} imports {imported}: rankers stand alone"
        else:
            down = LAYERS[part] < LAYERS[own] or (own, part) in WITHIN_A_LAYER
            assert down, f"{path} imports {imported}, which is above it"


@cache
def importers():
    """Files that import each kernel, as docstrings name them: by path in the package, or name."""
    found = defaultdict(list)
    for path in SOURCES:
        if path.suffix != ".pxd":
            name = path.name if path.suffix == ".pyx" else path.relative_to(ROOT).as_posix()
            for imported in package_imports(path):
                found[imported.rpartition(".")[2]].append(name)
    return found


# `_types.pyx` serves whoever shares its types, and does nothing by itself.
@pytest.mark.parametrize(
    "kernel", sorted(path.stem for path in ROOT.glob("_kernels/*.pyx") if path.stem != "_types")
)
def test_kernels_name_what_they_serve(kernel):
    text = (ROOT / "_kernels" / f"{kernel}.pyx").read_text(encoding="utf-8")
    second_paragraph = text.split('"""')[1].split("\n\n")[1]
    assert second_paragraph.startswith("Serves ")
    assert sorted(re.findall("`(.+?)`", second_paragraph)) == sorted(importers()[kernel])


def test_imports_are_found(tmp_path):
    """The reader of imports sees every way of writing one."""
    text = (
        "import numpy, sklearn_ltr.base\nfrom sklearn_ltr import boosting\n"
        "from sklearn_ltr.queries import QueryGroups\nfrom ..pairs import count_pairs\n"
        "def f():\n    from .. import labels\n"
    )
    assert set(imports_of_python(text, "sklearn_ltr.rankers")) == {
        "numpy",
        "sklearn_ltr.base",
        "sklearn_ltr.boosting",
        "sklearn_ltr.queries",
        "sklearn_ltr.pairs",
        "sklearn_ltr.labels",
    }
    text = "from libc.math cimport exp\ncimport sklearn_ltr.base\nfrom sklearn_ltr.x cimport y\n"
    assert set(imports_of_cython(text, "sklearn_ltr._kernels")) == {
        "libc.math",
        "sklearn_ltr.base",
        "sklearn_ltr.x",
    }
    own = package_imports(ROOT / "rankers" / "mpboost.py")
    assert {"sklearn_ltr.boosting.stumps", "sklearn_ltr.weak.stump"} <= set(own)


# Modules of layer 1 that learn of the rows of a training set.
LEARN_OF_ROWS = ("binning", "categories")

# Sums that are not over all rows or queries, by module: how many, and over what.
OTHER_SUMS = {
    "binning.py": (2, "the rows that are here, to make one of parts of what they have"),
    "pairs.py": (2, "the pairs that are listed, whose arrays are as long"),
    "losses/pair_sums.py": (1, "cells of weight matrices, to choose how to go through them"),
    "metrics/_per_query.py": (1, "what an error counts"),
    "metrics/pairwise.py": (1, "the counts of a function on arrays"),
    "weak/stump.py": (2, "bins"),
    "weak/attribution.py": (2, "leaves; what there is to do for a row"),
    "boosting/additive.py": (1, "features"),
    "scorefunction.py": (1, "weights of a function"),
    "cutting_planes.py": (1, "planes"),
}


def sums_in(text):
    """Calls of `sum`, `mean` and `average` that are told no axis, but of a carrier of rows."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        told = any(keyword.arg == "axis" for keyword in node.keywords)
        of_carrier = ast.unparse(node.func.value).split(".")[-1] in ("data", "reduction")
        if node.func.attr in ("sum", "mean", "average") and not told and not of_carrier:
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in SOURCES
        if p.suffix == ".py"
        and (2 <= LAYERS[part_of(name_of(p))] <= 5 or part_of(name_of(p)) in LEARN_OF_ROWS)
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_sums_over_rows_are_asked_of_their_carrier(path):
    """So that rows on several machines are the business of `reduction` alone."""
    allowed, _ = OTHER_SUMS.get(path.relative_to(ROOT).as_posix(), (0, ""))
    found = list(sums_in(path.read_text(encoding="utf-8")))
    assert len(found) == allowed, found


def test_sums_are_found():
    text = (
        "a.sum()\nnp.average(x, weights=w)\ndata.sum(x)\nself.data.mean(x)\nb.sum(axis=0)\nsum(c)"
    )
    assert list(sums_in(text)) == ["a.sum()", "np.average(x, weights=w)"]
