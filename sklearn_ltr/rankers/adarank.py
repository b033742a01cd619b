# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""AdaRank: boosting of single features on a ranking metric itself."""

import numpy as np

from sklearn_ltr.binning import Unbinned
from sklearn_ltr.boosting.driver import BoostedRanker, with_callbacks
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.labels import why_not_spread
from sklearn_ltr.metrics.registry import get_metric, refuses_negative_grades
from sklearn_ltr.metrics.training import check_switches, order_free
from sklearn_ltr.validation import check_choice
from sklearn_ltr.weak.column import Column, columns_of

# How the weights of the queries follow from the rounds so far.
UPDATES = ("paper", "adaboost")

# Weighted performances that agree to this, relative to the best, tie.
TIE = 1e-9

# A mean performance of 1 counts as less than that by this.
LEAST_LACK = 1e-12

# Of a query whose best and worst order differ by no more than this, every order is equally good.
ROUNDING = 1e-12


class AdaRank(BoostedRanker):
    r"""Boosting of single features on a ranking metric itself.

    With :math:`E(f, q)` what a metric says of the order of the rows of query q by the scores f,
    minimises

    .. math:: \sum_q e^{-E(f, q)}

    which bounds :math:`\sum_q (1 - E(f, q))` from above [1]_. Each round adds :math:`\alpha_t h_t`,
    where :math:`h_t` is the feature of the best metric on the queries that the model so far ranks
    badly. The model is linear, and mostly uses a few features only. No gradient of the metric is
    needed, so that any metric will do.

    Features are ranked in descending order only, and added up as they are. So they must be on
    comparable scales, and high where rows are relevant; see the notes.

    Read more in the :ref:`User Guide <adarank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`T`. Each adds one feature, which may be in the model already.
    metric : str or metric, default="ndcg@10"
        The paper's :math:`E`: a name that `sklearn_ltr.metrics.get_metric` knows, or what it
        returns. Its values must lie between -1 and 1, so that "dcg" is refused. Tied scores count
        as its switch `ties` says, but for the rules that go by the order of rows, in the place of
        which `fit` takes the expectation over all orders, and warns. Queries without a value, of
        which no order is better than another, are left out, or an error with ``undefined="raise"``.
    update : {"paper", "adaboost"}, default="paper"
        What queries weigh in the next round:

        - "paper": :math:`P_{t+1}(q) \propto e^{-E(f_t, q)}`, by the combined model;
        - "adaboost": :math:`P_{t+1}(q) \propto P_t(q)\, e^{-\alpha_t E(h_t, q)}`, for which
          :math:`\alpha_t` is the step that AdaBoost takes. The paper's weights differ little
          between queries, so that the same feature is often chosen for ever; these find more
          features, and did better on the sets in ``benchmarks/README.md``.
    early_stopping : bool, default=False
        Stop when `scoring` on validation queries no longer improves, and predict with the model of
        the best round.
    scoring : str, metric, scorer, callable or list of these, default="ndcg@10"
        What early stopping maximises: a name that `sklearn_ltr.metrics.get_metric` knows, what it
        or `sklearn_ltr.scorers.get_scorer` returns, or a function of ``(y_true, y_score, groups)``
        that returns a number. The first of a list decides; all are in ``validation_history_``.
    validation_fraction : float in (0, 1), default=0.1
        Share of the queries held out for early stopping where no validation set is given to `fit`.
    n_iter_no_change : int, default=10
        Rounds without an improvement of more than `tol` after which to stop.
    tol : float, default=1e-4
        With `early_stopping`, improvements that are no larger do not count.
    warm_start : bool, default=False
        Continue an earlier fit up to `n_estimators` rounds.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out queries; used only by early stopping.
    verbose : int, default=0
        Print a line every so many rounds, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Weight of each feature; ``X @ coef_`` are the scores. It is the sum of the feature's
        :math:`\alpha_t`.
    model_ : AdditiveModel
        The features with their coefficients, the paper's :math:`\alpha_t`: ``model_.terms``, or
        round by round ``model_.rounds``.
    n_iter_ : int
        Rounds run; fewer than `n_estimators` if early stopping or a callback stopped them, or if
        further rounds would change nothing: with ``update="paper"``, where the only feature chosen
        so far is chosen again.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        The weighted mean of :math:`e^{-E(f_t, q)}` over the training queries, after each round. It
        may rise.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the sum of all :math:`|\alpha_t|`.
    n_queries_ : int
        Queries of positive weight, held-out ones included.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of which every order is as good as any other, such
        as those of one grade, and for "ndcg" and "map" those without a relevant row.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    LambdaMART : Boosts trees on the changes that swaps of rows make to a metric.
    RankBoost : Boosts stumps on preference pairs.

    Notes
    -----
    Nothing keeps the algorithm from choosing a feature again. With ``update="paper"`` one may well
    be chosen for ever, and the ranking goes back to that of this feature alone. `early_stopping` is
    then worth its cost.

    A feature with :math:`E = 1` on all queries would have an infinite :math:`\alpha_t`. It gets
    that of a mean of :math:`1 - 10^{-12}`, 14.2. For features that are low where rows are relevant,
    give the negated columns, too, as the user guide shows.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Xu, Li. "AdaRank: A Boosting Algorithm for Information Retrieval". SIGIR 2007.

    Examples
    --------
    >>> from sklearn_ltr import AdaRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = AdaRank(metric="map").fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.7
    """

    _allow_nan = False
    _computes_with_features = True

    _no_propensity = (
        "rounds weigh whole queries by what a metric says of their lists, and not rows; take "
        "LambdaMART or ListNet"
    )

    def __init__(
        self,
        n_estimators=300,
        *,
        metric="ndcg@10",
        update="paper",
        early_stopping=False,
        scoring="ndcg@10",
        validation_fraction=0.1,
        n_iter_no_change=10,
        tol=1e-4,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.metric = metric
        self.update = update
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = refuses_negative_grades(self.metric)
        return tags

    @property
    def coef_(self):
        """Coefficients of the features: ndarray of shape (`n_features_in_`,)."""
        self._check_is_fitted()
        coef = np.zeros(self.n_features_in_)
        for alpha, h in self.model_.first(self.best_iteration_).terms:
            coef[h.feature] += alpha
        return coef

    def _check_params(self):
        super()._check_params()
        metric = get_metric(self.metric)
        if not metric.bounded:
            raise ValueError(
                f"`metric` must have values between -1 and 1, which {metric.name} has not; take "
                '"ndcg" or another metric.'
            )
        check_choice(self.update, "update", UPDATES)

    def _learnable(self, data):
        """Queries of which some order is better than another."""
        metric = self._E()
        metric.check_grades(data.y)
        check_switches(get_metric(self.metric), metric, data)
        learnable = order_matters(metric, data)
        if data.informative.any() and not learnable.any():
            raise ValueError(
                f"With these `y`, {metric!r} is the same for every order of the rows of each query."
            )
        return learnable

    @explain_keywords
    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite: features are scores here.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        X_val, y_val, groups_val : array-likes or tuples of them, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. Tuples are several sets,
            of which the first decides; all are in ``validation_history_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        propensity_val : array-like of shape (n_validation_samples,), or tuple, default=None
            How likely each validation row was looked at, in (0, 1], where `y_val` are clicks: these
            count 1 over it. It takes a `scoring` that
            ``make_ranking_scorer("dcg@10", propensity=True)`` returns.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If an argument is invalid, or there is nothing to learn from.
        """
        return self._fit(X, y, groups, query_weight, (X_val, y_val, groups_val, propensity_val))

    def _reason_not_to_spread(self):
        return why_not_spread(getattr(self._E(), "gain", None))

    def _make_binner(self):
        return Unbinned()

    def _E(self):
        """The metric to learn by, made such that it does not depend on the order of rows."""
        return order_free(get_metric(self.metric))

    def _rounds(self, train):
        """Figure 1 of the paper, algorithm AdaRank."""
        E = QueryPerformance(self._E(), train.data)
        if train.data.count(E.n_queries) == 0:
            return
        E_of_features = E.of_columns(train.binned.X)
        v = E.query_weight  # the paper has all alike
        exponents = self._exponents(E, E_of_features, train)
        for _ in train.rounds():
            P = weights(train.data, v, exponents)  # P_t
            # Of each feature h, the sum of P_t(q) E(h, q).
            phi = train.data.dot(E_of_features, P)
            k = int(np.argmax(phi >= phi.max() - TIE * abs(phi.max())))
            alpha = best_alpha(phi[k])
            if alpha == 0 or self._is_all_of_the_model(k):
                return  # nothing changes any more
            h = Column(k, gain=abs(alpha))
            train.scores += alpha * h.apply(train.binned)  # f_t
            E_of_f = E(train.scores)
            if self.update == "paper":
                exponents = E_of_f
            else:
                exponents = exponents + alpha * E_of_features[k]
            train.loss = train.data.mean(np.exp(-E_of_f), v)
            yield [(alpha, h)]

    def _exponents(self, E, E_of_features, train):
        """What the weights of the queries are to fall with, by the rounds of an earlier fit."""
        exponents = np.zeros(E.n_queries)
        if train.round and self.update == "paper":
            return E(train.scores)
        for alpha, h in self.model_.terms:
            exponents = exponents + alpha * E_of_features[h.feature]
        return exponents

    def _is_all_of_the_model(self, feature):
        """Whether one more time the only feature so far leaves the ranking and the weights."""
        return self.update == "paper" and {h.feature for _, h in self.model_.terms} == {feature}


class QueryPerformance:
    """What a metric says of scores, for each training query of which the order matters.

    Parameters
    ----------
    metric : Metric
    data : RankingData

    Attributes
    ----------
    n_queries : int
    query_weight : ndarray of shape (n_queries,)
    """

    def __init__(self, metric, data):
        self._metric, self._data = metric, data
        self._used = order_matters(metric, data)
        self.query_weight = data.query_weight[self._used]
        self.n_queries = len(self.query_weight)

    def __call__(self, scores):
        """Values of the queries, of shape (n_queries,), for scores of shape (n_samples,)."""
        return self._metric.of_queries(self._data, scores)[self._used]

    def of_columns(self, X):
        """Values of each column of X as scores: ndarray of shape (n_features, n_queries)."""
        return np.array([self(column) for column in columns_of(X)])


def order_matters(metric, data):
    """Which queries have an order that is better than another: ndarray of bool."""
    best, worst = (metric.of_queries(data, scores) for scores in (data.y, -data.y))
    return best - worst > ROUNDING  # NaN is not


def best_alpha(phi):
    """alpha_t of a feature whose weighted performance is phi, capped where that is 1 or -1."""
    return 0.5 * np.log(max(1 + phi, LEAST_LACK) / max(1 - phi, LEAST_LACK))


def weights(data, v, exponents):
    """v e^-exponents, as shares."""
    P = v * np.exp(data.smallest(exponents) - exponents)
    return P / data.sum(P)
