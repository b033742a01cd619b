# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Inverse propensities in losses, against explicit pairs and against formulas, query by query."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import lambdas as lambda_oracle
from oracles import yetirank as yeti_oracle
from strategies import examples

from sklearn_ltr import losses
from sklearn_ltr.labels import directed_distance
from sklearn_ltr.losses.base import bind
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.losses.hinge_sums import HingeSums
from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.losses.listed_fidelity import ListedFidelity
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.losses.xe_ndcg import GAMMAS
from sklearn_ltr.losses.yeti import ORDERS, YetiPairs
from sklearn_ltr.ranking_data import RankingData

seeds = st.integers(0, 2**32 - 1)


def uncertain(higher, lower):
    return 1 / (1 + np.exp(-0.7 * (higher - lower)))


# Every public loss of pairs, and its settings.
SETTINGS = {
    losses.LogisticPairs: [{}, {"sigmoid": 0.3}, {"target_probability": uncertain}],
    losses.FidelityPairs: [{}, {"target_probability": 0.8}, {"target_probability": uncertain}],
    losses.SquaredHinge: [{}, {"margin": 0.7}],
    losses.ExponentialPairs: [{}, {"distance": "binary"}],
}
PAIR_LOSSES = [(L, params) for L, settings in SETTINGS.items() for params in settings]
each_pair_loss = pytest.mark.parametrize(("L", "params"), PAIR_LOSSES)

PUBLIC = [getattr(losses, name) for name in losses.__all__]
TAKES = [L for L in PUBLIC if "propensity" in L.abilities]
REFUSES = [L for L in PUBLIC if L not in TAKES]


def rows(seed, n_grades=3, longest=9):
    """Queries of clicks, or of grades, with propensities and scores."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, 6)
    n = int(sizes.sum())
    y = rng.integers(0, n_grades, n).astype(float)
    if n_grades > 100:
        y += rng.random(n)  # so many that pairs are listed
    p = rng.choice([1.0, 0.7, 0.31, 0.05], n)
    scores = rng.choice([0.0, 0.5, 3.0], n) if rng.random() < 0.3 else 2 * rng.normal(size=n)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    data = RankingData.of(y, offsets, rng.choice([0.5, 1.0, 3.0], 6), propensity=p)
    return data, scores


def weights(data):
    """1 / p over the largest of the rows that are clicked, row by row."""
    weight, counts = np.ones(data.n_samples), np.zeros(data.n_samples, dtype=bool)
    for start, stop in pairwise(data.offsets):
        for i in range(start, stop):
            counts[i] = data.y[i] > data.y[start:stop].min() or data.y[i] > 0
    if counts.any():
        weight[counts] = data.propensity[counts].min() / data.propensity[counts]
    return weight


def pairs_of(data):
    return [
        (q, i, j)
        for q, (start, stop) in enumerate(pairwise(data.offsets))
        for i in range(start, stop)
        for j in range(start, stop)
        if data.y[i] > data.y[j]
    ]


def listed(data, loss, scores, normaliser):
    """Each pair as a query of its own, with its weight: value, gradient, curvature."""
    value, (gradient, curvature) = np.zeros(data.n_queries), np.zeros((2, data.n_samples))
    pairs = pairs_of(data)
    if pairs:
        both = np.array([row for _, i, j in pairs for row in (i, j)])
        alone = RankingData.of(data.y[both], np.arange(0, len(both) + 1, 2))
        w = weights(data)
        w = np.array([w[i] * data.v[q] / normaliser[q] for q, i, _ in pairs])
        bound = loss.bind(alone, w)
        bound.update(scores[both])
        np.add.at(value, [q for q, _, _ in pairs], w * bound.value)
        np.add.at(gradient, both, bound.gradient)
        np.add.at(curvature, both, bound.curvature)
    return value, gradient, curvature


@each_pair_loss
@pytest.mark.parametrize("pair_weighting", ["pair", "query"])
@examples(40)
@given(seed=seeds, n_grades=st.sampled_from([2, 4, 1000]))
def test_explicit_pairs(L, params, pair_weighting, seed, n_grades):
    data, scores = rows(seed, n_grades)
    if n_grades == 1000:
        data = replace(data, y=data.y / 200)
    bound = L(pair_weighting=pair_weighting, **params).bind(data)
    bound.update(scores)
    # What means are formed by are numbers of pairs.
    counts = np.bincount([q for q, _, _ in pairs_of(data)], minlength=data.n_queries)
    counts = np.maximum(counts, 1) if pair_weighting == "query" else np.ones(data.n_queries)
    expected = listed(data, L(pair_weighting="pair", **params), scores, counts)
    found = bound.weight * bound.value, bound.gradient, bound.curvature
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_every_loss_of_pairs_has_settings():
    assert {L for L in PUBLIC if issubclass(L, PairsAlike)} == set(SETTINGS)


@examples(40)
@given(seed=seeds, margin=st.sampled_from([0.6, "grade"]))
def test_hessian_of_the_hinge(seed, margin):
    data, scores = rows(seed)
    direction = np.random.default_rng(seed).normal(size=data.n_samples)
    sums = HingeSums(data, margin)
    at = sums(scores)
    product, count = np.zeros((2, data.n_samples))
    missing, w = np.zeros(data.n_queries), weights(data)
    for q, i, j in pairs_of(data):
        m = (data.y[i] - data.y[j] if margin == "grade" else margin) - (scores[i] - scores[j])
        if m > 0:
            count[[i, j]] += w[i]
            product[i] += w[i] * (direction[i] - direction[j])
            product[j] += w[i] * (direction[j] - direction[i])
            missing[q] += w[i] * m
    if (np.abs(count - at.count) > 1e-9).any():  # a pair on the edge
        return
    assert_allclose(at.product(direction), product, rtol=1e-10, atol=1e-11)
    assert ((at.count > 0) == (count > 0)).all()
    if margin != "grade":
        assert_allclose(sums.missing(scores, at), missing, rtol=1e-10, atol=1e-11)


@examples(40)
@given(seed=seeds, n_grades=st.sampled_from([2, 4, 1000]), squared=st.booleans())
def test_sweeps_of_stumps(seed, n_grades, squared):
    """Sums over the pairs that a threshold parts, of implicit and of listed pairs."""
    data, scores = rows(seed, n_grades)
    pairs, w = pairs_of(data), weights(data)
    if not pairs:
        return
    distance = lambda a, b: directed_distance(a, b, "logistic", beta=0.5)
    bound = StumpExponential(distance, squared).bind(data)
    bound.update(scores)
    above = np.random.default_rng(seed).random(data.n_samples) < 0.5
    crossing = bound.crossing(above)
    total = agreeing = contrary = 0.0
    degree = np.zeros(data.n_samples)
    for q, i, j in pairs:
        d = float(distance(data.y[[i]], data.y[[j]])[0])
        t = data.query_weight[q] * w[i] * np.exp(-d * (scores[i] - scores[j]) - bound.log_scale)
        total += t
        agreeing += t * d if above[i] and not above[j] else 0.0
        contrary += t * d if above[j] and not above[i] else 0.0
        degree[[i, j]] += t * d**2 if squared else t
    assert bound.total == pytest.approx(total, rel=1e-10)
    assert_allclose(bound.degree, degree, rtol=1e-10, atol=1e-13)
    found = (crossing.distance * crossing.agreeing).sum()
    assert found == pytest.approx(agreeing, rel=1e-10, abs=1e-13)
    found = (crossing.distance * crossing.contrary).sum()
    assert found == pytest.approx(contrary, rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("max_pairs_per_query", [None, 3])
@pytest.mark.parametrize("P", [1.0, 0.8])
def test_pairs_of_frank_have_an_equal_share_before_their_weight(max_pairs_per_query, P):
    data, scores = rows(1)
    loss = ListedFidelity(P, max_pairs_per_query=max_pairs_per_query)
    bound = loss.bind(data)
    bound.update(scores)
    pairs, w = loss.pairs(data), weights(data)
    counts, expected = np.diff(pairs.pair_offsets), 0.0
    for q, (first, last) in enumerate(pairwise(pairs.pair_offsets)):
        for i, j in zip(pairs.winner[first:last], pairs.loser[first:last], strict=True):
            s = 1 / (1 + np.exp(scores[j] - scores[i]))
            fall = 1 - np.sqrt(P * s) - np.sqrt((1 - P) * (1 - s))
            expected += data.query_weight[q] * w[i] / counts[q] * fall
    assert bound.total == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("k", "T"), [(None, None), (3, None), (3, 2), (None, 2)])
@examples(40)
@given(seed=seeds)
def test_lambdas(k, T, seed):
    data, scores = rows(seed, longest=6)
    name = "ndcg" if k is None else f"ndcg@{k}"
    bound = Lambdas(name, T, sigmoid=0.7).bind(data)
    bound.update(scores)
    w, n_positions = weights(data), 6
    for q, (start, stop) in enumerate(pairwise(data.offsets)):
        rows_of_query = slice(start, stop)
        y, s = data.y[rows_of_query], scores[rows_of_query].tolist()
        level = min(T or n_positions, k or n_positions)
        ideal = sum(
            (2**grade - 1) / np.log2(1 + position)
            for position, grade in enumerate(sorted(y, reverse=True)[:level], start=1)
        )
        gain = (2**y - 1) * w[rows_of_query]

        def weighted(ranking, gain=gain, ideal=ideal):
            top = ranking if k is None else ranking[:k]
            dcg = sum(gain[row] / np.log2(2 + place) for place, row in enumerate(top))
            return dcg / ideal if ideal else 0.0

        delta = lambda_oracle.expected_changes(weighted, y, s, level)
        G, W = lambda_oracle.lambdas(delta, gain, s, 0.7, False)
        assert_allclose(bound.gradient[rows_of_query], data.v[q] * G, rtol=1e-10, atol=1e-12)
        expected = data.v[q] * W
        assert_allclose(bound.hessian_diagonal[rows_of_query], expected, rtol=1e-10, atol=1e-12)


@examples(40)
@given(seed=seeds)
def test_value_of_lambdas_of_clicks_that_are_alike(seed):
    """Where all gains are equal the kernel leaves the value as it is."""
    y, p = np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.5, 0.5, 0.25, 1.0])
    bound = Lambdas("ndcg").bind(RankingData.of(y, [0, 2, 4], propensity=p))
    bound.update(np.random.default_rng(seed).normal(size=4) * [1, 1, 0, 0])
    # The first query has half of its ideal, the second, tied, the mean of 1 and 1 / log2(3).
    assert bound.loss == pytest.approx(1 - (0.5 + (1 + 1 / np.log2(3)) / 2) / 2)


@pytest.mark.parametrize("all_pairs_weight", [0.0, 0.5])
@examples(40)
@given(seed=seeds, round=st.integers(0, 3), far=st.booleans())
def test_yeti(all_pairs_weight, seed, round, far):
    data, scores = rows(seed, n_grades=4)
    scores = 300 * scores if far else scores
    if not pairs_of(data):
        return
    bound = YetiPairs(all_pairs_weight=all_pairs_weight).bind(data)
    bound.update(scores, round)
    w, drawn, every = weights(data), [], []
    for number, (start, stop) in enumerate(pairwise(data.offsets)):
        y, s = data.y[start:stop], scores[start:stop]
        table = yeti_oracle.uniforms(data.seed(round, ORDERS), number, 10, len(y))
        for found, pairs in (
            (drawn, yeti_oracle.drawn_pairs(y, s, table, 0.85)),
            (every, yeti_oracle.all_pairs(y)),
        ):
            weighted = [(i, j, w[start + i] * t) for i, j, t in pairs]
            found.append(yeti_oracle.logistic(weighted, s))
    of_drawn, of_all = (
        sum(v * sums.weight for v, sums in zip(data.v, found, strict=True))
        for found in (drawn, every)
    )
    times = all_pairs_weight * of_drawn / of_all
    value = [d.value + times * a.value for d, a in zip(drawn, every, strict=True)]
    G = np.concatenate(
        [
            v * (d.gradient + times * a.gradient)
            for v, d, a in zip(data.v, drawn, every, strict=True)
        ]
    )
    assert_allclose(bound.value, value, rtol=1e-10, atol=1e-12)
    assert_allclose(bound.gradient, G, rtol=1e-10, atol=1e-12)


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def aim_of(L, data, y, q):
    """What the rows of a query should have, without weights, and a row of grade 0 in their place.

    The gammas are those of round 0.
    """
    if L is losses.ListCrossEntropy:
        return np.exp(y) / np.exp(y).sum(), np.ones(len(y)) / np.exp(y).sum()
    gamma = np.random.default_rng(data.seed(0, GAMMAS)).random(data.n_samples)
    gamma = gamma[data.offsets[q] : data.offsets[q + 1]]
    spread = 2 ** y.max() - 2 ** y.min()
    gamma = np.minimum(1, spread) * gamma
    whole = (2**y - gamma).sum()
    return (2**y - gamma) / whole, (1 - gamma) / whole


@pytest.mark.parametrize("L", [losses.ListCrossEntropy, losses.ListNDCGCrossEntropy])
@examples(40)
@given(seed=seeds)
def test_softmax(L, seed):
    """What a click adds is weighed, and what a row has without one is not."""
    data, scores = rows(seed)
    bound = L().bind(data)
    bound.update(scores)
    w = weights(data)
    for q, (start, stop) in enumerate(pairwise(data.offsets)):
        y, s = data.y[start:stop], scores[start:stop]
        if len(set(y)) == 1:
            assert bound.value[q] == 0
            assert not bound.gradient[start:stop].any()
            continue
        aim, without = aim_of(L, data, y, q)
        aim = without + w[start:stop] * (aim - without)
        value = -(aim * np.log(softmax(s))).sum()
        gradient = aim.sum() * softmax(s) - aim
        assert bound.value[q] == pytest.approx(value, rel=1e-10)
        assert_allclose(bound.gradient[start:stop], data.v[q] * gradient, rtol=1e-10, atol=1e-12)
        # W - Hessian is positive semidefinite.
        hessian = aim.sum() * (np.diag(softmax(s)) - np.outer(softmax(s), softmax(s)))
        W = np.diag(bound.curvature[start:stop] / data.v[q])
        assert np.linalg.eigvalsh(W - hessian).min() > -1e-12


@examples(40)
@given(seed=seeds)
def test_approx_ndcg(seed):
    data, scores = rows(seed)
    bound = losses.ApproxNDCG().bind(data)
    bound.update(scores)
    w = weights(data)
    for q, (start, stop) in enumerate(pairwise(data.offsets)):
        y, s = data.y[start:stop], scores[start:stop]
        if len(set(y)) == 1:
            assert bound.value[q] == 0
            continue
        places = np.arange(1, len(y) + 1)
        ideal = (np.sort(2**y - 1)[::-1] / np.log2(1 + places)).sum()
        ranks = 0.5 + (1 / (1 + np.exp(s[:, None] - s))).sum(axis=1)
        dcg = (w[start:stop] * (2**y - 1) / np.log2(1 + ranks)).sum()
        assert bound.value[q] == pytest.approx(1 - dcg / ideal, rel=1e-10)


@pytest.mark.parametrize("L", TAKES, ids=lambda L: L.__name__)
@examples(20)
@given(seed=seeds)
@example(seed=0)
def test_gradient_is_that_of_the_value(L, seed):
    data, scores = rows(seed)
    scores = scores + 0.01 * np.arange(len(scores))  # off the corners
    bound = L().bind(data)
    bound.update(scores)
    gradient = bound.gradient.copy()
    for i in range(data.n_samples):
        step = 1e-5 * (np.arange(data.n_samples) == i)
        slope = (data.v * (bound._value(scores + step) - bound._value(scores - step))).sum() / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("L", TAKES, ids=lambda L: L.__name__)
def test_a_single_click_does_not_cancel_its_propensity(L):
    """Of two queries with one click each, the loss of the rarer look counts so many times more."""
    y, scores = np.array([1.0, 0, 0] * 2), np.array([0.1, 0.5, -0.3] * 2)
    data = RankingData.of(y, [0, 3, 6], propensity=np.tile([0.25, 1, 1], 2))
    data.propensity[3] = 1.0
    bound = L().bind(data)
    bound.update(scores)
    first, second = np.split(bound.gradient, 2)
    none = L().bind(replace(data, y=np.array([1.0, 0, 0, 0.0, 0, 0]), propensity=None))
    none.update(scores)
    assert_allclose(first, none.gradient[:3], rtol=1e-10)  # of weight 1, which is the largest
    if L in (losses.ListCrossEntropy, losses.ListNDCGCrossEntropy):
        # What a row has without a click is left as it is.
        assert not np.allclose(first, second, rtol=0.1)
    else:
        assert_allclose(4 * second, first, rtol=1e-10)


@pytest.mark.parametrize("L", [*TAKES, Lambdas, YetiPairs], ids=lambda L: L.__name__)
def test_equal_propensities_change_no_bit(L):
    data, scores = rows(3)
    expected = L().bind(replace(data, propensity=None))
    expected.update(scores)
    # Those of rows that are not clicked are of no effect.
    p = np.where(data.y > 0, 0.3, np.linspace(0.01, 1, data.n_samples))
    bound = L().bind(replace(data, propensity=p))
    bound.update(scores)
    for name in ("value", "gradient", "curvature"):
        if hasattr(expected, name):
            assert_array_equal(getattr(bound, name), getattr(expected, name))


@pytest.mark.parametrize("L", TAKES, ids=lambda L: L.__name__)
def test_weights_of_a_batch_are_relative_to_all(L):
    data, scores = rows(5)
    whole = L().bind(data)
    whole.update(scores)
    draws = whole.draws
    for q, (start, stop) in enumerate(pairwise(data.offsets)):
        part = L().bind(data.batch(np.arange(data.n_queries) == q))
        part.update(scores[start:stop])
        if not draws:
            expected = whole.gradient[start:stop]
            assert_allclose(part.gradient, expected, rtol=1e-10, atol=1e-13)


def test_weighted_degree():
    """Exactly 0 for rows without pairs, whatever the weights are."""
    for seed in range(50):
        data, _ = rows(seed, n_grades=4)
        y = np.where(np.random.default_rng(seed).random(data.n_samples) < 0.2, np.nan, data.y)
        data, expected = replace(data, y=y), np.zeros(data.n_samples)
        w = data.win_weight
        for _, i, j in pairs_of(data):
            expected[[i, j]] += w[i]
        assert_allclose(data.weighted_degree, expected, rtol=1e-13)
        assert ((data.weighted_degree == 0) == (expected == 0)).all()


@pytest.mark.parametrize("L", REFUSES, ids=lambda L: L.__name__)
def test_others_refuse(L):
    data, _ = rows(0)
    with pytest.raises(ValueError, match=rf"{L.__name__}\(.*takes no `propensity`: .*; .*"):
        L().bind(data)


def test_who_refuses():
    assert {L.__name__ for L in REFUSES} == {"ListLikelihood", "ListCosine", "SquaredError"}


def test_a_loss_of_ones_own():
    class Mine:
        def value(self, y, scores, offsets):
            return np.zeros(len(offsets) - 1)

        def gradient(self, y, scores, offsets):
            return np.zeros(len(y))

        curvature = gradient

    data, _ = rows(0)
    with pytest.raises(ValueError, match="takes no `propensity`"):
        bind(Mine(), data)


@pytest.mark.parametrize("L", [losses.LogisticPairs, losses.FidelityPairs])
def test_ties_have_no_winner(L):
    data, _ = rows(0)
    with pytest.raises(ValueError, match=r"`tie_weight`.*`propensity`.*set it to 0"):
        L(tie_weight=0.5).bind(data)
