# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What several docstrings describe is described alike, and defaults are those of the signatures.

A parameter, attribute or argument that goes by one name in several rankers, metrics or displays has
the same type and the same description, but for what `MORE`, `BEGIN` and `DIFFERENT` list. What is
not compared: what a paper calls it (", the paper's :math:`T`"), and which of several words an
algorithm has for the same thing (`WORDS`).
"""

import ast
import inspect
import re
from collections import defaultdict
from functools import cache

import pytest
from every_ranker import RANKERS, allows_nan, allows_sparse

from sklearn_ltr import export, metrics, plotting

WORDS = {"stump": "weak ranker", "tree": "weak ranker", "iteration": "round", "step": "round"}

# By group and name: where all descriptions are as the shortest one, and more; why there is more.
MORE = {
    "parameters": {
        "learning_rate": "which value is the paper's; what averages make of it",
        "min_samples_leaf": "not all take `sample_weight`",
        "monotonic_cst": "McRank has scores by one method only",
        "binning": "it is of the McRank paper",
        "alpha": "ListMLE explains its default",
        "tol": "it also stops L-BFGS",
        "warm_start": "AdaRank has no bins",
        "target_probability": "the paper's reading, and what it costs FRank",
        "n_jobs": "some multiply matrices",
    },
    "attributes": {
        "coef_": "where the weights come from",
        "n_iter_": "why there may be fewer",
        "n_queries_": "some hold out queries",
    },
    "fit": {
        "y": "not all take preferences; of grades, only the order may count",
        "groups": "not all take preferences; queries of single rows",
    },
    "metrics": {},
    "displays": {
        "metric": "a query may be left out",
        "names": "what they are by default",
        "show_band": "`plot` says what the band tells",
        "**line_kw": "some draw several curves",
    },
}

# By group and name: how all descriptions begin; why they go on differently.
BEGIN = {
    "parameters": {
        "n_estimators": ("Rounds. Each adds", "AdaRank adds features, McRank several trees"),
        "tie_weight": (
            "Weight, relative to a preference pair, of each pair of rows of one query with equal",
            "what they lose",
        ),
        "step": ("How far to go along the chosen weak ranker", "each paper has its own steps"),
        "max_bins": (
            "Most bins of a feature, 2 to 65,535; a feature with more distinct values is cut",
            "of trees `binning` says how",
        ),
        "max_iter": ("Most rounds:", "the solvers"),
        "random_state": ("Chooses the held-out queries", "what else is drawn"),
    },
    "attributes": {
        "feature_importances_": ("Share of each feature in", "what it is a share of"),
        "n_queries_skipped_": ("Those with nothing to learn from:", "what is learnt from"),
    },
    "fit": {
        "preferences": (
            "Row of the winner and row of the loser, both of one query, as clicks or comparisons",
            "QBRank takes labels, too",
        ),
        "propensity": (
            "Where grades are clicks: the probability, in (0, 1], that each row was looked at",
            "a blend hands them on, and not all take `preferences`, which they do not go with",
        ),
    },
    "metrics": {
        "y_true": ("Grade of each row", "which grades a metric takes"),
        "k": ("Cut-off", "what counts beyond it"),
        "query_weight": ("Weight of each row's query in the mean", "`ndcg_score` has it in full"),
        "propensity": (
            "How likely each row was looked at, in (0, 1], where `y_true` are clicks: each click",
            "of NDCG the ideal is an estimate",
        ),
        "ties": (
            'How rows of equal score are ranked. "average" is the expectation of the value over',
            "`ndcg_score` has it in full",
        ),
        "undefined": ("What a query without", "which queries these are"),
        "like": ("Set every switch as this tool does", "the tools"),
        "short": ("What happens in a query of", "what there is to divide by"),
    },
    "displays": {"name": ("Name for the legend", "what it is by default")},
}

# By group, and name or name and owner: where a name means something else, and what.
DIFFERENT = {
    "parameters": {
        "loss": "an object, or one of two names",
        ("metric", "AdaRank"): "any that is bounded will do",
        ("metric", "FeatureRank"): "the same, and pairs may count by its formula",
        ("scoring", "SingleFeatureRanker"): "what the feature is chosen by",
        ("scoring", "BlendedRanker"): "what a weight is chosen by",
        ("weights", "BlendedRanker"): "of members, not of features",
        ("n_jobs", "BlendedRanker"): "members at the same time",
        ("validation_fraction", "BlendedRanker"): "there is no early stopping",
        ("alpha", "MPBoost"): "of its distance",
        ("C", "RankSVM"): "of a sum, not of a mean, by default",
        ("C", "SVMMAP"): "of lists, not of pairs",
        ("tol", "RankSVM"): "bounds how far off the minimum is",
        ("tol", "SVMMAP"): "bounds how far off the minimum is",
        ("tol", "SVRank"): "bounds how far off the minimum is",
    },
    "attributes": {
        "train_loss_": "each ranker has its own loss",
        ("model_", "AdaRank"): "of features",
    },
    "fit": {
        "X": "see test_matrix_of_fit",
        ("y", "QBRank.fit"): "may be NaN",
        ("sample_weight", "BlendedRanker.fit"): "for members",
        **{
            (name, "BlendedRanker.fit"): "a weight is chosen by them"
            for name in ("X_val", "y_val", "groups_val", "propensity_val")
        },
    },
    "metrics": {
        "denominator": "of two formulae",
        "self_normalized": "what the sum is, or what is left of the quotient",
        ("gain", "average_relevance_position"): "the papers take grades as they are",
        ("ties", "kendall_tau_distance"): "of pairs",
        ("ties", "misordering_rate"): "of pairs",
        ("query_weight", "misordering_rate"): "of pairs",
    },
    "displays": {
        "X": "some look at more than scores",
        "n_features": "bars, or panels",
        ("ax", "ShapeFunctionsDisplay"): "has several panels",
        ("metric", "MetricAtKDisplay"): "of any cut-off",
        ("estimator", "MetricByRoundDisplay"): "has rounds",
        ("ranker", "DirectedDistanceDisplay"): "needs no stumps",
        ("ranker", "ContributionsDisplay"): "takes trees, too",
    },
}


@cache
def entries(docstring, section):
    """Name, type and description of each entry of a section of a numpydoc docstring."""
    text = re.split(rf"^{section}\n-+\n", inspect.cleandoc(docstring), flags=re.MULTILINE)
    if len(text) == 1:
        return []
    body = re.split(r"^.+\n-+$", text[1], flags=re.MULTILINE)[0]
    found = []
    for head, description in re.findall(r"^(\S.*)\n((?:[ ].*\n|\n)*)", body + "\n", re.MULTILINE):
        names, _, kind = " ".join(head.split()).partition(" : ")
        found += [(name, kind, " ".join(description.split())) for name in names.split(", ")]
    return found


def neutral(description):
    """A description without what may differ from paper to paper, and without its last stop."""
    description = re.sub(r", the paper's :math:`[^`]*`|; see `[^`]*`(?=\.$)", "", description)
    for word, same in WORDS.items():
        for a, b in ((word, same), (word.capitalize(), same.capitalize())):
            description = re.sub(rf"(?<![`\w]){a}(?=s?\b(?!`))", b, description)
    return description.removesuffix(".")


def variants(group):
    """What differs of each name: {name: {(type, description): [who has it]}}."""
    documented, section = GROUPS[group]
    found = defaultdict(lambda: defaultdict(list))
    for who, thing in documented:
        for name, kind, description in entries(thing.__doc__, section):
            keys = {name, (name, who), (name, who.split(".")[0])}
            if keys & DIFFERENT[group].keys() or description.startswith("See `"):
                continue
            kind, description = kind.split(", default=")[0], neutral(description)
            if name in BEGIN[group]:
                kind = re.sub(r"^\{.*\}$", "one of several", kind)
                description = description[: len(BEGIN[group][name][0])]
            found[name][kind, description].append(who)
    for name in found.keys() & MORE[group].keys():
        shortest = min((description for _, description in found[name]), key=len)
        same = defaultdict(list)
        for (kind, description), owners in found[name].items():
            same[kind, description[: len(shortest)]] += owners
        found[name] = same
    return found


def methods(classes, names):
    """Methods of these names that classes have, each once: list of ("Class.method", method)."""
    found = {}
    for cls in classes:
        for name in names:
            method = getattr(cls, name, None)
            if method is not None:
                found[method.__qualname__] = method
    return sorted(found.items())


FUNCTIONS = [
    (name, function) for name, function in vars(metrics).items() if inspect.isfunction(function)
]
DISPLAYS = [getattr(plotting, name) for name in plotting.__all__ if name.endswith("Display")]
LOOKS = [(f.__name__, f) for f in (export.export_text, export.trees_to_frame, plotting.plot_tree)]
WAYS = ("from_estimator", "from_estimators", "from_predictions", "plot")
CLASSES = [(R.__name__, R) for R in RANKERS]
FITS = methods(RANKERS, ["fit"])
DRAWN = methods(DISPLAYS, WAYS)
GROUPS = {
    "parameters": (CLASSES, "Parameters"),
    "attributes": (CLASSES, "Attributes"),
    "fit": (FITS, "Parameters"),
    "metrics": (FUNCTIONS, "Parameters"),
    "displays": (DRAWN, "Parameters"),
}


def test_docstrings_are_read():
    """The reader finds what is there, in all its forms."""

    def function():
        """Summary.

        Parameters
        ----------
        a : int, default=3
            One, the paper's :math:`K`.

            Another paragraph of trees, the `tree` and `n_iter`.
        b, c : {"x", "y"}
        **kw : dict
            Three.

        Returns
        -------
        d : float
        """

    assert entries(function.__doc__, "Parameters") == [
        (
            "a",
            "int, default=3",
            "One, the paper's :math:`K`. Another paragraph of trees, the `tree` and `n_iter`.",
        ),
        ("b", '{"x", "y"}', ""),
        ("c", '{"x", "y"}', ""),
        ("**kw", "dict", "Three."),
    ]
    assert entries(function.__doc__, "Returns") == [("d", "float", "")]
    assert entries(function.__doc__, "Attributes") == []
    text = entries(function.__doc__, "Parameters")[0][2]
    assert neutral(text) == "One. Another paragraph of weak rankers, the `tree` and `n_iter`"
    assert len(variants("parameters")["n_jobs"]) == 1


@pytest.mark.parametrize("group", GROUPS)
def test_the_same_name_is_described_alike(group):
    for name, found in variants(group).items():
        assert len(found) == 1, f"{name}: " + "\n".join(map(str, found.items()))
        if name in BEGIN[group]:
            assert next(iter(found))[1] == BEGIN[group][name][0]
        elif name in MORE[group]:
            assert next(iter(found))[1] != "", f"{name} is not described everywhere"


@pytest.mark.parametrize(
    ("table", "group", "key"),
    [
        pytest.param(table[group], group, key, id=f"{group}-{key}")
        for table in (MORE, BEGIN, DIFFERENT)
        for group in GROUPS
        for key in table[group]
    ],
)
def test_exceptions_are_needed(table, group, key, monkeypatch):
    """None is left from a name that is not there, or does not differ any more."""
    monkeypatch.delitem(table, key)
    assert len(variants(group)[key if isinstance(key, str) else key[0]]) > 1


@pytest.mark.parametrize(
    ("who", "thing"),
    [pytest.param(*pair, id=pair[0]) for pair in (*CLASSES, *FITS, *FUNCTIONS, *DRAWN, *LOOKS)],
)
def test_parameters_are_those_of_the_signature(who, thing):
    parameters = inspect.signature(thing).parameters
    documented = entries(thing.__doc__, "Parameters")
    names = [name.lstrip("*") for name, _, _ in documented]
    assert names == [name for name in parameters if name != "self"]
    for name, kind, description in documented:
        default = parameters[name.lstrip("*")].default
        if stated := re.fullmatch(r".*, default=(.*)", kind):
            assert ast.literal_eval(stated[1]) == default
        elif default is not inspect.Parameter.empty and not description.startswith("See `"):
            assert (name, who.split(".")[-1]) == ("y", "fit")  # which preferences do without


@pytest.mark.parametrize("R", RANKERS, ids=lambda R: R.__name__)
def test_matrix_of_fit(R):
    """What `X` may be is what the tags say."""
    _, kind, description = entries(R.fit.__doc__, "Parameters")[0]
    assert ("sparse matrix" in kind) == allows_sparse(R)
    if allows_nan(R):
        assert description.startswith("NaN marks a missing value.")
    else:
        assert description.startswith("Finite") or f"{R.__name__} takes none" in description
