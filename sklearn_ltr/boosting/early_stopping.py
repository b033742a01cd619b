# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What judges the rounds or iterations of a ranker, and stops them."""

import inspect
from collections import Counter
from functools import partial
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_scalar

from sklearn_ltr.labels import why_not_spread
from sklearn_ltr.metrics._per_query import Metric
from sklearn_ltr.metrics.registry import get_metric
from sklearn_ltr.progress import check_verbose, print_end, print_step
from sklearn_ltr.queries import split_queries
from sklearn_ltr.reduction import check_same, is_spread
from sklearn_ltr.validation import check_positive


def best_round(scores, n_rounds):
    """Number of the round of the best validation score; the last `n_rounds` have one."""
    return n_rounds - len(scores) + int(np.argmax(scores)) + 1


class EarlyStopping:
    """Keeps account of a ranker's rounds, and stops them by their scores on validation queries.

    Goes by the ranker's parameters `early_stopping`, `scoring`, `validation_fraction`,
    `n_iter_no_change` and `tol`, and keeps its attributes ``n_iter_``, ``best_iteration_``,
    ``train_loss_``, ``validation_score_`` and ``validation_history_``.

    Parameters
    ----------
    ranker : BaseRanker
    """

    def __init__(self, ranker):
        self._ranker = ranker

    def check_params(self):
        """Raise TypeError or ValueError for an invalid parameter."""
        ranker = self._ranker
        check_positive(ranker.validation_fraction, "validation_fraction", maximum=1)
        check_scalar(ranker.n_iter_no_change, "n_iter_no_change", Integral, min_val=1)
        check_positive(ranker.tol, "tol", zero=True)
        check_verbose(ranker)
        self.metrics()

    def metrics(self):
        """What judges, of what `scoring` names or holds, by name: dict of Criterion."""
        scoring = self._ranker.scoring
        if not isinstance(scoring, (list, tuple)):
            scoring = [scoring]
        elif len(scoring) == 0:
            raise ValueError("`scoring` is empty; give a metric, or a list of some.")
        metrics = [Criterion.of(one) for one in scoring]
        # Metrics of one name have other switches, which their repr shows.
        often = Counter(one.metric.name for one in metrics)
        found = {repr(m) if often[m.metric.name] > 1 else m.metric.name: m for m in metrics}
        if len(found) < len(metrics):
            raise ValueError(f"`scoring` has the same metric twice: {scoring!r}.")
        return found

    def judges(self, data):
        """What scores the rankings of some validation queries by each of the metrics: list."""
        return [one.judge(data) for one in self.metrics().values()]

    def _name(self):
        """Of the metric that decides."""
        return next(iter(self.metrics()))

    def start(self):
        """Begin to count."""
        vars(self._ranker).update(
            n_iter_=0,
            best_iteration_=0,
            train_loss_=np.empty(0),
            validation_score_=np.empty(0),
            validation_history_=[],
        )

    def hold_out(self, data, X_val, y_val, groups_val, propensity_val=None, init_score_val=None):
        """Part the queries to learn from and those to judge by.

        Parameters
        ----------
        data : RankingData
            Its seed chooses queries.
        X_val, y_val, groups_val : array-likes, tuples of them or None
            Judge by these if they are given, otherwise with `early_stopping` by a share of the
            queries.
        propensity_val : array-like, tuple of them or None
            How likely their rows were looked at, if they have clicks in the place of grades.
        init_score_val : array-like, tuple of them or None
            Scores that they start from, if the data have such, too.

        Returns
        -------
        data : RankingData
        held_out : list of RankingData
            Each of the validation sets.
        """
        ranker, held_out = self._ranker, []
        n_sets = len(X_val) if isinstance(X_val, tuple) else int(X_val is not None)
        check_same({"the number of validation sets": n_sets})
        given = X_val is not None or y_val is not None
        self._check_starts(data, given, init_score_val)
        if propensity_val is not None and not given:
            raise ValueError("`propensity_val` is of validation rows: give `X_val` and `y_val`.")
        if given:
            sets = _validation_sets(X_val, y_val, groups_val, init_score_val, propensity_val)
            held_out = [ranker._validate_validation_data(*one) for one in sets]
        elif ranker.early_stopping and data.all(np.isnan(data.y)):
            raise ValueError(
                "Early stopping with `preferences` needs grades to judge by: give `X_val`, `y_val` "
                "and `groups_val`."
            )
        elif ranker.early_stopping:
            mask = split_queries(
                data.informative,
                ranker.validation_fraction,
                data.random_seed,
                keys=data.queries.keys,
            )
            held_out, data = [data.select(mask)], data.select(~mask)
        self._check_weighed(held_out, given)
        return data, [one.labelled().in_given_order() for one in held_out]

    def _check_weighed(self, held_out, given):
        """Raise ValueError if clicks would be taken for grades, or have no propensities."""
        metrics = self.metrics()
        weighing = [name for name, one in metrics.items() if one.weighs_clicks]
        for k, one in enumerate(held_out):
            of_set = f" of set {k}" if len(held_out) > 1 else ""
            if one.propensity is None and weighing:
                remedy = (
                    "`propensity_val`, 1 at each row if these are true grades"
                    if given
                    else "validation rows, `X_val`, `y_val` and `groups_val`, with `propensity_val`"
                )
                raise ValueError(
                    f"`scoring` {weighing[0]} weighs clicks, and the validation rows{of_set} have "
                    f"no propensities: give {remedy}."
                )
            if one.propensity is not None and not metrics[self._name()].weighs_clicks:
                raise ValueError(
                    f"The validation rows{of_set} have propensities, so that they have clicks, and "
                    f"`scoring` {self._name()}, which decides, takes them for grades: give "
                    'scoring=make_ranking_scorer("dcg@10", propensity=True), or a list that begins '
                    "with it."
                )

    @staticmethod
    def _check_starts(data, validates, init_score_val):
        if init_score_val is not None and not validates:
            raise ValueError("`init_score_val` is of validation rows: give `X_val` and `y_val`.")
        if init_score_val is None and data.init_score is not None and validates:
            raise ValueError(
                "Training rows start from `init_score`, and so must validation rows: give "
                "`init_score_val`, made as it is, or zeros."
            )
        if init_score_val is not None and data.init_score is None:
            raise ValueError(
                "Validation rows start from `init_score_val`, and so must training rows: give "
                "`init_score`, or zeros."
            )

    def record(self, loss, validation, **found):
        """Keep a round.

        Parameters
        ----------
        loss : float
        validation : list of lists of float
            Of each validation set, what each of the metrics says of it.
        **found
            Attributes to set besides.
        """
        ranker = self._ranker
        scores, best = ranker.validation_score_, ranker.n_iter_ + 1
        history = ranker.validation_history_
        if validation:
            scores = np.append(scores, validation[0][0])
            history = self._longer_history(validation)
            if ranker.early_stopping:
                best = best_round(scores, ranker.n_iter_ + 1)
        # All at once: an interrupt comes before or after, and finds whole rounds.
        vars(ranker).update(
            found,
            n_iter_=ranker.n_iter_ + 1,
            best_iteration_=best,
            train_loss_=np.append(ranker.train_loss_, loss),
            validation_score_=scores,
            validation_history_=history,
        )

    def _longer_history(self, validation):
        """The history with one more round, of the sets and metrics that there are now."""
        earlier = self._ranker.validation_history_
        earlier = earlier + [{}] * (len(validation) - len(earlier))
        return [
            {
                name: np.append(before.get(name, np.empty(0)), score)
                for name, score in zip(self.metrics(), of_set, strict=True)
            }
            for before, of_set in zip(earlier, validation, strict=False)
        ]

    def report(self, n_rounds):
        """Print how it stands after a round, if it is one of every `verbose`."""
        ranker = self._ranker
        message = f"loss {ranker.train_loss_[-1]:.6g}"
        history = ranker.validation_history_ if len(ranker.validation_score_) else []
        for k, of_set in enumerate(history):
            which = f"set {k} " if len(history) > 1 else ""
            message += "".join(f", {which}{name} {x[-1]:.6g}" for name, x in of_set.items())
        print_step(ranker, n_rounds, message)

    def conclude(self, why):
        """Print why the fit ended and which round is best, if `verbose`."""
        ranker, scores = self._ranker, self._ranker.validation_score_
        if len(scores):
            best = best_round(scores, ranker.n_iter_)
            why += f"; best {self._name()} {scores.max():.6g}, in {ranker._step} {best}"
        used = ranker.best_iteration_
        used = "the last" if used == ranker.n_iter_ else f"{ranker._step} {used}"
        print_end(ranker, f"{why}; `predict` uses the model of {used}")

    def why_stop(self, limit):
        """Why there are to be no further rounds; None if there are.

        Parameters
        ----------
        limit : str
            The parameter that says how many there are at most.
        """
        ranker = self._ranker
        if ranker.n_iter_ >= getattr(ranker, limit):
            return f"{limit}={getattr(ranker, limit)} reached"
        if self.should_stop():
            return (
                f"no better {self._name()} in n_iter_no_change={ranker.n_iter_no_change} "
                f"{ranker._step}s"
            )
        return None

    def should_stop(self):
        """Whether the last `n_iter_no_change` rounds brought no better validation score."""
        ranker = self._ranker
        scores, patience = ranker.validation_score_, ranker.n_iter_no_change
        if not ranker.early_stopping or len(scores) <= patience:
            return False
        return scores[-patience:].max() <= scores[:-patience].max() + ranker.tol


class Judge:
    """Scores rankings of validation queries.

    Parameters
    ----------
    data : RankingData
    metric : Metric
    weighs_clicks : bool, default=False
        Whether grades are clicks, which the data have propensities of.

    Raises
    ------
    ValueError
        If the metric does not take the grades, or is undefined on every query.
    """

    def __init__(self, data, metric, weighs_clicks=False):
        self._data = data
        self._metric = metric
        self._propensity = data.propensity if weighs_clicks else None
        if is_spread() and (why := why_not_spread(getattr(metric, "gain", None))):
            raise NotImplementedError(f"`scoring` takes no rows of several ranks: {why}.")
        metric.check_grades(data.y)
        if weighs_clicks:
            metric.warn_of_propensity()
        # Not their mean, which warns: the filters of warnings are shared by all threads.
        start = np.zeros(data.n_samples)
        if data.all(np.isnan(metric.of_queries(data, start, True, self._propensity))):
            raise ValueError(
                f"{metric!r} is undefined on every validation query, so that it cannot judge a "
                "round; give validation queries with relevant rows."
            )

    def __call__(self, scores):
        """The metric's mean over the queries at `scores` (n_samples,): float."""
        data = self._data
        return self._metric.on_groups(
            data.y, scores, data.offsets, data.query_weight, propensity=self._propensity
        )


class FunctionJudge:
    """The same by a function of one's own.

    Parameters
    ----------
    data : RankingData
    function : ScoringFunction
    weighs_clicks : bool, default=False
        Whether to give it the propensity of each row.

    Raises
    ------
    ValueError
        If the queries have weights, which the function does not take.
    """

    def __init__(self, data, function, weighs_clicks=False):
        if is_spread():
            raise NotImplementedError(
                f"`scoring` {function.name} would see the rows of one rank only: give a metric "
                "that sklearn_ltr.metrics.get_metric knows."
            )
        self._data, self._function = data, function
        self._groups = data.per_row(data.queries.ids)
        self._weights = {}
        if (data.query_weight != data.query_weight[0]).any():
            if not function.takes_weights:
                raise ValueError(
                    f"`scoring` {function.name} takes no `query_weight`, and validation queries "
                    "have weights that differ: give it such an argument, of one entry a row."
                )
            self._weights = {"query_weight": data.per_row(data.query_weight)}
        if weighs_clicks:
            self._weights["propensity"] = data.propensity.copy()

    def __call__(self, scores):
        """What the function says of `scores` (n_samples,): float."""
        # Of copies, as the function may change what it is given.
        y, scores, groups = self._data.y.copy(), scores.copy(), self._groups.copy()
        value = self._function.call(y, scores, groups, **self._weights)
        if np.ndim(value) or not isinstance(value, (Real, np.number)) or np.isnan(value):
            raise ValueError(
                f"`scoring` {self._function.name} must return a number, which is higher where a "
                f"ranking is better; got {value!r}."
            )
        return float(value)


class ScoringFunction:
    """A function of one's own as a metric.

    Parameters
    ----------
    function : callable
        ``function(y_true, y_score, groups)`` -> float. With an argument `query_weight` it is given
        the weight of each row's query, where they differ.
    weighs_clicks : bool, default=False
        Whether it is given `propensity`, too.

    Raises
    ------
    TypeError
        If it cannot be called so.
    """

    def __init__(self, function, weighs_clicks=False):
        self.call = function
        inner = function.func if isinstance(function, partial) else function
        self.name = getattr(inner, "__name__", type(inner).__name__)
        self.takes_weights = False
        try:
            signature = inspect.signature(function)
        except ValueError:  # of some functions written in C
            return
        if next(iter(signature.parameters), None) == "estimator":
            raise TypeError(
                f"`scoring` {function!r} scores an estimator, but early stopping judges scores: "
                "give a function of (y_true, y_score, groups), or a name or an object from "
                "sklearn_ltr.metrics."
            )
        more = {"propensity": "p"} if weighs_clicks else {}
        arguments = ", ".join(["y_true", "y_score", "groups", *more])
        try:
            signature.bind("y_true", "y_score", "groups", **more)
        except TypeError as error:
            raise TypeError(
                f"`scoring` {self.name} must be a function of ({arguments}), where "
                f"`groups` has the query id of each row: {error}."
            ) from None
        try:
            signature.bind("y_true", "y_score", "groups", query_weight="weights", **more)
            self.takes_weights = True
        except TypeError:
            pass

    def __repr__(self):
        return repr(self.call)


class Criterion(NamedTuple):
    """What `scoring`, or one of its entries, judges by.

    Parameters
    ----------
    metric : Metric or ScoringFunction
    weighs_clicks : bool
        Whether grades are clicks, which count 1 over their propensity.
    """

    metric: object
    weighs_clicks: bool

    @classmethod
    def of(cls, scoring):
        """That of a name, a metric, a scorer or a function."""
        weighs_clicks = getattr(scoring, "weighs_clicks", False)
        scoring = getattr(scoring, "metric", scoring)
        if callable(scoring) and not isinstance(scoring, (Metric, type)):
            return cls(ScoringFunction(scoring, weighs_clicks), weighs_clicks)
        return cls(get_metric(scoring), weighs_clicks)

    def __repr__(self):
        return f"{self.metric!r}, propensity=True" if self.weighs_clicks else repr(self.metric)

    def judge(self, data):
        """What scores rankings of the queries of a RankingData by it."""
        judge = FunctionJudge if isinstance(self.metric, ScoringFunction) else Judge
        return judge(data, *self)


def _validation_sets(X, y, groups, init_score, propensity):
    """The arguments of each validation set: list of tuples."""
    arguments = {
        "X_val": X,
        "y_val": y,
        "groups_val": groups,
        "init_score_val": init_score,
        "propensity_val": propensity,
    }
    if not isinstance(X, tuple):
        return [tuple(arguments.values())]
    if len(X) == 0:
        raise ValueError("`X_val` is an empty tuple; it has a matrix for each validation set.")
    for name, value in arguments.items():
        if value is None and name != "y_val":
            arguments[name] = (None,) * len(X)
        elif not isinstance(value, tuple) or len(value) != len(X):
            raise ValueError(
                f"`X_val` is a tuple, which has a matrix for each of {len(X)} validation sets, and "
                f"`{name}` must be one of as many entries. The rows of a single set are a list or "
                "an array."
            )
    return list(zip(*arguments.values(), strict=True))
