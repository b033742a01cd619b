# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of single rows."""

__all__ = ["binomial_loss", "multinomial_loss", "sigmoid", "softmax"]

import numpy as np
from scipy.special import expit as sigmoid

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
