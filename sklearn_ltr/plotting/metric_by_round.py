# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""A metric by the round of a ranker."""

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
    """A ranking metric after each round of a ranker, as in Figure 6 of MPBoost [1]_.

    It is recommended to use `from_estimator` to create the display. All parameters are stored as
    attributes. Several rankers, or metrics, are drawn into one figure by passing the axes of the
    first display to the next one.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    train_scores : ndarray of shape (n_rounds,), dtype float64, default=None
        Mean of the metric over the queries after 1, 2, ... rounds; None if only validation queries
        are shown.
    validation_scores : ndarray of shape (n_rounds,) or (n_sets, n_rounds), default=None
        The same of validation queries, or of several sets of them, if there are any.
    best_iteration : int, default=None
        Rounds that the ranker predicts with; None if that is not known.
    metric_name : str
        Name of the metric for the axis, such as "NDCG@10".
    name : str, default=None
        Name of the ranker for the legend.
    set_names : list of str, default=None
        Names of the validation sets for the legend; None numbers them, if there are several.
    step_name : str, default="round"
        What is counted.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curve of the training queries, dashed, if there is one besides, and that of each set of
        validation queries; or the only one.
    best_ : matplotlib Line2D or None
        The marker at `best_iteration`, on the curve of the first validation set, or the only one,
        where that is not the last round.
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

    Without rows, what the ranker has kept of its fit:

    >>> ranker = MPBoost(n_estimators=30, scoring=["ndcg@10", "map"])
    >>> ranker = ranker.fit(
    ...     X[train], y[train], groups=groups[train],
    ...     X_val=X[val], y_val=y[val], groups_val=groups[val],
    ... )
    >>> display = MetricByRoundDisplay.from_estimator(ranker, metric="map")
    >>> display.metric_name, len(display.lines_)
    ('MAP', 1)
    >>> plt.close("all")
    """

    def __init__(
        self,
        *,
        train_scores=None,
        validation_scores=None,
        best_iteration=None,
        metric_name,
        name=None,
        set_names=None,
        step_name="round",
    ):
        self.train_scores = train_scores
        self.validation_scores = validation_scores
        self.best_iteration = best_iteration
        self.metric_name = metric_name
        self.name = name
        self.set_names = set_names
        self.step_name = step_name

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

        Raises
        ------
        ValueError
            If `set_names` are not as many as the sets.
        """
        curves = self._curves(self.name if name is None else name)
        self.ax_ = axes_or_new(ax, "MetricByRoundDisplay.plot")
        self.figure_ = self.ax_.figure
        rounds = np.arange(1, len(curves[0][1]) + 1)
        self.lines_ = []
        for number, (label, scores) in enumerate(curves):
            style = {"label": label}
            if self.train_scores is not None and len(curves) > 1 and number < 2:
                # One colour for a ranker.
                style |= {"color": self.lines_[0].get_color()} if number else {"linestyle": "--"}
            self.lines_ += self.ax_.plot(rounds, scores, **(style | line_kw))
        self.best_ = None
        if self.best_iteration is not None and self.best_iteration < len(rounds):
            decides = int(self.train_scores is not None and len(curves) > 1)
            (self.best_,) = self.ax_.plot(
                self.best_iteration,
                curves[decides][1][self.best_iteration - 1],
                marker="o",
                linestyle="none",
                color=self.lines_[decides].get_color(),
                label=f"best_iteration_ = {self.best_iteration}",
            )
        self.ax_.set(xlabel=f"{self.step_name}s", ylabel=self.metric_name)
        if self.ax_.get_legend_handles_labels()[0]:
            self.ax_.legend()
        return self

    def _curves(self, name):
        """Label and scores of each curve, that of training queries first: list of tuples."""
        train = [] if self.train_scores is None else [self.train_scores]
        if self.validation_scores is None:
            return [(name, scores) for scores in train]
        sets = np.atleast_2d(self.validation_scores)
        names = self.set_names
        if names is None:
            names = [f"validation {k}" for k in range(1, len(sets) + 1)]
            names = ["validation"] if len(sets) == 1 else names
        if isinstance(names, str) or len(names) != len(sets):
            raise ValueError(
                f"`set_names` must have a name for each of {len(sets)} validation sets; got "
                f"{names!r}."
            )
        prefix = "" if name is None else f"{name}, "
        labels = [*(["train"] if train else []), *names]
        return [(prefix + label, x) for label, x in zip(labels, [*train, *sets], strict=True)]

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X=None,
        y=None,
        groups=None,
        *,
        X_val=None,
        y_val=None,
        groups_val=None,
        metric=None,
        name=None,
        set_names=None,
        ax=None,
        **line_kw,
    ):
        """Evaluate the rankings after each round, or take what `fit` has, and draw the curves.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a method ``staged_predict(X)`` that yields scores after each round, as all
            boosted rankers have. That of `FeatureRank` gets `groups`, too. Without `X`, any ranker
            that was fitted with validation rows, or held some out, nets and linear functions among
            them.
        X : array-like of shape (n_samples, n_features), default=None
            The rows that the ranker learned from; or, without `X_val`, any rows to show by
            themselves. Queries that early stopping held out are not known any more, and count as
            the others here. None takes the scores in ``validation_history_``, a curve for each set.
        y : array-like of shape (n_samples,), default=None
            Grades. Rows where it is NaN, which have no grade, are left out.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row.
        X_val, y_val, groups_val : array-likes, or tuples of them, default=None
            Validation rows, or several sets of them; give all three or none.
        metric : str or Metric, default=None
            A name that `sklearn_ltr.metrics.get_metric` knows, or a metric object; None is
            "ndcg@10". Without `X`, one of the metrics in ``scoring``, of a function also its name;
            None is the first, which decides.
        name : str, default=None
            Name for the legend; None is the name of the estimator's class.
        set_names : list of str, default=None
            Names of the validation sets for the legend; None numbers them, if there are several.
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
            If an argument is invalid, `groups` is None, or the estimator has no rounds, or no
            scores of them.
        NotFittedError
            If the ranker is not fitted.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        estimator = unwrap_search(estimator)
        validation = {"X_val": X_val, "y_val": y_val, "groups_val": groups_val}
        common = {
            "best_iteration": getattr(estimator, "best_iteration_", None),
            "name": type(estimator).__name__ if name is None else name,
            "set_names": set_names,
        }
        if X is None:
            rows = {"y": y, "groups": groups} | validation
            if given := [argument for argument, value in rows.items() if value is not None]:
                raise ValueError(f"`{given[0]}` goes with `X`; without rows give none of these.")
            return cls._from_history(estimator, metric, common).plot(ax, **line_kw)
        class_name = type(estimator).__name__
        metric = get_metric("ndcg@10" if metric is None else metric)
        if not hasattr(estimator, "staged_predict"):
            raise ValueError(
                f"{cls.__name__} needs a boosted ranker, with a method `staged_predict`; got "
                f"{class_name}. Of a pipeline, give the last step and rows that the others have "
                "transformed."
            )
        validation_scores = None
        if any(value is not None for value in validation.values()):
            sets = _sets(validation)
            validation_scores = [_staged_scores(estimator, *rows, metric, "_val") for rows in sets]
            if not isinstance(X_val, tuple):
                (validation_scores,) = validation_scores
            validation_scores = np.array(validation_scores)
        display = cls(
            train_scores=_staged_scores(estimator, X, y, groups, metric),
            validation_scores=validation_scores,
            metric_name=metric_label(metric.name),
            **common,
        )
        return display.plot(ax, **line_kw)

    @classmethod
    def _from_history(cls, estimator, metric, common):
        """The display of what a ranker has kept of its fit."""
        class_name = type(estimator).__name__
        if hasattr(estimator, "_check_is_fitted"):
            estimator._check_is_fitted()
        history = getattr(estimator, "validation_history_", None)
        if history is None:
            raise ValueError(
                f"{class_name} keeps no scores of its rounds, which {cls.__name__} shows without "
                "`X`. Of a pipeline, give the last step."
            )
        if len(history) == 0:
            raise ValueError(
                f"This {class_name} was fitted without validation rows, so that there are no "
                "scores to show. Give `X_val`, `y_val` and `groups_val` to `fit`, or set "
                "early_stopping=True; or give rows here."
            )
        metric = _in_history(metric, history[0])
        scores = [of_set[metric] for of_set in history if metric in of_set]
        if any(len(x) != estimator.n_iter_ for x in scores):
            raise ValueError(
                f"Not all {estimator.n_iter_} rounds were judged by {metric!r} on each set: the "
                "fit that a warm start went on with had other metrics or sets. Fit anew, or give "
                "rows here."
            )
        return cls(
            validation_scores=scores[0] if len(scores) == 1 else np.array(scores),
            metric_name=metric_label(metric),
            step_name=estimator._step,
            **common,
        )


def _in_history(metric, known):
    """The name that scores by a metric have among those known."""
    if metric is None:
        return next(iter(known))
    names = [metric] if isinstance(metric, str) else [repr(metric)]
    if isinstance(metric, str) and metric not in known:
        metric = get_metric(metric)
    names += [getattr(metric, attribute, None) for attribute in ("name", "__name__")]
    found = [name for name in names if name in known]
    if not found:
        raise ValueError(
            f"`metric` must be one of those that rounds were judged by, {', '.join(known)}; got "
            f"{metric!r}. Name others as `scoring` before `fit`, or give rows here."
        )
    return found[0]


def _sets(validation):
    """The rows of each validation set: list of tuples."""
    X, y, groups = validation.values()
    if X is None or y is None:
        raise ValueError("`X_val` and `y_val` go together: give both or none.")
    check_groups(groups, "groups_val")
    if not isinstance(X, tuple):
        return [(X, y, groups)]
    if not all(isinstance(one, tuple) and len(one) == len(X) > 0 for one in (y, groups)):
        raise ValueError(
            "`X_val` is a tuple, which has a matrix for each validation set, and `y_val` and "
            f"`groups_val` must be tuples of as many entries, at least one; got {len(X)} matrices."
        )
    return list(zip(X, y, groups, strict=True))


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
