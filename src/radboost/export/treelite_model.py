"""A model as one of Treelite, in double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from radboost.export.parts import Exported, ExportError, categories_left, leaf_numbers
from radboost.families.exported import WeightedTree

if TYPE_CHECKING:
    import treelite


def treelite_model(model: Exported) -> treelite.Model:
    """Treelite adds the leaves up: scores of classifiers, predictions of regressors."""
    try:
        from treelite import model_builder
    except ImportError as error:
        raise ImportError("to_treelite needs the package treelite: pip install 'radboost[export]'.") from error
    scores, output = model.scores, model.output
    if scores.products:
        raise ExportError(
            "Treelite has trees only, and this model has columns or products of columns: use to_onnx or to_c."
        )
    trees = scores.trees_or_none()
    n_outputs = scores.n_outputs
    class_of_tree = [_only_target(one) for one in trees] if n_outputs > 1 else [0] * len(trees)
    by_class = all(target >= 0 for target in class_of_tree)
    targets = n_outputs if output.labels is None and not output.has_labels else 1
    classes = n_outputs // targets
    builder = model_builder.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=model_builder.Metadata(
            num_feature=scores.n_features,
            task_type="kMultiClf" if classes > 1 else "kBinaryClf" if output.has_labels else "kRegressor",
            average_tree_output=False,
            num_target=targets,
            num_class=[classes] * targets,
            leaf_vector_shape=(1, 1) if by_class else (targets, classes),
        ),
        tree_annotation=model_builder.TreeAnnotation(
            num_tree=len(trees),
            target_id=[0 if targets == 1 else -1] * len(trees),
            class_id=class_of_tree if by_class else [0 if classes == 1 else -1] * len(trees),
        ),
        postprocessor=model_builder.PostProcessorFunc(
            "exponential" if output.exponential else "identity" if classes == 1 else "identity_multiclass"
        ),
        base_scores=(scores.start - scores.taken_off).tolist(),
    )
    for one in trees:
        outputs = one.amounts if by_class else one.rows(n_outputs)
        _add_tree(builder, one, outputs[:, 0] if by_class else outputs)
    return builder.commit()


def _only_target(one: WeightedTree) -> int:
    """The score that all leaves of a tree add to, -1 if there are several; leaves that add nothing do not count."""
    if one.targets is None:
        return -1
    result = np.unique(one.targets[one.amounts[:, 0] != 0.0])
    return int(result[0]) if len(result) == 1 else -1


def _add_tree(builder: Any, one: WeightedTree, outputs: Any) -> None:
    tree, sets, leaf = one.tree, categories_left(one.tree), leaf_numbers(one.tree)
    builder.start_tree()
    for node in range(tree.n_nodes):
        builder.start_node(node)
        left, feature = int(tree.left[node]), int(tree.feature[node])
        missing_left = bool(tree.missing_left[node])
        if feature < 0:
            builder.leaf(outputs[leaf[node]].tolist())
        elif node in sets:
            builder.categorical_test(
                feature,
                default_left=missing_left,
                category_list=sets[node],
                category_list_right_child=False,
                left_child_key=left,
                right_child_key=left + 1,
            )
        else:
            builder.numerical_test(
                feature,
                float(tree.threshold[node]),
                default_left=missing_left,
                opname="<=",
                left_child_key=left,
                right_child_key=left + 1,
            )
        builder.end_node()
    builder.end_tree()
