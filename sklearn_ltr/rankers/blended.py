# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""BlendedRanker: the weighted sum of the standardised scores of several rankers."""

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.parallel import Parallel, delayed

from sklearn_ltr.base import BaseRanker
from sklearn_ltr.blending import (
    check_candidates,
    check_weights,
    moments,
    standardized_within,
    weighted_sum,
    with_weight,
)
from sklearn_ltr.boosting.early_stopping import Judge
from sklearn_ltr.columns import column_of, dtypes_of, holds_strings, is_category_dtype
from sklearn_ltr.exceptions import ConstantModelWarning
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.members import (
    allows_nan,
    as_given,
    fit_member,
    last_step,
    scores_of,
    takes_rows,
    warn_of_lost_weights,
    what_it_takes,
)
from sklearn_ltr.metrics.registry import get_metric, refuses_negative_grades
from sklearn_ltr.queries import QueryGroups, split_queries
from sklearn_ltr.rankers.lambdamart import LambdaMART
from sklearn_ltr.rankers.lambdarank import LambdaRank
from sklearn_ltr.rankers.yetirank import YetiRank
from sklearn_ltr.reduction import from_first, is_spread
from sklearn_ltr.scored_rows import check_groups_arrived
from sklearn_ltr.validation import (
    check_choice,
    check_positive,
    check_predicted,
    warn_caller,
)

STANDARDIZATIONS = ("query", "train")

NOTHING_FOUND = (
    "{} found nothing to rank by: by each of its members all training rows have the same score. "
    "Features may be constant."
)


# Of the linear member of the blend by default.
CANDIDATES = [0, 1 / 3, 1, 3, np.inf]


def _signed_log(X):
    """Long tails of features, on either side, drawn in; of what a sparse matrix stores."""
    if sparse.issparse(X):
        X = X.copy()
        X.data = _signed_log(X.data)
        return X
    return np.sign(X) * np.log1p(np.abs(X))


def _default_estimators(random_state):
    """The recommended blend, and the candidates for the weight of one of its members."""
    linear = make_pipeline(
        SimpleImputer(keep_empty_features=True),
        FunctionTransformer(_signed_log, accept_sparse=True),
        StandardScaler(with_mean=False),  # a constant changes no ranking, and sparse stays sparse
        LambdaRank(random_state=random_state),
    )
    members = [
        ("neighbours", YetiRank(random_state=random_state)),
        ("pairs", YetiRank(all_pairs_weight=1.0, random_state=random_state)),
        ("swaps", LambdaMART(grow_policy="symmetric", random_state=random_state)),
        ("linear", linear),
    ]
    return members, {"linear": CANDIDATES}


class BlendedRanker(BaseRanker, _BaseComposition):
    r"""Weighted sum of the scores of several rankers, each standardised within the query.

    .. math:: S = \sum_m w_m \frac{s_m - \bar s_m}{\sigma_m},

    where :math:`s_m` are the scores of member m, :math:`\bar s_m` their mean over the rows of the
    query and :math:`\sigma_m` their standard deviation. Rankers of different kinds, such as trees
    and a linear function, make different mistakes, and their sum often fewer than either.

    Read more in the :ref:`User Guide <blended>`.

    Parameters
    ----------
    estimators : list of (str, estimator) tuples or None, default=None
        The members by name: rankers, pipelines that end in one, or any regressors. Clones of them
        are fitted; one in a `sklearn.frozen.FrozenEstimator` is taken as it is. "drop" in the place
        of a member leaves it out. None is the recommended blend: `YetiRank`, "neighbours", the same
        with all pairs besides, "pairs", `LambdaMART` on symmetric trees, "swaps", and a pipeline
        that ends in a linear `LambdaRank`, "linear".
    weights : array-like of shape (n_members,), dict or None, default=None
        The weights :math:`w_m`, finite and not all 0; None is 1 for each member, or, if
        `estimators` is None too, candidates for the linear one. A dict of one
        entry, ``{name: candidates}``, has numbers to try as the weight of that member, the others
        having 1, such as ``{"linear": [0, 1/3, 1, 3, np.inf]}``: the first of the best by `scoring`
        on validation queries is taken. `numpy.inf` is this member alone.
    standardize : {"query", "train"}, default="query"
        Where means and deviations are taken from. "query": the rows of the query, so that `predict`
        needs `groups`. "train": the training rows, so that a score depends on its row alone.
    scoring : str, metric or scorer, default="ndcg@10"
        What candidates are judged by: a name that `sklearn_ltr.metrics.get_metric` knows, or what
        it or `sklearn_ltr.scorers.get_scorer` returns.
    validation_fraction : float in (0, 1), default=0.25
        Share of the queries held out to choose among candidates, where no validation set is given
        to `fit`. Members are then fitted again, to all rows.
    n_jobs : int or None, default=None
        Members fitted at the same time, by joblib; None is 1 unless in a `joblib.parallel_config`
        context, -1 is all processors. Threads of a member are set by its own `n_jobs`. The model
        does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out queries. Members have their own, but those of the recommended blend,
        which have this.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members, without those dropped.
    named_estimators_ : dict
        The fitted members by name; "drop" where one was dropped.
    weights_ : ndarray of shape (n_members,)
        Weight of each fitted member. Where one is chosen to stand alone, it has 1 and the others 0.
    means_, deviations_ : ndarrays of shape (n_members,)
        Mean and standard deviation of the scores of the training rows by each fitted member. The
        deviation is 0 where they are all the same.
    candidate_scores_ : ndarray of shape (n_candidates,)
        `scoring` at each of the candidates in `weights`; empty if there are none.
    n_queries_ : int
        Queries of positive weight, held-out ones included.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of one grade or one row. 0 if a member takes
        `sample_weight`, as it learns from single rows, or is frozen.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    sklearn.ensemble.VotingRegressor : The mean of scores as they are, whatever their scales.

    Notes
    -----
    A member whose scores are all the same within a query adds 0 to it. Within a query scores are
    added up in ascending order.

    **Without groups** `predict` with ``standardize="query"`` puts the mean and deviation of the
    training rows in the place of those of the query. `score` and the scorers of this package hand
    `groups` on.

    Members get the rows in an order of their own, which depends on their content alone, and without
    those of weight 0: a blend of rankers of this package does not depend on the order of rows, on
    the names of queries, or on `n_jobs`, to the last bit, nor do scikit-learn's scalers within it.

    `groups`, weights and validation rows reach the members that take them, also through a
    pipeline to its last step, whether or not metadata routing is enabled. Of requests only those
    are looked at that a member was given by ``set_fit_request``. A member that takes
    `sample_weight` only is given the product of both weights. Validation rows do not reach a
    ranker behind a step that needs groups, such as `sklearn_ltr.preprocessing.QueryScaler`.

    Means and deviations of the training rows count a row of `sample_weight` w as w rows.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_ltr import BlendedRanker, LambdaMART, LambdaRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> trees = LambdaMART(n_estimators=50)
    >>> linear = make_pipeline(StandardScaler(), LambdaRank(random_state=0))
    >>> ranker = BlendedRanker([("trees", trees), ("linear", linear)], weights=[2, 1])
    >>> ranker = ranker.fit(X, y, groups=groups)
    >>> scores = ranker.predict(X, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.8
    True
    """

    __metadata_request__predict = {"groups": True}

    _why_no_start = (
        "members' scores are standardised before they are added, and so have no scale on which to "
        "correct others. Let what gives those scores be a member, in a FrozenEstimator, and "
        "`weights` weigh it"
    )

    # Members say what they do not take; the tags are theirs.
    _allow_nan = True
    _allow_sparse = True

    def __init__(
        self,
        estimators=None,
        *,
        weights=None,
        standardize="query",
        scoring="ndcg@10",
        validation_fraction=0.25,
        n_jobs=None,
        random_state=None,
    ):
        self.estimators = estimators
        self.weights = weights
        self.standardize = standardize
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep=True):
        """Get the parameters of the blend, and of its members as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the members, and their parameters.

        Returns
        -------
        params : dict
        """
        return self._get_params("estimators", deep=deep)

    def set_params(self, **params):
        """Set parameters of the blend, of a member as ``name__parameter``, or a member by name.

        Parameters
        ----------
        **params : dict
            ``name="drop"`` leaves a member out.

        Returns
        -------
        self : object
        """
        self._set_params("estimators", **params)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            members = [member for _, member in self._all_members() if not _is_dropped(member)]
            tags.input_tags.allow_nan = all(allows_nan(member) for member in members)
            tags.input_tags.sparse = all(get_tags(m).input_tags.sparse for m in members)
            positive = any(get_tags(last_step(m)).target_tags.positive_only for m in members)
        except (AttributeError, TypeError, ValueError):  # `estimators` is wrong, as `fit` says
            tags.input_tags.allow_nan = tags.input_tags.sparse = positive = False
        chooses = isinstance(self._weights(), dict) and refuses_negative_grades(self.scoring)
        tags.target_tags.positive_only = positive or chooses
        return tags

    def _sk_visual_block_(self):
        return VotingRegressor(self._all_members())._sk_visual_block_()

    def _all_members(self):
        """The members as (name, estimator), dropped ones too."""
        if self.estimators is None:
            return _default_estimators(self.random_state)[0]
        return self.estimators

    def _weights(self):
        """`weights`, those of the recommended blend if nothing is said."""
        if self.estimators is None and self.weights is None:
            return _default_estimators(self.random_state)[1]
        return self.weights

    def _check_params(self):
        """Check all parameters.

        Returns
        -------
        members : list of (str, estimator)
            Those that are not dropped.
        weights : ndarray of shape (n_members,)
        chosen : tuple or None
            Number of the member whose weight is to be chosen, and its candidates.
        """
        check_choice(self.standardize, "standardize", STANDARDIZATIONS)
        check_positive(self.validation_fraction, "validation_fraction", maximum=1)
        self._metric()
        members = self._check_members()
        kept = np.array([not _is_dropped(member) for _, member in members])
        names = [name for (name, _), keep in zip(members, kept, strict=True) if keep]
        members = [(name, member) for name, member in members if not _is_dropped(member)]
        if isinstance(self._weights(), dict):
            return members, np.ones(len(members)), check_candidates(self._weights(), names)
        return members, check_weights(self.weights, kept), None

    def _reason_not_to_spread(self):
        for name, member in self._all_members():
            while isinstance(member, FrozenEstimator):
                member = member.estimator
            if not (_is_dropped(member) or isinstance(member, BaseRanker)):
                return (
                    f"its member {name!r}, {member!r}, is no ranker of this package, and would be "
                    "fitted to the rows of one rank only. Leave it out, or take a ranker"
                )
        return None

    def _check_members(self):
        members = self.estimators
        if members is not None and (
            not isinstance(members, list)
            or len(members) == 0
            or not all(isinstance(m, (list, tuple)) and len(m) == 2 for m in members)
            or not all(isinstance(name, str) for name, _ in members)
        ):
            raise ValueError(
                "`estimators` must be a list of one or more tuples (name, estimator), or None; got "
                f"{members!r}."
            )
        members = self._all_members()
        self._validate_names([name for name, _ in members])
        for name, member in members:
            unfit = isinstance(member, type) or not (
                hasattr(member, "fit") and hasattr(member, "predict")
            )
            if unfit and not _is_dropped(member):
                raise TypeError(
                    f"Member {name!r} of `estimators` must be an estimator with the methods `fit` "
                    f'and `predict`, or "drop"; got {member!r}.'
                )
        if all(_is_dropped(member) for _, member in members):
            raise ValueError("All members of `estimators` are dropped; at least one must stay.")
        return members

    def _metric(self):
        return get_metric(getattr(self.scoring, "metric", self.scoring))

    @explain_keywords
    def fit(
        self,
        X,
        y,
        groups=None,
        query_weight=None,
        sample_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        propensity=None,
        propensity_val=None,
    ):
        """Fit the members, and choose the weight of one of them if `weights` has candidates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value. A member that takes no missing values, or no sparse matrix,
            refuses them. Frames are handed on as frames, also with columns of categories or
            strings, which it is for the members to take.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, not negative, for the members that take it. A row of weight 0 is
            left out.
        X_val, y_val, groups_val : array-likes, default=None
            Validation rows, by which a weight is chosen in the place of held-out queries. They also
            go to the members that take them.
        propensity : array-like of shape (n_samples,), default=None
            Where grades are clicks: the probability, in (0, 1], that each row was looked at, for
            the members that take it.
        propensity_val : array-like of shape (n_validation_samples,), default=None
            How likely each validation row was looked at, in (0, 1], where `y_val` are clicks: these
            count 1 over it. It takes a `scoring` that
            ``make_ranking_scorer("dcg@10", propensity=True)`` returns, of members that take
            validation rows, too.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid.
        Exception
            What a member raises, with its name before the message.
        """
        members, weights, chosen = self._check_params()
        others = {"sample_weight": sample_weight, "propensity": propensity}
        data = self._validate_training_data(X, y, groups, query_weight, **others)
        rows = self._handed_on(X, data.X)
        weighted = query_weight is not None
        held_out, validation = None, {}
        if isinstance(X_val, tuple):
            raise TypeError(
                "`X_val` is a tuple, which has a matrix for each of several validation sets; a "
                "BlendedRanker takes one. Its rows are a list or an array."
            )
        if X_val is not None or y_val is not None:
            held_out = self._validate_validation_data(
                X_val, y_val, groups_val, propensity=propensity_val
            )
            X_val = self._handed_on(X_val, held_out.X)
            validation = {
                "X_val": _rows(X_val, held_out),
                "y_val": held_out.y,
                "groups_val": _ids(held_out.queries),
            }
            if held_out.propensity is not None:
                validation["propensity_val"] = held_out.propensity
        elif propensity_val is not None:
            raise ValueError("`propensity_val` is of validation rows: give `X_val` and `y_val`.")
        if chosen is not None:
            self._check_weighed(held_out)
        scores = np.empty(0)
        if chosen is not None and held_out is None:
            frozen = [name for name, member in members if isinstance(member, FrozenEstimator)]
            if frozen:
                warn_caller(
                    f"Member {frozen[0]!r} is frozen, and may have been trained on the queries "
                    "held out to choose a weight: give `X_val`, `y_val` and `groups_val`.",
                    UserWarning,
                )
            seed = self.random_state
            if seed is None and is_spread():
                seed = from_first(int(np.random.default_rng().integers(2**31)))
            mask = split_queries(
                data.informative,
                self.validation_fraction,
                seed,
                keys=data.queries.keys,
                otherwise="give `weights` as numbers",
            )
            part = data.select(~mask)
            fitted = self._fit_members(members, rows, part, weighted, {})
            weights, scores = self._choose(
                fitted, self._moments(fitted, rows, part), rows, data.select(mask), *chosen
            )
        fitted = self._fit_members(members, rows, data, weighted, validation)
        means, deviations = self._moments(fitted, rows, data)
        if chosen is not None and held_out is not None:
            weights, scores = self._choose(fitted, (means, deviations), X_val, held_out, *chosen)
        if not deviations[weights != 0].any():
            warn_caller(NOTHING_FOUND.format(type(self).__name__), ConstantModelWarning)
        kept = dict(fitted)
        vars(self).update(
            estimators_=[member for _, member in fitted],
            named_estimators_={name: kept.get(name, "drop") for name, _ in self._all_members()},
            weights_=weights,
            means_=means,
            deviations_=deviations,
            candidate_scores_=scores,
        )
        return self

    def _check_weighed(self, held_out):
        """Raise ValueError if clicks would be taken for grades, or have no propensities."""
        weighs = getattr(self.scoring, "weighs_clicks", False)
        if weighs and (held_out is None or held_out.propensity is None):
            raise ValueError(
                "`scoring` weighs clicks, and the rows that a weight is chosen by have no "
                "propensities: give `X_val`, `y_val` and `groups_val` with `propensity_val`."
            )
        if not weighs and held_out is not None and held_out.propensity is not None:
            raise ValueError(
                "The validation rows have propensities, so that they have clicks, and `scoring` "
                f"{self._metric().name} takes them for grades: give "
                'scoring=make_ranking_scorer("dcg@10", propensity=True).'
            )

    def _learnable(self, data):
        """Every query, if a member learns from single rows or not at all; else those of pairs."""
        members = [member for _, member in self._all_members() if not _is_dropped(member)]
        if any(takes_rows(member) for member in members):
            return np.ones(data.n_queries, dtype=bool)
        return data.with_pairs

    def _handed_on(self, X, checked):
        """X as members get it: a frame whose columns have names, else the checked array."""
        named = hasattr(self, "feature_names_in_") or self._categories is not None
        return X if hasattr(X, "columns") and named else checked

    def _categorical_columns(self, X):
        """Columns of a frame that are no numbers: members say whether they take them."""
        return [
            j
            for j, dtype in enumerate(dtypes_of(X) or ())
            if is_category_dtype(dtype) or holds_strings(column_of(X, j))
        ]

    def _fit_members(self, members, X, data, weighted, validation):
        """Fit clones of the members to the rows of `data`: list of (name, estimator)."""
        y, X = data.y, _rows(X, data)
        metadata = {"groups": _ids(data.queries), **validation}
        if weighted:
            metadata["query_weight"] = data.per_row(data.query_weight)
        if data.sample_weight is not None:
            metadata["sample_weight"] = data.sample_weight
        if data.propensity is not None:
            metadata["propensity"] = data.propensity
        clones = [(name, clone(member)) for name, member in members]
        taken = [what_it_takes(name, member, metadata) for name, member in clones]
        for (name, _), its in zip(clones, taken, strict=True):
            if "X_val" in its and "propensity_val" in metadata.keys() - its.keys():
                raise TypeError(
                    f"BlendedRanker: member {name!r} takes validation rows and no "
                    "`propensity_val`, so that it would take their clicks for grades: leave it "
                    "out, or have it not ask for `X_val`."
                )
        warn_of_lost_weights(clones, metadata, taken)
        used = isinstance(self._weights(), dict) or any("X_val" in its for its in taken)
        if "X_val" in metadata and not used:
            warn_caller(
                "Nothing makes use of `X_val`: no member takes validation rows, and `weights` has "
                "no candidates.",
                UserWarning,
            )
        fits = [
            (name, member, X, y, its)
            for (name, member), its in zip(clones, taken, strict=True)
            if not isinstance(member, FrozenEstimator)
        ]
        n_jobs = min(self._n_threads(), len(fits))
        if (
            n_jobs <= 1 or is_spread()
        ):  # as scikit-learn's way sets filters of warnings, which all threads share
            fitted = [fit_member(*fit) for fit in fits]
        else:
            fitted = Parallel(n_jobs=n_jobs)(delayed(fit_member)(*fit) for fit in fits)
        fitted = {fit[0]: member for fit, member in zip(fits, fitted, strict=True)}
        return [
            (name, as_given(fitted[name], member) if name in fitted else member)
            for name, member in members
        ]

    def _moments(self, members, X, data):
        """Mean and deviation of each member's scores of the rows of `data`."""
        X, ids = _rows(X, data), _ids(data.queries)
        means, deviations = np.zeros(len(members)), np.zeros(len(members))
        for m, (name, member) in enumerate(members):
            means[m], deviations[m] = moments(scores_of(name, member, X, ids), data)
        return means, deviations

    def _choose(self, members, of_training, X, held_out, m, candidates):
        """The weights with the best of the candidates for member m, and the scores of all."""
        held_out = held_out.in_given_order()  # which some tie rules go by
        X, ids = _rows(X, held_out), _ids(held_out.queries)
        parts = [
            self._standardized(scores_of(name, member, X, ids), held_out.queries, mean, deviation)
            for (name, member), mean, deviation in zip(members, *of_training, strict=True)
        ]
        judge = Judge(held_out, self._metric(), held_out.propensity is not None)
        weights = [with_weight(len(members), m, candidate) for candidate in candidates]
        scores = np.array([judge(weighted_sum(parts, w)) for w in weights])
        return weights[int(np.argmax(scores))], scores

    def _standardized(self, scores, queries, mean, deviation):
        """Scores, rows in the order of `queries` if there are any, less mean over deviation."""
        if queries is not None and self.standardize == "query":
            return standardized_within(scores, queries)
        with np.errstate(over="ignore"):  # as `predict` tells
            return np.zeros(len(scores)) if deviation == 0 else (scores - mean) / deviation

    def __sklearn_is_fitted__(self):
        return hasattr(self, "weights_")

    @explain_keywords
    def predict(self, X, groups=None):
        """Scores; within a query, a higher score ranks higher.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. With ``standardize="query"``, None
            takes the means and deviations of the training rows in the place of those of the query.
            They are handed on to members that take them.

        Returns
        -------
        scores : ndarray of shape (n_samples,), dtype float64
            With `groups` and ``standardize="query"``, scores depend on the other rows of the query.

        Raises
        ------
        ValueError
            If an argument is invalid, or a score overflows.
        Exception
            What a member raises, with its name before the message.
        """
        self._check_is_fitted()
        checked = self._validate_X(X, reset=False)
        n = checked.shape[0]
        if self.standardize == "query":
            check_groups_arrived(groups, "BlendedRanker.predict", n)
        queries, order = None, slice(None)
        if groups is not None:
            queries = QueryGroups.from_ids(groups, n)
            order = queries.order
        X = self._handed_on(X, checked)
        parts = []
        for m, (name, member) in enumerate(self._fitted()):
            if self.weights_[m] == 0:
                parts.append(None)
                continue
            scores = scores_of(name, member, X, groups)[order]
            parts.append(self._standardized(scores, queries, self.means_[m], self.deviations_[m]))
        scores = np.empty(n)
        scores[order] = weighted_sum(parts, self.weights_)
        return check_predicted(scores)

    def _fitted(self):
        """The fitted members as (name, estimator)."""
        return [(n, m) for n, m in self.named_estimators_.items() if not _is_dropped(m)]


def _is_dropped(member):
    return isinstance(member, str) and member == "drop"


def _rows(X, data):
    """The rows of X in the order of `data`."""
    return _safe_indexing(X, data.queries.order)


def _ids(queries):
    """The query id of each row, in the order of `queries`."""
    return np.repeat(queries.ids, queries.sizes)
