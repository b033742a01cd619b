# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What each feature adds to the score of a row."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.utils import check_scalar

from sklearn_ltr.categories import dense_column
from sklearn_ltr.columns import check_feature_names, column_of
from sklearn_ltr.export._trees import categories_of
from sklearn_ltr.plotting._base import (
    NEGATIVE,
    POSITIVE,
    axes_or_new,
    check_contributions,
    check_matplotlib,
)
from sklearn_ltr.queries import is_missing


class ContributionsDisplay:
    """Why a row has its score, or why one row is ranked above another: a bar for each feature.

    The score of a ranker of stumps is a sum with one term for each feature, so that the bars add up
    to the score exactly, or to the difference of two scores. Those of a ranker of trees are Shapley
    values: they add up to what the score has beyond the expected one, or to the difference of two
    scores.

    It is recommended to use `from_estimator` to create the display. All parameters are stored as
    attributes.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    contributions : ndarray of shape (n_features,), dtype float64
        What each feature adds to the score, or to the difference of two scores.
    feature_names : list of str of length n_features
        What is written beside the bars; of `from_estimator`, with the values of the row. A category
        is called by its value.
    is_difference : bool, default=False
        Whether two rows are compared.
    expected_score : float or None, default=None
        What the contributions are added to; None is 0, or what cancels out in a difference.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The largest bar first, the sum of those left out last.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    ShapeFunctionsDisplay : What every value of a feature adds.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.plotting import ContributionsDisplay
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = MPBoost(n_estimators=50).fit(X, y, groups=groups)
    >>> display = ContributionsDisplay.from_estimator(ranker, X[0])
    >>> bool(np.isclose(display.contributions.sum(), ranker.predict(X[:1])[0]))
    True
    >>> why_above = ContributionsDisplay.from_estimator(ranker, X[0], X[1])
    >>> plt.close("all")
    """

    def __init__(self, *, contributions, feature_names, is_difference=False, expected_score=None):
        self.contributions = contributions
        self.feature_names = feature_names
        self.is_difference = is_difference
        self.expected_score = expected_score

    def plot(self, ax=None, *, n_features=10, **bar_kw):
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        n_features : int, default=10
            Bars of single features, those of the largest size; the others that are not 0 are added
            up in one bar.
        **bar_kw : dict
            Passed to matplotlib's ``barh``.

        Returns
        -------
        display : ContributionsDisplay
        """
        check_scalar(n_features, "n_features", Integral, min_val=1)
        self.ax_ = axes_or_new(ax, "ContributionsDisplay.plot")
        self.figure_ = self.ax_.figure
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        order = order[self.contributions[order] != 0]
        shown, rest = order[:n_features], order[n_features:]
        sizes = self.contributions[shown]
        labels = [self.feature_names[feature] for feature in shown]
        if len(rest) > 0:
            sizes = np.append(sizes, self.contributions[rest].sum())
            labels.append(f"{len(rest)} other feature{'s' if len(rest) > 1 else ''}")
        colors = np.where(sizes > 0, POSITIVE, NEGATIVE)
        self.bars_ = self.ax_.barh(
            np.arange(len(sizes)), sizes, tick_label=labels, **({"color": colors} | bar_kw)
        )
        self.ax_.bar_label(self.bars_, fmt="%+.3g", padding=3, fontsize="small")
        self.ax_.margins(x=0.25)  # room for the numbers
        self.ax_.set_ylim(max(len(sizes), 1) - 0.5, -0.5)  # the first on top
        self.ax_.axvline(0, color="black", linewidth=0.8)
        what = to = "difference of the scores" if self.is_difference else "score"
        value = self.contributions.sum()
        if self.expected_score is not None:
            value += self.expected_score
            to = f"expected score, {round(self.expected_score, 3) + 0.0:.3f}"  # no "-0.000"
        self.ax_.set(xlabel=f"added to the {to}", title=f"{what} {value:.3f}")
        return self

    @classmethod
    def from_estimator(
        cls, ranker, x, x_other=None, *, n_features=10, feature_names=None, ax=None, **bar_kw
    ):
        """Draw the contributions to the score of a row, or to the difference of two rows' scores.

        Parameters
        ----------
        ranker : ranker of stumps or trees
            Fitted, and with a method ``contributions``: not McRank; or a fitted search over one.
        x : array-like or sparse matrix of shape (n_features,) or (1, n_features)
            The row, such as ``X[i]``; of a frame, ``X.iloc[i]``.
        x_other : array-like or sparse matrix of the same shapes, default=None
            A row that `x` is compared with: positive bars are reasons for `x` to be above it.
        n_features : int, default=10
            Bars of single features, those of the largest size; the others that are not 0 are added
            up in one bar.
        feature_names : list of str of length `n_features_in_`, default=None
            Names to show; None takes those of the frame that the ranker was fitted on, or the
            numbers.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **bar_kw : dict
            Passed to matplotlib's ``barh``.

        Returns
        -------
        display : ContributionsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the ranker is not fitted.
        TypeError
            If the score is a sum of regressors given as `estimator`.
        ValueError
            If the score is no sum of stumps or trees, or an argument is invalid.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        ranker = check_contributions(ranker, cls.__name__)
        names = check_feature_names(ranker, feature_names)
        contributions, values = _explain(ranker, x, "x")
        expected_score = None
        if x_other is None:
            expected_score = getattr(ranker, "expected_score_", None)
            labels = [f"{name} = {value}" for name, value in zip(names, values, strict=True)]
        else:
            others, other_values = _explain(ranker, x_other, "x_other")
            contributions = contributions - others
            labels = [
                f"{name}: {value} vs {other}"
                for name, value, other in zip(names, values, other_values, strict=True)
            ]
        display = cls(
            contributions=contributions,
            feature_names=labels,
            is_difference=x_other is not None,
            expected_score=expected_score,
        )
        return display.plot(ax, n_features=n_features, **bar_kw)


def _explain(ranker, x, name):
    """Contributions to the score of a row, ndarray (n_features,), and its values, as text."""
    if hasattr(x, "to_frame") and hasattr(
        x, "index"
    ):  # a pandas Series, whose index is the feature names
        x = x.to_frame().T
    elif not hasattr(x, "shape") or len(x.shape) == 1:
        x = np.atleast_2d(x)
    if len(x.shape) != 2 or x.shape[0] != 1:
        raise ValueError(
            f"`{name}` must be one row, of shape (n_features,) or (1, n_features); got shape "
            f"{x.shape}."
        )
    contributions = ranker.contributions(x)[0]
    values = ranker._validate_X(x, reset=False)
    values = (values.toarray() if sparse.issparse(values) else values)[0]
    return contributions, [
        _number(value) if known is None else _category(value, known, x, k)
        for k, (value, known) in enumerate(zip(values, categories_of(ranker), strict=True))
    ]


def _number(value):
    return "missing" if np.isnan(value) else f"{value:.3g}"


def _category(code, known, x, k):
    """A category as it is called: by its value, and not by its code or to some digits."""
    if not np.isnan(code):
        return _name(known[int(code)])
    given = column_of(x, k) if hasattr(x, "columns") else dense_column(x, k)
    (value,) = given.to_pylist() if hasattr(given, "to_pylist") else np.asarray(given).tolist()
    return "missing" if is_missing(value) else f"{_name(value)} (unknown)"


def _name(value):
    return value if isinstance(value, str) else np.format_float_positional(value, trim="-")
