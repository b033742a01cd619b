# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
r"""The general boosting method of the QBRank paper (its section 2).

A risk R of the scores h of all training rows is replaced, in each round, by a quadratic upper bound

.. math:: R(h + g) \le R(h) + \nabla R(h)^T g + \frac{1}{2} g^T W g

with a diagonal W (equation 6). Completing the square, the bound is least where g fits the targets
:math:`-\nabla R / W` with the weights W by least squares, so that any regressor can fit it.
"""

import numpy as np


def constant_step(R, length, h, g):
    """The step of Theorem 1 of the paper: of one length, in the norm of W, where it raises nothing.

    Parameters
    ----------
    R : BoundLoss
        At the scores `h`.
    length : float
        What the step is taken times.
    h, g : ndarray of shape (n_samples,)

    Returns
    -------
    s : float
        1 over the norm of `g`, or 0 where `length` times that raises the risk.
    """
    norm = np.sqrt(R.data.sum(R.curvature * g * g) / R.data.count(R.data.n_queries))
    if norm == 0 or R.loss_at(h + length / norm * g) > R.loss:
        return 0.0
    return 1 / norm


def quadratic_rounds(ranker, train, R, step=None):
    """Algorithm 1 of the paper: greedy boosting by quadratic approximation.

    Parameters
    ----------
    ranker : TreeBoosting
        Gives the weak learner, the rows of each round, and `learning_rate`.
    train : Training
    R : BoundLoss
    step : callable, default=None
        ``step(h, g)`` is how far to go; None is ``R.step``.

    Yields
    ------
    terms : list of (float, weak ranker)
    """
    A, eta, h = ranker._learner(train), ranker.learning_rate, train.scores
    step = step or R.step
    terms = []
    if train.may_start and (h_0 := R.start()):
        terms = [(1.0, A.constant(h_0))]
        h += h_0
    R.update(h, train.round)
    for k in train.rounds():
        targets, weights, rows = R.training_set()
        rows = _rows_of_round(ranker._sample(train.data, k), rows)
        g_k = None
        if train.data.any(targets if rows is None else targets[rows]):
            g_k, g = A.fit(targets, weights, rows, k)
        s_k = 0.0 if g_k is None else float(step(h, g))
        if s_k:
            h += eta * s_k * g
            terms.append((eta * s_k, g_k))
        elif not (terms or ranker._draws() or R.draws):
            return
        R.update(h, k + 1)
        train.loss = _checked(R.loss, k)
        yield terms
        terms = []


def _rows_of_round(sample, mask):
    """Numbers of the rows to fit; None: all."""
    if mask is None or mask.all():
        return sample
    return np.flatnonzero(mask) if sample is None else sample[mask[sample]]


def _checked(loss, k):
    if not np.isfinite(loss):
        raise ValueError(
            f"The training loss is {loss} after round {k + 1}: scores have become too large. Use a "
            "smaller learning_rate, or look for extreme values."
        )
    return loss
