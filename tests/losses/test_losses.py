# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses with a gradient and a bound of the curvature, against brute force and by their claims."""

import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import pair_losses as oracle
from ranked_rows import make as make_rows
from ranked_rows import scales, seeds
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from strategies import examples

from sklearn_ltr import QuadraticBoosting, interrupts, losses
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.labels import consistent_probability
from sklearn_ltr.losses.fidelity import STEEPEST
from sklearn_ltr.losses.listed_fidelity import LARGEST_CURVATURE
from sklearn_ltr.losses.xe_ndcg import GAMMAS
from sklearn_ltr.metrics import ndcg_score
from sklearn_ltr.ranking_data import RankingData

# Every public loss is tested with its defaults, and with these.
SETTINGS = {
    "SquaredHinge": [{"margin": 0.5}, {"pair_weighting": "query"}],
    "LogisticPairs": [
        {"sigmoid": 3.0},
        {"sigmoid": 0.5, "pair_weighting": "query"},
        {"target_probability": 0.8},
        {"target_probability": consistent_probability, "tie_weight": 0.3, "sigmoid": 2.0},
        {"tie_weight": 1.5},
    ],
    "ExponentialPairs": [
        {"distance": "binary", "pair_weighting": "query"},
        {"distance": "linear", "alpha": 0.7},
        {"distance": "logarithmic"},
    ],
    "FidelityPairs": [
        {"target_probability": 0.8},
        {"target_probability": 0.5},
        {"target_probability": consistent_probability},
        {"target_probability": 0.9, "tie_weight": 0.3},
        {"tie_weight": 1.5},
    ],
    "ListCosine": [{"center": False}],
    "ListCrossEntropy": [{"temperature": 0.3}],
    "ApproxNDCG": [{"temperature": 0.3}],
}
# What is not said of a loss is tested: a bound for any step, and indifference to a shift of the
# scores of a query and to queries without an order.
LOCAL = {
    "ApproxNDCG",
    "ExponentialPairs",
    "ListCrossEntropy",
    "ListLikelihood",
    "ListNDCGCrossEntropy",
}
POINTWISE = {"SquaredError"}
SHIFTED = [{"center": False}]  # settings with which a shift matters
DRAWN = {name for name in losses.__all__ if getattr(losses, name).bound.draws}
OF_GAINS = {"ApproxNDCG", "ListNDCGCrossEntropy"}  # which take no negative grades
WRONG = {
    "SquaredHinge": ("margin", [0, -1.0, np.nan, np.inf, "grades", None]),
    "LogisticPairs": ("sigmoid", [0, -1.0, np.nan, np.inf, "1", None]),
    "ExponentialPairs": ("beta", [0, -1.0, np.nan, np.inf, "1", None]),
    "FidelityPairs": ("target_probability", [0.4, 1.1, np.nan, "1", None, [0.6]]),
    "ListCosine": ("center", ["grades", None, 2, np.nan]),
    "ListCrossEntropy": ("temperature", [0, -1.0, np.nan, np.inf, "1", None]),
    "ApproxNDCG": ("temperature", [0, -1.0, np.nan, np.inf, "1", None]),
}
LOSSES = [
    getattr(losses, name)(**params)
    for name in losses.__all__
    for params in [{}, *SETTINGS.get(name, [])]
]
GLOBAL = [loss for loss in LOSSES if type(loss).__name__ not in LOCAL]
OF_ORDER = [loss for loss in LOSSES if type(loss).__name__ not in POINTWISE]
UNDRAWN = [loss for loss in LOSSES if type(loss).__name__ not in DRAWN]
OF_DIFFERENCES = [loss for loss in OF_ORDER if loss.get_params() not in SHIFTED]
METHODS = "value", "gradient", "curvature"


def _name(loss):
    """Without addresses of functions: all processes of a run must know a test by one name."""
    return re.sub(r"<function (\w+) at \w+>", r"\1", repr(loss))


each_loss = pytest.mark.parametrize("loss", LOSSES, ids=_name)
each_of_order = pytest.mark.parametrize("loss", OF_ORDER, ids=_name)


def make(seed, scale=1.0, *, loss=None):
    """Graded rows, scores and offsets that a loss, or one of a name, takes."""
    y, h, offsets = make_rows(seed, scale)
    name = loss if isinstance(loss, str) else type(loss).__name__
    return (np.abs(y) if name in OF_GAINS else y), h, offsets


def gammas(y, offsets):
    """What is drawn for arrays."""
    return np.random.default_rng(RankingData.of(y, offsets).seed(0, GAMMAS)).random(len(y))


def differences(f, h, step=1e-5):
    """Central differences of `f` along each score, a row for each."""
    moves = step * np.eye(len(h))
    return np.array([(f(h + move) - f(h - move)) / (2 * step) for move in moves])


def total(loss, y, offsets):
    return lambda h: loss.value(y, h, offsets).sum()


def all_of(loss, y, h, offsets):
    return [getattr(loss, method)(y, h, offsets) for method in METHODS]


@each_loss
@examples(25)
@given(seed=seeds, scale=scales)
def test_value_equals_brute_force(loss, seed, scale):
    y, h, offsets = make(seed, scale, loss=loss)
    of_query = oracle.VALUES[type(loss).__name__]
    rows = [y, h, gammas(y, offsets)] if type(loss).__name__ in DRAWN else [y, h]
    queries = [slice(*ends) for ends in pairwise(offsets)]
    params = loss.get_params()
    alike = params.pop("pair_weighting", "pair")
    expected = [of_query(*(of_row[q] for of_row in rows), **params) for q in queries]
    if alike == "query":
        counts = [sum(a > b for a in y[q] for b in y[q]) for q in queries]
        expected = np.array(expected) / np.maximum(counts, 1)
    assert_allclose(loss.value(y, h, offsets), expected, rtol=1e-12, atol=1e-13)


@each_loss
@examples(25)
@given(seed=seeds, scale=scales)
def test_gradient_equals_differences_of_the_value(loss, seed, scale):
    y, h, offsets = make(seed, scale, loss=loss)
    expected = differences(total(loss, y, offsets), h)
    gradient = loss.gradient(y, h, offsets)
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-4 + 1e-9 * total(loss, y, offsets)(h))


@each_loss
@examples(25)
@given(seed=seeds, scale=scales)
def test_curvature_bounds_the_hessian(loss, seed, scale):
    y, h, offsets = make(seed, scale, loss=loss)
    if isinstance(loss, losses.ExponentialPairs):  # whose differences of far scores are rounding
        h /= max(1, 2 * np.abs(h).max())
    hessian = differences(lambda at: loss.gradient(y, at, offsets), h)
    W = loss.curvature(y, h, offsets)
    assert (W >= 0).all()
    assert np.linalg.eigvalsh(np.diag(W) - (hessian + hessian.T) / 2).min() >= -1e-5


@pytest.mark.parametrize("loss", GLOBAL, ids=_name)
@examples(50)
@given(seed=seeds, scale=scales, length=st.sampled_from([0.1, 1.0, 5.0, 40.0]))
def test_curvature_bounds_any_step(loss, seed, scale, length):
    y, h, offsets = make(seed, scale, loss=loss)
    value, G, W = all_of(loss, y, h, offsets)
    steps = length * np.random.default_rng(seed).normal(size=(10, len(h)))
    # The step to where the bound is least, and steps of single rows and of two, are the tightest.
    best = -np.divide(G, W, out=np.zeros(len(h)), where=W > 0)
    apart = length * (np.eye(len(h)) - np.roll(np.eye(len(h)), 1, axis=0))
    for g in [*steps, *(length * np.eye(len(h))), *apart, best, 2 * best]:
        bound = value.sum() + G @ g + g @ (W * g) / 2
        assert total(loss, y, offsets)(h + g) <= bound + 1e-10 * (1 + abs(bound))


def test_bound_of_the_list_cross_entropy_is_not_for_long_steps():
    loss, y, offsets = losses.ListCrossEntropy(), np.array([30.0, 0.0]), np.array([0, 2])
    value, G, W = all_of(loss, y, y, offsets)
    g = np.array([0.0, 40.0])
    bound = value.sum() + G @ g + g @ (W * g) / 2
    assert total(loss, y, offsets)(y + g) > 9 > bound


def test_bound_of_the_list_likelihood_is_not_for_long_steps():
    loss, y, offsets = losses.ListLikelihood(), np.array([1.0, 0.0]), np.array([0, 2])
    h, g = np.array([30.0, 0.0]), np.array([0.0, 40.0])
    value, G, W = all_of(loss, y, h, offsets)
    bound = value.sum() + G @ g + g @ (W * g) / 2
    assert total(loss, y, offsets)(h + g) > 9 > bound


@pytest.mark.parametrize("name", sorted(LOCAL))
@examples(25)
@given(seed=seeds, scale=st.sampled_from([0.0, 3.0, 1000.0]))
def test_steps_of_losses_with_a_local_bound_are_at_most_1(name, seed, scale):
    _, G, W = all_of(getattr(losses, name)(), *make(seed, scale, loss=name))
    assert (np.abs(G) <= W * (1 + 1e-12)).all()


@each_loss
@examples(15)
@given(seed=seeds)
def test_rows_of_other_queries_do_not_matter(loss, seed):
    y, h, offsets = make(seed, 2.0, loss=loss)
    value, *of_rows = all_of(loss, y, h, offsets)
    if type(loss).__name__ in DRAWN:  # for as many rows as there are: the first query's stay
        offsets = offsets[:2]
    for q, (start, stop) in enumerate(pairwise(offsets)):
        own = all_of(loss, y[start:stop], h[start:stop], np.array([0, stop - start]))
        assert own[0] == pytest.approx(value[q : q + 1], rel=1e-13)
        for alone, beside in zip(own[1:], of_rows, strict=True):
            assert_allclose(alone, beside[start:stop], rtol=1e-13)


@pytest.mark.parametrize("loss", UNDRAWN, ids=_name)
@examples(15)
@given(seed=seeds)
def test_permuting_rows_permutes_results(loss, seed):
    y, h, offsets = make(seed, 2.0, loss=loss)
    rng = np.random.default_rng(seed)
    ends = pairwise(offsets)
    order = np.concatenate([start + rng.permutation(stop - start) for start, stop in ends])
    value, *of_rows = all_of(loss, y, h, offsets)
    permuted, *of_permuted = all_of(loss, y[order], h[order], offsets)
    assert_allclose(permuted, value, rtol=1e-12, atol=1e-14)
    for before, after in zip(of_rows, of_permuted, strict=True):
        assert_allclose(after, before[order], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("loss", OF_DIFFERENCES, ids=_name)
@examples(15)
@given(seed=seeds)
def test_a_shift_of_a_query_changes_nothing(loss, seed):
    y, h, offsets = make(seed, 2.0, loss=loss)
    h = np.round(8 * h) / 8  # so that the shift is exact
    shift = 512.0 * np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    before, after = all_of(loss, y, h, offsets), all_of(loss, y, h + shift, offsets)
    for old, new in zip(before, after, strict=True):
        assert_allclose(new, old, rtol=1e-10, atol=1e-11)


@each_of_order
def test_queries_without_an_order_give_zeros(loss):
    y, h = np.array([3.0, 1.0, 1.0, 1.0, 1.0, 0.0]), np.array([0.3, 0.1, 5.0, -2.0, 0.4, 0.2])
    value, G, W = all_of(loss, y, h, np.array([0, 1, 4, 6]))
    assert_array_equal(value[:2], 0)
    assert_array_equal(np.concatenate([G[:4], W[:4]]), 0)
    assert value[2] > 0
    assert (W[4:] > 0).all()


@each_loss
@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_huge_scores(loss, scale):
    y, h, offsets = np.array([1.0, 0, 0, 1, 1, 0]), np.array([1.0, -1, 1, -1, 1, 1]), [0, 2, 4, 6]
    with warnings.catch_warnings(action="error"), np.errstate(all="raise", under="ignore"):
        results = all_of(loss, y, scale * h, np.array(offsets))
    for result in results:
        assert np.isfinite(result).all()
    assert (results[2] >= 0).all()


@each_loss
def test_parameters_can_be_searched(loss):
    copy = clone(loss)
    assert copy is not loss
    assert copy.get_params() == loss.get_params()
    y, h, offsets = make(0, loss=loss)
    for own, of_copy in zip(all_of(loss, y, h, offsets), all_of(copy, y, h, offsets), strict=True):
        assert_array_equal(own, of_copy)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name):
    parameter, wrong = WRONG[name]
    y, h, offsets = make(0)
    for setting in wrong:
        loss = getattr(losses, name)(**{parameter: setting})
        for method in METHODS:
            with pytest.raises(ValueError, match=f"`{parameter}` must be"):
                getattr(loss, method)(y, h, offsets)


@pytest.mark.parametrize(
    ("y", "scores", "value"),
    [
        ([1, 0], [1000, 0], 0),
        ([1, 0], [0, 1000], 1000),
        ([1, 0], [-1000, -1000], 0.693147),
        ([2, 1], [1.5, 0.3], 0.263282),
    ],
)
def test_logistic_loss_of_two_rows(y, scores, value):
    y, scores, loss = np.array(y, float), np.array(scores, float), losses.LogisticPairs()
    # RankNet's loss of one pair is the list loss of two rows: alone, and beside a longer query.
    assert loss.value(y, scores, np.array([0, 2])) == pytest.approx([value], abs=1e-6)
    beside = np.concatenate([scores, 100 * np.sin(np.arange(50))])
    of_both = loss.value(np.concatenate([y, np.arange(50) % 3]), beside, np.array([0, 2, 52]))
    assert of_both[0] == pytest.approx(value, abs=1e-6)
    assert loss.value(y[::-1], scores[::-1], np.array([0, 2])) == pytest.approx([value], abs=1e-6)


def test_slope_of_a_lost_pair():
    y, scores, offsets = np.array([1.0, 0.0]), np.array([-1000.0, 0.0]), np.array([0, 2])
    assert_array_equal(losses.LogisticPairs().gradient(y, scores, offsets), [-1, 1])
    assert_array_equal(losses.LogisticPairs().gradient(y, -scores, offsets), [0, 0])


def test_list_cross_entropy_of_two_rows():
    y, offsets, loss = np.array([1.0, 0.0]), np.array([0, 2]), losses.ListCrossEntropy()
    p = 1 / (1 + np.exp(-1))
    for scores, value in [
        ([1e3, 0], 1e3 * (1 - p)),
        ([0, 1e3], 1e3 * p),
        ([-1e3, -1e3], np.log(2)),
    ]:
        assert_allclose(loss.value(y, np.array(scores), offsets), [value], rtol=1e-14)


@pytest.mark.parametrize(
    ("y", "scores", "value"),
    [
        ([1, 0], [1000, 0], 0),
        ([1, 0], [0, 1000], 1000),
        ([1, 0], [-1000, -1000], 0.693147),
        ([2, 1], [1.5, 0.3], 0.263282),
    ],
)
def test_list_likelihood_of_two_rows(y, scores, value):
    y, scores, loss = np.array(y, float), np.array(scores, float), losses.ListLikelihood()
    assert_allclose(loss.value(y, scores, np.array([0, 2])), [value], atol=5e-7)
    assert_allclose(loss.value(y[::-1], scores[::-1], np.array([0, 2])), [value], atol=5e-7)
    beside = np.concatenate([scores, 100 * np.sin(np.arange(50))])
    of_both = loss.value(np.concatenate([y, np.arange(50) % 3]), beside, np.array([0, 2, 52]))
    assert of_both[0] == loss.value(y, scores, np.array([0, 2]))[0]


@pytest.mark.parametrize("name", [name for name in losses.__all__ if name.startswith("List")])
@examples(50)
@given(seed=seeds, scale=st.sampled_from([0.0, 0.5, 3.0]))
def test_gradients_of_lists_in_more_digits(name, seed, scale):
    y, h, offsets = make(seed, scale, loss=name)
    loss = getattr(losses, name)()
    expected = differences(total(loss, y, offsets), h)
    assert_allclose(loss.gradient(y, h, offsets), expected, rtol=1e-7, atol=1e-8)


def test_list_likelihood_of_distinct_grades_is_that_of_plackett_and_luce():
    h = np.array([0.3, -1.0, 2.0, 0.5])
    y, loss = np.array([2.0, 3.0, 0.0, 1.0]), losses.ListLikelihood()
    best_first = h[[1, 0, 3, 2]]
    chosen = [np.exp(best_first[k]) / np.exp(best_first[k:]).sum() for k in range(4)]
    assert_allclose(loss.value(y, h, np.array([0, 4])), [-np.log(chosen).sum()], rtol=1e-14)


def test_list_likelihood_of_two_grades_is_a_multiple_of_the_softmax():
    y, h, offsets = np.array([1.0, 0, 1, 0, 0]), np.array([0.3, 0, 1, -2, 5]), np.array([0, 5])
    p = np.exp(h) / np.exp(h).sum()
    loss = losses.ListLikelihood()
    assert_allclose(loss.value(y, h, offsets), [-np.log(p[y == 1]).sum()], rtol=1e-14)
    assert_allclose(loss.gradient(y, h, offsets), 2 * p - y, rtol=1e-13)


def test_list_likelihood_where_the_best_rows_are_hopelessly_behind():
    # Sums of exponentials of shifted scores would underflow at each grade but the lowest.
    y, offsets = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 4])
    h = np.array([0.0, -1000.0, -2000.0, -3000.0])
    loss = losses.ListLikelihood()
    assert_allclose(loss.value(y, h, offsets), [6000.0], rtol=1e-15)
    assert_allclose(loss.gradient(y, h, offsets), [3, -1, -1, -1], rtol=1e-15)
    assert_allclose(loss.value(y, -h, offsets), [0.0], atol=1e-12)
    assert_allclose(loss.gradient(y, -h, offsets), 0.0, atol=1e-12)


def test_list_likelihood_of_a_long_query():
    n = 100_000
    rng = np.random.default_rng(0)
    y, h = rng.permutation(n).astype(float), 3 * rng.normal(size=n)
    best_first = h[np.argsort(-y)]
    left = np.logaddexp.accumulate(best_first[::-1])[::-1]
    value = losses.ListLikelihood().value(y, h, np.array([0, n]))
    assert_allclose(value, [(left - best_first).sum()], rtol=1e-12)


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("center", [True, False])
def test_largest_second_derivative_of_the_list_cosine(n, center):
    y, offsets, loss = np.arange(n) - (n - 1) / 2, np.array([0, n]), losses.ListCosine(center)
    g = y / np.linalg.norm(y)
    at = np.sqrt(n) * g / 2
    second = differences(lambda h: loss.gradient(y, h, offsets), at)
    W = loss.curvature(y, at, offsets)
    assert g @ second @ g == pytest.approx(W[0], rel=1e-7)
    assert np.linalg.eigvalsh(second).max() == pytest.approx(W[0], rel=1e-7)


def test_list_cosine_of_large_scores_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    y, h, offsets = rng.integers(0, 3, 20).astype(float), rng.normal(size=20), np.array([0, 20])
    paper = losses.ListCosine(center=False)
    cosine = y @ h / np.linalg.norm(y) / np.linalg.norm(h)
    assert_allclose(paper.value(y, 1e6 * h, offsets), [(1 - cosine) / 2], rtol=1e-10)
    pearson = losses.ListCosine().value(y, 1e6 * h, offsets)
    assert_allclose(pearson, [(1 - np.corrcoef(y, h)[0, 1]) / 2], rtol=1e-10)
    assert_allclose(losses.ListCosine().value(7 * y + 2, 1e6 * h, offsets), pearson, rtol=1e-12)


def test_curvature_of_the_logistic_loss_at_and_near_0():
    y, offsets, loss = np.array([1.0, 0.0]), np.array([0, 2]), losses.LogisticPairs()
    for d in (0.0, 5e-324, 1e-300, 1e-12, 0.9e-9, 1.1e-9, 1e-5):
        assert_allclose(loss.curvature(y, np.array([d, 0.0]), offsets), [0.5, 0.5], rtol=1e-10)
    assert_allclose(loss.curvature(y, np.array([1e3, 0.0]), offsets), [1e-3, 1e-3], rtol=1e-12)


def test_steepest_is_the_largest_second_derivative_of_the_fidelity():
    def second(o):
        s = 1 / (1 + np.exp(-o))
        return np.sqrt(s) * (1 - s) * (3 * s - 1) / 4  # of -sqrt(s)

    highest = minimize_scalar(lambda o: -second(o), bounds=(0, 3), method="bounded")
    assert -highest.fun == pytest.approx(STEEPEST, rel=1e-9)
    assert (second(np.linspace(-60, 60, 100_001)) <= STEEPEST * (1 + 1e-12)).all()
    # What bounds a fall of the loss is the other side, which is less.
    assert LARGEST_CURVATURE >= -second(np.linspace(-60, 60, 100_001)).min()
    assert LARGEST_CURVATURE < STEEPEST


def test_approximate_ndcg_of_far_scores_is_ndcg():
    rng = np.random.default_rng(0)
    y, h = rng.integers(0, 4, 30).astype(float), rng.permutation(30).astype(float)
    loss = losses.ApproxNDCG(temperature=1e-3)
    assert_allclose(loss.value(y, h, np.array([0, 30])), [1 - ndcg_score(y, h)], rtol=1e-12)


@pytest.mark.parametrize("temperature", [0.1, 8.0])
def test_temperature_of_the_approximate_ndcg_is_the_scale_of_trees(temperature):
    """The length of a step and the scores that it is taken from are in proportion to it."""
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    fits = [
        QuadraticBoosting(10, loss=losses.ApproxNDCG(T)).fit(X, y, groups=groups)
        for T in (1.0, temperature)
    ]
    scores = [fit.predict(X) for fit in fits]
    assert_allclose(scores[1], temperature * scores[0], rtol=1e-6, atol=1e-9)
    assert_allclose(fits[1].train_loss_, fits[0].train_loss_, rtol=1e-9)


def test_line_search_of_the_approximate_ndcg_keeps_pairs_within_reach():
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    ranker = QuadraticBoosting(30, 0.2, loss=losses.ApproxNDCG(2.0)).fit(X, y, groups=groups)
    moves = np.diff(list(ranker.staged_predict(X)), axis=0, prepend=0)
    farthest = np.abs(moves).max(axis=1)
    assert farthest.max() == pytest.approx(0.2 * 10 * 2.0, rel=0.01)
    assert (np.diff(ranker.train_loss_) <= 0).all()


def test_approximate_ndcg_of_a_long_query_in_parts(monkeypatch):
    """A kernel is called for a part of the rows at a time, so that interrupts are heard."""
    y, h, offsets = make(0, loss="ApproxNDCG")
    whole = all_of(losses.ApproxNDCG(), y, h, offsets)
    monkeypatch.setattr(interrupts, "NUMBERS_AT_A_TIME", 30)
    for one, other in zip(all_of(losses.ApproxNDCG(), y, h, offsets), whole, strict=True):
        assert_array_equal(one, other)
