# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""YetiRank's loss against its formulas, pair by pair, and what it draws."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import yetirank as oracle
from ranked_rows import make, seeds
from scipy import stats
from strategies import examples

from sklearn_ltr import QuadraticBoosting, losses
from sklearn_ltr.losses import sums_over_pairs
from sklearn_ltr.losses.sums_over_pairs import FAR, RelativeScores, SumsOverPairs
from sklearn_ltr.losses.yeti import LONGEST_STEP, ORDERS, YetiPairs
from sklearn_ltr.ranking_data import RankingData


def at(y, scores, offsets=None, weight=None, round=0, *, n_threads=1, random_seed=0, **params):
    """The loss of rows, of one query by default, after an update."""
    y, scores = np.asarray(y, dtype=float), np.asarray(scores, dtype=float)
    offsets = [0, len(y)] if offsets is None else offsets
    data = RankingData.of(y, offsets, weight, n_threads=n_threads, random_seed=random_seed)
    bound = YetiPairs(**params).bind(data)
    bound.update(scores, round)
    return bound


def assert_equals_oracle(bound, scores, round=0, n_permutations=10, decay=0.85, all_pairs_weight=0):
    data = bound.data
    value, G, W = oracle.of_queries(
        data.y,
        scores,
        [slice(*ends) for ends in pairwise(data.offsets)],
        data.seed(round, ORDERS),
        data.query_weight / data.query_weight.mean(),
        n_permutations,
        decay,
        all_pairs_weight,
    )
    size = np.ptp(data.y)
    assert_allclose(bound.value, value, rtol=1e-11, atol=1e-13 * size)
    assert_allclose(bound.gradient, G, rtol=1e-11, atol=1e-13 * size)
    assert_allclose(bound.curvature, W, rtol=1e-11, atol=1e-13 * size)
    assert bound.loss == pytest.approx((data.v * value).mean(), rel=1e-11, abs=1e-13 * size)


@examples(100)
@given(
    seed=seeds,
    scale=st.sampled_from([0.0, 0.5, 3.0, 60.0, 100.0, 1000.0]),
    round=st.integers(0, 3),
    n_permutations=st.sampled_from([1, 3, 10]),
    decay=st.sampled_from([0.85, 0.3, 1.0]),
    all_pairs_weight=st.sampled_from([0.0, 1.0, 0.25]),
    weighted=st.booleans(),
)
def test_equals_the_formulas(seed, scale, round, weighted, **params):
    y, scores, offsets = make(seed, scale)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], 4) if weighted else None
    bound = at(y, scores, offsets, weight, round, random_seed=seed, **params)
    assert_equals_oracle(bound, scores, round, **params)


@pytest.mark.parametrize("outliers", [[], [-0.99 * FAR], [-1.01 * FAR], [0.9 * FAR, -0.09 * FAR]])
@pytest.mark.parametrize("all_pairs_weight", [0.0, 1.0])
def test_long_queries(outliers, all_pairs_weight):
    """Rows in order by buckets, or by merging where outliers crowd the others into few of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300).astype(float)
    scores = rng.normal(size=300).round(1)
    scores[: len(outliers)] = outliers
    params = {"n_permutations": 3, "all_pairs_weight": all_pairs_weight}
    assert_equals_oracle(at(y, scores, **params), scores, **params)


def test_equal_draws_are_in_order_of_their_rows():
    """Where scores are so large that nothing drawn can be added to them."""
    y, scores = np.array([0.0, 1, 3, 7, 15]), np.array([1e140, 1e140, 0, 0, 0])
    bound = at(y, scores, n_permutations=2)
    assert_equals_oracle(bound, scores, n_permutations=2)
    equal = at(y[2:], np.full(3, 1e140), n_permutations=2)  # relative to each other they are 0
    assert_array_equal(equal.gradient, at(y[2:], np.zeros(3), n_permutations=2).gradient)


@pytest.mark.parametrize("all_pairs_weight", [0.0, 1.0])
def test_scores_far_apart(all_pairs_weight):
    """Each row is where its score puts it, and the loss is linear in hopeless pairs."""
    y, scores = [0.0, 1.0], np.array([1000.0, -1000.0])
    times = 1 + all_pairs_weight
    wrong = at(y, scores, all_pairs_weight=all_pairs_weight)
    assert_allclose(wrong.gradient, [times, -times], rtol=1e-14)
    assert_allclose(wrong.curvature, times / LONGEST_STEP, rtol=1e-14)
    assert_allclose(wrong.value, [2000.0 * times], rtol=1e-14)
    right = at(y, -scores, all_pairs_weight=all_pairs_weight)
    assert_array_equal(np.r_[right.value, right.gradient, right.curvature], 0)


@pytest.mark.parametrize("size", [1e-120, 1e-3, 1e120])
@pytest.mark.parametrize("all_pairs_weight", [0.0, 0.5])
def test_grades_of_any_size(size, all_pairs_weight):
    y, scores, offsets = make(5, 2.0)
    one, other = (
        at(s * y, scores, offsets, all_pairs_weight=all_pairs_weight) for s in (1.0, size)
    )
    assert_allclose(other.value / size, one.value, rtol=1e-12)
    assert_allclose(other.gradient / size, one.gradient, rtol=1e-12, atol=1e-15)
    assert_allclose(other.curvature / size, one.curvature, rtol=1e-12, atol=1e-15)


def test_two_rows_are_neighbours_in_every_order():
    bound = at([2.0, 0.0], [0.5, 0.0], n_permutations=7)
    rho = 1 / (1 + np.exp(0.5))
    assert_allclose(bound.gradient, [-2 * rho, 2 * rho], rtol=1e-14)
    assert_allclose(bound.curvature, 2 * rho * (1 - rho), rtol=1e-14)
    assert_allclose(bound.value, [2 * np.log1p(np.exp(-0.5))], rtol=1e-14)


def test_mean_of_many_draws_of_equal_scores():
    """Six orders of three rows, all as likely."""
    y, decay, n = np.array([0.0, 1.0, 3.0]), 0.5, 40_000
    bound = at(y, np.zeros(3), n_permutations=n, decay=decay)
    # Each two rows are at positions 0 and 1 in two orders of six, at 1 and 2 in two.
    expected = [(1 + decay) / 3 * sum(np.sign(y[i] - y) * abs(y[i] - y)) for i in range(3)]
    assert_allclose(bound.gradient, -np.array(expected) / 2, atol=5 * 3 / np.sqrt(n))


def test_mean_of_many_draws_of_other_scores():
    """The first two rows are above the third, of the best grade, in one of two orders."""
    y, n, decay, d = np.array([0.0, 1.0, 3.0]), 40_000, 0.5, 1.5
    bound = at(y, [d, 0.0, -200.0], n_permutations=n, decay=decay)
    # That the difference of two logistic variables is above -d.
    first = np.exp(d) * (np.exp(d) - 1 - d) / (np.exp(d) - 1) ** 2
    expected = -decay * (first * (3 - 1) + (1 - first) * (3 - 0))
    assert bound.gradient[2] == pytest.approx(expected, abs=5 * decay / np.sqrt(n))


SHAPE = 25, 20, 40  # queries, permutations, places


@pytest.fixture(scope="module")
def drawn():
    """What two rounds draw; that the kernel draws the same is what the formulas are tested by."""
    data = RankingData.of(np.zeros(1), [0, 1])
    tables = [
        [oracle.uniforms(data.seed(k, ORDERS), q, *SHAPE[1:]) for q in range(SHAPE[0])]
        for k in range(2)
    ]
    return np.array(tables)


def test_draws_are_uniform(drawn):
    assert 0 < drawn.min() < 1e-3
    assert 1 - 1e-3 < drawn.max() < 1
    assert len(np.unique(drawn)) == drawn.size
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 0.01
    assert (
        stats.kstest(drawn.mean(axis=3).ravel(), "norm", (0.5, 1 / np.sqrt(12 * 40))).pvalue > 0.01
    )
    # At each place and in each permutation, in all queries.
    for axes in ((0, 1, 2), (0, 1, 3), (0, 2, 3)):
        n = np.prod([drawn.shape[axis] for axis in axes])
        z = (drawn.mean(axis=axes) - 0.5) * np.sqrt(12 * n)
        assert np.abs(z).max() < 4


def test_draws_are_independent(drawn):
    """Of those of the next round, query, permutation or place, and of each other in a table."""
    centred = (drawn - 0.5) * np.sqrt(12)
    for axis in range(4):
        for step in (1, 2, 4, 8, 16):
            if step < drawn.shape[axis]:
                later = np.take(centred, range(step, drawn.shape[axis]), axis)
                earlier = np.take(centred, range(drawn.shape[axis] - step), axis)
                assert abs((later * earlier).mean()) * np.sqrt(later.size) < 4
    cells = np.histogram2d(drawn[..., :-1].ravel(), drawn[..., 1:].ravel(), bins=16)[0]
    assert stats.chisquare(cells.ravel()).pvalue > 0.01


def test_rounds_draw_other_pairs():
    y, scores, offsets = make(3, 1.0, n_queries=20)
    bound = at(y, scores, offsets)
    first = bound.gradient
    bound.update(scores, 1)
    assert (bound.gradient != first).any()
    assert (at(y, scores, offsets, random_seed=1).gradient != first).any()
    assert_array_equal(at(y, scores, offsets).gradient, first)


def random_rows(n_queries=200, scale=1.5):
    y, scores, offsets = make(11, scale, n_queries=n_queries)
    scores[offsets[3]] -= 2 * FAR  # one query of rows that are far apart
    return y, scores, offsets


def results(bound):
    return np.concatenate([bound.value, bound.gradient, bound.curvature])


@pytest.mark.parametrize("all_pairs_weight", [0.0, 1.0])
def test_threads_do_not_change_a_bit(all_pairs_weight):
    rows = random_rows()
    one, two, seven = (
        results(at(*rows, n_threads=n, all_pairs_weight=all_pairs_weight)) for n in (1, 2, 7)
    )
    assert_array_equal(one, two)
    assert_array_equal(one, seven)


@pytest.mark.parametrize("all_pairs_weight", [0.0, 1.0])
def test_parts_do_not_change_what_is_drawn(all_pairs_weight, monkeypatch):
    """Between parts an interrupt is heard."""
    rows = random_rows(40)
    whole = results(at(*rows, all_pairs_weight=all_pairs_weight))
    monkeypatch.setattr("sklearn_ltr.interrupts.NUMBERS_AT_A_TIME", 1)
    monkeypatch.setattr(sums_over_pairs, "PAIRS_AT_A_TIME", 2)
    in_parts = at(*rows, all_pairs_weight=all_pairs_weight)
    if all_pairs_weight:
        assert len(in_parts._pairs._windows) > 40
        # A winner's losers are added in one go, but several winners of a part to one loser.
        assert_allclose(results(in_parts), whole, rtol=1e-13)
    else:
        assert_array_equal(results(in_parts), whole)


def test_queries_of_one_grade_give_zeros():
    y, scores = np.array([1.0, 2, 2, 2, 0, 1]), np.array([0.3, 0.1, 5, -2, 0.4, 0.2])
    bound = at(y, scores, [0, 1, 4, 6], all_pairs_weight=1.0)
    assert_array_equal(
        np.concatenate([bound.value[:2], bound.gradient[:4], bound.curvature[:4]]), 0
    )
    assert bound.value[2] > 0
    assert (bound.curvature[4:] > 0).all()


@pytest.mark.parametrize("all_pairs_weight", [0.0, 1.0])
def test_nothing_to_learn_from_at_all(all_pairs_weight):
    bound = at([2.0, 2, 1], [0.5, 0.1, 0.3], [0, 2, 3], all_pairs_weight=all_pairs_weight)
    assert_array_equal(results(bound), 0)
    assert bound.loss == 0


def test_a_steep_decay_leaves_the_first_pair():
    y, scores = np.array([0.0, 1.0, 3.0]), np.array([0.0, -20.0, -100.0])
    for decay in (1e-160, 1e-200, 5e-324):
        bound = at(y, scores, n_permutations=2, decay=decay)
        assert_allclose(bound.gradient, [1, -1, 0], rtol=1e-8)


@examples(50)
@given(seed=seeds, scale=st.sampled_from([0.0, 0.5, 3.0, 60.0, 1000.0]))
def test_all_pairs_by_their_gaps(seed, scale):
    y, scores, offsets = make(seed, scale)
    data = RankingData.of(y, offsets)
    value, *of_rows = SumsOverPairs(data).gap_logistic(RelativeScores(data, scores))
    for q, rows in enumerate(slice(*ends) for ends in pairwise(offsets)):
        expected = oracle.logistic(oracle.all_pairs(y[rows]), scores[rows])
        assert_allclose(value[q], expected.value, rtol=1e-12, atol=1e-13)
        for found, wanted in zip(of_rows, expected[2:], strict=True):
            assert_allclose(found[rows], wanted, rtol=1e-12, atol=1e-14)


def test_products_over_many_pairs_do_not_vanish():
    """Their logarithms are added in time: factors of e^-290 a hundred times, and of 1/2."""
    for apart in (290.0, 0.0):
        y, scores = np.r_[1.0, np.zeros(3000)], np.r_[-apart, np.zeros(3000)]
        data = RankingData.of(y, [0, len(y)])
        value = SumsOverPairs(data).gap_logistic(RelativeScores(data, scores))[0]
        assert_allclose(value, 3000 * np.logaddexp(0, apart), rtol=1e-13)


def test_it_is_no_function_to_search_a_line_for():
    """So it is not among the losses that `QuadraticBoosting` takes."""
    assert "YetiPairs" not in losses.__all__
    with pytest.raises(ValueError, match="needs the value of a loss, which YetiPairs"):
        QuadraticBoosting(loss=YetiPairs()).fit([[0.0], [1.0]], [0, 1], groups=[0, 0])
