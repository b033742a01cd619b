# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Directed distances by the difference of grades."""

import numpy as np

from sklearn_ltr.labels import directed_distance
from sklearn_ltr.plotting._base import axes_or_new, check_matplotlib
from sklearn_ltr.rankers.mpboost import MPBoost
from sklearn_ltr.validation import check_positive

# The parameter of each distance that has one, and its symbol in the paper.
SYMBOLS = {
    "linear": ("alpha", r"$\alpha$"),
    "logarithmic": ("lam", r"$\lambda$"),
    "logistic": ("beta", r"$\beta$"),
}


class DirectedDistanceDisplay:
    """The directed distance of two grades by their difference, as in Figure 2 of MPBoost [1]_.

    It is recommended to use `from_estimator` to create the display. All parameters are stored as
    attributes. Several distances are drawn into one figure by passing the axes of the first display
    to the next one.

    Read more in the :ref:`User Guide <plotting>`.

    Parameters
    ----------
    differences : ndarray of shape (n_points,), dtype float64
        Differences of grades, positive.
    distances : ndarray of shape (n_points,), dtype float64
    name : str, default=None
        Name of the distance for the legend; None draws no legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    sklearn_ltr.MPBoost : Learns from these distances.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.plotting import DirectedDistanceDisplay
    >>> display = DirectedDistanceDisplay.from_estimator(MPBoost(distance="linear", alpha=0.2))
    >>> other = DirectedDistanceDisplay.from_estimator(MPBoost(), ax=display.ax_)
    >>> len(display.ax_.lines)
    2
    >>> plt.close()
    """

    def __init__(self, *, differences, distances, name=None):
        self.differences = differences
        self.distances = distances
        self.name = name

    def plot(self, ax=None, *, name=None, **line_kw):
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Name for the legend in the place of the display's own.
        **line_kw : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        display : DirectedDistanceDisplay
        """
        self.ax_ = axes_or_new(ax, "DirectedDistanceDisplay.plot")
        self.figure_ = self.ax_.figure
        line_kw = {"label": self.name if name is None else name} | line_kw
        (self.line_,) = self.ax_.plot(self.differences, self.distances, **line_kw)
        self.ax_.set(xlabel="difference of the grades", ylabel="directed distance")
        self.ax_.set_xlim(left=0, auto=True)  # still open for what is drawn next
        self.ax_.set_ylim(bottom=0, auto=True)
        if line_kw["label"] is not None:
            self.ax_.legend()
        return self

    @classmethod
    def from_estimator(cls, ranker, *, max_difference=4.0, name=None, ax=None, **line_kw):
        """Draw the directed distance that a ranker learns from.

        Parameters
        ----------
        ranker : MPBoost
            Fitted or not. A callable distance, which may depend on more than the difference, is
            drawn against grade 0.
        max_difference : float, default=4.0
            The curve ends here; it starts just above 0, where distances need not vanish.
        name : str, default=None
            Name for the legend; None is the name of the distance and its parameter.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            Passed to matplotlib's ``plot``.

        Returns
        -------
        display : DirectedDistanceDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If the ranker is no MPBoost.
        ValueError
            If `max_difference` is not positive, or the ranker's parameters are invalid.
        """
        check_matplotlib(f"{cls.__name__}.from_estimator")
        if not isinstance(ranker, MPBoost):
            raise TypeError(
                f"{cls.__name__} needs an MPBoost, which has a directed distance; got "
                f"{type(ranker).__name__}."
            )
        check_positive(max_difference, "max_difference", maximum=np.finfo(np.float64).max)
        differences = np.linspace(0, max_difference, 201)[1:]
        distances = directed_distance(
            differences,
            np.zeros_like(differences),
            ranker.distance,
            alpha=ranker.alpha,
            lam=ranker.lam,
            beta=ranker.beta,
        )
        name = _name_of_distance(ranker) if name is None else name
        return cls(differences=differences, distances=distances, name=name).plot(ax, **line_kw)


def _name_of_distance(ranker):
    """Name of a distance with its parameter, in matplotlib's notation."""
    if callable(ranker.distance):
        return getattr(ranker.distance, "__name__", "own distance")
    if ranker.distance not in SYMBOLS:
        return ranker.distance
    parameter, symbol = SYMBOLS[ranker.distance]
    return f"{ranker.distance}, {symbol} = {getattr(ranker, parameter):g}"
