# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of grades: what relevance judgements become before a loss or a metric sees them."""

import numpy as np

DISTANCES = ("linear", "logarithmic", "logistic", "binary")


def directed_distance(higher, lower, distance="logistic", *, alpha=0.5, lam=3.0, beta=0.5):
    r"""Directed distance from lower to higher grades, the label of a preference pair.

    .. math::
        \mathrm{LDD} = \alpha\,(r_i - r_j), \quad
        \mathrm{LOGDD} = \log(1 + \lambda\,(r_i - r_j)), \quad
        \mathrm{LOGITDD} = \frac{1}{1 + e^{-\beta (r_i - r_j)}}

    for :math:`r_i > r_j`; the distance in the other direction is its negative, and equal grades are
    at distance 0 (equations 6-8 of [1]_).

    Parameters
    ----------
    higher, lower : array-like of the same shape, dtype float64
        Grades, ``higher > lower`` everywhere.
    distance : {"linear", "logarithmic", "logistic", "binary"} or callable, default="logistic"
        A callable takes the two arrays and returns positive numbers.
    alpha, lam, beta : float, default=0.5, 3.0, 0.5
        The paper's :math:`\alpha`, :math:`\lambda`, :math:`\beta`, all positive.

    Returns
    -------
    distances : ndarray of the shape of `higher`, dtype float64, all positive

    Raises
    ------
    ValueError
        If `distance` is unknown, or a callable breaks requirement (3) of [1]_: a distance must be
        finite and have the sign of the difference.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> from sklearn_ltr.labels import directed_distance
    >>> directed_distance([1, 2], [0, 0], "linear", alpha=0.5)
    array([0.5, 1. ])
    """
    higher = np.asarray(higher, dtype=np.float64)
    lower = np.asarray(lower, dtype=np.float64)
    gap = higher - lower
    if callable(distance):
        values = np.asarray(distance(higher, lower), dtype=np.float64)
        if values.shape != gap.shape:
            raise ValueError(
                f"`distance` returned shape {values.shape} for grades of shape {gap.shape}."
            )
    elif distance == "linear":
        values = alpha * gap
    elif distance == "logarithmic":
        values = np.log1p(lam * gap)
    elif distance == "logistic":
        values = 1.0 / (1.0 + np.exp(-beta * gap))
    elif distance == "binary":
        values = np.ones_like(gap)
    else:
        raise ValueError(
            f"`distance` must be one of {list(DISTANCES)} or a callable; got {distance!r}."
        )
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        i = np.flatnonzero(wrong)[0]
        raise ValueError(
            "`distance` must be finite and positive where the first grade is the higher one; got "
            f"{values.ravel()[i]} for grades {higher.ravel()[i]} and {lower.ravel()[i]}."
        )
    return values


def exponential_gain(grades):
    """Gain ``2**grade - 1``.

    Parameters
    ----------
    grades : array-like, dtype float64, not negative

    Raises
    ------
    ValueError
        If a grade is negative, or so large that its gain is infinite (above 1023).

    Examples
    --------
    >>> from sklearn_ltr.labels import exponential_gain
    >>> exponential_gain([0, 1, 2, 3])
    array([0., 1., 3., 7.])
    """
    grades = _not_negative(grades)
    if grades.size and grades.max() >= 1024:
        raise ValueError(
            f"The exponential gain 2**grade - 1 of grade {grades.max():g} is infinite; use the "
            'linear gain (gain="linear") or rescale the grades.'
        )
    return np.exp2(grades) - 1.0


def linear_gain(grades):
    """Gain equal to the grade; negative grades raise ValueError.

    Examples
    --------
    >>> from sklearn_ltr.labels import linear_gain
    >>> linear_gain([0, 1, 2])
    array([0., 1., 2.])
    """
    return _not_negative(grades)


def _not_negative(grades):
    grades = np.asarray(grades, dtype=np.float64)
    if grades.size and grades.min() < 0:
        raise ValueError(
            f"A gain needs grades that are not negative; got {grades.min():g}. Shift the grades."
        )
    return grades
