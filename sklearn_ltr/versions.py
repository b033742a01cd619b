# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The version of the package, which models carry along."""

import sys


def version():
    """The version of this package: str."""
    # The public names are above this module, so that it does not import them.
    return sys.modules["sklearn_ltr"].__version__
