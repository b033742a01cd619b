# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""MPBoost: magnitude-preserving boosting."""

from functools import partial

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from sklearn_ltr.boosting.driver import NO_WEIGHT_LEFT
from sklearn_ltr.boosting.fit_signatures import FitMarginsMixin
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.labels import DISTANCES, directed_distance
from sklearn_ltr.losses.exponential import StumpExponential
from sklearn_ltr.validation import check_choice, check_positive, warn_caller
from sklearn_ltr.weak.stump import StumpSearch

STEPS = ("paper", "newton", "exact")

# A round changes the logarithm of a pair's weight by at most this.
MAX_EXPONENT = 30.0

OVERSHOOT = (
    "The training loss rose above that of no model: steps are too long where distances are far "
    "above 1 (the largest is {:.3g}). Use step='newton', distances nearer to 1, or a smaller "
    "learning_rate."
)


class MPBoost(FitMarginsMixin, StumpBoosting):
    r"""Magnitude-preserving boosting of decision stumps.

    Minimises the exponential loss of preference pairs whose labels keep how far two grades are
    apart,

    .. math:: J(F) = \sum_{(i, j)} e^{-\mathrm{dist}(r_i, r_j)\,(F(x_i) - F(x_j))}

    over the pairs of rows of a query with grades :math:`r_i > r_j` (equation 10 of [1]_). Each
    round adds the stump that fits the distances best under the present pair weights (Algorithm 1).
    The search is exact over all features and thresholds, and never lists the pairs as long as there
    are at most 32 distinct grades: memory is linear in the rows.

    Read more in the :ref:`User Guide <mpboost>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`T`. Each adds one stump.
    learning_rate : float, default=1.0
        Shrinkage: each stump is taken times this factor; 1 is the paper's algorithm.
    distance : {"linear", "logarithmic", "logistic", "binary"} or callable, default="logistic"
        Directed distance of two grades :math:`r_i > r_j`, the label of a pair:

        - "linear" (LDD): :math:`\alpha (r_i - r_j)`;
        - "logarithmic" (LOGDD): :math:`\log(1 + \lambda (r_i - r_j))`;
        - "logistic" (LOGITDD): :math:`1 / (1 + e^{-\beta (r_i - r_j)})`;
        - "binary": 1.

        A callable takes two arrays of grades, the higher ones first, and returns positive numbers.
        Of given preferences `preference_margin` is the distance, or 1.
    alpha : float, default=0.5
        :math:`\alpha` of the linear distance, positive.
    lam : float, default=3.0
        :math:`\lambda` of the logarithmic distance, positive.
    beta : float, default=0.5
        :math:`\beta` of the logistic distance, positive.
    step : {"paper", "newton", "exact"}, default="paper"
        How far to go along the chosen stump.

        - "paper": the minimiser of the weighted squared loss (equation 12), which takes squared
          distances for 1: shorter than Newton's step where distances are below 1, and longer where
          they are above;
        - "newton": the minimiser of the second-order expansion of the loss, :math:`\sum w d /
          \sum w d^2`;
        - "exact": the minimiser of the loss itself, with half a pair added on either side. The
          stump is chosen as for "newton".

        A step changes the logarithm of a pair's weight by at most 30, before `learning_rate`.
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
        J(F) over J(0) after each round.
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    bound_ : ndarray of shape (`n_iter_`,)
        The bound of Theorem 1 on the misordering rate.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in what the stumps lower the weighted squared loss by.
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
    Every pair has the same initial weight, times the weight of its query, so a query counts by its
    number of pairs, as in the paper.

    Scores are sums of step functions of one feature each: `contributions` has the terms of each
    row, `shape_function` those functions.

    Missing values (NaN) go to the side of the threshold where they lower the loss more; if a
    feature had none in training, to the side of most training rows.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit: rows are put into an order by their content first. Candidates whose gains agree to a
    relative 1e-9 tie, and the lowest feature, then the lowest threshold wins.

    A round takes time linear in the rows: one histogram a feature, and a sweep over the rows in
    feature order for those features that can still win. More than 32 distinct grades take explicit
    pairs: time and memory then grow with the number of pairs.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight. `bound_` is then of the share by weight.

    References
    ----------
    .. [1] Zhu, Chen, Zhu, Wang, Wang, Chen. "A General Magnitude-Preserving Boosting Algorithm for
       Search Ranking". CIKM 2009.

    Examples
    --------
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = MPBoost(n_estimators=50, distance="logistic").fit(X, y, groups=groups)
    >>> ranker.predict(X).shape == y.shape
    True
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.9
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=1.0,
        *,
        distance="logistic",
        alpha=0.5,
        lam=3.0,
        beta=0.5,
        step="paper",
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
        self.distance = distance
        self.alpha = alpha
        self.lam = lam
        self.beta = beta
        self.step = step
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
        for name in ("alpha", "lam", "beta"):
            check_positive(getattr(self, name), name)
        check_choice(self.step, "step", STEPS)
        if not callable(self.distance) and self.distance not in DISTANCES:
            raise ValueError(
                f"`distance` must be one of {list(DISTANCES)} or a callable; got {self.distance!r}."
            )

    def _rounds(self, train):
        """Algorithm 1 of the paper, with its line numbers."""
        parameters = {"alpha": self.alpha, "lam": self.lam, "beta": self.beta}
        dist = partial(directed_distance, distance=self.distance, **parameters)  # 1-2: eq. 6-8
        J = StumpExponential(dist, squared=self.step != "paper").bind(train.data)  # eq. 10
        search = StumpSearch(train.binned, train.data)
        J.update(train.scores)  # line 3: w = 1 / |I| where F = 0
        while J.log_loss > NO_WEIGHT_LEFT:  # line 4
            f = search.best(J)  # line 5: eq. 12 and the appendix
            if f is None:
                return
            crossing = J.crossing(f.above(train.binned))
            f.value = best_step(self.step, crossing, J)
            search.note_step(J, crossing, self.learning_rate * f.value)
            train.scores += self.learning_rate * f.apply(train.binned)  # line 8: F <- F + f
            previous = J.log_loss
            J.update(train.scores)  # line 6: w
            if J.log_loss > 0 >= previous:
                warn_caller(OVERSHOOT.format(J.max_distance), ConvergenceWarning)
            train.loss = J.loss  # Z_1 ... Z_t
            yield [(self.learning_rate, f)]

    @property
    def bound_(self):
        """Products of the Z_t so far, which Theorem 1 shows to bound the misordering rate.

        ndarray of shape (`n_iter_`,): after t rounds, the share of the pairs that are tied or in
        the wrong order is at most ``bound_[t - 1]``. It is the training loss, J(F) over J(0).
        """
        return self.train_loss_


def best_step(step, crossing, loss):
    """Value of a stump, from the pairs it separates.

    "paper": the minimiser of eq. 12, which sets the squared distances of eq. 11 to 1. "newton": the
    minimiser with them. "exact": the minimiser of the exponential loss; half a pair is added on
    either side, so that it is finite where all pairs agree.
    """
    (d, agreeing, contrary), total = crossing, loss.data.sum
    num = total(d * (agreeing - contrary))
    if step == "paper":
        a = num / total(agreeing + contrary)
    else:
        a = num / total(d**2 * (agreeing + contrary))
    limit = MAX_EXPONENT / loss.max_distance
    if step == "exact":
        half_pair = 0.5 * loss.total / loss.n_pairs
        mean = total(d * (agreeing + contrary)) / total(agreeing + contrary)
        d = np.append(d, mean)
        up, down = np.append(agreeing, half_pair), np.append(contrary, half_pair)

        def slope(s):
            return total(d * (down * np.exp(d * s) - up * np.exp(-d * s)))

        if slope(-limit) >= 0 or slope(limit) <= 0:
            return limit if slope(limit) <= 0 else -limit
        return brentq(slope, -limit, limit, xtol=1e-14)
    return float(np.clip(a, -limit, limit))
