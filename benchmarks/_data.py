# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Data sets and published figures.

A part is a Bunch of X, y and groups; a fold is a Bunch of the parts train, validation and test.
"""

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold
from sklearn.utils import Bunch

from sklearn_ltr.datasets import (
    load_letor_file,
    load_letor_folds,
    make_cubic_ranking,
    make_ranking,
)

N_DOCS = 100  # of a query, of most artificial data

# Parts and folds --------------------------------------------------------------------------------


def take(part, rows):
    return Bunch(X=part.X[rows], y=part.y[rows], groups=part.groups[rows])


def join(parts):
    return Bunch(**{key: np.concatenate([p[key] for p in parts]) for key in ("X", "y", "groups")})


def five_folds(part):
    """Five parts by query, rotated as in LETOR: three to train, one to validate, one to test."""
    splitter = GroupKFold(5, shuffle=True, random_state=0)
    fifths = [rows for _, rows in splitter.split(part.X, part.y, part.groups)]

    def rows(*numbers):
        return take(part, np.concatenate([fifths[i % 5] for i in numbers]))

    return [
        Bunch(train=rows(i, i + 1, i + 2), validation=rows(i + 3), test=rows(i + 4))
        for i in range(5)
    ]


def fold_of(X, y, groups, sizes):
    """A fold whose parts have so many queries, of rows with the query ids 0, 1, 2, ..."""
    part, fold = Bunch(X=X, y=y, groups=groups), Bunch()
    ends = pairwise(np.cumsum([0, *sizes]))
    for name, (start, end) in zip(("train", "validation", "test"), ends, strict=True):
        fold[name] = take(part, (groups >= start) & (groups < end))
    return fold


def n_queries(part):
    return len(np.unique(part.groups))


def describe_tests(folds):
    tests = [fold.test for fold in folds]
    return (
        f"{sum(len(t.y) for t in tests)} test rows, {tests[0].X.shape[1]} features, "
        f"{sum(map(n_queries, tests))} test queries"
    )


def signed_log(X):
    return np.sign(X) * np.log1p(np.abs(X))


# Real sets --------------------------------------------------------------------------------------

# Of sets that have no folds: the folder, its files, and the features.
FILES = {
    "imat2009": ("imat2009-sample", ("learn-head",), None),
    "mslr10k": ("mslr-web10k-sample", ("train", "vali", "test"), 136),
    "mslr30k": ("mslr-web30k-sample", ("vali", "test"), 136),
    "lambdarank": ("lightgbm-lambdarank", ("train", "test"), 300),
}


def read_files(name, data, **params):
    folder, files, n_features = FILES[name]
    return [
        load_letor_file(Path(data, folder, f"{file}.txt.gz"), n_features=n_features, **params)
        for file in files
    ]


def _letor(folder, data, parts="S{}"):
    return list(load_letor_folds(Path(data, folder), parts=parts))


def _as_split(name, data):
    names = ("train", "validation", "test")
    return [Bunch(**dict(zip(names, read_files(name, data), strict=True)))]


def _pooled(name, data):
    return five_folds(join(read_files(name, data)))


# Title, and a function of the folder of all data that makes the folds.
FOLDS = {
    "mq2007": ("MQ2007-agg, LETOR's folds", partial(_letor, "mq2007-agg")),
    "mq2008": ("MQ2008, LETOR's folds", partial(_letor, "mq2008")),
    "ohsumed": (
        "OHSUMED (query-level normalised), LETOR's folds",
        partial(_letor, "ohsumed-letor3-qln"),
    ),
    "webtrack": (
        "Web Track 2009-2012, ClueWeb09",
        partial(_letor, "webtrack-clueweb09", parts="T{}"),
    ),
    "mslr": ("MSLR-WEB10K sample, split as given", partial(_as_split, "mslr10k")),
    "mslr-pooled": (
        "MSLR-WEB10K sample, pooled, five folds by query",
        partial(_pooled, "mslr10k"),
    ),
    "mslr30k": ("MSLR-WEB30K sample, pooled, five folds by query", partial(_pooled, "mslr30k")),
    "lambdarank": (
        "LightGBM's lambdarank example, pooled, five folds",
        partial(_pooled, "lambdarank"),
    ),
    "imat2009": ("Internet Mathematics 2009, five folds", partial(_pooled, "imat2009")),
}


def generated(make, params, draw, data):
    X, y, groups = make(random_state=draw, **params)
    return five_folds(Bunch(X=X, y=y, groups=groups))


# Those of report.py: title, and what makes the folds.
SETS = {
    "mq2008": FOLDS["mq2008"],
    "ohsumed": FOLDS["ohsumed"],
    "webtrack": FOLDS["webtrack"],
    "mslr10k": FOLDS["mslr-pooled"],
    "mslr30k": FOLDS["mslr30k"],
}
ARTIFICIAL = {
    "synthetic": (make_ranking, {"n_queries": 300, "n_docs": (10, 50), "n_features": 50}),
    "cubic": (make_cubic_ranking, {"n_queries": 300, "n_docs": 30}),
}
# The first draw of each is one of the sets; the others were drawn when all had been fixed.
DRAWS = {
    f"{name}{draw or ''}": (
        f"`{make.__name__}`, five folds by query",
        partial(generated, make, params, draw),
    )
    for name, (make, params) in ARTIFICIAL.items()
    for draw in range(3)
}
SETS |= {name: DRAWS[name] for name in ARTIFICIAL}
FRESH_SETS = {name: draw for name, draw in DRAWS.items() if name not in ARTIFICIAL}


def load_folds(name, data):
    return FOLDS[name][1](data)


# Artificial sets --------------------------------------------------------------------------------


def make_data(n_rows, n_features, kind="default", seed=0):
    """Ranking data of `n_rows` rows in queries of 100, 5 grades: X, y, groups.

    "default": 20 features informative, 30 mixtures of them, the others noise. "mixtures": no noise,
    and all but 5 features are mixtures of these 5.
    """
    mixtures = kind == "mixtures"
    n_informative = min(5 if mixtures else 20, n_features)
    n_redundant = min(n_features if mixtures else 30, n_features - n_informative)
    noise_free = {"noise": 0.0, "query_effect": 0.0, "query_shift": 0.0}
    return make_ranking(
        n_rows // N_DOCS,
        N_DOCS,
        n_features,
        n_informative=n_informative,
        n_redundant=n_redundant,
        random_state=seed,
        **(noise_free if mixtures else {}),
    )


def grades(utility, n_grades=5):
    """Grades that cut the utilities; each is half as frequent as the one below."""
    shares = np.cumsum(0.5 ** np.arange(n_grades))
    return np.searchsorted(np.quantile(utility, shares[:-1] / shares[-1]), utility).astype(float)


# Sets to time fits and predictions on -----------------------------------------------------------
#
# Each takes the options and a seed, and returns the training and the test part: (X, y, groups).


def _split(X, y, groups, train):
    return (X[train], y[train], groups[train]), (X[~train], y[~train], groups[~train])


def dense_data(args, seed):
    X, y, groups = make_data(args.rows + args.rows // 2, args.features, seed=seed)
    return _split(X, y, groups, groups < args.rows // N_DOCS)


def sparse_data(args, seed, n_features=300, n_informative=30):
    """Counts of terms: few frequent, many rare, `args.density` of all not 0.

    The utility is a sum of logarithms of 1 + count of some terms, and of products of these, with
    an effect of the query and noise.
    """
    rng = np.random.default_rng(seed)
    n_queries = (args.rows + args.rows // 2) // N_DOCS
    n_rows = n_queries * N_DOCS
    frequency = rng.permutation(1 / np.arange(10, n_features + 10))
    frequency *= args.density / frequency.mean()
    columns = [np.flatnonzero(rng.random(n_rows) < share) for share in np.minimum(frequency, 0.9)]
    indptr = np.cumsum([0] + [len(rows) for rows in columns])
    counts = rng.geometric(0.4, indptr[-1]).astype(float)
    X = sparse.csc_matrix((counts, np.concatenate(columns), indptr), shape=(n_rows, n_features))
    terms = X[:, np.argsort(-frequency)[: 2 * n_informative : 2]].log1p().toarray()
    utility = terms @ rng.standard_normal(n_informative)
    utility += (terms * terms[:, rng.permutation(n_informative)]).sum(axis=1)
    utility /= utility.std()
    groups = np.repeat(np.arange(n_queries), N_DOCS)
    utility += 0.3 * rng.standard_normal(n_queries)[groups] + 0.5 * rng.standard_normal(n_rows)
    return _split(X.tocsr(), grades(utility), groups, groups < args.rows // N_DOCS)


def _real_data(name, args, seed, **params):
    """A real set: its parts pooled, and a third of the queries drawn to test on."""
    parts = read_files(name, args.data, **params)
    X = (sparse.vstack if sparse.issparse(parts[0].X) else np.vstack)([part.X for part in parts])
    y, groups = (np.concatenate([part[key] for part in parts]) for key in ("y", "groups"))
    queries = np.random.default_rng(seed).permutation(np.unique(groups))
    return _split(X, y, groups, ~np.isin(groups, queries[: len(queries) // 3]))


SPEED_SETS = {
    "dense": ("make_ranking", dense_data),
    "sparse": ("term counts", sparse_data),
    "mslr": ("MSLR-WEB10K sample", partial(_real_data, "mslr10k")),
    "lambdarank": ("LightGBM's lambdarank example", partial(_real_data, "lambdarank", sparse=True)),
}
NEED_FILES = {"mslr", "lambdarank"}


def describe(X, groups):
    text = f"{X.shape[0]} rows x {X.shape[1]} features in {len(np.unique(groups))} queries"
    if sparse.issparse(X):
        text += f", {100 * X.nnz / np.prod(X.shape):.1f} % of the values not 0"
    return text


# Published figures ------------------------------------------------------------------------------


def _row(*values):
    names = [*(f"ndcg@{k}" for k in range(1, 11)), "map", "p@10"]
    return dict(zip(names, values, strict=False))


def _few(at_3, at_5, at_10, average_precision):
    values = {"ndcg@3": at_3, "ndcg@5": at_5, "ndcg@10": at_10, "map": average_precision}
    return {name: value for name, value in values.items() if value is not None}


# LETOR's baselines, and of the papers that use the same sets; what is not known is left out.
PUBLISHED = {
    "ohsumed": {
        "Regression": _row(
            .4456, .4532, .4426, .4368, .4278, .4216, .4217, .4187, .4136, .4110, .4220, .4666
        ),
        "L2 Regression": _few(.4740, .4568, .4436, .4439),
        "RankSVM": _row(
            .4958, .4331, .4207, .4240, .4164, .4159, .4133, .4072, .4124, .4140, .4334, .4864
        ),
        "RankSVM-Primal": _few(.4855, .4690, .4504, .4446),
        "RankSVM-Struct": _few(.4850, .4729, .4523, .4478),
        "RankBoost": _row(
            .4632, .4504, .4555, .4543, .4494, .4439, .4412, .4361, .4326, .4302, .4411
        ),
        "FRank": _few(.4812, .4588, .4433, .4439),
        "ListNet": _row(
            .5326, .4810, .4732, .4561, .4432, .4400, .4409, .4460, .4459, .4410, .4457, .4975
        ),
        "ListMLE": _few(.4188, None, .4190, .4326),
        "AdaRank-MAP": _row(
            .5388, .4789, .4682, .4721, .4613, .4579, .4558, .4506, .4464, .4429, .4487, .4976
        ),
        "AdaRank-NDCG": _few(.4790, .4673, .4496, .4498),
        "SVMMAP": _few(.4663, .4516, .4319, .4453),
    },
    "mq2008": {
        "RankSVM-Struct": _few(.4286, .4695, .2279, .4696),
        "RankBoost": _few(.4288, .4666, .2255, .4775),
        "ListNet": _few(.4324, .4747, .2303, .4775),
        "AdaRank-MAP": _few(.4370, .4794, .2288, .4764),
        "AdaRank-NDCG": _few(.4420, .4821, .2307, .4824),
    },
}  # fmt: skip
