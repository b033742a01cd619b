# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of the classes of rows against central differences, and at their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr.losses.binomial import CumulativeBinomial
from sklearn_ltr.losses.multinomial import Multinomial, softmax
from sklearn_ltr.ranking_data import RankingData

LOSSES = {"multinomial": Multinomial, "binomial": CumulativeBinomial}
KINDS = pytest.mark.parametrize("kind", LOSSES)


def level_of(y):
    return y.astype(int)


def bound(kind, y, n_levels, query_weight=None, sample_weight=None):
    """The loss of rows, in queries of two."""
    offsets = np.append(np.arange(0, len(y), 2), len(y))
    data = RankingData.of(y, offsets, query_weight, sample_weight=sample_weight)
    return LOSSES[kind](n_levels, level_of).bind(data)


def make(kind, n=50, K=4):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, n).astype(float)
    return 3 * rng.normal(size=(K if kind == "multinomial" else K - 1, n)), y


@KINDS
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_and_curvature_equal_differences_of_the_loss(kind, weighted):
    F, y = make(kind)
    rng = np.random.default_rng(1)
    weight, count = (rng.uniform(0.5, 3, n) for n in (25, 50)) if weighted else (None, None)
    loss, step = bound(kind, y, 4, weight, count), 1e-4
    loss.update(F)
    gradient, curvature, here = loss.gradient, loss.curvature, loss.loss
    # The loss is a mean over rows; gradient and curvature are those of each row.
    share = np.ones(50) if not weighted else np.repeat(weight, 2) * count
    share = share / share.sum()
    for k in range(len(F)):
        for i in range(0, 50, 7):
            up, down = F.copy(), F.copy()
            up[k, i] += step
            down[k, i] -= step
            loss.update(up)
            above = loss.loss
            loss.update(down)
            below = loss.loss
            slope, bend = (above - below) / (2 * step), (above - 2 * here + below) / step**2
            assert_allclose(slope, share[i] * gradient[k, i], atol=1e-8)
            assert_allclose(bend, share[i] * curvature[k, i], atol=1e-6)


def test_multinomial_by_hand():
    F = np.log([[1.0, 2.0], [3.0, 2.0]])
    assert_allclose(softmax(F), [[1 / 4, 1 / 2], [3 / 4, 1 / 2]], rtol=1e-15)
    loss = bound("multinomial", np.array([0.0, 1.0]), 2)
    loss.update(F)
    assert_allclose(loss.loss, (np.log(4) + np.log(2)) / 2, rtol=1e-15)
    assert_allclose(loss.gradient, [[-3 / 4, 1 / 2], [3 / 4, -1 / 2]], rtol=1e-15)
    assert_allclose(loss.curvature, [[3 / 16, 1 / 4], [3 / 16, 1 / 4]], rtol=1e-15)


def test_binomial_by_hand():
    # Of class 1 or above with probability 1/2 and 3/4, of class 2 with 1/5 and 4/5.
    loss = bound("binomial", np.array([1.0, 0.0]), 3)
    loss.update(np.log([[1.0, 3.0], [1 / 4, 4.0]]))
    expected = np.log(2) + np.log(5 / 4), np.log(4) + np.log(5)
    assert_allclose(loss.loss, sum(expected) / 2, rtol=1e-15)
    assert_allclose(loss.gradient, [[-1 / 2, 3 / 4], [1 / 5, 4 / 5]], rtol=1e-15)


@KINDS
def test_huge_outputs(kind):
    F = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]])
    n_levels = 2 if kind == "multinomial" else 3
    for y in (np.zeros(3), np.ones(3)):
        loss = bound(kind, y, n_levels)
        loss.update(F)
        assert np.isfinite(loss.loss)
        assert (np.abs(loss.gradient) <= 1).all()
        assert ((loss.curvature >= 0) & (loss.curvature <= 0.25)).all()
    loss = bound("multinomial", np.zeros(1), 2)
    loss.update(F[:, :1])
    assert_array_equal(loss.loss, 0)
