# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of single rows."""

__all__ = ["SquaredError", "binomial_loss", "multinomial_loss", "sigmoid", "softmax"]

import numpy as np
from scipy.special import expit as sigmoid
from sklearn.base import BaseEstimator

SMALLEST = np.finfo(np.float64).tiny  # of the probabilities that logarithms are taken of


def softmax(F):
    """Class probabilities: exp(F_k) / sum_s exp(F_s).

    Parameters
    ----------
    F : ndarray of shape (n_classes, n_samples)

    Returns
    -------
    p : ndarray of shape (n_classes, n_samples)
    """
    p = np.exp(F - F.max(axis=0))
    p /= p.sum(axis=0)
    return p


def multinomial_loss(p, y):
    """-log p of each row's class, equation 7 of McRank.

    Parameters
    ----------
    p : ndarray of shape (n_classes, n_samples)
    y : ndarray of shape (n_classes, n_samples), dtype bool
        Whether a row is of a class.

    Returns
    -------
    losses : ndarray of shape (n_samples,)
    """
    return -np.log(np.maximum((p * y).sum(axis=0), SMALLEST))


def binomial_loss(p, y):
    """The sum over binary problems of -log p of what each row is.

    Parameters
    ----------
    p : ndarray of shape (n_problems, n_samples)
        Probability of `y`.
    y : ndarray of shape (n_problems, n_samples), dtype bool

    Returns
    -------
    losses : ndarray of shape (n_samples,)
    """
    return -np.log(np.maximum(np.where(y, p, 1 - p), SMALLEST)).sum(axis=0)


class SquaredError(BaseEstimator):
    r"""Squared error of the scores as predictions of the grades.

    .. math:: R(h) = \sum_i \frac12 (y_i - h_i)^2

    Notes
    -----
    The gradient is :math:`h_i - y_i`. The curvature is 1: the Hessian itself, so that the bound is
    exact for any step.

    References
    ----------
    .. [1] Friedman. "Greedy Function Approximation: A Gradient Boosting Machine". Annals of
       Statistics 29, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr.losses import SquaredError
    >>> y, scores, offsets = np.array([2.0, 1.0, 0.0]), np.zeros(3), np.array([0, 3])
    >>> SquaredError().value(y, scores, offsets)
    array([2.5])
    >>> SquaredError().gradient(y, scores, offsets)
    array([-2., -1.,  0.])
    >>> SquaredError().curvature(y, scores, offsets)
    array([1., 1., 1.])
    """

    def value(self, y, scores, offsets):
        """Loss of each query: ndarray of shape (n_queries,)."""
        return np.add.reduceat((y - scores) ** 2 / 2, offsets[:-1])

    def gradient(self, y, scores, offsets):
        """Derivative of the loss with respect to each score: ndarray of shape (n_samples,)."""
        return scores - y

    def curvature(self, y, scores, offsets):
        """The Hessian's diagonal, which has nothing beside it: ndarray of shape (n_samples,)."""
        return np.ones(len(y))
