# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""YetiRank: boosted trees on the pairs that come next to each other in random orders."""

from numbers import Integral

from sklearn.utils import check_scalar

from sklearn_ltr.boosting.quadratic import quadratic_rounds
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.losses.yeti import YetiPairs
from sklearn_ltr.validation import check_positive


class YetiRank(TreeBoosting):
    r"""Boosted regression trees on pairs of neighbours in random orders of each query.

    In each round P orders of each query are drawn, by descending

    .. math:: z_i = s_i + \ln \frac{u_i}{1 - u_i}, \qquad u_i \sim U(0, 1),

    where s are the scores so far. Rows of different grades at the positions k and k + 1, from 0,
    are a pair of weight :math:`w = \beta^k |y_i - y_j| / P`: pairs count that are likely to be
    neighbours, and the more the higher up. A tree then takes a Newton step along the gradients of
    the logistic loss of these pairs, without the noise: with i the better row of a pair,

    .. math:: \rho = \frac{1}{1 + e^{s_i - s_j}}

    is what each pair, times w, lifts i and lowers j by, and :math:`w \rho (1 - \rho)` is what it
    adds to the second derivatives of both ([1]_, with the weights of CatBoost).

    Read more in the :ref:`User Guide <yetirank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds. Each adds one tree.
    learning_rate : float, default=0.05
        Shrinkage: each tree is taken times this factor.
    n_permutations : int, default=10
        Orders of each query that are drawn in a round.
    decay : float in (0, 1], default=0.85
        :math:`\beta`, weight of the pair of the next two positions over that of a pair.
    all_pairs_weight : float, default=0.0
        Adds the same loss of all pairs of rows of a query with different grades, whatever their
        positions, of weight :math:`|y_i - y_j|`, times what makes their total weight so many times
        that of the pairs drawn in the round. It takes time in proportion to the number of pairs.
    grow_policy : {"leafwise", "symmetric"}, default="symmetric"
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
        Share of the queries, drawn anew in each round, whose rows trees are fitted to. Whole
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
        Chooses the held-out queries, and draws the orders and what `max_features` and
        `subsample` ask for.
    verbose : int, default=0
        Print a line every so many rounds, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    model_ : AdditiveModel
        The trees with their coefficients: ``model_.terms``, or round by round ``model_.rounds``.
    n_iter_ : int
        Rounds run; fewer than `n_estimators` if early stopping or a callback stopped them.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        The weighted mean over the training queries of the logistic loss of the pairs drawn, and of
        all pairs if these count, after each round. The pairs are those that the next round draws
        with these scores: other ones after each round, so that it may rise.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the gains of the splits.
    n_splits_ : ndarray of shape (`n_features_in_`,)
        Number of splits on each feature.
    expected_score_ : float
        What `contributions` are added to: the mean of the trees over the training rows.
    categories_ : list of ndarrays or None, of length `n_features_in_`
        The values of each categorical feature, by code; None of other features.
    n_queries_ : int
        Queries of positive weight, held-out ones included.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries of one grade or one row.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    LambdaMART : Weighs the pairs by what swaps of their rows do to a metric.
    RankNet : Logistic loss of all pairs alike.

    Notes
    -----
    What is drawn for a row is drawn by the numbers of the round and of the permutation, and by the
    places of the query and of the row in an order that depends on their content. So the model does
    not depend on the order of rows, on the names of queries, or on `n_jobs`, to the last bit, and
    a warm start goes on as an uninterrupted fit does. Weights of queries are part of the content:
    where all are multiplied by a number, other orders are drawn.

    The logistic loss of a pair far in the wrong order has a gradient, but hardly a second
    derivative; the latter is taken as a hundredth of the gradient at least.

    Rows of queries of one grade do not change the leaf values, but count in `min_samples_leaf` and
    in the bins.

    Missing values (NaN) go to the side of a split where they help more; at a node without any, to
    the side of most rows. Sparse matrices are binned as they are, and never made dense.

    With `propensity` the weight of a pair is :math:`|y_i - y_j| / p_i`, i the better row,
    relative to the largest 1 / p.

    References
    ----------
    .. [1] Gulin, Kuralenok, Pavlov. "Winning the Transfer Learning Track of Yahoo!'s Learning To
       Rank Challenge with YetiRank". JMLR Workshop and Conference Proceedings 14, 2011.

    Examples
    --------
    >>> from sklearn_ltr import YetiRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = YetiRank(n_estimators=50, random_state=0).fit(X, y, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.8
    True
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        n_permutations=10,
        decay=0.85,
        all_pairs_weight=0.0,
        grow_policy="symmetric",
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
        self.n_permutations = n_permutations
        self.decay = decay
        self.all_pairs_weight = all_pairs_weight
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
        check_scalar(self.n_permutations, "n_permutations", Integral, min_val=1)
        if self.decay != 1:
            check_positive(self.decay, "decay", maximum=1)
        check_positive(self.all_pairs_weight, "all_pairs_weight", zero=True)

    def _loss(self):
        return YetiPairs(self.n_permutations, self.decay, self.all_pairs_weight)

    def _rounds(self, train):
        """In each round, draw pairs at the scores so far, and take a tree's Newton step along them.

        Steps are 1, without a line search: the loss is that of one draw only.
        """
        return quadratic_rounds(self, train, self._loss().bind(train.data))
