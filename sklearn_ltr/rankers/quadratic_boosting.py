# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""The general boosting method for any loss with a gradient and a curvature bound."""

from functools import partial

from sklearn_ltr.boosting.fit_signatures import FitMarginsMixin
from sklearn_ltr.boosting.quadratic import constant_step, quadratic_rounds
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.losses import LogisticPairs
from sklearn_ltr.losses.base import bind, check_loss, learnable
from sklearn_ltr.validation import check_choice

STEPS = ("search", "constant")


class QuadraticBoosting(FitMarginsMixin, TreeBoosting):
    r"""Boosting of any loss of a query's scores, by quadratic upper bounds.

    Minimises

    .. math:: R(h) = \frac{1}{n} \sum_q v_q\, \phi(h_{q1}, \ldots, h_{qm}; y_q)

    for a loss :math:`\phi` that you give: its value, its gradient, and a diagonal upper bound
    :math:`W` of its Hessian. In each round a regressor fits the targets :math:`-\nabla R / W` with
    the weights :math:`W`, and a line search finds how far to go along it (section 2 of [1]_). The
    loss may look at a single row, at pairs or at the whole list.

    Read more in the :ref:`User Guide <quadratic_boosting>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds. Each adds one weak ranker.
    learning_rate : float, default=0.05
        Shrinkage, the paper's :math:`\eta`: each weak ranker is taken times this factor. With
        ``step="constant"``, how long each step is.
    loss : object or None, default=None
        Any object with three methods on flat arrays, in which the rows of query q are
        ``offsets[q]:offsets[q + 1]``:

        - ``value(y, scores, offsets)`` -> (n_queries,), the loss of each query;
        - ``gradient(y, scores, offsets)`` -> (n_samples,), its derivatives by the scores;
        - ``curvature(y, scores, offsets)`` -> (n_samples,), the diagonal of W, positive where the
          gradient is not 0.

        `sklearn_ltr.losses` has some ready-made; None is `sklearn_ltr.losses.LogisticPairs`. If it
        is a `sklearn.base.BaseEstimator`, its parameters can be searched as ``loss__...``.
    step : {"search", "constant"}, default="search"
        How far to go along the chosen weak ranker, before `learning_rate`.

        - "search": to the least risk, by a line search;
        - "constant": by a step of length 1 in the norm
          :math:`\|g\|_W = \sqrt{\sum_i W_i\, g_i^2 / n}`, with n queries, unless `learning_rate`
          times that would raise the risk. It is the step of Theorem 1 of [1]_, whose :math:`s^2` is
          `learning_rate`.
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
        Chooses the held-out queries, and what `max_features`, `subsample`, the estimator and the
        loss draw.
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
        The risk R after each round, with query weights relative to their mean. It never rises,
        unless the loss draws at random: each round has a risk of its own then.
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
        Those with nothing to learn from: queries where the loss has no gradient and no curvature,
        whatever the order of the rows; of pairs and lists, those of one grade or one row.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    QBRank : The method for preference pairs and labelled rows.
    LambdaMART : The method for ranking metrics.
    LossRanker : Any loss, for linear functions and nets.

    Notes
    -----
    The initial guess is the constant of least risk along the first step of the method; it is 0 for
    losses that see differences of scores only.

    The risk never rises: a step that would raise it is made shorter, or not taken if steps are
    constant. The next tree would then be the same, so that the fit ends, unless trees are drawn. Of
    a loss that draws at random this is the risk by the draw of the round.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit, as long as that is true of the loss and of the estimator.

    With `propensity` the loss weighs clicks, as it says; one that has no way to refuses, and so
    does one's own.

    References
    ----------
    .. [1] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.

    Examples
    --------
    >>> from sklearn_ltr import QuadraticBoosting
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.losses import ListCrossEntropy
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = QuadraticBoosting(n_estimators=50, loss=ListCrossEntropy())
    >>> ranker = ranker.fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    1.0
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        loss=None,
        step="search",
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
        self.loss = loss
        self.step = step
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
        check_loss(self._loss(), {"value", "gradient", "curvature"}, "QuadraticBoosting")
        check_choice(self.step, "step", STEPS)

    def _loss(self):
        return LogisticPairs() if self.loss is None else self.loss

    def _reason_not_to_spread(self):
        if not hasattr(self._loss(), "bind"):
            return (
                "a `loss` of one's own may look at the rows of several queries at once. Give one "
                "from sklearn_ltr.losses"
            )
        return super()._reason_not_to_spread()

    def _rounds(self, train):
        """Algorithm 1 of the paper."""
        R = bind(self._loss(), train.data)
        step = partial(constant_step, R, self.learning_rate) if self.step == "constant" else None
        return quadratic_rounds(self, train, R, step)

    def _learnable(self, data):
        """Queries where the loss has a gradient or a curvature."""
        return learnable(self._loss(), data)
