# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated clicks have the rates of the formulas, on the lists that the rankers show."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clicks as oracle

from sklearn_ltr.clicks import ClickLog, simulate_clicks
from sklearn_ltr.clicks import simulation as module

Y, GROUPS = np.array([0, 1, 2, 2, 0, 1]), np.array(["b", "b", "b", "b", "a", "a"])
SCORES = np.array([4.0, 3, 2, 1, 1, 2])
ALPHA = 0.1 + 0.9 * np.array([0, 1, 3, 3, 0, 1]) / 3
N = 40_000


def rates(drawn):
    """Click rate of each document, by row."""
    frame = pd.DataFrame(drawn)
    return frame.groupby("documents")["clicks"].mean().to_numpy()


def close(found, expected):
    """Within four standard errors of half of the sessions."""
    error = 4 * np.sqrt(np.maximum(expected * (1 - expected), 1e-6) / (N / 2.2))
    assert (np.abs(found - expected) <= error).all(), (found, expected)


@pytest.mark.parametrize("eta", [None, 0, 0.5, 2])
def test_positions(eta):
    drawn = simulate_clicks(Y, GROUPS, SCORES, n_sessions=N, eta=eta, random_state=0)
    position = np.array([1.0, 2, 3, 4, 2, 1])
    close(rates(drawn), ALPHA * position ** -(1.0 if eta is None else eta))


def test_trust():
    drawn = simulate_clicks(
        Y, GROUPS, SCORES, n_sessions=N, model="trust", trust=0.8, eta=0.5, random_state=0
    )
    position = np.array([1, 2, 3, 4, 2, 1])
    close(rates(drawn), position**-0.5 * (ALPHA + (1 - ALPHA) * 0.8 / position))


@pytest.mark.parametrize(
    ("params", "stays"),
    [
        ({"model": "cascade"}, [0, 0, 0, 0]),
        ({"model": "dependent"}, [0.5, 0.5, 0.5, 0.5]),
        (
            {"model": "dependent", "continuation": [0.9, 0.3, 1.0, 0.5], "n_positions": 4},
            [0.9, 0.3, 1.0, 0.5],
        ),
    ],
)
def test_from_the_top_down(params, stays):
    """Rates of single clicks, and of whole sessions, by sums over where users may end."""
    drawn = simulate_clicks(Y, GROUPS, SCORES, n_sessions=N, random_state=0, **params)
    alpha = [ALPHA[[5, 4]], ALPHA[:4]]
    expected = np.array(
        [oracle.click_probability(alpha[1], stays, k) for k in range(4)]
        + [oracle.click_probability(alpha[0], stays, k) for k in (1, 0)]
    )
    close(rates(drawn), expected)
    frame = pd.DataFrame(drawn)
    lists = frame[frame.groups == "b"].groupby("sessions")["clicks"].apply(tuple)
    share = lists.value_counts(normalize=True)
    for clicks, found in share.items():
        close(found, oracle.session_probability(alpha[1], stays, clicks))


def test_lists_are_those_of_the_rankers():
    scores = np.column_stack([SCORES, -SCORES, [0, 0, 0, 0, 1, 1]])
    drawn = simulate_clicks(Y, GROUPS, scores, n_sessions=2000, n_positions=3, random_state=0)
    frame = pd.DataFrame(drawn)
    assert_array_equal(frame.sessions.unique(), np.arange(2000))
    found = frame.groupby("sessions").agg({"documents": tuple, "positions": tuple, "groups": set})
    shown = found.documents.value_counts(normalize=True)
    expected = {
        (0, 1, 2): 1 / 3,  # by the first and, equal scores as they come, by the third
        (3, 2, 1): 1 / 6,
        (5, 4): 1 / 6,
        (4, 5): 1 / 3,
    }
    assert shown.keys().tolist() == sorted(expected, key=lambda x: -shown[x])
    for key, share in expected.items():
        assert shown[key] == pytest.approx(share, abs=0.05)
    assert set(found.positions) == {(1, 2, 3), (1, 2)}
    assert all(len(of_session) == 1 for of_session in found.groups)
    assert_array_equal(frame.groups, GROUPS[frame.documents])


def test_positions_are_a_ranking():
    position = np.array([1, 2, 3, 4, 2, 1])
    expected = simulate_clicks(Y, GROUPS, SCORES, random_state=0)
    drawn = simulate_clicks(Y, GROUPS, positions=position, random_state=0)
    for name in expected:
        assert_array_equal(drawn[name], expected[name])


def test_candidates():
    """Any two of the rows of a query as likely, ranked by the ranker."""
    drawn = simulate_clicks(Y, GROUPS, SCORES, n_sessions=N, n_candidates=2, random_state=0)
    frame = pd.DataFrame(drawn)
    found = frame[frame.groups == "b"].groupby("sessions")["documents"].apply(tuple)
    share = found.value_counts(normalize=True)
    assert sorted(share.index) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert_allclose(share, 1 / 6, atol=0.01)
    assert ClickLog(**drawn).n_cells > 6


@pytest.mark.parametrize("n_candidates", [None, 3])
def test_seeds_and_blocks(n_candidates, monkeypatch):
    params = {"n_sessions": 500, "n_candidates": n_candidates}
    first = simulate_clicks(Y, GROUPS, SCORES, random_state=3, **params)
    again = simulate_clicks(Y, GROUPS, SCORES, random_state=np.random.RandomState(3), **params)
    other = simulate_clicks(Y, GROUPS, SCORES, random_state=4, **params)
    for name in first:
        assert_array_equal(first[name], again[name])
    assert not np.array_equal(first.clicks, other.clicks)
    monkeypatch.setattr(module, "BLOCK", 40)  # ten sessions at a time
    parts = simulate_clicks(Y, GROUPS, SCORES, random_state=3, **params)
    assert_array_equal(np.unique(parts.sessions), np.arange(500))
    assert ClickLog(**parts).n_sessions == 500


def test_ids():
    names = ["x", "y", "z", "u", "v", "w"]
    drawn = simulate_clicks(Y, GROUPS, SCORES, documents=names, random_state=0)
    expected = simulate_clicks(Y, GROUPS, SCORES, random_state=0)
    assert drawn.documents.tolist() == [names[row] for row in expected.documents]


def test_attractiveness_may_be_given():
    alpha = np.array([0.5, 0.2, 0.9, 0.1, 0.3, 0.7])
    drawn = simulate_clicks(
        alpha,
        GROUPS,
        SCORES,
        n_sessions=N,
        noise=0,
        gain="linear",
        max_grade=1,
        eta=0,
        random_state=0,
    )
    close(rates(drawn), alpha)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": None}, "Give either `scores` or `positions`"),
        ({"positions": SCORES}, "Give either `scores` or `positions`"),
        ({"scores": SCORES[:-1]}, r"`scores` must have one row for each of the 6 rows"),
        ({"scores": SCORES * np.nan}, "NaN"),
        ({"scores": None, "positions": [0, 1, 2, 3, 1, 2]}, "`positions` has 0 at row 0"),
        ({"scores": None, "positions": [1, 2, 2, 3, 1, 2]}, "has 2 at rows 1 and 2 of one query"),
        ({"model": "browsing"}, "`model` must be one of"),
        ({"model": "cascade", "eta": 1}, "`eta` is of the model 'position' and 'trust', and not"),
        (
            {"continuation": 0.5},
            "`continuation` is of the model 'dependent', and not of 'position'",
        ),
        ({"trust": 0.5}, "`trust` is of the model 'trust'"),
        ({"model": "trust", "trust": 2}, "trust == 2"),
        ({"model": "dependent", "continuation": 2}, "`continuation` must be from 0 to 1"),
        ({"model": "dependent", "continuation": [0.1]}, "one for each of the 10 positions"),
        ({"eta": -1}, "eta == -1"),
        ({"noise": 1}, "noise == 1"),
        ({"noise": -0.1}, "noise == -0.1"),
        ({"y": -Y}, "negative grade"),
        ({"y": 0 * Y}, "No grade in `y` has a positive gain"),
        ({"max_grade": 1}, "`y` has 2 at row 2, above max_grade=1"),
        ({"n_sessions": 0}, "n_sessions == 0"),
        ({"n_positions": 0}, "n_positions == 0"),
        ({"n_candidates": 0}, "n_candidates == 0"),
        ({"documents": ["a"]}, "`documents` must have one id for each of the 6 rows"),
        ({"groups": GROUPS[:-1]}, "`groups` has 5 entries but there are 6 rows"),
    ],
)
def test_what_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        simulate_clicks(**{"y": Y, "groups": GROUPS, "scores": SCORES} | changed)
