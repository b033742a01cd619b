# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A metric by its cut-off."""

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.base import unwrap_search
from sklearn_ltr.metrics import Metric, get_metric
from sklearn_ltr.plotting._base import axes_or_new, check_matplotlib, labelled, predict
from sklearn_ltr.validation import check_column


class MetricAtKDisplay:
    """A ranking metric at the cut-offs 1, 2, ..., as learning-to-rank papers plot NDCG@k.

    It is recommended to use `from_estimator` or `from_predictions` to create the display. All
    parameters are stored as attributes. Several rankers are drawn into one figure by passing the
    axes of the first display to the next one.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    values : ndarray of shape (k_max,), dtype float64
        Mean of the metric over the queries, at k = 1, ..., k_max.
    standard_errors : ndarray of shape (k_max,), dtype float64
        Standard error of each mean.
    metric_name : str
        Name of the metric for the axis, such as "NDCG".
    name : str, default=None
        Name of the ranker for the legend; None draws no legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    band_ : matplotlib PolyCollection or None
        The band of one standard error to either side, if it is drawn.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    WinLossDisplay : Two rankers, query by query.
    sklearn_ltr.metrics.get_metric : The metrics and their switches.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import FRank, MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import MetricAtKDisplay
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> first = MPBoost(n_estimators=20).fit(X, y, groups=groups)
    >>> second = FRank(n_estimators=20).fit(X, y, groups=groups)
    >>> display = MetricAtKDisplay.from_estimator(first, X, y, groups)
    >>> other = MetricAtKDisplay.from_estimator(second, X, y, groups, ax=display.ax_)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['MPBoost', 'FRank']
    >>> plt.close()
    """

    def __init__(self, *, values, standard_errors, metric_name, name=None):
        self.values = values
        self.standard_errors = standard_errors
        self.metric_name = metric_name
        self.name = name

    def plot(self, ax=None, *, name=None, show_band=False, **line_kw):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name for the legend in the place of the display's own.
        show_band : bool, default=False
            Shade one standard error of the mean to either side. It says how sure a mean is, not how
            sure a difference is: two rankers are compared on the same queries, and differ more
            surely than their bands tell.
        **line_kw : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay
        """
        self.ax_ = axes_or_new(ax, "MetricAtKDisplay.plot")
        from matplotlib.ticker import MaxNLocator

        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        cut_offs = np.arange(1, len(self.values) + 1)
        line_kw = {"marker": "o", "label": name} | line_kw
        (self.line_,) = self.ax_.plot(cut_offs, self.values, **line_kw)
        self.band_ = None
        if show_band:
            self.band_ = self.ax_.fill_between(
                cut_offs,
                self.values - self.standard_errors,
                self.values + self.standard_errors,
                color=self.line_.get_color(),
                alpha=0.2,
                linewidth=0,
            )
        self.ax_.set(xlabel="k", ylabel=f"{self.metric_name}@k")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        if line_kw["label"] is not None:
            self.ax_.legend()
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        y,
        groups,
        *,
        metric="ndcg",
        k_max=10,
        name=None,
        ax=None,
        show_band=False,
        **line_kw,
    ):
        """Evaluate the rankings of an estimator and draw the curve.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a method ``predict(X)`` that gives a score a row: a ranker, a pipeline, a
            search.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which have no grade, are left out.
        groups : array-like of shape (n_samples,)
            Query id of each row.
        metric, k_max
            See `from_predictions`.
        name : str, default=None
            Name for the legend; None is the name of the estimator's class.
        ax, show_band, **line_kw
            See `from_predictions`.

        Returns
        -------
        display : MetricAtKDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is invalid, or `groups` is None.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        return cls.from_predictions(
            y,
            predict(estimator, X, y, groups),
            groups,
            metric=metric,
            k_max=k_max,
            name=type(unwrap_search(estimator)).__name__ if name is None else name,
            ax=ax,
            show_band=show_band,
            **line_kw,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true,
        y_score,
        groups,
        *,
        metric="ndcg",
        k_max=10,
        name=None,
        ax=None,
        show_band=False,
        **line_kw,
    ):
        """Evaluate scores and draw the curve.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which have no grade, are left out.
        y_score : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,)
            Query id of each row.
        metric : str or Metric, default="ndcg"
            The name of a metric with a cut-off, without it: "ndcg", "dcg", "map", "mrr", "p". With
            switches, a metric object at any cut-off, as ``get_metric("err@1", max_grade=4)``.
        k_max : int, default=10
            The last cut-off.
        name : str, default=None
            Name for the legend; None draws no legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        show_band : bool, default=False
            Shade one standard error of the mean to either side; see `plot`.
        **line_kw : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        display : MetricAtKDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is invalid, or `groups` is None.

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from sklearn_ltr.plotting import MetricAtKDisplay
        >>> display = MetricAtKDisplay.from_predictions(
        ...     [1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], ["a", "a", "b", "b"], metric="p", k_max=2
        ... )
        >>> display.values
        array([0.5, 0.5])
        >>> plt.close()
        """
        check_matplotlib(f"{cls.__name__}.from_predictions")
        check_scalar(k_max, "k_max", Integral, min_val=1)
        k_max = int(k_max)  # which NumPy may give in few bits
        metrics = [_at(metric, k) for k in range(1, k_max + 1)]
        y_true = check_column(y_true, "y_true", finite="allow-nan")
        y_score = check_column(y_score, "y_score", len(y_true))
        y_true, y_score, groups = labelled(y_true, y_score, groups)
        values, errors = np.empty(k_max), np.empty(k_max)
        for i, at_k in enumerate(metrics):
            of_query = at_k(y_true, y_score, groups, per_query=True).values
            values[i] = at_k._mean(of_query, None)
            errors[i] = _standard_error(of_query[~np.isnan(of_query)])
        display = cls(
            values=values,
            standard_errors=errors,
            metric_name=metrics[0].label.upper(),
            name=name,
        )
        return display.plot(ax, show_band=show_band, **line_kw)


def _at(metric, k):
    """The metric with another cut-off."""
    if not isinstance(metric, Metric):
        if "@" in str(metric):
            raise ValueError(
                f"`metric` is drawn at all cut-offs up to `k_max`, so give its name without one, "
                f"{metric.partition('@')[0]!r}; got {metric!r}."
            )
        return get_metric(f"{metric}@{k}")
    if "k" not in metric.__dataclass_fields__:
        raise ValueError(f"{metric!r} looks at whole queries and has no cut-off.")
    return replace(metric, k=k)


def _standard_error(values):
    """Standard error of a mean; NaN of fewer than two values."""
    if len(values) < 2:
        return np.nan
    return values.std(ddof=1) / np.sqrt(len(values))
