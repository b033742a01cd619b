# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""McRank: ranking by classification into grades."""

import numpy as np
from scipy.special import expit as sigmoid

from sklearn_ltr.binning import Binner
from sklearn_ltr.boosting.driver import with_callbacks
from sklearn_ltr.boosting.fit_signatures import FitRowsMixin
from sklearn_ltr.boosting.trees import TreeBoosting
from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses.binomial import CumulativeBinomial
from sklearn_ltr.losses.multinomial import Multinomial, softmax
from sklearn_ltr.validation import check_choice, warn_caller
from sklearn_ltr.weak.tree import Tree

METHODS = ("classification", "ordinal")
INITS = ("zero", "prior")
CRITERIA = ("squared_error", "newton")
PROBABILITIES = ("round", "tree")

MAX_LEVELS = 32

# Values of leaves beyond this are cut: of rows that were all taken for certain, and wrongly.
MAX_VALUE = 100.0


class McRank(FitRowsMixin, TreeBoosting):
    r"""Ranking by classification into grades, with gradient boosted trees.

    Learns the probabilities :math:`p_k = \Pr(y = k)` of the :math:`K` grades of a row, and ranks
    by the expected relevance (equation 5 of [1]_)

    .. math:: S = \sum_{k=0}^{K-1} p_k\, T(k) .

    Read more in the :ref:`User Guide <mcrank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`M`. Each adds a tree for each class, or for each of the
        :math:`K - 1` binary problems.
    learning_rate : float, default=0.05
        Shrinkage, the paper's :math:`\nu`: each tree is taken times this factor.
    method : {"classification", "ordinal"}, default="classification"
        - "classification": one model of all classes, with the multinomial loss (Algorithm 1);
        - "ordinal": a model of :math:`\Pr(y \ge k)` for each :math:`k \ge 1`, with the binomial
          loss (section 4). It uses the order of the grades, and takes :math:`K - 1` trees a round.
    grade_values : callable, array-like of shape (n_levels,) or None, default=None
        :math:`T`: a function of the array of grades, or a value for each, increasing. None: the
        grades themselves. An affine map of :math:`T` ranks the same.
    init : {"zero", "prior"}, default="zero"
        What :math:`F` starts from: 0, as in the paper, or what the shares of the classes are, which
        the first rounds need not learn then.
    criterion : {"squared_error", "newton"}, default="squared_error"
        What the splits of a tree are chosen by. "squared_error": it fits the gradient, as in the
        paper. "newton": it fits the gradient over the second derivative, weighted by the latter,
        as the values of leaves do.
    probabilities : {"round", "tree"}, default="round"
        When :math:`p` is computed anew. "round": once a round, so that its trees all fit the same
        :math:`p`, as in the algorithm of Friedman's that the paper's is taken from. "tree": before
        each tree, as line 4 of Algorithm 1 has it, so that a class sees what the trees of the
        classes before it did. With "ordinal", each binary problem then takes the two trees a round
        of its two classes, which are one tree otherwise.
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
        has those of some features by name, ``{"price": -1}``. For ``method="ordinal"`` only, as the
        outputs of classes together are not scores.
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
        Weighted mean after each round of the multinomial loss, equation 7, or of the sum of the
        binomial losses.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    levels_ : ndarray of shape (n_levels,)
        The classes: ``grades_``, or, where there are more than 32, the mean grades of the rows
        between 32 quantiles.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the gains of the splits.
    n_splits_ : ndarray of shape (`n_features_in_`,)
        Number of splits on each feature.
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

    Warns
    -----
    UserWarning
        If there are more than 32 distinct grades.

    See Also
    --------
    RegressionRanker : Fits the gains of the grades; one tree a round.

    Notes
    -----
    Leaf values (line 6) are one Newton step, and cut at 100. They explode only where rows that were
    all taken for certain are all wrong.

    Missing values (NaN) go to the side of a split where they lower the squared error more; at a
    node without any, to the side of most rows. Sparse matrices are binned as they are, and never
    made dense.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    References
    ----------
    .. [1] Li, Burges, Wu. "McRank: Learning to Rank Using Multiple Classification and Gradient
       Boosting". NIPS 2007.

    Examples
    --------
    >>> from sklearn_ltr import McRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = McRank(n_estimators=20).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.9
    >>> ranker.predict_grade_proba(X[:1]).round(1)
    array([[0.4, 0.3, 0.1, 0.1, 0.1]])
    """

    _no_propensity = (
        "it learns the class of each row by itself, and an inverse propensity belongs to no "
        "class; take LambdaMART, or RegressionRanker with the grades of ClickLog.to_training"
    )

    def __init__(
        self,
        n_estimators=300,
        learning_rate=0.05,
        *,
        method="classification",
        grade_values=None,
        init="zero",
        criterion="squared_error",
        probabilities="round",
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
        self.method = method
        self.grade_values = grade_values
        self.init = init
        self.criterion = criterion
        self.probabilities = probabilities
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

    @explain_keywords
    @with_callbacks
    def fit(
        self,
        X,
        y=None,
        groups=None,
        query_weight=None,
        sample_weight=None,
        X_val=None,
        y_val=None,
        groups_val=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns. The loss takes each row by itself; queries are what is held out and sampled,
            and what scores are formed over.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, not negative: a row of weight w is as good as w rows, in the loss,
            in `min_samples_leaf` and in the quantiles that bins are formed by. With `query_weight`,
            the loss has their product.
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
            If an argument is invalid.
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val, propensity_val),
            sample_weight=sample_weight,
        )

    @property
    def contributions(self):
        """There are none: an AttributeError says why."""
        raise AttributeError(
            "McRank has no contributions of features, as its score is no sum of trees but the "
            "expected relevance by several such sums. RegressionRanker is the closest ranker that "
            "has them; sklearn_ltr.model_selection.permutation_importance works for every ranker."
        )

    expected_score_ = contributions

    def predict_grade_proba(self, X):
        """Probabilities of the grades.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_levels), dtype float64
            In the order of ``levels_``; rows sum to 1. With ``method="ordinal"`` probabilities are
            differences of cumulative ones (equation 8), which are fitted separately: negative
            differences are set to 0, and the rows divided by their sums.
        """
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        F = np.atleast_2d(self._predictor.predict(X, self._n_threads()))
        if self.method == "classification" or len(self.levels_) == 1:
            return softmax(F).T
        at_least = sigmoid(F)  # P(y >= k) for k = 1 ... K - 1
        at_least = np.vstack([np.ones(X.shape[0]), at_least, np.zeros(X.shape[0])])
        p = np.maximum(at_least[:-1] - at_least[1:], 0)
        return (p / sum(p)).T  # added in order, as in `softmax`

    def _rounds(self, train):
        """Algorithm 1 of the paper, by its line numbers; for "ordinal", its section 4."""
        data, nu, F = train.data, self.learning_rate, np.atleast_2d(train.scores)  # 1
        if len(self.levels_) == 1:
            return
        J, share = self._bound_loss(data)  # 0
        trees, w = self._grower(train), data.row_weight
        terms = []
        if train.round == 0 and self.init == "prior":
            terms = [(1.0, Tree.constant(F_k)) for F_k in J.start()]
            F += J.start()[:, None]
        J.update(F)  # 4, once for all classes
        in_turn = self.probabilities == "tree"
        n_trees = len(F)
        if in_turn and self.method == "ordinal":  # the two mirrored functions move one by one
            n_trees, share = 2 * n_trees, share / 2
        for m in train.rounds():  # 2
            starts, rows = bool(terms), self._sample(data, m)
            for j in range(n_trees):  # 3
                k = j % len(F)
                if in_turn and j:
                    J.update(F)  # 4, in the paper's place
                r, h = -J.gradient[k], J.curvature[k]
                seed = self._tree_seed(data, m, j)
                target = (r, w) if self.criterion == "squared_error" else newton_target(r, h, w)
                R = trees.grow(*target, data.sample_weight, rows, seed)  # 5
                numerator = share * R.sums(r, w)
                denominator = R.sums(h, w)
                R.set_values(numerator, np.maximum(denominator, abs(numerator) / MAX_VALUE))  # 6
                R.add_to(F[k], nu)  # 7
                terms.append((nu, R.tree))
            whole = all(tree.n_leaves == 1 for _, tree in terms)
            before = J.loss if whole else None
            J.update(F)
            train.loss = J.loss
            # Trees of one leaf still move the probabilities towards the shares of the grades.
            if whole and train.loss >= before and not (starts or self._draws()):
                return
            yield terms
            terms = []

    def _bound_loss(self, data):
        """The loss of the classes, or of being of a class or above; share of a Newton step."""
        by_grade = np.array_equal(self._cuts, self.levels_[:-1])
        if by_grade and not (known := np.isin(data.y, self.levels_)).all():
            raise ValueError(
                f"`y` has the grade {data.y[~known][0]:g}, which the fit that warm_start=True goes "
                "on with did not have."
            )
        K = len(self.levels_)
        if self.method == "classification":
            return Multinomial(K, self._level_of).bind(data), (K - 1) / K
        # Two mirrored functions take half a step each: their difference, the log odds, takes one.
        return CumulativeBinomial(K, self._level_of).bind(data), 1.0

    def _n_outputs(self):
        K = len(self.levels_)
        return K if self.method == "classification" else max(K - 1, 1)

    def _to_scores(self, F):
        """Expected relevance, equation 5."""
        F, T = np.atleast_2d(F), self._values
        if len(T) == 1:
            return np.full(F.shape[1], T[0])
        if self.method == "classification":
            return weighted_sum(T, softmax(F))
        # sum_k p_k T(k), where p_k = P(y >= k) - P(y >= k + 1)
        return T[0] + weighted_sum(np.diff(T), sigmoid(F))

    def _level_of(self, grades):
        """Number of each grade's level in ``levels_``."""
        return np.searchsorted(self._cuts, grades, side="left")

    def _restart(self, data):
        self._set_levels(data)
        self._values = self._check_grade_values()
        super()._restart(data)

    def _set_levels(self, data):
        """The classes: the grades, or quantiles where there are too many."""
        if len(self.grades_) <= MAX_LEVELS:
            self.levels_ = self.grades_
            self._cuts = self.levels_[:-1]
            return
        warn_caller(
            f"`y` has {len(self.grades_)} distinct grades; they are put into {MAX_LEVELS} levels "
            "at quantiles. A class for each grade would tell little apart: RegressionRanker takes "
            "grades as they are.",
            UserWarning,
        )
        weight = np.ones_like(data.y) if data.sample_weight is None else data.sample_weight
        rows = np.arange(data.n_samples)
        binner = Binner(MAX_LEVELS).fit(data.y[:, None], rows, weight=weight, running=data.running)
        self._cuts = binner.thresholds_[0]
        level = self._level_of(data.y)
        of_level = level == np.arange(len(self._cuts) + 1)[:, None]
        sums = (data.dot(of_level, w) for w in (weight * data.y, weight))
        self.levels_ = np.divide(*sums)

    def _check_grade_values(self):
        """T(k) of each level."""
        values = self.grade_values
        if values is None:
            return self.levels_
        values = np.asarray(values(self.levels_) if callable(values) else values, dtype=np.float64)
        if values.shape != self.levels_.shape:
            raise ValueError(
                f"`grade_values` must have one entry for each of the {len(self.levels_)} grades in "
                f"`y`; got shape {values.shape}. A function of the grades serves whatever grades "
                "there are."
            )
        if not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
            raise ValueError(f"`grade_values` must be finite and increase; got {values.tolist()}.")
        return values

    def _check_params(self):
        super()._check_params()
        check_choice(self.method, "method", METHODS)
        check_choice(self.init, "init", INITS)
        check_choice(self.criterion, "criterion", CRITERIA)
        check_choice(self.probabilities, "probabilities", PROBABILITIES)
        if self.monotonic_cst is not None and self.method == "classification":
            raise ValueError(
                '`monotonic_cst` needs method="ordinal": the expected relevance of classes that '
                "are told apart together is not monotonic where the outputs are."
            )


def weighted_sum(weights, rows):
    """The sum of weights * rows, in order: a matrix product may depend on the threads."""
    total = weights[0] * rows[0]
    for weight, row in zip(weights[1:], rows[1:], strict=True):
        total += weight * row
    return total


def newton_target(r, h, w):
    """Targets and weights of a least-squares fit whose leaf values are Newton's.

    Second derivatives are at least what keeps a target within `MAX_VALUE`.
    """
    h = np.maximum(h, np.abs(r) / MAX_VALUE)
    return np.divide(r, h, out=np.zeros_like(r), where=h > 0), h if w is None else h * w
