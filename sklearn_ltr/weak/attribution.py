# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each feature adds to sums of regression trees."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _attribution
from sklearn_ltr.interrupts import parts
from sklearn_ltr.weak.forest import sets_of

# Rows that a thread takes through all trees at a time.
BLOCK = 64
# Trees of no more different cuts have a table of what features add, if rows are more than it has.
MOST_BITS = 10


class PathAttribution:
    """Shapley values of a sum of regression trees, dependent on the paths.

    The value of a set of features is the expectation of a tree where these are known: a split on
    one of them sends a row its way, another one both ways, in the shares of the cover. For a leaf
    of value v, with z_i the product of the shares at the splits on feature i along the path to it,
    and o_i whether a row passes all of these, the Shapley value of feature j is

        v (o_j - z_j) * integral over t from 0 to 1 of prod_{i != j} (t o_i + (1 - t) z_i)

    (Owen, 1972). Of d features the integrand is a polynomial of degree d - 1, which ceil(d / 2)
    points of Gauss and Legendre's integrate without an error. The products of a path are made
    edge by edge, from the root down, and their sums over leaves from the leaves up, so that a row
    costs a few operations for each node and point. All factors are positive and not above 1.

    Parameters
    ----------
    terms : list of (float, tree)
        Coefficient and tree. A tree has the arrays of `Tree`. Those of a single leaf need no
        `cover`.

    Attributes
    ----------
    expectation : float
        What the sum is where no feature is known.

    Raises
    ------
    ValueError
        If a tree that has splits has no `cover`.
    """

    def __init__(self, terms):
        self.expectation = float(sum(c * tree.value[0] for c, tree in terms if len(tree.left) == 1))
        terms = [(c, tree) for c, tree in terms if len(tree.left) > 1]
        if any(tree.cover is None for _, tree in terms):
            raise ValueError(
                "The model does not know how many rows came to each node of its trees, as it was "
                "stored before that was kept. Fit it again."
            )
        sizes = np.array([len(tree.left) for _, tree in terms], dtype=np.intp)
        starts = _starts(sizes)
        root = np.repeat(starts[:-1], sizes)
        tree_of = np.repeat(np.arange(len(terms)), sizes)

        def joined(name, dtype):
            return np.concatenate([np.empty(0, dtype), *(getattr(t, name) for _, t in terms)])

        feature, cover = joined("feature", np.intp), joined("cover", float)
        inner, leaves = np.flatnonzero(feature >= 0), np.flatnonzero(feature < 0)
        left = joined("left", np.intp) + root
        parent = root.copy()
        parent[left[inner]] = parent[left[inner] + 1] = inner
        ratio = np.ones(len(feature))
        both = cover[left[inner]] + cover[left[inner] + 1]
        for child in (left[inner], left[inner] + 1):
            ratio[child] = cover[child] / both
        above = self._edges_above(feature, parent, root)

        # Along the paths: the share of rows, the product of the shares at the splits on a feature,
        # the number of different features.
        reach, z, n_different = np.ones(len(feature)), np.ones(len(feature)), np.zeros_like(root)
        level = inner[parent[inner] == inner]  # the roots
        while len(level):
            level = np.concatenate([left[level], left[level] + 1])
            reach[level] = reach[parent[level]] * ratio[level]
            z[level] = z[above[level]] * ratio[level]
            n_different[level] = n_different[parent[level]] + (above[level] == root[level])
            level = level[feature[level] >= 0]

        value = np.ones(len(feature))
        coefficients = np.array([c for c, _ in terms])
        value[leaves] = coefficients[tree_of[leaves]] * joined("value", float)[leaves]
        self.expectation += float((reach * value)[leaves].sum())

        # Points come in twos.
        deepest = np.maximum.reduceat(n_different, starts[:-1]) if len(terms) else sizes
        self._n_points = 2 * ((deepest + 3) // 4)
        point_starts = _starts(sizes * self._n_points)
        self._set_points(z, z[above], ratio, value, tree_of)

        edges = np.flatnonzero(root != np.arange(len(root)))
        split = parent[edges]
        n_features = feature.max(initial=0) + 1
        slots, slot = np.unique(tree_of[split] * n_features + feature[split], return_inverse=True)
        slot_starts = np.searchsorted(slots, np.arange(len(terms) + 1) * n_features)
        self._features = slots % n_features

        _, threshold = np.unique(joined("threshold", float)[split], return_inverse=True)
        missing_right = joined("missing_right", bool)[split]
        self._categories, of_split = self._distinct_sets(terms, split)
        n_sets = len(self._categories)
        key = ((slot * len(split) + threshold) * n_sets + of_split) * 2 + missing_right
        _, where, cut = np.unique(key, return_index=True, return_inverse=True)
        cut_starts = np.searchsorted(tree_of[split][where], np.arange(len(terms) + 1))
        self._cut_features = feature[split][where]
        self._thresholds = joined("threshold", float)[split][where]
        self._missing_right = missing_right[where].astype(np.uint8)
        self._sets = np.where(np.isnan(self._thresholds), of_split[where], -1)

        self._starts = np.array([starts, slot_starts, cut_starts, point_starts], dtype=np.intp)
        self._edges = np.zeros((5, len(feature)), dtype=np.intc)
        self._edges[0] = parent - root
        self._edges[1] = above - root
        self._edges[2, edges] = cut - cut_starts[tree_of[edges]]
        self._edges[3, edges] = slot - slot_starts[tree_of[edges]]
        self._edges[4] = left - root  # 0 at a leaf

    @staticmethod
    def _distinct_sets(terms, split):
        """The different sets of categories of the trees, (at least 1, 8), and that of each split.

        A split on a number has the empty one.
        """
        if not any(tree.has_categories for _, tree in terms):
            return np.zeros((1, 8), dtype=np.uint32), np.zeros(len(split), dtype=np.intp)
        sets = sets_of([tree for _, tree in terms])[split]
        sets, of_split = np.unique(sets, axis=0, return_inverse=True)
        return np.ascontiguousarray(sets), of_split.ravel()

    @staticmethod
    def _edges_above(feature, parent, root):
        """Of each node, the nearest one above whose edge is about the same feature, or the root."""
        above, asked = parent.copy(), feature[parent]
        while len(rest := np.flatnonzero((above != root) & (feature[parent[above]] != asked))):
            above[rest] = parent[above[rest]]
        return above

    def _set_points(self, z, z_above, ratio, value, tree_of):
        """Factors and slopes of the edges, at the points of their tree.

        A feature's factor is c = t + (1 - t) z while its edges hold. An edge changes it from that
        of the edge above, c', to c, to (1 - t) z where it fails, and if it had failed before by the
        share alone. Slopes are the weight times the change of (o - z) / factor.
        """
        n_points = self._n_points[tree_of]
        starts = _starts(n_points)
        self._factors, self._slopes = np.empty(3 * starts[-1]), np.empty(2 * starts[-1])
        for n in np.unique(n_points):
            nodes = np.flatnonzero(n_points == n)
            t, w = np.polynomial.legendre.leggauss(n)
            t, w = (t + 1) / 2, w / 2
            z_, upper = z[nodes, None], z_above[nodes, None]
            c, c_above = t + (1 - t) * z_, t + (1 - t) * upper
            factors = np.stack(
                [c / c_above, (1 - t) * z_ / c_above, np.broadcast_to(ratio[nodes, None], c.shape)],
                axis=1,
            )
            factors *= value[nodes, None, None]
            slopes = np.stack([w * (upper - z_) / (c * c_above), -w / ((1 - t) * c_above)], axis=1)
            for kept, array, m in ((self._factors, factors, 3), (self._slopes, slopes, 2)):
                kept[m * starts[nodes, None] + np.arange(m * n)] = array.reshape(len(nodes), m * n)

    def contributions(self, X, n_threads=1):
        """What each feature adds to the sum at the rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features), dtype float32 or float64

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features), dtype float64
            The same bits for any number of threads, and whatever rows are around a row.
        """
        contributions = np.zeros(X.shape)
        n_nodes, n_slots, n_cuts, n_points = np.diff(self._starts)
        if len(n_nodes) == 0:
            return contributions
        scratch = (
            np.empty((n_threads, 2, n_nodes.max()), dtype=np.uint8),
            np.empty((n_threads, n_points.max())),
        )
        model = (self._starts, self._n_points, self._edges, self._factors, self._slopes)
        tables = self._tables(X.shape[0], n_slots, n_cuts, n_nodes, model, scratch)
        used, columns = np.unique(self._cut_features, return_inverse=True)
        is_sparse = sparse.issparse(X)
        for rows in parts(X.shape[0], n_points.sum()):
            _attribution.add_contributions(
                X[rows][:, used].toarray() if is_sparse else X[rows],
                *model,
                columns if is_sparse else self._cut_features,
                self._thresholds,
                self._missing_right,
                self._sets,
                self._categories,
                self._features,
                *tables,
                BLOCK,
                *scratch,
                np.empty((n_threads, n_slots.max())),
                contributions[rows],
            )
        return contributions

    def _tables(self, n_rows, n_slots, n_cuts, n_nodes, model, scratch):
        """What features add for all sides at the cuts, of trees where these are few."""
        n_sides = np.where(n_cuts <= MOST_BITS, 2 ** np.minimum(n_cuts, MOST_BITS), n_rows)
        starts = _starts(np.where(n_sides < n_rows, n_sides * n_slots, 0))
        tables = np.empty(max(starts[-1], 1))  # never empty
        cost = int((n_sides * n_nodes * self._n_points).max())
        for trees in parts(len(n_slots), cost):
            _attribution.tabulate(trees.start, trees.stop, *model, starts, *scratch, tables)
        return starts, tables


def _starts(sizes):
    """Where parts of these sizes begin one after the other, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
