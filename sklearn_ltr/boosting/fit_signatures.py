# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What ``fit`` takes besides, where a ranker learns from pairs, and where from single rows.

Mixed in before `BoostedRanker`.
"""

import numpy as np

from sklearn_ltr.boosting.driver import with_callbacks
from sklearn_ltr.keywords import explain_keywords


class FitPairsMixin:
    """``fit`` of boosted rankers that learn from preference pairs, of grades or given."""

    @explain_keywords
    @with_callbacks
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
        init_score=None,
        init_score_val=None,
        propensity=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
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
            it they are scored after each round, in ``validation_score_``. Tuples are several sets,
            of which the first decides; all are in ``validation_history_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            Row of the winner and row of the loser, both of one query, as clicks or comparisons
            tell. They take the place of grades. Pairs may repeat and contradict each other. Row
            numbers do not survive the cutting of folds, so that searches cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.
        init_score : array-like of shape (n_samples,), default=None
            Scores that the model is added to, such as those of another ranker: rounds lower the
            loss of the sum, and begin without a constant. `predict` leaves them out. None is 0.
        init_score_val : array-like of shape (n_validation_samples,), or tuple, default=None
            The same of the validation rows, which are judged by the sum.
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
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val, propensity_val, init_score_val),
            preferences=preferences,
            preference_weight=preference_weight,
            init_score=init_score,
            propensity=propensity,
        )


class FitMarginsMixin:
    """The same, of those that make use of the degree of a preference."""

    @explain_keywords
    @with_callbacks
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
        init_score=None,
        init_score_val=None,
        propensity=None,
        propensity_val=None,
    ):
        """Fit the ranker.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN marks a missing value.
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
            it they are scored after each round, in ``validation_score_``. Tuples are several sets,
            of which the first decides; all are in ``validation_history_``. In a pipeline they need
            ``set_fit_request(X_val=True, y_val=True, groups_val=True)`` of the ranker and
            ``Pipeline(..., transform_input=["X_val"])``, without which `X_val` is not transformed.
        preferences : array-like of shape (n_pairs, 2), integer, default=None
            Row of the winner and row of the loser, both of one query, as clicks or comparisons
            tell. They take the place of grades. Pairs may repeat and contradict each other. Row
            numbers do not survive the cutting of folds, so that searches cannot carry them.
        preference_weight : array-like of shape (n_pairs,), default=None
            Weight of each preference, not negative.
        preference_margin : array-like of shape (n_pairs,), default=None
            Degree of each preference, positive: how far the winner is to be ahead. None is 1.
        init_score : array-like of shape (n_samples,), default=None
            Scores that the model is added to, such as those of another ranker: rounds lower the
            loss of the sum, and begin without a constant. `predict` leaves them out. None is 0.
        init_score_val : array-like of shape (n_validation_samples,), or tuple, default=None
            The same of the validation rows, which are judged by the sum.
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
        """
        return self._fit(
            X,
            y,
            groups,
            query_weight,
            (X_val, y_val, groups_val, propensity_val, init_score_val),
            preferences=preferences,
            preference_weight=preference_weight,
            preference_margin=preference_margin,
            init_score=init_score,
            propensity=propensity,
        )


class FitRowsMixin:
    """``fit`` of boosted rankers that learn from the grade of each row by itself."""

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
        init_score=None,
        init_score_val=None,
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
        init_score : array-like of shape (n_samples,), default=None
            Scores that the model is added to, such as those of another ranker: rounds lower the
            loss of the sum, and begin without a constant. `predict` leaves them out. None is 0.
        init_score_val : array-like of shape (n_validation_samples,), or tuple, default=None
            The same of the validation rows, which are judged by the sum.
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
            (X_val, y_val, groups_val, propensity_val, init_score_val),
            sample_weight=sample_weight,
            init_score=init_score,
        )

    def _learnable(self, data):
        """Every row, alone in its query or not."""
        return np.ones(data.n_queries, dtype=bool)
