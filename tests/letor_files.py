# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What tests of LETOR files share: reading from bytes, comparing to the last bit."""

import io

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from sklearn_ltr.datasets import letor_text, load_letor_file

KEYS = ("y", "groups", "docids")


def read(text, **options):
    return load_letor_file(io.BytesIO(text), **options)


def same_bits(a, b):
    """Equal, and zeros of the same sign; NaN is NaN."""
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape)
    assert_array_equal(a, b)
    if a.dtype.kind == "f":
        assert_array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


def assert_same_data(got, expected):
    for key in KEYS:
        same_bits(got[key], expected[key])
    assert sparse.issparse(got.X) == sparse.issparse(expected.X)
    if sparse.issparse(got.X):
        assert got.X.shape == expected.X.shape
        for part in ("data", "indices", "indptr"):
            same_bits(getattr(got.X, part), getattr(expected.X, part))
    else:
        same_bits(got.X, expected.X)


zstd = letor_text.zstd_module()
needs_zstd = pytest.mark.skipif(zstd is None, reason="nothing reads Zstandard")
