# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""LambdaRank: RankNet's gradients times what a swap does to a metric."""

from sklearn_ltr.losses.lambdas import Lambdas
from sklearn_ltr.losses.pairs_alike import PAIR_WEIGHTINGS
from sklearn_ltr.metrics.registry import refuses_negative_grades
from sklearn_ltr.scorefunction import ScoreFunctionRanker
from sklearn_ltr.validation import check_choice


class LambdaRank(ScoreFunctionRanker):
    r"""Linear function or net that follows the gradients of a metric's swaps.

    The derivatives of RankNet's loss with respect to the scores, each pair times what the metric
    would change by if its two rows swapped their positions [1]_:

    .. math:: \lambda_{ij} = - \frac{|\Delta_{ij}|}{1 + e^{s_i - s_j}}, \qquad y_i > y_j,

    added to row i and taken from row j. They are those of no loss in particular, and followed by
    Adam.

    Read more in the :ref:`User Guide <lambdarank>`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=()
        Units of each hidden layer. () is a linear function of the features; a net such as (10,) has
        one output.
    metric : str or metric, default="ndcg@10"
        What swaps are measured by: "ndcg", "map" or "mrr", with or without cut-off, or what
        `sklearn_ltr.metrics.get_metric` returns for one of these, whose switches for gain,
        discount, relevance and denominator then count; `fit` warns of those for ties and short
        queries, which do not. A row below the cut-off is lifted by pairs with the rows above it.
    activation : {"tanh", "logistic", "relu"}, default="tanh"
        Function of the hidden units.
    alpha : float, default=1e-4
        Strength of the penalty, not negative: this times half the sum of the squared weights is
        added to the mean loss. The weights are those of the features as given: put
        features to one scale first, for example by `sklearn_ltr.preprocessing.QueryScaler`.
    pair_weighting : {"pair", "query"}, default="pair"
        What counts the same: each pair, or each query, however many pairs it has.
    learning_rate_init : float, default=0.01
        Step size of Adam.
    batch_size : int, default=8
        Queries of each batch of Adam.
    max_iter : int, default=100
        Most iterations: passes of Adam through all queries.
    tol : float, default=1e-4
        With `early_stopping`, improvements that are no larger do not count.
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
        Chooses the held-out queries, and draws the initial weights of a net and the batches.
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
        1 minus the mean of the metric, with the penalty, during each iteration.
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
        Those with nothing to learn from: queries without two rows of different gains: of one row,
        of one grade, or, for "map" and "mrr", without both relevant and irrelevant rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    LambdaMART : Follows the same gradients with boosted trees.
    RankNet : Without the metric.

    Notes
    -----
    Of rows whose scores tie, as all do at first in a linear function, :math:`\Delta` is the
    expectation over their orders. `LambdaMART` is given by default what LightGBM adds to the
    method, a level of truncation and a normalisation by query; here there is neither. With
    ``pair_weighting="query"``, which [1]_ does not have, the gradients of a query are divided by
    the number of its pairs, on top of the share of the ideal that :math:`\Delta` is.

    With `propensity` the gain of a row is :math:`(2^y - 1) / p`, relative to the largest 1 / p,
    and the ideal that it is over is that of :math:`2^y - 1`: were it of the same gains, a
    single click would cancel its own p. It needs NDCG as `metric`.

    References
    ----------
    .. [1] Burges, Ragno, Le. "Learning to Rank with Nonsmooth Cost Functions". NIPS 2006.

    Examples
    --------
    >>> from sklearn_ltr import LambdaRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> ranker = LambdaRank(random_state=0).fit(X, y, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.6
    True
    """

    def __init__(
        self,
        hidden_layer_sizes=(),
        *,
        metric="ndcg@10",
        activation="tanh",
        alpha=1e-4,
        pair_weighting="pair",
        learning_rate_init=0.01,
        batch_size=8,
        max_iter=100,
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
        self.metric = metric
        self.activation = activation
        self.alpha = alpha
        self.pair_weighting = pair_weighting
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

    def _loss(self):
        return Lambdas(self.metric, pair_weighting=self.pair_weighting)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = refuses_negative_grades(self.metric)
        return tags

    def _uses_lbfgs(self):
        return False  # it needs the loss

    def _check_params(self):
        super()._check_params()
        self._loss().check_metric()
        check_choice(self.pair_weighting, "pair_weighting", PAIR_WEIGHTINGS)

    def _learnable(self, data):
        """Queries that have rows of different gains."""
        return self._loss().learnable(data)
