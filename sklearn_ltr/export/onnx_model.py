# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Rankers as ONNX: sums of trees, linear functions, nets, probabilities of grades, and blends."""

import json

import numpy as np

from sklearn_ltr import rankers
from sklearn_ltr.export.functions import ExpectedGrade, Net, Sum, Trees
from sklearn_ltr.export.rounding import float32
from sklearn_ltr.export.scoring import scoring_of
from sklearn_ltr.validation import check_choice

DTYPES = ("float64", "float32")

# The oldest versions that have all the operators, for readers as old as possible.
OPSET, ML_OPSET, IR_VERSION = 15, 3, 8
ML = "ai.onnx.ml"

ACTIVATIONS = {"tanh": "Tanh", "logistic": "Sigmoid", "relu": "Relu"}


def to_onnx(ranker, *, dtype="float64"):
    """A fitted ranker as an ONNX model.

    Needs the package `onnx`; ``pip install "sklearn_ltr[onnx]"`` installs it, and `onnxruntime`,
    which runs models.

    Parameters
    ----------
    ranker : ranker, pipeline or search
        Fitted: any ranker whose scores depend on the row alone and that is no sum of regressors
        given as `estimator`, so not `FeatureRank`, and `BlendedRanker` with ``standardize="train"``
        only. Scalers before it in a pipeline, `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` and
        `RobustScaler`, become a part of it. For other steps see `register_onnx_converters`.
    dtype : {"float64", "float32"}, default="float64"
        Type of the features and scores of the model. Some readers, such as Vespa, know 32 bits
        only.

    Returns
    -------
    model : onnx.ModelProto
        With an input ``X`` of shape (n_samples, n_features), an output ``scores`` of shape
        (n_samples, 1) and, if `fit` saw names, these as a list in JSON, in the metadata as
        ``feature_names``. ``onnx.save(model, path)`` stores it.

    Warns
    -----
    UserWarning
        With "float32", if training values that a model of trees tells apart are the same number in
        32 bits.

    Raises
    ------
    ImportError
        If `onnx` is not installed.
    TypeError, ValueError
        If the scores are no such function, or a step of a pipeline cannot be a part of it. The
        message says which, and why.
    NotFittedError
        If the ranker is not fitted.

    See Also
    --------
    register_onnx_converters : For pipelines with other steps.
    to_xgboost_json : Sums of trees, for what reads XGBoost's models.

    Notes
    -----
    With "float64" all rows go to the sides of the splits where they go here, missing values
    included. Sums of trees are of 64 bits; ONNX then rounds them to 32.

    With "float32" this holds of values of 32 bits, and of training values rounded to 32 bits, the
    latter without scalers. All numbers are then of 32 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_ltr import LambdaMART
    >>> from sklearn_ltr.datasets import make_ranking
    >>> from sklearn_ltr.export import to_onnx
    >>> X, y, groups = make_ranking(n_queries=50, random_state=0)
    >>> ranker = LambdaMART(n_estimators=20).fit(X, y, groups=groups)
    >>> model = to_onnx(ranker)  # doctest: +SKIP
    >>> import onnxruntime  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())  # doctest: +SKIP
    >>> scores = session.run(None, {"X": X})[0].ravel()  # doctest: +SKIP
    >>> np.abs(scores - ranker.predict(X)).max() < 1e-6  # doctest: +SKIP
    True
    """
    onnx = _import("onnx")
    check_choice(dtype, "dtype", DTYPES)
    scoring = scoring_of(ranker)
    graph = _Graph(dtype)
    graph.add_scores(scoring, "X", "scores")
    real = _type(dtype)
    nodes = [
        onnx.helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes)
        for op, inputs, outputs, domain, attributes in graph.nodes
    ]
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            nodes,
            scoring.what,
            [onnx.helper.make_tensor_value_info("X", real, [None, scoring.n_features])],
            [onnx.helper.make_tensor_value_info("scores", real, [None, 1])],
            [onnx.numpy_helper.from_array(x, name) for name, x in graph.constants.items()],
        ),
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid(ML, ML_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name="sklearn_ltr",
    )
    if scoring.names is not None:
        onnx.helper.set_model_props(model, {"feature_names": json.dumps(scoring.names)})
    onnx.checker.check_model(model)
    return model


def register_onnx_converters():
    """Let skl2onnx convert the rankers, so that a pipeline converts as one.

    Needs the package `skl2onnx`. After it ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn``
    know the rankers that `to_onnx` exports, behind whatever steps skl2onnx knows, such as
    `sklearn.impute.SimpleImputer` or `sklearn.compose.ColumnTransformer`.

    Raises
    ------
    ImportError
        If `skl2onnx` is not installed.

    See Also
    --------
    to_onnx : Without skl2onnx; exact where scalers stand before trees.

    Notes
    -----
    skl2onnx computes scalers in the type of the input: of 32 bits, a row at a threshold may come to
    another side of it. Give it an input of 64 bits, a `DoubleTensorType`, or take `to_onnx`, where
    scalers are all that there is.

    Examples
    --------
    >>> from sklearn_ltr.export import register_onnx_converters
    >>> register_onnx_converters()  # doctest: +SKIP
    """
    skl2onnx = _import("skl2onnx")
    for name in rankers.__all__:
        skl2onnx.update_registered_converter(
            getattr(rankers, name), f"SklearnLtr{name}", _output_of_converter, _convert
        )


def _output_of_converter(operator):
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    kind = DoubleTensorType if is_double else FloatTensorType
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), 1])


def _convert(scope, operator, container):
    """The converter of skl2onnx for all rankers."""
    from skl2onnx.common.data_types import DoubleTensorType

    is_double = isinstance(operator.inputs[0].type, DoubleTensorType)
    dtype = "float64" if is_double else "float32"
    graph = _Graph(dtype, scope.get_unique_variable_name)
    x = graph.add("Cast", [operator.inputs[0].full_name], to=_type(dtype))
    graph.add_scores(scoring_of(operator.raw_operator), x, operator.outputs[0].full_name)
    for name, array in graph.constants.items():
        container.add_initializer(name, _type(dtype), array.shape, array.ravel().tolist())
    for op, inputs, outputs, domain, attributes in graph.nodes:
        version = ML_OPSET if domain else None
        name = scope.get_unique_operator_name(op)
        container.add_node(
            op, inputs, outputs, op_domain=domain, op_version=version, name=name, **attributes
        )


def _import(package):
    try:
        module = __import__(package)
    except ImportError as error:
        raise ImportError(
            f'Models of ONNX need the package `{package}`: pip install "sklearn_ltr[onnx]".'
        ) from error
    return module


def _type(dtype):
    """ONNX's number of a type."""
    onnx = _import("onnx")
    return onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


class _Graph:
    """Nodes and constants that compute scores.

    Parameters
    ----------
    dtype : {"float64", "float32"}
    unique : callable, default=None
        Makes a name unique; None numbers them.

    Attributes
    ----------
    nodes : list of (operator, inputs, outputs, domain, attributes)
    constants : dict of ndarrays
    """

    def __init__(self, dtype, unique=None):
        self.dtype = dtype
        self.nodes, self.constants = [], {}
        self._unique = unique or (lambda name: f"{name}_{len(self.nodes)}_{len(self.constants)}")

    def add(self, op, inputs, domain="", output=None, **attributes):
        """Add a node, and return the name of its output."""
        output = output or self._unique(op)
        self.nodes.append((op, inputs, [output], domain, attributes))
        return output

    def constant(self, name, array):
        """Add a constant, and return its name."""
        name, array = self._unique(name), np.asarray(array, dtype=np.float64)
        self.constants[name] = float32(array) if self.dtype == "float32" else array
        return name

    def add_scores(self, scoring, x, output):
        """Add all that makes scores of shape (n_samples, 1) of x."""
        if self.dtype == "float32":
            scoring.warn_of_torn(list(_all_trees(scoring.function)))
        self.add("Identity", [self._function(scoring.function, x)], output=output)

    def _function(self, function, x):
        if isinstance(function, Trees):
            return self._trees([function], x)
        if isinstance(function, Net):
            return self._net(function, x)
        if isinstance(function, ExpectedGrade):
            return self._expected_grade(function, x)
        assert isinstance(function, Sum), function
        first, *others = (self._function(part, x) for part in function.parts)
        for other in others:
            first = self.add("Add", [first, other])
        return first

    def _net(self, net, x):
        layers = list(zip(net.weights, net.intercepts, strict=True))
        for i, (weights, intercepts) in enumerate(layers):
            x = self._affine(x, weights, intercepts)
            if i < len(layers) - 1:
                x = self.add(ACTIVATIONS[net.activation], [x])
        return x

    def _affine(self, x, weights, intercepts):
        x = self.add("MatMul", [x, self.constant("weights", weights)])
        return self.add("Add", [x, self.constant("intercepts", intercepts)])

    def _expected_grade(self, function, x):
        """As `McRank` makes scores of its outputs."""
        x, values = self._trees(function.outputs, x), function.values
        if function.method == "classification":
            x, weights, shift = self.add("Softmax", [x], axis=1), values, 0.0
        else:
            x, weights, shift = self.add("Sigmoid", [x]), np.diff(values), values[0]
        shift = function.scale * shift + function.shift
        return self._affine(x, function.scale * weights[:, None], [shift])

    def _trees(self, outputs, x):
        """A node for some sums of trees."""
        onnx = _import("onnx")
        narrow = self.dtype == "float32"
        parts = [(target, nodes) for target, trees in enumerate(outputs) for nodes in trees.nodes]
        trees = [_Columns(number, *part, narrow) for number, part in enumerate(parts)]
        trees = trees or [_Columns.of_nothing(narrow)]
        joined = {
            name: np.concatenate([getattr(tree, name) for tree in trees]) for name in vars(trees[0])
        }
        modes = np.where(joined.pop("is_leaf"), "LEAF", "BRANCH_LEQ").tolist()
        numbers = {
            "nodes_values": joined.pop("nodes_values"),
            "target_weights": joined.pop("target_weights"),
            "base_values": np.array([trees.constant for trees in outputs]),
        }
        if narrow:
            attributes = {name: float32(values).tolist() for name, values in numbers.items()}
        else:
            attributes = {
                f"{name}_as_tensor": onnx.numpy_helper.from_array(values, name)
                for name, values in numbers.items()
            }
        attributes |= {name: values.tolist() for name, values in joined.items()}
        y = self.add(
            "TreeEnsembleRegressor",
            [x],
            ML,
            n_targets=len(outputs),
            nodes_modes=modes,
            **attributes,
        )
        return y if narrow else self.add("Cast", [y], to=_type(self.dtype))


class _Columns:
    """The attributes of TreeEnsembleRegressor for one tree."""

    def __init__(self, number, target, nodes, narrow):
        left, self.is_leaf = nodes.left, nodes.feature < 0
        n_nodes, leaves = len(left), np.flatnonzero(self.is_leaf)
        self.nodes_treeids = np.full(n_nodes, number)
        self.nodes_nodeids = np.arange(n_nodes)
        self.nodes_featureids = np.maximum(nodes.feature, 0)
        threshold = nodes.narrow.astype(np.float64) if narrow else nodes.threshold
        self.nodes_values = np.where(self.is_leaf, 0.0, threshold)
        self.nodes_truenodeids = np.where(self.is_leaf, 0, left)
        self.nodes_falsenodeids = np.where(self.is_leaf, 0, left + 1)
        tracks_true = ~nodes.missing_right & ~self.is_leaf
        self.nodes_missing_value_tracks_true = tracks_true.astype(int)
        self.target_treeids = np.full(len(leaves), number)
        self.target_nodeids = leaves
        self.target_ids = np.full(len(leaves), target)
        self.target_weights = nodes.value[leaves]

    @classmethod
    def of_nothing(cls, narrow):
        """A leaf of value 0, as there must be a tree."""
        return cls(0, 0, _LEAF, narrow)


class _Leaf:
    feature, left = np.array([-1]), np.array([0])
    narrow, threshold, value = np.zeros(1, dtype=np.float32), np.zeros(1), np.zeros(1)
    missing_right = np.zeros(1, dtype=bool)


_LEAF = _Leaf()


def _all_trees(function):
    if isinstance(function, Trees):
        yield function
    elif isinstance(function, ExpectedGrade):
        yield from function.outputs
    elif isinstance(function, Sum):
        for part in function.parts:
            yield from _all_trees(part)
