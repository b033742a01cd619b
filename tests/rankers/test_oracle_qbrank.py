# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The oracle of QBRank and GBRank by hand and by what the paper states, and both against it."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import qbrank as oracle
from oracles.qbrank import Objective, Pair
from oracles.tree import Growth, check_tree, grow, predict, regions
from strategies import examples, ranking_problems
from trees import parameters

from sklearn_ltr import GBRank, QBRank, RegressionRanker
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.losses.base import FURTHEST_STEP
from sklearn_ltr.rankers.qbrank import RankingRisk
from sklearn_ltr.ranking_data import RankingData

NAN = np.nan


# --- the oracle ----------------------------------------------------------------------------------


@st.composite
def objectives(draw, given=True):
    """An `Objective` on a small problem with some rows unlabelled; rows' queries; the margin.

    Queries follow each other. Unless `given` is false, its pairs may be given ones.
    """
    problem = draw(ranking_problems(max_queries=3, max_rows=6, max_features=1, missing=False))
    n = len(problem.y)
    query = np.unique(problem.groups, return_inverse=True)[1]
    order = np.argsort(query, kind="stable")
    query, label = query[order], problem.y[order]
    v = np.ones(n) if problem.query_weight is None else problem.query_weight[order]
    if not given:
        v = np.where(v > 0, v, 1.0)
    label[draw(st.lists(st.integers(0, n - 1), max_size=n // 2, unique=True))] = NAN
    margin = draw(st.sampled_from(["grade", 0.5, 1.0]))
    ties, tie_weight = [], 0.0
    if given and draw(st.booleans()):
        inside = [(i, j) for i in range(n) for j in range(n) if i != j and query[i] == query[j]]
        chosen = draw(st.lists(st.sampled_from(inside), max_size=12))
        weight = [draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in chosen]
        pairs = oracle.given_pairs(chosen, weight, margin)
    else:
        pairs = oracle.pairs_of_grades(label, query, margin)
        ties, tie_weight = oracle.tied_pairs(label, query), draw(st.sampled_from([0.0, 0.1, 2.0]))
    w = draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    return Objective(label, v, pairs, w, ties, tie_weight), query, margin


@st.composite
def with_scores(draw, n_vectors, given=True):
    """What `objectives` gives and that many vectors of scores."""
    objective, query, margin = draw(objectives(given))
    size = draw(st.sampled_from([0.1, 1.0, 10.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vectors = np.round(size * rng.normal(size=(n_vectors, objective.n)), 3)
    return (objective, query, margin, *vectors)


def test_the_example_of_one_pair():
    """Whose targets the paper does not bring together: the bound's close the gap in one step."""
    h = np.array([0.0, 0.7])
    objective = Objective(np.full(2, NAN), np.ones(2), [Pair(0, 1, 1.0)], w=1.0)
    assert objective.risk(h) == pytest.approx(1.7**2 / 2)
    assert_allclose(objective.gradient(h), [-1.7, 1.7])
    target, weight = objective.bound_target(h)
    assert_allclose(target, [0.85, -0.85])
    assert_allclose(weight, [2.0, 2.0])
    assert_allclose(h + target, [0.85, -0.15])  # 1 apart
    assert objective.line_search(h, target) == pytest.approx((1.0, np.inf))
    target, weight = objective.paper_target(h)
    assert_allclose(target, [1.7, -1.7])
    assert_allclose(weight, [1.0, 1.0])
    assert objective.line_search(h, target) == pytest.approx((0.5, np.inf))


def test_one_step_cannot_scale_pairs_and_labels_of_the_paper():
    """It goes too far in preferences that contradict, or not far enough in the labels."""
    h, label = np.array([0.0, 0.7, 0.0]), np.array([NAN, NAN, 2.0])
    objective = Objective(label, np.ones(3), oracle.given_pairs([(0, 1), (1, 0)]))
    results = []
    for targets in (objective.bound_target, objective.paper_target):
        g = targets(h)[0]
        s = oracle.nearest_to_zero(*objective.line_search(h, g))
        results.append(objective.risk(h + s * g))
    assert results[0] == pytest.approx(0.5 * (1 + 1) / 2)  # margins of 1 on both sides
    assert results[1] > results[0] + 0.05


def test_a_row_of_several_pairs_by_hand():
    # Row 1 loses to 0 by the margin 2 and beats 2 by the margin 1, a violation of 2 + 0.5 = 2.5
    # and of 1 - 0.5 = 0.5; row 0 also has the pair with 2, violated by 3.
    y, h = np.array([3.0, 1.0, 0.0]), np.array([0.0, 0.5, 0.0])
    pairs = oracle.pairs_of_grades(y, np.zeros(3))
    assert [tuple(p) for p in pairs] == [(0, 1, 2.0, 1), (0, 2, 3.0, 1), (1, 2, 1.0, 1)]
    objective = Objective(y, np.ones(3), pairs, w=0.5)
    assert objective.margins(h) == [2.5, 3.0, 0.5]
    assert_allclose(objective.gradient(h), [-0.5 * 5.5 - 1.5, 0.5 * 2 - 0.25, 0.5 * 3.5])
    assert_allclose(objective.bound(), [2.5, 2.5, 2.5])
    target, weight = objective.paper_target(h)
    assert_allclose(target, [(5.5 / 2 + 3) / 2, (-2 / 2 + 0.5) / 2, -3.5 / 2 / 2])
    assert_allclose(weight, [1.0, 1.0, 1.0])
    # A satisfied pair is averaged, too: the second one of row 0.
    h = np.array([0.0, 0.5, -4.0])
    assert_allclose(objective.paper_target(h)[0][0], (2.5 / 2 + 3) / 2)


def test_ties_and_weights_by_hand():
    y, v, h = np.array([1.0, 1.0, 0.0, NAN]), np.full(4, 3.0), np.array([2.0, 1.0, 0.0, 9.0])
    pairs, ties = oracle.pairs_of_grades(y, np.zeros(4)), oracle.tied_pairs(y, np.zeros(4))
    assert ties == [(0, 1)]
    objective = Objective(y, v, pairs, w=1.0, ties=ties, tie_weight=0.1)
    assert objective.risk(h) == pytest.approx(3 / 2 * 0.1)  # both pairs are satisfied
    assert_allclose(objective.gradient(h), [0.3, -0.3, 0.0, 0.0])
    assert_allclose(objective.bound(), [6 + 3 * 0.2, 6 + 3 * 0.2, 12.0, 0.0])
    target, weight = objective.paper_target(h)
    assert_allclose(target, [-0.1 / 1.1, 0.1 / 1.1, 0.0, 0.0])
    assert_allclose(weight, [3.0, 3.0, 3.0, 0.0])
    objective = Objective(np.full(2, NAN), np.ones(2), oracle.given_pairs([(0, 1)], [4.0]), w=0.5)
    assert objective.risk(np.zeros(2)) == pytest.approx(0.5 / 2 * 4)
    assert_allclose(objective.bound(), [4.0, 4.0])


@given(case=with_scores(2))
def test_gradient_by_central_differences(case):
    objective, _, _, h, g = case
    e = 1e-5
    slope = (objective.risk(h + e * g) - objective.risk(h - e * g)) / (2 * e)
    expected = objective.gradient(h) @ g
    size = np.abs(objective.gradient(h)) @ np.abs(g)
    # At a pair that just becomes satisfied the second derivative jumps.
    jump = e * objective.bound() @ g**2
    assert abs(slope - expected) <= 1e-7 * size + jump + 1e-9 * (1 + objective.risk(h))


@examples(300)
@given(case=with_scores(2))
def test_the_bound_holds(case):
    """(6), from everywhere and for steps of any size."""
    objective, _, _, h, g = case
    bound = objective.risk(h) + objective.gradient(h) @ g + g @ (objective.bound() * g) / 2
    assert objective.risk(h + g) <= bound + 1e-10 * (1 + abs(bound) + objective.risk(h))


@given(case=with_scores(1))
def test_the_bounds_targets_lower_the_risk(case):
    """By half of the gradient's square in units of W."""
    objective, _, _, h = case
    target, weight = objective.bound_target(h)
    gain = target @ (weight * target) / 2
    assert objective.risk(h + target) <= objective.risk(h) - gain + 1e-10 * (1 + objective.risk(h))


@examples(200)
@given(case=with_scores(2))
def test_line_search_finds_the_least_risk(case):
    objective, _, _, h, g = case
    low, high = objective.line_search(h, g)
    assert low <= high
    s = oracle.nearest_to_zero(low, high)
    least = objective.risk(h + s * g)
    steps = [s + d * (1 + abs(s)) for e in np.logspace(-5, 2, 15) for d in (-e, e)]
    risks = [objective.risk(h + t * g) for t in steps]
    assert least <= min(risks) + 1e-10 * (1 + least)
    for end in (low, high):
        if np.isfinite(end):
            assert objective.risk(h + end * g) <= least + 1e-9 * (1 + least)
            outside = end + (1 if end == high else -1) * 0.1 * (1 + abs(end))
            assert objective.risk(h + outside * g) > least


def regions_of(parts):
    return lambda target, weight, rows: [np.flatnonzero(parts == k) for k in np.unique(parts)]


def test_without_preferences_it_is_least_squares_boosting():
    rng = np.random.default_rng(0)
    label, v = rng.normal(size=12), np.repeat([1.0, 2.0], 6)
    parts = rng.integers(0, 3, 12)
    objective = Objective(label, v, [], w=0.5)
    h = np.full(12, np.average(label, weights=v))
    assert objective.start() == pytest.approx(h[0])
    for target in ("bound", "paper"):
        expected = h.copy()
        loop = oracle.qbrank(objective, 3, 0.3, regions_of(parts), target=target)
        for found in loop:
            for k in np.unique(parts):
                here = parts == k
                residual = (label - expected)[here]
                expected[here] += 0.3 * np.average(residual, weights=v[here])
            assert_allclose(found.h, expected)
            assert found.step == pytest.approx(1)


def test_pairs_alone_converge_to_no_loss():
    y = np.array([2.0, 1.0, 1.0, 0.0, 0.0])
    pairs = oracle.pairs_of_grades(y, np.zeros(5))
    for target in ("bound", "paper"):
        objective = Objective(y, np.ones(5), pairs, w=1.0)
        loop = oracle.qbrank(objective, 60, 1.0, regions_of(np.arange(5)), target=target)
        risks = [objective.risk(found.h) for found in loop]
        assert (np.diff([objective.risk(np.zeros(5)), *risks]) <= 1e-15).all()
        assert risks[-1] < 1e-12


def test_gbrank_by_hand():
    # Scores of 0: the pair (0, 1) asks for 1 and -1; (2, 3) is of another query, heavier.
    pairs = oracle.given_pairs([(0, 1), (2, 3), (2, 3)], [1.0, 1.0, 1.0])
    objective = Objective(np.full(4, NAN), np.ones(4), pairs)
    log = []

    def fit_tree(target, weight, rows):
        log.append((target, weight, rows))
        return [np.array([0, 2]), np.array([1]), np.array([3])]

    rounds = list(oracle.gbrank(objective, 9, 0.5, fit_tree))
    target, weight, rows = log[0]
    assert_allclose(target, [1, -1, 1, -1])
    assert_allclose(weight, [1, 1, 2, 2])
    assert rows == [0, 1, 2, 3]
    assert_allclose(rounds[0].h, np.array([1, -1, 1, -1]) * 0.5 / 2)
    # 0.25 + ... the pairs are 0.5 apart: targets -0.25 + 1 and 0.25 - 1.
    assert_allclose(log[1][0], [0.75, -0.75, 0.75, -0.75])
    assert_allclose(rounds[1].h, (2 * rounds[0].h + 0.5 * log[1][0]) / 3)
    # A satisfied pair is left out, and rows that are in no other are not grown on.
    pairs = oracle.given_pairs([(0, 1), (2, 3)])
    objective = Objective(np.full(4, NAN), np.ones(4), pairs)
    parts = np.array([0, 1, 2, 2])
    log.clear()

    def fit_parts(target, weight, rows):
        log.append(rows)
        return regions_of(parts)(target, weight, rows)

    first, second = oracle.gbrank(objective, 2, 4.0, fit_parts)
    assert_allclose(first.h, [2, -2, 0, 0])
    assert log == [[0, 1, 2, 3], [2, 3]]
    assert_allclose(second.h, [4 / 3, -4 / 3, 0, 0])
    assert len(list(oracle.gbrank(objective, 5, 4.0, regions_of(np.arange(4))))) == 1


# --- QBRank and GBRank against the oracle --------------------------------------------------------


class Problem:
    """What `fit` takes, and what is left of it without rows of weight 0.

    `fit` holds the keyword arguments, `X`, `y` and `query` the rows that are left; `pairs` says
    which pairs there are with a given margin. Weights `v` of the rows' queries are 1 on average
    over queries; over rows they are `v` divided by `mean_v`.
    """

    def __init__(self, X, y, groups, query_weight, preferences=None, preference_weight=None):
        self.fit = {"X": X, "y": y, "groups": groups, "query_weight": query_weight}
        self.preferences = preferences is not None
        of_row = np.ones(len(X)) if query_weight is None else query_weight
        kept = of_row > 0
        self.X, self.y = X[kept], y[kept]
        self.query = np.unique(groups[kept], return_inverse=True)[1]
        of_query = of_row[kept][np.unique(self.query, return_index=True)[1]]
        self.v = of_row[kept] / of_query.mean()
        self.mean_v = self.v.mean()
        self.n_queries = len(of_query)
        if self.preferences:
            self.fit |= {"preferences": preferences, "preference_weight": preference_weight}
            weight = np.ones(len(preferences)) if preference_weight is None else preference_weight
            there = kept[preferences[:, 0]] & (weight > 0)
            number = np.cumsum(kept) - 1
            self.given = number[preferences[there]], weight[there]
            if np.isnan(y).all():
                self.fit["y"] = None

    def pairs(self, margin):
        if self.preferences:
            return oracle.given_pairs(*self.given, margin)
        return oracle.pairs_of_grades(self.y, self.query, margin)


@st.composite
def problems(draw, *, labels=True):
    """A `Problem`; without `labels`, preferences stand alone and few grades are missing."""
    problem = draw(ranking_problems(grades=("three", "five", "continuous", "negative")))
    X, y, groups, query_weight = problem
    n = len(y)
    if draw(st.booleans()):
        y = y.copy()
        y[draw(st.lists(st.integers(0, n - 1), max_size=n // 2, unique=True))] = NAN
    if not draw(st.booleans()):
        return Problem(X, y, groups, query_weight)
    inside = np.argwhere((groups[:, None] == groups) & ~np.eye(n, dtype=bool))
    chosen = draw(st.lists(st.integers(0, len(inside) - 1), min_size=1, max_size=15))
    weight = None
    if draw(st.booleans()):
        element = st.sampled_from([0.0, 0.5, 1.0, 3.0])
        weight = np.array(draw(st.lists(element, min_size=len(chosen), max_size=len(chosen))))
        weight[0] = 2.0
    if not labels or draw(st.booleans()):
        y = np.full(n, NAN)
    return Problem(X, y, groups, query_weight, inside[chosen], weight)


class GrowthOfAnyWeights(Growth):
    """Rows without any weight have the mean 0."""

    def mean(self, node):
        H = self.sums(node.rows)[1]
        return super().mean(node) if H + self.l2 > 0 else 0.0

    def scale(self, rows):
        return super().scale(rows) if self.sums(rows)[1] + self.l2 > 0 else 0.0


ROUNDING = 1e-12  # targets up to this are nothing else


class Rounds:
    """The trees of a model and their coefficients, handed to the oracle one by one."""

    def __init__(self, model, X, rows=None):
        self.terms = [
            next(((c, tree) for c, tree in terms if tree.n_leaves > 1), None)
            for terms in model.model_.rounds
        ]
        if self.terms and self.terms[-1] is None:  # h_0 was all
            self.terms.pop()
        self.eta = model.learning_rate
        self.l2 = model.l2_regularization
        names = ("max_leaf_nodes", "max_depth", "min_samples_leaf")
        self.rules = {name: getattr(model, name) for name in names}
        self.X, self.rows = X, rows
        self.next = 0

    def growth(self, target, weight):
        return GrowthOfAnyWeights(self.X, target, weight=weight, l2=self.l2, **self.rules)

    def fit_tree(self, target, weight, rows):
        rows = list(rows) if self.rows is None else self.rows
        self.coefficient, self.tree = self.terms[self.next]
        self.next += 1
        if np.abs(target[rows]).max() > ROUNDING:
            check_tree(self.tree, self.growth(target, weight), rows, exact=False, rel=1e-4)
        found = regions(self.tree, self.X)
        self.leaves = [i for i, _ in found]
        return [rows for _, rows in found]

    def choose(self, low, high, g):
        """The model's step, which must be one of those that minimise, and not beyond all bounds.

        Where the targets are down to rounding, so is every step along `g`.
        """
        s = self.coefficient / self.eta
        low, high = np.clip([low, high], -FURTHEST_STEP, FURTHEST_STEP)
        off = max(low - s, s - high, 0.0)
        assert off <= 1e-7 * abs(s) or off * np.abs(g).max() <= 1e-9, (low, s, high)
        return s

    def check_end(self, target, weight, rows, line_search=None):
        """That no split lowers the squared error any more, or no step along it the risk."""
        rows = list(rows) if self.rows is None else self.rows
        growth = self.growth(target, weight)
        tree = grow(growth, rows)
        if sum(tree.gain) <= 1e-7 * self.growth(1 + np.abs(target), weight).scale(tuple(rows)):
            return
        assert line_search is not None, tree
        g = predict(tree, self.X)
        low, high = line_search(g)
        assert max(low, -high) * np.abs(g).max() <= 1e-9, (low, high, g)


qbrank_parameters = parameters | {
    "pair_weight": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    "margin": st.sampled_from(["grade", "grade", 0.5, 1.0]),
    "target": st.sampled_from(["bound", "paper"]),
    "tie_weight": st.sampled_from([0.0, 0.0, 0.1, 2.0]),
}


def objective_of(problem, params):
    """The oracle's objective, its rows to fit (None: all), and what the package divides R by."""
    w = params["pair_weight"]
    pairs = problem.pairs(params["margin"])
    ties = oracle.tied_pairs(problem.y, problem.query) if params["tie_weight"] > 0 else []
    if w > 0 and (pairs or params["tie_weight"] > 0):
        objective = Objective(problem.y, problem.v, pairs, w, ties, params["tie_weight"])
        return objective, None, problem.n_queries
    # Labels alone are least-squares boosting, whose weights are 1 on average over rows.
    labelled = np.flatnonzero(~np.isnan(problem.y)).tolist()
    v = problem.v / problem.mean_v
    return Objective(problem.y, v, [], 0.0), labelled, problem.n_queries / problem.mean_v


def risk_of(objective, query, target="bound", margin="grade"):
    """The package's objective on the same rows, which must be grouped by query."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    offsets = np.append(starts, len(query))
    data = RankingData.of(objective.label, offsets, objective.v[starts])
    parameters = {"pair_weight": objective.w, "tie_weight": objective.tie_weight}
    return RankingRisk(QBRank(margin=margin, target=target, **parameters), data)


@examples(200)
@given(case=with_scores(2, given=False), target=st.sampled_from(["bound", "paper"]))
def test_risk_training_set_and_step_equal_the_oracle(case, target):
    """At any scores and along any direction, also where no tree leads."""
    objective, query, margin, h, g = case
    if not objective.pairs and objective.tie_weight == 0:
        objective.w = 0.0
    risk = risk_of(objective, query, target, margin)
    risk.update(h)
    n_queries = query[-1] + 1
    mean_v = objective.v[np.flatnonzero(np.diff(query, prepend=-1))].mean()
    scale = mean_v * n_queries
    assert risk.loss * scale == pytest.approx(objective.risk(h), rel=1e-9, abs=1e-9)
    assert_allclose(risk.gradient * mean_v, objective.gradient(h), rtol=1e-9, atol=1e-9)
    targets, weights, _ = risk.training_set()
    expected = objective.bound_target(h) if target == "bound" else objective.paper_target(h)
    assert_allclose(targets, expected[0], rtol=1e-9, atol=1e-9)
    if objective.w > 0:
        assert_allclose(weights * mean_v, expected[1], rtol=1e-9)
    # As `choose` does: no step is beyond all bounds.
    low, high = np.clip(objective.line_search(h, g), -FURTHEST_STEP, FURTHEST_STEP)
    s = risk.step(h, g)
    assert low - 1e-7 * (1 + abs(low)) <= s <= high + 1e-7 * (1 + abs(high))


def test_line_search_ends_where_the_slope_is_rounding():
    """At scores that minimise along a direction up to the last bit; Newton's step is 1e-31."""
    h = np.array(3 * ["-0x1.364d9364d935cp-2"] + ["-0x1.22e8ba2e8ba2dp+0"])
    g = np.array(3 * ["-0x1.71c71c71c71c8p-2"] + ["0x1.4000000000000p-53"])
    h, g = (np.array([float.fromhex(x) for x in v]) for v in (h, g))
    y, query = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4, dtype=int)
    pairs, ties = oracle.pairs_of_grades(y, query), oracle.tied_pairs(y, query)
    objective = Objective(y, np.ones(4), pairs, 1.0, ties, 0.1)
    assert abs(risk_of(objective, query).step(h, g)) < 1e-9


@examples(200)
@given(problem=problems(), params=st.fixed_dictionaries(qbrank_parameters))
def test_qbrank_equals_the_oracle(problem, params):
    if problem.preferences:
        params["tie_weight"] = 0.0
    model = QBRank(4, **params)
    w, pairs = params["pair_weight"], problem.pairs(params["margin"])
    if (w == 0 or not pairs) and (w == 1 or np.isnan(problem.y).all()):
        with pytest.raises(ValueError, match="sample"):
            model.fit(**problem.fit)
        return
    model.fit(**problem.fit)
    objective, rows, divisor = objective_of(problem, params)
    rounds = Rounds(model, problem.X, rows)
    target, l2 = params["target"], params["l2_regularization"]
    loop = oracle.qbrank(
        objective,
        len(rounds.terms),
        params["learning_rate"],
        rounds.fit_tree,
        target=target,
        l2=l2,
        choose=rounds.choose,
    )
    h = np.full(objective.n, objective.start())
    before = objective.risk(h)
    losses = model.train_loss_
    for staged, loss, found in zip(model.staged_predict(problem.X), losses, loop, strict=False):
        h = found.h
        assert_allclose(staged, h, rtol=1e-7, atol=1e-7)
        assert_allclose(rounds.tree.value[rounds.leaves], found.values, rtol=1e-7, atol=1e-7)
        risk = objective.risk(h)
        assert loss == pytest.approx(risk / divisor, rel=1e-7, abs=1e-12)
        assert risk <= before + 1e-9 * (1 + before)
        before = risk
    assert rounds.next == len(rounds.terms)
    assert_allclose(model.predict(problem.X), h, rtol=1e-7, atol=1e-7)
    if model.n_iter_ < 4:
        targets = objective.bound_target if target == "bound" else objective.paper_target
        rounds.check_end(*targets(h), range(objective.n), partial(objective.line_search, h))


@examples(150)
@given(
    problem=problems(labels=False),
    params=st.fixed_dictionaries(
        parameters
        | {
            "learning_rate": st.sampled_from([0.5, 1.0, 3.0]),
            "margin": st.sampled_from(["grade", 0.5, 1.0]),
            "tie_weight": st.sampled_from([0.0, 0.0, 0.1, 1.0]),
        }
    ),
)
def test_gbrank_equals_the_oracle(problem, params):
    if not problem.preferences:
        problem = Problem(**problem.fit | {"y": np.nan_to_num(problem.fit["y"])})
    else:
        params["tie_weight"] = 0.0
    model = GBRank(5, **params)
    pairs = problem.pairs(params["margin"])
    if not pairs:
        with pytest.raises(ValueError, match="no preference pair"):
            model.fit(**problem.fit)
        return
    model.fit(**problem.fit)
    ties = [] if problem.preferences else oracle.tied_pairs(problem.y, problem.query)
    unlabelled = np.full(len(problem.v), NAN)
    objective = Objective(unlabelled, problem.v, pairs, 1.0, ties, params["tie_weight"])
    rounds = Rounds(model, problem.X)
    l2 = params["l2_regularization"]
    eta = params["learning_rate"]
    loop = oracle.gbrank(objective, len(rounds.terms), eta, rounds.fit_tree, l2=l2)
    h = np.zeros(objective.n)
    losses = model.train_loss_
    for staged, loss, found in zip(model.staged_predict(problem.X), losses, loop, strict=False):
        h = found.h
        assert_allclose(staged, h, rtol=1e-7, atol=1e-7)
        assert_allclose(rounds.tree.value[rounds.leaves], found.values, rtol=1e-7, atol=1e-7)
        assert loss == pytest.approx(objective.risk(h) / problem.n_queries, rel=1e-7, abs=1e-12)
        if any(abs(h[p.x] - h[p.y] - p.margin) <= 1e-12 for p in pairs):
            return  # rounding decides which pairs are violated
    assert rounds.next == len(rounds.terms)
    assert_allclose(model.predict(problem.X), h, rtol=1e-7, atol=1e-7)
    if model.n_iter_ < 5:
        target, weight, rows = oracle.violated(objective, h)
        if rows:
            rounds.check_end(target, weight, rows)


@examples(60)
@given(problem=ranking_problems(), params=st.fixed_dictionaries(parameters))
def test_without_pairs_qbrank_is_the_regression_ranker(problem, params):
    """By `pair_weight`, or because every query has one grade."""
    X, y, groups, query_weight = problem
    params["l2_regularization"] = 0.0  # what it takes off a step, the line search gives back
    expected = RegressionRanker(4, gain="linear", **params)
    expected.fit(X, y, groups, query_weight=query_weight)
    model = QBRank(4, pair_weight=0.0, **params).fit(X, y, groups, query_weight=query_weight)
    assert_same_model(model, expected, X)
    # One query a grade, which takes query weights of its own.
    weight = None if query_weight is None else 1.0 + y
    expected.fit(X, y, y, query_weight=weight)
    for w in (0.3, 0.5):
        model = QBRank(4, pair_weight=w, **params).fit(X, y, y, query_weight=weight)
        assert_same_model(model, expected, X)


def assert_same_model(model, expected, X):
    """The same splits and scores; trees of residuals that are down to rounding do not count."""
    splits = [[splits_of(tree) for tree in trees] for trees in map(trees_of, (model, expected))]
    n = max(map(len, splits))
    found, wanted = (trees + [[]] * (n - len(trees)) for trees in splits)
    assert found == wanted
    assert_allclose(model.predict(X), expected.predict(X), rtol=1e-9, atol=1e-9)


def trees_of(model):
    return [tree for _, tree in model.model_.terms if tree.n_leaves > 1]


def splits_of(tree):
    inner = np.flatnonzero(tree.gain > 1e-12)
    inner = inner[np.argsort(tree.left[inner])]
    return [(tree.feature[i], tree.threshold[i], tree.missing_right[i]) for i in inner]


@pytest.mark.parametrize("target", ["bound", "paper"])
@pytest.mark.parametrize("margin", ["grade", 1.0])
def test_pairs_that_can_be_separated_are(target, margin):
    """The optimum of pairs alone, a loss of 0, and the trees' thresholds have to find it."""
    rng = np.random.default_rng(0)
    X = rng.permutation(120).reshape(60, 2) / 10
    y, groups = np.floor(X[:, 0] / 3), np.arange(60) % 6
    params = {"pair_weight": 1.0, "margin": margin, "target": target}
    model = QBRank(150, 0.5, **params, min_samples_leaf=1).fit(X, y, groups)
    assert (np.diff(model.train_loss_) <= 0).all()
    assert model.train_loss_[-1] < 1e-6 * model.train_loss_[0]
    scores = model.predict(X)
    for pair in oracle.pairs_of_grades(y, groups, margin):
        assert scores[pair.x] - scores[pair.y] > 0.99 * pair.margin


@pytest.mark.slow
def test_more_rounds_come_closer_to_the_least_risk():
    """Of pairs and labels together, which cannot all be met: least squares says how far."""
    X, y, groups = make_ranking(n_queries=6, n_docs=8, n_features=10, random_state=0)
    objective = Objective(y, np.ones(len(y)), oracle.pairs_of_grades(y, groups, 2.0), 0.5)
    # The same method with every row in a leaf of its own needs no trees.
    h = np.zeros(len(y))
    for _ in range(3000):
        h = h + objective.bound_target(h)[0]
    least = objective.risk(h) / 6
    model = QBRank(
        600, 1.0, margin=2.0, max_leaf_nodes=len(y), min_samples_leaf=1, max_bins=None
    ).fit(X, y, groups)
    assert least * (1 - 1e-9) <= model.train_loss_[-1] <= least * 1.001
