# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""SVMMAP: the most violated order and the minimum, against all orders of small queries."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import svmmap as oracle
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from strategies import examples

from sklearn_ltr import SVMMAP
from sklearn_ltr._kernels import _violated
from sklearn_ltr.cutting_planes import Planes
from sklearn_ltr.datasets import make_ranking
from sklearn_ltr.metrics import average_precision_score
from sklearn_ltr.rankers.svmmap import _has_both, _MarginLoss
from sklearn_ltr.ranking import rows_to_rank
from sklearn_ltr.ranking_data import RankingData

seeds = st.integers(0, 2**32 - 1)


def most_violated(scores, relevant, offsets, n_threads=1):
    """What the kernel fills: numbers of relevant rows ahead, weights, losses."""
    n, offsets = len(scores), np.asarray(offsets, dtype=np.intp)
    ahead, weight, loss = np.zeros(n, np.intp), np.full(n, np.nan), np.empty(len(offsets) - 1)
    work = rows_to_rank(offsets, n_threads)
    scratch = np.empty(n), np.empty(n, np.intp)
    given = scores, relevant.astype(np.uint8), offsets, n_threads
    _violated.most_violated(*given, work, *scratch, ahead, weight, loss)
    return ahead, weight, loss


def draw_query(rng, longest):
    n = int(rng.integers(2, longest + 1))
    relevant = rng.random(n) < rng.choice([0.2, 0.5, 0.8])
    relevant[rng.permutation(n)[:2]] = True, False
    scores = rng.normal(size=n) * rng.choice([0.01, 0.3, 1.0, 10.0])
    return (scores.round(1) if rng.random() < 0.3 else scores), relevant


# The most violated order


@examples(60)
@given(seed=seeds)
def test_most_violated_of_all_orders(seed):
    scores, relevant = draw_query(np.random.default_rng(seed), 6)
    losses, margins = oracle.constraints(scores[:, None], relevant)
    _, weight, loss = most_violated(scores, relevant, [0, len(scores)])
    assert loss[0] - weight @ scores == pytest.approx((losses - margins[:, 0]).max(), abs=1e-12)
    # Both are those of one and the same order.
    at = np.isclose(losses, loss[0], atol=1e-12) & np.isclose(margins[:, 0], weight @ scores)
    assert at.any()


@examples(60)
@given(seed=seeds)
def test_most_violated_of_all_merges(seed):
    scores, relevant = draw_query(np.random.default_rng(seed), 11)
    ahead, weight, loss = most_violated(scores, relevant, [0, len(scores)])
    expected = oracle.largest_violation(scores, relevant)
    assert loss[0] - weight @ scores == pytest.approx(expected, abs=1e-12)
    placed = ahead[: (~relevant).sum()]
    assert (np.diff(placed) >= 0).all()
    assert (placed >= 0).all()
    assert (placed <= relevant.sum()).all()


def test_most_violated_by_hand():
    """All scores 0: an order costs its loss, and the worst has the relevant row last."""
    ahead, weight, loss = most_violated(np.zeros(3), np.array([1, 0, 0]), [0, 3])
    assert_array_equal(ahead[:2], 0)
    assert_allclose(loss, 2 / 3)  # average precision 1 / 3
    assert_allclose(weight, [2, -1, -1])  # (1 - -1) (x_0 - x_1) / 2 + (1 - -1) (x_0 - x_2) / 2
    # Ahead by 1 the relevant row stays: each row less would save 1 of margin, and cost 1/2 or 1/6.
    ahead, weight, loss = most_violated(np.array([1.0, 0, 0]), np.array([1, 0, 0]), [0, 3])
    assert_array_equal(ahead[:2], 1)
    assert_array_equal(loss, 0)
    assert_array_equal(weight, 0)


def test_long_queries_and_threads():
    """Each irrelevant row placed by itself, in O(p m), at the best place of all."""
    rng = np.random.default_rng(0)
    scores, relevant = rng.normal(size=700) * 0.1, rng.random(700) < 0.3
    offsets = [0, 400, 450, 700]
    found = most_violated(scores, relevant, offsets)
    for other in most_violated(scores, relevant, offsets, n_threads=3), found:
        for a, b in zip(found, other, strict=True):
            assert_array_equal(a, b)
    for q, (start, stop) in enumerate(pairwise(offsets)):
        h, good = scores[start:stop], relevant[start:stop]
        s, t = np.sort(h[good])[::-1], np.sort(h[~good])[::-1]
        i, k = np.arange(1, len(s) + 1)[:, None], np.arange(1, len(t) + 1)
        costs = i / (len(s) * (i + k - 1) * (i + k)) - 2 * (s[:, None] - t) / (len(s) * len(t))
        tails = np.vstack([np.cumsum(costs[::-1], axis=0)[::-1], np.zeros(len(t))])
        value = found[2][q] - found[1][start:stop] @ h
        assert value == pytest.approx(tails.max(axis=0).sum(), rel=1e-12)


# The minimum


def make(seed=0, n_queries=4, n_features=3, longest=5):
    """Queries of 2 to 5 rows, with ties, some of one kind of rows only."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries + 1), [4, *rng.integers(1, longest + 1, n_queries)])
    X = rng.normal(size=(len(groups), n_features))
    X[:, 1] = np.round(X[:, 1])
    y = rng.integers(0, 4, len(groups)).astype(float)
    y[:3] = 0, 1, 2
    order = rng.permutation(len(groups))
    return X[order], y[order], groups[order]


@examples(25)
@given(
    seed=seeds,
    C=st.sampled_from([0.1, 1.0, 20.0]),
    relevant_from=st.sampled_from([None, 1, 2]),
    as_sparse=st.booleans(),
)
def test_minimum_over_all_orders(seed, C, relevant_from, as_sparse):
    X, y, groups = make(seed)
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], groups.max() + 1)[groups]
    problem = *oracle.problem(X, y, groups, 2 if relevant_from == 2 else 1, weight), C
    expected = oracle.objective(oracle.solve(*problem), *problem)
    given = sparse.csr_array(X) if as_sparse else X
    model = SVMMAP(C, relevant_from=relevant_from, tol=1e-8)
    found = oracle.objective(model.fit(given, y, groups, query_weight=weight).coef_, *problem)
    assert found <= expected * (1 + 1e-6)
    assert found >= expected * (1 - 1e-5)
    assert model.n_queries_skipped_ == groups.max() + 1 - len(problem[0])


def loss_of(X, y, groups, relevant_from=1.0):
    """Of rows in the order of their queries."""
    data = RankingData.of(y, np.searchsorted(groups, np.arange(groups.max() + 2)), X=X)
    return _MarginLoss(data.select(_has_both(data, relevant_from)), relevant_from)


@examples(15)
@given(seed=seeds, C=st.sampled_from([1.0, 100.0]), tol=st.sampled_from([0.3, 0.03, 1e-4]))
def test_tol_bounds_the_excess(seed, C, tol):
    X, y, groups = make_ranking(n_queries=8, random_state=seed % 1000)
    loss = loss_of(X, y, groups)

    def F(w):
        return w @ w / 2 + C * loss(w)[0]

    loose, tight = (SVMMAP(C, tol=t).fit(X, y, groups) for t in (tol, 1e-7))
    assert F(loose.coef_) - F(tight.coef_) <= tol * F(loose.coef_)
    assert loose.n_iter_ <= tight.n_iter_


def test_slope_of_the_loss():
    """A subgradient: the loss is nowhere below the plane."""
    X, y, groups = make_ranking(n_queries=8, random_state=0)
    loss = loss_of(X, y, groups)
    rng = np.random.default_rng(0)
    for _ in range(20):
        w, other = rng.normal(size=(2, X.shape[1]))
        value, slope = loss(w)
        assert loss(other)[0] >= value + slope @ (other - w) - 1e-12


def test_it_bounds_average_precision():
    X, y, groups = make_ranking(n_queries=20, random_state=0)
    loss = loss_of(X, y, groups, 2.0)
    both = [0 < (y[groups == q] >= 2).mean() < 1 for q in range(20)]
    X, y, groups = (a[np.array(both)[groups]] for a in (X, y, groups))
    for w in np.random.default_rng(0).normal(size=(20, X.shape[1])):
        lack = 1 - average_precision_score(y, X @ w, groups=groups, relevant_from=2)
        assert loss(w)[0] >= lack


def test_rows_of_a_query_that_can_be_ordered():
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    y = (np.argsort(np.argsort(X @ np.arange(X.shape[1]))) > len(y) / 2).astype(float)
    model = SVMMAP(1e4).fit(X, y, groups)
    assert average_precision_score(y, model.predict(X), groups=groups) == pytest.approx(1)


def test_features_that_say_nothing():
    X, y, groups = make(1)
    with pytest.warns(UserWarning, match="same score"):
        model = SVMMAP().fit(np.zeros_like(X), y, groups)
    assert_array_equal(model.coef_, 0)


# Parameters


def test_relevant_from():
    X, y, groups = make(3)
    models = {r: SVMMAP(relevant_from=r).fit(X, y, groups) for r in (None, 0.5, 1, 2, 3)}
    assert models[None].relevant_from_ == 1
    for same in (0.5, 1):
        assert_array_equal(models[same].coef_, models[None].coef_)
    assert not np.allclose(models[2].coef_, models[1].coef_)
    binary = SVMMAP().fit(X, (y >= 2) * 5.0 - 7, groups)
    assert_allclose(binary.coef_, models[2].coef_, rtol=1e-12)
    assert binary.relevant_from_ == -2


def test_no_query_with_both_kinds_of_rows():
    X, y, groups = make(3)
    with pytest.raises(ValueError, match=r"relevant_from=7 no query .* from 0 to 3\. Set"):
        SVMMAP(relevant_from=7).fit(X, y, groups)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"C": 0}, ValueError, "C == 0"),
        ({"C": np.inf}, ValueError, "C == inf"),
        ({"tol": 0.0}, ValueError, "tol == 0"),
        ({"max_iter": 0}, ValueError, "max_iter == 0"),
        ({"relevant_from": np.nan}, ValueError, "`relevant_from` must be a finite grade or None"),
        ({"relevant_from": "1"}, TypeError, "relevant_from must be an instance of"),
    ],
)
def test_wrong_parameters(params, error, message):
    with pytest.raises(error, match=message):
        SVMMAP(**params).fit(*make())


def test_max_iter_warns():
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 planes .* raise max_iter"):
        model = SVMMAP(100.0, max_iter=2).fit(X, y, groups)
    assert model.n_iter_ == 2


def test_precision_of_numbers_warns(monkeypatch, capsys):
    """Where no plane is above the others any more, no more can be found."""
    monkeypatch.setattr(Planes, "add", lambda *plane: False)
    X, y, groups = make_ranking(n_queries=30, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"may exceed the minimum by \d"):
        SVMMAP(verbose=1).fit(X, y, groups)
    assert "the precision of numbers is reached" in capsys.readouterr().out


def test_verbose_prints_a_line_each_plane(capsys):
    model = SVMMAP(verbose=1).fit(*make())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) - 1 == model.n_iter_ > 1
    assert "duality gap" in lines[0]
    assert "within tol=0.001 of its minimum" in lines[-1]
