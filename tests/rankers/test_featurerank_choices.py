# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FeatureRank's inputs E and M of Table 1, the readings of equation (4), and scores by feature."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import featurerank as oracle
from strategies import examples, ranking_problems

from sklearn_ltr import FeatureRank
from sklearn_ltr.metrics import get_metric, ndcg_score
from sklearn_ltr.weak.hidden_order import HiddenOrder

rng = np.random.default_rng(0)
groups = np.repeat(np.arange(15), 20)
X = rng.random((300, 5))
y = X[:, 0] - 2 * np.abs(X[:, 1] - 0.6) + 0.1 * rng.normal(size=300)
graded = np.digitize(y, np.quantile(y, [0.5, 0.8, 0.95])).astype(float)


# --- equation (4) --------------------------------------------------------------------------------

LIST = np.array([0.55, 0.45, 1.1, 0.9, 0.1, -0.1])[:, None]  # centres 0, 1, .5 from 1 to 3


def test_the_readings_of_equation_4_by_hand():
    """They differ where a class has a centre above, or below, those of both its neighbours."""
    truth, one = np.arange(6.0, 0, -1), np.zeros(6)
    higher = FeatureRank(3).fit(LIST, truth, groups=one)
    lower = FeatureRank(3, neighbor="lower").fit(LIST, truth, groups=one)
    assert_allclose(lower.centers_, [[0, 1, 0.5]], atol=1e-12)
    assert_array_equal(higher.centers_, lower.centers_)
    for model, first_of_2 in ((higher, 0.9), (lower, 1.1)):
        order = LIST[np.argsort(-model.predict(LIST, groups=one)), 0]
        assert order[2] == first_of_2
    # Class 3 falls by both and class 1 rises, so that one and two pairs of 15 are wrong.
    assert lower.train_loss_[0] == pytest.approx(1 / 15)
    assert higher.train_loss_[0] == pytest.approx(2 / 15)


@given(
    centers=st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=6),
    values=st.lists(st.integers(-40, 40).map(lambda i: i / 10 + 0.03), min_size=1, max_size=9),
)
def test_the_lower_neighbour_is_the_oracle_s(centers, values):
    values = np.array(values)
    assume(min(oracle.class_of(v, centers)[1] for v in values) > 1e-9)
    order = HiddenOrder(np.array(centers), values, "lower")
    keys = [oracle.key(v, centers, lower=True) for v in values]
    position = order.training_ranks(values)
    assert_allclose(position, oracle.ranks(keys), rtol=1e-12)


# --- all of it -----------------------------------------------------------------------------------


def check_in_lock_step(problem, K, lower, columns, metric="kendall", E_of=None):
    X, y, groups, query_weight = problem
    neighbor = "lower" if lower else "higher"
    model = FeatureRank(K, columns=columns, metric=metric, neighbor=neighbor)
    model.fit(X, y, groups, query_weight=query_weight)
    used = range(columns) if isinstance(columns, int) else columns
    fitted = list(zip(model.centers_, model.beta_, strict=True))
    more = {"columns": used, "lower": lower, "E_of": E_of}
    rounds = list(oracle.featurerank(X, y, groups, K, query_weight, follow=fitted, **more))
    if min(r.margin for r in rounds) <= 1e-9:  # which class is the nearest is in doubt
        return False
    assert_array_equal(model.columns_, list(used))
    learnt = ~np.isnan(rounds[-1].f)
    stages = list(model.staged_predict(X, groups=groups))
    assert len(stages) == len(rounds)
    for m, expected in enumerate(rounds):
        assert_allclose(model.centers_[m], expected.centers, rtol=1e-11, atol=1e-13)
        assert_allclose(model.beta_[m], expected.beta, rtol=1e-9, atol=1e-12)
        assert_allclose(model.train_loss_[m], expected.T, rtol=1e-11, atol=1e-13)
        assert_array_equal(stages[m][learnt], expected.f[learnt])
    assert_array_equal(model.predict(X, groups=groups), stages[-1])
    return True


@examples(60)
@given(
    problem=ranking_problems(missing=False, grades=("three", "continuous", "negative")),
    K=st.sampled_from([2, 3, 7]),
    lower=st.booleans(),
    data=st.data(),
)
def test_equals_the_oracle(problem, K, lower, data):
    n = problem.X.shape[1]
    some = st.lists(st.integers(0, n - 1), min_size=1, unique=True)
    assume(check_in_lock_step(problem, K, lower, data.draw(st.integers(1, n) | some)))


def literal_E(y, scores):
    """Equations (1) and (2) as they stand: z all pairs, ties never wrong."""
    n = len(y)
    wrong = sum((y[i] - y[j]) * (scores[i] - scores[j]) < 0 for i in range(n) for j in range(i))
    return 1 - 2 * wrong / (n * (n - 1) / 2)


def test_equations_1_and_2_to_the_letter():
    metric = get_metric("kendall", ties="agree", denominator="all")
    assert check_in_lock_step((X, graded, groups, None), 8, False, 5, metric, literal_E)
    # A constant feature is perfect then.
    constant = np.column_stack([np.ones(300), X[:, 0]])
    assert FeatureRank(4, metric=metric).fit(constant, graded, groups).beta_[0] > 18


def test_ndcg_as_E():
    def E_of(y, scores):
        return ndcg_score(y, scores, k=5)

    assert check_in_lock_step((X, graded, groups, None), 8, True, [3, 0, 1], "ndcg@5", E_of)


def test_queries_that_the_metric_is_undefined_for():
    """AP needs a relevant row: without one a query counts as one of a single grade does."""
    shifted = np.where(groups < 3, np.minimum(graded, 1) - 1, graded)
    kept = groups >= 3
    with pytest.raises(ValueError, match="negative grade"):
        FeatureRank(4, metric="ndcg").fit(X, shifted, groups)
    low = np.where(kept, graded, graded / 8)  # a row is relevant from grade 1 on
    model = FeatureRank(4, metric="map").fit(X, low, groups)
    expected = FeatureRank(4, metric="map").fit(X[kept], graded[kept], groups[kept])
    assert_allclose(model.beta_, expected.beta_, rtol=1e-12)
    assert (model.n_queries_, model.n_queries_skipped_) == (15, 3)
    assert FeatureRank(4).fit(X, low, groups).n_queries_skipped_ == 0
    with pytest.raises(ValueError, match="With these `y`, map is undefined"):
        FeatureRank(4, metric="map").fit(X, graded / 8, groups)


# --- M -------------------------------------------------------------------------------------------


def test_columns_by_name_and_number():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    expected = FeatureRank(4, columns=[2, 0]).fit(X, y, groups)
    model = FeatureRank(4, columns=["c", "a"]).fit(frame, y, groups)
    assert_array_equal(model.columns_, [2, 0])
    assert_array_equal(model.predict(frame, groups), expected.predict(X, groups))
    alone = FeatureRank(4).fit(X[:, [2, 0]], y, groups)
    assert_allclose(alone.beta_, expected.beta_, rtol=1e-12)
    first = FeatureRank(4, columns=3).fit(X, y, groups)
    assert_array_equal(first.beta_, FeatureRank(4).fit(X, y, groups).beta_[:3])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"columns": 0}, "columns == 0, must be >= 1"),
        ({"columns": 6}, "columns == 6, must be <= 5"),
        ({"columns": []}, "`columns` must be a number of columns, a sequence"),
        ({"columns": "a"}, "`columns` must be a number of columns, a sequence"),
        ({"columns": 2.5}, "`columns` must be a number of columns, a sequence"),
        ({"columns": [0, 5]}, "`columns` has 5, which is no column"),
        ({"columns": [1, 0, 1]}, "`columns` must not name a column twice"),
        ({"metric": "dcg"}, "`metric` must have values between -1 and 1"),
        ({"metric": "neg_arp"}, "`metric` must have values between -1 and 1"),
        ({"metric": "tau"}, "Unknown metric 'tau'"),
        ({"neighbor": "next"}, "`neighbor` must be one of"),
    ],
)
def test_refused(params, message):
    with pytest.raises(ValueError, match=message):
        FeatureRank(4, **params).fit(X, y, groups)


# --- by feature ----------------------------------------------------------------------------------


def test_scores_by_feature_are_those_of_shorter_fits():
    model = FeatureRank(8).fit(X, y, groups)
    for told in ({"groups": groups}, {}):
        for m, scores in enumerate(model.staged_predict(X, **told), start=1):
            shorter = FeatureRank(8, columns=m).fit(X, y, groups)
            assert_array_equal(scores, shorter.predict(X, **told))
        assert m == 5


def test_a_display_hands_groups_on():
    plt = pytest.importorskip("matplotlib.pyplot")
    from sklearn_ltr.plotting import MetricByRoundDisplay

    model = FeatureRank(8).fit(X, y, groups)
    display = MetricByRoundDisplay.from_estimator(model, X, y, groups, metric="kendall")
    plt.close(display.figure_)
    assert_allclose(display.train_scores, 1 - 2 * model.train_loss_, rtol=1e-12)
