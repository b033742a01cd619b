# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaMART: boosted trees that follow what swaps of rows do to a ranking metric."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.boosting.quadratic import quadratic_rounds
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.labels import why_not_spread
from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.metrics.registry import refuses_negative_grades
from sklearn_ltr.validation import check_positive


class LambdaMART(TreeBoosting):
    r"""Boosted regression trees on the gradients of LambdaRank, for a ranking metric.

    For each pair of rows of a query, i better than j, with scores s,

    .. math:: \lambda_{ij} = \frac{\sigma\, |\Delta M_{ij}|}{1 + e^{\sigma (s_i - s_j)}}

    is added to what lifts i and taken from what lifts j, where :math:`\Delta M_{ij}` is what the
    metric changes by if the two rows swap their positions in the present ranking. In each round a
    tree fits these gradients by Newton's method: leaf values are the sum of the gradients over the
    sum of their derivatives :math:`\sigma^2 \rho (1 - \rho)\, |\Delta M|`, where
    :math:`\rho = 1 / (1 + e^{\sigma (s_i - s_j)})` (section 7 of [1]_; [2]_).

    Read more in the :ref:`User Guide <lambdamart>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds. Each adds one tree.
    learning_rate : float, default=0.05
        Shrinkage: each tree is taken times this factor.
    metric : str or metric, default="ndcg@10"
        What swaps are measured by: "ndcg", "map" or "mrr", with or without cut-off, or what
        `sklearn_ltr.metrics.get_metric` returns for one of these, whose switches for gain,
        discount, relevance and denominator then count; `fit` warns of those for ties and short
        queries, which do not. A row below the cut-off is lifted by pairs with the rows above it.
    truncation_level : int, default=30
        Only pairs with a row among this many first positions of the present ranking count; a
        larger number than the longest query's means all pairs. NDCG is taken relative to the best
        of this many positions, where its cut-off is not smaller.
    sigmoid : float, default=1.0
        The paper's :math:`\sigma`, steepness of the logistic function of score differences.
    query_norm : bool, default=True
        Divide :math:`|\Delta M_{ij}|` by :math:`.01 + |s_i - s_j|` where the query's scores are not
        all equal, and then scale the query's gradients by :math:`\log_2(1 + S) / S`, where S sums
        the :math:`\lambda` of all its pairs, on both sides. Not in the papers; LightGBM's
        ``lambdarank_norm``. It keeps queries of many pairs from outweighing the others.
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
        Chooses the held-out queries, and what `max_features` and `subsample` draw.
    verbose : int, default=0
        Print a line every so many rounds, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    model_ : AdditiveModel
        The trees with their coefficients: ``model_.terms``, or round by round ``model_.rounds``.
    n_iter_ : int
        Rounds run; fewer than `n_estimators` if early stopping or a callback stopped them, or if no
        split is left that follows the gradients.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        1 - the weighted mean of `metric` over the training queries where it is defined, ties
        averaged, after each round. It may rise.
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
        Those with nothing to learn from: queries without two rows of different gains: of one row,
        of one grade, or, for "map" and "mrr", without both relevant and irrelevant rows.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    QuadraticBoosting : Boosting of losses that have a gradient in the usual sense.
    McRank : Fits the probabilities of the grades.

    Notes
    -----
    Of rows with tied scores :math:`|\Delta M_{ij}|` is the exact expectation over all their orders.
    So the order of rows does not matter, not even in the first round, where all scores are equal;
    file order decides there in other tools, and data sorted by grade leak it.

    Queries of which no order can be better than another, such as those without a relevant row,
    have gradients of 0. Their rows do not change the leaf values, but count in `min_samples_leaf`
    and in the bins.

    Missing values (NaN) go to the side of a split where they help more; at a node without any, to
    the side of most rows. Sparse matrices are binned as they are, and never made dense.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    With `propensity` the gain of a row is :math:`(2^y - 1) / p`, relative to the largest 1 / p,
    and the ideal that it is over is that of :math:`2^y - 1`: were it of the same gains, a
    single click would cancel its own p. It needs NDCG as `metric`, and `query_norm=False`, as
    the sum that this divides by has p in it.

    References
    ----------
    .. [1] Burges. "From RankNet to LambdaRank to LambdaMART: An Overview". Microsoft Research
       Technical Report MSR-TR-2010-82, 2010.
    .. [2] Wu, Burges, Svore, Gao. "Adapting Boosting for Information Retrieval Measures".
       Information Retrieval 13(3), 2010.

    Examples
    --------
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = LambdaMART(n_estimators=50).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    1.0
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        metric="ndcg@10",
        truncation_level=30,
        sigmoid=1.0,
        query_norm=True,
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
        self.metric = metric
        self.truncation_level = truncation_level
        self.sigmoid = sigmoid
        self.query_norm = query_norm
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = refuses_negative_grades(self.metric)
        return tags

    def _check_params(self):
        super()._check_params()
        self._loss().check_metric()
        check_scalar(self.truncation_level, "truncation_level", Integral, min_val=1)
        check_positive(self.sigmoid, "sigmoid")
        check_scalar(self.query_norm, "query_norm", (bool, np.bool_))

    def _loss(self):
        return Lambdas(self.metric, self.truncation_level, self.sigmoid, self.query_norm)

    def _reason_not_to_spread(self):
        gain = getattr(self._loss().check_metric(), "gain", None)
        return why_not_spread(gain) or super()._reason_not_to_spread()

    def _learnable(self, data):
        """Queries that have rows of different gains."""
        return self._loss().learnable(data)

    def _rounds(self, train):
        """Each tree takes a Newton step along the gradients at the scores so far."""
        return quadratic_rounds(self, train, self._loss().bind(train.data))
