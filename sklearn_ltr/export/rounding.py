# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of 32 bits, as other programs have them."""

import numpy as np

LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def rounded_down(threshold):
    """The largest numbers of 32 bits that are not above thresholds; -inf if there is none."""
    rounded = np.clip(threshold, None, LARGEST_FLOAT32)
    with np.errstate(over="ignore"):
        narrow = rounded.astype(np.float32)
    above = narrow > rounded
    narrow[above] = np.nextafter(narrow[above], np.float32(-np.inf))
    return narrow


def float32(values):
    """Scores of 32 bits; ValueError if they are beyond their range."""
    values = np.asarray(values, dtype=np.float64)
    if (np.abs(values) > LARGEST_FLOAT32).any():
        largest = values.flat[np.argmax(np.abs(values))]
        raise ValueError(f"The score {largest:g} is beyond the range of 32 bits.")
    return values.astype(np.float32)


def shortest(x):
    """A number of 32 bits as the fewest digits of 64 bits that are exactly it."""
    return repr(float(x))
