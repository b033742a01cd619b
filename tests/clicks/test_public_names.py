# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every public name of `sklearn_ltr.clicks`, and of its methods, is described as it is."""

import ast
import inspect
import re

import pytest
from test_docstrings import entries

from sklearn_ltr import LambdaMART, clicks


def public():
    """Names, and what has a docstring with parameters."""
    for name in clicks.__all__:
        value = getattr(clicks, name)
        yield name, value
        if inspect.isclass(value):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                own = function.__module__.startswith("sklearn_ltr.clicks")
                if own and not method.startswith("_"):
                    yield f"{name}.{method}", function


each_name = pytest.mark.parametrize(
    "value", [pytest.param(value, id=name) for name, value in public()]
)


@each_name
def test_parameters_are_those_of_the_signature(value):
    parameters = inspect.signature(value).parameters
    documented = [
        (part, kind)
        for name, kind, _ in entries(value.__doc__, "Parameters")
        for part in name.split(", ")
    ]
    assert [name for name, _ in documented] == [name for name in parameters if name != "self"]
    for name, kind in documented:
        default = parameters[name].default
        stated = re.fullmatch(r".*, default=(.*)", kind)
        assert (stated is not None) == (default is not inspect.Parameter.empty)
        if stated:
            assert ast.literal_eval(stated[1]) == default


@each_name
def test_what_it_raises_and_returns_is_described(value):
    if not inspect.isclass(value):
        assert re.search(r"^ *Returns\n *-+\n", value.__doc__, re.MULTILINE)


@pytest.mark.parametrize("name", clicks.__all__)
def test_examples(name):
    assert ">>> " in inspect.getdoc(getattr(clicks, name))


def test_threads_are_described_as_in_rankers():
    (described,) = [
        e for e in entries(clicks.PositionBasedModel.__doc__, "Parameters") if e[0] == "n_jobs"
    ]
    assert described in entries(LambdaMART.__doc__, "Parameters")
