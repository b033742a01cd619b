# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions of rows, and hidden layers of nets.

The result at a row has the same bits whatever rows are around it, in an array as in a sparse
matrix, in single as in double precision, with any number of threads: so equal rows tie.
"""

import numpy as np
from scipy import sparse

from sklearn_ltr._kernels import _linear, _types

ACTIVATIONS = _types.names(_types.Activation)


def weighted_sums(X, weights, n_threads=1):
    """The sum of each row, weighted by columns.

    Parameters
    ----------
    X : {ndarray in C order, canonical CSR matrix} of shape (n_samples, n_features), dtype float32 \
            or float64
    weights : ndarray of shape (n_features,), dtype float64
        Finite.
    n_threads : int, default=1

    Returns
    -------
    sums : ndarray of shape (n_samples,), dtype float64
    """
    sums = np.empty(X.shape[0])
    if sparse.issparse(X):
        _linear.of_sparse_rows(X.data, X.indices, X.indptr, weights, n_threads, sums)
    else:
        _linear.of_dense_rows(X, weights, n_threads, sums)
    return sums


def hidden_layer(X, weights, intercepts, activation, n_threads=1):
    """Outputs of a hidden layer.

    Parameters
    ----------
    X
        As `weighted_sums` takes it.
    weights : ndarray of shape (n_features, n_units), dtype float64
        In C order, finite.
    intercepts : ndarray of shape (n_units,), dtype float64
    activation : str
        One of `ACTIVATIONS`.
    n_threads : int, default=1

    Returns
    -------
    outputs : ndarray of shape (n_samples, n_units), dtype float64
    """
    outputs = np.empty((X.shape[0], len(intercepts)))
    layer = weights, intercepts, ACTIVATIONS.index(activation), n_threads, outputs
    if sparse.issparse(X):
        _linear.layer_of_sparse_rows(X.data, X.indices, X.indptr, *layer)
    else:
        _linear.layer_of_dense_rows(X, *layer)
    return outputs
