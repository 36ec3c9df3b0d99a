"""Links (scores to probabilities) as nodes of an ONNX graph, for `onnx_graph`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from radboost.export.onnx_nodes import Graph
from radboost.export.parts import formula_of, refuse_probabilities
from radboost.losses.link import Link

# Classes; the link "balance" needs about ten nodes per class, and n_classes^2 values per row.
MOST_BALANCED = 256


def add_link(graph: Graph, link: Link, scores: str, n_classes: int) -> str:
    """Name of the matrix of probabilities, shape (n_rows, n_classes)."""
    if link.scale != 1.0:
        scores = graph.add("Mul", scores, graph.real(link.scale))
    return formula_of(link, LINKS)(graph, scores, n_classes)


def times_vote_factor(graph: Graph, probabilities: str, scores: str, power: float, prior: float) -> str:
    """Probabilities times (prior + score - lowest score)^power, normalized; scaled first, so that nothing overflows."""
    lowest = graph.add("ReduceMin", scores, graph.whole([1]), keepdims=1)
    votes = graph.add("Add", graph.add("Sub", scores, lowest), graph.real(prior))
    ratios = graph.add("Div", votes, graph.add("ReduceMax", votes, graph.whole([1]), keepdims=1))
    return _normalized(graph, graph.add("Mul", probabilities, graph.add("Pow", ratios, graph.real(power))))


def add_logistic(graph: Graph, values: str) -> str:
    """1 / (1 + exp(-v)); 0, as it should be, if the exponential overflows."""
    one = graph.real(1.0)
    return graph.add("Div", one, graph.add("Add", one, graph.add("Exp", graph.add("Neg", values))))


def _logistic(graph: Graph, scores: str, n_classes: int) -> str:
    both = graph.add("Mul", scores, graph.real([-1.0, 1.0]))
    return add_logistic(graph, both)


def _offset_logistic(graph: Graph, scores: str, n_classes: int) -> str:
    both = graph.add("Mul", scores, graph.real([-1.0, 1.0]))
    return _normalized(graph, add_logistic(graph, graph.add("Add", both, graph.real(1.0))))


def _normalized(graph: Graph, amounts: str) -> str:
    """Rows divided by their sums."""
    return graph.add("Div", amounts, graph.add("ReduceSum", amounts, graph.whole([1]), keepdims=1))


def _odds(graph: Graph, scores: str) -> str:
    """exp(f - the largest f)."""
    return graph.add("Exp", graph.add("Sub", scores, graph.add("ReduceMax", scores, graph.whole([1]), keepdims=1)))


def _softmax(graph: Graph, scores: str, n_classes: int) -> str:
    return _normalized(graph, _odds(graph, scores))


def _compsum(graph: Graph, scores: str, n_classes: int) -> str:
    odds = _odds(graph, scores)
    others = graph.add("Sub", graph.add("ReduceSum", odds, graph.whole([1]), keepdims=1), odds)
    factor = graph.add("Add", odds, graph.add("Mul", others, graph.real(np.e)))
    return _normalized(graph, graph.add("Mul", odds, factor))


def _normalized_logistic(graph: Graph, scores: str, n_classes: int) -> str:
    """Logistic function exp(min(v, 0)) / (1 + exp(-abs v)) of scores, divided by that of the largest, normalized."""
    largest = graph.add("ReduceMax", scores, graph.whole([1]), keepdims=1)
    zero, one = graph.real(0.0), graph.real(1.0)

    def lower(values: str) -> str:
        return graph.add("Min", values, zero)

    def denominator(values: str) -> str:
        return graph.add("Add", one, graph.add("Exp", graph.add("Neg", graph.add("Abs", values))))

    ratio = graph.add("Div", denominator(largest), denominator(scores))
    powers = graph.add("Exp", graph.add("Sub", lower(scores), lower(largest)))
    return _normalized(graph, graph.add("Mul", powers, ratio))


def _balance(graph: Graph, scores: str, n_classes: int) -> str:
    """Elimination of radboost.objectives.sum (Grassmann, Taksar and Heyman, 1985), class by class."""
    if n_classes > MOST_BALANCED:
        refuse_probabilities(
            f"objective='sum' with the logistic loss takes an elimination over {n_classes} classes, and ONNX graphs "
            f"are made for at most {MOST_BALANCED}"
        )
    ranked, order = graph.add_several("TopK", 2, scores, graph.whole([n_classes]), axis=1)
    gaps = graph.add(
        "Sub", graph.add("Unsqueeze", ranked, graph.whole([1])), graph.add("Unsqueeze", ranked, graph.whole([2]))
    )
    rates = add_logistic(graph, graph.add("Add", gaps, graph.real(1.0)))
    columns = []
    for last in range(n_classes - 1, 0, -1):
        sizes = graph.whole([last, 1])
        left, right = graph.add_several("Split", 2, rates, sizes, axis=2)
        inner, away = graph.add_several("Split", 2, left, sizes, axis=1)
        column, _ = graph.add_several("Split", 2, right, sizes, axis=1)
        column = graph.add("Div", column, graph.add("ReduceSum", away, graph.whole([2]), keepdims=1))
        columns.append(column)
        rates = graph.add("Add", inner, graph.add("Mul", column, away))
    probabilities = graph.add("Div", rates, rates)  # ones, of the shape (rows, 1, 1)
    for column in reversed(columns):
        probability = graph.add("ReduceSum", graph.add("Mul", probabilities, column), graph.whole([1]), keepdims=1)
        probabilities = graph.add("Concat", probabilities, probability, axis=1)
    probabilities = _normalized(graph, graph.add("Squeeze", probabilities, graph.whole([2])))
    _, indices = graph.add_several("TopK", 2, order, graph.whole([n_classes]), axis=1, largest=0)
    return graph.add("GatherElements", probabilities, indices, axis=1)


LINKS: dict[str, Callable[[Graph, str, int], str]] = {
    "logistic": _logistic,
    "offset_logistic": _offset_logistic,
    "softmax": _softmax,
    "compsum": _compsum,
    "logistic_shares": _normalized_logistic,
    "balance": _balance,
}
