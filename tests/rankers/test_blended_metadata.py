# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""BlendedRanker: what it refuses of the metadata that members take, and requests for a part."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import BlendedRanker, LambdaMART
from sklearn_ltr.datasets import make_ranking


@pytest.fixture(scope="module")
def data():
    return make_ranking(n_queries=30, random_state=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


class Formula(RegressorMixin, BaseEstimator):
    """Scores that were there before."""

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0] - 2 * X[:, 1]


def blend(**params):
    return BlendedRanker([("trees", LambdaMART(n_estimators=3))], **params)


@pytest.mark.parametrize("name", ["init_score", "init_score_val", "base_margin"])
def test_scores_to_start_from_are_refused_with_the_remedy(name, data):
    X, y, groups = data
    with pytest.raises(TypeError, match=r"standardised before .* in a FrozenEstimator, and"):
        blend().fit(X, y, groups=groups, **{name: np.zeros(len(y))})


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("wrap", ["pipeline", "search"])
def test_scores_to_start_from_get_lost_on_no_way(wrap, data):
    X, y, groups = data
    member = LambdaMART(n_estimators=3).set_fit_request(init_score=True)
    ranker = BlendedRanker([("trees", member)])
    if wrap == "pipeline":
        ranker = make_pipeline(StandardScaler(), ranker)
    else:
        ranker = GridSearchCV(ranker, {"trees__max_bins": [9]}, cv=GroupKFold(2))
    with pytest.raises(TypeError, match="init_score"):
        ranker.fit(X, y, groups=groups, init_score=np.zeros(len(y)))


def test_the_remedy(data):
    """The blend of a formula, as a member, and trees is the sum of what is standardised."""
    X, y, groups = data
    formula = Formula().fit(X, y)
    trees = LambdaMART(n_estimators=3)
    ranker = BlendedRanker(
        [("formula", FrozenEstimator(formula)), ("trees", trees)],
        weights=[2, 1],
        standardize="train",
    ).fit(X, y, groups=groups)
    parts = [formula.predict(X), ranker.named_estimators_["trees"].predict(X)]
    first, second = [(s - s.mean()) / s.std() for s in parts]
    assert_allclose(ranker.predict(X), 2 * first + second, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("refused", [("X_val",), ("X_val", "y_val", "groups_val")])
def test_validation_rows_reach_a_member_whole_or_not_at_all(refused, data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        member = LambdaMART(n_estimators=3).set_fit_request(**dict.fromkeys(refused, False))
    ranker = BlendedRanker([("without", member), ("with", LambdaMART(n_estimators=3))])
    ranker.fit(X, y, groups=groups, X_val=X, y_val=y, groups_val=groups)
    without, with_rows = ranker.estimators_
    assert len(without.validation_score_) == 0
    assert len(with_rows.validation_score_) == 3


@pytest.mark.usefixtures("routing")
def test_all_it_takes_comes_through_a_pipeline_to_a_member(data):
    X, y, groups = data
    train = groups < 20
    weight = 1.0 + groups % 3
    val = {"X_val": X[~train], "y_val": y[~train], "groups_val": groups[~train]}
    ranker = blend().set_fit_request(**dict.fromkeys(val, True))
    model = make_pipeline(StandardScaler(), ranker, transform_input=["X_val"])
    told = {"groups": groups[train], "query_weight": weight[train]}
    model.fit(X[train], y[train], **told, **val)
    scaler = StandardScaler().fit(X[train])
    val["X_val"] = scaler.transform(X[~train])
    alone = LambdaMART(n_estimators=3).fit(scaler.transform(X[train]), y[train], **told, **val)
    member = model[-1].estimators_[0]
    assert np.array_equal(member.validation_score_, alone.validation_score_)
    assert np.array_equal(member.predict(X), alone.predict(X))
