# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of rows and hidden layers, beside sums that are exact but for one rounding."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.special import expit
from strategies import examples

from sklearn_ltr.linear import ACTIVATIONS, hidden_layer, weighted_sums

FUNCTIONS = {"tanh": math.tanh, "logistic": expit, "relu": lambda z: max(z, 0.0)}
SMALLEST = 5e-324  # what a product may lose where it is less than that of normal numbers

numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-200, -1e-200]), st.floats(-1e140, 1e140)
)


@st.composite
def sums(draw, n_units):
    """Rows and the weights of units; some rows equal."""
    n, d = draw(st.integers(1, 9)), draw(st.integers(1, 40))
    X = np.array(draw(st.lists(numbers, min_size=n * d, max_size=n * d))).reshape(n, d)
    W = np.array(draw(st.lists(numbers, min_size=n_units * d, max_size=n_units * d)))
    X[-1] = X[0]
    return X, W.reshape(d, n_units)


def exact(row, weights):
    """The sum of the terms, and what it may be off by."""
    terms = [float(x) * float(w) for x, w in zip(row, weights, strict=True)]
    bound = 1e-12 * math.fsum(abs(term) for term in terms) + len(terms) * SMALLEST
    return math.fsum(terms), bound


@given(sums(n_units=1), st.sampled_from([1, 2]))
@examples(200)
def test_weighted_sums(problem, n_threads):
    X, W = problem
    found = weighted_sums(X, W.ravel(), n_threads)
    for row, value in zip(X, found, strict=True):
        expected, bound = exact(row, W.ravel())
        assert abs(value - expected) <= bound
    assert_array_equal(weighted_sums(sparse.csr_array(X), W.ravel(), n_threads), found)
    assert_array_equal(np.signbit(found[-1]), np.signbit(found[0]))


@given(sums(n_units=6), st.sampled_from(ACTIVATIONS), st.sampled_from([1, 2]))
@examples(100)
def test_hidden_layer(problem, activation, n_threads):
    X, W = problem
    for n_units in (1, 4, 6):
        weights = np.ascontiguousarray(W[:, :n_units])
        intercepts = np.linspace(-1, 1, n_units)
        found = hidden_layer(X, weights, intercepts, activation, n_threads)
        assert found.shape == (len(X), n_units)
        for i, u in np.ndindex(found.shape):
            total, bound = exact([*X[i], 1.0], [*weights[:, u], intercepts[u]])
            # All three rise; their own rounding is a few units in the last place.
            low, high = (FUNCTIONS[activation](total + off) for off in (-bound, bound))
            assert low - 4e-16 * abs(low) <= found[i, u] <= high + 4e-16 * abs(high)
        stored = hidden_layer(sparse.csr_array(X), weights, intercepts, activation, n_threads)
        assert_array_equal(stored, found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_formats(dtype, index):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 19)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = 0
    X[3:6] = 0
    w, W = rng.normal(size=19), rng.normal(size=(19, 7))
    stored = sparse.csr_array(X)
    stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    assert_array_equal(weighted_sums(stored, w), weighted_sums(X.astype(np.float64), w))
    layer = W, np.ones(7), "tanh"
    assert_array_equal(hidden_layer(stored, *layer), hidden_layer(X.astype(np.float64), *layer))
    empty = sparse.csr_array((4, 19), dtype=dtype)
    assert_array_equal(weighted_sums(empty, w), np.zeros(4))
    assert_array_equal(hidden_layer(empty, *layer), np.full((4, 7), math.tanh(1)))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_at_their_ends(activation):
    z = np.array([-1e308, -800.0, -1.0, -1e-300, 0.0, 1e-300, 1.0, 800.0, 1e308])
    found = hidden_layer(z[:, None], np.ones((1, 1)), np.zeros(1), activation).ravel()
    expected = np.array([FUNCTIONS[activation](value) for value in z])
    np.testing.assert_allclose(found, expected, rtol=1e-15)
