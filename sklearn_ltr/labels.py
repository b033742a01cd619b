# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Functions of grades: what relevance judgements become before a loss or a metric sees them."""

import numpy as np

__all__ = ["directed_distance"]

DISTANCES = ("linear", "logarithmic", "logistic", "binary")
GAINS = ("exponential", "linear")

MAX_EXPONENT = 1024  # of 2, the first that float64 cannot hold


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


def check_gain(grades, gain, name="y"):
    """Check that grades have gains.

    Parameters
    ----------
    grades : ndarray, dtype float64, not empty
    gain : {"exponential", "linear"}
    name : str, default="y"
        Name of the grades in error messages.

    Raises
    ------
    ValueError
        If a grade is negative, or its gain is infinite.
    """
    if (lowest := grades.min()) < 0:
        raise ValueError(
            f"`{name}` has the negative grade {lowest:g}; a gain needs grades of at least 0. "
            f"Subtract the lowest grade from `{name}`."
        )
    if gain == "exponential" and (highest := grades.max()) >= MAX_EXPONENT:
        raise ValueError(
            f"`{name}` has the grade {highest:g}, whose gain 2^y - 1 overflows float64, as it does "
            f'from {MAX_EXPONENT} on. Use gain="linear" or smaller grades.'
        )


def gains(grades, gain):
    """Gain of each grade: 2^y - 1 ("exponential") or y ("linear").

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.labels import gains
    >>> gains(np.array([0.0, 1.0, 2.0, 3.0]), "exponential")
    array([0., 1., 3., 7.])
    """
    if gain == "linear":
        return grades
    values = np.exp2(grades)
    values -= 1
    # Of small grades the difference would leave few digits, or none.
    small = grades < 1
    values[small] = np.expm1(np.log(2) * grades[small])
    return values
