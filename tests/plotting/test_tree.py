# Copyright the sklearn_ltr developers
# SPDX-License-Identifier: BSD-3-Clause
"""Drawings of trees of every ranker that has some."""

import sys

import numpy as np
import pytest
from every_ranker import RANKERS, has, make, make_data
from sklearn.exceptions import NotFittedError

from sklearn_ltr import McRank, MPBoost, RankNet, RegressionRanker
from sklearn_ltr.export import scoring, trees_to_frame
from sklearn_ltr.plotting import plot_tree

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(ax):
    """Boxes of nodes, without the words at the edges."""
    found = [text.get_text() for text in ax.texts]
    return [text for text in found if text not in ("yes", "no")]


@pytest.mark.parametrize("grow_policy", ["leafwise", "symmetric"])
@pytest.mark.parametrize("R", scoring.RANKERS.values(), ids=lambda R: R.__name__)
def test_every_node_is_drawn(R, grow_policy):
    assert R in RANKERS
    if grow_policy == "symmetric" and not has(R, "grow_policy"):
        pytest.skip("grows no trees")
    X, y, groups = make_data(R)
    model = make(R, n_estimators=3, grow_policy=grow_policy).fit(X, y, groups)
    nodes = trees_to_frame(model)
    nodes = nodes[nodes["round"] == 3]
    nodes = nodes[nodes["tree"] == nodes["tree"].max()]
    ax = plot_tree(model, round=3, precision=5)
    expected = set()
    for _, node in nodes.iterrows():
        if np.isnan(node["value"]):
            text = f"{node['feature']} <= {node['threshold']:.5g}"
            if np.isinf(node["threshold"]):
                text = f"{node['feature']} is not missing"
            elif node["missing"] == "left":
                text += "\nor missing"
        else:
            text = f"{node['coefficient'] * node['value']:+.5g}"
        expected.add(f"{text}\nn = {node['n_samples']}")
    assert set(texts(ax)) == expected
    assert len(texts(ax)) == len(nodes)
    assert len(ax.lines) == len(nodes) - 1
    ax.figure.draw_without_rendering()


def test_boxes_are_inside_and_apart():
    X, y, groups = make_data()
    model = make(RegressionRanker, max_leaf_nodes=8).fit(X, y, groups)
    ax = plot_tree(model)
    ax.figure.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    figure = ax.figure.bbox
    for box in boxes.values():
        assert figure.x0 <= box.x0 < box.x1 <= figure.x1
        assert figure.y0 <= box.y0 < box.y1 <= figure.y1
    leaves = [box for text, box in boxes.items() if text[0] in "+-"]
    assert len(leaves) == 8
    assert not any(a.overlaps(b) for i, a in enumerate(leaves) for b in leaves[:i])


def test_which_tree():
    X, y, groups = make_data()
    model = make(McRank, n_estimators=2).fit(X, y, groups)
    n_outputs = model.model_.n_outputs
    assert plot_tree(model, 2, tree=1).get_title() == "round 2, output 1"
    assert plot_tree(model, 2).get_title() == f"round 2, output {n_outputs - 1}"
    with pytest.raises(ValueError, match="tree"):
        plot_tree(model, 2, tree=n_outputs)
    with pytest.raises(ValueError, match="from 1 to 2"):
        plot_tree(model, 3)
    # A constant comes first.
    model = make(RegressionRanker, n_estimators=2).fit(X, y, groups)
    assert len(plot_tree(model, 1).lines) == 8
    assert len(plot_tree(model, 1, tree=0).lines) == 0


def test_axes_names_and_text():
    X, y, groups = make_data()
    model = make(RegressionRanker).fit(X, y, groups)
    _, ax = plt.subplots()
    same = plot_tree(model, ax=ax, feature_names=list("abcde"), fontsize=5)
    assert same is ax
    assert any(text.startswith(tuple("abcde")) for text in texts(ax))
    assert {t.get_fontsize() for t in ax.texts if t.get_text() not in ("yes", "no")} == {5.0}
    assert len(plt.get_fignums()) == 1


def test_refused(monkeypatch):
    X, y, groups = make_data()
    with pytest.raises(NotFittedError):
        plot_tree(RegressionRanker())
    with pytest.raises(TypeError, match="stumps or trees only; got RankNet"):
        plot_tree(make(RankNet).fit(np.nan_to_num(X), y, groups))
    model = make(RegressionRanker).fit(X, y, groups)
    with pytest.raises(ValueError, match="one name for each"):
        plot_tree(model, feature_names=["a"])
    with pytest.raises(ValueError, match="no trees"):
        plot_tree(MPBoost(2).fit(np.ones((4, 2)), [0, 1, 0, 1], np.zeros(4)))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plot_tree requires matplotlib.*pip install"):
        plot_tree(model)
