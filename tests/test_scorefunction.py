# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions and small nets: their derivatives, solvers and losses, against slow ones."""

import pickle
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import lambdas as slow_lambdas
from oracles import pair_losses as oracle
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression

from sklearn_ltr import LambdaRank, ListMLE, ListNet, RankCosine, RankNet
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.ranking_data import RankingData
from sklearn_ltr.scorefunction import ACTIVATIONS, ScoreFunction


def mean_of_pairs(y, s):
    """RankNet's loss of a query."""
    return oracle.logistic_pairs(y, s) / sum(
        y[i] > y[j] for i in range(len(y)) for j in range(len(y))
    )


# Rankers by what they minimise, and the loss of one query in plain loops.
SMOOTH = {
    ListNet(): partial(oracle.list_cross_entropy, temperature=1.0),
    ListNet(temperature=0.3): partial(oracle.list_cross_entropy, temperature=0.3),
    ListMLE(): oracle.list_likelihood,
    RankCosine(): oracle.list_cosine,
    RankCosine(center=False): partial(oracle.list_cosine, center=False),
    RankNet(pair_weighting="query"): mean_of_pairs,
}
ALL = [*SMOOTH, LambdaRank()]
each_smooth = pytest.mark.parametrize("ranker", SMOOTH, ids=repr)
each_ranker = pytest.mark.parametrize("ranker", ALL, ids=repr)
NETS = [(), (4,), (3, 2)]


def make(seed=0, n_queries=12, n_features=3, lengths=(2, 8)):
    """Features of different scales, grades 0 to 3 that depend on them, query ids and offsets."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(*lengths, n_queries)
    groups = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(groups), n_features))
    y = np.digitize(X[:, 0] - X[:, 1] / 2 + rng.normal(size=len(X)), [-0.5, 0.5, 1.5]).astype(float)
    return X * np.array([1.0, 10.0, 0.1, 5.0])[:n_features], y, groups, offsets_of(groups)


def offsets_of(groups):
    return np.flatnonzero(np.diff(groups, prepend=-1, append=-1)).astype(np.intp)


def fit(ranker, *data, **params):
    return clone(ranker).set_params(random_state=0, **params).fit(*data)


def slow_objective(of_query, X, y, offsets, alpha):
    """Mean loss of the queries with two grades, and the penalty, of a linear function."""
    queries = [slice(*ends) for ends in pairwise(offsets) if len(set(y[slice(*ends)])) > 1]

    def value(w):
        s = X @ w
        return np.mean([of_query(y[q], s[q]) for q in queries]) + alpha / 2 * w @ w

    return value


def slow_minimum(value, n_features):
    """Solution of a generic solver, which is not told the gradient."""
    found = minimize(
        value, np.zeros(n_features), jac="3-point", method="BFGS", options={"gtol": 1e-9}
    )
    assert np.abs(found.jac).max() < 1e-7
    return found.x


# Linear functions


@each_smooth
@pytest.mark.parametrize("alpha", [0.01, 0.3])
def test_linear_solution_equals_that_of_a_generic_solver(ranker, alpha):
    X, y, groups, offsets = make()
    X = X * [1.0, 0.1, 10.0]  # to one scale: differences have digits for all weights alike
    value = slow_objective(SMOOTH[ranker], X, y, offsets, alpha)
    expected = slow_minimum(value, X.shape[1])
    ranker = fit(ranker, X, y, groups, alpha=alpha, tol=1e-9)
    assert_allclose(ranker.coef_, expected, atol=1e-5 * np.abs(expected).max())
    assert_allclose(ranker.train_loss_[-1], value(expected), rtol=1e-9)
    assert (np.diff(ranker.train_loss_) <= 1e-12).all()
    assert_allclose(ranker.predict(X), X @ ranker.coef_, rtol=1e-13)


def test_ranknet_of_two_rows_is_logistic_regression_of_differences():
    rng = np.random.default_rng(0)
    n_queries, alpha = 80, 0.05
    X = rng.normal(size=(2 * n_queries, 4))
    difference = X[::2] - X[1::2]
    won = difference @ [1, -1, 0.5, 0] + rng.normal(size=n_queries) > 0
    y = np.column_stack([won, ~won]).ravel().astype(float)
    model = LogisticRegression(C=1 / (alpha * n_queries), fit_intercept=False, tol=1e-10)
    model.fit(difference, won)
    ranker = fit(RankNet(), X, y, np.repeat(np.arange(n_queries), 2), alpha=alpha, tol=1e-10)
    assert_allclose(ranker.coef_, model.coef_[0], rtol=1e-6)


def test_ranknet_takes_the_mean_over_all_pairs():
    X, y, groups, offsets = make(2, lengths=(2, 12))
    X = X * [1.0, 0.1, 10.0]
    weight = 1.0 + groups % 3
    pairs = [
        (i, j, weight[i])
        for start, stop in pairwise(offsets)
        for i in range(start, stop)
        for j in range(start, stop)
        if y[i] > y[j]
    ]
    winner, loser, v = (np.array(a) for a in zip(*pairs, strict=True))

    def value(w):
        s = X @ w
        return np.average(np.log1p(np.exp(s[loser] - s[winner])), weights=v) + 0.05 * w @ w

    expected = slow_minimum(value, X.shape[1])
    ranker = fit(RankNet(), X, y, groups, weight, alpha=0.1, tol=1e-9)
    assert_allclose(ranker.coef_, expected, atol=1e-5 * np.abs(expected).max())
    assert_allclose(ranker.train_loss_[-1], value(expected), rtol=1e-9)
    by_query = fit(RankNet(pair_weighting="query"), X, y, groups, weight, alpha=0.1, tol=1e-9)
    assert not np.allclose(by_query.coef_, ranker.coef_, rtol=0.01)


def test_batches_of_ranknet_weigh_pairs_as_all_queries_do():
    """The mean of the slopes of batches of one query is the slope of all."""
    X, y, groups, _ = make(3, lengths=(2, 12))
    with_grades = np.isin(groups, [q for q in np.unique(groups) if np.ptp(y[groups == q]) > 0])
    X, y, groups = X[with_grades], y[with_grades], groups[with_grades]
    data = RankingData.of(y, offsets_of(groups))
    ranker = RankNet()
    whole = ranker._weighed(data)
    scores = X @ [1.0, 0.1, 5.0]

    def slopes(data, scores):
        bound = ranker._bind(data)
        bound.update(scores)
        return bound.gradient

    one_by_one = [
        slopes(whole.batch(np.arange(whole.n_queries) == q), scores[groups == group])
        for q, group in enumerate(np.unique(groups))
    ]
    assert_allclose(np.concatenate(one_by_one), slopes(whole, scores), rtol=1e-12)


@each_smooth
def test_query_weight_repeats_queries(ranker):
    X, y, groups, _ = make(1)
    times = np.random.default_rng(0).integers(0, 4, groups[-1] + 1)
    copies = [np.flatnonzero(groups == q) for q, n in enumerate(times) for _ in range(n)]
    repeated = np.repeat(np.arange(len(copies)), [len(rows) for rows in copies])
    rows = np.concatenate(copies)
    tight = {"alpha": 0.1, "tol": 1e-9}
    weighted = fit(ranker, X, y, groups, 2.5 * times[groups], **tight)
    expected = fit(ranker, X[rows], y[rows], repeated, **tight)
    assert_allclose(weighted.coef_, expected.coef_, rtol=1e-6)
    assert_allclose(weighted.train_loss_[-1], expected.train_loss_[-1], rtol=1e-9)


@each_ranker
def test_queries_of_one_grade_change_nothing(ranker):
    X, y, groups, _ = make(2)
    more = np.random.default_rng(0).normal(size=(7, X.shape[1]))
    beside = fit(
        ranker,
        np.concatenate([X, 100 * more]),
        np.concatenate([y, np.full(4, 1.0), np.full(2, 2.0), [0.0]]),
        np.concatenate([groups, [100] * 4, [200] * 2, [300]]),
    )
    alone = fit(ranker, X, y, groups)
    assert_array_equal(beside.coef_, alone.coef_)
    assert beside.n_queries_skipped_ == alone.n_queries_skipped_ + 3


@each_ranker
@pytest.mark.parametrize("hidden", NETS)
def test_sparse_features(ranker, hidden):
    X, y, groups, _ = make(3)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0
    dense = fit(ranker, X, y, groups, hidden_layer_sizes=hidden, max_iter=20, alpha=0.1)
    few = fit(
        ranker, sparse.csr_array(X), y, groups, hidden_layer_sizes=hidden, max_iter=20, alpha=0.1
    )
    for one, other in zip(few.coefs_, dense.coefs_, strict=True):
        assert_allclose(one, other, rtol=1e-5, atol=1e-8)
    assert_allclose(few.predict(sparse.csr_array(X)), dense.predict(X), rtol=1e-5, atol=1e-8)


@each_ranker
def test_units_of_the_features_do_not_matter(ranker):
    X, y, groups, _ = make(4)
    units = 2.0 ** np.array([-20, 0, 13])  # exact
    # One batch, as the queries of a batch depend on what their rows hold.
    params = {"alpha": 0.0, "max_iter": 30, "batch_size": len(y)}
    before = fit(ranker, X, y, groups, **params)
    after = fit(ranker, X * units, y, groups, **params)
    assert_allclose(after.coef_ * units, before.coef_, rtol=1e-9)


@each_smooth
def test_a_constant_feature_gets_no_weight(ranker):
    X, y, groups, _ = make(5)
    if getattr(ranker, "center", True):
        X = np.column_stack([X, np.full(len(X), 7.0)])
        assert abs(fit(ranker, X, y, groups, alpha=0.1).coef_[-1]) < 1e-12


# Derivatives


def queries_of(X, y, offsets, seed=0):
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], len(offsets) - 1)
    return RankingData.of(y, offsets, weight, X=X)


def loss_at(function, parameters, ranker, data, alpha):
    """What `function` says of the loss of a ranker on some rows."""
    return function.loss(parameters, data.rows(), ranker._bind(data), alpha)


def parameters_of(function, seed=0):
    rng = np.random.default_rng(seed)
    return function.start(rng) + rng.normal(scale=0.3, size=len(function.start(rng)))


@each_smooth
@pytest.mark.parametrize("hidden", NETS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradient_equals_central_differences(ranker, hidden, activation):
    X, y, _, offsets = make(7)
    function = ScoreFunction(hidden, activation, X.std(axis=0))
    queries, at = queries_of(X, y, offsets), parameters_of(function)
    _, gradient = loss_at(function, at, ranker, queries, 0.1)
    moves = 1e-6 * np.eye(len(at))
    expected = [
        (
            loss_at(function, at + move, ranker, queries, 0.1)[0]
            - loss_at(function, at - move, ranker, queries, 0.1)[0]
        )
        / 2e-6
        for move in moves
    ]
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_net_against_loops(activation):
    X, _, _, _ = make(8)
    function = ScoreFunction((3, 2), activation, X.std(axis=0))
    at = parameters_of(function)
    (first, second, last), (b, c) = function.unpack(at)
    f = {"tanh": np.tanh, "logistic": lambda z: 1 / (1 + np.exp(-z)), "relu": lambda z: z * (z > 0)}
    f = f[activation]
    expected = [f(f(row @ first + b) @ second + c) @ last[:, 0] for row in X]
    assert_allclose(function.scores(at, X), expected, rtol=1e-12)


def test_penalty_is_of_the_weights_as_given_and_not_of_intercepts():
    X, y, _, offsets = make(9)
    function = ScoreFunction((4,), "tanh", X.std(axis=0))
    queries, at = queries_of(X, y, offsets), parameters_of(function)
    without, with_it = (loss_at(function, at, ListNet(), queries, a)[0] for a in (0.0, 0.7))
    weights, _ = function.unpack(at)
    assert_allclose(with_it - without, 0.35 * sum((w**2).sum() for w in weights), rtol=1e-10)
    assert_allclose(weights[0] * X.std(axis=0)[:, None], at[:12].reshape(3, 4), rtol=1e-13)


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("tied", [True, False])
def test_lambdas_equal_brute_force(k, tied):
    X, y, _, offsets = make(10, lengths=(2, 6))
    function = ScoreFunction((), "tanh", np.ones(X.shape[1]))
    w = np.zeros(X.shape[1]) if tied else np.array([0.3, -0.1, 2.0])
    weight = np.ones(len(offsets) - 1)
    ranker = LambdaRank(metric="ndcg" if k is None else f"ndcg@{k}")
    data = RankingData.of(y, offsets, weight, X=X)
    loss, gradient = loss_at(function, w, ranker, data, 0.0)
    s, expected = X @ w, []
    for q in (slice(*ends) for ends in pairwise(offsets)):
        T = q.stop - q.start
        delta = slow_lambdas.expected_changes(slow_lambdas.ndcg(y[q], k, T), y[q], s[q], T)
        expected.append(slow_lambdas.lambdas(delta, 2 ** y[q] - 1, s[q], 1.0, False)[0])
    assert_allclose(gradient, X.T @ np.concatenate(expected) / len(weight), rtol=1e-9, atol=1e-12)
    groups = np.repeat(np.arange(len(weight)), np.diff(offsets))
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        assert_allclose(1 - loss, ndcg_score(y, s, groups=groups, k=k), rtol=1e-12)


def test_lambdas_weigh_queries_in_a_batch_as_in_the_whole():
    X, y, _, offsets = make(11)
    function, at = ScoreFunction((), "tanh", np.ones(3)), np.array([0.3, -0.1, 2.0])
    queries = queries_of(X, y, offsets)

    def sum_of(data):
        return loss_at(function, at, LambdaRank(), data, 0.0)[1] * data.n_queries

    parts = np.arange(queries.n_queries) % 3 == np.arange(3)[:, None]
    assert_allclose(sum(sum_of(queries.batch(part)) for part in parts), sum_of(queries))


# Solvers


def test_first_step_of_adam_is_of_equal_length_for_all_parameters():
    X, y, groups, offsets = make(12)
    ranker = fit(LambdaRank(batch_size=100, max_iter=1, learning_rate_init=0.02), X, y, groups)
    informative = [len(set(y[slice(*ends)])) > 1 for ends in pairwise(offsets)]
    rows = np.repeat(informative, np.diff(offsets))
    function = ScoreFunction((), "tanh", X[rows].std(axis=0))
    queries = RankingData.of(y, offsets, X=X).select(np.array(informative))
    gradient = loss_at(function, np.zeros(3), ranker, queries, 0.0)[1]
    expected = -0.02 * np.sign(gradient) / X[rows].std(axis=0)
    assert_allclose(ranker.coef_, expected, rtol=1e-4)


@pytest.mark.slow
@each_smooth
def test_adam_comes_near_the_minimum(ranker):
    X, y, groups, _ = make(13, n_queries=30)
    settings = {"alpha": 0.01, "batch_size": 1000}
    best = fit(ranker, X, y, groups, tol=1e-8, **settings).train_loss_[-1]
    adam = fit(ranker, X, y, groups, solver="adam", max_iter=1500, **settings)
    assert adam.n_iter_ == 1500
    assert best - 1e-9 <= adam.train_loss_[-1] <= best + 1e-4 * abs(best)


@pytest.mark.slow
@pytest.mark.parametrize("ranker", [ListNet(), ListMLE(), RankCosine(), RankNet(), LambdaRank()])
@pytest.mark.parametrize("hidden", [(5,), (4, 3)])
def test_a_net_learns_what_a_linear_function_cannot(ranker, hidden):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 2))
    y = np.digitize(np.abs(X[:, 0]) + 0.5 * np.abs(X[:, 1]), [0.5, 0.8, 1.1]).astype(float)
    groups = np.repeat(np.arange(100), 15)
    net = fit(
        ranker, X, y, groups, hidden_layer_sizes=hidden, max_iter=100, learning_rate_init=0.03
    )
    assert net.score(X, y, groups) > 0.9
    assert fit(ranker, X, y, groups).score(X, y, groups) < 0.7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "ranker", [*ALL, *(clone(ranker).set_params(solver="lbfgs") for ranker in SMOOTH)], ids=repr
)
def test_nets_are_reproducible_and_blind_to_the_order_of_rows(ranker):
    X, y, groups, _ = make(14)
    params = {"hidden_layer_sizes": (4,), "max_iter": 15, "batch_size": 4, "tol": 0.05}
    first = fit(ranker, X, y, groups, **params)
    order = np.random.default_rng(0).permutation(len(y))
    again = fit(ranker, X[order], y[order], 3 * groups[order] + 5, n_jobs=2, **params)
    other = clone(first).set_params(random_state=1).fit(X, y, groups)
    for parts in ("coefs_", "intercepts_"):
        for one, two in zip(getattr(first, parts), getattr(again, parts), strict=True):
            assert_array_equal(one, two)
    assert not np.array_equal(first.coefs_[0], other.coefs_[0])
    copy = pickle.loads(pickle.dumps(first))
    assert_array_equal(copy.predict(X), first.predict(X))


def test_linear_functions_draw_nothing_at_random():
    X, y, groups, _ = make(15)
    one, two = (fit(ListNet(), X, y, groups), ListNet(random_state=7).fit(X, y, groups))
    assert_array_equal(one.coef_, two.coef_)


def test_lbfgs_says_if_it_has_not_converged():
    X, y, groups, _ = make(16)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        ranker = fit(ListNet(), X, y, groups, max_iter=2)
    assert ranker.n_iter_ == ranker.best_iteration_ == len(ranker.train_loss_) == 2


# Validation


@each_ranker
@pytest.mark.parametrize("hidden", [(), (6,)])
@pytest.mark.parametrize("given", [True, False])
def test_early_stopping_keeps_the_best_iteration(ranker, hidden, given):
    X, y, groups, _ = make(17, n_queries=60)
    train = groups < 40
    held_out = X[~train], y[~train], groups[~train]
    settings = {"hidden_layer_sizes": hidden, "n_iter_no_change": 5, "tol": 0.0, "max_iter": 150}
    if given:
        names = dict(zip(("X_val", "y_val", "groups_val"), held_out, strict=True))
        ranker = clone(ranker).set_params(random_state=0, early_stopping=True, **settings)
        ranker.fit(X[train], y[train], groups[train], **names)
    else:
        ranker = fit(ranker, X, y, groups, early_stopping=True, validation_fraction=0.3, **settings)
    scores = ranker.validation_score_
    assert ranker.n_iter_ == len(scores) == len(ranker.train_loss_)
    assert ranker.best_iteration_ == np.argmax(scores) + 1
    assert ranker.n_iter_ < 150
    assert ranker.n_iter_ - ranker.best_iteration_ <= 5
    if given:
        with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
            assert ranker.score(*held_out) == pytest.approx(scores.max(), rel=1e-12)


def test_validation_rows_alone_are_scored_and_stop_nothing():
    X, y, groups, _ = make(18, n_queries=40)
    train = groups < 30
    ranker = ListNet(n_iter_no_change=1, scoring="map").fit(
        X[train], y[train], groups[train], None, X[~train], y[~train], groups[~train]
    )
    plain = ListNet().fit(X[train], y[train], groups[train])
    assert_array_equal(ranker.coef_, plain.coef_)
    assert len(ranker.validation_score_) == ranker.n_iter_ == ranker.best_iteration_
    assert len(plain.validation_score_) == 0


# Parameters


def test_hidden_layer_sizes():
    X, y, groups, _ = make(19)
    one, two = (fit(ListNet(), X, y, groups, hidden_layer_sizes=s, max_iter=3) for s in (4, [4]))
    for a, b in zip(one.coefs_, two.coefs_, strict=True):
        assert_array_equal(a, b)
    assert [w.shape for w in one.coefs_] == [(3, 4), (4, 1)]
    assert [b.shape for b in one.intercepts_] == [(4,)]
    with pytest.raises(AttributeError, match="coefs_"):
        one.coef_  # noqa: B018
    assert not hasattr(ListNet(), "coef_")


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        ("hidden_layer_sizes", [0, (3, 0), (2.5,), "10"]),
        ("activation", ["identity", None]),
        ("alpha", [-1e-9, np.nan, np.inf, "1"]),
        ("learning_rate_init", [0, -1, np.nan]),
        ("batch_size", [0, 1.5]),
        ("max_iter", [0, 1.5]),
        ("tol", [-1, np.nan]),
        ("scoring", ["r2"]),
        ("validation_fraction", [0, 1]),
        ("n_iter_no_change", [0]),
    ],
)
@each_ranker
def test_wrong_parameters(ranker, parameter, values):
    X, y, groups, _ = make(20)
    names = f"{parameter}|metric"
    for value in values:
        with pytest.raises((ValueError, TypeError), match=names):
            fit(ranker, X, y, groups, **{parameter: value})


def test_wrong_parameters_of_single_rankers():
    X, y, groups, _ = make(20)
    with pytest.raises(ValueError, match="`solver` must be one of"):
        fit(ListNet(), X, y, groups, solver="sgd")
    with pytest.raises(ValueError, match="`center` must be"):
        fit(RankCosine(), X, y, groups, center="grades")
    with pytest.raises(ValueError, match="`metric` must be one of"):
        fit(LambdaRank(), X, y, groups, metric="precision@5")
    with pytest.raises(ValueError, match="grade"):
        fit(LambdaRank(), X, y - 1, groups)


def test_verbose(capsys):
    X, y, groups, _ = make(21)
    ranker = fit(ListNet(), X, y, groups, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == ranker.n_iter_ + 1
    assert f"loss {ranker.train_loss_[-1]:.6g}" in lines[-2]
    assert "L-BFGS has converged" in lines[-1]
