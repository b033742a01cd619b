# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of LambdaRank: those of RankNet, pair by pair times what a swap does to a metric."""

from dataclasses import fields, replace

import numpy as np

from sklearn_ltr._kernels import _dcg, _lambdas, _types
from sklearn_ltr.labels import check_gain, gains
from sklearn_ltr.losses.base import BoundLoss, Loss
from sklearn_ltr.losses.pairs_alike import PairsAlike
from sklearn_ltr.metrics.dcg import NDCG, discounts_of, relative_gains
from sklearn_ltr.metrics.precision import AveragePrecision
from sklearn_ltr.metrics.reciprocal import ReciprocalRank
from sklearn_ltr.metrics.registry import get_metric
from sklearn_ltr.metrics.training import check_switches
from sklearn_ltr.ranking import rows_to_rank, run_kernel

METRICS = (NDCG, AveragePrecision, ReciprocalRank)  # the order of `SwapMetric` in _types.pxd
N_ARRAYS = _types.LAMBDA_ARRAYS

# The step -G / W of a row is at most this, in units of 1 / sigmoid. No fit that goes well comes
# near it.
LONGEST_STEP = 100


class BoundLambdas(BoundLoss):
    """`Lambdas` of some rows.

    Attributes
    ----------
    gradient : ndarray of shape (n_samples,)
        At the scores of the last `update`, times the query's weight. 0 in queries where the metric
        is undefined or all gains are equal.
    hessian_diagonal : ndarray of shape (n_samples,)
        The derivatives of the gradients, which vanish where pairs are far in the wrong order.
    loss : float
        1 - the weighted mean of the metric over the queries where it is defined, ties averaged;
        1 where there is none.
    """

    def _prepare(self, loss):
        data, metric = self.data, loss.check_metric()
        y, offsets, n_threads = data.y, data.offsets, data.n_threads
        sizes = data.queries.sizes
        longest = int(sizes.max(initial=1))  # of those that are here
        loss.check_clicks(data)
        positions = longest if metric.k is None else min(metric.k, longest)
        # No swap beyond the cut-off counts.
        level = loss.truncation_level
        truncation_level = positions if level is None else min(level, positions)
        discounts = np.zeros(longest)
        possible = 1  # value where all gains are equal, whatever the order
        if isinstance(metric, NDCG):
            discounts[:positions] = discounts_of(positions, metric.discount)
            gain = relative_gains(gains(y, metric.gain), offsets)
            ideal, full_ideal = (
                run_kernel(_dcg.ideal_dcg, gain, d, offsets=offsets, n_threads=n_threads)
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
        if data.click_weight is not None:  # the ideal has none, as it would cancel
            gain = gain * data.click_weight
            in_reach = np.cumsum(discounts)[sizes - 1]
            self._values = gain[offsets[:-1]] * in_reach / ideal
        self._share = np.where(defined, data.query_weight, 0) * ideal / full_ideal
        if data.any(defined):
            self._share /= data.sum(data.query_weight[defined])
        self._sigmoid = loss.sigmoid
        self._inputs = (
            gain / data.per_row(ideal),
            offsets,
            self.weight,
            discounts,
            METRICS.index(type(metric)),
            truncation_level,
            loss.sigmoid,
            loss.query_norm,
            n_threads,
        )
        self._work = rows_to_rank(offsets, n_threads)
        self._arrays = np.empty((n_threads, N_ARRAYS, longest))
        self.gradient, self.hessian_diagonal = np.empty((2, len(y)))

    def update(self, scores, round=0):
        """Recompute all at `scores` (n_samples,)."""
        out = self.gradient, self.hessian_diagonal, self._values
        _lambdas.lambdas(scores, *self._inputs, self._work, self._arrays, *out)
        self._W = None

    @property
    def loss(self):
        return 1 - min(float(self.data.sum(self._share * self._values)), 1.0)

    @property
    def total(self):
        return self.loss * self.data.sum(self.data.v)  # a metric, whatever the gradients weigh

    @property
    def curvature(self):
        """The derivatives of the gradients, or more where Newton's step would have no limit."""
        if self._W is None:
            least = self._sigmoid / LONGEST_STEP * np.abs(self.gradient)
            self._W = np.maximum(self.hessian_diagonal, least)
        return self._W

    def start(self):
        return 0.0

    def step(self, h, g):
        return 1.0


class Lambdas(PairsAlike, Loss):
    r"""1 - a metric, with the gradients and curvatures of LambdaRank.

    For each pair of rows of a query, i of the higher gain,

    .. math:: \rho = \frac{1}{1 + e^{\sigma (s_i - s_j)}}, \qquad
        G_i \mathrel{-}= \sigma \rho \Delta, \quad G_j \mathrel{+}= \sigma \rho \Delta, \quad
        W_i, W_j \mathrel{+}= \sigma^2 \rho (1 - \rho) \Delta

    with :math:`\Delta` what the metric changes by, in absolute value, if the two rows swap their
    positions in the present ranking. Of rows with tied scores it is the expectation over their
    orders, all equally likely, so that the order of rows does not matter.

    There is no function that these are the gradients of.

    Of clicks the gain is over the propensity of the row, and the ideal that of the gains without.

    Parameters
    ----------
    metric : str or Metric, default="ndcg@10"
        NDCG, average precision or reciprocal rank, with its cut-off and its switches for gain,
        discount and relevance.
    truncation_level : int, default=None
        Only pairs with a row among this many first positions count, and the ideal of NDCG is that
        of this many positions where its own cut-off is no smaller. None: all.
    sigmoid : float, default=1.0
        :math:`\sigma`.
    query_norm : bool, default=False
        Divide :math:`\Delta` by :math:`.01 + |s_i - s_j|`, unless all scores of the query are
        equal, and then multiply all of a query by :math:`\log_2(1 + S) / S`, where S is the sum of
        :math:`\sigma \rho \Delta` over the rows of all its pairs.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, but for its :math:`\Delta`, or each query, whose gradients
        are then divided by the number of its pairs.
    """

    abilities = frozenset({"gradient", "curvature", "propensity"})
    bound = BoundLambdas

    def __init__(
        self,
        metric="ndcg@10",
        truncation_level=None,
        sigmoid=1.0,
        query_norm=False,
        pair_weighting="pair",
    ):
        self.metric = metric
        self.truncation_level = truncation_level
        self.sigmoid = sigmoid
        self.query_norm = query_norm
        self.pair_weighting = pair_weighting

    def check_metric(self):
        """The metric; ValueError unless there are gradients for it."""
        metric = get_metric(self.metric)
        if metric.label not in (labels := [known.label for known in METRICS]):
            raise ValueError(
                f"`metric` must be one of {labels}, with or without cut-off; got {metric}."
            )
        return metric

    def check_clicks(self, data):
        """Raise ValueError where propensities are given that gradients cannot be weighed by."""
        if data.propensity is None:
            return
        metric = self.check_metric()
        if metric.label != NDCG.label:
            raise ValueError(
                f"`propensity` weighs the gains of clicks, which {metric.name} is no sum of: give "
                'metric="ndcg", with or without a cut-off.'
            )
        if self.query_norm:
            raise ValueError(
                "`query_norm` divides a query by a sum that has its propensities in it, so that "
                "that of a single click cancels: with `propensity` set query_norm=False."
            )

    def learnable(self, data):
        """Which queries have rows of different gains, so that swaps change the metric.

        Parameters
        ----------
        data : RankingData

        Returns
        -------
        mask : ndarray of shape (n_queries,), dtype bool

        Raises
        ------
        ValueError
            If the metric does not take the grades, or grades differ within queries, but gains
            nowhere; or if it is undefined for a query, and to raise then.

        Warns
        -----
        UserWarning
            If the metric has switches for ties or short queries that make no gradients.
        """
        metric, starts = self.check_metric(), data.offsets[:-1]
        self.check_clicks(data)
        ignored = {"ties": "average", "short": "clip"}
        names = ignored.keys() & {field.name for field in fields(metric)}
        check_switches(metric, replace(metric, **{name: ignored[name] for name in names}), data)
        if isinstance(metric, NDCG):
            check_gain(data.y, metric.gain)
            gain = gains(data.y, metric.gain)
            if data.click_weight is not None:
                gain = gain * data.click_weight
        else:
            gain = data.y >= metric.relevant_from
        differ = np.minimum.reduceat(gain, starts) < np.maximum.reduceat(gain, starts)
        none_differs = data.any(data.informative) and not data.any(differ)
        if none_differs and isinstance(metric, NDCG):
            raise ValueError(
                f"The grades in `y` have gains that are equal in every query, so that no swap "
                f"changes {metric.name}. If they are close together, multiply the grades, or take "
                'gain="linear".'
            )
        if none_differs:
            raise ValueError(
                f"No query has both relevant and irrelevant rows, so that no swap changes "
                f"{metric.name}: it calls grades of at least {metric.relevant_from} relevant."
            )
        return differ
