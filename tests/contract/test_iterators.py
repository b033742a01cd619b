# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters are looked at more than once: what can be gone through only once is refused."""

import re

import pytest
from every_ranker import RANKERS, make, make_data

from sklearn_ltr import LambdaMART

# What each parameter that takes a collection may hold, whatever else it takes.
COLLECTION = re.compile(r"sequence|array|list|tuple|dict")
CONTENTS = [
    [[0, 1], [2, 3]],
    [0, 1, 0, 0, 0],
    [1.0, 2.0],
    [5, 3],
    ["ndcg", "map"],
    [("a", LambdaMART(2)), ("b", LambdaMART(3))],
]


def takes_a_collection():
    """Each ranker with the name of each parameter whose type in the docstring is a collection."""
    for R in RANKERS:
        section = R.__doc__.split("Parameters\n    ----------\n")[1].split("\n\n    Attributes")[0]
        for name, kind in re.findall(r"^    (\w+) : (.*(?:\\\n.*)*)", section, re.MULTILINE):
            if COLLECTION.search(kind):
                yield pytest.param(R, name, id=f"{R.__name__}-{name}")


CASES = list(takes_a_collection())


def test_there_are_some():
    names = {case.values[1] for case in CASES}
    assert {"interaction_cst", "hidden_layer_sizes", "estimators", "scoring", "weights"} <= names


@pytest.mark.parametrize(("R", "name"), CASES)
def test_iterators_are_refused(R, name):
    X, y, groups = make_data(R, n_queries=10)
    for contents in CONTENTS:
        ranker = make(R, method="ordinal").set_params(**{name: iter(contents)})
        with pytest.raises((TypeError, ValueError)):
            ranker.fit(X, y, groups=groups)


@pytest.mark.parametrize(
    "R", [R for R in RANKERS if "hidden_layer_sizes" in make(R).get_params()], ids=str
)
@pytest.mark.parametrize("sizes", [{3, 5}, {3: 5}, "35", b"ab", 3.0, None, iter([3])])
def test_sizes_of_layers_have_an_order(R, sizes):
    X, y, groups = make_data(R, n_queries=10)
    with pytest.raises(TypeError, match=r"`hidden_layer_sizes` must be an integer, or a sequence"):
        make(R, hidden_layer_sizes=sizes).fit(X, y, groups=groups)
