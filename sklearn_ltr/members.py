# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Members of a blend: what of the metadata goes to each, their fits, and their scores.

Metadata routing is enabled around them, whatever the caller has: so groups come through pipelines.
"""

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_ltr.base import predict_with_groups
from sklearn_ltr.scored_rows import unwatched
from sklearn_ltr.validation import LARGEST_SCORE, warn_caller


def last_step(member):
    """The member, or the last step of its pipeline."""
    while isinstance(member, Pipeline):
        member = member.steps[-1][1]
    return member


def allows_nan(member):
    """Whether missing values pass all steps, or reach one that fills them."""
    for _, step in member.steps if isinstance(member, Pipeline) else [("", member)]:
        if step is None or step == "passthrough":
            continue
        if isinstance(step, Pipeline):
            if not allows_nan(step):
                return False
        elif not get_tags(step).input_tags.allow_nan:
            return False
        elif type(step).__module__.startswith("sklearn.impute."):
            return True
    return True


def takes_rows(member):
    """Whether a member learns from single rows, or from none."""
    last = last_step(member)
    return isinstance(last, FrozenEstimator) or has_fit_parameter(last, "sample_weight")


def what_it_takes(name, member, metadata):
    """What of the metadata goes to the `fit` of a member, a clone, that is made to ask for it.

    To a frozen one nothing, which must be fitted already.
    """
    names = {*metadata, "sample_weight"}  # which may have to stand in for `query_weight`
    with _named(name), sklearn.config_context(enable_metadata_routing=True):
        if isinstance(member, FrozenEstimator):
            check_is_fitted(member.estimator)
            return {}
        try:
            _ask(member, names)
            names = get_routing_for_object(member).consumes("fit", names)
        except NotImplementedError:  # scikit-learn has meta-estimators without routing
            names = ()
    if "X_val" not in names:  # grades and groups alone are of no rows
        names = {*names} - {"y_val", "groups_val"}
    taken = {key: metadata[key] for key in metadata if key in names}
    if "query_weight" in metadata and "query_weight" not in names and "sample_weight" in names:
        taken["sample_weight"] = metadata["query_weight"] * metadata.get("sample_weight", 1.0)
    return taken


def _ask(estimator, names):
    """Let a member, or the last step of its pipeline, ask for what it takes of some metadata.

    Nothing is changed of what a user has said about requests.
    """
    if not isinstance(estimator, Pipeline):
        _request(estimator, names, True)
        return
    *steps, (_, last) = estimator.steps
    steps = [step for _, step in steps if hasattr(step, "get_metadata_routing")]
    for step in steps:
        for part in (step, *_parts(step)):
            _request(part, ("sample_weight",), False)
    if steps and "X_val" in names:
        if estimator.transform_input is None and not any(_transforms_with_groups(s) for s in steps):
            estimator.transform_input = ["X_val"]
        if "X_val" not in (estimator.transform_input or ()):  # it would arrive as it is
            names = names - {"X_val", "y_val", "groups_val", "propensity_val"}
    _ask(last, names)


def _transforms_with_groups(step):
    """Whether a step asks for groups; those of the training rows are all that it would get."""
    return "groups" in step.get_metadata_routing().consumes("transform", ["groups"])


def _parts(estimator):
    """The estimators that an estimator is made of."""
    if not hasattr(estimator, "get_params"):
        return []
    return [p for p in estimator.get_params(deep=True).values() if hasattr(p, "fit")]


def _request(estimator, names, value):
    """Set requests for `fit` that are not set."""
    if isinstance(estimator, FrozenEstimator) or not hasattr(estimator, "set_fit_request"):
        return
    asked = getattr(estimator.get_metadata_routing(), "fit", None)
    if asked is not None:
        unset = {name for name, request in asked.requests.items() if request is None}
        estimator.set_fit_request(**dict.fromkeys(unset & {*names}, value))


def as_given(fitted, member):
    """A fitted member with the requests of the member given, and not with those that it needed."""
    parts = {"": member, **member.get_params(deep=True)}
    for name, part in {"": fitted, **fitted.get_params(deep=True)}.items():
        if isinstance(part, Pipeline):
            part.transform_input = parts[name].transform_input
        elif hasattr(part, "set_fit_request") and name in parts:
            vars(part).pop("_metadata_request", None)
            if "_metadata_request" in vars(parts[name]):
                part._metadata_request = clone(parts[name])._metadata_request
    return fitted


def warn_of_lost_weights(members, metadata, taken):
    """Say which member takes no weights that there are."""
    for (name, member), its in zip(members, taken, strict=True):
        if isinstance(member, FrozenEstimator):
            continue
        for weight, remedy in (
            ("sample_weight", "weight queries, by `query_weight`, or leave the member out"),
            ("query_weight", "leave the weights or the member out"),
        ):
            if weight in metadata and not its.keys() & {weight, "sample_weight"}:
                warn_caller(
                    f"BlendedRanker: member {name!r} takes no `{weight}`, and learns from all rows "
                    f"as if they had equal weights: {remedy}.",
                    UserWarning,
                )
        if "propensity" in metadata and "propensity" not in its:
            warn_caller(
                f"BlendedRanker: member {name!r} takes no `propensity`, and learns from clicks as "
                "if all rows had been looked at alike: leave the member out.",
                UserWarning,
            )


def fit_member(name, member, X, y, metadata):
    """Fit a member, and return it."""
    with _named(name), sklearn.config_context(enable_metadata_routing=True):
        return member.fit(X, y, **metadata)


def scores_of(name, member, X, groups):
    """The scores that a member gives: ndarray of shape (n_samples,), dtype float64."""
    with (
        _named(name),
        unwatched(),  # as the blend itself is watched
        sklearn.config_context(enable_metadata_routing=True),
    ):
        scores = np.asarray(predict_with_groups(member, X, groups), dtype=np.float64)
        n = X.shape[0]
        if scores.shape != (n,):
            raise ValueError(f"`predict` must give one score a row; got shape {scores.shape}.")
        if not (np.abs(scores) <= LARGEST_SCORE).all():
            row = int(np.argmin(np.abs(scores) <= LARGEST_SCORE))
            raise ValueError(
                f"The score of row {row} of `X` is {scores[row]:g}; the largest that can be "
                f"standardised is {LARGEST_SCORE:g}."
            )
    return scores


class _named:
    """Puts the name of a member before the message of what is raised."""

    def __init__(self, name):
        self._prefix = f'BlendedRanker: member "{name}": '

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if not isinstance(error, Exception):
            return
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (self._prefix + error.args[0],)
        if self._prefix not in str(error):  # whose message is made of something else
            error.add_note(self._prefix.rstrip(" :"))
