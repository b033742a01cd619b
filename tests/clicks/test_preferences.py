# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Pairs that clicks tell, against loops over sessions, and warnings of orders upside down."""

import inspect
import warnings

import numpy as np
import pytest
from click_logs import make_log, sessions
from hypothesis import assume, given
from numpy.testing import assert_array_equal
from oracles import clicks as oracle

from sklearn_ltr import MPBoost
from sklearn_ltr.clicks import ClickLog, preferences_from_clicks, simulate_clicks
from sklearn_ltr.clicks.preferences import AGAINST_THE_ORDER, STRATEGIES
from sklearn_ltr.exceptions import PositionBiasWarning
from sklearn_ltr.metrics import ndcg_score

each_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def quietly(*args, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PositionBiasWarning)
        return preferences_from_clicks(*args, **params)


@each_strategy
@given(drawn=sessions())
def test_pairs(strategy, drawn):
    expected = oracle.preferences(drawn, strategy)
    assume(expected)
    log = make_log(drawn)
    pairs, weight = quietly(log, strategy)
    rows = log.to_training(np.ones(6))
    winner, loser = pairs.T
    assert_array_equal(rows.queries[winner], rows.queries[loser])
    found = zip(rows.queries[winner], rows.documents[winner], rows.documents[loser], strict=True)
    assert dict(zip(found, weight, strict=True)) == expected
    assert len(pairs) == len(expected)


@each_strategy
@given(drawn=sessions())
def test_pairs_of_a_table(strategy, drawn):
    """Rows of a table, of which some were not shown, or which lacks some."""
    expected = oracle.preferences(drawn, strategy)
    groups, documents = np.divmod(np.random.default_rng(0).permutation(10), 5)
    log = make_log(drawn)
    for kept in (np.ones(10, dtype=bool), documents != 2):
        g, d = groups[kept], documents[kept]
        known = {key: n for key, n in expected.items() if {key[1], key[2]} <= set(d.tolist())}
        assume(known)
        pairs, weight = quietly(log, strategy, groups=g, documents=d, missing="drop")
        found = {(g[w], d[w], d[v]): n for (w, v), n in zip(pairs.tolist(), weight, strict=True)}
        assert found == known
        assert_array_equal(g[pairs[:, 0]], g[pairs[:, 1]])


def test_every_strategy_states_its_bias():
    text = inspect.getdoc(preferences_from_clicks)
    for strategy in STRATEGIES:
        entry = text.split(f'- "{strategy}":')[1].split('\n- "')[0]
        assert "*Bias*:" in entry


def simulated(n_rankers, y=None, n_sessions=5000, **params):
    rng = np.random.default_rng(1)
    grades, groups = rng.integers(0, 3, 200), np.repeat(np.arange(20), 10)
    grades = grades if y is None else np.full(200, y)
    scores = grades[:, None] + rng.normal(size=(200, n_rankers))
    drawn = simulate_clicks(
        grades, groups, scores, n_sessions=n_sessions, max_grade=2, random_state=0, **params
    )
    return grades, groups, scores, ClickLog(**drawn)


@each_strategy
def test_one_ranker(strategy):
    """What goes against the order is turned upside down, and is warned of; nothing else is."""
    grades, groups, scores, log = simulated(1)
    X = scores  # what the ranker ranked by
    documents = np.arange(200)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pairs, weight = preferences_from_clicks(
            log, strategy, groups=groups, documents=documents, missing="drop"
        )
    model = MPBoost(n_estimators=20).fit(X, preferences=pairs, preference_weight=weight)
    shown = ndcg_score(grades, scores[:, 0], groups, k=10)
    learnt = ndcg_score(grades, model.predict(X), groups, k=10)
    assert shown > 0.85
    if strategy in AGAINST_THE_ORDER:
        (warning,) = caught
        assert warning.category is PositionBiasWarning
        assert "upside down, as 100% of the preferences are for the document" in str(
            warning.message
        )
        assert learnt < shown - 0.2
    else:
        assert not caught
        assert learnt > shown - 0.05


@pytest.mark.parametrize("strategy", AGAINST_THE_ORDER)
def test_clicks_by_position_alone(strategy):
    """Of documents that attract alike, whatever rankers take turns."""
    for seed in range(5):
        *_, log = simulated(5, y=1, n_sessions=3000 + seed)
        with pytest.warns(PositionBiasWarning, match="upside down, as "):
            preferences_from_clicks(log, strategy)


def test_clicks_by_position_alone_in_random_orders():
    rng = np.random.default_rng(0)
    y, groups = np.ones(50), np.repeat(np.arange(5), 10)
    drawn = simulate_clicks(
        y, groups, rng.normal(size=(50, 30)), n_sessions=5000, max_grade=2, random_state=0
    )
    with pytest.warns(PositionBiasWarning, match="explained by position alone"):
        preferences_from_clicks(ClickLog(**drawn))


@each_strategy
def test_several_rankers(strategy, recwarn):
    """Where documents change places and attract differently, nothing is amiss."""
    *_, log = simulated(5, n_sessions=20_000, noise=0.05)
    preferences_from_clicks(log, strategy)
    assert not [
        w for w in recwarn if w.category is PositionBiasWarning and strategy == "skip_above"
    ]


def test_what_is_refused():
    log = ClickLog([0, 0], [0, 1], [1, 2], [0, 1], [5, 5])
    with pytest.raises(TypeError, match="`log` must be a ClickLog; got list"):
        preferences_from_clicks([])
    with pytest.raises(ValueError, match="`strategy` must be one of"):
        preferences_from_clicks(log, "best")
    with pytest.raises(ValueError, match="`missing` must be one of"):
        preferences_from_clicks(log, missing="ignore")
    with pytest.raises(ValueError, match="No session of the log has a pair of the strategy 'no_"):
        preferences_from_clicks(log, "no_click_next")
    with pytest.raises(ValueError, match="`groups` is None"):
        preferences_from_clicks(log, documents=[0, 1])
    with pytest.raises(ValueError, match="`documents` is None"):
        preferences_from_clicks(log, groups=[0, 0])
    with pytest.raises(ValueError, match="1 of the 2 documents of queries that were shown are not"):
        preferences_from_clicks(log, groups=[0, 0], documents=[0, 2])
    with pytest.raises(ValueError, match="give the log `sessions`"):
        preferences_from_clicks(ClickLog([0], [0], [1], [1]))
    with pytest.raises(ValueError, match=r"make it with ClickLog\(keep_pairs=True\)"):
        preferences_from_clicks(ClickLog([0], [0], [1], [1], [0], keep_pairs=False))
    with pytest.raises(ValueError, match="The log is empty"):
        preferences_from_clicks(ClickLog())
