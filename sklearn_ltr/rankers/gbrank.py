# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""GBRank: regression on the pairs that are violated."""

from sklearn_ltr.boosting.fit_signatures import FitMarginsMixin
from sklearn_ltr.boosting.quadratic import quadratic_rounds
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.losses.base import BoundLoss, ratio
from sklearn_ltr.losses.hinge_sums import hinge_sums, tied_sums
from sklearn_ltr.validation import check_margin, check_positive


class GBRank(FitMarginsMixin, TreeBoosting):
    r"""Gradient boosting of preference pairs by regression on those that are violated.

    Lowers

    .. math:: R(h) = \frac{1}{2} \sum_{x \succ y} \max(0, h(y) - h(x) + \tau)^2

    by values in the place of gradients: in round k, a regression tree :math:`g_k` fits
    :math:`h_{k-1}(y) + \tau` at x and :math:`h_{k-1}(x) - \tau` at y for each pair that
    :math:`h_{k-1}` orders wrongly or by less than :math:`\tau`, and

    .. math:: h_k = \frac{k\, h_{k-1} + \eta\, g_k}{k + 1}

    [1]_. Pairs of grades are never listed: a round takes :math:`O(n \log n)` for them.

    Read more in the :ref:`User Guide <gbrank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds. Each adds one weak ranker.
    learning_rate : float, default=1.0
        Shrinkage, the paper's :math:`\eta`: each weak ranker is taken times this factor. Scores are
        averages, so that this sets their scale beside the margin: much below 1, no pair ever gets
        ahead by the margin.
    margin : "grade" or float, default=1.0
        The paper's :math:`\tau`, by which the preferred row is to be ahead: a positive number for
        all pairs, or "grade", the difference of the grades; of given preferences that is
        `preference_margin`, or 1.
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
        mean. It may rise.
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
        Those with nothing to learn from: queries without a preference, such as those of one grade
        or one row.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    QBRank : Fits gradients, adds up, and takes labelled rows besides.

    Notes
    -----
    Only rows of violated pairs are fitted, and with `tie_weight` those of ties, the target of each
    being the score of the other. A row of several has the mean of their targets, with the weight of
    all: by least squares that is the same as one example for each.

    Missing values (NaN) go to the side of a split where they lower the squared error more.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight. It does not go with `tie_weight`.

    References
    ----------
    .. [1] Zheng, Chen, Sun, Zha. "A Regression Framework for Learning Ranking Functions Using
       Relative Relevance Judgments". SIGIR 2007.

    Examples
    --------
    >>> from sklearn_ltr import GBRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = GBRank(n_estimators=100).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.8
    """

    _averaged = True

    def __init__(
        self,
        n_estimators=300,
        learning_rate=1.0,
        *,
        margin=1.0,
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
        self.margin = margin
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

    def _check_params(self):
        super()._check_params()
        check_margin(self.margin)
        check_positive(self.tie_weight, "tie_weight", zero=True)

    def _rounds(self, train):
        """The algorithm of the paper; `train.scores` is the sum of eta g_k, k + 1 times h_k."""
        return quadratic_rounds(self, train, ViolatedPairs(self, train.data))


class ViolatedPairs(BoundLoss):
    """The loss of the pairs, and of ties, at h_k, and the training set of each round of GBRank.

    Parameters
    ----------
    ranker : GBRank
    data : RankingData
    """

    def _check_takes_propensity(self, ranker):
        pass  # its pairs have weights

    def _prepare(self, ranker):
        self._pairs = hinge_sums(self.data, ranker.margin)
        self._tie_weight = ranker.tie_weight
        self._ties = tied_sums(self.data, self._tie_weight)

    def _evaluate(self, total, k):
        self._h = total / (k + 1)
        start = self.data.init_score
        scores = self._h if start is None else start + self._h
        value, gradient, self._count, _ = self._pairs(scores)
        if self._ties:
            tied = self._ties(scores)
            value = value + self._tie_weight * tied.value
            gradient = gradient + self._tie_weight * tied.gradient
            self._count = self._count + self._tie_weight * tied.count
        return value, gradient

    def _curvature(self):
        return self._count

    def start(self):
        return 0.0

    def training_set(self):
        # A pair's target is h plus what the pair lacks, minus it for the loser; their mean, too.
        targets = self._h + ratio(-self.gradient, self.curvature)
        return targets, self.curvature, self.curvature > 0

    def step(self, h, g):
        return 1.0
