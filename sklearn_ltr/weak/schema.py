# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of plain data.

A kind is a function ``kind(value, path)`` that returns the value, or an array of it, and raises
ValueError with the path if it is not of that kind. Types are compared exactly: to Python, True is
an integer, too.
"""

import inspect
import math
import sys
from functools import cache, partial

import numpy as np

# Values and coefficients of a stored model are at most this, and gains its square, so that no sum
# or difference of scores overflows.
LARGEST = 2.0**500

NON_FINITE = {repr(x): x for x in (math.inf, -math.inf, math.nan)}


def require(condition, path, what):
    """Raise ValueError unless a condition holds."""
    if not condition:
        raise ValueError(f"{path} must {what}.")


def fields(kinds, value, path, optional=()):
    """A dict of these keys and no others, each of its kind. Only `optional` ones may be absent."""
    require(type(value) is dict, path, "be a dict")
    for key in value:
        if key not in kinds:
            raise ValueError(f"{path or 'The model'} has an unknown key {key!r}.")
    for key in kinds:
        if key not in value and key not in optional:
            raise ValueError(f"{path or 'The model'} has no key {key!r}.")
    return {
        key: kind(value[key], f"{path}.{key}" if path else key)
        for key, kind in kinds.items()
        if key in value
    }


@cache
def with_defaults(cls):
    """Parameters of a constructor that have a default: what stored data may lack."""
    parameters = inspect.signature(cls).parameters.values()
    return frozenset(p.name for p in parameters if p.default is not p.empty)


def plain(weak, names):
    """Fields of a weak ranker as plain data, without those that it lacks."""
    values = {name: getattr(weak, name) for name in names}
    return {name: np.asarray(x).tolist() for name, x in values.items() if x is not None}


def list_of(kind, value, path):
    """A list, all of one kind."""
    require(type(value) is list, path, "be a list")
    return [kind(x, f"{path}[{i}]") for i, x in enumerate(value)]


def or_none(kind, value, path):
    return None if value is None else kind(value, path)


def one_of(choices, value, path):
    require(type(value) is str and value in choices, path, f"be one of {list(choices)}")
    return value


def anything(value, path):
    """What is looked at later, when more is known."""
    return value


def string(value, path):
    require(type(value) is str, path, "be a string")
    return value


def boolean(value, path):
    require(type(value) is bool, path, "be true or false")
    return value


def integer(value, path, low=0, high=2**53):
    fits = type(value) is int and low <= value <= high
    require(fits, path, f"be an integer from {low} to {high}")
    return value


def number(value, path, *, largest):
    """A float, up to `largest` in absolute value."""
    wrong = type(value) not in (int, float) or not abs(value) <= largest
    require(not wrong, path, f"be a finite number, and {largest:.3g} at most")
    return float(value)


def scalar(value, path):
    """A parameter; what it may be is for the ranker to say."""
    require(type(value) in (type(None), bool, int, float, str), path, "be a number or a string")
    require(type(value) is not float or math.isfinite(value), path, "be finite")
    return value


def numbers(value, path):
    """A parameter that is a list of numbers."""
    floats(value, path)
    return list(value)


def numbers_by_name(value, path):
    """A parameter that is a list of numbers, or a dict of numbers with strings as keys."""
    if type(value) is not dict:
        return numbers(value, path)
    for key, x in value.items():
        string(key, f"{path}: the key {key!r}"[:60])
        number(x, f"{path}[{key[:40]!r}]", largest=LARGEST)
    return dict(value)


def column_groups(value, path):
    """A parameter that is a string, or a list of lists of numbers and names of columns."""
    return value if type(value) is str else list_of(partial(list_of, column), value, path)


def column(value, path):
    """The number or the name of a column."""
    return value if type(value) is str else integer(value, path)


def scalar_or_strings(value, path):
    """A parameter that is a scalar or a list of strings."""
    return list_of(string, value, path) if type(value) is list else scalar(value, path)


def floats_by_name(value, path):
    """A dict of arrays of float64, with strings as keys."""
    require(type(value) is dict, path, "be a dict")
    for key in value:
        string(key, f"{path}: the key {key!r}"[:60])
    return {key: any_floats(x, f"{path}[{key[:40]!r}]") for key, x in value.items()}


def none(value, path):
    require(value is None, path, "be null")


def array(types, dtype, value, path):
    """A list of some types as an array."""
    require(type(value) is list, path, "be a list")
    for i, x in enumerate(value):
        if type(x) not in types:
            names = " or ".join(t.__name__ for t in types)
            raise ValueError(f"{path}[{i}] must be {names}.")
    try:
        return np.array(value, dtype=dtype)
    except OverflowError:
        raise ValueError(f"{path} has a number that is too large.") from None


def integers(value, path, *, low, high):
    """An array of int32."""
    found = array((int,), np.int64, value, path)
    inside = (low <= found) & (found <= high)
    _require_all(inside, path, f"be from {low} to {high}")
    return found.astype(np.intc)


def counts(value, path, *, n=None):
    """An array of int64 that are not negative, of `n` entries."""
    found = array((int,), np.int64, value, path)
    _require_all((found >= 0) & (found <= 2**53), path, "be a number of rows")
    require(n is None or len(found) == n, path, f"have {n} entries")
    return found


def floats(value, path, *, largest=sys.float_info.max, ascending=False, most=None):
    """An array of float64, of numbers up to `largest` in absolute value."""
    found = array((int, float), np.float64, value, path)
    _require_all(np.abs(found) <= largest, path, f"be finite, and {largest:.3g} at most")
    require(not ascending or (found[1:] > found[:-1]).all(), path, "ascend")
    require(most is None or len(found) <= most, path, f"have at most {most} entries")
    return found


def any_floats(value, path):
    """An array of float64, in which "inf", "-inf" and "nan" are allowed, as strings."""
    if type(value) is list:
        value = [NON_FINITE.get(x, x) if type(x) is str else x for x in value]
    return array((int, float), np.float64, value, path)


def _require_all(condition, path, what):
    if not condition.all():
        raise ValueError(f"{path}[{int(np.argmin(condition))}] must {what}.")
