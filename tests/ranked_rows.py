# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Small graded queries with scores, for tests of losses."""

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)
scales = st.sampled_from([0.0, 0.5, 3.0, 20.0])


def make(seed, scale=1.0, *, missing=False, n_queries=4):
    """Grades, scores and offsets; grades few or continuous, scores often tied."""
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, 7, *rng.integers(1, 8, n_queries - 1)]).astype(np.intp)
    n = int(offsets[-1])
    y = (
        rng.integers(0, rng.integers(2, 6), n)
        if rng.random() < 0.7
        else rng.normal(size=n).round(2)
    )
    y = y.astype(float)
    y[:2] = 1, 0
    h = scale * rng.normal(size=n)
    if rng.random() < 0.5:
        h = np.round(2 * h) / 2
    if missing:
        y[rng.random(n) < 0.25] = np.nan
    return y, h, offsets
