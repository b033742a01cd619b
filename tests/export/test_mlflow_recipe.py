# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the guide does with MLflow runs, where that is installed, also with missing values."""

import pytest
import recipes

pytestmark = pytest.mark.skipif(not recipes.GUIDE.exists(), reason="not in a checkout")

BEFORE = """
import numpy as np
import pandas as pd
from sklearn_ltr import LambdaMART
from sklearn_ltr.datasets import make_ranking
X, y, groups = make_ranking(n_queries=20, n_features=8, n_redundant=0, random_state=0)
X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
frame = pd.DataFrame(X.astype(np.float32), columns=list("abcdefgh"))
trees = LambdaMART(20).fit(frame, y, groups)
"""
AFTER = """
assert np.array_equal(scores, trees.predict(frame))
ranker = mlflow.sklearn.load_model(info.model_uri)
assert type(ranker) is LambdaMART
assert np.array_equal(ranker.predict(frame), trees.predict(frame))
try:
    served.predict(frame.astype(np.float64))
except mlflow.exceptions.MlflowException as error:
    assert "schema" in str(error)
else:
    raise AssertionError("taken")
"""


def test_the_recipe(tmp_path):
    pytest.importorskip("mlflow")
    pytest.importorskip("skops")
    heading = "\nMLflow\n------\n"
    recipes.run("deploy.rst", heading, 0, "import mlflow\n", BEFORE, AFTER, tmp_path)
