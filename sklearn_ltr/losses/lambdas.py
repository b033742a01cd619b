# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of LambdaRank: those of RankNet, pair by pair times what a swap does to a metric."""

import numpy as np

from sklearn_ltr._kernels import _lambdas, _ranking
from sklearn_ltr.labels import check_gain, gains
from sklearn_ltr.metrics._per_query import rows_to_rank, run_kernel
from sklearn_ltr.metrics.dcg import NDCG, discounts_of
from sklearn_ltr.metrics.precision import AveragePrecision
from sklearn_ltr.metrics.reciprocal import ReciprocalRank

METRICS = (NDCG, AveragePrecision, ReciprocalRank)  # the order of `Kind` in _swaps.pyx
N_ARRAYS = 12  # of a thread's scratch in _lambdas.pyx


def check_lambda_metric(metric):
    """Raise ValueError unless there are gradients for a metric."""
    if metric.label not in (labels := [known.label for known in METRICS]):
        raise ValueError(
            f"`metric` must be one of {labels}, with or without cut-off; got {metric}."
        )


def queries_with_swaps(metric, y, offsets):
    """Which queries have rows of different gains, so that swaps change the metric.

    Parameters
    ----------
    metric : NDCG, AveragePrecision or ReciprocalRank
    y : ndarray of shape (n_samples,), dtype float64
    offsets : ndarray of shape (n_queries + 1,), dtype intp

    Returns
    -------
    mask : ndarray of shape (n_queries,), dtype bool

    Raises
    ------
    ValueError
        If the metric does not take the grades, or grades differ within queries, but gains nowhere.
    """
    starts = offsets[:-1]
    if isinstance(metric, NDCG):
        check_gain(y, metric.gain)
        gain = gains(y, metric.gain)
    else:
        gain = y >= metric.relevant_from
    differ, graded = (
        np.minimum.reduceat(z, starts) < np.maximum.reduceat(z, starts) for z in (gain, y)
    )
    if graded.any() and not differ.any():
        raise ValueError(
            f"No query has both relevant and irrelevant rows, so that no swap changes "
            f"{metric.name}: it calls grades of at least {metric.relevant_from} relevant."
        )
    return differ


class LambdaGradients:
    r"""Gradients and curvatures of LambdaRank.

    For each pair of rows of a query, i of the higher gain,

    .. math:: \rho = \frac{1}{1 + e^{\sigma (s_i - s_j)}}, \qquad
        G_i \mathrel{-}= \sigma \rho \Delta, \quad G_j \mathrel{+}= \sigma \rho \Delta, \quad
        W_i, W_j \mathrel{+}= \sigma^2 \rho (1 - \rho) \Delta

    with :math:`\Delta` what the metric changes by, in absolute value, if the two rows swap their
    positions in the present ranking. Of rows with tied scores it is the expectation over their
    orders, all equally likely, so that the order of rows does not matter.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), dtype float64
        Grades that the metric takes.
    offsets : ndarray of shape (n_queries + 1,), dtype intp
        Rows ``offsets[q]:offsets[q + 1]``, at least one, belong to query q.
    query_weight : ndarray of shape (n_queries,), dtype float64, positive
    metric : NDCG, AveragePrecision or ReciprocalRank
        Its cut-off and its switches for gain, discount and relevance count.
    truncation_level : int
        Only pairs with a row among this many first positions count, and the ideal of NDCG is that
        of this many positions where its own cut-off is no smaller.
    sigmoid : float
        :math:`\sigma`.
    query_norm : bool
        Divide :math:`\Delta` by :math:`.01 + |s_i - s_j|`, unless all scores of the query are
        equal, and then multiply all of a query by :math:`\log_2(1 + S) / S`, where S is the sum of
        :math:`\sigma \rho \Delta` over the rows of all its pairs.
    n_threads : int
        Does not change the results.

    Attributes
    ----------
    gradient, curvature : ndarrays of shape (n_samples,)
        At the scores of the last `update`, times the query's weight over the mean weight. 0 in
        queries where the metric is undefined or all gains are equal.
    metric_value : float
        The weighted mean of the metric over the queries where it is defined, ties averaged;
        0 where there is none.

    Raises
    ------
    ValueError
        If the metric is not one of the three.
    """

    def __init__(
        self,
        y,
        offsets,
        query_weight,
        metric,
        *,
        truncation_level,
        sigmoid,
        query_norm,
        n_threads,
    ):
        check_lambda_metric(metric)
        sizes = np.diff(offsets)
        longest = int(sizes.max())
        positions = longest if metric.k is None else min(metric.k, longest)
        truncation_level = min(truncation_level, positions)  # no swap beyond the cut-off counts
        discounts = np.zeros(longest)
        possible = 1  # value where all gains are equal, whatever the order
        if isinstance(metric, NDCG):
            discounts[:positions] = discounts_of(positions, metric.discount)
            gain = gains(y, metric.gain)
            if gain.max() > 2.0**960:
                gain = gain * 2.0**-64  # as the metric itself does
            ideal, full_ideal = (
                run_kernel(_ranking.ideal_dcg, gain, d, offsets=offsets, n_threads=n_threads)
                for d in (discounts[:truncation_level], discounts[:positions])
            )
        else:
            discounts[:positions] = 1 / np.arange(1, positions + 1)
            gain = (y >= metric.relevant_from).astype(np.float64)
            ideal = np.add.reduceat(gain, offsets[:-1])
            if isinstance(metric, ReciprocalRank):
                ideal = np.minimum(ideal, 1)
            elif metric.denominator == "min(relevant,k)":
                ideal = np.minimum(ideal, positions)
            full_ideal = ideal
            if isinstance(metric, AveragePrecision):
                possible = np.minimum(sizes, positions) / np.maximum(ideal, 1)
        defined = ideal > 0
        ideal[~defined] = full_ideal[~defined] = 1
        # The kernel's values are over the ideal of `truncation_level` positions.
        self._values = possible * full_ideal / ideal
        self._share = np.where(defined, query_weight, 0) * ideal / full_ideal
        if defined.any():
            self._share /= query_weight[defined].sum()
        self._inputs = (
            gain / np.repeat(ideal, sizes),
            offsets,
            query_weight / query_weight.mean(),
            discounts,
            METRICS.index(type(metric)),
            truncation_level,
            sigmoid,
            query_norm,
            n_threads,
        )
        self._work = rows_to_rank(offsets, n_threads)
        self._arrays = np.empty((n_threads, N_ARRAYS, longest))
        self.gradient, self.curvature = np.empty((2, len(y)))

    def update(self, scores):
        """Recompute all at `scores` (n_samples,)."""
        _lambdas.lambdas(
            scores,
            *self._inputs,
            self._work,
            self._arrays,
            self.gradient,
            self.curvature,
            self._values,
        )
        self.metric_value = min(float((self._share * self._values).sum()), 1.0)
