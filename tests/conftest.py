# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the whole suite: what hypothesis draws, no windows, threads that yield."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")  # draws without a screen
# With a process for each core, threads that wait for others in a busy loop keep these from running.
# OpenMP reads it when the first kernel is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:
    # The BLAS, which has a thread for each core. Our kernels are told how many to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples in every run, so that a test fails where the code is at fault and not by chance.
# HYPOTHESIS_PROFILE=thorough has more of them. HYPOTHESIS_PROFILE=hunt looks for new faults: fresh
# examples, 50 times as many in every test.
shared = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", max_examples=40, derandomize=True, **shared)
settings.register_profile("thorough", max_examples=100, derandomize=True, **shared)
settings.register_profile("hunt", max_examples=2000, derandomize=False, print_blob=True, **shared)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(tryfirst=True)  # before the fixtures of a module, which may fit rankers, too
def pytest_runtest_setup(item):
    """Seed what `random_state=None` draws from: no test passes or fails by chance."""
    np.random.seed(0)
