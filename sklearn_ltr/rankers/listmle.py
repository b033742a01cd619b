# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""ListMLE: the likelihood of the order of the grades."""

from sklearn_ltr.losses import ListLikelihood
from sklearn_ltr.scorefunction import ScoreFunctionRanker


class ListMLE(ScoreFunctionRanker):
    r"""Linear function or net that makes the order of the grades likely.

    The loss of a query is the negative log likelihood of its order in the model of Plackett and
    Luce, where rows are chosen one after the other, best first [1]_:

    .. math:: \sum_i \left[ \ln \sum_{y_k \le y_i} e^{s_k} - s_i \right]

    over the rows i above the lowest grade, for grades y and scores s. ``ListMLE`` minimises its
    mean over the queries.

    Read more in the :ref:`User Guide <listmle>`.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int, default=()
        Units of each hidden layer. () is a linear function of the features; a net such as (10,) has
        one output.
    activation : {"tanh", "logistic", "relu"}, default="tanh"
        Function of the hidden units.
    solver : {"auto", "lbfgs", "adam"}, default="auto"
        "lbfgs" minimises the loss of all queries at once and draws nothing at random if the
        function is linear; "adam" takes small batches of queries in turn. "auto" is the first for
        linear functions, the second for nets.
    alpha : float, default=0.1
        Strength of the penalty, not negative: this times half the sum of the squared weights is
        added to the mean loss. The weights are those of the features as given: put
        features to one scale first, for example by `sklearn_ltr.preprocessing.QueryScaler`. The
        default is larger than that of other rankers, as this loss is a sum over many rows.
    learning_rate_init : float, default=0.01
        Step size of Adam.
    batch_size : int, default=8
        Queries of each batch of Adam.
    max_iter : int, default=200
        Most iterations: steps of L-BFGS, or passes of Adam through all queries.
    tol : float, default=1e-4
        With `early_stopping`, improvements that are no larger do not count. L-BFGS stops where no
        derivative is larger, for features of standard deviation 1.
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
    ListNet : Looks at who is on top.
    sklearn_ltr.losses.ListLikelihood : The loss, for boosted trees.

    Notes
    -----
    Rows of one grade have no order. The paper leaves open what is done about them; here each is
    chosen from all rows of its grade or below, which is Breslow's rule for ties [2]_, so that the
    loss does not depend on the order of rows. For a linear function the loss is convex, and L-BFGS
    finds its minimum. A query takes O(n log n) for n rows.

    `propensity` is refused: the probability of a whole order is no sum over clicks.

    References
    ----------
    .. [1] Xia, Liu, Wang, Zhang, Li. "Listwise Approach to Learning to Rank: Theory and Algorithm".
       ICML 2008.
    .. [2] Breslow. "Covariance Analysis of Censored Survival Data". Biometrics 30, 1974.

    Examples
    --------
    >>> from sklearn_ltr import ListMLE
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=60, random_state=0)
    >>> ranker = ListMLE().fit(X, y, groups=groups)
    >>> ranker.score(X, y, groups=groups) > 0.6
    True
    """

    _no_propensity = ListLikelihood.no_propensity

    def __init__(
        self,
        hidden_layer_sizes=(),
        *,
        activation="tanh",
        solver="auto",
        alpha=0.1,
        learning_rate_init=0.01,
        batch_size=8,
        max_iter=200,
        tol=1e-4,
        early_stopping=False,
        scoring="ndcg@10",
        validation_fraction=0.1,
        n_iter_no_change=10,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self):
        return ListLikelihood()
