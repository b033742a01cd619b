# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""BlendedRanker against sums by hand, and what reaches its members."""

import pickle
import threading
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from every_ranker import assert_same
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles.blend import blend_by_training_rows, blend_within_queries, moments
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from strategies import examples

from sklearn_ltr import (
    BlendedRanker,
    FeatureRank,
    LambdaMART,
    LambdaRank,
    MPBoost,
    RankSVM,
    RegressionRanker,
)
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.export import to_dict, to_ranklib_xml
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.model_selection import permutation_importance
from sklearn_ltr.preprocessing import QueryScaler
from sklearn_ltr.queries import split_queries
from sklearn_ltr.rankers import blended
from sklearn_ltr.scorers import get_scorer


class Column(RegressorMixin, BaseEstimator):
    """Scores by a column of X. Learns nothing."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, self.number]


class Recorder(Column):
    """Keeps what it was given."""

    def fit(
        self,
        X,
        y,
        groups=None,
        query_weight=None,
        sample_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
    ):
        self.given_ = {"X": X, "y": y, "groups": groups, "query_weight": query_weight}
        self.given_ |= {"sample_weight": sample_weight, "X_val": X_val, "y_val": y_val}
        self.given_ |= {"groups_val": groups_val}
        return super().fit(X, y)


class Failing(Column):
    """Raises in `fit` or in `predict`."""

    def __init__(self, error=None, where="fit"):
        self.error = error
        self.where = where

    def fit(self, X, y):
        if self.where == "fit":
            raise self.error
        self.fitted_ = True
        return self

    def predict(self, X):
        raise self.error


class Constant(Column):
    def predict(self, X):
        return np.full(X.shape[0], 0.1)


class WhereFitted(Column):
    def fit(self, X, y):
        self.thread_ = threading.get_ident()
        return super().fit(X, y)


class TwoArguments(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)

    def __str__(self):
        return "of two arguments"


@pytest.fixture(scope="module")
def data():
    """Rows of 40 queries in random order."""
    X, y, groups = make_ranking(
        40, (4, 9), 6, n_informative=3, n_redundant=1, n_grades=3, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], groups[order]


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def either_routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield


def columns(n):
    return [(f"x{k}", Column(k)) for k in range(n)]


def quick():
    """Members of several kinds, one of them behind a scaler."""
    linear = make_pipeline(StandardScaler(), LambdaRank(max_iter=10, random_state=0))
    return [("trees", LambdaMART(n_estimators=10)), ("linear", linear)]


# --- the sum -------------------------------------------------------------------------------------

SCORES = st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.3, 2.5, 1e9, -7.25, 1e-9])


@st.composite
def score_tables(draw):
    """Scores of 1 to 3 members, weights of them, and groups."""
    n = draw(st.integers(2, 12))
    m = draw(st.integers(1, 3))
    scores = draw(st.lists(st.lists(SCORES, min_size=n, max_size=n), min_size=m, max_size=m))
    weights = draw(st.lists(st.sampled_from([1.0, 0.5, -2.0, 0.0]), min_size=m, max_size=m))
    groups = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return np.array(scores).T, weights, groups


@examples(200)
@given(score_tables())
@example((np.array([[0.1], [0.1], [0.1]]), [1.0], [0, 0, 0]))  # whose sum over 3 is not .1
@example((np.array([[1e9, 0.3], [1e9 + 1, 0.1], [1e9, 0.3]]), [1.0, -2.0], [0, 0, 1]))
def test_the_sum_equals_the_oracle(table):
    X, weights, groups = table
    if not any(weights):
        weights[0] = 1.0
    y = np.arange(len(X)) % 2
    ranker = BlendedRanker(columns(X.shape[1]), weights=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are constant
        ranker.fit(X, y, groups=np.zeros(len(X)))
    expected = blend_within_queries(X.T.tolist(), weights, groups)
    assert_allclose(ranker.predict(X, groups=groups), expected, rtol=1e-6, atol=1e-6)
    expected = blend_by_training_rows(X.T.tolist(), weights, X.T.tolist())
    assert_allclose(ranker.predict(X), expected, rtol=1e-6, atol=1e-6)
    ranker.set_params(standardize="train")
    assert_array_equal(ranker.predict(X, groups=groups), ranker.predict(X))
    assert_allclose(ranker.predict(X), expected, rtol=1e-6, atol=1e-6)
    for m, column in enumerate(X.T.tolist()):
        mean, deviation = moments(column)
        assert ranker.means_[m] == pytest.approx(mean, rel=1e-12, abs=1e-12)
        constant = min(column) == max(column)
        assert (ranker.deviations_[m] == 0) == constant
        if not constant:
            assert ranker.deviations_[m] == pytest.approx(deviation, rel=1e-6)


@examples(60)
@given(score_tables(), st.randoms(use_true_random=False))
def test_no_bit_depends_on_the_order_of_rows(table, random):
    X, weights, groups = table
    groups = np.array(groups)
    ranker = BlendedRanker(columns(X.shape[1]), weights=[w or 1.0 for w in weights])
    y = np.arange(len(X)) % 2
    order = np.array(random.sample(range(len(X)), len(X)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(X, y, groups=np.zeros(len(X)))
        again = clone(ranker).fit(X[order], y[order], groups=np.ones(len(X)))
    scores = ranker.predict(X, groups=groups)
    assert_array_equal(again.predict(X[order], groups=-groups[order]), scores[order])
    assert_array_equal(again.predict(X), ranker.predict(X))
    for query in set(groups.tolist()):  # a query has the same scores in any company
        own = groups == query
        assert_array_equal(ranker.predict(X[own], groups=groups[own]), scores[own])


def test_a_member_that_is_constant_adds_nothing(data):
    X, y, groups = data
    ranker = BlendedRanker([("x0", Column(0)), ("constant", Constant())]).fit(X, y, groups=groups)
    alone = BlendedRanker([("x0", Column(0))]).fit(X, y, groups=groups)
    assert ranker.deviations_[1] == 0
    assert ranker.means_[1] == 0.1
    assert_array_equal(ranker.predict(X, groups=groups), alone.predict(X, groups=groups))
    assert_array_equal(ranker.predict(X), alone.predict(X))
    with pytest.warns(UserWarning, match="BlendedRanker found nothing to rank by"):
        ranker.set_params(weights=[0, 1]).fit(X, y, groups=groups)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e139])
def test_scores_of_any_size(size):
    X = np.array([[0.0], [1.0], [2.0], [5.0]])
    y, groups = [0, 1, 0, 1], [0, 0, 1, 1]
    expected = [-1, 1, -1, 1]
    ranker = BlendedRanker(columns(1)).fit(X * size, y, groups=groups)
    assert_allclose(ranker.predict(X * size, groups=groups), expected, rtol=1e-14)
    assert (np.diff(ranker.predict(X * size)) > 0).all()
    if size < 1e-100:
        with pytest.raises(ValueError, match="The score of row 0 of `X` overflows"):
            ranker.predict(np.array([[1e139]]))
    with pytest.raises(ValueError, match=r'member "x0": The score of row 1 .* is 1e\+150'):
        ranker.predict(X * 1e150, groups=groups)


def test_sample_weight_counts_rows(data):
    X, y, groups = data
    weight = np.random.default_rng(0).choice([0.0, 1.0, 3.0], len(y))
    ranker = BlendedRanker([("trees", RegressionRanker(n_estimators=5))])
    ranker.fit(X, y, groups=groups, sample_weight=weight)
    scores = ranker.estimators_[0].predict(X)
    mean, deviation = moments(scores.tolist(), weight.tolist())
    assert ranker.means_[0] == pytest.approx(mean, rel=1e-10)
    assert ranker.deviations_[0] == pytest.approx(deviation, rel=1e-10)


# --- what reaches the members --------------------------------------------------------------------


@pytest.mark.usefixtures("either_routing")
@pytest.mark.parametrize("weighted", [False, True])
def test_blend_of_pipelines_equals_the_sum_by_hand(data, weighted):
    X, y, groups = data
    weight = 1.0 + groups % 3 if weighted else None
    ranker = BlendedRanker(
        [
            ("trees", LambdaMART(n_estimators=10)),
            ("linear", make_pipeline(StandardScaler(), RankSVM())),
            ("scaled", make_pipeline(QueryScaler(), RankSVM())),
            ("feature", FeatureRank(n_classes=4)),
        ],
        weights=[1, 0.5, 2, 0.25],
    ).fit(X, y, groups=groups, query_weight=weight)
    given = {"groups": groups, "query_weight": weight}
    standard, scaled = (
        (X - X.mean(axis=0)) / X.std(axis=0),
        QueryScaler().fit_transform(X, groups=groups),
    )
    by_hand = [
        LambdaMART(n_estimators=10).fit(X, y, **given).predict(X),
        RankSVM().fit(standard, y, **given).predict(standard),
        RankSVM().fit(scaled, y, **given).predict(scaled),
        FeatureRank(n_classes=4).fit(X, y, **given).predict(X, groups=groups),
    ]
    expected = blend_within_queries(
        [scores.tolist() for scores in by_hand], ranker.weights_.tolist(), groups.tolist()
    )
    found = ranker.predict(X, groups=groups)
    assert_allclose(found, expected, rtol=1e-4, atol=1e-4)  # RankSVM's tolerance
    score = ndcg_score(y, found, groups, k=10)
    assert ranker.score(X, y, groups=groups) == pytest.approx(score, rel=1e-12)
    assert get_scorer("ndcg@10")(ranker, X, y, groups) == pytest.approx(score, rel=1e-12)


@pytest.mark.usefixtures("either_routing")
@pytest.mark.parametrize("behind", [False, True], ids=["alone", "pipeline"])
def test_all_that_is_given_arrives(data, behind):
    X, y, groups = data
    train, query_weight = groups < 30, 1.0 + groups % 3
    sample_weight = np.where(np.arange(len(y)) % 5, 2.0, 0.0)
    member = make_pipeline(StandardScaler(), Recorder()) if behind else Recorder()
    ranker = BlendedRanker([("member", member)]).fit(
        X[train],
        y[train],
        groups=groups[train],
        query_weight=query_weight[train],
        sample_weight=sample_weight[train],
        X_val=X[~train],
        y_val=y[~train],
        groups_val=groups[~train],
    )
    fitted = ranker.estimators_[0]
    given = (fitted[-1] if behind else fitted).given_
    scale = fitted[0].transform if behind else (lambda X: X)
    kept = train & (sample_weight > 0)
    expected = np.column_stack([scale(X), groups, y, query_weight, sample_weight])
    found = np.column_stack(
        [given[name] for name in ("X", "groups", "y", "query_weight", "sample_weight")]
    )
    assert_array_equal(sorted(found.tolist()), sorted(expected[kept].tolist()))
    found = np.column_stack([given[name] for name in ("X_val", "groups_val", "y_val")])
    expected = expected[~train, : X.shape[1] + 2]
    assert_array_equal(sorted(found.tolist()), sorted(expected.tolist()))


def test_requests_of_the_user_stay(data):
    X, y, groups = data
    weight = 1.0 + groups % 3
    with sklearn.config_context(enable_metadata_routing=True):
        member = Recorder().set_fit_request(query_weight=False, sample_weight=False)
    ranker = BlendedRanker([("a", member)])
    with pytest.warns(UserWarning, match="member 'a' takes no `query_weight`"):
        ranker.fit(X, y, groups=groups, query_weight=weight)
    given = ranker.estimators_[0].given_
    assert given["query_weight"] is given["sample_weight"] is None
    assert given["groups"] is not None


def test_requests_are_as_they_were(data):
    """Members fitted and given do not keep those that were needed on the way."""
    X, y, groups = data
    train = groups < 30
    pipeline = make_pipeline(StandardScaler(), RegressionRanker(n_estimators=2))
    with sklearn.config_context(enable_metadata_routing=True):
        asking = RegressionRanker(n_estimators=2).set_fit_request(sample_weight="row_weight")
    ranker = BlendedRanker(
        [("a", pipeline), ("b", RegressionRanker(n_estimators=2)), ("c", asking)]
    )
    with pytest.warns(UserWarning, match="'c' takes no `sample_weight`"):
        ranker.fit(
            X[train],
            y[train],
            groups=groups[train],
            sample_weight=1.0 + groups[train] % 2,
            X_val=X[~train],
            y_val=y[~train],
            groups_val=groups[~train],
        )
    first, second, third = ranker.estimators_
    assert len(first[-1].validation_score_) > 0
    assert first.transform_input is None
    for fitted, before in ((first[0], pipeline[0]), (first[1], pipeline[1]), (third, asking)):
        requests = fitted.get_metadata_routing().fit.requests
        assert requests == before.get_metadata_routing().fit.requests
    assert "_metadata_request" not in vars(second)
    assert third.get_metadata_routing().fit.requests["sample_weight"] == "row_weight"


def test_validation_rows_behind_a_step_that_needs_groups(data):
    """They do not arrive, as they could not be scaled."""
    X, y, groups = data
    train = groups < 30
    member = make_pipeline(QueryScaler(), MPBoost(n_estimators=5))
    other = Pipeline([("scale", StandardScaler()), ("rank", MPBoost(n_estimators=5))])
    ranker = BlendedRanker([("a", member), ("b", other)], weights={"a": [0, 1]}).fit(
        X[train],
        y[train],
        groups=groups[train],
        X_val=X[~train],
        y_val=y[~train],
        groups_val=groups[~train],
    )
    a, b = ranker.estimators_
    assert len(a[-1].validation_score_) == 0
    scores = b.predict(X[~train])
    expected = ndcg_score(y[~train], scores, groups[~train], k=10)
    assert b[-1].validation_score_[-1] == pytest.approx(expected, rel=1e-12)
    assert len(ranker.candidate_scores_) == 2


def test_a_regressor_gets_the_product_of_both_weights(data):
    X, y, groups = data
    of_query, of_row = 1.0 + groups % 3, 1.0 + np.arange(len(y)) % 2
    for weights in (
        {"query_weight": of_query},
        {"sample_weight": of_row},
        {"query_weight": of_query, "sample_weight": of_row},
    ):
        for member in (Ridge(), make_pipeline(StandardScaler(), Ridge())):
            ranker = BlendedRanker([("ridge", member)]).fit(X, y, groups=groups, **weights)
            scale = (X - X.mean(axis=0)) / X.std(axis=0) if isinstance(member, Pipeline) else X
            expected = Ridge().fit(scale, y, sample_weight=np.prod([*weights.values()], axis=0))
            assert_allclose(ranker.estimators_[0].predict(X), expected.predict(scale), rtol=1e-8)


def test_weights_that_a_member_does_not_take_are_told(data):
    X, y, groups = data
    ranker = BlendedRanker([("k", KNeighborsRegressor()), ("m", MPBoost(n_estimators=2))])
    with pytest.warns(UserWarning, match=r"member 'k' takes no `query_weight`") as caught:
        ranker.fit(X, y, groups=groups, query_weight=1.0 + groups % 2)
    assert [w.filename for w in caught] == [__file__]
    ranker.set_params(k="drop")
    with pytest.warns(UserWarning, match=r"member 'm' takes no `sample_weight`.*`query_weight`"):
        ranker.fit(X, y, groups=groups, sample_weight=1.0 + np.arange(len(y)) % 2)


def test_validation_rows_that_nothing_uses_are_told(data):
    X, y, groups = data
    val = {"X_val": X, "y_val": y, "groups_val": groups}
    ranker = BlendedRanker([("a", RankSVM()), ("b", Column())])
    with pytest.warns(UserWarning, match="Nothing makes use of `X_val`") as caught:
        ranker.fit(X, y, groups=groups, **val)
    assert [w.filename for w in caught] == [__file__]
    ranker.set_params(weights={"a": [0, 1]}).fit(X, y, groups=groups, **val)
    ranker.set_params(weights=None, b=MPBoost(n_estimators=2)).fit(X, y, groups=groups, **val)


def test_frames_reach_the_members(data):
    pd = pytest.importorskip("pandas")
    X, y, groups = data
    names = [f"x{k}" for k in range(X.shape[1])]
    some = make_pipeline(make_column_transformer((StandardScaler(), ["x1", "x3"])), RankSVM())
    ranker = BlendedRanker([("some", some), ("all", MPBoost(n_estimators=3))])
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(X))[::-1])
    ranker.fit(frame, y, groups=groups)
    assert ranker.feature_names_in_.tolist() == names
    assert ranker.named_estimators_["all"].feature_names_in_.tolist() == names
    by_number = clone(ranker).set_params(
        some=make_pipeline(make_column_transformer((StandardScaler(), [1, 3])), RankSVM())
    )
    by_number.fit(X, y, groups=groups)
    assert_array_equal(ranker.predict(frame, groups=groups), by_number.predict(X, groups=groups))


def test_tags_are_those_of_the_members():
    def tags(*members):
        ranker = BlendedRanker([(f"m{k}", member) for k, member in enumerate(members)])
        found = ranker.__sklearn_tags__().input_tags
        return found.allow_nan, found.sparse

    assert tags(MPBoost(), LambdaMART()) == (True, True)
    assert tags(MPBoost(), RankSVM()) == (False, True)
    assert tags(MPBoost(), make_pipeline(StandardScaler(), RankSVM())) == (False, False)
    assert tags(make_pipeline(StandardScaler(with_mean=False), MPBoost())) == (True, True)
    assert tags(MPBoost(), make_pipeline(SimpleImputer(), RankSVM())) == (True, True)
    assert tags(FeatureRank(), "drop") == (False, False)
    positive = [
        BlendedRanker([("m", member)]).__sklearn_tags__().target_tags.positive_only
        for member in (MPBoost(), LambdaMART(), make_pipeline(StandardScaler(), LambdaRank()))
    ]
    assert positive == [False, True, True]


def test_missing_values_where_an_imputer_is_in_front(data):
    X, y, groups = data
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    filled = make_pipeline(SimpleImputer(), RankSVM())
    ranker = BlendedRanker([("trees", MPBoost(n_estimators=3)), ("linear", filled)])
    assert np.isfinite(ranker.fit(X, y, groups=groups).predict(X, groups=groups)).all()
    with pytest.raises(ValueError, match='member "linear": Input X contains NaN'):
        ranker.set_params(linear=RankSVM()).fit(X, y, groups=groups)


# --- weights -------------------------------------------------------------------------------------

CANDIDATES = [0, 1 / 3, 1, 3, np.inf]


def with_candidates(**params):
    return BlendedRanker(quick(), weights={"linear": CANDIDATES}, **params)


def scores_by_hand(train, test, standardize):
    """NDCG@10 of each candidate, of blends fitted with the weight given as a number."""
    scores = []
    for candidate in CANDIDATES:
        weights = [0, 1] if candidate == np.inf else [1, candidate]
        ranker = BlendedRanker(quick(), weights=weights, standardize=standardize)
        X, y, groups = train
        ranker.fit(X, y, groups=groups)
        X, y, groups = test
        scores.append(ndcg_score(y, ranker.predict(X, groups=groups), groups, k=10))
    return scores


@pytest.mark.parametrize("standardize", ["query", "train"])
def test_a_weight_chosen_by_given_rows_equals_brute_force(data, standardize):
    train = data[2] < 25
    train, test = [a[train] for a in data], [a[~train] for a in data]
    expected = scores_by_hand(train, test, standardize)
    assert len(set(expected)) > 2
    val = dict(zip(("X_val", "y_val", "groups_val"), test, strict=True))
    ranker = with_candidates(standardize=standardize)
    ranker.fit(*train[:2], groups=train[2], **val)
    assert_allclose(ranker.candidate_scores_, expected, rtol=1e-12)
    best = CANDIDATES[int(np.argmax(expected))]
    assert ranker.weights_.tolist() == ([0, 1] if best == np.inf else [1, best])
    same = BlendedRanker(quick(), weights=ranker.weights_, standardize=standardize)
    same.fit(*train[:2], groups=train[2])
    assert_array_equal(ranker.predict(data[0]), same.predict(data[0]))


def test_a_weight_chosen_by_held_out_queries_equals_brute_force(data):
    X, y, groups = data
    ranker = with_candidates(validation_fraction=0.4, random_state=3).fit(X, y, groups=groups)
    # The queries in the order of the fit, which depends on their content alone.
    with sklearn.config_context(enable_metadata_routing=True):
        seen = BlendedRanker([("a", Recorder())]).fit(X, y, groups=groups).estimators_[0].given_
    ids = list(dict.fromkeys(seen["groups"].tolist()))
    learnable = np.array([len(set(y[groups == q])) > 1 for q in ids])
    out = np.isin(groups, np.array(ids)[split_queries(learnable, 0.4, 3)])
    assert 5 < len(set(groups[out])) < 20
    expected = scores_by_hand([a[~out] for a in data], [a[out] for a in data], "query")
    assert_allclose(ranker.candidate_scores_, expected, rtol=1e-12)
    # Fitted again, to all rows.
    whole = BlendedRanker(quick(), weights=ranker.weights_).fit(X, y, groups=groups)
    assert_array_equal(ranker.predict(X), whole.predict(X))
    assert_same(with_candidates(validation_fraction=0.4, random_state=3).fit(*data), ranker, X)


def test_the_first_of_equals_wins(data):
    X, y, groups = data
    ranker = BlendedRanker(
        [("a", Column(0)), ("b", Column(0))], weights={"b": [3, 1, np.inf, 0]}
    ).fit(X, y, groups=groups)
    assert len(set(ranker.candidate_scores_)) == 1
    assert ranker.weights_.tolist() == [1, 3]


def test_another_metric_chooses(data):
    X, y, groups = data
    ranker = with_candidates(scoring="map")
    ranker.fit(X, y, groups=groups, X_val=X, y_val=y, groups_val=groups)
    best = BlendedRanker(quick(), weights=ranker.weights_).fit(X, y, groups=groups)
    score = get_scorer("map")(best, X, y, groups)
    assert ranker.candidate_scores_.max() == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1], "one number for each of the 2 members; got 1"),
        ([0, 0], "zero for every member"),
        ([1, np.inf], "`weights`|weights contains infinity"),
        ({"trees": [1], "linear": [1]}, "one member; got 2.*fit the validation queries"),
        ({}, "one member; got 0"),
        ({"forest": [1]}, r"'forest'; the members are \['trees', 'linear'\]"),
        ({"linear": []}, "list of one or more numbers"),
        ({"linear": 0.5}, "list of one or more numbers.*got 0.5"),
        ({"linear": [1, np.nan]}, "one or more numbers, finite or numpy.inf; got nan"),
        ({"linear": [-np.inf]}, "got -inf"),
        ({"linear": "1"}, "got '1'"),
    ],
)
def test_weights_that_are_refused(data, weights, match):
    X, y, groups = data
    with pytest.raises(ValueError, match=match):
        BlendedRanker(quick(), weights=weights).fit(X, y, groups=groups)


def test_nothing_to_choose(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="candidates for the only member"):
        BlendedRanker(quick()[:1], weights={"trees": [1]}).fit(X, y, groups=groups)
    one = groups == groups[0]
    with pytest.raises(ValueError, match=r"at least two queries.*or give `weights` as numbers"):
        with_candidates().fit(X[one], y[one], groups=groups[one])


# --- members -------------------------------------------------------------------------------------


def test_parameters_of_members(data):
    X, y, groups = data
    ranker = BlendedRanker(quick())
    assert ranker.get_params()["trees__n_estimators"] == 10
    ranker.set_params(trees__n_estimators=3, linear__lambdarank__max_iter=2)
    assert ranker.fit(X, y, groups=groups).named_estimators_["trees"].n_iter_ == 3
    ranker.set_params(linear="drop").fit(X, y, groups=groups)
    assert ranker.named_estimators_["linear"] == "drop"
    assert len(ranker.estimators_) == len(ranker.weights_) == 1
    ranker.set_params(weights=[2, 7]).fit(X, y, groups=groups)  # one for each, dropped or not
    assert ranker.weights_.tolist() == [2]
    ranker.set_params(trees=RankSVM()).fit(X, y, groups=groups)
    assert isinstance(ranker.estimators_[0], RankSVM)
    with pytest.raises(ValueError, match="All members of `estimators` are dropped"):
        ranker.set_params(trees="drop").fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("members", "error", "match"),
    [
        ([], ValueError, "list of one or more tuples"),
        ([RankSVM()], ValueError, "list of one or more tuples"),
        ([(1, RankSVM())], ValueError, "list of one or more tuples"),
        (RankSVM(), ValueError, "list of one or more tuples"),
        ([("a", RankSVM)], TypeError, "Member 'a' .* must be an estimator"),
        ([("a", StandardScaler())], TypeError, "`fit` and `predict`"),
        ([("a", None)], TypeError, "got None"),
        ([("a", RankSVM()), ("a", RankSVM())], ValueError, "not unique"),
        ([("a__b", RankSVM())], ValueError, "must not contain __"),
        ([("weights", RankSVM())], ValueError, "conflict"),
    ],
)
def test_members_that_are_refused(data, members, error, match):
    X, y, groups = data
    with pytest.raises(error, match=match):
        BlendedRanker(members).fit(X, y, groups=groups)


def test_what_fails_is_named(data):
    X, y, groups = data
    for where in ("fit", "predict"):
        failing = Failing(RuntimeError("no more memory"), where)
        ranker = BlendedRanker([("a", Column()), ("bad", failing)])
        with pytest.raises(RuntimeError, match=r'^BlendedRanker: member "bad": no more memory$'):
            ranker.fit(X, y, groups=groups)
        with pytest.raises(NotFittedError, match="interrupted or failed"):
            ranker.predict(X)
    inside = BlendedRanker([("b", BlendedRanker([("c", Failing(KeyError("k")))]))])
    with pytest.raises(KeyError, match='member "b": BlendedRanker: member "c": k'):
        inside.fit(X, y, groups=groups)


def test_what_fails_in_another_process_is_named(data):
    X, y, groups = data
    ranker = BlendedRanker([("a", RankSVM()), ("bad", RankSVM(C=-1))], n_jobs=2)
    with pytest.raises(ValueError, match=r'^BlendedRanker: member "bad": C == -1, must be > 0'):
        ranker.fit(X, y, groups=groups)


@pytest.mark.parametrize("error", [TwoArguments(3, "x"), OSError(2, "no such file", "f")])
def test_what_fails_is_named_in_a_note(data, error):
    X, y, groups = data
    with pytest.raises(type(error)) as caught:
        BlendedRanker([("bad", Failing(error))]).fit(X, y, groups=groups)
    assert caught.value.__notes__ == ['BlendedRanker: member "bad"']


def test_scores_of_a_wrong_shape(data):
    X, y, groups = data

    class Twice(Column):
        def predict(self, X):
            return np.tile(X[:, :1], (1, 2))

    with pytest.raises(ValueError, match='member "a": `predict` must give one score a row'):
        BlendedRanker([("a", Twice())]).fit(X, y, groups=groups)


def test_frozen_members_are_not_fitted_again(data):
    X, y, groups = data
    fitted = MPBoost(n_estimators=4).fit(X, y, groups=groups)
    pipeline = make_pipeline(StandardScaler(), RankSVM())
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(X, y, groups=groups)
    before = pickle.dumps(fitted)
    ranker = BlendedRanker(
        [("a", FrozenEstimator(fitted)), ("b", FrozenEstimator(pipeline)), ("c", RankSVM())]
    )
    half = groups < 20
    ranker.fit(X[half], y[half], groups=groups[half], query_weight=1.0 + groups[half] % 2)
    assert ranker.named_estimators_["a"].estimator is fitted
    assert pickle.dumps(fitted) == before
    weighted = RankSVM().fit(
        X[half], y[half], groups=groups[half], query_weight=1.0 + groups[half] % 2
    )
    members = [fitted, pipeline, weighted]
    expected = blend_within_queries(
        [m.predict(X).tolist() for m in members], [1, 1, 1], groups.tolist()
    )
    assert_allclose(ranker.predict(X, groups=groups), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(NotFittedError, match='member "a"'):
        BlendedRanker([("a", FrozenEstimator(MPBoost()))]).fit(X, y, groups=groups)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_frozen_members_are_not_copied(data, n_jobs):
    X, y, groups = data
    members = [FrozenEstimator(MPBoost(n_estimators=n).fit(X, y, groups=groups)) for n in (1, 2)]
    ranker = BlendedRanker([("a", members[0]), ("b", members[1])], n_jobs=n_jobs)
    assert ranker.fit(X, y, groups=groups).estimators_ == members
    ranker = BlendedRanker(
        [("a", RankSVM()), ("b", members[0]), ("c", RankSVM())], n_jobs=n_jobs
    ).fit(X, y, groups=groups)
    assert ranker.estimators_[1] is members[0]
    assert [type(m) for m in ranker.estimators_] == [RankSVM, FrozenEstimator, RankSVM]


def test_frozen_members_get_groups(data):
    X, y, groups = data
    fitted = FeatureRank(n_classes=4).fit(X, y, groups=groups)
    ranker = BlendedRanker([("a", FrozenEstimator(fitted))]).fit(X, y, groups=groups)
    expected = fitted.predict(X, groups=groups).tolist()
    expected = blend_within_queries([expected], [1], groups.tolist())
    assert_allclose(ranker.predict(X, groups=groups), expected, rtol=1e-8, atol=1e-8)


def test_frozen_members_that_may_have_seen_what_is_held_out(data):
    X, y, groups = data
    fitted = MPBoost(n_estimators=4).fit(X, y, groups=groups)
    ranker = BlendedRanker(
        [("a", FrozenEstimator(fitted)), ("b", RankSVM())], weights={"a": [0, 1]}
    )
    with pytest.warns(UserWarning, match="'a' is frozen.*give `X_val`"):
        ranker.fit(X, y, groups=groups)
    ranker.fit(X, y, groups=groups, X_val=X, y_val=y, groups_val=groups)


def test_members_that_learn_from_single_rows(data):
    X, y, _ = data
    alone = np.arange(len(y))
    ranker = BlendedRanker([("rows", RegressionRanker(n_estimators=3))])
    assert ranker.fit(X, y, groups=alone).n_queries_skipped_ == 0
    with pytest.raises(ValueError, match="No query has two rows"):
        ranker.set_params(rows=RankSVM()).fit(X, y, groups=alone)


# --- order, threads, and what is around a blend --------------------------------------------------


@pytest.mark.parametrize("standardize", ["query", "train"])
def test_scalers_in_members_do_not_see_the_order_of_rows(data, standardize):
    X, y, groups = data
    X = X * 10.0 ** np.arange(X.shape[1]) + 1 / 3
    ranker = with_candidates(standardize=standardize, random_state=0)
    expected = ranker.fit(X, y, groups=groups)
    rng = np.random.default_rng(0)
    for n_jobs in (1, 2):
        order = rng.permutation(len(y))
        ids = rng.permutation(groups.max() + 1)[groups].astype(str)
        model = clone(ranker).set_params(n_jobs=n_jobs).fit(X[order], y[order], groups=ids[order])
        assert_same(model, expected, X)
        assert_array_equal(model.predict(X, groups=ids), expected.predict(X, groups=groups))


def test_a_copy_predicts_the_same(data):
    X, y, groups = data
    ranker = with_candidates(random_state=0).fit(X, y, groups=groups)
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.predict(X, groups=groups), ranker.predict(X, groups=groups))


def test_the_backend_of_the_caller_fits_the_members(data):
    X, y, groups = data
    members = [("a", WhereFitted()), ("b", WhereFitted())]
    alone = BlendedRanker(members).fit(X, y, groups=groups)
    assert {m.thread_ for m in alone.estimators_} == {threading.get_ident()}
    with joblib.parallel_config("threading", n_jobs=2):
        together = BlendedRanker(members).fit(X, y, groups=groups)
        one = BlendedRanker(members, n_jobs=1).fit(X, y, groups=groups)
    assert threading.get_ident() not in {m.thread_ for m in together.estimators_}
    assert {m.thread_ for m in one.estimators_} == {threading.get_ident()}


@pytest.mark.parametrize("scoring", [None, get_scorer("ndcg@10")], ids=["default", "scorer"])
def test_searches(data, scoring):
    X, y, groups = data
    grid = {"trees__n_estimators": [2, 8], "weights": [None, [0, 1]], "linear": [RankSVM()]}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            BlendedRanker(quick()), grid, cv=GroupKFold(2), scoring=scoring, error_score="raise"
        ).fit(X, y, groups=groups)
        scores = cross_val_score(
            search.best_estimator_,
            X,
            y,
            cv=GroupKFold(2),
            scoring=scoring,
            params={"groups": groups},
        )
    assert scores.mean() == pytest.approx(search.best_score_, rel=1e-12)
    expected = []
    for train, test in GroupKFold(2).split(X, y, groups):
        model = clone(search.best_estimator_).fit(X[train], y[train], groups=groups[train])
        found = model.predict(X[test], groups=groups[test])
        expected.append(ndcg_score(y[test], found, groups[test], k=10))
    assert_allclose(scores, expected, rtol=1e-12)


def test_a_search_as_a_member(data):
    X, y, groups = data
    search = GridSearchCV(MPBoost(), {"n_estimators": [1, 5]}, cv=GroupKFold(2))
    ranker = BlendedRanker([("search", search)]).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        alone = clone(search).fit(X, y, groups=groups)
    assert ranker.estimators_[0].best_params_ == alone.best_params_
    assert_array_equal(ranker.estimators_[0].predict(X), alone.predict(X))


def test_in_a_pipeline(data):
    X, y, groups = data
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryScaler(), BlendedRanker(quick())).fit(X, y, groups=groups)
        found = pipeline.predict(X, groups=groups)
        score = pipeline.score(X, y, groups=groups)
    scaled = QueryScaler().fit_transform(X, groups=groups)
    alone = BlendedRanker(quick()).fit(scaled, y, groups=groups)
    assert_array_equal(found, alone.predict(scaled, groups=groups))
    assert score == alone.score(scaled, y, groups=groups)


def test_importances(data):
    X, y, groups = data
    ranker = BlendedRanker(columns(2)).fit(X, y, groups=groups)
    ours = permutation_importance(ranker, X, y, groups, n_repeats=2)
    scorer = get_scorer("ndcg@10")
    theirs = sklearn_importance(
        ranker, X, y, scoring=lambda e, X, y: scorer(e, X, y, groups=groups), n_repeats=2
    )
    for importances in (ours.importances_mean, theirs.importances_mean):
        assert (importances[2:] == 0).all()
        assert (importances[:2] != 0).all()


def test_groups_that_a_wrapper_does_not_hand_on(data):
    X, y, groups = data

    class Wrapper(RegressorMixin, BaseEstimator):
        def __init__(self, estimator):
            self.estimator = estimator

        def fit(self, X, y):
            return self

        def predict(self, X):
            return self.estimator.predict(X)

    ranker = BlendedRanker(columns(2)).fit(X, y, groups=groups)
    scorer = get_scorer("ndcg@10")
    with pytest.raises(ValueError, match=r"BlendedRanker\.predict got no `groups`"):
        scorer(Wrapper(ranker), X, y, groups)
    ranker.set_params(standardize="train")  # needs none
    assert scorer(Wrapper(ranker), X, y, groups) == scorer(ranker, X, y, groups)


def test_stacking_refuses_groups(data):
    """As the guide says."""
    X, y, groups = data
    stack = StackingRegressor(quick())
    with (
        sklearn.config_context(enable_metadata_routing=True),
        pytest.raises(TypeError, match=r"RidgeCV.fit got unexpected argument\(s\) {'groups'}"),
    ):
        stack.fit(X, y, groups=groups)


def quick_default(random_state):
    """The recommended blend with few rounds."""
    members, weights = DEFAULT(random_state)
    for _, member in members[:-1]:
        member.set_params(n_estimators=5, min_samples_leaf=2)
    return members, weights


DEFAULT = blended._default_estimators
NAMES = ["neighbours", "pairs", "swaps", "linear"]


def test_the_blend_by_default(data, monkeypatch):
    X, y, groups = data
    members, weights = quick_default(0)
    assert [name for name, _ in members] == NAMES
    ranker = BlendedRanker(members, weights=weights, random_state=0).fit(X, y, groups=groups)
    monkeypatch.setattr(blended, "_default_estimators", quick_default)
    default = BlendedRanker(random_state=0).fit(X, y, groups=groups)
    assert list(default.named_estimators_) == NAMES
    assert len(default.candidate_scores_) == len(weights["linear"])
    assert "estimators" in default.get_params()
    assert default.score(X, y, groups=groups) > 0.5
    assert_array_equal(ranker.weights_, default.weights_)
    assert_array_equal(ranker.predict(X, groups=groups), default.predict(X, groups=groups))
    equal = BlendedRanker(weights=[1, 1, 1, 1], random_state=0).fit(X, y, groups=groups)
    assert equal.weights_.tolist() == [1, 1, 1, 1]
    assert len(equal.candidate_scores_) == 0
    for name in NAMES:
        assert name in default._repr_html_()


@pytest.mark.parametrize("kind", ["missing", "sparse"])
def test_the_blend_by_default_takes_what_trees_take(data, monkeypatch, kind):
    X, y, groups = data
    monkeypatch.setattr(blended, "_default_estimators", quick_default)
    tags = BlendedRanker().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    if kind == "missing":
        X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        ranker = BlendedRanker(random_state=0).fit(X, y, groups=groups)
        assert np.isfinite(ranker.predict(X, groups=groups)).all()
        return
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense = BlendedRanker(random_state=0).fit(X, y, groups=groups)
    ranker = BlendedRanker(random_state=0).fit(sparse.csr_array(X), y, groups=groups)
    assert_array_equal(ranker.weights_, dense.weights_)
    scores = ranker.predict(sparse.csr_array(X), groups=groups)
    # Last digits of a linear function may decide which of two rows it puts first.
    assert_allclose(scores, dense.predict(X, groups=groups), rtol=0, atol=0.1)


def test_a_blend_within_queries_is_not_exported(data):
    X, y, groups = data
    ranker = BlendedRanker([("a", MPBoost(n_estimators=2))]).fit(X, y, groups=groups)
    with pytest.raises(TypeError, match="BlendedRanker cannot be stored as plain data: pickle it"):
        to_dict(ranker)
    with pytest.raises(ValueError, match='standardize="query" scores a row by the other rows of'):
        to_ranklib_xml(ranker)
    assert to_dict(ranker.estimators_[0])["class"] == "MPBoost"
