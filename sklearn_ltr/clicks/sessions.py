# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of clicks where users look from the top down, and may end after a click."""

from itertools import pairwise

import numpy as np


def click_probabilities(model, log, stays):
    r"""Probability that each impression is clicked, whatever is clicked above.

    .. math:: P(E_1) = 1, \quad P(C_k) = P(E_k) \alpha_k, \quad
              P(E_{k+1}) = P(E_k) (1 - \alpha_k + \alpha_k \lambda_k) .

    Parameters
    ----------
    model : ClickModel
    log : ClickLog
        With all of its sessions.
    stays : ndarray of shape (n_positions,)
        :math:`\lambda_k`, to go on after a click at a position.

    Returns
    -------
    position, probability, clicked, skipped : ndarray of shape (n_impressions,)
    """
    sessions = log._sessions(f"{type(model).__name__}.perplexity")
    attractiveness = model._attractiveness_in(log)[sessions.row]
    goes_on = 1 - attractiveness * (1 - stays[sessions.position])
    looks = np.ones(len(goes_on))
    place = places(sessions.sizes)
    # The impressions of the first place in all lists, of the second, and so on.
    order = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    for start, end in pairwise(ends):
        at = order[start:end]
        looks[at] = looks[at - 1] * goes_on[at - 1]
    clicked = sessions.clicked.astype(np.float64)
    return sessions.position, looks * attractiveness, clicked, 1 - clicked


def places(sizes):
    """Place of each impression in the list of its session, from 0."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
