# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""How long a fit goes on after Control-C: the longest call of a kernel, which does not look for it.

    python hardening/sigint.py --rows 100000

Fits every ranker with large data in a process of its own, sends it SIGINT at several moments, and
prints how long after that `KeyboardInterrupt` came.
"""

import argparse
import signal
import subprocess
import sys
import time

import sklearn_ltr
from sklearn_ltr.base import BaseRanker

CODE = """
import signal, sys, time, warnings
from sklearn_ltr import {name}
from sklearn_ltr.datasets import make_ranking
signal.signal(signal.SIGINT, signal.default_int_handler)
warnings.simplefilter("ignore")
X, y, groups = make_ranking({queries}, {per_query}, {features}, random_state=0)
params = {{"n_estimators": 1_000_000, "max_iter": 1_000_000, "n_jobs": {n_jobs}}}
ranker = {name}()
known = ranker.get_params()
ranker.set_params(**{{name: value for name, value in params.items() if name in known}})
print("fitting", flush=True)
begin = time.monotonic()
try:
    ranker.fit(X, y, groups=groups)
except KeyboardInterrupt:
    print(time.monotonic())
else:
    print(f"done in {{time.monotonic() - begin:.1f}}")
"""


def interrupt(name, after, arguments):
    """Seconds from the signal to the exception, as text, or how the fit ended before."""
    code = CODE.format(
        name=name,
        queries=arguments.rows // arguments.per_query,
        per_query=arguments.per_query,
        features=arguments.features,
        n_jobs=arguments.n_jobs,
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        process.stdout.readline()
        try:
            output, _ = process.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            sent = time.monotonic()  # the same clock in all processes
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate()
    if output.startswith("done"):
        return output.strip()
    if process.returncode:
        return "refused"  # FRank lists pairs, and long queries have too many
    return f"{float(output) - sent:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--per-query", type=int, default=100)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--rankers", nargs="*")
    parser.add_argument("--moments", type=float, nargs="*", default=[0.2, 1.0, 5.0])
    arguments = parser.parse_args()
    classes = [getattr(sklearn_ltr, name) for name in sklearn_ltr.__all__]
    names = [R.__name__ for R in classes if isinstance(R, type) and issubclass(R, BaseRanker)]
    moments = " | ".join(f"{moment:g} s" for moment in arguments.moments)
    print(f"| ranker | {moments} |\n| --- |{' --- |' * len(arguments.moments)}")
    for name in arguments.rankers or names:
        cells = [interrupt(name, after, arguments) for after in arguments.moments]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
