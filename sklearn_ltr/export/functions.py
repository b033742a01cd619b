# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""What scores can be as functions of a row: what the writers of all formats see of a model."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Nodes:
    """A tree times its coefficient, on the columns that are given.

    Attributes
    ----------
    feature, left, missing_right, gain, cover
        As of `sklearn_ltr.weak.tree.Tree`.
    threshold : ndarray of shape (n_nodes,), dtype float64
        Rows with a value up to this go to the left.
    narrow : ndarray of shape (n_nodes,), dtype float32
        The same for values of 32 bits: training values, rounded to 32 bits, go where they went.
    torn : ndarray of shape (n_nodes,), dtype bool
        Whether no threshold of 32 bits does that.
    value : ndarray of shape (n_nodes,), dtype float64
        Of leaves, the coefficient included.
    """

    feature: np.ndarray
    threshold: np.ndarray
    narrow: np.ndarray
    torn: np.ndarray
    missing_right: np.ndarray
    left: np.ndarray
    gain: np.ndarray
    cover: np.ndarray | None
    value: np.ndarray

    def times(self, factor):
        return Nodes(**(vars(self) | {"value": factor * self.value}))

    def in_order(self, order):
        """The nodes in another order, which leaves the pairs of children where they are."""
        arrays = {name: x if x is None else x[order] for name, x in vars(self).items()}
        return Nodes(**arrays)


@dataclass
class Trees:
    """A constant and a sum of trees that all have splits.

    Attributes
    ----------
    constant : float
    nodes : list of Nodes
    missing : ndarray of shape (n_features,), dtype bool
        Features split on that had missing values in training.
    is_missing_known : bool
        Whether `missing` is all there is to know; of old stored models it is not.
    """

    constant: float
    nodes: list
    missing: np.ndarray
    is_missing_known: bool = True

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        nodes = [nodes.times(factor) for nodes in self.nodes]
        constant = factor * self.constant + shift
        return Trees(constant, nodes, self.missing, self.is_missing_known)


@dataclass
class Net:
    """A linear function, or a net with hidden layers.

    Attributes
    ----------
    weights : list of ndarrays of shape (n_inputs, n_outputs)
    intercepts : list of ndarrays of shape (n_outputs,)
        Of all layers, the last included.
    activation : str
        Of the hidden layers: "tanh", "logistic" or "relu".
    """

    weights: list
    intercepts: list
    activation: str = "tanh"

    @property
    def is_linear(self):
        return len(self.weights) == 1

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        weights = [*self.weights[:-1], factor * self.weights[-1]]
        intercepts = [*self.intercepts[:-1], factor * self.intercepts[-1] + shift]
        return Net(weights, intercepts, self.activation)


@dataclass
class ExpectedGrade:
    """`McRank`: the mean of values of the grades, by probabilities of which trees are the logits.

    Attributes
    ----------
    outputs : list of Trees
    values : ndarray of shape (n_levels,)
    method : {"classification", "ordinal"}
    scale, shift : float
        The score is scale * mean + shift.
    """

    outputs: list
    values: np.ndarray
    method: str
    scale: float = 1.0
    shift: float = 0.0

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        scale, shift = factor * self.scale, factor * self.shift + shift
        return ExpectedGrade(self.outputs, self.values, self.method, scale, shift)


@dataclass
class Sum:
    """A sum of functions of different kinds."""

    parts: list

    def times(self, factor, shift=0.0):
        """factor * self + shift"""
        first, *others = self.parts
        return Sum([first.times(factor, shift), *(part.times(factor) for part in others)])
