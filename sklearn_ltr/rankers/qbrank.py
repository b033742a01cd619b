# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""QBRank: boosting of preference pairs and labelled rows together."""

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.boosting.driver import with_callbacks
from sklearn_ltr.boosting.quadratic import quadratic_rounds
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses.base import FURTHEST_STEP, BoundLoss, ratio
from sklearn_ltr.losses.hinge_sums import hinge_sums, tied_sums
from sklearn_ltr.validation import check_choice, check_margin, check_positive

TARGETS = ("bound", "paper")

# A line search has found its piece when two steps differ by less than this share.
SAME_STEP = 1e-8

# A step below this is none.
LEAST_STEP = 1e-12


class QBRank(TreeBoosting):
    r"""Boosting of preference pairs and labelled rows, by successive quadratic approximation.

    Minimises

    .. math::
        R(h) = \frac{w}{2} \sum_{x \succ y} \max(0, h(y) - h(x) + \tau)^2
             + \frac{1 - w}{2} \sum_z (l_z - h(z))^2

    over the preference pairs :math:`x \succ y` and the labelled rows z [1]_. In each round a
    regression tree fits the gradient, and the step along it is the exact minimiser of R, which is
    piecewise quadratic. Pairs of grades are never listed: a round takes
    :math:`O(n \log n)` for them, and memory for the rows only.

    Read more in the :ref:`User Guide <qbrank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds. Each adds one weak ranker.
    learning_rate : float, default=0.05
        Shrinkage, the paper's :math:`\eta`: each weak ranker is taken times this factor.
    pair_weight : float in [0, 1], default=0.5
        Weight of the preference pairs, the paper's :math:`w`; the labelled rows have 1 - w. 1 is
        pairs only, 0 is `RegressionRanker` with a linear gain.
    margin : "grade" or float, default="grade"
        The paper's :math:`\tau`, by which the preferred row is to be ahead: a positive number for
        all pairs, or "grade", the difference of the grades; of given preferences that is
        `preference_margin`, or 1.
    target : {"bound", "paper"}, default="bound"
        What weak rankers fit for a row that is in several pairs, and with what weight.

        - "bound": the minimiser of the quadratic upper bound, which is the sum of the row's
          gradients over W, with weight W, where W is 2w for each of its pairs, and 1 - w if it is
          labelled;
        - "paper": Algorithm 2 as printed, with the average of the row's gradients, and weight w if
          the row is in a pair.
    tie_weight : float, default=0.0
        Weight, relative to a preference pair, of each pair of rows of one query with equal grades,
        whose loss is :math:`(h(x) - h(y))^2`. The paper leaves them out and proposes to use them.
    estimator : regressor or None, default=None
        The weak learner: a scikit-learn regressor whose ``fit`` takes `sample_weight`, cloned for
        each round. None: regression trees, which the parameters from `grow_policy` to
        `binning` shape, `subsample` excepted; an estimator sees the features as they are, and has
        parameters of its own.
    grow_policy : {"leafwise", "symmetric"}, default="leafwise"
        "leafwise": trees grow best-first, the leaf whose split lowers the squared error most is
        split next. "symmetric": they grow level by level, and one split serves all leaves of a
        level, except those where it would leave too few rows on a side.
    max_leaf_nodes : int, default=20
        Most leaves of a tree.
    max_depth : int or None, default=None
        Most splits between the root and a leaf. Of symmetric trees, at most 16; None is as many as
        `max_leaf_nodes` leaves allow, :math:`\lfloor \log_2 \rfloor` of it.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf.
    l2_regularization : float, default=0.0
        Added to the denominators of leaf values, and to the weights of both sides of a split.
    max_features : float in (0, 1], default=1.0
        Share of the features, drawn anew for each node, or each level of a symmetric tree,
        that it may split on.
    subsample : float in (0, 1], default=1.0
        Share of the queries, drawn anew in each round, whose rows weak rankers are fitted to. Whole
        queries, so that a query is either in or out.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        1: scores must not fall as the feature rises, -1: must not rise, 0: no constraint. A dict
        has those of some features by name, ``{"price": -1}``.
    interaction_cst : str, sequence of sets of int or str, or None, default=None
        Groups of features, by number or name, that may go together: below a split, a tree uses
        features of those groups only that have all features used on the way there. Those in no
        group form one of their own. "pairwise": every two features, "no_interactions": each alone.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose values are categories, without an order: columns of a frame of a categorical
        dtype; or those of a boolean mask, numbers or names; or none. A split parts the values in
        two sets. At most 255 a feature; those that `fit` has not seen are taken for missing.
    min_samples_category : int, default=20
        Fewest rows of a category at a node that it is told apart there; one of fewer goes to the
        side of missing values. Rows are counted as for `min_samples_leaf`.
    max_bins : int or None, default=255
        Most bins of a feature, 2 to 65,535; a feature with more distinct values is cut as `binning`
        says. None keeps every distinct value.
    binning : {"quantile", "adaptive"}, default="quantile"
        "quantile": bins of equally many rows. "adaptive": bins of equal length, only where there
        are values, as short as `max_bins` allows.
    propensity_clip : float in [0, 1), default=0.0
        Smaller values of `propensity` count as this: that lowers the variance of what clicks teach,
        for some bias.
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
        Continue an earlier fit up to `n_estimators` rounds, with its bins.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out queries, and what `max_features`, `subsample` and the estimator draw.
    verbose : int, default=0
        Print a line every so many rounds, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    model_ : AdditiveModel
        The weak rankers with their coefficients: ``model_.terms``, or round by round
        ``model_.rounds``.
    n_iter_ : int
        Rounds run; fewer than `n_estimators` if early stopping or a callback stopped them, or if no
        weak ranker lowers the loss any more.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        R after each round, divided by the number of queries, with query weights relative to their
        mean. It never rises.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the gains of the splits; of an estimator, its own importances,
        summed and made to sum to 1, if it has any.
    n_splits_ : ndarray of shape (`n_features_in_`,)
        Number of splits on each feature.
    expected_score_ : float
        What `contributions` are added to: the mean of the trees over the training rows.
    categories_ : list of ndarrays or None, of length `n_features_in_`
        The values of each categorical feature, by code; None of other features.
    n_queries_ : int
        Queries of positive weight, held-out ones included.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries without a pair and, unless `pair_weight` is 1,
        without a label.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    RegressionRanker : What QBRank is without preferences, the paper's GBT.
    GBRank : The same pairs, fitted by values in the place of gradients.
    QuadraticBoosting : The same method for any loss.

    Notes
    -----
    Pairs come from the grades, all pairs of rows of a query whose grades differ, or are given as
    `preferences`. A query of one grade has no pair, but its labels count. A row whose grade is NaN
    has no label and is in no pair of grades, but may be in preferences.

    The line search finds the best step for R itself, up to 1,024. Without pairs and without
    `l2_regularization` or `subsample` it is 1.

    The initial guess is the mean label, or 0 if there are no labels or `pair_weight` is 1.

    Missing values (NaN) in `X` go to the side of a split where they lower the squared error more.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight. It goes with `pair_weight=1` alone, as labels of single rows
    have no winner, and not with `tie_weight`.

    References
    ----------
    .. [1] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.

    Examples
    --------
    >>> from sklearn_ltr import QBRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = QBRank(n_estimators=100).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    1.0
    """

    _allow_unlabelled = True

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        pair_weight=0.5,
        margin="grade",
        target="bound",
        tie_weight=0.0,
        estimator=None,
        grow_policy="leafwise",
        max_leaf_nodes=20,
        max_depth=None,
        min_samples_leaf=20,
        l2_regularization=0.0,
        max_features=1.0,
        subsample=1.0,
        monotonic_cst=None,
        interaction_cst=None,
        categorical_features="from_dtype",
        min_samples_category=20,
        max_bins=255,
        binning="quantile",
        propensity_clip=0.0,
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
        self.learning_rate = learning_rate
        self.pair_weight = pair_weight
        self.margin = margin
        self.target = target
        self.tie_weight = tie_weight
        self.estimator = estimator
        self.grow_policy = grow_policy
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.min_samples_category = min_samples_category
        self.max_bins = max_bins
        self.binning = binning
        self.propensity_clip = propensity_clip
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        preferences=None,
        preference_weight=None,
        preference_margin=None,
        init_score=None,
        init_score_val=None,
        propensity=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Grades; higher is better. NaN marks a row without one. None with `preferences` alone.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns; with `preferences` it takes rows that preferences connect as a query.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        X_val, y_val, groups_val : array-likes or tuples of them, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each round, in ``validation_score_``. Tuples are several sets,
            of which the first decides; all are in ``validation_history_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            Row of the winner and row of the loser, both of one query, as clicks or comparisons
            tell. They take the place of the pairs of grades; grades are then labels only. Pairs may
            repeat and contradict each other. Row numbers do not survive the cutting of folds, so
            that searches cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.
        preference_margin : array-like of shape (n_pairs,), default=None
            Degree of each preference, positive: how far the winner is to be ahead. None is 1.
        init_score : array-like of shape (n_samples,), default=None
            Scores that the model is added to, such as those of another ranker: rounds lower the
            loss of the sum, and begin without a constant. `predict` leaves them out. None is 0.
        init_score_val : array-like of shape (n_validation_samples,), or tuple, default=None
            The same of the validation rows, which are judged by the sum.
        propensity : array-like of shape (n_samples,), default=None
            Where grades are clicks: the probability, in (0, 1], that each row was looked at, as the
            models in `sklearn_ltr.clicks` estimate it. A click counts 1 / propensity, relative to
            the largest; `propensity_clip` bounds it. Those of other rows do not matter. Not with
            `preferences`, which have weights of their own.
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
            If an argument is invalid, or there is neither a pair nor a label to learn from.
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val, propensity_val, init_score_val),
            preferences=preferences,
            preference_weight=preference_weight,
            preference_margin=preference_margin,
            init_score=init_score,
            propensity=propensity,
        )

    def _check_params(self):
        super()._check_params()
        check_scalar(self.pair_weight, "pair_weight", Real, min_val=0, max_val=1)
        check_margin(self.margin)
        check_positive(self.tie_weight, "tie_weight", zero=True)
        check_choice(self.target, "target", TARGETS)

    def _learnable(self, data):
        """Queries with a pair or a label that counts."""
        learnable = np.zeros(data.n_queries, dtype=bool)
        if self.pair_weight > 0:
            learnable |= super()._learnable(data)
        if self.pair_weight < 1:
            labelled = ~np.isnan(data.y)
            learnable |= np.logical_or.reduceat(labelled, data.offsets[:-1])
        return learnable

    def _rounds(self, train):
        """Algorithm 2 of the paper, which is Algorithm 1 for the risk of its section 3."""
        return quadratic_rounds(self, train, RankingRisk(self, train.data))


class RankingRisk(BoundLoss):
    """R(h) of section 3 of the paper, and the training set of Algorithm 2.

    Parameters
    ----------
    ranker : QBRank
    data : RankingData
    """

    def _check_takes_propensity(self, ranker):
        if ranker.pair_weight < 1:
            raise ValueError(
                "`propensity` weighs pairs by the row that is clicked, and labels of single rows, "
                "which count where `pair_weight` is below 1, are in no pair: set pair_weight=1."
            )

    def _prepare(self, ranker):
        self._pairs = hinge_sums(self.data, ranker.margin)
        self._tie_weight = ranker.tie_weight
        self._ties = tied_sums(self.data, self._tie_weight)
        # Labels alone have weight 1, as in `RegressionRanker`.
        self._w = ranker.pair_weight if self._pairs.n_pairs or self._ties else 0.0
        self._l = self.data.y
        self._labelled = ~np.isnan(self._l) & (self._w < 1)
        self._target = ranker.target
        self._n_queries = self.data.count(self.data.n_queries)

    def start(self):
        """The mean label."""
        z, weight = self._labelled, self.data.row_weight
        weight = None if weight is None else weight[z]
        return float(self.data.mean(self._l[z], weight)) if self.data.any(z) else 0.0

    @property
    def loss(self):
        return self._risk

    def update(self, h, round=0):
        w, z, total = self._w, self._labelled, self.data.sum
        self._residual = np.where(z, self._l - h, 0.0)
        risk = (1 - w) / 2 * total(self.weight_of_row * self._residual**2)
        self._pair_gradient = np.zeros_like(h)
        for weight, sums in self._pair_terms():
            at = sums(h)
            risk += w * weight * total(self.weight * at.value)
            self._pair_gradient += weight * at.gradient
        self._risk = risk / self._n_queries
        self.gradient = self.weight_of_row * (w * self._pair_gradient - (1 - w) * self._residual)

    def training_set(self):
        w, v, z = self._w, self.weight_of_row, self._labelled
        if w == 0:
            return self._residual, self.data.row_weight, (None if z.all() else z)
        in_pairs = self._pairs.degree > 0
        if self._target == "paper":  # 1) of Algorithm 2, gradients averaged over a row's pairs
            n_pairs = self._pairs.degree
            if self._ties:
                n_pairs = n_pairs + self._tie_weight * np.maximum(self._ties.degree - 1, 0)
                in_pairs = n_pairs > 0
            average = ratio(-self._pair_gradient, n_pairs)
            weights = w * in_pairs + (1 - w) * z
            targets = ratio(w * in_pairs * average + (1 - w) * self._residual, weights)
            return targets, v * weights, None
        # A pair's Hessian is at most diag(2, 2), also if it is satisfied now and will not be then.
        W = w * 2 * self._pairs.degree + (1 - w) * z
        if self._ties:
            W += w * self._tie_weight * self._ties.degree
        W *= v
        return ratio(-self.gradient, W), W, None

    def step(self, h, g):
        """2) of Algorithm 2: the minimiser of R(h + s g), whose slope is piecewise linear in s.

        Newton's method between bounds, which is exact once it is in the right piece.
        """
        if not self.data.any(g):
            return 0.0
        s, low, high = 1.0, -FURTHEST_STEP, FURTHEST_STEP
        while True:
            slope, bend = self._along(h + s * g, g)
            if slope == 0 or bend <= 0:
                return s
            following = s - slope / bend
            if abs(following - s) <= max(SAME_STEP * abs(s), LEAST_STEP):
                return s
            low, high = (s, high) if slope < 0 else (low, s)
            s = following if low < following < high else 0.5 * (low + high)
            if high - low <= LEAST_STEP:
                return s

    def _along(self, h, g):
        """First and second derivative of R at h in the direction g."""
        w, v, z, total = self._w, self.weight_of_row, self._labelled, self.data.sum
        gradient = np.where(z, (1 - w) * (h - self._l), 0.0)
        product = (1 - w) * z * g
        for weight, sums in self._pair_terms():
            at = sums(h)
            gradient += w * weight * at.gradient
            product += w * weight * at.product(g)
        return total(v * gradient * g), total(v * product * g)

    def _pair_terms(self):
        """Weights, relative to w, and sums of the pairs that take part."""
        if self._w > 0:
            yield 1.0, self._pairs
            if self._ties:
                yield self._tie_weight, self._ties
