# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What counts the same in a loss of preference pairs: each pair, or each query."""

from collections.abc import Mapping

import numpy as np

from sklearn_ltr.validation import check_choice

PAIR_WEIGHTINGS = ("pair", "query")


class PairsAlike:
    """A loss that is a sum over the pairs of a query, or with ``pair_weighting="query"`` a mean.

    The pairs are those of the grades, or are given.
    """

    abilities = frozenset({"value", "gradient", "curvature", "preferences", "propensity"})

    def bind(self, data, weight=None):
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)
        weight = data.v if weight is None else weight
        if self.pair_weighting == "query":
            # A query without pairs has a sum of 0 anyway.
            weight = weight / np.where(data.with_pairs, data.pair_weight, 1)
        return super().bind(data, weight)

    def value(self, y, scores, offsets):
        bound = self._at(y, scores, offsets)
        return bound.weight * bound.value


def costs(data, n_pairs, pair_weighting):
    """What the loss of each pair of a query is multiplied with, but for a parameter C.

    Parameters
    ----------
    data : RankingData
    n_pairs : ndarray of shape (n_queries,)
    pair_weighting : {"pair", "query"}
        "pair": with the weight of its query, the mean of which is 1. "query": so that all add up
        to 1, and those of a query to its share of the weights.

    Returns
    -------
    costs : ndarray of shape (n_queries,)
    """
    if pair_weighting == "pair":
        return data.v
    return data.query_weight / data.sum(data.query_weight) / n_pairs


def check_no_ties(data, tie_weight):
    """Raise ValueError if ties have a weight where pairs are given, or are of clicks."""
    if data.propensity is not None and tie_weight > 0:
        raise ValueError(
            "`tie_weight` is for pairs of equal grades, in which no row is clicked before the "
            "other, so that `propensity` gives them no weight; set it to 0."
        )
    if data.preferences is not None and tie_weight > 0:
        raise ValueError(
            "`tie_weight` is for pairs of equal grades, which take part only where pairs come "
            "from grades; with `preferences` set it to 0."
        )


def check_of_grades(data, loss):
    """Check that given preferences, or clicks, are not asked for what only grades tell.

    Parameters
    ----------
    data : RankingData
    loss : Loss
        With `target_probability` and `tie_weight`.

    Raises
    ------
    ValueError
        If preferences or propensities are given, and pairs of equal grades count, or preferences
        and a probability of each pair's grades.
    """
    check_no_ties(data, loss.tie_weight)
    P = loss.target_probability
    if data.preferences is not None and (isinstance(P, Mapping) or callable(P)):
        raise ValueError(
            "`target_probability` must be a number with `preferences`, which have no grades; got "
            f"{P!r}. For a probability of its own, give a pair both ways, with weights."
        )
