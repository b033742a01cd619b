# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the whole suite: hypothesis draws the same examples in every CI run, no windows."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")  # draws without a screen

settings.register_profile(
    "local", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "local")
)
