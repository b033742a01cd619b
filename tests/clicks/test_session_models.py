# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The cascade and the dependent click model, against sums over all that users may do."""

import warnings
from math import log as ln
from math import log2

import numpy as np
import pytest
from click_logs import make_log, sessions
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clicks as oracle

from sklearn_ltr.clicks import CascadeModel, ClickLog, DependentClickModel, simulate_clicks

PRIOR = (0.5, 1.5)


def fit_quietly(model, log):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(log)


def by_row(model):
    rows = zip(model.groups_.tolist(), model.documents_.tolist(), strict=True)
    return dict(zip(rows, model.attractiveness_.tolist(), strict=True))


def sums(drawn, top, bottom, key):
    """Counts of cells (see the oracle) added up by row, 0, or by position, 1."""
    found = {}
    for (query, document, position), counts in oracle.count_cells(drawn).items():
        name = (query, document) if key == 0 else position
        a, b = found.get(name, (0, 0))
        found[name] = a + counts[top], b + counts[bottom]
    return found


@pytest.mark.parametrize("prior", [(0.0, 0.0), PRIOR])
@given(drawn=sessions())
def test_cascade_shares(prior, drawn):
    model = fit_quietly(CascadeModel(attractiveness_prior=prior), make_log(drawn))
    expected = {
        row: (first + prior[0]) / (looked + sum(prior)) if looked + sum(prior) else 0
        for row, (first, looked) in sums(drawn, 3, 2, 0).items()
    }
    assert by_row(model) == pytest.approx(expected)
    share = sums(drawn, 2, 0, 1)
    expected = [share[k + 1][0] / share[k + 1][1] if k + 1 in share else 0 for k in range(6)]
    n = len(model.propensities_)
    assert_allclose(model.propensities_, np.array(expected[:n]) / max(expected), rtol=1e-12)


@pytest.mark.parametrize("prior", [(0.0, 0.0), PRIOR])
@given(drawn=sessions())
def test_dependent_click_shares(prior, drawn):
    model = DependentClickModel(attractiveness_prior=prior).fit(make_log(drawn))
    expected = {
        row: (clicked + prior[0]) / (looked + sum(prior)) if looked + sum(prior) else 0
        for row, (clicked, looked) in sums(drawn, 1, 4, 0).items()
    }
    assert by_row(model) == pytest.approx(expected)
    ends = sums(drawn, 5, 1, 1)
    clicks = sum(clicked for _, clicked in ends.values())
    overall = 1 - sum(last for last, _ in ends.values()) / clicks if clicks else 1
    for k, stays in enumerate(model.continuation_, start=1):
        last, clicked = ends.get(k, (0, 0))
        assert stays == pytest.approx(1 - last / clicked if clicked else overall)


def outcomes(model, drawn, stays_of):
    """Attractiveness, continuation, clicks and positions of each session."""
    attractiveness = by_row(model)
    for query, shown in drawn:
        documents, positions, clicks = zip(*shown, strict=True)
        yield (
            [attractiveness[query, d] for d in documents],
            [stays_of(model, k) for k in positions],
            list(clicks),
            positions,
        )


def no_more(model, position):
    return 0.0


def goes_on(model, position):
    return model.continuation_[position - 1]


@given(sessions(max_sessions=8))
def test_likelihood_of_sessions(drawn):
    log = make_log(drawn, keep_sessions=True)
    model = DependentClickModel(attractiveness_prior=PRIOR).fit(log)
    total = sum(
        ln(oracle.session_probability(alpha, stays, clicks))
        for alpha, stays, clicks, _ in outcomes(model, drawn, goes_on)
    )
    assert_allclose(model.score(log), total / log.n_impressions, rtol=1e-9)


@given(sessions(max_sessions=8))
def test_likelihood_to_the_first_click(drawn):
    log = make_log(drawn)
    model = fit_quietly(CascadeModel(attractiveness_prior=PRIOR), log)
    total = 0.0
    for alpha, stays, clicks, _ in outcomes(model, drawn, no_more):
        end = clicks.index(1) + 1 if any(clicks) else len(clicks)
        total += ln(oracle.session_probability(alpha[:end], stays[:end], clicks[:end]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_allclose(model.score(log), total / log.n_impressions, rtol=1e-9)


@pytest.mark.parametrize(
    ("Model", "stays_of"), [(CascadeModel, no_more), (DependentClickModel, goes_on)]
)
@given(drawn=sessions(max_sessions=6))
def test_perplexity(Model, stays_of, drawn):
    """By the probability of a click whatever was clicked above, added up over all outcomes."""
    log = make_log(drawn, keep_sessions=True)
    model = fit_quietly(Model(attractiveness_prior=PRIOR), log)
    bits = {}
    for alpha, stays, clicks, positions in outcomes(model, drawn, stays_of):
        for place, (click, position) in enumerate(zip(clicks, positions, strict=True)):
            p = oracle.click_probability(alpha, stays, place)
            bits.setdefault(position, []).append(log2(p if click else 1 - p))
    expected = [
        2 ** -np.mean(bits[k + 1]) if k + 1 in bits else np.nan for k in range(log.n_positions)
    ]
    assert_allclose(model.perplexity(log), expected, rtol=1e-9)


def simulated(model, **params):
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    scores = rng.normal(size=60)
    attractiveness = 0.1 + 0.9 * (2.0**y - 1) / 3
    drawn = simulate_clicks(
        y, groups, scores, n_sessions=60_000, n_positions=6, model=model, random_state=0, **params
    )
    return attractiveness, ClickLog(**drawn, keep_pairs=False)


def test_a_cascade_is_found(recwarn):
    """By one ranker alone, if users are such."""
    attractiveness, log = simulated("cascade")
    model = CascadeModel().fit(log)
    assert not recwarn.list
    n = np.bincount(log._counts.cell_row, weights=log._counts.cells[2])
    known = n > 300
    assert known.sum() > 20
    error = model.attractiveness_ - attractiveness[model.documents_.astype(int)]
    assert_allclose(error[known], 0, atol=0.1)


def test_dependent_clicks_are_found():
    """Where users always go on, as nothing below the last click is then left out by mistake."""
    attractiveness, log = simulated("dependent", continuation=0.0)
    model = DependentClickModel().fit(log)
    assert_array_equal(model.continuation_, 0)
    n = np.bincount(log._counts.cell_row, weights=log._counts.cells[4])
    error = model.attractiveness_ - attractiveness[model.documents_.astype(int)]
    assert_allclose(error[n > 300], 0, atol=0.1)


def test_several_clicks_are_no_cascade():
    log = ClickLog([0] * 3, [1, 2, 3], [1, 2, 3], [1, 0, 1], [0, 0, 0])
    message = "1 of 2 clicks are not the first of their session.*DependentClickModel"
    with pytest.warns(UserWarning, match=message):
        model = CascadeModel().fit(log)
    with pytest.warns(UserWarning, match=message):
        assert model.score(log) == 0


@pytest.mark.parametrize("Model", [CascadeModel, DependentClickModel])
def test_sessions_are_needed(Model):
    with pytest.raises(ValueError, match=f"{Model.__name__} needs to know what was shown together"):
        Model().fit(ClickLog([0], [0], [1], [1]))
    log = ClickLog([0, 0], [0, 1], [1, 2], [1, 0], [5, 5])
    with pytest.raises(ValueError, match=f"{Model.__name__}.perplexity needs every session"):
        Model().fit(log).perplexity(log)


def test_score_needs_sessions_or_not():
    log = ClickLog([0, 0], [0, 1], [1, 2], [1, 0], [5, 5])
    with pytest.raises(ValueError, match=r"DependentClickModel.score needs .*keep_sessions=True"):
        DependentClickModel().fit(log).score(log)
    assert CascadeModel().fit(log).score(log) == 0
