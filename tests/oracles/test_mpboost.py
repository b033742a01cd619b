# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The oracle itself: hand-computed examples, the paper's own text, and Theorem 1."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import RankingProblem, examples, ranking_problems

from oracles import mpboost as oracle

NAN = np.nan
STEPS = ("paper", "newton", "exact")
DISTANCES = (
    {"distance": "binary"},
    {"distance": "linear", "alpha": 0.3},
    {"distance": "linear", "alpha": 2.0},
    {"distance": "logarithmic"},
    {"distance": "logistic"},
    {"distance": lambda ri, rj: (ri - rj) ** 3 / 4},
)


def start_of(problem, **distance):
    winner, loser, q, rows = oracle.training_pairs(problem.y, problem.groups, problem.query_weight)
    d = oracle.directed_distance(problem.y[winner], problem.y[loser], **distance)
    w, _ = oracle.pair_weights(np.zeros(len(problem.y)), winner, loser, d, q)
    return winner, loser, d, w, rows


def test_directed_distances_by_hand():
    assert oracle.directed_distance(3, 1, "linear", alpha=0.3) == pytest.approx(0.6)
    assert oracle.directed_distance(1, 3, "logarithmic", lam=3.0) == pytest.approx(-np.log(7))
    # The smallest logistic distance of integer grades.
    assert oracle.directed_distance(2, 1, "logistic", beta=0.5) == pytest.approx(0.622, abs=5e-4)
    assert oracle.directed_distance(0, 4, "binary") == -1
    assert oracle.directed_distance(4, 0, lambda a, b: (a - b) / 8) == 0.5
    for name in ("linear", "logarithmic", "logistic", "binary"):
        assert oracle.directed_distance(2, 2, name) == 0


@given(
    r=st.lists(st.integers(-20, 20), min_size=4, max_size=4),
    kwargs=st.sampled_from(DISTANCES[1:5]),
)
def test_directed_distances_meet_requirements_3_and_4(r, kwargs):
    one = oracle.directed_distance(r[0], r[1], **kwargs)
    two = oracle.directed_distance(r[2], r[3], **kwargs)
    assert np.sign(one) == np.sign(r[0] - r[1])
    # The logistic function saturates in floating point at large differences.
    if abs(r[2] - r[3]) < abs(r[0] - r[1]):
        assert abs(one) > abs(two)


def test_pairs_and_weights_by_hand():
    y = np.array([2.0, 0.0, 1.0, 1.0, 1.0])
    groups = np.array(["b", "a", "b", "a", "a"])
    winner, loser = oracle.preference_pairs(y, groups)
    assert sorted(zip(winner.tolist(), loser.tolist(), strict=True)) == [(0, 2), (3, 1), (4, 1)]
    assert oracle.brute_force_pair_count(y, groups) == 3

    F = np.array([np.log(2), 0.0, 0.0, 0.0, -np.log(3)])  # binary: losses 1/2, 1, 3
    w, log_ratio = oracle.pair_weights(F, winner, loser, np.ones(3))
    by_pair = dict(zip(winner.tolist(), w, strict=True))
    assert by_pair == pytest.approx({0: 0.5 / 4.5, 3: 1 / 4.5, 4: 3 / 4.5})
    assert log_ratio == pytest.approx(np.log(4.5 / 3))

    q = np.array([2.0, 1.0, 2.0, 1.0, 1.0])[winner]  # losses 1, 1, 3 of 4 in place of 3
    w, log_ratio = oracle.pair_weights(F, winner, loser, np.ones(3), q)
    assert dict(zip(winner.tolist(), w, strict=True)) == pytest.approx({0: 0.2, 3: 0.2, 4: 0.6})
    assert log_ratio == pytest.approx(np.log(5 / 4))


def test_weights_do_not_overflow():
    F = np.array([0.0, 5000.0, -5000.0])
    w, log_ratio = oracle.pair_weights(F, np.array([0, 0]), np.array([1, 2]), np.ones(2))
    assert w.tolist() == [1.0, 0.0]
    assert log_ratio == pytest.approx(5000 - np.log(2))


def test_candidates_by_hand():
    X = np.array(
        [
            [1.0, 1.0, 5.0, NAN, NAN],
            [2.0, NAN, 5.0, NAN, 3.0],
            [4.0, 2.0, 5.0, NAN, 3.0],
            [4.0, 2.0, 5.0, NAN, 3.0],
        ]
    )
    assert oracle.candidates(X) == [
        (0, 1.5, True),  # three of four rows are above
        (0, 3.0, False),  # as many above as below
        (1, 1.5, False),
        (1, 1.5, True),
        (1, np.inf, True),
        (4, np.inf, True),
    ]


def test_signed_zeros_are_one_value():
    assert oracle.candidates(np.array([[0.0], [-0.0], [1.0]])) == [(0, 0.5, False)]


def test_above_by_hand():
    X = np.array([[1.0], [2.0], [NAN]])
    assert oracle.is_above(X, 0, 1.0, False).tolist() == [False, True, False]
    assert oracle.is_above(X, 0, 1.0, True).tolist() == [False, True, True]
    assert oracle.is_above(X, 0, np.inf, True).tolist() == [False, False, True]


def test_steps_by_hand():
    # Grades 2, 1, 0; the stump lifts the rows of grades 2 and 0. Pairs (2,1) in A1, (1,0) in B2,
    # (2,0) in A2. LDD with alpha = 1/2: distances .5, .5, 1.
    X = np.array([[1.0], [0.0], [1.0]])
    winner, loser = np.array([0, 0, 1]), np.array([1, 2, 2])
    d = np.array([0.5, 1.0, 0.5])
    w = np.array([0.5, 0.25, 0.25])
    split = oracle.Candidate(0, 0.5, True)

    paper = oracle.evaluate(X, w, winner, loser, d, split)
    assert (paper.num, paper.den, paper.den2) == (0.125, 0.75, 0.1875)
    assert paper.n_crossing == 2
    assert paper.a == pytest.approx(1 / 6)
    assert paper.gain == pytest.approx(1 / 48)

    newton = oracle.evaluate(X, w, winner, loser, d, split, "newton")
    assert newton.a == pytest.approx(2 / 3)
    assert newton.gain == pytest.approx(1 / 12)

    # One distance only: s = log((w_A1 + eps) / (w_B2 + eps)) / (2 d) with eps = 1 / 6.
    exact = oracle.evaluate(X, w, winner, loser, d, split, "exact")
    assert exact.a == pytest.approx(np.log((1 / 2 + 1 / 6) / (1 / 4 + 1 / 6)))
    assert exact.gain == newton.gain


@pytest.mark.parametrize("step", STEPS)
def test_no_crossing_pair_gains_nothing(step):
    X = np.array([[1.0], [1.0], [0.0]])
    one = np.array([1.0])
    evaluation = oracle.evaluate(
        X, one, np.array([0]), np.array([1]), one, oracle.Candidate(0, 0.5, True), step
    )
    assert (evaluation.n_crossing, evaluation.a, evaluation.gain) == (0, 0.0, 0.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_steps_are_clipped(sign):
    # LDD, alpha = 10: the paper's step is 10 and would multiply the weight by exp(-100).
    X = sign * np.array([[1.0], [-1.0]])
    (only,) = oracle.mpboost(X, [1, 0], [0, 0], 1, distance="linear", alpha=10.0)
    assert only.stump == (0, 0.0, 3.0 * sign, False)
    assert only.Z == pytest.approx(np.exp(-30))
    assert only.gain == pytest.approx(100)


def test_ties_go_to_the_lowest_feature_then_threshold():
    # The second column copies the first, the third is its complement; in each, both thresholds
    # split off one pair of the two.
    x = np.array([0.0, 1.0, 2.0, 1.0])
    X = np.column_stack([np.zeros(4), x, x, 2 - x])
    y, groups = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    (first,) = oracle.mpboost(X, y, groups, 1, distance="binary")
    assert first.stump == (1, 0.5, 1.0, True)
    assert first.gain == pytest.approx(0.5)
    assert first.gap == 1.0
    # A complement in front takes over, with a negative step: its lowest threshold does as well.
    (first,) = oracle.mpboost(X[:, [3, 1]], y, groups, 1, distance="binary")
    assert first.stump == (0, 0.5, -1.0, True)


def test_missing_values_choose_their_side():
    # Missing rows are the best ones: above, together with the value 1.
    X = np.array([[NAN], [1.0], [0.0], [NAN]])
    y, groups = np.array([1, 1, 0, 1]), np.zeros(4)
    (first,) = oracle.mpboost(X, y, groups, 1, distance="binary")
    assert first.stump == (0, 0.5, 1.0, True)
    # Missing and 0 are alike: below.
    (first,) = oracle.mpboost(X, np.array([0, 1, 0, 0]), groups, 1, distance="binary")
    assert first.stump == (0, 0.5, 1.0, False)
    # Only what is missing matters.
    (first,) = oracle.mpboost(X, np.array([1, 0, 0, 1]), groups, 1, distance="binary")
    assert first.stump == (0, np.inf, 1.0, True)


def test_rows_without_weight_do_not_train_and_rows_without_pairs_do():
    X = np.array([[0.0], [1.0], [0.5], [NAN]])
    y = np.array([0, 1, 0, 1])
    groups = np.array([0, 0, 1, 2])
    (first,) = oracle.mpboost(X[:3], y[:3], groups[:3], 1, distance="binary")
    assert first.stump.threshold == 0.25
    weight = np.array([1.0, 1.0, 0.0, 0.0])
    (first,) = oracle.mpboost(X, y, groups, 1, distance="binary", query_weight=weight)
    assert first.stump == (0, 0.5, 1.0, False)
    assert first.F.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_two_rounds_by_hand():
    # Three queries of one pair each: feature 0 is right in the first two, wrong in the third.
    X = np.array([[1.0], [0.0]] * 2 + [[0.0], [1.0]])
    y, groups = np.array([1, 0] * 3), np.repeat([0, 1, 2], 2)
    one, two = oracle.mpboost(X, y, groups, 2, distance="binary")
    assert one.stump == (0, 0.5, pytest.approx(1 / 3), False)
    assert one.gain == pytest.approx(1 / 9)
    Z = (2 * np.exp(-1 / 3) + np.exp(1 / 3)) / 3
    assert one.Z == pytest.approx(Z)
    share = np.exp(1 / 3) / 3 / Z
    assert one.w == pytest.approx([(1 - share) / 2, (1 - share) / 2, share])
    assert two.stump.value == pytest.approx(1 - 2 * share)
    assert np.exp(two.log_bound) == pytest.approx(one.Z * two.Z)
    assert oracle.step_predict([(1.0, one.stump), (1.0, two.stump)], X) == pytest.approx(two.F)
    # The exact step lands on the minimum of the smoothed loss at once.
    exact = list(oracle.mpboost(X, y, groups, 1, distance="binary", step="exact"))
    assert exact[0].stump.value == pytest.approx(np.log((2 / 3 + 1 / 6) / (1 / 3 + 1 / 6)) / 2)
    # Half the rate: half the scores.
    (half,) = oracle.mpboost(X, y, groups, 1, distance="binary", learning_rate=0.5)
    assert half.stump == one.stump
    assert half.F == pytest.approx(one.F / 2)


def test_stops_when_nothing_is_left_to_gain():
    X = np.array([[1.0], [0.0], [0.0], [1.0]])
    assert list(oracle.mpboost(X, [1, 0, 1, 0], [0, 0, 1, 1], 5)) == []
    assert list(oracle.mpboost(np.ones((2, 1)), [1, 0], [0, 0], 5)) == []
    assert list(oracle.mpboost(np.full((2, 1), NAN), [1, 0], [0, 0], 5)) == []


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.0])
def test_paper_step_is_newton_step_times_squared_distance(alpha):
    """The paper's step is short for |d| < 1, and overshoots for |d| > 1."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (40, 3)) / 8
    y = rng.integers(0, 2, 40)
    groups = rng.integers(0, 4, 40)
    winner, loser = oracle.preference_pairs(y, groups)
    d = np.full(len(winner), alpha)
    w, _ = oracle.pair_weights(rng.normal(size=40), winner, loser, d)
    for candidate in oracle.candidates(X):
        paper = oracle.evaluate(X, w, winner, loser, d, candidate, "paper")
        newton = oracle.evaluate(X, w, winner, loser, d, candidate, "newton")
        assert paper.a == pytest.approx(alpha**2 * newton.a)

    one = {"distance": "linear", "alpha": alpha, "step": "newton"}
    rounds = zip(
        oracle.mpboost(X, y, groups, 5, **one),
        oracle.mpboost(X, y, groups, 5, distance="binary"),
        strict=True,
    )
    for newton, binary in rounds:  # two grades: identical losses
        assert newton.Z == pytest.approx(binary.Z)
        assert newton.F * alpha == pytest.approx(binary.F)


def graded_problem(signal=0.15):
    """Twelve queries with grades 0-3 and a little signal."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(12), 8)
    y = rng.integers(0, 4, len(groups))
    X = np.round(8 * (signal * y[:, None] + rng.normal(size=(len(groups), 4)))) / 8
    return X, y, groups


def test_small_distances_shrink_and_large_ones_overshoot():
    X, y, groups = graded_problem(signal=0.0)
    Z, value = {}, {}
    for alpha in (0.3, 2.0):
        for step in STEPS:
            (first,) = oracle.mpboost(X, y, groups, 1, distance="linear", alpha=alpha, step=step)
            Z[step, alpha], value[step, alpha] = first.Z, first.stump.value
    assert abs(value["paper", 0.3]) < 0.6 * abs(value["newton", 0.3])
    assert Z["newton", 0.3] < Z["paper", 0.3] < 1
    assert Z["exact", 0.3] == pytest.approx(Z["newton", 0.3], rel=1e-3)
    assert Z["paper", 2.0] > 1  # the paper's step raises the loss
    assert Z["newton", 2.0] < 1


def literal_losses(X, y, groups, F, **distance):
    """J_wse (12) of Algorithm 1's line 5 as printed: I in both directions, thresholds at values.

    Yields the loss of each feature and threshold with the best a of a grid of 2001 values from
    -max(d) to max(d). The best a of all is among them or between two: it is a weighted mean of
    values d and -d.
    """
    n = len(y)
    I = [(i, j) for i in range(n) for j in range(n) if groups[i] == groups[j] and y[i] != y[j]]
    i, j = np.array(I).T
    dist = oracle.directed_distance(y[i], y[j], **distance)
    w = np.exp(-dist * (F[i] - F[j]))
    w /= w.sum()
    grid = np.linspace(-dist.max(), dist.max(), 2001)
    for k in range(X.shape[1]):
        for theta in [-np.inf, *X[:, k]]:
            r = (X[:, k] > theta).astype(float)
            difference = grid[:, None] * (r[i] - r[j])
            losses = (w * (dist - difference) ** 2).sum(axis=1)
            yield losses.min()


@examples(40)
@given(
    problem=ranking_problems(max_queries=3, max_rows=5, missing=False, weights=False),
    kwargs=st.sampled_from(DISTANCES),
)
@example(  # in the second round the pair that the stump splits weighs 3e-11 of what the other does
    problem=RankingProblem(
        X=np.array([[0.0], [0.125], [0.125]]),
        y=np.array([0.0, 0.0, 2.46]),
        groups=np.zeros(3, dtype=int),
        query_weight=None,
    ),
    kwargs=DISTANCES[2],
)
def test_chosen_stump_minimises_the_printed_loss(problem, kwargs):
    X, y, groups, _ = problem
    F = np.zeros(len(y))
    winner, loser, d, _, _ = start_of(problem, **kwargs)
    furthest = d.max()
    grid = np.linspace(-furthest, furthest, 2001)
    spacing = 2 * furthest / 2000
    for this in oracle.mpboost(X, y, groups, 3, **kwargs):
        # Relative error of a sum of terms w (d - f)^2 >= 0, w = e^x: the error of x, which is
        # relative to x and an absolute one of log w, and one rounding for each sum and product.
        exponents = d * (F[winner] - F[loser])
        error = (4 * np.abs(exponents).max() + 2 * len(d) + 20) * np.finfo(float).eps
        largest = 4 * furthest**2  # such a term, the weights summing to 1

        losses = list(literal_losses(X, y, groups, F, **kwargs))
        loss = (this.w_before * d**2).sum() - this.gain
        # Of the stumps that tie the chosen one may gain less than the best: TIE of the gain, which
        # is at most the loss of no stump at all, furthest^2.
        assert loss <= min(losses) + oracle.TIE * furthest**2 + error * largest
        # The loss is a parabola in a, of curvature 2 at most. Its lowest point is half a cell from
        # a grid point at most, where it is higher by spacing^2 / 4 at most.
        assert loss >= min(losses) - spacing**2 / 4 - error * largest

        if abs(this.stump.value) * furthest < 29.9:
            candidate = oracle.Candidate(*this.stump[:2], this.stump.missing_above)
            above = oracle.is_above(X, *candidate)
            # That of the pairs that the stump splits only. The others' part is the same for every
            # a, and may be so large that the sum has no digits left to tell one a from the next.
            split = above[winner] != above[loser]
            w, f = this.w_before[split], np.where(above[winner], 1.0, -1.0)[split]
            grid_loss = (w * (d[split] - grid[:, None] * f) ** 2).sum(axis=1)
            best = grid[grid_loss.argmin()]
            # With W the sum of w, it is W (a - value)^2 more than at the value, and no more than
            # W * largest. So, if rounding makes `best` lower than the grid point next to the value,
            # (best - value)^2 <= (spacing / 2)^2 + 2 * error * largest. The value itself is
            # a quotient of such sums.
            bound = np.sqrt(spacing**2 / 4 + 2 * error * largest) + error * furthest
            assert abs(best - this.stump.value) <= bound
        F = this.F


@examples(150)
@given(
    problem=ranking_problems(),
    kwargs=st.sampled_from(DISTANCES),
    step=st.sampled_from(STEPS),
    learning_rate=st.sampled_from([1.0, 0.5, 0.1]),
)
def test_theorem_1_and_the_bookkeeping_of_each_round(problem, kwargs, step, learning_rate):
    X, y, groups, query_weight = problem
    winner, loser, d, w_first, rows = start_of(problem, **kwargs)
    w, log_bound, terms = w_first, 0.0, []
    for this in oracle.mpboost(
        X,
        y,
        groups,
        4,
        step=step,
        learning_rate=learning_rate,
        query_weight=query_weight,
        **kwargs,
    ):
        everything = oracle.best_candidates(X, w, winner, loser, d, step, rows)
        assert this.gain >= max(e.gain for _, e in everything) * (1 - 1e-9)
        terms.append((learning_rate, this.stump))
        np.testing.assert_array_equal(this.F, oracle.step_predict(terms, X))
        # Line 6, and log-sum-exp agrees with the product of the Z.
        f = learning_rate * oracle.apply_stump(this.stump, X)
        w = w * np.exp(-d * (f[winner] - f[loser])) / this.Z
        np.testing.assert_allclose(this.w, w, rtol=1e-8, atol=1e-12)
        assert this.w.sum() == pytest.approx(1)
        log_bound += np.log(this.Z)
        assert this.log_bound == pytest.approx(log_bound, rel=1e-9, abs=1e-9)
        assert oracle.misordering(this.F, winner, loser, w_first) <= np.exp(log_bound) * (1 + 1e-9)
        w = this.w


@examples(80)
@given(problem=ranking_problems(), kwargs=st.sampled_from(DISTANCES))
def test_exact_step_minimises_its_objective(problem, kwargs):
    winner, loser, d, w, rows = start_of(problem, **kwargs)
    for candidate in oracle.candidates(problem.X[rows]):
        evaluation = oracle.evaluate(problem.X, w, winner, loser, d, candidate, "exact")
        if evaluation.n_crossing == 0:
            continue
        above = oracle.is_above(problem.X, *candidate)
        A1 = above[winner] & ~above[loser]
        B2 = ~above[winner] & above[loser]
        best = oracle.exact_objective(evaluation.a, w, d, A1, B2)
        largest = 30 / d.max()
        assert abs(evaluation.a) <= largest
        for s in np.linspace(-largest, largest, 101):
            assert best <= oracle.exact_objective(s, w, d, A1, B2) * (1 + 1e-12)


@examples(60)
@given(problem=ranking_problems(), step=st.sampled_from(STEPS))
def test_weightless_rows_might_as_well_be_absent(problem, step):
    X, y, groups, weight = problem
    if weight is None:
        return
    rows = weight > 0
    kept = oracle.mpboost(X[rows], y[rows], groups[rows], 3, step=step, query_weight=weight[rows])
    every = oracle.mpboost(X, y, groups, 3, step=step, query_weight=weight)
    for a, b in zip(kept, every, strict=True):
        assert a.stump == b.stump
        np.testing.assert_array_equal(a.F, b.F[rows])


def test_following_given_terms():
    X, y, groups = graded_problem()
    own = list(oracle.mpboost(X, y, groups, 4))
    terms = [(1.0, r.stump) for r in own]
    again = list(oracle.mpboost(X, y, groups, 10, follow=terms))
    assert [r.stump for r in again] == [r.stump for r in own]
    other = [(0.5, own[1].stump)]
    (first,) = oracle.mpboost(X, y, groups, 10, follow=other)
    assert first.stump == own[0].stump
    np.testing.assert_array_equal(first.F, oracle.step_predict(other, X))


@examples(200)
@given(problem=ranking_problems(grades=("three", "five", "continuous", "negative")))
def test_drawn_problems_keep_their_promises(problem):
    X, y, groups, weight = problem
    n = len(y)
    assert X.shape[0] == len(groups) == n
    assert groups.dtype.kind in "iU"
    present = X[~np.isnan(X)]
    np.testing.assert_array_equal(present * 8, np.round(present * 8))
    assert np.isfinite(y).all()
    assert len(set(groups.tolist())) <= 6
    assert 1 <= X.shape[1] <= 4
    if weight is not None:
        assert weight.shape == (n,)
        for g in set(groups.tolist()):
            assert len(set(weight[groups == g])) == 1
    winner, _, q, _ = oracle.training_pairs(y, groups, weight)
    assert len(winner) > 0
    assert (q > 0).all()
    if weight is None:
        assert len(winner) == oracle.brute_force_pair_count(y, groups)


@examples(50)
@given(problem=ranking_problems(missing=False, weights=False, grades=("three",)))
def test_drawn_problems_obey_their_options(problem):
    assert problem.query_weight is None
    assert not np.isnan(problem.X).any()
    assert set(problem.y) <= {0.0, 1.0, 2.0}
