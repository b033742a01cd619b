# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Sums of regression trees."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from strategies import examples

from sklearn_ltr.weak import forest as module
from sklearn_ltr.weak.forest import TreeEnsemble

N_FEATURES = 4
NUMBERS = [-2.0, -1.0, -0.0, 0.0, 0.5, np.nextafter(0.5, 1), 3.0]
THRESHOLDS = [-np.inf, -1.5, -1.0, -0.0, 0.0, 0.25, 0.5, 2.0, np.inf]
rows = st.tuples(*[st.sampled_from([*NUMBERS, -np.inf, np.inf, np.nan])] * N_FEATURES)
splits = st.tuples(
    st.integers(0, 10**6), st.integers(0, 3), st.sampled_from(THRESHOLDS), st.booleans()
)


def grow(splits, values):
    """A tree that splits one leaf after the other: (choice of leaf, feature, threshold, side)."""
    n_nodes = 2 * len(splits) + 1
    tree = SimpleNamespace(
        feature=np.full(n_nodes, -1, dtype=np.int32),
        threshold=np.zeros(n_nodes),
        missing_right=np.zeros(n_nodes, dtype=bool),
        left=np.zeros(n_nodes, dtype=np.int32),
        value=np.zeros(n_nodes),
    )
    leaves = [0]
    for s, (choice, feature, threshold, missing_right) in enumerate(splits):
        node = leaves.pop(choice % len(leaves))
        tree.feature[node], tree.threshold[node] = feature, threshold
        tree.missing_right[node], tree.left[node] = missing_right, 2 * s + 1
        leaves += [2 * s + 1, 2 * s + 2]
    tree.value[leaves] = [values[i % len(values)] for i in range(len(leaves))]
    return tree


trees = st.builds(
    grow, st.lists(splits, max_size=12), st.lists(st.floats(-3, 3), min_size=1, max_size=5)
)
terms = st.lists(st.tuples(st.integers(0, 2), st.floats(-1, 1), trees), max_size=6)


@st.composite
def trees_of_few_cuts(draw):
    """Trees of up to thirteen leaves whose splits share a few cuts, as those of symmetric trees."""
    cuts = draw(st.lists(splits, min_size=1, max_size=4))
    places = st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(cuts)), max_size=12)
    chosen = [(place, *cut[1:]) for place, cut in draw(places)]
    return grow(chosen, draw(st.lists(st.floats(-3, 3), min_size=1, max_size=13)))


few_cuts = st.lists(st.tuples(st.integers(0, 2), st.floats(-1, 1), trees_of_few_cuts()), max_size=6)


def value_of(tree, row, node=0):
    k = tree.feature[node]
    if k < 0:
        return tree.value[node]
    right = tree.missing_right[node] if np.isnan(row[k]) else row[k] > tree.threshold[node]
    return value_of(tree, row, tree.left[node] + right)


def scores_by_hand(terms, X, n_outputs):
    scores = np.zeros((n_outputs, len(X)))
    for output, coefficient, tree in terms:
        scores[output] += coefficient * np.array([value_of(tree, row) for row in X], dtype=float)
    return scores


def check(terms, X, n_outputs):
    expected = scores_by_hand(terms, X, n_outputs)
    model = TreeEnsemble(terms, n_outputs)
    scores = model.predict(X)
    assert scores.dtype == np.float64
    assert_array_equal(scores, expected[0] if n_outputs == 1 else expected)
    return model, scores


@examples(300)
@given(terms=few_cuts, rows=st.lists(rows, max_size=40))
def test_scores_of_trees_with_few_cuts(terms, rows):
    check(terms, np.array(rows).reshape(-1, N_FEATURES), 3)


def test_trees_of_few_cuts_have_tables():
    """A tree of three levels and eight leaves is three cuts; one of eight other splits is not."""
    levels = [(0, f, 0.5, True) for f, size in enumerate([1, 2, 4]) for _ in range(size)]
    symmetric, other = grow(levels, np.arange(8.0)), grow(ladder_splits(7), np.arange(8.0))
    model = TreeEnsemble([(0, 1.0, symmetric), (0, 1.0, other)])
    assert model._by_bits.tolist() == [1, 0]
    X = np.array(list(product([0.0, 1.0, np.nan], repeat=N_FEATURES)))
    check([(0, 1.0, symmetric), (0, 1.0, other)], X, 1)


@examples(300)
@given(terms=terms, rows=st.lists(rows, max_size=40), most_parts=st.sampled_from([0, 4, 255]))
def test_scores_equal_the_sum_of_trees(terms, rows, most_parts):
    X = np.array(rows).reshape(-1, N_FEATURES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_PARTS", most_parts)
        model, scores = check(terms, X, 3)
        assert_array_equal(model.predict(np.asfortranarray(X)), scores)
        assert_array_equal(model.predict(X[::-1])[:, ::-1], scores)
        assert_array_equal(model.predict(X[:, ::-1].copy()[:, ::-1]), scores)
        assert_array_equal(model.predict(np.repeat(X, 3, axis=1)[:, ::3]), scores)
        assert_array_equal(model.predict(sparse.csr_array(X)), scores)
        with np.errstate(under="ignore"):
            single = X.astype(np.float32)
        assert_array_equal(model.predict(single), scores_by_hand(terms, single, 3))
        one = [(0, coefficient, tree) for _, coefficient, tree in terms]
        assert check(one, X, 1)[1].shape == (len(X),)


def make(seed, n=700, n_trees=20, n_splits=19, n_features=N_FEATURES, n_outputs=1):
    rng = np.random.default_rng(seed)
    terms = []
    for t in range(n_trees):
        splits = [
            (rng.integers(10**6), rng.integers(n_features), rng.normal(), rng.random() < 0.5)
            for _ in range(n_splits)
        ]
        terms.append((t % n_outputs, rng.normal(), grow(splits, rng.normal(size=n_splits + 1))))
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.8)
    X[rng.random(X.shape) < 0.1] = np.nan
    return terms, X


@pytest.mark.parametrize("n_outputs", [1, 5])
@pytest.mark.parametrize("block", [16, 64, 256, 1024])
def test_threads_and_blocks_do_not_change_a_bit(block, n_outputs, monkeypatch):
    terms, X = make(0, n_outputs=n_outputs)
    expected = check(terms, X, n_outputs)[1]
    monkeypatch.setattr(module, "BLOCK", block)
    model = TreeEnsemble(terms, n_outputs)
    for n_threads in (1, 2, 3):
        assert_array_equal(model.predict(X, n_threads), expected)
    for n in (1, 15, 16, 17, 255, 257):
        assert_array_equal(model.predict(X[:n], n_threads=2), expected[..., :n])


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("chunk", [1, 7, 40, 41, 1000])
def test_sparse_rows_in_chunks(form, chunk, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", chunk)
    for n_outputs in (1, 2):
        terms, X = make(1, n=40, n_features=9, n_trees=3, n_splits=3, n_outputs=n_outputs)
        X[5:9] = 0
        model, scores = check(terms, X, n_outputs)
        assert len(model.features) < 9
        assert_array_equal(model.predict(form(X)), scores)
        assert_array_equal(model.predict(form(X.astype(np.float32))), model.predict(np.float32(X)))


def ladder_splits(n_splits):
    return [(-1, 0, float(s), s % 2 == 1) for s in range(n_splits)]


def ladder(n_splits):
    """A tree with the thresholds 0, 1, ... of one feature, each splitting the last leaf."""
    return grow(ladder_splits(n_splits), np.arange(n_splits + 1.0) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("n_splits", [1, 2, 253, 254, 255, 256, 257, 300])
@pytest.mark.parametrize("most_parts", [0, 255])
def test_codes_of_any_number_of_thresholds(n_splits, most_parts, monkeypatch):
    monkeypatch.setattr(module, "MOST_PARTS", most_parts)
    X = np.append(np.arange(-1, n_splits + 1, 0.5), [-np.inf, np.inf, np.nan])[:, None]
    check([(0, 1.0, ladder(n_splits))], X, 1)
    only_missing_right = grow([(0, 0, np.inf, True)], [1.0, 2.0])
    check([(0, 1.0, ladder(n_splits)), (0, 0.5, only_missing_right)], X, 1)


def test_thresholds_in_many_small_trees():
    """Codes of 32 bits."""
    n = 66_000
    levels = np.arange(n) / n
    terms = [(0, 1.0, grow([(0, 0, t, False)], [0.0, 1.0])) for t in levels]
    X = np.array([[-1.0], [0.0], [levels[40_000]], [np.nextafter(levels[65_990], 1)], [2.0]])
    assert_array_equal(TreeEnsemble(terms).predict(X), [0, 0, 40_000, 65_991, n])


def test_single_precision_is_compared_exactly():
    """A threshold halfway between neighbours of 32 bits is none of them."""
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    tree = grow([(0, 0, (float(low) + float(high)) / 2, False)], [1.0, 2.0])
    X = np.array([[low], [high]])
    assert X.dtype == np.float32
    assert_array_equal(TreeEnsemble([(0, 1.0, tree)]).predict(X), [1, 2])


def test_terms_are_added_in_order():
    leaf = [grow([], [value]) for value in (1e16, 1.0, -1e16)]
    X = np.zeros((2, 1))
    for order, total in (((0, 1, 2), 0.0), ((0, 2, 1), 1.0)):
        assert_array_equal(TreeEnsemble([(0, 1.0, leaf[i]) for i in order]).predict(X), [total] * 2)


def test_no_terms():
    X = np.ones((4, 3))
    for form in (X, sparse.csr_array(X)):
        assert_array_equal(TreeEnsemble([]).predict(form), np.zeros(4))
        assert_array_equal(TreeEnsemble([], 2).predict(form, n_threads=2), np.zeros((2, 4)))


def test_only_leaves():
    constant = [(1, 0.5, grow([], [3.0])), (0, 1.0, grow([], [4.0]))]
    for form in (np.ones((3, 2)), sparse.csr_array(np.ones((3, 2)))):
        assert_array_equal(TreeEnsemble(constant, 2).predict(form), [[4] * 3, [1.5] * 3])


def test_no_rows():
    terms, X = make(2)
    for form in (X[:0], sparse.csr_array(X[:0])):
        assert TreeEnsemble(terms).predict(form, n_threads=2).shape == (0,)
        assert TreeEnsemble(terms, 2).predict(form).shape == (2, 0)


def test_read_only_rows():
    terms, X = make(3)
    expected = TreeEnsemble(terms).predict(X)
    X.flags.writeable = False
    assert_array_equal(TreeEnsemble(terms).predict(X), expected)
