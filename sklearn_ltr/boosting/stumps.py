# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What boosted rankers whose weak rankers are stumps have in common."""

from sklearn_ltr.boosting.driver import BoostedRanker
from sklearn_ltr.columns import column_number
from sklearn_ltr.weak.stump import Stump


class StumpBoosting(BoostedRanker):
    """Base class of boosted rankers whose weak rankers are decision stumps.

    Each stump looks at a single feature, so that the score is a sum of step functions of one
    feature each, which can be shown as they are.
    """

    _weak = Stump  # what its terms are of, where they are stored

    def contributions(self, X):
        """What each feature adds to the scores.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        contributions : ndarray of shape (n_samples, n_features), dtype float64
            In the units of the scores; 0 for features that are not used. The rows sum to
            ``predict(X)``: to the last bit if added in the order of the features, as
            ``sum(contributions.T)`` does, else up to rounding. Always dense.

        Raises
        ------
        NotFittedError
            If the ranker is not fitted.
        ValueError
            If `X` is invalid.

        See Also
        --------
        shape_function : What a feature adds at each of its values.

        Notes
        -----
        Nothing is approximated, and no background data are needed: a feature's contribution
        depends on its own value only. A stump is 0 at and below its threshold, so that
        contributions are not centred. Only their differences between rows matter for a ranking.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_ltr import MPBoost
        >>> from sklearn_ltr.datasets import make_ranking
        >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
        >>> ranker = MPBoost(n_estimators=50).fit(X, y, groups=groups)
        >>> contributions = ranker.contributions(X)
        >>> contributions.shape == X.shape
        True
        >>> np.array_equal(sum(contributions.T), ranker.predict(X))
        True
        """
        self._check_is_fitted()
        X = self._validate_X(X, reset=False)
        return self._predictor.contributions(X, self._n_threads())

    def shape_function(self, feature):
        """The step function of a feature that the score is a sum of.

        Parameters
        ----------
        feature : int or str
            Number of the feature, from 0, or its name in ``feature_names_in_``.

        Returns
        -------
        thresholds : ndarray of shape (n_thresholds,), dtype float64
            Finite and ascending; where the score jumps. Empty if the feature is not used.
        values : ndarray of shape (n_thresholds + 2,), dtype float64
            What the feature adds to the score: ``values[i]`` where
            ``thresholds[i - 1] < x <= thresholds[i]``, in the units of the scores; the first one up
            to the lowest threshold, the last but one above the highest. ``values[-1]`` is that of a
            missing value.

        Raises
        ------
        NotFittedError
            If the ranker is not fitted.
        ValueError
            If there is no such feature.

        See Also
        --------
        contributions : The values at the rows of a matrix.

        Examples
        --------
        >>> from sklearn_ltr import RankBoost
        >>> X, y, groups = [[0.0], [1.0], [2.0]], [0, 1, 2], [1, 1, 1]
        >>> ranker = RankBoost(n_estimators=2).fit(X, y, groups=groups)
        >>> thresholds, values = ranker.shape_function(0)
        >>> thresholds
        array([0.5, 1.5])
        >>> values.round(2)  # below all thresholds no stump counts
        array([0.  , 0.8 , 1.66, 0.8 ])
        """
        self._check_is_fitted()
        return self._predictor.of_feature(column_number(feature, self, "feature"))
