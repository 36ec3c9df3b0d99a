"""Trees as the attributes of the operator TreeEnsemble of ai.onnx.ml 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    The operator has a mode BRANCH_MEMBER for sets; onnxruntime up to 1.31 computes it wrongly.
    """

    columns: dict[tuple[int, bool, bytes], int]  # by feature, whether missing values go left, and the set
    tables: dict[int, FloatArray]  # by feature: a row for each category and one for missing values, the new columns

    def column(self, tree: Tree, node: int) -> int | None:
        """The column that decides the split of a node; None for a numeric split."""
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
    from_array = need_onnx().numpy_helper.from_array
    parts: list[dict[str, npt.NDArray[Any]]] = []
    roots, n_leaves = [0], 0
    for tree, amounts, targets in _trees_of_scores(scores.trees_or_none()):
        parts.append(_nodes_and_leaves(tree, amounts, targets, questions, roots[-1], n_leaves))
        roots.append(roots[-1] + len(parts[-1]["nodes_splits"]))
        n_leaves += len(amounts)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return {
        "n_targets": scores.n_outputs,
        "aggregate_function": SUM,
        "post_transform": NO_TRANSFORM,
        "tree_roots": roots[:-1],
        "nodes_modes": from_array(np.full(roots[-1], AT_MOST, dtype=np.uint8), "modes"),
        **{
            name: from_array(values, name) if values.dtype == np.float64 else values.astype(int).tolist()
            for name, values in columns.items()
        },
    }


def _trees_of_scores(trees: Iterable[WeightedTree]) -> Iterator[tuple[Tree, FloatArray, npt.NDArray[np.intp]]]:
    """Trees whose leaves add to one score each: a tree that adds to several is there once for each of them."""
    first = True
    for one in trees:
        if one.targets is not None:
            yield one.tree, one.amounts[:, 0], one.targets
        else:
            for output, amounts in enumerate(one.amounts.T):
                if amounts.any() or first:
                    yield one.tree, amounts, np.full(len(amounts), output)
                first = False
        first = False


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


def _nodes_and_leaves(
    tree: Tree,
    amounts: FloatArray,
    targets: npt.NDArray[np.intp],
    questions: CategoryQuestions,
    first_node: int,
    first_leaf: int,
) -> dict[str, npt.NDArray[Any]]:
    """Attributes of one tree; its nodes and leaves are numbered from these numbers on."""
    order = np.array(left_first(tree))
    inner, leaves = order[tree.feature[order] >= 0], order[tree.feature[order] < 0]
    index_of = np.zeros(tree.n_nodes, dtype=int)
    index_of[inner] = np.arange(len(inner)) + first_node
    index_of[leaves] = np.arange(len(leaves)) + first_leaf
    alone = not len(inner)  # a leaf: written as a node whose branches both lead to it
    nodes = order if alone else inner
    yes = order if alone else tree.left[inner]
    no = order if alone else tree.left[inner] + 1
    splits, features = tree.threshold[nodes].copy(), np.maximum(tree.feature[nodes], 0)
    for index, node in enumerate(inner.tolist()):
        column = questions.column(tree, node)
        if column is not None:
            splits[index], features[index] = 0.5, column
    leaf = leaf_numbers(tree)[leaves]
    return {
        "nodes_featureids": features,
        "nodes_splits": splits,
        "nodes_missing_value_tracks_true": tree.missing_left[nodes],
        "nodes_truenodeids": index_of[yes],
        "nodes_trueleafs": tree.feature[yes] < 0,
        "nodes_falsenodeids": index_of[no],
        "nodes_falseleafs": tree.feature[no] < 0,
        "leaf_targetids": targets[leaf],
        "leaf_weights": amounts[leaf],
    }
