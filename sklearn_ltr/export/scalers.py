# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Scalers before a ranker, folded into its thresholds or weights.

A scaler is a list of maps: an operation, and the number of each column that it is done with.
"""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from sklearn_ltr.export.functions import Net
from sklearn_ltr.export.wrappers import steps_of
from sklearn_ltr.preprocessing import QueryScaler

LARGEST_FLOAT64 = float(np.finfo(np.float64).max)

# What scikit-learn's scalers do in turn: with an attribute, if a parameter says so.
SCALERS = {
    StandardScaler: (("mean_", np.subtract, "with_mean"), ("scale_", np.divide, "with_std")),
    MinMaxScaler: (("scale_", np.multiply, None), ("min_", np.add, None)),
    MaxAbsScaler: (("scale_", np.divide, None),),
    RobustScaler: (
        ("center_", np.subtract, "with_centering"),
        ("scale_", np.divide, "with_scaling"),
    ),
}


def add_maps(maps, name, scaler):
    """Add what a step does to each column, as (function, numbers of the columns)."""
    where = f"Step {name!r} of the pipeline, {type(scaler).__name__},"
    if isinstance(scaler, Pipeline):
        for inner in steps_of(scaler):
            add_maps(maps, *inner)
        return
    if isinstance(scaler, QueryScaler):
        raise TypeError(
            f"{where} scales a row by the other rows of its query, which no other program knows. "
            "Scale where the features are logged, and export the ranker behind it."
        )
    if type(scaler) not in SCALERS:
        raise TypeError(
            f"{where} cannot be exported with the ranker: only StandardScaler, MinMaxScaler, "
            'MaxAbsScaler, RobustScaler and "passthrough" can. Do its work where the features are '
            "computed, and export the ranker behind it."
        )
    check_is_fitted(scaler)
    if getattr(scaler, "clip", False):
        raise ValueError(
            f"{where} has clip=True, so that it is not the same map everywhere. Fit it with "
            "clip=False."
        )
    for attribute, operation, parameter in SCALERS[type(scaler)]:
        if parameter is None or getattr(scaler, parameter):
            numbers = np.asarray(getattr(scaler, attribute), dtype=np.float64)
            maps.append((operation, numbers))


def scaled_net(net, maps):
    """A net on columns before they are mapped."""
    slope, shift = 1.0, 0.0
    for operation, numbers in maps:
        shift = operation(shift, numbers)
        if operation in (np.multiply, np.divide):
            slope = operation(slope, numbers)
    if not maps:
        return net
    n_features = len(net.weights[0])
    slope, shift = np.broadcast_to(slope, n_features), np.broadcast_to(shift, n_features)
    weights = [net.weights[0] * slope[:, None], *net.weights[1:]]
    intercepts = [net.intercepts[0] + shift @ net.weights[0], *net.intercepts[1:]]
    return Net(weights, intercepts, net.activation)


def largest_below(threshold, maps, feature):
    """The largest numbers whose maps are not above thresholds; -inf if there is none.

    By bisection over all floats: maps of scalers never fall, to the last bit.
    """
    if not maps or not len(threshold):
        return threshold
    low = np.full(len(threshold), _ordinal(np.float64(-LARGEST_FLOAT64)))
    high = np.full(len(threshold), _ordinal(np.float64(LARGEST_FLOAT64)))
    smallest = low.copy()
    while (low < high).any():
        middle = (low | high) - ((low ^ high) >> 1)  # the mean, rounded up, without overflow
        fits = _mapped(_of_ordinal(middle), maps, feature) <= threshold
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    found = _of_ordinal(low)
    none = (low == smallest) & (_mapped(found, maps, feature) > threshold)
    return np.where(np.isposinf(threshold), np.inf, np.where(none, -np.inf, found))


def _mapped(x, maps, feature):
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for operation, numbers in maps:
            x = operation(x, numbers[feature])
    return x


def _ordinal(x):
    """Integers in the order of floats."""
    bits = x.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def _of_ordinal(number):
    return (number ^ ((number >> 63) & np.int64(2**63 - 1))).view(np.float64)
