# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Losses of single rows."""

__all__ = ["binomial_loss", "multinomial_loss", "sigmoid", "softmax"]

import numpy as np
from scipy.special import expit as sigmoid


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


def multinomial_loss(F, y):
    """-log p of each row's class, equation 7 of McRank.

    Parameters
    ----------
    F : ndarray of shape (n_classes, n_samples)
    y : ndarray of shape (n_classes, n_samples), dtype bool
        Whether a row is of a class.

    Returns
    -------
    losses : ndarray of shape (n_samples,)
    """
    highest = F.max(axis=0)
    return np.log(np.exp(F - highest).sum(axis=0)) - ((F - highest) * y).sum(axis=0)


def binomial_loss(F, y):
    """The sum over binary problems of -log p of what each row is.

    Parameters
    ----------
    F : ndarray of shape (n_problems, n_samples)
        Log odds of `y`.
    y : ndarray of shape (n_problems, n_samples), dtype bool

    Returns
    -------
    losses : ndarray of shape (n_samples,)
    """
    return np.logaddexp(0, np.where(y, -F, F)).sum(axis=0)
