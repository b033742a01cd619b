# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The step functions that the score of a stump ensemble is a sum of."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils import check_scalar

from sklearn_ltr.columns import check_feature_names, column_number
from sklearn_ltr.plotting._base import (
    check_matplotlib,
    check_sum_of_stumps,
)

# In inches, so that text can be read when the figure of three columns is shown small.
PANEL_WIDTH, PANEL_HEIGHT = 2.0, 1.8

Y_LABEL = "added to the score"


class ShapeFunctionsDisplay:
    """What a ranker of stumps makes of each feature: one panel a feature.

    The score of a row is the sum of the curves at its values, so that the panels show the whole
    model, if there is one for each feature used. They have a common vertical axis: a curve that
    rises more counts more. Only differences matter within a curve; where it is as a whole changes
    no ranking.

    It is recommended to use `from_estimator` to create the display. All parameters are stored as
    attributes.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    shape_functions : list of (thresholds, values)
        For each panel what ``shape_function`` of the ranker returns.
    feature_names : list of str
        The name of each panel's feature.
    samples : list of ndarrays, default=None
        For each panel the values of the feature in some rows, of which the deciles are marked; a
        missing value among them, NaN, makes the panel show what it adds to the score.
    missing : list of bool, default=None
        For each panel whether to show what a missing value adds to the score in any case.
    name : str, default=None
        Name of the ranker for the legend of the first panel; None draws no legend but for missing
        values.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curve of each panel.
    missing_lines_ : list of matplotlib Line2D or None
        The score of a missing value in each panel, where it is drawn.
    deciles_ : list of matplotlib LineCollection or None
        The marks of the deciles in each panel, where there are any.
    axes_ : ndarray of matplotlib Axes, of shape (n_panels,)
    figure_ : matplotlib Figure

    See Also
    --------
    ContributionsDisplay : The values of these functions at one row.
    sklearn.inspection.PartialDependenceDisplay : For rankers that are no sum of stumps.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import ShapeFunctionsDisplay
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = MPBoost(n_estimators=50).fit(X, y, groups=groups)
    >>> display = ShapeFunctionsDisplay.from_estimator(ranker, X, features=[0, 3])
    >>> display.feature_names
    ['feature 0', 'feature 3']
    >>> plt.close()
    """

    def __init__(self, *, shape_functions, feature_names, samples=None, missing=None, name=None):
        self.shape_functions = shape_functions
        self.feature_names = feature_names
        self.samples = samples
        self.missing = missing
        self.name = name

    def plot(self, ax=None, *, n_cols=3, name=None, **line_kw):
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or array-like of Axes, default=None
            One for each panel, such as ``axes_`` of another display of the same features; None
            makes a new figure.
        n_cols : int, default=3
            Panels in a row of a new figure.
        name : str, default=None
            Name for the legend in the place of the display's own.
        **line_kw : dict
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        display : ShapeFunctionsDisplay
        """
        check_matplotlib("ShapeFunctionsDisplay.plot")
        name = self.name if name is None else name
        self.axes_ = self._axes(ax, n_cols)
        self.figure_ = self.axes_[0].figure
        self.lines_, self.missing_lines_, self.deciles_ = [], [], []
        for panel, axes in enumerate(self.axes_):
            thresholds, values = self.shape_functions[panel]
            sample = None if self.samples is None else self.samples[panel]
            edges = np.concatenate(([0.0], thresholds, [0.0]))
            edges[[0, -1]] = _limits(thresholds, sample)
            # A value at a threshold belongs to the step on its left.
            (line,) = axes.plot(
                edges,
                np.append(values[:-1], values[-2]),
                **({"drawstyle": "steps-post", "label": None if panel else name} | line_kw),
            )
            self.lines_.append(line)
            missing = bool(self.missing is not None and self.missing[panel])
            missing |= bool(sample is not None and np.isnan(sample).any())
            self._mark_sample(axes, sample, values[-1] if missing else None, line.get_color())
            axes.set_xlabel(self.feature_names[panel])
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize="small")
        if ax is None:
            self.figure_.supylabel(Y_LABEL, fontsize="medium")
        elif not self.figure_.get_supylabel():  # not the figure of another display
            self.axes_[0].set_ylabel(Y_LABEL)
        return self

    def _axes(self, ax, n_cols):
        """Axes of the panels: ndarray of shape (n_panels,)."""
        import matplotlib.pyplot as plt

        n_panels = len(self.shape_functions)
        if ax is not None:
            axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
            if len(axes) != n_panels:
                raise ValueError(
                    f"`ax` must have one Axes for each of the {n_panels} features; got {len(axes)}."
                )
            return axes
        check_scalar(n_cols, "n_cols", Integral, min_val=1)
        n_cols = min(int(n_cols), n_panels)
        n_rows = -(-n_panels // n_cols)
        _, axes = plt.subplots(
            n_rows,
            n_cols,
            squeeze=False,
            sharey=True,
            layout="constrained",
            figsize=(max(PANEL_WIDTH * n_cols, 4), max(PANEL_HEIGHT * n_rows, 3)),
        )
        for unused in axes.ravel()[n_panels:]:
            unused.remove()
        return axes.ravel()[:n_panels]

    def _mark_sample(self, axes, sample, value_of_missing, color):
        missing_line = deciles = None
        if value_of_missing is not None:
            missing_line = axes.axhline(
                value_of_missing, color=color, linestyle=":", label="missing"
            )
        if sample is not None and not np.isnan(sample).all():
            deciles = axes.vlines(
                np.nanquantile(sample, np.arange(1, 10) / 10),
                0,
                0.05,
                transform=axes.get_xaxis_transform(),
                color="black",
                linewidth=1,
            )
        self.missing_lines_.append(missing_line)
        self.deciles_.append(deciles)

    @classmethod
    def from_estimator(
        cls,
        ranker,
        X=None,
        *,
        features=None,
        n_features=9,
        feature_names=None,
        n_cols=3,
        name=None,
        ax=None,
        **line_kw,
    ):
        """Draw the shape functions of a ranker.

        Parameters
        ----------
        ranker : MPBoost, RankBoost or FRank
            Fitted; or a fitted search over one.
        X : {array-like, sparse matrix} of shape (n_samples, n_features), default=None
            Rows, such as those it learned from. Their range is the range of the panels, their
            deciles are marked at the bottom. Where a value is missing, here or in training, a
            dotted line shows what a missing value adds to the score.
        features : list of int or str, default=None
            Numbers or names of the features to draw. None draws the `n_features` of them with the
            highest ``feature_importances_``, the most important first.
        n_features : int, default=9
            At most so many panels, and none for a feature that is not used; without effect where
            `features` is given.
        feature_names : list of str of length `n_features_in_`, default=None
            Names to show; None takes those of the frame that the ranker was fitted on, or the
            numbers.
        n_cols : int, default=3
            Panels in a row of a new figure.
        name : str, default=None
            Name for the legend of the first panel; None draws no legend but for missing values.
        ax : matplotlib Axes or array-like of Axes, default=None
            One for each panel, such as ``axes_`` of another display of the same features; None
            makes a new figure.
        **line_kw : dict
            Passed to matplotlib's ``plot`` for every curve.

        Returns
        -------
        display : ShapeFunctionsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the ranker is not fitted.
        ValueError
            If the ranker is no sum of stumps, or an argument is invalid.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        ranker = check_sum_of_stumps(ranker, cls.__name__)
        names = check_feature_names(ranker, feature_names)
        if features is None:
            check_scalar(n_features, "n_features", Integral, min_val=1)
            importances = ranker.feature_importances_
            features = np.argsort(-importances, kind="stable")[:n_features]
            features = features[importances[features] > 0]
        else:
            features = [column_number(feature, ranker, "features") for feature in features]
        if len(features) == 0:
            raise ValueError("There is no feature to draw: `features` is empty, or none is used.")
        if X is not None:
            X = ranker._validate_X(X, reset=False)
        missing = ranker._binner.has_missing_
        display = cls(
            shape_functions=[ranker.shape_function(int(feature)) for feature in features],
            feature_names=[names[feature] for feature in features],
            samples=None if X is None else [_column(X, feature) for feature in features],
            missing=None if missing is None else [bool(missing[feature]) for feature in features],
            name=name,
        )
        return display.plot(ax, n_cols=n_cols, **line_kw)


def _column(X, feature):
    """A column of a matrix: ndarray of shape (n_samples,)."""
    return X[:, [feature]].toarray().ravel() if sparse.issparse(X) else X[:, feature]


def _limits(thresholds, sample):
    """Where a curve begins and ends: beyond all thresholds and values."""
    known = thresholds if sample is None else np.append(thresholds, sample[~np.isnan(sample)])
    if len(known) == 0:
        return 0.0, 1.0
    low, high = known.min(), known.max()
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin
