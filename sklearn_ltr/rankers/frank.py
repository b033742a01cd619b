# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""FRank: boosting with the fidelity loss."""

from numbers import Integral

from scipy.optimize import brentq
from sklearn.utils import check_scalar

from sklearn_ltr.boosting.fit_signatures import FitPairsMixin
from sklearn_ltr.boosting.stumps import StumpBoosting
from sklearn_ltr.labels import check_target_probability, check_tie_weight
from sklearn_ltr.losses.listed_fidelity import ListedFidelity
from sklearn_ltr.losses.pair_sums import LONGEST_STEP
from sklearn_ltr.validation import check_choice, check_positive
from sklearn_ltr.weak.fidelity_search import FidelitySearch

STEPS = ("paper", "exact")


class FRank(FitPairsMixin, StumpBoosting):
    r"""Boosting of decision stumps with the fidelity loss.

    Minimises

    .. math:: J(H) = \sum_q \frac{1}{|\#_q|} \sum_{(i, j)} \left[1 - \sqrt{P^*_{ij} s_{ij}} -
        \sqrt{(1 - P^*_{ij}) (1 - s_{ij})}\right],
        \quad s_{ij} = \frac{1}{1 + e^{-(H(x_i) - H(x_j))}}

    over the pairs of rows of a query in which row i has the higher grade, :math:`|\#_q|` of them in
    query q (equation 2 of [1]_). A pair's loss is at most 1, so that every query counts the same
    and no pair, however wrong, more than others. Each round adds :math:`\alpha_t h_t` with a stump
    :math:`h_t` of values 0 and 1: that of least loss over all features and thresholds, each taken
    at its own :math:`\alpha` (Figure 2).

    Read more in the :ref:`User Guide <frank>`.

    Parameters
    ----------
    n_estimators : int, default=300
        Rounds, the paper's :math:`k`. Each adds one stump.
    learning_rate : float, default=1.0
        Shrinkage: each stump is taken times this factor; 1 is the paper's algorithm.
    step : {"paper", "exact"}, default="paper"
        How far to go along the chosen stump.

        - "paper": :math:`\alpha = \frac{1}{2} \ln \frac{W_+}{W_-}` (equation 3), with :math:`W_+`
          and :math:`W_-` the weights (4) of the pairs that the stump orders rightly and wrongly.
          Below a `target_probability` of 1, (4) is a difference, and the term that is subtracted
          counts on the other side, so that both sums are positive. `smoothing` is added to both.
          The step is a relaxation, and shorter than the minimiser.
        - "exact": the minimiser of the loss along that stump, the first one in the direction of
          descent, and at most 10. The stump is chosen as for "paper".
    smoothing : float, default=0.5
        How many pairs of mean weight are added to :math:`W_+` and to :math:`W_-`, so that their
        quotient is finite where all pairs agree. 0 adds none; steps are then at most 10.
    target_probability : float, mapping or callable, default=1.0
        :math:`P^*`, in [0.5, 1], the probability aimed at that the row of the higher grade wins: a
        number for all pairs, a mapping of the differences of grades that occur, or a callable that
        takes two arrays, the higher and the lower grade of each pair, such as
        `sklearn_ltr.labels.consistent_probability`. 1 is the paper's reading for labels without
        doubt. Below it, differences have a finite optimum, :math:`\ln (P^* / (1 - P^*))`, and
        memory and time double. With `preferences`, a number.
    tie_weight : float, default=0.0
        Weight, relative to a preference pair, of each pair of rows of one query with equal grades,
        for which :math:`P^* = 1/2`: their scores are drawn together. They count in
        :math:`|\#_q|`. Queries of one grade are left out all the same.
    max_pairs_per_query : int or None, default=None
        Train on at most so many pairs of a query, drawn at random, with `tie_weight` from those of
        equal grades, too; they share the weight of the query. The draw depends on `random_state`
        and the content of the training data, not on the order of rows or on `n_jobs`. None takes
        all pairs.
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
        Chooses the held-out queries and, with `max_pairs_per_query`, the pairs.
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
        J(H) after each round, over the weights of the queries with pairs: in [0, 1].
    validation_score_ : ndarray of shape (`n_iter_`,) or (0,)
        `scoring` after each round, if there are validation queries; the first metric on the
        first set of those.
    validation_history_ : list of dict
        Of each validation set, ``{name of a metric: its scores after each round}``; of two
        metrics of one name, each is named by its repr.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Share of each feature in what the stumps lower the loss by.
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
    Pairs of equal grades are left out by default: they pull scores together that an order of the
    rows does not have to keep together, and can outnumber the pairs that say something.

    Scores are sums of step functions of one feature each: `contributions` has the terms of each
    row, `shape_function` those functions.

    Missing values (NaN) go to the side of the threshold where they lower the loss more; if a
    feature had none in training, to the side of most training rows.

    The model does not depend on the order of rows, on the names of queries, or on `n_jobs`, to the
    last bit. Candidates whose losses fall by the same to a relative 1e-9 tie, and the lowest
    feature, then the lowest threshold wins.

    The weights of pairs do not factorise, so pairs are listed: time and memory grow with their
    number. The loss is not convex: far-wrong pairs hardly weigh, so that a long step may be hard to
    take back.

    With `propensity` a pair weighs 1 / p of the row that wins it, the one that is clicked,
    relative to the largest weight. Pairs of a query share its weight by their number before, so
    that a single click does not cancel its own. It does not go with `tie_weight`.

    References
    ----------
    .. [1] Tsai, Liu, Qin, Chen, Ma. "FRank: A Ranking Method with Fidelity Loss". SIGIR 2007.

    Examples
    --------
    >>> from sklearn_ltr import FRank
    >>> from sklearn_ltr.datasets import make_ranking
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = FRank(n_estimators=50).fit(X, y, groups=groups)
    >>> round(ranker.score(X, y, groups=groups), 1)
    0.9
    """

    def __init__(
        self,
        n_estimators=300,
        learning_rate=1.0,
        *,
        step="paper",
        smoothing=0.5,
        target_probability=1.0,
        tie_weight=0.0,
        max_pairs_per_query=None,
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
        self.target_probability = target_probability
        self.tie_weight = tie_weight
        self.max_pairs_per_query = max_pairs_per_query
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
        check_choice(self.step, "step", STEPS)
        check_positive(self.smoothing, "smoothing", zero=True)
        check_target_probability(self.target_probability)
        check_tie_weight(self.tie_weight)
        if self.max_pairs_per_query is not None:
            check_scalar(self.max_pairs_per_query, "max_pairs_per_query", Integral, min_val=1)

    def _rounds(self, train):
        """Figure 2 of the paper."""
        loss = ListedFidelity(
            target_probability=self.target_probability,
            tie_weight=self.tie_weight,
            smoothing=self.smoothing,
            max_pairs_per_query=self.max_pairs_per_query,
        )  # (2)
        J = loss.bind(train.data)
        search = FidelitySearch(train.binned, train.data, J)
        J.update(train.scores)  # initialise pair weights
        while (found := search.best(J)) is not None:  # (a), (b): all candidates, each at its alpha
            h, alpha = found  # (c)
            if self.step == "exact":
                alpha = minimising_step(J, h.above(train.binned), alpha)
            alpha *= self.learning_rate
            train.scores += alpha * h.apply(train.binned)  # H <- H + alpha h
            J.update(train.scores)  # (d): pair weights by (4)
            search.note_step(J, alpha)
            train.loss = J.loss
            yield [(alpha, h)]


def minimising_step(loss, above, alpha):
    """Where the loss is least along a split, from the step `alpha` of (3) on."""

    def at(step):
        fall, slope = loss.along(above, [step])
        seen.append((float(fall[0]), step))
        return float(slope[0])

    seen = []
    sign = 1 if alpha > 0 else -1
    near, far, slope = 0.0, alpha, at(alpha)
    while sign * slope > 0 and abs(far) < LONGEST_STEP:
        near, far = far, sign * min(2 * abs(far), LONGEST_STEP)
        slope = at(far)
    if sign * slope < 0:
        at(brentq(at, near, far, xtol=1e-13, rtol=1e-10))
    return max(seen)[1]
