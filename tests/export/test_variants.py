# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Every variant of the rankers that can be written as plain data comes back as it was."""

import json

import pytest
from every_ranker import make, make_data, variants
from numpy.testing import assert_array_equal

from sklearn_ltr import McRank
from sklearn_ltr.export import from_dict, scoring, to_dict

EXPORTED = [case for case in variants() if case.values[0] in scoring.RANKERS.values()]


def again(model):
    return from_dict(json.loads(json.dumps(to_dict(model))))


@pytest.mark.parametrize(("R", "params"), EXPORTED)
def test_a_variant_comes_back(R, params):
    X, y, groups = make_data(R)
    model = make(R, **params).fit(X, y, groups)
    assert_array_equal(again(model).predict(X), model.predict(X))


@pytest.mark.parametrize("method", ["classification", "ordinal"])
def test_constants_that_the_parameters_do_not_tell_of(method):
    X, y, groups = make_data(McRank)
    for first, then in [("prior", "zero"), ("zero", "prior")]:
        model = make(McRank, method=method, init=first, n_estimators=3, warm_start=True)
        model.fit(X, y, groups).set_params(init=then, n_estimators=5).fit(X, y, groups)
        assert_array_equal(again(model).predict(X), model.predict(X))
