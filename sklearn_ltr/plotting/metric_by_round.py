# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A metric by the round of a boosted ranker."""

import numpy as np
from sklearn.utils.validation import _num_samples

from sklearn_ltr.base import asks_for_groups, unwrap_search
from sklearn_ltr.metrics import get_metric
from sklearn_ltr.plotting._base import (
    axes_or_new,
    check_matplotlib,
    labelled,
    metric_label,
)
from sklearn_ltr.queries import check_groups, encode_groups
from sklearn_ltr.validation import check_column


class MetricByRoundDisplay:
    """A ranking metric after each round of a boosted ranker, as in Figure 6 of MPBoost [1]_.

    It is recommended to use `from_estimator` to create the display. All parameters are stored as
    attributes. Several rankers are drawn into one figure by passing the axes of the first display
    to the next one.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    train_scores : ndarray of shape (n_rounds,), dtype float64
        Mean of the metric over the queries after 1, 2, ... rounds.
    validation_scores : ndarray of shape (n_rounds,), dtype float64, default=None
        The same of validation queries, if there are any.
    best_iteration : int, default=None
        Rounds that the ranker predicts with; None if that is not known.
    metric_name : str
        Name of the metric for the axis, such as "NDCG@10".
    name : str, default=None
        Name of the ranker for the legend.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curve of the training queries, dashed, and that of the validation queries; or the only
        one.
    best_ : matplotlib Line2D or None
        The marker at `best_iteration`, on the last curve, where that is not the last round.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    MetricAtKDisplay : The final ranker by the cut-off of the metric.
    sklearn.model_selection.ValidationCurveDisplay : For other parameters than the number of rounds.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import MetricByRoundDisplay
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> train, val = groups < 40, groups >= 40
    >>> ranker = MPBoost(n_estimators=30).fit(X[train], y[train], groups=groups[train])
    >>> display = MetricByRoundDisplay.from_estimator(
    ...     ranker, X[train], y[train], groups[train],
    ...     X_val=X[val], y_val=y[val], groups_val=groups[val],
    ... )
    >>> display.validation_scores.shape
    (30,)
    >>> plt.close()
    """

    def __init__(
        self, *, train_scores, validation_scores=None, best_iteration=None, metric_name, name=None
    ):
        self.train_scores = train_scores
        self.validation_scores = validation_scores
        self.best_iteration = best_iteration
        self.metric_name = metric_name
        self.name = name

    def plot(self, ax=None, *, name=None, **line_kw):
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name for the legend in the place of the display's own.
        **line_kw : dict
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        display : MetricByRoundDisplay
        """
        self.ax_ = axes_or_new(ax, "MetricByRoundDisplay.plot")
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        rounds = np.arange(1, len(self.train_scores) + 1)
        curves = {name: (self.train_scores, {})}
        if self.validation_scores is not None:
            prefix = "" if name is None else f"{name}, "
            curves = {
                f"{prefix}train": (self.train_scores, {"linestyle": "--"}),
                f"{prefix}validation": (self.validation_scores, {}),
            }
        self.lines_ = []
        for label, (scores, style) in curves.items():
            if self.lines_:  # one colour for a ranker
                style["color"] = self.lines_[0].get_color()
            self.lines_ += self.ax_.plot(rounds, scores, **({"label": label} | style | line_kw))
        self.best_ = None
        if self.best_iteration is not None and self.best_iteration < len(rounds):
            (self.best_,) = self.ax_.plot(
                self.best_iteration,
                scores[self.best_iteration - 1],
                marker="o",
                linestyle="none",
                color=self.lines_[-1].get_color(),
                label=f"best_iteration_ = {self.best_iteration}",
            )
        self.ax_.set(xlabel="rounds", ylabel=self.metric_name)
        if self.ax_.get_legend_handles_labels()[0]:
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
        X_val=None,
        y_val=None,
        groups_val=None,
        metric="ndcg@10",
        name=None,
        ax=None,
        **line_kw,
    ):
        """Evaluate the rankings after each round and draw the curves.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a method ``staged_predict(X)`` that yields scores after each round, as all
            boosted rankers have. That of `FeatureRank` gets `groups`, too.
        X : array-like of shape (n_samples, n_features)
            The rows that the ranker learned from; or, without `X_val`, any rows to show by
            themselves. Queries that early stopping held out are not known any more, and count as
            the others here.
        y : array-like of shape (n_samples,)
            Grades. Rows where it is NaN, which have no grade, are left out.
        groups : array-like of shape (n_samples,)
            Query id of each row.
        X_val, y_val, groups_val : array-likes, default=None
            Validation rows; give all three or none.
        metric : str or Metric, default="ndcg@10"
            A name that `sklearn_ltr.metrics.get_metric` knows, or a metric object.
        name : str, default=None
            Name for the legend; None is the name of the estimator's class.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        display : MetricByRoundDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If an argument is invalid, `groups` is None, or the estimator has no rounds.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        estimator, metric = unwrap_search(estimator), get_metric(metric)
        class_name = type(estimator).__name__
        if not hasattr(estimator, "staged_predict"):
            raise ValueError(
                f"{cls.__name__} needs a boosted ranker, with a method `staged_predict`; got "
                f"{class_name}. Of a pipeline, give the last step and rows that the others have "
                "transformed."
            )
        validation = (X_val, y_val, groups_val)
        if any(a is not None for a in validation):
            if X_val is None or y_val is None:
                raise ValueError("`X_val` and `y_val` go together: give both or none.")
            check_groups(groups_val, "groups_val")
        display = cls(
            train_scores=_staged_scores(estimator, X, y, groups, metric),
            validation_scores=(
                None if X_val is None else _staged_scores(estimator, *validation, metric, "_val")
            ),
            best_iteration=getattr(estimator, "best_iteration_", None),
            metric_name=metric_label(metric),
            name=class_name if name is None else name,
        )
        return display.plot(ax, **line_kw)


def _staged_scores(estimator, X, y, groups, metric, suffix=""):
    """The metric's mean after each round: ndarray of shape (n_rounds,).

    `suffix` is that of the arguments' names in error messages.
    """
    y = check_column(y, f"y{suffix}", _num_samples(X), finite="allow-nan")
    check_groups(groups, f"groups{suffix}")
    groups, _ = encode_groups(groups, len(y), f"groups{suffix}")
    told = {"groups": groups} if asks_for_groups(estimator) else {}
    stages = estimator.staged_predict(X, **told)
    return np.array([metric(*labelled(y, y_score, groups)) for y_score in stages])
