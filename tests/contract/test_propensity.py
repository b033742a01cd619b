# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inverse propensities of clicks: every ranker takes them rightly, or refuses by name."""

import inspect

import numpy as np
import pytest
import sklearn
from every_ranker import (
    RANKERS,
    always_draws,
    assert_alike,
    assert_same,
    has,
    make,
    takes_preferences,
)
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_ltr import (
    BlendedRanker,
    FRank,
    GBRank,
    LambdaMART,
    LambdaRank,
    LossRanker,
    QBRank,
    QuadraticBoosting,
    RankNet,
    RankSVM,
    RegressionRanker,
    losses,
)
from sklearn_ltr.labels import preference_pairs
from sklearn_ltr.scorers import make_ranking_scorer

TAKES = [
    R
    for R in RANKERS
    if "propensity" in inspect.signature(R.fit).parameters and R._no_propensity is None
]
REFUSES = [R for R in RANKERS if R not in TAKES]
OF_THEIR_OWN = [R for R in TAKES if R is not BlendedRanker]  # which hands them on

each = pytest.mark.parametrize("R", TAKES, ids=lambda R: R.__name__)
each_own = pytest.mark.parametrize("R", OF_THEIR_OWN, ids=lambda R: R.__name__)
each_other = pytest.mark.parametrize("R", REFUSES, ids=lambda R: R.__name__)

# What propensities need, where it is not the default.
NEEDS = {"query_norm": False, "pair_weight": 1.0}


def quick(R, **params):
    """A quick ranker, of parameters that propensities go with."""
    if R is BlendedRanker:
        members = [("pairs", RankSVM(C=0.01, tol=1e-13)), ("steps", make(FRank))]
        return BlendedRanker(members, **params)
    return make(R, **(NEEDS | params))


def clicks(seed=0, n_queries=40, n_grades=2):
    """Lists with about one click, and the propensity of each row."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), rng.integers(2, 9, n_queries))
    X = rng.normal(size=(len(groups), 3)).round(1)
    p = rng.choice([1.0, 0.5, 0.3, 0.1], len(groups))
    y = (rng.random(len(groups)) < p / (1 + np.exp(1 - X[:, 0]))).astype(float)
    if n_grades > 2:
        y *= rng.integers(1, n_grades, len(groups))
    return X, y, groups, p


def test_there_are_both():
    assert {R.__name__ for R in TAKES} >= {
        "LambdaMART", "LambdaRank", "YetiRank", "XENDCG", "ListNet", "MPBoost", "RankBoost",
        "FRank", "QBRank", "GBRank", "QuadraticBoosting", "RankNet", "LossRanker", "RankSVM",
    }  # fmt: skip
    assert {R.__name__ for R in REFUSES} >= {"ListMLE", "RankCosine", "RegressionRanker"}


@each
def test_equal_propensities_change_no_bit(R):
    X, y, groups, p = clicks(n_grades=3)
    expected = quick(R).fit(X, y, groups)
    for given in (np.full(len(y), 0.3), np.ones(len(y)), np.where(y > 0, 0.3, p)):
        assert_same(quick(R).fit(X, y, groups, propensity=given), expected, X)


@each
def test_a_single_click_does_not_cancel_its_propensity(R):
    """Of lists with one click each, the row that is seen rarely and clicked often is on top.

    Were it divided by within the list, the order would be that of the numbers of clicks.
    """
    clicked = np.repeat([0, 1], [60, 40])
    X = np.tile([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], (100, 1))
    y = (np.arange(3) == clicked[:, None]).astype(float).ravel()
    groups, p = np.repeat(np.arange(100), 3), np.tile([1.0, 0.25, 0.5], 100)
    naive = quick(R).fit(X, y, groups).predict(X[:3])
    assert naive[0] > naive[1] > naive[2]
    unbiased = quick(R).fit(X, y, groups, propensity=p).predict(X[:3])
    assert unbiased[1] > unbiased[0] > unbiased[2]


@each
def test_those_of_other_rows_do_not_matter(R):
    X, y, groups, p = clicks(n_grades=3)
    expected = quick(R).fit(X, y, groups, propensity=p)
    other = np.where(y > 0, p, np.random.default_rng(1).uniform(0.001, 1, len(p)))
    assert_same(quick(R).fit(X, y, groups, propensity=other), expected, X)


@each
def test_only_their_ratios_count(R):
    if always_draws(R) or R is LambdaRank:
        pytest.skip("draws by the order of rows, which goes by all that is known of them")
    X, y, groups, p = clicks()
    expected = quick(R).fit(X, y, groups, propensity=p)
    assert_allclose(
        quick(R).fit(X, y, groups, propensity=p / 3).predict(X),
        expected.predict(X),
        rtol=1e-6,
        atol=1e-9,
    )
    naive = quick(R).fit(X, y, groups)
    assert not np.allclose(naive.predict(X), expected.predict(X), rtol=1e-3)


@each
def test_order_of_rows_names_and_threads(R):
    X, y, groups, p = clicks(n_grades=3)
    X[3:9] = X[3]  # rows that cannot be told apart, but for their grades and propensities
    expected = quick(R).fit(X, y, groups, propensity=p)
    rng = np.random.default_rng(0)
    for n_jobs in (1, 2):
        rows = rng.permutation(len(y))
        names = np.array([f"query {g}" for g in rng.permutation(100)])[groups]
        model = quick(R, n_jobs=n_jobs)
        assert_same(model.fit(X[rows], y[rows], names[rows], propensity=p[rows]), expected, X)


@each
def test_of_lists_and_frames(R):
    X, y, groups, p = clicks()
    expected = quick(R).fit(X, y, groups, propensity=p)
    model = quick(R).fit(X, y, groups, propensity=p[:, None].tolist())
    assert_same(model, expected, X)


@each_own
def test_clip(R):
    X, y, groups, p = clicks()
    expected = quick(R).fit(X, y, groups, propensity=np.maximum(p, 0.4))
    model = quick(R, propensity_clip=0.4).fit(X, y, groups, propensity=p)
    assert_same(model, expected, X)
    with pytest.raises(ValueError, match="propensity_clip"):
        quick(R, propensity_clip=1.0).fit(X, y, groups)
    with pytest.raises(TypeError, match="propensity_clip"):
        quick(R, propensity_clip="none").fit(X, y, groups)


@each
def test_queries_of_no_weight_leave_no_trace(R):
    X, y, groups, p = clicks()
    weight = (groups % 4 > 0).astype(float)
    kept = weight > 0
    p[~kept] = 1e-3
    expected = quick(R).fit(X[kept], y[kept], groups[kept], propensity=p[kept])
    model = quick(R).fit(X, y, groups, query_weight=weight, propensity=p)
    assert_alike(model, expected, X) if R is BlendedRanker else assert_same(model, expected, X)


@each_own
def test_warm_start(R):
    if not has(R, "warm_start"):
        pytest.skip("has none")
    X, y, groups, p = clicks()
    expected = quick(R, n_estimators=8).fit(X, y, groups, propensity=p)
    model = quick(R, n_estimators=5, warm_start=True).fit(X, y, groups, propensity=p)
    model.set_params(n_estimators=8).fit(X, y, groups, propensity=p)
    assert_same(model, expected, X)


def of_pairs(R):
    """A ranker whose loss is a sum over pairs, and no penalty on it but a factor of the sum."""
    params = {"tol": 1e-13, "C": 0.01}
    if not has(R, "distance"):
        params |= {"alpha": 0.0}
    if has(R, "solver"):
        params |= {"tol": 1e-9, "max_iter": 1000}
    if has(R, "distance"):
        params |= {"distance": "binary"}
    if has(R, "margin"):
        params |= {"margin": 1.0}
    return quick(R, **params)


@pytest.mark.parametrize(
    "R",
    [R for R in OF_THEIR_OWN if takes_preferences(R) and R is not FRank],
    ids=lambda R: R.__name__,
)
@pytest.mark.parametrize("n_grades", [2, 4, 60])
@pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
def test_explicit_pairs_with_the_weight_of_the_winner(R, n_grades):
    """Of FRank, which gives the pairs of a query a share each, the loss is tested."""
    X, y, groups, p = clicks(n_grades=n_grades)
    pairs, _ = preference_pairs(y, groups)
    weight = p[y > 0].min() / p[pairs[:, 0]]
    expected = of_pairs(R).fit(X, None, groups, preferences=pairs, preference_weight=weight)
    model = of_pairs(R).fit(X, y, groups, propensity=p)
    rtol = 1e-9 if has(R, "n_estimators") else 1e-4
    assert_allclose(model.predict(X), expected.predict(X), rtol=rtol, atol=rtol * 1e-2)


@each_own
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (0.0, "`propensity` has 0 at row 3; .* was not clicked .* give 1"),
        (-0.5, "`propensity` has -0.5 at row 3; "),
        (1.5, "`propensity` has 1.5 at row 3; .* Divide"),
        (np.nan, "propensity"),
        (np.inf, "propensity"),
    ],
)
def test_numbers_that_are_none(R, wrong, message):
    X, y, groups, p = clicks()
    p[3] = wrong
    with pytest.raises(ValueError, match=message):
        quick(R).fit(X, y, groups, propensity=p)


@each
def test_of_another_shape(R):
    X, y, groups, p = clicks()
    for wrong in (p[:-1], np.ones((len(p), 2)), 0.5):
        with pytest.raises(ValueError, match="`propensity` must"):
            quick(R).fit(X, y, groups, propensity=wrong)


@pytest.mark.parametrize("R", [*filter(takes_preferences, TAKES)], ids=lambda R: R.__name__)
def test_not_with_preferences(R):
    X, _, groups, p = clicks()
    with pytest.raises(ValueError, match=r"`propensity`.*`preferences`.*`preference_weight`"):
        quick(R).fit(X, None, groups, preferences=[[0, 1]], propensity=p)


@each_other
def test_others_refuse_by_name(R):
    """Whatever is given, as to mend what is wrong with it would be of no use."""
    X, y, groups, p = clicks()
    nested = [p[groups == q].tolist() for q in np.unique(groups)]
    masked = np.ma.array(p, mask=np.arange(len(p)) == 3)
    for given in (p, np.ones(len(p)), p[:-1], 5.0, nested, masked, ["low"] * len(p), -p):
        with pytest.raises((TypeError, ValueError)) as caught:
            make(R).fit(X, y, groups, propensity=given)
        message = str(caught.value)
        assert message.startswith(R.__name__)
        assert "`propensity`" in message
        assert f", as {R._no_propensity}." in message
        assert "; " in R._no_propensity  # the reason, and the remedy
    make(R).fit(X, y, groups)


@each_own
def test_nothing_is_ignored(R):
    """What has no weights of clicks is refused, and the default is either taken or names what."""
    X, y, groups, p = clicks()
    for params, remedy in (
        ({"tie_weight": 0.5}, "`tie_weight`.*set it to 0"),
        ({"query_norm": True}, "query_norm=False"),
        ({"pair_weight": 0.5}, "pair_weight=1"),
        ({"metric": "map"}, 'metric="ndcg"'),
        ({"metric": "mrr@5"}, 'metric="ndcg"'),
    ):
        if has(R, next(iter(params))):
            with pytest.raises(ValueError, match=remedy):
                quick(R, **params).fit(X, y, groups, propensity=p)


@pytest.mark.parametrize("R", [QuadraticBoosting, LossRanker])
@pytest.mark.parametrize("name", losses.__all__)
def test_losses(R, name):
    X, y, groups, p = clicks()
    loss = getattr(losses, name)()
    if "propensity" in loss.abilities:
        naive = quick(R, loss=loss).fit(X, y, groups)
        model = quick(R, loss=loss).fit(X, y, groups, propensity=p)
        assert not np.allclose(model.predict(X), naive.predict(X), rtol=1e-3)
        return
    with pytest.raises(ValueError, match=rf"{name}\(.*takes no `propensity`"):
        quick(R, loss=loss).fit(X, y, groups, propensity=p)


@pytest.mark.parametrize("R", [RankNet, LossRanker, LambdaRank])
def test_batches(R):
    """Weights are relative to the largest of all rows, and not of a batch."""
    X, y, groups, p = clicks()
    given = {"groups": np.tile(groups, 2), "propensity": np.tile(p, 2)}
    given["groups"][len(groups) :] += 100
    given["propensity"][len(p) :] = 1.0  # another scale, of the same clicks
    params = {"hidden_layer_sizes": (3,), "max_iter": 3, "batch_size": 4}
    model = quick(R, **params).fit(np.tile(X, (2, 1)), np.tile(y, 2), **given)
    given["propensity"][len(p) :] = 0.1
    other = quick(R, **params).fit(np.tile(X, (2, 1)), np.tile(y, 2), **given)
    assert not np.allclose(model.predict(X), other.predict(X), rtol=1e-4)


@each
def test_routing(R):
    """They reach the ranker by default, through a pipeline and a search, row by row."""
    X, y, groups, p = clicks()
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), quick(R)).fit(X, y, groups=groups, propensity=p)
        grid = {"C": [0.01]} if has(R, "C") else {}
        search = GridSearchCV(quick(R), grid, cv=GroupKFold(2))
        search.fit(X, y, groups=groups, propensity=p)
    Z = StandardScaler().fit_transform(X)
    assert_same(pipeline[-1], quick(R).fit(Z, y, groups, propensity=p), Z)
    assert_same(search.best_estimator_, quick(R).fit(X, y, groups, propensity=p), X)


@pytest.mark.parametrize("R", [LambdaMART, GBRank, QBRank])
def test_held_out_queries(R):
    """What early stopping holds out keeps the propensities of its rows."""
    X, y, groups, p = clicks()
    scoring = make_ranking_scorer("dcg@10", propensity=True)
    model = quick(R, early_stopping=True, validation_fraction=0.3, scoring=scoring)
    assert len(model.fit(X, y, groups, propensity=p).validation_score_)
    with pytest.raises(ValueError, match=r"make_ranking_scorer.*propensity=True"):
        model.set_params(scoring="ndcg").fit(X, y, groups, propensity=p)


def test_members_of_a_blend():
    X, y, groups, p = clicks()
    members = [("svm", RankSVM(C=0.01)), ("rows", RegressionRanker(n_estimators=2))]
    with pytest.raises(TypeError, match=r'member "rows": RegressionRanker.fit\(\).*`propensity`'):
        BlendedRanker(members).fit(X, y, groups, propensity=p)
    members = [("svm", RankSVM(C=0.01)), ("ridge", Ridge())]
    with pytest.warns(UserWarning, match="member 'ridge' takes no `propensity`"):
        blend = BlendedRanker(members).fit(X, y, groups, propensity=p)
    alone = clone(members[0][1]).fit(X, y, groups, propensity=p)
    assert_same(blend.named_estimators_["svm"], alone, X)


def expected_clicks(a, p, one_click):
    """All lists of two documents, the first always above, with how likely each is.

    With `one_click` a list is there once for each of its clicks, the others taken for none.
    """
    lists = []
    for clicked in ([1, 0], [0, 1], [1, 1]):
        share = np.prod(np.where(clicked, p * a, 1 - p * a))
        copies = np.diag(clicked)[np.flatnonzero(clicked)] if one_click else [clicked]
        lists += [(share, copy) for copy in copies]
    weight, y = (np.array(column, dtype=float) for column in zip(*lists, strict=True))
    return np.repeat(weight, 2), y.ravel(), np.repeat(np.arange(len(weight)), 2)


@pytest.mark.parametrize("a", [(0.9, 0.5), (0.5, 0.9), (0.8, 0.9), (0.1, 0.11)])
@pytest.mark.parametrize("one_click", [False, True])
def test_what_is_left_of_the_bias(a, one_click):
    """Pairs of two clicks do not count, which turns the order of documents that are clicked often.

    With a list for each click, nothing is left: scores are the logarithms of attractiveness.
    """
    a, p = np.array(a), np.array([1.0, 0.4])
    weight, y, groups = expected_clicks(a, p, one_click)
    X, p_of_row = np.tile([[1.0], [0.0]], (len(y) // 2, 1)), np.tile(p, len(y) // 2)
    ranker = RankNet(alpha=0.0, tol=1e-10)
    scores = ranker.fit(X, y, groups, query_weight=weight, propensity=p_of_row).predict(X)
    lost = np.ones(2) if one_click else (1 - p * a)[::-1]
    assert scores[0] - scores[1] == pytest.approx(
        np.log(a[0] * lost[0] / (a[1] * lost[1])), rel=1e-5
    )
    turned = (1 / a[0] - 1 / a[1] < p[0] - p[1]) and a[1] > a[0]
    assert ((scores[0] > scores[1]) == (a[0] > a[1])) == (one_click or not turned)
