# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The minimum over some planes, against a general solver."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from strategies import examples

from sklearn_ltr.cutting_planes import PATIENCE, Planes

seeds = st.integers(0, 2**32 - 1)


@examples(40)
@given(seed=seeds, C=st.sampled_from([0.01, 1.0, 100.0]))
def test_minimum_over_planes(seed, C):
    """Slopes and heights of any kind: repeated, dependent, more than features, some below 0."""
    rng = np.random.default_rng(seed)
    n_planes, n_features = rng.integers(1, 12), rng.integers(1, 5)
    G = rng.normal(size=(n_planes, n_features)) * rng.choice([0.1, 1.0, 10.0])
    h = rng.random(n_planes) * rng.choice([0.5, 2.0])
    if n_planes > 2:
        G[1], G[2] = G[0], 2 * G[0]
        h[1] = h[0] if rng.random() < 0.5 else h[1]
    planes, w, lowest = Planes(C, n_features), np.zeros(n_features), -np.inf
    for g, height in zip(G, h, strict=True):
        planes.add(g, height, w)
        w = planes.minimise()
        assert planes.value >= lowest - 1e-12 * abs(lowest)
        lowest = planes.value
    for _ in range(30):  # those that were below the others at their turn
        heights = G @ w + h
        if not planes.add(G[heights.argmax()], h[heights.argmax()], w):
            break
        w = planes.minimise()
    value = w @ w / 2 + C * max((G @ w + h).max(), 0)
    assert planes.value == pytest.approx(value, rel=1e-9, abs=1e-12)
    result = minimize(
        lambda x: x[:-1] @ x[:-1] / 2 + C * x[-1],
        np.append(np.zeros(n_features), h.max()),
        jac=lambda x: np.append(x[:-1], C),
        method="SLSQP",
        bounds=[(None, None)] * n_features + [(0, None)],
        constraints={
            "type": "ineq",
            "fun": lambda x: x[-1] - G @ x[:-1] - h,
            "jac": lambda x: np.column_stack([-G, np.ones(n_planes)]),
        },
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert value <= result.fun * (1 + 1e-6) + 1e-9


def test_planes_that_are_not_used_are_dropped():
    planes = Planes(1.0, 1)
    assert planes.add(np.array([1.0]), 0.5, np.zeros(1))
    assert planes.add(np.array([-1e-3]), 0.6, planes.minimise())
    for k in range(PATIENCE + 2):
        w = planes.minimise()
        assert len(planes._h) == (3 if k < PATIENCE else len(planes._h))
    assert len(planes._h) < 4
    assert planes.value == pytest.approx(w @ w / 2 + max(w[0] + 0.5, 0.6 - 1e-3 * w[0], 0))


def test_features_of_very_different_size():
    """A sum of slopes of 1e8 has not the digits that heights of the size of 1 need."""
    rng = np.random.default_rng(0)
    G = rng.normal(size=(40, 6)) * [1.0, 1e8, 1e4, 1.0, 1e-3, 1e6]
    h = 1 + rng.random(40)
    planes, w = Planes(1.0, 6), np.zeros(6)
    for _ in range(200):
        heights = G @ w + h
        if heights.max() - max((planes._G @ w + planes._h).max(), 0) < 1e-7:
            break
        assert planes.add(G[heights.argmax()], h[heights.argmax()], w)
        w = planes.minimise()
    value = w @ w / 2 + max((G @ w + h).max(), 0)
    assert planes.value <= value * (1 + 1e-9)
    assert planes.value == pytest.approx(value, rel=1e-6)
