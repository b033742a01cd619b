# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the guide does with the package shap runs, where that is installed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "user_guide" / "inspection.rst"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not in a checkout")

BEFORE = """
import numpy as np
from sklearn_ltr import LambdaMART
from sklearn_ltr.datasets import make_ranking
X, y, groups = make_ranking(n_queries=20, n_features=8, n_redundant=0, random_state=0)
trees = LambdaMART(20).fit(X, y, groups)
"""
AFTER = """
total = explanation.base_values + explanation.values.sum(axis=1)
assert np.allclose(total, trees.predict(X), rtol=0, atol={atol})
"""
FIGURES = """
import matplotlib.pyplot
assert matplotlib.pyplot.get_fignums()
"""


def run(number, after, folder):
    """Run a block of the page's section, and what is to hold after it."""
    text = PAGE.read_text(encoding="utf-8").split(".. _shap:")[1]
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
    code = re.sub(r"^   ", "", blocks[number], flags=re.MULTILINE)
    assert code.startswith("import shap\n")
    result = subprocess.run(
        [sys.executable, "-c", BEFORE + code + after],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr


def test_figures(tmp_path):
    pytest.importorskip("shap")
    pytest.importorskip("matplotlib")
    run(0, AFTER.format(atol=1e-10) + FIGURES, tmp_path)


def test_an_exported_model(tmp_path):
    pytest.importorskip("shap")
    pytest.importorskip("xgboost")
    run(1, AFTER.format(atol=1e-5), tmp_path)
