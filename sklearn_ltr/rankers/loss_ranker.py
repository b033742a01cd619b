# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Linear functions and nets for any loss."""

from sklearn_ltr.keywords import explain_keywords
from sklearn_ltr.losses import LogisticPairs
from sklearn_ltr.losses.base import learnable
from sklearn_ltr.scorefunction import ScoreFunctionRanker


class LossRanker(ScoreFunctionRanker):
    r"""Linear function or net that minimises any loss of a query's scores.

    Minimises

    .. math:: R(s) = \frac{1}{Q} \sum_q v_q\, \phi(s_{q1}, \ldots, s_{qm}; y_q)

    for a loss :math:`\phi` that you give, over linear functions or nets: what `QuadraticBoosting`
    does for trees.

    Read more in the :ref:`User Guide <loss_ranker>`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=()
        Units of each hidden layer. () is a linear function of the features; a net such as (10,) has
        one output.
    loss : object or None, default=None
        What `sklearn_ltr.losses` has, or any object with the three methods that
        `QuadraticBoosting` asks for. None is `sklearn_ltr.losses.LogisticPairs`. If it is a
        `sklearn.base.BaseEstimator`, its parameters can be searched as ``loss__...``. What it
        draws at random, it draws once a fit by L-BFGS, and anew for each batch of Adam.
    activation : {"tanh", "logistic", "relu"}, default="tanh"
        Function of the hidden units.
    solver : {"auto", "lbfgs", "adam"}, default="auto"
        "lbfgs" minimises the loss of all queries at once and draws nothing at random if the
        function is linear; "adam" takes small batches of queries in turn. "auto" is the first for
        linear functions, the second for nets.
    alpha : float, default=1e-4
        Strength of the penalty, not negative: this times half the sum of the squared weights is
        added to the mean loss. The weights are those of the features as given: put
        features to one scale first, for example by `sklearn_ltr.preprocessing.QueryScaler`.
    learning_rate_init : float, default=0.01
        Step size of Adam.
    batch_size : int, default=8
        Queries of each batch of Adam.
    max_iter : int, default=200
        Most iterations: steps of L-BFGS, or passes of Adam through all queries.
    tol : float, default=1e-4
        With `early_stopping`, improvements that are no larger do not count. L-BFGS stops where no
        derivative is larger, for features of standard deviation 1.
    propensity_clip : float in [0, 1), default=0.0
        Smaller values of `propensity` count as this: that lowers the variance of what clicks teach,
        for some bias.
    early_stopping : bool, default=False
        Stop when `scoring` on validation queries no longer improves, and predict with the model of
        the best iteration.
    scoring : str, metric, scorer, callable or list of these, default="ndcg@10"
        What early stopping maximises: a name that `sklearn_ltr.metrics.get_metric` knows, what it
        or `sklearn_ltr.scorers.get_scorer` returns, or a function of ``(y_true, y_score, groups)``
        that returns a number. The first of a list decides; all are in ``validation_history_``.
    validation_fraction : float in (0, 1), default=0.1
        Share of the queries held out for early stopping where no validation set is given to `fit`.
    n_iter_no_change : int, default=10
        Iterations without an improvement of more than `tol` after which to stop.
    n_jobs : int or None, default=None
        Threads; None is 1 unless in a `joblib.parallel_config` context, -1 is all processors. The
        model does not depend on it. Matrix products of `fit` have the threads of the
        BLAS.
    random_state : int, RandomState instance or None, default=None
        Chooses the held-out queries, and draws the initial weights of a net, the batches, and what
        the loss draws.
    verbose : int, default=0
        Print a line every so many iterations, 1 being each, and at the end one that says why the
        fit ended. 0 prints nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Weight of each feature; ``X @ coef_`` are the scores. Of a linear function only.
    coefs_ : list of ndarrays
        Weights of the layers, of shape (inputs, outputs). The last has one output.
    intercepts_ : list of ndarrays
        Intercepts of the hidden layers.
    n_iter_ : int
        Iterations run.
    best_iteration_ : int
        Number, from 1, of the iteration whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        Mean loss of a query with the penalty, after each iteration; of Adam, during it.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each iteration, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each iteration}``; of two
        metrics of one name, each is named by its repr.
    grades_ : ndarray of shape (n_grades,)
        Distinct grades, ascending.
    n_queries_ : int
        Queries of positive weight, held-out ones included.
    n_queries_skipped_ : int
        Those with nothing to learn from: queries where the loss has no gradient and no curvature,
        whatever the order of the rows; of pairs and lists, those of one grade or one row.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    QuadraticBoosting : The same for boosted trees.
    RankNet : The mean logistic loss of the pairs.
    ListNet : Cross entropy of top-one probabilities.

    Notes
    -----
    The score function has no intercept, as none changes a ranking: a loss of single rows, such as
    `sklearn_ltr.losses.SquaredError`, sees the grades as they are, and wants them to be around 0.

    The curvature of the loss is not used. A loss that is not convex has local minima, of which
    L-BFGS finds one.

    With `propensity` the loss weighs clicks, as it says; one that has no way to refuses, and so
    does one's own.

    Examples
    --------
    >>> from sklearn_ltr import LossRanker
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.losses import ListNDCGCrossEntropy
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> ranker = LossRanker(loss=ListNDCGCrossEntropy()).fit(X, y, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.6
    True
    """

    def __init__(
        self,
        hidden_layer_sizes=(),
        *,
        loss=None,
        activation="tanh",
        solver="auto",
        alpha=1e-4,
        learning_rate_init=0.01,
        batch_size=8,
        max_iter=200,
        tol=1e-4,
        propensity_clip=0.0,
        early_stopping=False,
        scoring="ndcg@10",
        validation_fraction=0.1,
        n_iter_no_change=10,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.loss = loss
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.propensity_clip = propensity_clip
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @explain_keywords
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
        propensity=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Finite.
        y : array-like of shape (n_samples,)
            Grades, finite; higher is better. None with `preferences`.
        groups : array-like of shape (n_samples,), default=None
            Query id of each row, in any order and of any type. None takes all rows as one query,
            and warns; with `preferences` it takes rows that preferences connect as a query.
        query_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query: constant within a query, not negative. A query of weight 0
            is left out.
        X_val, y_val, groups_val : array-likes or tuples of them, default=None
            Validation rows. With `early_stopping` they take the place of held-out queries; without
            it they are scored after each iteration, in ``validation_score_``. Tuples are several
            sets, of which the first decides; all are in ``validation_history_``. In a pipeline they
            need ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            Row of the winner and row of the loser, both of one query, as clicks or comparisons
            tell. They take the place of grades. Pairs may repeat and contradict each other. Row
            numbers do not survive the cutting of folds, so that searches cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.
        preference_margin : array-like of shape (n_pairs,), default=None
            Degree of each preference, positive: how far the winner is to be ahead. None is 1.
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
            If an argument is invalid, or no query has two rows of different grades.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS does not converge within `max_iter` iterations.
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val, propensity_val),
            preferences=preferences,
            preference_weight=preference_weight,
            preference_margin=preference_margin,
            propensity=propensity,
        )

    def _loss(self):
        return LogisticPairs() if self.loss is None else self.loss

    def _learnable(self, data):
        return learnable(self._loss(), data)
