# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Metrics that rankers learn by, and what is said where these cannot be just as given."""

from dataclasses import fields, replace

import numpy as np

from sklearn_ltr.validation import warn_caller

# Rules for rows of equal scores that go by the order of rows, which no model may depend on.
BY_ORDER = ("input", "reverse")


def order_free(metric):
    """The metric, with ties averaged if its own rule for them goes by the order of rows.

    Parameters
    ----------
    metric : Metric

    Returns
    -------
    metric : Metric
    """
    by_order = getattr(metric, "ties", None) in BY_ORDER
    return replace(metric, ties="average") if by_order else metric


def check_switches(given, used, data):
    """Say what a ranker that learns by a metric does not take from its switches.

    A query that the metric is undefined for has one value, whatever the order of its rows, so that
    of `undefined` only "raise" makes a difference.

    Parameters
    ----------
    given, used : Metric
        As the user gives it, and as a ranker learns by it.
    data : RankingData

    Raises
    ------
    ValueError
        If the metric is undefined for a query, and to raise then.

    Warns
    -----
    UserWarning
        If the two differ.
    """
    if getattr(given, "undefined", None) == "raise":
        used.of_queries(data, np.zeros(data.n_samples), settled=True)
    changed = {
        field.name: getattr(used, field.name)
        for field in fields(given)
        if getattr(given, field.name) != getattr(used, field.name)
    }
    if changed:
        before = ", ".join(f"{name}={getattr(given, name)!r}" for name in changed)
        after = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        warn_caller(
            f"Learning by {given.name} takes {after} in the place of {before}. Give the metric so "
            "and nothing is changed; validation and scorers may keep the other.",
            UserWarning,
        )
