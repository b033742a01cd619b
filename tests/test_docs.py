# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What README and documentation say: its examples run, its tables are true and complete."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_ltr

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(
    not README.exists() or not (ROOT / "docs").exists(), reason="not in a checkout"
)

# Columns of the table in docs/user_guide/choosing.rst, after what a ranker learns from and is.
FACTS = {
    "missing values": lambda R: R().__sklearn_tags__().input_tags.allow_nan,
    "sparse": lambda R: R().__sklearn_tags__().input_tags.sparse,
    "preferences": lambda R: "preferences" in inspect.signature(R.fit).parameters,
    "sample weight": lambda R: "sample_weight" in inspect.signature(R.fit).parameters,
    "early stopping": lambda R: "early_stopping" in inspect.signature(R).parameters,
}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def python_blocks():
    return re.findall(r"^```python\n(.*?)^```$", read("README.md"), re.DOTALL | re.MULTILINE)


def choosing_rows():
    """Cells of the list-table, a list for each row; the first is the header."""
    table = read("docs/user_guide/choosing.rst").split(".. list-table::")[1]
    rows = re.split(r"^   \* - ", table, flags=re.MULTILINE)[1:]
    return [
        [cell.strip() for cell in re.split(r"^     - ", row, flags=re.MULTILINE)] for row in rows
    ]


def listings():
    """Every piece of code that a page shows, as (page, file, options)."""
    for page in sorted((ROOT / "docs").rglob("*.rst")):
        pattern = r"^\.\. literalinclude:: (\S+)\n((?:   :.*\n)*)"
        for file, options in re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE):
            found = dict(re.findall(r"^   :([\w-]+): ?(.*)$", options, re.MULTILINE))
            yield page, (page.parent / file).resolve(), found


def lines_of(file, name):
    """The lines of a class or a function in a file; of all of it if there is no name."""
    text = file.read_text(encoding="utf-8")
    if name is None:
        return text.splitlines()
    at = ast.parse(text)
    for part in name.split("."):
        at = next(node for node in at.body if getattr(node, "name", None) == part)
    return text.splitlines()[at.lineno - 1 : at.end_lineno]


def public_names():
    """Every public name of every public module, as the API reference should list it."""
    modules = {"sklearn_ltr": sklearn_ltr}
    for info in pkgutil.iter_modules(sklearn_ltr.__path__, "sklearn_ltr."):
        modules[info.name] = importlib.import_module(info.name)
    for name, module in modules.items():
        if name != "sklearn_ltr.rankers":  # whose names are those of the package
            yield from ((name, public) for public in getattr(module, "__all__", ()))


def test_readme_has_an_example():
    assert python_blocks()


@pytest.mark.parametrize("number", range(len(python_blocks()) if README.exists() else 0))
def test_readme_example_runs_in_a_fresh_interpreter(number, tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", python_blocks()[number]],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_readme_links_to_files_that_exist():
    links = re.findall(r"\]\(([^)#:]+)\)|src=\"([^\":]+)\"", read("README.md"))
    assert [link for pair in links for link in pair if link and not (ROOT / link).exists()] == []


def test_table_of_rankers_has_every_ranker():
    header, *rows = choosing_rows()
    named = [re.fullmatch(r":class:`~sklearn_ltr\.(\w+)`", row[0])[1] for row in rows]
    assert sorted(named) == sorted(sklearn_ltr.__all__)
    assert header[3:-1] == list(FACTS)


@pytest.mark.parametrize("name", sklearn_ltr.__all__)
def test_table_of_rankers_is_true(name):
    (row,) = [row for row in choosing_rows() if row[0].endswith(f".{name}`")]
    R = getattr(sklearn_ltr, name)
    facts = {fact: "yes" if holds(R) else "no" for fact, holds in FACTS.items()}
    assert dict(zip(FACTS, row[3:-1], strict=True)) == facts


def test_readme_names_every_ranker():
    assert [name for name in sklearn_ltr.__all__ if f"`{name}`" not in read("README.md")] == []


def test_api_reference_lists_every_public_name():
    parts = read("docs/api.rst").split(".. currentmodule:: ")[1:]
    listed = set()
    for part in parts:
        module, rest = part.split("\n", 1)
        listed |= {(module, name) for name in re.findall(r"^   (\w+)$", rest, re.MULTILINE)}
    assert set(public_names()) - listed == set()


@pytest.mark.parametrize(
    ("page", "file", "options"),
    [pytest.param(*case, id=f"{case[0].stem}-{i}") for i, case in enumerate(listings())],
)
def test_what_pages_show_of_the_code_is_there(page, file, options):
    lines, first = lines_of(file, options.get("pyobject")), 0
    for name in ("start-at", "start-after", "end-before", "end-at"):
        if name in options:
            found = [i for i in range(first, len(lines)) if options[name] in lines[i]]
            assert found, f"{page.name} shows {file.name} :{name}: {options[name]!r}, which is gone"
            first = found[0] + 1
