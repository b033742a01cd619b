# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Reciprocal rank: how far down the first relevant row is."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sklearn_ltr._kernels import _ranking
from sklearn_ltr.metrics._per_query import TIES, UNDEFINED, check_choice, run_kernel
from sklearn_ltr.metrics.precision import _Binary


@dataclass(frozen=True)
class ReciprocalRank(_Binary):
    """Mean reciprocal rank; see `reciprocal_rank_score` for the switches."""

    label: ClassVar[str] = "mrr"
    undefined_when: ClassVar[str] = "no row is relevant"
    presets: ClassVar[dict[str, dict]] = {
        "trec_eval": {"relevant_from": 1, "ties": "reverse", "undefined": 0},
    }

    k: int | None = None
    relevant_from: float = 1
    ties: str = "average"
    undefined: str | int = "skip"

    def __post_init__(self):
        super().__post_init__()
        check_choice("undefined", self.undefined, UNDEFINED)

    def _values(self, y_true, y_score, offsets, n_threads):
        relevant = self._relevant(y_true)
        values = run_kernel(
            _ranking.reciprocal_rank,
            relevant,
            y_score,
            len(relevant) if self.k is None else min(self.k, len(relevant)),
            TIES.index(self.ties),
            offsets=offsets,
            n_threads=n_threads,
        )
        values[np.add.reduceat(relevant, offsets[:-1]) == 0] = np.nan
        return values


def reciprocal_rank_score(
    y_true,
    y_score,
    groups=None,
    *,
    k=None,
    relevant_from=1,
    ties="average",
    undefined="skip",
    query_weight=None,
    per_query=False,
    like=None,
):
    """Mean reciprocal rank (MRR): per query, 1 over the position of the first relevant row.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Grade of each row, any finite number.
    y_score : array-like of shape (n_samples,)
        Score of each row, finite; the highest is ranked first.
    groups : array-like of shape (n_samples,), default=None
        Query id of each row, in any order and of any type. None takes all rows as one query.
    k : int, default=None
        Cut-off: a query whose first relevant row comes after position k has the value 0.
    relevant_from : float, default=1
        Rows of at least this grade are relevant.
    ties : {"average", "input", "reverse", "worst", "best"}, default="average"
        How rows of equal score are ranked. "average" is the exact expectation of the value over
        all orders of the tied rows; the others are described in `ndcg_score`.
    undefined : {"skip", "raise", 0, 1}, default="skip"
        What a query without a relevant row counts as; see `ndcg_score`.
    query_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean, constant within a query; see `ndcg_score`.
    per_query : bool, default=False
        Return the value of each query instead of their mean.
    like : {"trec_eval"}, default=None
        Set every switch as this tool does; see the notes.

    Returns
    -------
    score : float or QueryValues
        The mean over queries, or with ``per_query=True`` a named tuple ``(values, ids)``.

    Raises
    ------
    ValueError
        If an array has NaN, infinity or a wrong length, a switch has an unknown value, `like` is
        given with another switch, or a query is undefined and ``undefined="raise"``.

    Warns
    -----
    UndefinedMetricWarning
        If every query is undefined and skipped; the mean is then NaN.

    See Also
    --------
    average_precision_score : Looks at every relevant row.

    Notes
    -----
    trec_eval's "recip_rank" knows no cut-off, ranks rows of equal score by document name,
    descending, and counts a query without a relevant row as 0.

    In a tie group at positions a+1 to a+m, of which r > 0 rows are relevant, with none above it,
    position a+t holds the first relevant row with probability C(m-t, r-1) / C(m, r).

    References
    ----------
    .. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> from sklearn_ltr.metrics import reciprocal_rank_score
    >>> y_true = [0, 1, 2, 0, 1]
    >>> y_score = [0.9, 0.8, 0.7, 0.2, 0.3]
    >>> reciprocal_rank_score(y_true, y_score, ["a", "a", "a", "b", "b"])  # 1/2 and 1
    0.75
    >>> reciprocal_rank_score([1, 0, 0], [0, 0, 0])  # 1, 1/2 or 1/3, each as likely
    0.6111...
    """
    metric = ReciprocalRank.create(
        like, k=k, relevant_from=relevant_from, ties=ties, undefined=undefined
    )
    return metric(y_true, y_score, groups, query_weight, per_query)
