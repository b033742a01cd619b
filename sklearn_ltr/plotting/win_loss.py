# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Two rankers compared query by query."""

import numpy as np

from sklearn_ltr.base import unwrap_search
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.plotting._base import (
    NEGATIVE,
    POSITIVE,
    axes_or_new,
    check_matplotlib,
    labelled,
    metric_label,
    predict,
)
from sklearn_ltr.queries import encode_groups
from sklearn_ltr.validation import check_column


class WinLossDisplay:
    """How much better or worse one ranker is than another in each query, sorted.

    A difference of means may come from many small improvements or from a few large ones, with or
    without queries that got worse; the bars show which.

    It is recommended to use `from_estimators` or `from_predictions` to create the display. All
    parameters are stored as attributes.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    differences : ndarray of shape (n_queries,), dtype float64
        The metric of the first ranker minus that of the second.
    query_ids : ndarray of shape (n_queries,)
    metric_name : str
        Name of the metric for the axis, such as "NDCG@10".
    names : (str, str)
        Names of the rankers.

    Attributes
    ----------
    wins_, losses_ : matplotlib StepPatch
        The bars of the queries in which the first ranker is better and worse.
    mean_ : matplotlib Line2D
        The mean difference.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn_ltr.model_selection.compare_rankers : Tests whether the mean difference is significant.
    MetricAtKDisplay : Means of any number of rankers, by cut-off.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import FRank, MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import WinLossDisplay
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> first = MPBoost(n_estimators=20).fit(X, y, groups=groups)
    >>> second = FRank(n_estimators=20).fit(X, y, groups=groups)
    >>> display = WinLossDisplay.from_estimators(first, second, X, y, groups)
    >>> display.differences.shape
    (50,)
    >>> plt.close()
    """

    def __init__(self, *, differences, query_ids, metric_name, names):
        self.differences = differences
        self.query_ids = query_ids
        self.metric_name = metric_name
        self.names = names

    def plot(self, ax=None, *, names=None, **stairs_kw):
        """Draw the bars, the greatest difference first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        names : (str, str), default=None
            Names of the rankers in the place of the display's own.
        **stairs_kw : dict
            Passed to matplotlib's ``stairs``.

        Returns
        -------
        display : WinLossDisplay
        """
        first, second = self.names if names is None else names
        self.ax_ = axes_or_new(ax, "WinLossDisplay.plot")
        self.figure_ = self.ax_.figure
        d = -np.sort(-self.differences)
        n_wins, n_losses = int((d > 0).sum()), int((d < 0).sum())
        n_ties, mean = len(d) - n_wins - n_losses, d.mean()

        def bars(heights, start, color, label):
            # One patch for all, which stays fast for many thousand queries.
            edges = np.arange(start, start + len(heights) + 1)
            style = {"fill": True, "color": color, "label": label} | stairs_kw
            return self.ax_.stairs(heights, edges, **style)

        self.wins_ = bars(d[:n_wins], 0, POSITIVE, f"{first} better: {n_wins}")
        self.losses_ = bars(
            d[len(d) - n_losses :], len(d) - n_losses, NEGATIVE, f"{second} better: {n_losses}"
        )
        self.ax_.axhline(0, color="black", linewidth=0.8)
        self.mean_ = self.ax_.axhline(
            mean, color="black", linestyle="--", linewidth=1, label=f"mean {mean:+.4f}"
        )
        self.ax_.set(
            xlabel=f"{len(d)} queries, sorted; equal: {n_ties}",
            ylabel=f"difference of {self.metric_name}",
            xlim=(0, len(d)),
        )
        self.ax_.legend()
        return self

    @classmethod
    def from_estimators(
        cls, first, second, X, y, groups, *, metric="ndcg@10", names=None, ax=None, **stairs_kw
    ):
        """Evaluate the rankings of two estimators and draw the differences.

        Parameters
        ----------
        first, second : estimators
            Fitted, with a method ``predict(X)`` that gives a score a row: rankers, pipelines,
            searches.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which have no grade, are left out.
        groups : array-like of shape (n_samples,)
            Query id of each row.
        metric : str or Metric, default="ndcg@10"
            A name that `sklearn_ltr.metrics.get_metric` knows, or a metric object.
        names : (str, str), default=None
            Names of the rankers; None takes the names of their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **stairs_kw : dict
            Passed to matplotlib's ``stairs``.

        Returns
        -------
        display : WinLossDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is invalid, or `groups` is None.
        """
        check_matplotlib(f"{cls.__name__}.from_estimators")
        if names is None:
            names = [type(unwrap_search(estimator)).__name__ for estimator in (first, second)]
            if names[0] == names[1]:
                names = [f"{names[0]} (first)", f"{names[1]} (second)"]
        return cls.from_predictions(
            y,
            predict(first, X, y, groups),
            predict(second, X, y, groups),
            groups,
            metric=metric,
            names=names,
            ax=ax,
            **stairs_kw,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score_first,
        y_score_second,
        groups,
        *,
        metric="ndcg@10",
        names=("first", "second"),
        ax=None,
        **stairs_kw,
    ):
        """Evaluate the scores of two rankers and draw the differences.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which have no grade, are left out.
        y_score_first, y_score_second : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,)
            Query id of each row.
        metric : str or Metric, default="ndcg@10"
            A name that `sklearn_ltr.metrics.get_metric` knows, or a metric object. Queries on which
            it is undefined are left out.
        names : (str, str), default=("first", "second")
            Names of the rankers.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **stairs_kw : dict
            Passed to matplotlib's ``stairs``.

        Returns
        -------
        display : WinLossDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is invalid, `groups` is None, or the metric is undefined on every query.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from sklearn_ltr.plotting import WinLossDisplay
        >>> display = WinLossDisplay.from_predictions(
        ...     [1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], [0.4, 0.1, 0.3, 0.2], ["a", "a", "b", "b"],
        ...     metric="mrr",
        ... )
        >>> display.query_ids, display.differences
        (array(['a', 'b'], dtype=object), array([-0.5,  0. ]))
        >>> plt.close()
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        metric = get_metric(metric)
        y_true = check_column(y_true, "y_true", finite="allow-nan")
        query, ids = encode_groups(groups, len(y_true))
        y_score_first = check_column(y_score_first, "y_score_first", len(y_true))
        y_score_second = check_column(y_score_second, "y_score_second", len(y_true))
        first, second = (
            metric(*labelled(y_true, y_score, query), per_query=True)
            for y_score in (y_score_first, y_score_second)
        )
        differences = first.values - second.values
        defined = ~np.isnan(differences)
        if not defined.any():
            raise ValueError(f"{metric.undefined_everywhere}.")
        display = cls(
            differences=differences[defined],
            query_ids=ids[first.ids[defined]],
            metric_name=metric_label(metric.name),
            names=names,
        )
        return display.plot(ax, **stairs_kw)
