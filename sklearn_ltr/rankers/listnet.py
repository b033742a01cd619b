# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""ListNet: cross entropy between the top-one probabilities of grades and of scores."""

from sklearn_ltr.losses import ListCrossEntropy
from sklearn_ltr.scorefunction import ScoreFunctionRanker


class ListNet(ScoreFunctionRanker):
    r"""Linear function or net that gives lists the top-one probabilities of their grades.

    The loss of a query is the cross entropy of the probabilities of its rows to be on top [1]_,

    .. math:: -\sum_i p_i(y / T) \ln p_i(s), \qquad p_i(z) = \frac{e^{z_i}}{\sum_k e^{z_k}},

    for grades y and scores s. ``ListNet`` minimises its mean over the queries.

    Read more in the :ref:`User Guide <listnet>`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=()
        Units of each hidden layer. () is a linear function of the features; a net such as (10,) has
        one output.
    temperature : float, default=1.0
        T, positive: what grades are divided by before they become probabilities. The smaller, the
        more the best rows alone matter. LETOR's ListNet tunes how grades map to scores, too.
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
        Those with nothing to learn from: queries of one grade or one row.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Defined only if `X` had feature names that are all strings.

    See Also
    --------
    ListMLE : The likelihood of the whole order.
    sklearn_ltr.losses.ListCrossEntropy : The loss, for boosted trees.

    Notes
    -----
    The gradient with respect to the scores is p(s) - p(y / T). For a linear function the loss is
    convex and L-BFGS finds its minimum; the paper uses plain gradient descent. Queries with a
    single grade are left out: the formula would pull their scores together.

    With `propensity` what a click adds to a row's :math:`p_i(y / T)`, compared with a row of
    grade 0, is times 1 / p, relative to the largest. What all is divided by is as without, so
    that a single click does not cancel its own p; the shares then do not sum to 1. Grades must
    not be negative.

    References
    ----------
    .. [1] Cao, Qin, Liu, Tsai, Li. "Learning to Rank: From Pairwise Approach to Listwise Approach".
       ICML 2007.

    Examples
    --------
    >>> from sklearn_ltr import ListNet
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> ranker = ListNet().fit(X, y, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.6
    True
    """

    def __init__(
        self,
        hidden_layer_sizes=(),
        *,
        temperature=1.0,
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
        self.temperature = temperature
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

    def _loss(self):
        return ListCrossEntropy(self.temperature)
