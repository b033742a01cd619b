# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of a fit that are threads, which all have to make the same calls."""

import sys
import threading
from contextvars import copy_context

import numpy as np

from sklearn_ltr import reduction

SECONDS = 60  # that a rank waits for another one


class OtherRankError(RuntimeError):
    """Another rank has failed, or has not come."""


class OtherCallError(RuntimeError):
    """Ranks make different calls."""


def _is_of_another(error):
    """How little an error says of what is wrong."""
    return isinstance(error, OtherRankError)


class Meeting:
    """Where the ranks add up their arrays.

    Parameters
    ----------
    n_ranks : int

    Attributes
    ----------
    calls : list of str
        What was called, and from where.
    """

    def __init__(self, n_ranks):
        self._barrier = threading.Barrier(n_ranks, timeout=SECONDS)
        self._given = [None] * n_ranks
        self.n_ranks = n_ranks
        self.calls = []

    def fail(self):
        self._barrier.abort()

    def _wait(self):
        try:
            self._barrier.wait()
        except threading.BrokenBarrierError as error:
            raise OtherRankError("another rank has failed, or never came") from error

    def reduce(self, rank, operation, array):
        assert array.dtype == np.int64
        assert array.ndim == 1
        assert array.flags.c_contiguous
        call = operation, array.shape, called_from()
        self._given[rank] = call, array.copy()
        self._wait()
        given = list(self._given)
        self._wait()
        for other, _ in given:
            if other != call:
                self.fail()
                raise OtherCallError(f"{call} and {other}")
        if rank == 0:
            self.calls.append(call)
        arrays = [values for _, values in given]
        array[:] = np.sum(arrays, axis=0) if operation == "sum" else np.max(arrays, axis=0)


def called_from():
    """The lines of the package that led to a call, the last one first."""
    lines, frame = [], sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("sklearn_ltr"):
            lines.append(f"{name}:{frame.f_lineno}")
        frame = frame.f_back
    return tuple(lines)


class Rank:
    """The reducer of one rank."""

    def __init__(self, meeting, rank):
        self._meeting, self.rank, self.n_ranks = meeting, rank, meeting.n_ranks

    def sum(self, array):
        self._meeting.reduce(self.rank, "sum", array)

    def max(self, array):
        self._meeting.reduce(self.rank, "max", array)


def run(functions):
    """Call a function on each rank, and return what they return, and the calls they made.

    The error of a rank that fails by itself is raised.
    """
    meeting = Meeting(len(functions))
    results, errors = [None] * len(functions), [None] * len(functions)

    def work(rank, function):
        try:
            with reduction.over(Rank(meeting, rank)):
                results[rank] = function()
        except BaseException as error:  # noqa: BLE001 - it is raised again below
            errors[rank] = error
            meeting.fail()

    threads = [
        threading.Thread(target=copy_context().run, args=(work, rank, function), daemon=True)
        for rank, function in enumerate(functions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20 * SECONDS)
        assert not thread.is_alive()
    found = [error for error in errors if error is not None]
    if found:
        raise min(found, key=_is_of_another)
    return results, meeting.calls


def shards_of(groups, ranks, n_ranks):
    """Rows of each rank: a list of ndarrays.

    Parameters
    ----------
    groups : ndarray of shape (n_samples,)
    ranks : ndarray of shape (n_queries,)
        Of each query, in the order of the ids.
    n_ranks : int
    """
    of_row = ranks[np.unique(groups, return_inverse=True)[1]]
    return [np.flatnonzero(of_row == rank) for rank in range(n_ranks)]
