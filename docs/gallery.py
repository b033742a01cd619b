# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What sphinx-gallery is given by name: the order of the examples."""

from pathlib import Path

FIRST_STEPS = ["quickstart.py", "plot_docstrings.py"]


def first_steps_first(file_name):
    """Sort key of the examples."""
    name = Path(file_name).name
    return (name not in FIRST_STEPS, FIRST_STEPS.index(name) if name in FIRST_STEPS else name)
