# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The core of every metric: flat arrays and groups -> one value a query -> mean."""

from dataclasses import fields
from numbers import Integral
from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import _num_samples

from sklearn_ltr._kernels import _types
from sklearn_ltr.estimator import python_scalar
from sklearn_ltr.queries import QueryGroups
from sklearn_ltr.queries import per_query as reduce_to_queries
from sklearn_ltr.reduction import anywhere, mean
from sklearn_ltr.validation import check_column, check_propensity, warn_caller
from sklearn_ltr.versions import Versioned

TIES = _types.names(_types.Ties)  # ("average", ...)
UNDEFINED = ("skip", "raise", 0, 1)


class QueryValues(NamedTuple):
    """A metric's value for each query.

    Attributes
    ----------
    values : ndarray of shape (n_queries,), dtype float64
        NaN where the metric is undefined and ``undefined="skip"``.
    ids : ndarray of shape (n_queries,)
        The query ids; queries of weight zero are left out.
    """

    values: np.ndarray
    ids: np.ndarray


class Metric(Versioned):
    """A list metric with its switches fixed, averaged over queries.

    A subclass is a frozen dataclass: its fields are the switches, so that its repr shows them and
    equal metrics are equal, hashable and picklable. It defines

    - `label`, the name without cut-off;
    - `presets`, mapping a tool's name to the switches that match the tool;
    - ``_values(y_true, y_score, offsets, n_threads)``, the values of the queries, NaN where
      undefined; a metric that can be so has a field `undefined` and says when in `undefined_when`;
    - ``check_grades(y_true)`` if not every finite grade will do, and then `takes_negative_grades`;
    - `takes_propensity`, if ``_values`` has a further argument, the propensity of each row;
    - `bounded`, whether values without propensities are from -1 to 1.
    """

    label: ClassVar[str]
    presets: ClassVar[dict[str, dict]]
    undefined_when: ClassVar[str]
    takes_negative_grades: ClassVar[bool] = True
    takes_propensity: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    k = None  # of a metric without cut-off

    @classmethod
    def create(cls, like=None, **switches):
        """Build the metric from switches, or from `like` and a cut-off."""
        if like is None:
            return cls(**switches)
        if like not in cls.presets:
            raise ValueError(
                f"`like` of {cls.label} must be None or one of {sorted(cls.presets)}; got {like!r}."
            )
        cut_off = {name: switches.pop(name) for name in switches.keys() & {"k"}}
        defaults = {field.name: field.default for field in fields(cls)}
        others = {
            n: v for n, v in switches.items() if n not in defaults or np.ndim(v) or v != defaults[n]
        }
        if others:
            raise ValueError(
                f"`like={like!r}` sets every switch, so give no other one but `k` beside it; got "
                f"{others}. To change a switch, start from {cls.presets[like]}."
            )
        return cls(**cut_off, **cls.presets[like])

    @property
    def name(self):
        """Name with cut-off, as `get_metric` reads it: "ndcg@10"."""
        return self.label if self.k is None else f"{self.label}@{self.k}"

    @property
    def undefined_everywhere(self):
        """What to say where no query has a value."""
        return f"{self.name} is undefined where {self.undefined_when}, which is so in every query"

    def __post_init__(self):
        # Whatever the type, equal switches show and compute alike.
        for field in fields(self):
            object.__setattr__(self, field.name, python_scalar(getattr(self, field.name)))

    def __call__(
        self,
        y_true,
        y_score,
        groups=None,
        query_weight=None,
        per_query=False,
        propensity=None,
    ):
        """Evaluate scores.

        Parameters
        ----------
        y_true, y_score : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), default=None
            Query id of each row; None is one query.
        query_weight : array-like of shape (n_samples,), default=None
        per_query : bool, default=False
        propensity : array-like of shape (n_samples,), default=None
            How likely each row was looked at, if `y_true` are clicks. Few metrics take it.

        Returns
        -------
        value : float or QueryValues
        """
        given = y_true
        y_true, y_score, queries, query_weight = group_rows(y_true, y_score, groups, query_weight)
        if propensity is not None:
            self.check_takes_propensity()
            n_rows = _num_samples(given)
            propensity = check_propensity(propensity, "propensity", n_rows)[queries.order]
            self.warn_of_propensity()
        self.check_grades(y_true)
        rows = y_true, y_score, queries.offsets, 1, propensity, query_weight
        values = self._settled(*rows, ids=queries.ids)
        if per_query:
            return QueryValues(values, queries.ids)
        return self._mean(values, query_weight)

    def on_groups(self, y_true, y_score, offsets, query_weight=None, n_threads=1, propensity=None):
        """Evaluate scores of rows that are already grouped, without validating them.

        Parameters
        ----------
        y_true, y_score : ndarray of shape (n_samples,), dtype float64
            Finite, and `y_true` accepted by `check_grades`.
        offsets : ndarray of shape (n_queries + 1,), dtype intp
            Rows ``offsets[q]:offsets[q + 1]``, at least one, belong to query q.
        query_weight : ndarray of shape (n_queries,), dtype float64, default=None
            Positive.
        n_threads : int, default=1
            Does not change the result.
        propensity : ndarray of shape (n_samples,), dtype float64, default=None
            In (0, 1], and only for a metric that takes it.

        Returns
        -------
        value : float
        """
        rows = y_true, y_score, offsets, n_threads, propensity, query_weight
        return self._mean(self._settled(*rows), query_weight)

    def of_queries(self, data, scores, settled=False, propensity=None):
        """Values of the queries of a RankingData at `scores`, NaN where the metric is undefined.

        If `settled`, with the rule for undefined ones applied.
        """
        if data.n_queries == 0:  # on a rank
            return np.empty(0)
        values = self._settled if settled else self._of_rows
        rows = data.y, scores, data.offsets, data.n_threads
        return values(*rows, propensity, data.query_weight)

    def check_grades(self, y_true):
        """Raise ValueError for finite grades that the metric cannot take."""

    def check_takes_propensity(self):
        """Raise ValueError if there is no form of the metric for clicks with propensities."""
        if not self.takes_propensity:
            raise ValueError(
                f"{self.name} takes no `propensity`: clicks over their propensities estimate sums "
                "over rows, as dcg and neg_arp are. Give one of these, or leave `propensity` out "
                "if these are true grades."
            )

    def warn_of_propensity(self):
        """Say what is not estimated without bias, where clicks have propensities."""

    def _of_rows(self, y_true, y_score, offsets, n_threads, propensity, query_weight):
        """Values of the queries, NaN where undefined, with propensities if there are any."""
        more = () if propensity is None else (propensity,)
        return self._values(y_true, y_score, offsets, n_threads, *more)

    def _settled(
        self, y_true, y_score, offsets, n_threads, propensity=None, query_weight=None, ids=None
    ):
        """Values of the queries, with the rule for undefined ones applied."""
        if len(offsets) == 1:  # on a rank
            return np.empty(0)
        values = self._of_rows(y_true, y_score, offsets, n_threads, propensity, query_weight)
        undefined = np.isnan(values)
        if undefined.any() and self.undefined != "skip":
            if self.undefined == "raise":
                first = int(undefined.argmax())
                query = f"query number {first}" if ids is None else f"query {ids.tolist()[first]!r}"
                raise ValueError(
                    f"{self.name} is undefined where {self.undefined_when}: so in {query}, and in "
                    f"{undefined.sum()} of {len(values)} queries in all."
                )
            values[undefined] = self.undefined
        return values

    def _mean(self, values, query_weight):
        defined = ~np.isnan(values)
        if not anywhere(defined):
            warn_caller(
                f"{self.undefined_everywhere}; the mean is NaN.",
                UndefinedMetricWarning,
            )
            return float("nan")
        if query_weight is not None:
            query_weight = query_weight[defined]
        return float(mean(values[defined], query_weight))

    def _values(self, y_true, y_score, offsets, n_threads):
        raise NotImplementedError


def group_rows(y_true, y_score, groups, query_weight):
    """Check a metric's arguments and bring the rows into grouped order.

    Returns
    -------
    y_true, y_score : ndarray, dtype float64
        The rows of queries of positive weight.
    queries : QueryGroups
    query_weight : ndarray of shape (n_queries,) or None
    """
    y_true = check_column(y_true, "y_true")
    y_score = check_column(y_score, "y_score")
    if len(y_true) != len(y_score):
        raise ValueError(
            f"`y_true` and `y_score` must have the same length; got {len(y_true)} and "
            f"{len(y_score)}."
        )
    queries = QueryGroups.from_ids(groups, len(y_true))
    if query_weight is not None:
        query_weight = reduce_to_queries(query_weight, queries)
        counts = query_weight > 0
        if not counts.all():
            queries, _ = queries.select(counts)
            query_weight = query_weight[counts]
    return y_true[queries.order], y_score[queries.order], queries, query_weight


def check_cut_off(k):
    """The cut-off as an int, or None."""
    if k is None:
        return None
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(f"`k` must be an integer of at least 1; got {k!r}.")
    return int(k)
