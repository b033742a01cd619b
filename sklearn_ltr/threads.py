# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""How many threads there are: as many as `n_jobs` says, but for a process that was forked.

A fork copies no thread but the one that calls it, and GNU OpenMP does not notice: a child that uses
several waits for those that its parent had, for ever. With one thread none is waited for.
"""

import os

from joblib import cpu_count, effective_n_jobs

# As many threads are allowed on any machine.
FEW_THREADS = 4

# Whether several threads have run in this process, and in one that it was forked from.
_several = {"here": False, "before": False}


def number_of_threads(n_jobs):
    """How many threads to start, by a parameter `n_jobs`: int."""
    # OpenMP ends the process where it cannot start as many threads as it is told to. More than
    # there are processors would be of no use; to count them takes longer than to score a row.
    n_threads = effective_n_jobs(n_jobs)
    if n_threads > FEW_THREADS:
        n_threads = min(n_threads, max(cpu_count(), FEW_THREADS))
    return threads_here(n_threads)


def threads_here(n_threads):
    """`n_threads`, or 1 in a child that was forked from a process in which several have run.

    Parameters
    ----------
    n_threads : int
        How many threads are wanted, and will run if there may be as many.

    Returns
    -------
    n_threads : int
    """
    if _several["before"]:
        return 1
    if n_threads > 1:
        _several["here"] = True
    return n_threads


def _after_fork():
    _several["before"] |= _several["here"]


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_after_fork)
