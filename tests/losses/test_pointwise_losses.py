# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of single rows against central differences, and at their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_ltr.losses.pointwise import binomial_loss, multinomial_loss, sigmoid, softmax

LOSSES = {"multinomial": (softmax, multinomial_loss), "binomial": (sigmoid, binomial_loss)}


def make(kind, n=50, K=4):
    rng = np.random.default_rng(0)
    F, level = 3 * rng.normal(size=(K, n)), rng.integers(0, K + 1, n)
    if kind == "multinomial":
        return F, np.equal.outer(np.arange(K), level % K)
    return F, np.less_equal.outer(np.arange(1, K + 1), level)


@pytest.mark.parametrize("kind", LOSSES)
def test_residual_is_the_negative_gradient_and_p_q_the_curvature(kind):
    probabilities, loss = LOSSES[kind]
    F, y = make(kind)
    p, step = probabilities(F), 1e-4
    for k in range(len(F)):
        up, down = F.copy(), F.copy()
        up[k] += step
        down[k] -= step
        above, below = loss(probabilities(up), y), loss(probabilities(down), y)
        assert_allclose((above - below) / (2 * step), p[k] - y[k], atol=1e-7)
        curvature = (above - 2 * loss(p, y) + below) / step**2
        assert_allclose(curvature, p[k] * (1 - p[k]), atol=1e-5)


def test_multinomial_by_hand():
    F = np.log([[1.0, 2.0], [3.0, 2.0]])
    assert_allclose(softmax(F), [[1 / 4, 1 / 2], [3 / 4, 1 / 2]], rtol=1e-15)
    y = np.array([[True, False], [False, True]])
    assert_allclose(multinomial_loss(softmax(F), y), [np.log(4), np.log(2)], rtol=1e-15)


def test_binomial_by_hand():
    F = np.log([[1.0, 3.0], [1 / 4, 4.0]])
    y = np.array([[True, False], [False, True]])
    expected = [np.log(2) + np.log(5 / 4), np.log(4) + np.log(5 / 4)]
    assert_allclose(binomial_loss(sigmoid(F), y), expected, rtol=1e-15)


@pytest.mark.parametrize("kind", LOSSES)
def test_huge_outputs(kind):
    probabilities, loss = LOSSES[kind]
    F = np.array([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]])
    p = probabilities(F)
    assert np.isfinite(p).all()
    assert ((p >= 0) & (p <= 1)).all()
    for y in (F > 0, F <= 0):
        assert np.isfinite(loss(p, y)).all()
    assert_array_equal(loss(probabilities(F[:, :1]), F[:, :1] > 0), [0])
