"""Trees as the attributes of the operator TreeEnsemble of ai.onnx.ml 5."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.export.onnx_nodes import need_onnx
from radboost.export.parts import ScoreSum, WeightedTree, categories_left, leaf_numbers

AT_MOST, MEMBER = 0, 6  # modes of nodes: BRANCH_LEQ and BRANCH_MEMBER
SUM, NO_TRANSFORM = 1, 0


def tree_attributes(scores: ScoreSum) -> dict[str, Any]:
    """The attributes of one operator for all trees."""
    builder = _Builder()
    for one in scores.trees_or_none():
        if one.targets is not None:
            builder.add(one, one.amounts[:, 0], one.targets)
            continue
        # A leaf of the operator adds to one score: a tree that adds to several is there once for each.
        for output, amounts in enumerate(one.amounts.T):
            if amounts.any() or not builder.roots:
                builder.add(one, amounts, np.full(len(amounts), output))
    return builder.attributes(scores.n_outputs)


class _Builder:
    def __init__(self) -> None:
        self.roots: list[int] = []
        self.features: list[npt.NDArray[Any]] = []
        self.splits: list[npt.NDArray[Any]] = []
        self.modes: list[npt.NDArray[Any]] = []
        self.missing: list[npt.NDArray[Any]] = []
        # For the branches that are true and those that are not: the place of a node or a leaf, and whether it is one.
        self.places: tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]] = ([], [])
        self.are_leaves: tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]] = ([], [])
        self.members: list[float] = []
        self.weights: list[npt.NDArray[Any]] = []
        self.targets: list[npt.NDArray[Any]] = []
        self.n_nodes = self.n_leaves = 0

    def add(self, one: WeightedTree, amounts: npt.NDArray[Any], targets: npt.NDArray[Any]) -> None:
        tree = one.tree
        inner = np.flatnonzero(tree.feature >= 0)
        modes, splits = np.full(len(inner), AT_MOST), tree.threshold[inner].copy()
        for node, codes in categories_left(tree).items():
            place = int(np.searchsorted(inner, node))
            modes[place], splits[place] = (MEMBER, 0.0) if codes else (AT_MOST, -np.inf)
            self.members += [*map(float, codes), np.nan] if codes else []
        children = (tree.left[inner], tree.left[inner] + 1)
        missing, features = tree.missing_left[inner], tree.feature[inner]
        if not len(inner):  # a leaf alone: a node whose branches both lead to it
            modes, splits, missing, features = np.zeros(1, int), np.zeros(1), np.zeros(1, int), np.zeros(1, int)
            children = (np.zeros(1, int), np.zeros(1, int))
        leaf, place_of = leaf_numbers(tree), np.cumsum(tree.feature >= 0) - 1
        for side, nodes in enumerate(children):
            is_leaf = leaf[nodes] >= 0
            self.are_leaves[side].append(is_leaf)
            self.places[side].append(np.where(is_leaf, leaf[nodes] + self.n_leaves, place_of[nodes] + self.n_nodes))
        self.roots.append(self.n_nodes)
        for held, values in (
            (self.modes, modes),
            (self.splits, splits),
            (self.missing, missing),
            (self.features, features),
            (self.weights, amounts),
            (self.targets, targets),
        ):
            held.append(values)
        self.n_nodes += len(modes)
        self.n_leaves += len(amounts)

    def attributes(self, n_outputs: int) -> dict[str, Any]:
        from_array = need_onnx().numpy_helper.from_array

        def whole(parts: list[npt.NDArray[Any]]) -> list[int]:
            return [int(value) for value in np.concatenate(parts)]

        def real(name: str, values: Any) -> Any:
            return from_array(np.asarray(values, dtype=np.float64), name)

        found = {
            "n_targets": n_outputs,
            "aggregate_function": SUM,
            "post_transform": NO_TRANSFORM,
            "tree_roots": self.roots,
            "nodes_featureids": whole(self.features),
            "nodes_modes": from_array(np.concatenate(self.modes).astype(np.uint8), "modes"),
            "nodes_splits": real("splits", np.concatenate(self.splits)),
            "nodes_truenodeids": whole(self.places[0]),
            "nodes_falsenodeids": whole(self.places[1]),
            "nodes_trueleafs": whole(self.are_leaves[0]),
            "nodes_falseleafs": whole(self.are_leaves[1]),
            "nodes_missing_value_tracks_true": whole(self.missing),
            "leaf_targetids": whole(self.targets),
            "leaf_weights": real("weights", np.concatenate(self.weights)),
        }
        return {**found, "membership_values": real("members", self.members)} if self.members else found
