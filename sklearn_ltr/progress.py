# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What a fit prints on its way, as the parameter `verbose` of a ranker says."""

from numbers import Integral

from sklearn.utils import check_scalar

from sklearn_ltr.reduction import is_first


def check_verbose(ranker):
    """Raise TypeError or ValueError for an invalid `verbose`."""
    check_scalar(ranker.verbose, "verbose", Integral, min_val=0)


def print_step(ranker, most, message):
    """Print a message after a round, or whatever `n_iter_` counts, if it is one of `verbose`."""
    if ranker.verbose and ranker.n_iter_ % ranker.verbose == 0 and is_first():
        print(f"[{ranker.n_iter_}/{most}] {message}")


def print_end(ranker, message):
    """Print the last line, if `verbose`."""
    if ranker.verbose and is_first():
        plural = "" if ranker.n_iter_ == 1 else "s"
        print(f"Ended after {ranker.n_iter_} {ranker._step}{plural}: {message}.")
