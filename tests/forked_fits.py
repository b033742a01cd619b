# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Fits in forked processes after fits with two threads; prints what each came to.

Run by `contract/test_threads.py`, in a process in which nothing else has begun threads.
"""

import multiprocessing
import os
import signal
import sys

import joblib
from every_ranker import RANKERS, make, make_data
from numpy.testing import assert_array_equal

from sklearn_ltr.threads import threads_here

# A child that hangs is ended after so many seconds.
PATIENCE = 60

EXPECTED_THREADS = {
    "before any threads": 2,
    "after threads": 1,
    "child of a child": 1,
    "the parent itself": 2,
}


def fit_again(model, expected, data):
    """As the parent's: a fit, predictions by it, and by the parent's model."""
    signal.alarm(PATIENCE)
    X, y, groups = data
    again = make(type(model), n_jobs=2).fit(X, y, groups)
    assert_array_equal(again.predict(X), expected)
    assert_array_equal(model.predict(X), expected)
    assert again.score(X, y, groups) == model.score(X, y, groups)
    signal.alarm(0)


def in_fork(function, *arguments):
    """Exit status of a child that calls `function`; what it returns, if it is a number."""
    pid = os.fork()
    if pid == 0:
        status = 255
        try:
            status = function(*arguments) or 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_process(function, *arguments):
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    process.start()
    process.join()
    return process.exitcode


def in_joblib(function, *arguments):
    parallel = joblib.Parallel(n_jobs=2, backend="multiprocessing", timeout=PATIENCE)
    try:
        parallel([joblib.delayed(function)(*arguments)] * 2)
    except (AssertionError, multiprocessing.TimeoutError):
        return 255
    return 0


WAYS = {"os.fork": in_fork, "multiprocessing": in_process, "joblib": in_joblib}


def main():
    print("before any threads:", in_fork(threads_here, 2))
    for R in RANKERS:
        X, y, groups = data = make_data(R, n_queries=60)
        model = make(R, n_jobs=2).fit(X, y, groups)
        expected = model.predict(X)
        for way, run in WAYS.items():
            status = run(fit_again, model, expected, data)
            print(f"{R.__name__} {way}:", "the same" if status == 0 else status)
    print("after threads:", in_fork(threads_here, 2))
    print("child of a child:", in_fork(in_fork, threads_here, 2))
    print("the parent itself:", threads_here(2))


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # else a child would write what waits, once more
    main()
