# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The position-based model, against rounds and likelihoods in loops."""

import warnings

import numpy as np
import pytest
from click_logs import cells_of, make_log, sessions
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import clicks as oracle
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr.clicks import ClickLog, PositionBasedModel, simulate_clicks
from sklearn_ltr.clicks.position_based import _Cells
from sklearn_ltr.exceptions import SeparatePositionsWarning


def fit_quietly(log, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PositionBasedModel(**params).fit(log)


def with_clicks(drawn):
    assume(any(click for _, shown in drawn for _, _, click in shown))
    return drawn


def by_row(model):
    rows = zip(model.groups_.tolist(), model.documents_.tolist(), strict=True)
    return dict(zip(rows, model.attractiveness_, strict=True))


def by_position(model):
    return dict(enumerate(model.propensities_.tolist(), start=1))


@given(sessions(), st.integers(1, 5))
def test_rounds_of_em(drawn, n_rounds):
    log = make_log(with_clicks(drawn))
    cells = cells_of(log)
    gamma, alpha = {k: 0.0 for _, k in cells}, {row: 0.5 for row, _ in cells}
    gamma |= {k: 0.5 for (_, k), (_, clicked) in cells.items() if clicked}
    for _ in range(n_rounds):
        gamma, alpha = oracle.em_round(cells, gamma, alpha)
    model = fit_quietly(log, max_iter=n_rounds, tol=1e-300)
    expected = [gamma.get(k + 1, 0) for k in range(log.n_positions)]
    assert_allclose(model.propensities_, np.array(expected) / max(expected), rtol=1e-9)
    assert model.n_iter_ <= n_rounds


def connected_log(seed, n_sessions=400, **params):
    """Three rankers that take turns on six queries of six documents."""
    rng = np.random.default_rng(seed)
    y, groups = rng.integers(0, 3, 36), np.repeat(np.arange(6), 6)
    scores = rng.normal(size=(36, 3))
    return ClickLog(
        **simulate_clicks(
            y, groups, scores, n_sessions=n_sessions, n_positions=4, random_state=seed
        ),
        **params,
    )


@pytest.mark.parametrize("seed", range(4))
def test_em_finds_the_largest_likelihood(seed):
    """As a general optimiser does, of the likelihood in loops; it has one maximum."""
    log = connected_log(seed)
    cells = cells_of(log)
    positions, rows = sorted({k for _, k in cells}), sorted({row for row, _ in cells})

    def probabilities(z):
        p = 1 / (1 + np.exp(-z))
        gamma = {k: 1.0 if i == 0 else p[i - 1] for i, k in enumerate(positions)}
        return gamma, dict(zip(rows, p[len(positions) - 1 :], strict=True))

    def loss(z):
        return -oracle.log_likelihood(cells, *probabilities(z))

    n = len(positions) - 1 + len(rows)
    best = minimize(
        loss, np.zeros(n), method="L-BFGS-B", bounds=[(-20, 20)] * n, options={"maxfun": 10**6}
    )
    gamma, _ = probabilities(best.x)
    model = PositionBasedModel().fit(log)
    found = oracle.log_likelihood(cells, by_position(model), by_row(model))
    assert model.propensities_[0] == 1
    assert found >= -best.fun - 1e-4
    assert_allclose(model.propensities_, list(gamma.values()), rtol=5e-3)
    assert_allclose(model.score(log), found / log.n_impressions, rtol=1e-12)


@pytest.mark.parametrize("method", ["em", "interventions"])
@given(drawn=sessions(max_sessions=30, n_documents=4, max_position=4))
def test_attractiveness_is_the_most_likely_given_the_propensities(method, drawn):
    log = make_log(with_clicks(drawn))
    cells = cells_of(log)
    model = fit_quietly(log, method=method, max_iter=50)
    gamma, alpha = by_position(model), by_row(model)
    # Interventions may put a position at 0 that no comparison has a click at, which they warn of.
    assume(all(gamma[k] > 0 for (_, k), (_, clicked) in cells.items() if clicked))
    for row, a in alpha.items():
        own = {key: counts for key, counts in cells.items() if key[0] == row}
        best = oracle.log_likelihood(own, gamma, {row: a})
        never = not any(clicked for _, clicked in own.values())
        for other in (a * 0.99, min(a * 1.01, 0.9999), min(a + 1e-3, 0.9999)):
            if other > 0 or never:
                assert oracle.log_likelihood(own, gamma, {row: other}) <= best + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_interventions_maximise_what_they_say(seed):
    log = connected_log(seed)
    rates = oracle.intervention_rates(cells_of(log))
    model = PositionBasedModel("interventions").fit(log)
    pairs = sorted({tuple(sorted(key)) for key in rates})
    n = log.n_positions

    def best_r(gamma):
        found = {}
        for pair in pairs:
            own = {key: value for key, value in rates.items() if tuple(sorted(key)) == pair}

            def loss(z, own=own, pair=pair):
                return -oracle.interventions_objective(own, gamma, {pair: 1 / (1 + np.exp(-z[0]))})

            z = minimize(loss, [0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
            found[pair] = 1 / (1 + np.exp(-z.x[0]))
        return found

    def value(propensities):
        gamma = dict(enumerate(propensities, start=1))
        return oracle.interventions_objective(rates, gamma, best_r(gamma))

    best = value(model.propensities_)
    for k in range(1, n):
        for factor in (0.97, 1.03):
            other = model.propensities_.copy()
            other[k] = min(other[k] * factor, 1)
            assert value(other) < best


@pytest.mark.parametrize("method", ["em", "interventions"])
@pytest.mark.parametrize("eta", [0.5, 1, 2])
def test_propensities_are_found(method, eta):
    """Those that the clicks were drawn with."""
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    log = ClickLog(
        **simulate_clicks(
            y,
            groups,
            rng.normal(size=(60, 3)),
            n_sessions=200_000,
            eta=eta,
            n_positions=5,
            random_state=0,
        ),
        keep_pairs=False,
    )
    model = PositionBasedModel(method).fit(log)
    truth = np.arange(1, 6.0) ** -eta
    assert_allclose(model.propensities_, truth, rtol=0.06)
    attractiveness = 0.1 + 0.9 * (2.0**y - 1) / 3
    kept = model.documents_.astype(int)
    assert_allclose(model.attractiveness_, attractiveness[kept], atol=0.1)


@given(sessions(max_sessions=20), st.data(), st.sampled_from(["em", "interventions"]))
def test_order_names_and_threads_do_not_matter(drawn, data, method):
    """To the last bit."""
    drawn = with_clicks(drawn)
    expected = fit_quietly(make_log(drawn), method=method, max_iter=20)
    query, document = {0: 1, 1: 0}, data.draw(st.permutations(range(5)))
    renamed = [
        (query[q], [(document[d], position, click) for d, position, click in shown])
        for q, shown in data.draw(st.permutations(drawn))
    ]
    model = fit_quietly(make_log(renamed), method=method, max_iter=20, n_jobs=2)
    assert_array_equal(model.propensities_, expected.propensities_)
    found, wanted = by_row(model), by_row(expected)
    assert {(query[q], document[d]): a for (q, d), a in wanted.items()} == found


def test_equal_shares_of_clicks():
    """A first round leaves the ratio of the propensities, and a fit must not end there."""
    log = log_of(("a", 1, 100, 40), ("b", 1, 100, 0), ("a", 2, 100, 20), ("c", 2, 100, 20))
    model = PositionBasedModel().fit(log)
    assert_allclose(model.propensities_, [1, 0.5], rtol=1e-3)


def test_more_rows_than_blocks():
    """Shared out between threads, the same to the last bit."""
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 3, 3000), np.repeat(np.arange(300), 10)
    log = ClickLog(
        **simulate_clicks(y, groups, rng.normal(size=(3000, 3)), n_sessions=3000, random_state=0)
    )
    models = [fit_quietly(log, max_iter=30, n_jobs=n) for n in (1, 2, 3)]
    for model in models[1:]:
        assert_array_equal(model.propensities_, models[0].propensities_)
        assert_array_equal(model.attractiveness_, models[0].attractiveness_)


def test_a_prior_adds_impressions():
    """At the top alone, everything is a share: clicks and the prior's over impressions and its."""
    log = ClickLog([0] * 6, list("aabbbc"), [1] * 6, [1, 1, 0, 1, 0, 0])
    plain = PositionBasedModel().fit(log)
    assert_allclose(plain.attractiveness_, [1, 1 / 3, 0], atol=1e-12)
    model = PositionBasedModel(attractiveness_prior=(1, 2)).fit(log)
    assert_allclose(model.attractiveness_, [3 / 5, 2 / 6, 1 / 4], atol=1e-12)


def test_the_first_position_need_not_be_the_likeliest():
    """Nor that with the most clicks: there the better documents are."""
    log = log_of(
        ("a", 1, 1000, 240), ("a", 2, 1000, 480), ("b", 1, 9000, 3600), ("c", 2, 9000, 450)
    )
    for method in ("em", "interventions"):
        model = PositionBasedModel(method, max_iter=10**5, tol=1e-9).fit(log)
        assert_allclose(model.propensities_, [0.5, 1], rtol=1e-3)
        assert_allclose(model.attractiveness_, [0.48, 0.8, 0.05], rtol=1e-3)


# Warnings ---------------------------------------------------------------------------------------


def one_ranker(n_sessions=500):
    y, groups = np.arange(40) % 3, np.repeat(np.arange(8), 5)
    return ClickLog(**simulate_clicks(y, groups, y, n_sessions=n_sessions, random_state=0))


@pytest.mark.parametrize("method", ["em", "interventions"])
def test_one_ranker(method):
    message = r"fall into 5 sets that cannot be compared, position 1; position 2; .*take turns"
    with pytest.warns(SeparatePositionsWarning, match=message):
        PositionBasedModel(method).fit(one_ranker())


@pytest.mark.parametrize("method", ["em", "interventions"])
def test_several_rankers(method, recwarn):
    PositionBasedModel(method).fit(connected_log(0))
    assert not recwarn.list


def log_of(*rows):
    """A log of (document, position, shown, clicked)."""
    impressions = [
        (0, document, position, int(i < clicked))
        for document, position, shown, clicked in rows
        for i in range(shown)
    ]
    return ClickLog(*zip(*impressions, strict=True))


@pytest.mark.parametrize(
    ("rows", "n_sets"),
    [
        ([("a", 1, 4, 2), ("a", 2, 4, 1)], 1),
        ([("a", 1, 4, 2), ("b", 2, 4, 1)], 2),
        # Clicked at 1 and seen at 2: propensity 2 is bounded from above only, until ...
        ([("a", 1, 4, 2), ("a", 2, 4, 0), ("b", 2, 4, 1)], 2),
        # ... a click at 2 on what is shown at 1.
        ([("a", 1, 4, 2), ("a", 2, 4, 0), ("b", 2, 4, 1), ("b", 1, 4, 0)], 1),
        # Never clicked, so that it says nothing.
        ([("a", 1, 4, 2), ("b", 2, 4, 1), ("c", 1, 9, 0), ("c", 2, 9, 0)], 2),
        # By way of position 3.
        ([("a", 1, 4, 2), ("a", 3, 4, 1), ("b", 2, 4, 1), ("b", 3, 4, 1)], 1),
        # A circle of bounds in one direction.
        (
            [("a", 1, 4, 2), ("a", 2, 4, 0), ("b", 2, 4, 2), ("b", 3, 4, 0)]
            + [("c", 3, 4, 2), ("c", 1, 4, 0)],
            1,
        ),
    ],
)
def test_sets_of_positions(rows, n_sets):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PositionBasedModel(max_iter=10**5).fit(log_of(*rows))
    said = [str(w.message) for w in caught if w.category is SeparatePositionsWarning]
    assert len(said) == (n_sets > 1)
    assert all(f"fall into {n_sets} sets" in text for text in said)


def test_a_position_without_a_click():
    log = log_of(("a", 1, 4, 2), ("a", 2, 4, 0), ("b", 3, 4, 0))
    with pytest.warns(UserWarning, match="Nothing was clicked at positions 2, 3, whose propensity"):
        model = PositionBasedModel().fit(log)
    assert_array_equal(model.propensities_, [1, 0, 0])
    with pytest.raises(ValueError, match=r"has 0 for position 2; .* Without a click"):
        log.to_training(model.propensities_)


def test_no_click():
    with pytest.raises(ValueError, match="The log has no click"):
        PositionBasedModel().fit(log_of(("a", 1, 4, 0)))


def test_no_convergence():
    with pytest.warns(ConvergenceWarning, match=r"after max_iter=3 rounds.*Raise `max_iter`"):
        PositionBasedModel(max_iter=3).fit(connected_log(0))


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"method": "mle"}, "`method` must be one of"),
        ({"max_iter": 0}, "max_iter == 0"),
        ({"tol": 0}, "tol == 0"),
        ({"tol": np.nan}, "tol == nan"),
    ],
)
def test_parameters(params, error):
    with pytest.raises(ValueError, match=error):
        PositionBasedModel(**params).fit(connected_log(0))


def test_rows_alike_are_fitted_once():
    """Documents with the same counts, a hundred times, as one with the propensities it has."""
    shown = [("a", 1, 8, 5), ("a", 2, 6, 2), ("b", 1, 5, 1), ("b", 2, 9, 1), ("c", 2, 3, 0)]
    many = [(f"{name}{i}", *counts) for i in range(100) for name, *counts in shown]
    once, often = log_of(*shown), log_of(*many)
    for method in ("em", "interventions"):
        expected, model = (PositionBasedModel(method).fit(log) for log in (once, often))
        assert_allclose(model.propensities_, expected.propensities_, rtol=1e-9)
        assert_allclose(model.attractiveness_, np.repeat(expected.attractiveness_, 100), rtol=1e-6)
    cells = _Cells.of_counts(often._counts)
    assert cells.times.tolist() == [100.0] * 3
    assert len(cells.position) == 5


@given(sessions(max_sessions=30, n_queries=4))
def test_rows_alike_are_those_that_are(drawn):
    log = make_log(drawn)
    counts = cells_of(log)
    rows = list(dict.fromkeys(row for row, _ in counts))
    content = {row: sorted((k, n) for (r, k), n in counts.items() if r == row) for row in rows}
    cells = _Cells.of_counts(log._counts)
    for i, first in enumerate(rows):
        own = slice(*cells.offsets[cells.number[i] : cells.number[i] + 2])
        clicked = cells.clicked[own]
        held = zip(cells.position[own] + 1, clicked + cells.skipped[own], clicked, strict=True)
        assert sorted((k, (n, c)) for k, n, c in held) == content[first]
        alike = [content[first] == content[second] for second in rows]
        assert_array_equal(cells.number == cells.number[i], alike)
        assert cells.times[cells.number[i]] == sum(alike)
