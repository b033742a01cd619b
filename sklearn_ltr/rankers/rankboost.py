# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""RankBoost: boosting of preferences."""

import numpy as np

from sklearn_ltr.boosting.driver import NO_WEIGHT_LEFT
from sklearn_ltr.boosting.fit_signatures import FitPairsMixin
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.losses.pair_sums import balancing_step
from sklearn_ltr.validation import check_choice, check_positive
from sklearn_ltr.weak.stump import StumpSearch

# What each step maximises over the stumps.
STEPS = {"exact": "exponential", "approximate": "correlation"}


class RankBoost(FitPairsMixin, StumpBoosting):
    r"""Boosting of decision stumps on preference pairs.

    Minimises the exponential loss

    .. math:: \sum_{(x_0, x_1)} D(x_0, x_1)\, e^{H(x_0) - H(x_1)}

    over the pairs of rows of a query in which :math:`x_1` has the higher grade. Each round adds
    :math:`\alpha_t h_t` with a stump :math:`h_t` of values 0 and 1 [1]_. The search is exact over
    all features and thresholds, and never lists the pairs as long as there are at most 32 distinct
    grades: memory is linear in the rows.

    Read more in the :ref:`User Guide <rankboost>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`T`. Each adds one stump.
    learning_rate : float, default=1.0
        Shrinkage: each stump is taken times this factor; 1 is the paper's algorithm.
    step : {"exact", "approximate"}, default="exact"
        How far to go along the chosen stump, and which one that is. With :math:`W_+` and
        :math:`W_-` the weights of the pairs that a stump orders rightly and wrongly, as shares of
        the weight of all pairs,

        - "exact": :math:`\alpha = \frac{1}{2} \ln (W_+ / W_-)`, the minimiser of :math:`Z`, and
          the stump of least :math:`Z = 1 - W_+ - W_- + 2 \sqrt{W_+ W_-}` (the paper's second
          method, for weak rankers of values 0 and 1);
        - "approximate": :math:`\alpha = \frac{1}{2} \ln \frac{1 + r}{1 - r}` and the stump of
          largest :math:`|r|`, :math:`r = W_+ - W_-` (its third method). Faster, since only
          :math:`r` is computed for every stump.

        `smoothing` is added to both sums of a quotient.
    smoothing : float, default=0.5
        How many pairs of mean weight are added to :math:`W_+` and to :math:`W_-`, so that their
        quotient is finite where all pairs agree. 0 adds none; steps are then at most 10.
    max_bins : int or None, default=255
        Most bins of a feature, 2 to 65,535; a feature with more distinct values is cut at
        quantiles. None keeps every distinct value, so that every threshold of the paper is tried.
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
        Chooses the held-out queries; used only by early stopping.
    verbose : int, default=0
        Print a line every so many rounds, 1 being each, and at the end one that says why the fit
        ended. 0 prints nothing.

    Attributes
    ----------
    model_ : AdditiveModel
        The stumps with their coefficients: ``model_.terms``, or round by round ``model_.rounds``.
    n_iter_ : int
        Rounds run; fewer than `n_estimators` if early stopping or a callback stopped them, or if no
        stump lowers the loss any more.
    best_iteration_ : int
        Number, from 1, of the round whose model `predict` uses: the one of the best validation
        score with `early_stopping`, else the last.
    train_loss_ : ndarray of shape (`n_iter_`,)
        Product of the Z_t after each round: the exponential loss over that of no model, and a bound
        on the share of the pairs that are tied or in the wrong order (Theorem 1 of [1]_).
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in the gains of the stumps.
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

    Notes
    -----
    Every pair has the same initial weight, times the weight of its query.

    Scores are sums of step functions of one feature each: `contributions` has the terms of each
    row, `shape_function` those functions.

    Missing values (NaN) go to the side of the threshold where the stump gains more, the paper's
    :math:`q_{def}`; if a feature had none in training, to the side of most training rows.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight.

    References
    ----------
    .. [1] Freund, Iyer, Schapire, Singer. "An Efficient Boosting Algorithm for Combining
       Preferences". JMLR 4, 2003.

    Examples
    --------
    >>> from sklearn_ltr import RankBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = RankBoost(n_estimators=50).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.9
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=1.0,
        *,
        step="exact",
        smoothing=0.5,
        max_bins=255,
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
        self.step = step
        self.smoothing = smoothing
        self.max_bins = max_bins
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
        check_choice(self.step, "step", tuple(STEPS))
        check_positive(self.smoothing, "smoothing", zero=True)

    def _rounds(self, train):
        """Algorithm RankBoost of the paper."""
        Z = StumpExponential(ones, squared=False).bind(train.data)
        search = StumpSearch(train.binned, train.data, STEPS[self.step])
        Z.update(train.scores)  # D_1, where H = 0
        while Z.log_loss > NO_WEIGHT_LEFT:
            h = search.best(Z)
            if h is None:
                return
            crossing = Z.crossing(h.above(train.binned))
            alpha = self.learning_rate * best_alpha(self.step, crossing, Z, self.smoothing)
            search.note_step(Z, crossing, alpha)
            train.scores += alpha * h.apply(train.binned)  # H <- H + alpha h
            Z.update(train.scores)  # D_{t+1}
            train.loss = Z.loss  # Z_1 ... Z_t
            yield [(alpha, h)]


def ones(higher, lower):
    """The label of every pair."""
    return np.ones_like(higher)


def best_alpha(step, crossing, loss, smoothing):
    """alpha of a stump, from the pairs it separates; `smoothing` pairs are added on either side."""
    right = loss.data.sum(crossing.agreeing) / loss.total
    wrong = loss.data.sum(crossing.contrary) / loss.total
    if step == "approximate":
        right, wrong = (1 + right - wrong) / 2, (1 - right + wrong) / 2
    return balancing_step(right, wrong, smoothing / loss.n_pairs)
