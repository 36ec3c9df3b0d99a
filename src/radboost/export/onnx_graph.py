"""Export of a model as an ONNX graph in double precision, with the operator TreeEnsemble of ai.onnx.ml 5."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from radboost._typing import FloatArray
from radboost.export.onnx_links import add_link, add_logistic, times_vote_factor
from radboost.export.onnx_nodes import Graph, need_onnx
from radboost.export.onnx_trees import category_questions, tree_attributes
from radboost.export.parts import Exported, ExportedOutput, ExportError, ScoreSum, link_of, plain_labels
from radboost.families.exported import WeightedProduct

if TYPE_CHECKING:
    import onnx

IR_VERSION, OPSET, ML_OPSET = 10, 21, 5
INPUT = "X"


def onnx_model(model: Exported, probabilities: bool) -> onnx.ModelProto:
    """ONNX model of an exported model; names of columns, categories and classes are in its metadata."""
    onnx = need_onnx()
    # onnxruntime before 1.30 adds up trees of a single leaf wrongly, unless they come first.
    scores, output = model.scores.without_constants(), model.output
    link = link_of(output) if output.labels is not None and probabilities else None
    graph = Graph()
    table = _add_scores(graph, scores)
    one = scores.n_outputs == 1 and output.tasks is None
    flat = graph.add("Reshape", table, graph.whole([-1])) if one else table
    if output.tasks is not None:
        _add_tasks(graph, table, output.tasks, probabilities)
    elif output.labels is None:
        clipped = graph.add("Clip", flat, graph.real(-708.0), graph.real(709.0)) if output.exponential else flat
        result = graph.add("Exp", clipped) if output.exponential else flat
        graph.output("prediction", result, "double", 1 if one else 2, scores.n_outputs)
    else:
        kind = _add_label(graph, table, output)
        graph.output("label", graph.last, kind, 1)
        if link is not None:
            calibration = output.calibration
            shrunk = graph.add("Div", table, graph.real(calibration.temperature))
            result = add_link(graph, link, shrunk, output.n_classes)
            if calibration.power:
                result = times_vote_factor(graph, result, table, calibration.power, calibration.ground)
            if calibration.doubt:
                result = graph.add("Mul", result, graph.real(1.0 - calibration.doubt))
                result = graph.add("Add", result, graph.real(calibration.doubt / output.n_classes))
            graph.output("probabilities", result, "double", 2, output.n_classes)
    graph.output("scores", flat, "double", 1 if one else 2, scores.n_outputs)
    opsets = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    proto = onnx.helper.make_model(
        graph.proto(model.title, INPUT, scores.n_features), opset_imports=opsets, ir_version=IR_VERSION
    )
    proto.producer_name = "radboost"
    onnx.helper.set_model_props(proto, _metadata(model))
    return proto


def _metadata(model: Exported) -> dict[str, str]:
    """Metadata by key, as JSON in ASCII."""
    names = model.scores.feature_names
    labels = model.output.labels
    tasks = model.output.tasks
    return {
        "model": model.title,
        "feature_names": json.dumps(None if names is None else list(names)),
        "categories": json.dumps({str(column): list(known) for column, known in model.scores.categories.items()}),
        "classes": json.dumps(None if labels is None else plain_labels(labels)),
        "tasks": json.dumps(None if tasks is None else [plain_labels(pair) for pair in tasks]),
    }


def _add_scores(graph: Graph, scores: ScoreSum) -> str:
    """Name of the matrix of scores, shape (n_rows, n_outputs)."""
    parts = []
    if scores.trees or not scores.products:
        questions = category_questions(scores)
        rows = _with_category_columns(graph, questions.tables) if questions.tables else INPUT
        parts.append(graph.add("TreeEnsemble", rows, domain="ai.onnx.ml", **tree_attributes(scores, questions)))
    lengths = sorted({len(product.features) for product in scores.products})
    parts += [_add_products(graph, [one for one in scores.products if len(one.features) == n]) for n in lengths]
    total = parts[0]
    for part in parts[1:]:
        total = graph.add("Add", total, part)
    if scores.start.any():
        total = graph.add("Add", total, graph.real(scores.start))
    return graph.add("Sub", total, graph.real(scores.taken_off)) if scores.taken_off else total


def _add_products(graph: Graph, products: list[WeightedProduct]) -> str:
    """Sum of products of equally many columns, times their weights."""
    values = ""
    for index in range(len(products[0].features)):
        columns = graph.whole([product.features[index] for product in products])
        factor = graph.add("Gather", INPUT, columns, axis=1)
        values = graph.add("Mul", values, factor) if values else factor
    return graph.add("MatMul", values, graph.real(np.array([product.weights for product in products])))


def _with_category_columns(graph: Graph, tables: Mapping[int, FloatArray]) -> str:
    """X with columns appended for splits on categories; an unknown code is a missing value."""
    parts = [INPUT]
    for feature, table in tables.items():
        codes = graph.add("Floor", graph.add("Gather", INPUT, graph.whole(feature), axis=1))
        n_categories = graph.real(len(table) - 1.0)
        known = graph.add(
            "And", graph.add("GreaterOrEqual", codes, graph.real(0.0)), graph.add("Less", codes, n_categories)
        )
        indices = graph.add("Cast", graph.add("Where", known, codes, n_categories), to=graph.type_number("int64"))
        parts.append(graph.add("Gather", graph.real(table), indices, axis=0))
    return graph.add("Concat", *parts, axis=1)


def _add_tasks(graph: Graph, scores: str, tasks: tuple[tuple[Any, ...], ...], probabilities: bool) -> None:
    """A label and the probability of the second label, for each row and task."""
    if len(set(tasks)) > 1:
        raise ExportError(
            "The tasks have labels of their own, and an ONNX graph has one table of labels for all. Fit with the same "
            "two labels for every task, for example -1 and +1."
        )
    labels, kind = _label_table(tasks[0])
    above = graph.add("Greater", scores, graph.real(0.0))
    index = graph.add("Cast", above, to=graph.type_number("int64"))
    graph.output("label", graph.add("Gather", graph.constant(labels), index, axis=0), kind, 2, len(tasks))
    if probabilities:
        graph.output("probabilities", add_logistic(graph, scores), "double", 2, len(tasks))


def _add_label(graph: Graph, scores: str, output: ExportedOutput) -> str:
    """Add a node with the label of each row; returns the type of the labels."""
    labels, kind = _label_table(output.labels or ())
    if output.costs is not None:
        probabilities = add_link(graph, link_of(output), scores, output.n_classes)
        costs = graph.add("MatMul", probabilities, graph.real(output.costs))
        index = graph.add("ArgMin", costs, axis=1, keepdims=0)
    elif output.n_classes == 2:
        above = graph.add("Greater", graph.add("Reshape", scores, graph.whole([-1])), graph.real(0.0))
        index = graph.add("Cast", above, to=graph.type_number("int64"))
    else:
        index = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(labels), index, axis=0)
    return kind


def _label_table(given: tuple[Any, ...]) -> tuple[Any, str]:
    """Labels as an array of a type that ONNX has, and the name of that type."""
    labels = plain_labels(given)
    kinds = {type(label) for label in labels}
    if kinds == {str}:
        try:
            return np.array([label.encode() for label in labels], dtype=object), "string"
        except UnicodeEncodeError as error:
            raise ExportError(f"A class label cannot be written as UTF-8, which ONNX asks for: {error}.") from error
    if kinds == {bool}:
        return np.array(labels, dtype=np.bool_), "bool"
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64), "int64"
    if kinds <= {int, float}:
        return np.array(labels, dtype=np.float64), "double"
    named = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ExportError(f"The class labels are of several types ({named}), and ONNX has tables of one type only.")
