# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gains that are given: as a list, a mapping or a function, wherever a gain is taken."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sklearn_ltr import AdaRank, LambdaMART, LambdaRank, RegressionRanker, SingleFeatureRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import dcg_score, get_metric, ndcg_score
from sklearn_ltr.scorers import get_scorer, make_ranking_scorer

EXPONENTIAL = (0, 1, 3, 7, 15)


def exponential(grades):
    return 2**grades - 1


WAYS = {
    "list": list(EXPONENTIAL),
    "array": np.array(EXPONENTIAL),
    "mapping": dict(enumerate(EXPONENTIAL)),
    "callable": exponential,
}
each_way = pytest.mark.parametrize("gain", WAYS.values(), ids=WAYS)


def problem():
    return make_ranking(20, n_features=4, n_informative=3, n_redundant=0, random_state=0)


@each_way
@given(seed=st.integers(0, 2**32 - 1), k=st.sampled_from([None, 1, 3]))
def test_metrics_with_the_gains_of_a_name(gain, seed, k):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 5, 12), rng.integers(0, 4, 12)
    groups = np.repeat([0, 1, 2], 4)
    for score in (ndcg_score, dcg_score):
        values = score(y, scores, groups, k=k, gain=gain, per_query=True).values
        assert_array_equal(values, score(y, scores, groups, k=k, per_query=True).values)


RANKERS = {
    "RegressionRanker": lambda gain: RegressionRanker(n_estimators=5, gain=gain),
    "LambdaMART": lambda gain: LambdaMART(n_estimators=5, metric=get_metric("ndcg", gain=gain)),
    "LambdaRank": lambda gain: LambdaRank(
        metric=get_metric("ndcg@5", gain=gain), max_iter=5, random_state=0
    ),
    "AdaRank": lambda gain: AdaRank(n_estimators=5, metric=get_metric("ndcg", gain=gain)),
    "SingleFeatureRanker": lambda gain: SingleFeatureRanker(scoring=get_metric("dcg", gain=gain)),
}


@each_way
@pytest.mark.parametrize("make", RANKERS.values(), ids=RANKERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rankers_with_the_gains_of_a_name(make, gain):
    X, y, groups = problem()
    ranker = make(gain).fit(X, y, groups=groups)
    expected = make("exponential").fit(X, y, groups=groups)
    assert_array_equal(ranker.predict(X), expected.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(X), expected.predict(X))


def test_other_gains_are_another_figure_and_another_model():
    y, scores = [2, 1, 0], [2.0, 3.0, 1.0]
    # Grade 2 at position 2, grade 1 at position 1.
    expected = (3 + 10 / np.log2(3)) / (10 + 3 / np.log2(3))
    assert ndcg_score(y, scores, gain=[0, 3, 10]) == pytest.approx(expected, rel=1e-15)
    assert dcg_score(y, scores, k=1, gain={2: 10, 1: 3, 0: 0.5}) == 3
    X, y, groups = problem()
    flat, steep = (
        RANKERS["LambdaMART"](g).fit(X, y, groups=groups) for g in ([0, 1, 1, 1, 1], "linear")
    )
    assert not np.array_equal(flat.predict(X), steep.predict(X))


def test_targets_are_the_gains():
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1, 2, 3], 10)
    ranker = RegressionRanker(
        n_estimators=1, learning_rate=1, min_samples_leaf=10, gain=[0, 2, 3, 9]
    )
    predicted = ranker.fit(X, y, groups=np.zeros(40)).predict(X)
    assert_array_equal(predicted, np.repeat([0.0, 2, 3, 9], 10))


def test_grades_that_a_mapping_names_may_be_any():
    y, scores = [-1, 0.5, 2], [3.0, 2.0, 1.0]
    gain = {-1: 0, 0.5: 1, 2: 4}
    assert dcg_score(y, scores, k=2, gain=gain) == pytest.approx(1 / np.log2(3), rel=1e-15)
    X = np.arange(40.0)[:, None]
    y = np.repeat([-1, 0.5], 20)
    ranker = RegressionRanker(n_estimators=1, learning_rate=1, gain=gain)
    assert_array_equal(ranker.fit(X, y, groups=np.zeros(40)).predict(X), np.repeat([0.0, 1.0], 20))


def test_metrics_and_scorers_by_name_take_gains():
    X, y, groups = problem()
    ranker = RegressionRanker(n_estimators=5).fit(X, y, groups=groups)
    expected = ndcg_score(y, ranker.predict(X), groups, k=5, gain=[0, 1, 1, 5, 9])
    scorer = make_ranking_scorer("ndcg@5", gain=[0, 1, 1, 5, 9])
    assert scorer(ranker, X, y, groups=groups) == expected
    metric = get_metric("ndcg@5", gain=np.array([0, 1, 1, 5, 9]))
    assert get_scorer(metric)(ranker, X, y, groups=groups) == expected
    assert metric == get_metric("ndcg@5", gain=[0, 1, 1, 5, 9])
    assert hash(metric) == hash(get_metric("ndcg@5", gain=(0, 1, 1, 5, 9)))
    assert "gain=(0.0, 1.0, 1.0, 5.0, 9.0)" in repr(metric)


WRONG = {
    "a grade without a gain": ([0, 1], r"has the grade 2, which `gain` does not list; .*\[0, 1\]"),
    "no key": ({0: 0, 2: 3}, r"has the grade 1, which `gain` does not list"),
    "falling": ([3, 1, 0], r"must not fall.* is 3 for the grade 0 and 1 for 1"),
    "negative": ([-1, 0, 1], r"finite and not negative; it is -1 for the grade 0"),
    "infinite": (
        {0: 0, 1: np.inf, 2: np.inf},
        r"finite and not negative; it is inf for the grade 1",
    ),
    "a wrong shape": (lambda grades: np.ones(1), r"`gain` returned shape \(1,\) for 3 distinct"),
    "a name": ("quadratic", r"`gain` must be one of \['exponential', 'linear'\].*'quadratic'"),
    "empty": ([], r"`gain` must be one of"),
    "a table": ([[0, 1], [2, 3]], r"`gain` must be one of"),
    "a number": (3, r"`gain` must be one of"),
}


@pytest.mark.parametrize(("gain", "match"), WRONG.values(), ids=WRONG)
def test_gains_that_are_none(gain, match):
    y, scores = [0, 1, 2], [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=match):
        ndcg_score(y, scores, gain=gain)
    with pytest.raises(ValueError, match=match):
        RegressionRanker(gain=gain).fit([[1], [2], [3]], y, groups=[0, 0, 0])


def test_a_preset_takes_no_gain_beside():
    with pytest.raises(ValueError, match=r"`like='lightgbm'` sets every switch"):
        ndcg_score([0, 1], [1.0, 2.0], like="lightgbm", gain=np.array([0, 1]))
