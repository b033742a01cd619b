# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Work for kernels in parts: Python hears an interrupt between two calls, and not within one."""

# A kernel looks at so many numbers in a fraction of a second.
NUMBERS_AT_A_TIME = 2**26


def parts(n, cost):
    """Ranges of rows or features that a kernel is done with in less than a second.

    Parameters
    ----------
    n : int
        How many rows or features there are.
    cost : int
        How many numbers the kernel looks at for one of them.

    Yields
    ------
    part : slice
    """
    step = max(1, NUMBERS_AT_A_TIME // max(1, cost))
    for first in range(0, n, step):
        yield slice(first, min(first + step, n))
