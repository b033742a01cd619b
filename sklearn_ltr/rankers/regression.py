# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Boosting of regression trees on the gains of grades, by least squares or absolute deviations."""

from collections.abc import Mapping

import numpy as np

from sklearn_ltr.boosting.fit_signatures import FitRowsMixin
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.labels import as_gain, check_gain, gains, why_not_spread
from sklearn_ltr.validation import LARGEST, check_choice
from sklearn_ltr.weak.tree import Tree


class SquaredError:
    """Trees are fitted to residuals, and leaf values are their means."""

    @staticmethod
    def center(data, y, w):
        return data.mean(y, w)

    @staticmethod
    def target(r):
        return r

    @staticmethod
    def set_values(R, r, w):
        R.set_values(R.sums(r, w), R.sums(None, w))

    @staticmethod
    def changes(tree):
        return tree.n_leaves > 1

    @staticmethod
    def value(data, r, w):
        return data.mean(r**2, w)


class AbsoluteError:
    """Trees are fitted to the signs of residuals, and leaf values are medians of residuals.

    A median takes the residuals of all rows of a leaf, as no sums over parts of them make it up.
    """

    @staticmethod
    def center(data, y, w):
        return data.median(y, w)

    @staticmethod
    def target(r):
        return np.sign(r)

    @staticmethod
    def set_values(R, r, w):
        R.set_medians(r, w)

    @staticmethod
    def changes(tree):
        # A leaf may have a median where nothing splits, and leaves may have none, round for round.
        return tree.value.any()

    @staticmethod
    def value(data, r, w):
        return data.mean(np.abs(r), w)


LOSSES = {"squared_error": SquaredError, "absolute_error": AbsoluteError}


class RegressionRanker(FitRowsMixin, TreeBoosting):
    r"""Gradient boosted regression trees, fitted to the gains of grades.

    Minimises

    .. math:: \sum_i w_i (\tilde y_i - S_i)^2, \qquad \tilde y_i = 2^{y_i} - 1,

    with one tree a round: the regression ranker that McRank is compared with (Algorithm 2 of [1]_,
    after [2]_), and the gradient boosted trees that QBRank is [3]_. It does not compare rows; those
    of one query are ordered by their scores, the predicted gains. With ``loss="absolute_error"`` it
    minimises :math:`\sum_i w_i |\tilde y_i - S_i|`, by least absolute deviations (LAD, Algorithm 3
    of [4]_).

    Read more in the :ref:`User Guide <regression>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`M`. Each adds one tree.
    learning_rate : float, default=0.05
        Shrinkage, the paper's :math:`\nu`: each tree is taken times this factor.
    loss : {"squared_error", "absolute_error"}, default="squared_error"
        What is minimised. "squared_error": trees are fitted to the residuals, and leaf values are
        their means. "absolute_error": trees are fitted to the signs of the residuals by least
        squares, and leaf values are the medians of the residuals.
    gain : {"exponential", "linear"}, array-like, mapping or callable, default="exponential"
        What is fitted: :math:`2^y - 1`, for grades of at least 0; :math:`y` itself; the gains of
        the grades 0, 1, 2, ...; the gain of each grade, ``{grade: gain}``; or a function of the
        distinct grades, ascending, that returns their gains.
    grow_policy : {"leafwise", "symmetric"}, default="leafwise"
        "leafwise": trees grow best-first, the leaf whose split lowers the squared error most is
        split next. "symmetric": they grow level by level, and one split serves all leaves of a
        level, except those where it would leave too few rows on a side.
    max_leaf_nodes : int, default=20
        Most leaves of a tree, the paper's :math:`J`.
    max_depth : int or None, default=None
        Most splits between the root and a leaf. Of symmetric trees, at most 16; None is as many as
        `max_leaf_nodes` leaves allow, :math:`\lfloor \log_2 \rfloor` of it.
    min_samples_leaf : int, default=20
        Fewest rows of a leaf; a row of `sample_weight` w counts as w.
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
        Most bins of a feature, 2 to 65,535, the paper's :math:`B`; a feature with more distinct
        values is cut as `binning` says. None keeps every distinct value.
    binning : {"quantile", "adaptive"}, default="quantile"
        "quantile": bins of equally many rows. "adaptive": bins of equal length, only where there
        are values, as short as `max_bins` allows (Appendix I of the McRank paper).
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
        tree lowers the loss any more.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        Weighted mean of the squared error, or of the absolute error, after each round.
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
        Those with nothing to learn from: 0, as every row is learnt from, alone in its query or not.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    McRank : Fits the probabilities of the grades in the place of their gains.

    Notes
    -----
    Leaf values are the mean residuals of the leaves' rows, :math:`\sum w r / (\sum w + \lambda)`
    with ``l2_regularization`` :math:`\lambda`.

    With ``loss="absolute_error"`` a leaf value is the weighted median of the residuals, whatever
    :math:`\lambda`: half the weight is on either side of it. Where that holds between two residuals
    it is their mean, so that rows of whole `sample_weight` are rows repeated here, too. Sums of
    weights that agree to a relative 1e-12 count as equal. If more than half the weight of each leaf
    has one gain, medians are the same in all of them and nothing is learnt, which `fit` warns of:
    this loss needs grades that are not mostly 0.

    Missing values (NaN) go to the side of a split where they lower the squared error more; at a
    node without any, to the side of most rows. Sparse matrices are binned as they are, and never
    made dense.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Li, Burges, Wu. "McRank: Learning to Rank Using Multiple Classification and Gradient
       Boosting". NIPS 2007.
    .. [2] Cossock, Zhang. "Subset Ranking Using Regression". COLT 2006.
    .. [3] Zheng, Zha, Zhang, Chapelle, Chen, Sun. "A General Boosting Method and its Application to
       Learning Ranking Functions for Web Search". NIPS 2007.
    .. [4] Friedman. "Greedy Function Approximation: A Gradient Boosting Machine". Annals of
       Statistics 29(5), 2001.

    Examples
    --------
    >>> from sklearn_ltr import RegressionRanker
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = RegressionRanker(n_estimators=100).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.9
    """

    _no_propensity = (
        "it fits the grade of each row by itself, and rows without a click have no inverse "
        "propensity; fit it to the grades of ClickLog.to_training, or to y / propensity"
    )

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        loss="squared_error",
        gain="exponential",
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
        self.gain = gain
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
        takes_negative = isinstance(self.gain, Mapping) or callable(self.gain)
        tags.target_tags.positive_only = not takes_negative and not self._is_linear()
        return tags

    def _check_params(self):
        super()._check_params()
        check_choice(self.loss, "loss", tuple(LOSSES))
        as_gain(self.gain)

    def _remedy_if_constant(self):
        remedy = super()._remedy_if_constant()
        if self.loss == "absolute_error":
            remedy += (
                ' With loss="absolute_error" the median gain may be the same in each leaf, as '
                'where most rows have one grade; loss="squared_error" tells their means apart.'
            )
        return remedy

    def _reason_not_to_spread(self):
        if self.loss == "absolute_error":
            return (
                'with loss="absolute_error" leaves have medians, which take all rows at once. Set '
                'loss="squared_error"'
            )
        return why_not_spread(self.gain) or super()._reason_not_to_spread()

    def _is_linear(self):
        return isinstance(self.gain, str) and self.gain == "linear"

    def _rounds(self, train):
        """Algorithm 2 of the McRank paper, by its line numbers."""
        data, nu, S, loss = train.data, self.learning_rate, train.scores, LOSSES[self.loss]
        w, y = data.row_weight, self._targets(data.y)  # 0
        terms = []
        if train.may_start:
            terms = [(1.0, Tree.constant(loss.center(data, y, w)))]
            S += terms[0][1].value  # 1
        trees = self._grower(train)
        r = y - S
        for m in train.rounds():  # 2
            rows, seed = self._sample(data, m), self._tree_seed(data, m)
            R = trees.grow(loss.target(r), w, data.sample_weight, rows, seed)  # 3
            loss.set_values(R, r, w)  # 4
            R.add_to(S, nu)  # 5
            if loss.changes(R.tree) or self._draws():
                terms.append((nu, R.tree))
            r = y - S
            train.loss = loss.value(data, r, w)
            if not terms:
                return
            yield terms
            terms = []

    def _targets(self, grades):
        gain = as_gain(self.gain)
        if not self._is_linear():
            check_gain(grades, gain)
        targets = gains(grades, gain)
        if (most := targets.max(initial=0)) > LARGEST:
            raise ValueError(
                f"`y` has the grade {grades.max():g}, whose gain {most:g} is too large to "
                'fit. Use gain="linear" or smaller grades.'
            )
        return targets
