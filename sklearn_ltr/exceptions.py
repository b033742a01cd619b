# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Warnings that can be told from others, to be silenced or made errors by `warnings` filters."""


class ConstantModelWarning(UserWarning):
    """A ranker has found nothing to rank by: all training rows have the same score."""


class CutQueryWarning(UserWarning):
    """A query that is scored was trained on with other rows."""


class EstimatedIdealWarning(UserWarning):
    """NDCG of clicks with propensities has an ideal that is estimated, and not without bias."""


class InconsistentVersionWarning(UserWarning):
    """A pickle is loaded by another version of this package than the one that wrote it.

    Scikit-learn warns of its own objects in the same way, by a class of the same name.

    Parameters
    ----------
    class_name : str
        Class of the pickled object.
    original_version : str or None
        The version that wrote the pickle; None if it is so old that it does not say.
    current_version : str
        The version that loads it.

    Attributes
    ----------
    class_name, original_version, current_version
        The parameters.

    Examples
    --------
    >>> import pickle
    >>> import warnings
    >>> from sklearn_ltr import MPBoost
    >>> from sklearn_ltr.exceptions import InconsistentVersionWarning
    >>> stored = pickle.dumps(MPBoost())
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", InconsistentVersionWarning)  # refuse such pickles
    ...     ranker = pickle.loads(stored)
    """

    def __init__(self, class_name, original_version, current_version):
        super().__init__(class_name, original_version, current_version)
        self.class_name = class_name
        self.original_version = original_version
        self.current_version = current_version

    def __str__(self):
        written = self.original_version or "a version before 0.1, which its pickles do not name,"
        return (
            f"This {self.class_name} was pickled by sklearn_ltr {written} and is loaded by "
            f"sklearn_ltr {self.current_version}: it may fail, or rank otherwise. Load it with the "
            "version that wrote it, or fit it anew. For other versions store boosted rankers by "
            "`sklearn_ltr.export.to_dict`."
        )


class PositionBiasWarning(UserWarning):
    """Preferences from clicks say where documents were shown, and not which are better."""


class SeparatePositionsWarning(UserWarning):
    """A log does not tell how likely some positions are looked at beside others."""
