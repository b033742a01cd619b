# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The hidden order of a feature: what classes of the ground truth say about its values."""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _hidden_order
from sklearn_ltr.ranking import rows_to_rank

NEIGHBORS = ("higher", "lower")

# Training values kept of each feature, which bounds the size of a model.
N_QUANTILES = 1000


class ClassCenters:
    """Class centres of features (section 2.2 of the FeatureRank paper).

    The rows of each query, in descending order of their grades, are cut into K intervals of equal
    length: a row is a stretch of length 1, which a border may cut. Rows of one grade share their
    stretches evenly. Class K is the first interval, class 1 the last.

    Parameters
    ----------
    data : RankingData
    n_classes : int
        The paper's K.
    """

    def __init__(self, data, n_classes):
        y, queries, query_weight = data.y, data.queries, data.query_weight
        query = queries.query_of_row()
        self._order = np.lexsort((-y, query))
        y = y[self._order]
        new = np.r_[True, (y[1:] != y[:-1]) | (query[1:] != query[:-1])]
        self._starts = np.flatnonzero(new)
        self._sizes = np.diff(np.r_[self._starts, len(y)])
        # In units of 1/K of a row, rows of one grade reach from `first` to `last` in their query,
        # and interval l from l n to (l + 1) n.
        query = query[self._starts]
        n = queries.sizes[query]
        first = (self._starts - queries.offsets[query]) * n_classes
        last = first + self._sizes * n_classes
        n_intervals = (last - 1) // n - first // n + 1
        group = np.repeat(np.arange(len(n)), n_intervals)
        before = np.cumsum(n_intervals) - n_intervals
        interval = (first // n)[group] + np.arange(len(group)) - before[group]
        begin, end = interval * n[group], (interval + 1) * n[group]
        overlap = np.minimum(last[group], end) - np.maximum(first[group], begin)
        share = query_weight[query] / (data.sum(query_weight) * n)
        self._means = sparse.csr_array(
            (share[group] * overlap, (n_classes - 1 - interval, group)),
            shape=(n_classes, len(n)),
        )

    def of(self, values):
        """Centres of one feature.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), dtype float64

        Returns
        -------
        centers : ndarray of shape (n_classes,), dtype float64
            Of class 1, 2, ..., K.
        """
        group_means = np.add.reduceat(values[self._order], self._starts) / self._sizes
        return self._means @ group_means


class HiddenOrder:
    """A weak ranker: puts the values of one feature into the order of its classes.

    A value belongs to the class of the nearest centre, the higher one of two that are equally near.
    A value of a higher class precedes one of a lower class (equation 3). Within class l the larger
    value comes first where the centres rise from l to l + 1, the smaller one where they fall, and
    all are tied where the two are equal; for class K the centres of K - 1 and K are compared. That
    is equation 4 with its two cases exchanged, and `neighbor` "higher". With "lower" the centres of
    l - 1 and l are compared, and of 1 and 2 for class 1, which is the equation with other
    conditions.

    Parameters
    ----------
    centers : ndarray of shape (n_classes,), dtype float64
        Of class 1, 2, ..., K.
    values : ndarray of shape (n_samples,), dtype float64
        Of the feature at the training rows.
    neighbor : {"higher", "lower"}, default="higher"
    """

    def __init__(self, centers, values, neighbor="higher"):
        self.centers = centers
        slope = np.sign(np.diff(centers))
        slope = np.r_[slope, slope[-1]] if neighbor == "higher" else np.r_[slope[0], slope]
        # The line of values falls into cells, one around each distinct centre.
        distinct, last = np.unique(centers[::-1], return_index=True)
        self._class_of_cell = len(centers) - 1 - last
        self._slope_of_cell = slope[self._class_of_cell]
        lower_wins = self._class_of_cell[:-1] > self._class_of_cell[1:]
        borders = distinct[:-1] / 2 + distinct[1:] / 2
        self._borders = np.where(lower_wins, np.nextafter(borders, np.inf), borders)
        values = np.sort(values)
        if len(values) > N_QUANTILES:
            values = values[(2 * np.arange(N_QUANTILES) + 1) * len(values) // (2 * N_QUANTILES)]
        # Positions of the values among the training rows; of these, how many are in each cell and
        # in the ones before it, and how many of lower classes there are.
        self._values, count = np.unique(values, return_counts=True)
        self._positions = np.cumsum(count) - count / 2
        self._n_values = len(values)
        self._size = np.bincount(self._cell(values), minlength=len(distinct))
        self._start = np.cumsum(self._size) - self._size
        # What a rank in the cell begins at: its bottom, its top where values fall, or all tie.
        slope = self._slope_of_cell
        self._first = np.select([slope > 0, slope < 0], [0, self._size], self._size / 2)
        by_class = np.argsort(self._class_of_cell)
        self._below = np.empty_like(self._size)
        self._below[by_class] = np.cumsum(self._size[by_class]) - self._size[by_class]

    def ranks(self, values, queries, n_threads):
        """Ranks within queries, the paper's h.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), dtype float64
        queries : QueryGroups
            Values in its order.
        n_threads : int

        Returns
        -------
        ranks : ndarray of shape (n_samples,), dtype float64
            (r - 1/2) / n, where the first of the n rows of a query has r = n and the last r = 1;
            rows that tie share the mean of their ranks.
        """
        cell = self._cell(values)
        ranks = np.empty(len(values))
        _hidden_order.ranks_within_queries(
            self._class_of_cell[cell],
            self._slope_of_cell[cell] * values,
            queries.offsets,
            n_threads,
            rows_to_rank(queries.offsets, n_threads),
            ranks,
        )
        return ranks

    def training_ranks(self, values):
        """Ranks among the training rows in the place of those within queries.

        Parameters
        ----------
        values : ndarray of shape (n_samples,), dtype float64

        Returns
        -------
        ranks : ndarray of shape (n_samples,), dtype float64
            In [0, 1]. What `ranks` would give for the training rows if they were one query; other
            values are interpolated. Of many training rows a sample of quantiles is used.
        """
        position = np.interp(values, self._values, self._positions)
        cell = self._cell(values)
        rising = np.minimum(np.maximum(position - self._start[cell], 0), self._size[cell])
        inner = self._first[cell] + self._slope_of_cell[cell] * rising
        return (self._below[cell] + inner) / self._n_values

    def _cell(self, values):
        return np.searchsorted(self._borders, values, side="right")
