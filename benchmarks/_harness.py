# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share: options, heads and rows of tables, clocks, processes of their own.

Contenders take turns within each repeat, and a ratio is the median over the repeats of the ratio
within one, so that a slow spell of a shared machine meets all. CPU time is the steadier figure
where others use the machine.

Imports little, since processes that measure memory begin here.
"""

import argparse
import importlib
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from scipy import sparse

MB = 2**20

# Options ----------------------------------------------------------------------------------------


def make_parser(doc, data=None, quick=None):
    """A parser with the docstring of a script; `data` and `quick` are the help of these options."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if data is not None:
        folder = os.environ.get("SKLEARN_LTR_DATA")
        parser.add_argument("--data", type=Path, default=folder, help=data)
    if quick is not None:
        parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def require_data(parser, args, otherwise=None):
    if args.data is None:
        parser.error(
            "give --data or set SKLEARN_LTR_DATA"
            if otherwise is None
            else f"give --data, set SKLEARN_LTR_DATA or ask for {otherwise}"
        )


# Heads and rows of tables -----------------------------------------------------------------------


def installed(distribution):
    """The version of a distribution; None if there is none."""
    if distribution == "sklearn_ltr":  # which may be a source tree
        return importlib.import_module("sklearn_ltr").__version__
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def machine():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return f"{(names or [platform.processor()])[0]}, {os.cpu_count()} cores"


def print_head(*distributions, ours=True):
    """Versions, date and machine."""
    names = dict.fromkeys(
        ["sklearn_ltr"] * ours + [*distributions, "scikit-learn", "numpy", "scipy"]
    )
    versions = [f"{name} {installed(name) or 'not installed'}" for name in names]
    print(
        f"{', '.join(versions)}, Python {platform.python_version()}\n{time.strftime('%d %b %Y')}, "
        f"{machine()}, load {os.getloadavg()[0]:.1f}"
    )


def row(title, cells, width=10, first=24):
    """Print a row of a table: its title in `first` letters, each cell in `width`."""
    line = f"{title:<{first}}" + "".join(f"{cell:>{width}}" for cell in cells)
    print(line.rstrip(), flush=True)


def times(now, before):
    """Cells of the growth of numbers, empty where there are none from before."""
    return [""] * len(now) if before is None else [f"{ratio:.1f}" for ratio in now / before]


def spread(values, digits=2):
    return f"{np.min(values):.{digits}f}-{np.max(values):.{digits}f}"


# Clocks -----------------------------------------------------------------------------------------


def clock():
    """Wall and CPU seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def timed(function, *args, **kwargs):
    """Wall and CPU seconds of a call, and what it returns."""
    start = clock()
    result = function(*args, **kwargs)
    return clock() - start, result


def take_turns(contenders, n_repeats):
    """What each contender, a function without arguments, returns in each repeat."""
    results = {name: [] for name in contenders}
    for _ in range(n_repeats):
        for name, run in contenders.items():
            results[name].append(run())
    return results


class Stopwatch:
    """Wall and CPU time at the start and at the end of each round."""

    def __init__(self):
        self.marks = [clock()]

    def mark(self):
        self.marks.append(clock())

    def first(self):
        """Wall and CPU seconds until the end of the first round, with the set-up."""
        return self.marks[1] - self.marks[0]

    def round(self):
        """Wall and CPU seconds of a round: the mean over all but the first."""
        return (self.marks[-1] - self.marks[1]) / (len(self.marks) - 2)


class _MarkRounds:
    """A callback of scikit-learn 1.9 that marks the ends of the rounds on a stopwatch."""

    def __init__(self, watch):
        self._watch = watch

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "round":
            self._watch.mark()


def time_rounds(ranker, X, y, groups):
    """Fit a boosted ranker; returns a stopwatch."""
    watch = Stopwatch()
    ranker.set_callbacks(_MarkRounds(watch)).fit(X, y, groups=groups)
    return watch


# Processes of their own -------------------------------------------------------------------------


def memory():
    """Megabytes the process has now, and the most it has had."""
    try:
        status = Path("/proc/self/status").read_text().split()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak /= MB if sys.platform == "darwin" else 1024
        return peak, peak
    # Not getrusage on Linux: there a child starts from the peak of its parent.
    return tuple(int(status[status.index(f"{name}:") + 1]) / 1024 for name in ("VmRSS", "VmHWM"))


def save(folder, part, X, y, groups):
    """Save rows for `measure`."""
    arrays = {"y": y, "groups": groups}
    if sparse.issparse(X):
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = X
    Path(folder, part).mkdir(exist_ok=True)
    for old in Path(folder, part).iterdir():
        old.unlink()
    for name, array in arrays.items():
        np.save(Path(folder, part, name), array)


def load(folder, part):
    arrays = {file.stem: np.load(file) for file in Path(folder, part).iterdir()}
    X = arrays.get("X")
    if X is None:
        content = arrays["data"], arrays["indices"], arrays["indptr"]
        X = sparse.csr_matrix(content, shape=tuple(arrays["shape"]))
    return X, arrays["y"], arrays["groups"]


def measure(fit, folder, n_predictions=3):
    """Fit, predict and score in this process.

    Parameters
    ----------
    fit : callable
        ``fit(X, y, groups)`` returns ``predict(X, groups)``, which returns scores.
    folder : str
        Where the parts "train" and, if there are predictions, "test" are.

    Returns
    -------
    figures : dict of str to float
        Seconds of the fit, CPU seconds, the peak of memory, what of it the fit has added; and the
        seconds of the fastest prediction and its NDCG@10.
    """
    data = load(folder, "train")
    before = memory()[0]
    (wall, cpu), predict = timed(fit, *data)
    peak = memory()[1]
    figures = {"fit": wall, "cpu": cpu, "peak": peak, "added": peak - before}
    if n_predictions:
        del data
        from sklearn_ltr.metrics import get_metric

        X, y, groups = load(folder, "test")
        runs = [timed(predict, X, groups) for _ in range(n_predictions)]
        figures["predict"] = min(seconds[0] for seconds, _ in runs)
        figures["ndcg"] = float(get_metric("ndcg@10")(y, runs[-1][1], groups))
    return figures


def in_child(function, settings, **env):
    """What a function of a script or module here returns, in a process of its own.

    Settings and result go through JSON; `env` are variables of the environment.
    """
    module = sys.modules[function.__module__]
    command = [sys.executable, __file__, Path(module.__file__).stem, function.__name__]
    done = subprocess.run(
        [*command, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | env,
    )
    if done.returncode:
        raise RuntimeError(f"{settings} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    _, module, function, settings = sys.argv
    print(json.dumps(getattr(importlib.import_module(module), function)(json.loads(settings))))
