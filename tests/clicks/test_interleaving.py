# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Interleaved lists, and who wins, against all coins, draws and assignments."""

from collections import defaultdict
from itertools import permutations, product

import numpy as np
import pytest
from oracles.counterfactual import assignments, chance_of_list, outcome, team_drafts
from scipy.stats import binom, binomtest

from sklearn_ltr.clicks import (
    compare_interleaved,
    probabilistic_interleaving,
    team_draft_interleaving,
)

FIRST, SECOND = [0, 1, 2, 3], [2, 0, 3, 1]
BOTH = [team_draft_interleaving, probabilistic_interleaving]
each_way = pytest.mark.parametrize("interleave", BOTH, ids=lambda f: f.__name__)


def scores_of(ranking):
    """Scores that rank rows so."""
    return -np.argsort(ranking).astype(float)


def given(coins, draws=()):
    """A generator that gives these, one for each list at a time."""
    rng = np.random.RandomState(0)

    class Given(np.random.RandomState):
        def randint(self, high, size):
            assert high == 2
            return np.array([next(coins) for _ in range(size)])

        def random_sample(self, size):
            return np.array([next(draws) for _ in range(size)])

    return Given(rng.randint(9))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("rankings", [(FIRST, SECOND), (FIRST, FIRST), (FIRST, FIRST[::-1])])
def test_team_drafts_are_as_likely_as_by_enumeration(rankings, length):
    """All coins: each has a list, and lists have the probability that the oracle gives them."""
    found = defaultdict(float)
    n_coins = (min(length, 4) + 1) // 2
    for coins in product([0, 1], repeat=n_coins):
        lists = team_draft_interleaving(
            *map(scores_of, rankings), n_positions=length, random_state=given(iter(coins))
        )
        teams = tuple(1 - lists.credit.astype(int))
        found[tuple(lists.rows.tolist()), teams] += 0.5**n_coins
        assert lists.positions.tolist() == list(range(1, min(length, 4) + 1))
    assert found == team_drafts(*rankings, length)


@pytest.mark.parametrize("tau", [0.0, 1.0, 3.0])
def test_draws_are_as_likely_as_by_enumeration(tau):
    """Along a fine grid of draws, the share of each list is its probability."""
    grid = (np.arange(60) + 0.5) / 60
    found = defaultdict(float)
    for coins in product([0, 1], repeat=2):
        pairs = list(product(grid, repeat=2))
        n = len(pairs)
        lists = probabilistic_interleaving(
            np.tile(scores_of(FIRST), n),
            np.tile(scores_of(SECOND), n),
            np.repeat(np.arange(n), 4),
            n_positions=2,
            tau=tau,
            random_state=given(
                iter([coins[0]] * n + [coins[1]] * n), iter([p[i] for i in (0, 1) for p in pairs])
            ),
        )
        for rows in (lists.rows % 4).reshape(n, 2).tolist():
            found[tuple(rows), coins] += 1 / n
    for rows in permutations(range(4), 2):
        for coins in product([0, 1], repeat=2):
            expected = chance_of_list(FIRST, SECOND, rows, coins, tau)
            assert found[rows, coins] == pytest.approx(expected, abs=3 / 60)


@pytest.mark.parametrize("tau", [0.0, 1.0, 3.0, 60.0])
def test_credit_is_that_of_all_assignments(tau):
    lists = probabilistic_interleaving(
        np.tile(scores_of(FIRST), 50),
        np.tile(scores_of(SECOND), 50),
        np.repeat(np.arange(50), 4),
        tau=tau,
        random_state=0,
    )
    rows, credit = (lists.rows % 4).reshape(50, 4), lists.credit.reshape(50, 4)
    assert len(np.unique(rows, axis=0)) > 3 or tau == 60
    for of_list, shares in zip(rows.tolist(), credit, strict=True):
        assert sorted(of_list) == [0, 1, 2, 3]
        chances = assignments(FIRST, SECOND, tuple(of_list), tau)
        expected = [sum(p for a, p in chances.items() if a[k] == 0) for k in range(4)]
        np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("tau", [1.0, 3.0])
def test_outcomes_are_those_of_all_assignments(tau):
    """Of all lists and all clicks: the expectation of who has more of them."""
    for rows in permutations(range(4), 3):
        chances = assignments(FIRST, SECOND, rows, tau)
        credit = [sum(p for a, p in chances.items() if a[k] == 0) for k in range(3)]
        for clicks in product([0, 1], repeat=3):
            if not any(clicks):
                continue
            result = compare_interleaved(clicks, credit, [7] * 3, n_resamples=1)
            expected = sum(p * outcome(clicks, teams) for teams, p in chances.items())
            assert result.outcomes == pytest.approx([expected], abs=1e-12)
            assert result.preference == pytest.approx(expected, abs=1e-12)


def test_marginalising_changes_no_expectation():
    """Over all lists and assignments; clicks are those of users who like some rows."""
    likes, tau = [0.9, 0.2, 0.5, 0.1], 2.0
    drawn = marginal = 0.0
    for rows in permutations(range(4), 3):
        chances = assignments(FIRST, SECOND, rows, tau)
        of_list = sum(0.5**3 * chance_of_list(FIRST, SECOND, rows, teams, tau) for teams in chances)
        credit = [sum(p for a, p in chances.items() if a[k] == 0) for k in range(3)]
        for clicks in product([0, 1], repeat=3):
            p = of_list
            for k, row in enumerate(rows):
                p *= likes[row] if clicks[k] else 1 - likes[row]
            drawn += p * sum(q * outcome(clicks, teams) for teams, q in chances.items())
            if any(clicks):
                marginal += p * compare_interleaved(clicks, credit, [0] * 3, n_resamples=1)[0]
    assert marginal == pytest.approx(drawn, abs=1e-12)
    assert drawn > 0.01  # the first ranker has row 0, which is liked, at the top


@pytest.mark.parametrize("clicked", [[0], [1], [2], [0, 3], [1, 2, 3]])
def test_a_team_draft_of_a_ranker_with_itself_is_even(clicked):
    """Whatever rows are clicked, over all coins."""
    total = 0.0
    for coins in product([0, 1], repeat=2):
        lists = team_draft_interleaving(*[scores_of(FIRST)] * 2, random_state=given(iter(coins)))
        clicks = np.isin(lists.rows, clicked)
        total += compare_interleaved(clicks, lists.credit, lists.groups, n_resamples=1).preference
    assert total == 0


def test_a_ranker_with_itself_has_half_of_each_row():
    scores = np.random.default_rng(0).normal(size=40)
    lists = probabilistic_interleaving(scores, scores, np.repeat([1, 2], 20), random_state=0)
    np.testing.assert_allclose(lists.credit, 0.5, rtol=1e-14)
    clicks = np.arange(20) % 3 == 0
    result = compare_interleaved(clicks, lists.credit, lists.groups)
    assert result.preference == 0
    assert (result.wins, result.ties, result.losses) == (0, 2, 0)
    assert result.p_sign == 1


@each_way
def test_lists_of_queries_of_any_size(interleave):
    """Each has its own rows, once, up to the longest list; ids are of any kind."""
    rng = np.random.default_rng(0)
    groups = np.array([f"q{i}" for i in rng.integers(0, 30, 200)])
    scores = rng.normal(size=(2, 200))
    lists = interleave(*scores, groups, n_positions=4, random_state=0)
    np.testing.assert_array_equal(groups[lists.rows], lists.groups)
    assert len(np.unique(lists.rows)) == len(lists.rows)
    for query in np.unique(groups):
        of_query = lists.groups == query
        size = min(4, (groups == query).sum())
        assert lists.positions[of_query].tolist() == list(range(1, size + 1))
    assert ((lists.credit >= 0) & (lists.credit <= 1)).all()
    again = interleave(*scores, groups, n_positions=4, random_state=0)
    np.testing.assert_array_equal(again.rows, lists.rows)
    other = interleave(*scores, groups, n_positions=4, random_state=1)
    assert not np.array_equal(other.rows, lists.rows)


@each_way
def test_blocks_are_without_effect_on_what_there_is(interleave, monkeypatch):
    rng = np.random.default_rng(0)
    groups, scores = np.repeat(np.arange(9), 3), rng.normal(size=(2, 27))
    monkeypatch.setattr("sklearn_ltr.clicks.interleaving.BLOCK", 6)
    lists = interleave(*scores, groups, n_positions=2, random_state=0)
    np.testing.assert_array_equal(lists.groups, np.repeat(np.arange(9), 2))
    np.testing.assert_array_equal(groups[lists.rows], lists.groups)


@each_way
def test_the_better_ranker_wins(interleave):
    rng = np.random.default_rng(0)
    groups, attracts = np.repeat(np.arange(2000), 8), rng.random(16000)
    good, poor = (attracts + rng.normal(0, s, 16000) for s in (0.2, 1))
    for first, second, sign in ((good, poor, 1), (poor, good, -1)):
        lists = interleave(first, second, groups, n_positions=5, random_state=1)
        clicks = rng.random(len(lists.rows)) < attracts[lists.rows] / lists.positions
        result = compare_interleaved(clicks, lists.credit, lists.groups, random_state=0)
        assert sign * result.preference > 0.05
        assert result.p_sign < 1e-3
        assert result.p_bootstrap < 1e-3
        assert min(sign * result.ci_low, sign * result.ci_high) > 0


def test_figures_of_a_comparison():
    """Five lists with a click and one without: 3 wins, a tie, a loss."""
    clicks = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0]
    credit = [1, 1, 0, 1, 1, 1, 0, 1, 0, 1]
    sessions = ["a", "a", "b", "b", "c", "d", "d", "e", "f", "f"]
    clicks[7], credit[7] = 1, 0
    result = compare_interleaved(clicks, credit, sessions, random_state=0)
    np.testing.assert_array_equal(result.outcomes, [1, 1, 1, 0, -1, np.nan])
    assert result.ids.tolist() == list("abcdef")
    assert (result.wins, result.ties, result.losses, result.n_lists) == (3, 1, 1, 6)
    assert result.preference == pytest.approx(2 / 5)
    assert result.p_sign == pytest.approx(binomtest(3, 4).pvalue)
    assert -1 <= result.ci_low < 2 / 5 < result.ci_high <= 1
    assert "3 wins, 1 ties, 1 losses in 6 lists" in repr(result)
    order = np.random.default_rng(0).permutation(10)
    columns = (np.array(column)[order] for column in (clicks, credit, sessions))
    again = compare_interleaved(*columns, random_state=0)
    assert again[:9] == result[:9]


def test_bootstrap_against_its_exact_distribution():
    """Of two outcomes, the resampled mean is a binomial share."""
    n, wins = 60, 40
    credit = np.repeat([1.0, 0.0], [wins, n - wins])
    result = compare_interleaved(np.ones(n), credit, np.arange(n), n_resamples=200_000)
    below = binom(n, wins / n).cdf(n // 2)  # a mean of 0 among them
    assert result.p_bootstrap == pytest.approx(2 * below, rel=0.05)
    low, high = (2 * binom(n, wins / n).ppf([0.025, 0.975]) / n - 1).tolist()
    assert result.ci_low == pytest.approx(low, abs=2 / n)
    assert result.ci_high == pytest.approx(high, abs=2 / n)


def test_many_distinct_outcomes_are_rounded_for_draws():
    rng = np.random.default_rng(0)
    credit = rng.uniform(0.3, 0.8, 3000)
    result = compare_interleaved(np.ones(3000), credit, np.arange(3000), random_state=0)
    outcomes = 2 * credit - 1
    np.testing.assert_allclose(result.outcomes, outcomes, atol=1e-12)
    error = outcomes.std() / np.sqrt(3000)
    assert result.ci_low == pytest.approx(outcomes.mean() - 1.96 * error, abs=0.1 * error)
    assert result.ci_high == pytest.approx(outcomes.mean() + 1.96 * error, abs=0.1 * error)


def test_outcomes_that_are_all_the_same_leave_nothing_to_draw():
    result = compare_interleaved([1, 1, 1], [1, 1, 1], [1, 2, 3])
    assert result.preference == 1
    assert result.p_sign == pytest.approx(0.25)
    assert np.isnan([result.ci_low, result.ci_high, result.p_bootstrap]).all()


@each_way
def test_wrong_rankings(interleave):
    with pytest.raises(ValueError, match=r"`y_score_first` and `y_score_second` .* 3 and 2"):
        interleave([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="y_score_second contains NaN"):
        interleave([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="`groups` has 1 entries but there are 2 rows"):
        interleave([1, 2], [1, 2], [0])
    with pytest.raises(ValueError, match="n_positions"):
        interleave([1, 2], [1, 2], n_positions=0)


@pytest.mark.parametrize("tau", [-1, np.inf, np.nan, 100])
def test_wrong_tau(tau):
    with pytest.raises(ValueError, match="tau"):
        probabilistic_interleaving([1, 2], [1, 2], tau=tau)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 0], [0, 0]), "`clicks` has 2 at row 1"),
        (([1, 0], [1, 1.5], [0, 0]), "`credit` has 1.5 at row 1; shares are from 0 to 1"),
        (([1, 0], [1], [0, 0]), "`credit` must have one entry for each of the 2 rows"),
        (([1, 0], [1, 0], [0]), "`sessions` has 1 entries"),
        (([1, 0], [1, 0], [0, None]), "`sessions` has a missing id at row 1"),
        (([0, 0], [1, 0], [0, 0]), "No list has a click"),
    ],
)
def test_wrong_logs(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare_interleaved(*arguments)
