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
assert np.allclose(total, trees.predict(X), rtol=0, atol=1e-10)
import matplotlib.pyplot
assert matplotlib.pyplot.get_fignums()
"""


def test_the_figures_of_shap(tmp_path):
    pytest.importorskip("shap")
    pytest.importorskip("matplotlib")
    text = PAGE.read_text(encoding="utf-8").split(".. _shap:")[1]
    block = re.search(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)[1]
    code = re.sub(r"^   ", "", block, flags=re.MULTILINE)
    assert code.startswith("import shap\n")
    result = subprocess.run(
        [sys.executable, "-c", BEFORE + code + AFTER],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
