# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the guide does with the package shap runs, where that is installed."""

import pytest
import recipes

pytestmark = pytest.mark.skipif(not recipes.GUIDE.exists(), reason="not in a checkout")

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
    recipes.run("inspection.rst", ".. _shap:", number, "import shap\n", BEFORE, after, folder)


def test_figures(tmp_path):
    pytest.importorskip("shap")
    pytest.importorskip("matplotlib")
    run(0, AFTER.format(atol=1e-10) + FIGURES, tmp_path)


def test_an_exported_model(tmp_path):
    pytest.importorskip("shap")
    pytest.importorskip("xgboost")
    run(1, AFTER.format(atol=1e-5), tmp_path)
