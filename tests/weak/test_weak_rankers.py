# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a weak ranker's class says of itself: how it is added up, stored and written as a tree."""

import json
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor

from sklearn_ltr.boosting.additive import AdditiveModel
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import from_dict, scoring, to_dict, to_ranklib_xml
from sklearn_ltr.rankers import RegressionRanker
from sklearn_ltr.weak import schema
from sklearn_ltr.weak.base import OneByOne, WeakRanker
from sklearn_ltr.weak.column import Column, SumOfColumns
from sklearn_ltr.weak.forest import TreeEnsemble
from sklearn_ltr.weak.regressor import FittedRegressor
from sklearn_ltr.weak.step_functions import StepFunctions
from sklearn_ltr.weak.stump import Stump
from sklearn_ltr.weak.tree import Tree

N_FEATURES = 4


def rows(missing=True):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (60, N_FEATURES)) / 2
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


def stump(seed):
    rng = np.random.default_rng(seed)
    threshold = np.inf if seed % 5 == 0 else rng.normal()
    missing_above = bool(seed % 5 == 0 or rng.random() < 0.5)
    return Stump(int(rng.integers(N_FEATURES)), 0, threshold, missing_above, 1.0, rng.normal())


def regressor(seed):
    X, rng = rows(missing=False), np.random.default_rng(seed)
    return FittedRegressor(DecisionTreeRegressor(max_depth=2).fit(X, rng.normal(size=len(X))))


def column(seed):
    return Column(seed % N_FEATURES, gain=1.0)


MAKERS = {
    "stump": stump,
    "tree": lambda seed: stump(seed).as_tree(),
    "constant": lambda seed: Tree.constant(float(seed)),
    "regressor": regressor,
    "column": column,
}
NO_MISSING = {"regressor", "column"}
SUMS = [
    ({"stump"}, 1, StepFunctions),
    ({"stump"}, 3, TreeEnsemble),
    ({"tree"}, 1, TreeEnsemble),
    ({"tree"}, 3, TreeEnsemble),
    ({"column"}, 1, SumOfColumns),
    ({"column"}, 3, SumOfColumns),
    ({"regressor"}, 1, OneByOne),
    ({"regressor"}, 3, OneByOne),
    ({"constant", "regressor"}, 1, OneByOne),
    ({"stump", "tree"}, 1, OneByOne),
    ({"stump", "column", "tree"}, 3, OneByOne),
]


@pytest.mark.parametrize(("names", "n_outputs", "expected"), SUMS)
def test_sums_of_every_kind(names, n_outputs, expected):
    """The class of the terms knows their sum; what is mixed is added up one by one."""
    X = rows(missing=not names & NO_MISSING)
    makers, seed = [MAKERS[name] for name in sorted(names)], 0
    rounds, scores, stages = [], np.zeros((n_outputs, len(X))), []
    for _ in range(7):
        terms = []
        for output in range(n_outputs):
            seed += 1
            terms.append((0.5 * seed, makers[seed % len(makers)](seed)))
            scores[output] += 0.5 * seed * terms[-1][1].predict(X)
        rounds.append(terms)
        stages.append(scores[0].copy() if n_outputs == 1 else scores.copy())
    model = AdditiveModel(N_FEATURES, rounds, n_outputs)
    function = model.collapse()
    assert type(function) is expected
    for form in (X, sparse.csr_array(X)):
        found = function.predict(form)
        assert found.shape == stages[-1].shape
        assert_allclose(found, stages[-1], rtol=1e-12, atol=1e-12)
    assert_allclose(list(model.staged_predict(X)), stages, rtol=1e-12, atol=1e-12)


def test_sums_of_nothing():
    assert type(AdditiveModel(3).collapse()) is StepFunctions
    assert_array_equal(AdditiveModel(3).collapse().predict(np.zeros((2, 3))), [0, 0])
    empty = AdditiveModel(3, n_outputs=2).collapse()
    assert_array_equal(empty.predict(np.zeros((2, 3))), np.zeros((2, 2)))


@pytest.mark.parametrize("seed", range(10))
def test_a_stump_as_a_tree(seed):
    """It says the same of every row, and counts for the same."""
    X, one = rows(), stump(seed)
    assert_array_equal(one.as_tree().predict(X), one.predict(X))
    assert_array_equal(one.as_tree().importances(N_FEATURES), one.importances(N_FEATURES))
    same = one.as_tree()
    assert same.as_tree() is same


class Below(WeakRanker):
    """A new weak ranker, which has what the developers' pages ask for, and is known nowhere."""

    def __init__(self, feature, threshold, value):
        self.feature, self.threshold, self.value = feature, threshold, value

    def apply(self, binned, n_threads=1):
        cuts = binned.thresholds[self.feature]
        return self.value * (binned.column(self.feature) <= np.searchsorted(cuts, self.threshold))

    def predict(self, X):
        x = X[:, [self.feature]].toarray().ravel() if sparse.issparse(X) else X[:, self.feature]
        return self.value * (x <= self.threshold)

    def importances(self, n_features):
        return np.eye(n_features)[self.feature], np.eye(n_features, dtype=np.intp)[self.feature]

    def to_plain(self):
        return {"feature": self.feature, "threshold": self.threshold, "value": self.value}

    @classmethod
    def from_plain(cls, value, path, bins):
        number = partial(schema.number, largest=schema.LARGEST)
        feature = partial(schema.integer, high=len(bins) - 1)
        kinds = {"feature": feature, "threshold": number, "value": number}
        return cls(**schema.fields(kinds, value, path))

    def as_tree(self):
        tree = Stump(self.feature, 0, self.threshold, False, 1.0, 0.0).as_tree()
        tree.value[1] = self.value
        return tree


class BelowBoost(RegressionRanker):
    """Adds up what is below the first threshold of each feature in turn."""

    _weak = Below

    def _rounds(self, train):
        for t in train.rounds():
            k = t % train.binned.n_features
            h = Below(k, float(train.binned.thresholds[k][0]), -1.0 - t)
            train.scores += self.learning_rate * h.apply(train.binned)
            train.loss = float(np.square(train.data.y - train.scores).mean())
            yield [(self.learning_rate, h)]


def test_a_new_weak_ranker_is_its_class_alone(monkeypatch):
    X, y, groups = make_ranking(20, n_features=4, n_informative=3, n_redundant=0, random_state=0)
    ranker = BelowBoost(n_estimators=9, max_bins=6, early_stopping=True, random_state=0)
    ranker.fit(X, y, groups)
    assert type(ranker._predictor) is OneByOne
    terms = ranker.model_.terms[: ranker.best_iteration_]
    scores = sum(c * h.value * (X[:, h.feature] <= h.threshold) for c, h in terms)
    assert_allclose(ranker.predict(X), scores, rtol=1e-12)
    assert len(list(ranker.staged_predict(X))) == ranker.n_iter_
    assert ranker.feature_importances_.sum() == pytest.approx(1)

    monkeypatch.setitem(scoring.RANKERS, "BelowBoost", BelowBoost)
    stored = json.loads(json.dumps(to_dict(ranker)))
    assert_array_equal(from_dict(stored).predict(X), ranker.predict(X))
    assert stored["rounds"][0][0].keys() == {"coefficient", "feature", "threshold", "value"}
    assert to_ranklib_xml(ranker).count("<tree ") == ranker.best_iteration_
    stored["rounds"][1][0]["feature"] = 4
    with pytest.raises(ValueError, match=r"rounds\[1\]\[0\]\.feature must be an integer from 0 to"):
        from_dict(stored)
