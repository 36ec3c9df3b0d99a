"""Trees as the attributes of the operator TreeEnsemble of ai.onnx.ml 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.export.onnx_nodes import need_onnx
from radboost.export.parts import ScoreSum, leaf_numbers
from radboost.families.exported import WeightedTree
from radboost.trees.tree import Tree

AT_MOST = 0  # the mode of a node: BRANCH_LEQ
SUM, NO_TRANSFORM = 1, 0


@dataclass(frozen=True)
class CategoryQuestions:
    """The different questions about categories, each answered by a column that follows those of X: 0 left, 1 right.

    The operator has a mode BRANCH_MEMBER for sets; onnxruntime up to 1.31 gives wrong answers with it.
    """

    columns: dict[tuple[int, bool, bytes], int]  # by feature, whether missing values go left, and the set
    tables: dict[int, FloatArray]  # by feature: a line for each category and one for missing values, the new columns

    def column(self, tree: Tree, node: int) -> int | None:
        """The column that answers the question of a node; None if it asks for a number."""
        index = int(np.searchsorted(tree.category_nodes, node))
        if index == len(tree.category_nodes) or tree.category_nodes[index] != node:
            return None
        return self.columns[_question(tree, index)]


def category_questions(scores: ScoreSum) -> CategoryQuestions:
    """Attributes of all questions about categories, feature by feature."""
    result = {_question(one.tree, index) for one in scores.trees for index in range(len(one.tree.category_nodes))}
    columns: dict[tuple[int, bool, bytes], int] = {}
    tables: dict[int, FloatArray] = {}
    for feature in sorted({question[0] for question in result}):
        own = sorted(question for question in result if question[0] == feature)
        bits = np.array([np.unpackbits(np.frombuffer(words, np.uint8), bitorder="little") for _, _, words in own])
        missing_left = np.array([[left] for _, left, _ in own])
        goes_left = np.hstack([bits[:, : len(scores.categories[feature])], missing_left])
        tables[feature] = np.ascontiguousarray(1.0 - goes_left.T)
        columns |= {question: scores.n_features + len(columns) + index for index, question in enumerate(own)}
    return CategoryQuestions(columns, tables)


def _question(tree: Tree, index: int) -> tuple[int, bool, bytes]:
    node = int(tree.category_nodes[index])
    return int(tree.feature[node]), bool(tree.missing_left[node]), tree.category_sets[index].astype("<u8").tobytes()


def tree_attributes(scores: ScoreSum, questions: CategoryQuestions) -> dict[str, Any]:
    """The attributes of one operator for all trees."""
    builder = _Builder(questions)
    for one in scores.trees_or_none():
        if one.targets is not None:
            builder.add(one, one.amounts[:, 0], one.targets)
            continue
        # A leaf of the operator adds to one score: a tree that adds to several is there once for each.
        for output, amounts in enumerate(one.amounts.T):
            if amounts.any() or not builder.roots:
                builder.add(one, amounts, np.full(len(amounts), output))
    return builder.attributes(scores.n_outputs)


def left_first(tree: Tree) -> list[int]:
    """The nodes in the order of a walk that takes the left branch first.

    Earlier versions of onnxruntime mix up the leaves of trees that are written in another order.
    """
    order, open_nodes = [], [0]
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        if tree.feature[node] >= 0:
            open_nodes += [int(tree.left[node]) + 1, int(tree.left[node])]
    return order


class _Builder:
    def __init__(self, questions: CategoryQuestions) -> None:
        self.questions = questions
        self.roots: list[int] = []
        self.features: list[npt.NDArray[Any]] = []
        self.splits: list[npt.NDArray[Any]] = []
        self.missing: list[npt.NDArray[Any]] = []
        # For the branches that are true and those that are not: the index of a node or a leaf, and whether it is one.
        self.places: tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]] = ([], [])
        self.are_leaves: tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]]] = ([], [])
        self.weights: list[npt.NDArray[Any]] = []
        self.targets: list[npt.NDArray[Any]] = []
        self.n_nodes = self.n_leaves = 0

    def add(self, one: WeightedTree, amounts: npt.NDArray[Any], targets: npt.NDArray[Any]) -> None:
        tree = one.tree
        order = np.array(left_first(tree))
        inner, leaves = order[tree.feature[order] >= 0], order[tree.feature[order] < 0]
        leaf = leaf_numbers(tree)
        amounts, targets = amounts[leaf[leaves]], targets[leaf[leaves]]
        splits, features = tree.threshold[inner].copy(), tree.feature[inner].astype(np.int64)
        for index, node in enumerate(inner.tolist()):
            column = self.questions.column(tree, node)
            if column is not None:
                splits[index], features[index] = 0.5, column
        children, missing = (tree.left[inner], tree.left[inner] + 1), tree.missing_left[inner]
        if not len(inner):  # a leaf alone: a node whose branches both lead to it
            splits, missing, features = np.zeros(1), np.zeros(1, np.uint8), np.zeros(1, np.int64)
            children = (np.zeros(1, int), np.zeros(1, int))
        place_of = np.zeros(tree.n_nodes, dtype=int)
        place_of[inner] = np.arange(len(inner)) + self.n_nodes
        place_of[leaves] = np.arange(len(leaves)) + self.n_leaves
        for side, nodes in enumerate(children):
            self.are_leaves[side].append(tree.feature[nodes] < 0)
            self.places[side].append(place_of[nodes])
        self.roots.append(self.n_nodes)
        for held, values in (
            (self.splits, splits),
            (self.missing, missing),
            (self.features, features),
            (self.weights, amounts),
            (self.targets, targets),
        ):
            held.append(values)
        self.n_nodes += len(splits)
        self.n_leaves += len(amounts)

    def attributes(self, n_outputs: int) -> dict[str, Any]:
        from_array = need_onnx().numpy_helper.from_array

        def whole(parts: list[npt.NDArray[Any]]) -> list[int]:
            return [int(value) for value in np.concatenate(parts)]

        def real(name: str, values: Any) -> Any:
            return from_array(np.asarray(values, dtype=np.float64), name)

        return {
            "n_targets": n_outputs,
            "aggregate_function": SUM,
            "post_transform": NO_TRANSFORM,
            "tree_roots": self.roots,
            "nodes_featureids": whole(self.features),
            "nodes_modes": from_array(np.full(self.n_nodes, AT_MOST, dtype=np.uint8), "modes"),
            "nodes_splits": real("splits", np.concatenate(self.splits)),
            "nodes_truenodeids": whole(self.places[0]),
            "nodes_falsenodeids": whole(self.places[1]),
            "nodes_trueleafs": whole(self.are_leaves[0]),
            "nodes_falseleafs": whole(self.are_leaves[1]),
            "nodes_missing_value_tracks_true": whole(self.missing),
            "leaf_targetids": whole(self.targets),
            "leaf_weights": real("weights", np.concatenate(self.weights)),
        }
