"""Handlers of the server's messages on a client, and the state that a client keeps between messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._tables import column_names
from radboost.estimators import DeepBoostClassifier
from radboost.federated.client import ClientRows
from radboost.federated.domains import domain_gradient, domain_moments, domain_ranges
from radboost.federated.fixed_point import Scales, plain, to_words
from radboost.federated.messages import (
    Arrays,
    Facts,
    Message,
    ProtocolError,
    pack_hypotheses,
    unpack_hypotheses,
    unpack_task,
)
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training
from radboost.rows.read import dense_rows

Content = tuple[Facts, Arrays]


class ClientState(Protocol):
    """Storage that outlives a message, such as the state that Flower keeps for a node."""

    def load(self, slot: str) -> Message | None: ...
    def store(self, slot: str, message: Message) -> None: ...


@dataclass(frozen=True)
class ClientData:
    """Rows of numbers, in which NaN is a missing value; their labels; the domain of all of them; the client's name."""

    X: Any
    y: Any
    domain: Any
    name: str


class Client:
    """Replies to messages with sums over its rows.

    `proposes` has the families of hypotheses that the client trains for others.
    """

    def __init__(self, load: Callable[[], ClientData], state: ClientState, proposes: Collection[str] = ()) -> None:
        self._load, self.state, self._proposes = load, state, proposes
        self._data: tuple[ClientData, npt.NDArray[np.float64], npt.NDArray[Any]] | None = None
        self._rows: ClientRows | None = None

    def handle(self, message: Message) -> Message:
        data, X, y = self._own_data()
        head = {"exchange": message.facts.get("exchange"), "name": data.name}
        if message.action == "propose" and message.facts.get("family") not in self._proposes:
            raise ProtocolError(
                f"this client does not train {message.facts.get('family')!r} for others; it says what it trains: "
                "client_app(..., proposes=...)"
            )
        if message.action == "register":
            return Message(message.action, {**head, **_description(data, X, y)})
        if message.action in _BEFORE_BOOSTING:
            facts, arrays = _BEFORE_BOOSTING[message.action](X, message)
            return Message(message.action, {**head, **facts}, arrays)
        rows = self._begin(message) if "task" in message.facts else self._restored()
        if rows is None:
            return Message(message.action, {**head, "position": -1})
        # What hypotheses of the message are indices into.
        hypotheses = [*rows.task.candidates, *unpack_hypotheses(message, rows.task.n_features, "inline")]
        self._take_steps(rows, message, hypotheses)
        head["position"] = rows.position
        if rows.position != message.facts["position"]:
            return Message(message.action, head)
        facts, arrays = _BOOSTING[message.action](rows, message, hypotheses)
        return Message(message.action, {**head, **facts}, arrays)

    def _own_data(self) -> tuple[ClientData, npt.NDArray[np.float64], npt.NDArray[Any]]:
        if self._data is None:
            data = self._load()
            reader = DeepBoostClassifier(categorical_features=None)
            read = read_training(reader, [LoadedPartition(data.X, data.y)], ())
            self._data = data, np.ascontiguousarray(dense_rows(read.X), dtype=np.float64), read.labels
        return self._data

    def _take_steps(self, rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> None:
        """Take the steps in the message, unless some before them are missing."""
        first = int(message.facts.get("from", rows.position))
        etas = message.arrays.get("step_etas", np.zeros(0))
        if first <= rows.position:
            for k in range(rows.position - first, len(etas)):
                hypothesis = hypotheses[int(message.arrays["step_hypotheses"][k])]
                rows.step(hypothesis, int(message.arrays["step_sources"][k]), float(etas[k]))
        if len(etas) or "task" in message.facts:
            self.state.store("rows", Message("kept", {"position": rows.position}, {"scores": rows.scores}))

    def _begin(self, message: Message) -> ClientRows:
        facts = {name: fact for name, fact in message.facts.items() if name == "task" or name.startswith("candidates/")}
        arrays = {name: a for name, a in message.arrays.items() if name.startswith(("candidates/", "domain_"))}
        task = Message("task", facts, arrays)
        self._rows = self._rows_for(task)
        self.state.store("task", task)
        return self._rows

    def _restored(self) -> ClientRows | None:
        """Rows as they were after the last message; None if the task is not known any more."""
        task, kept = self.state.load("task"), self.state.load("rows")
        if task is None or kept is None:
            return None
        position = int(kept.facts["position"])
        if self._rows is None or self._rows.position != position:
            self._rows = self._rows_for(task)
            self._rows.set_scores(kept.arrays["scores"], position)
        return self._rows

    def _rows_for(self, message: Message) -> ClientRows:
        task, (data, X, y) = unpack_task(message), self._own_data()
        classes = list(task.classes)
        class_ids = np.array([classes.index(plain(label)) for label in y.tolist()], dtype=np.uint16)
        return ClientRows(task, X, class_ids, list(task.domains).index(plain(data.domain)))


def _description(data: ClientData, X: npt.NDArray[np.float64], y: npt.NDArray[Any]) -> Facts:
    """Facts that the server needs to set up the task."""
    columns = column_names(data.X)
    return {
        "domain": plain(data.domain),
        "n_rows": len(X),
        "n_features": X.shape[1],
        "labels": sorted({plain(label) for label in y.tolist()}),
        "columns": None if columns is None else [str(name) for name in columns],
    }


def _scales(message: Message) -> Scales:
    loss, slope = message.facts["scales"]
    return Scales(int(loss), int(slope))


def _evaluate(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    own, scales = rows.largest_scales(), _scales(message)
    valid = scales.covers(own)
    sums = rows.evaluate(scales) if valid else [0, 0, 0, 0]
    return {"scales": [own.loss, own.slope], "valid": valid}, {"sums": to_words(sums)}


def _slopes(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    facts = message.facts
    sums = rows.slopes(_scales(message), [int(source) for source in facts["sources"]], float(facts["factor"]))
    return {}, {"sums": to_words(sums)}


def _edges(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    facts, n_known = message.facts, len(rows.task.candidates)
    asked = [k if k < n_known else hypotheses[k] for k in message.arrays["hypotheses"].tolist()]
    source, factor, total = int(facts["source"]), float(facts["factor"]), int(facts["total"])
    return {}, {"sums": to_words(rows.edges(_scales(message), source, factor, total, asked))}


def _line_search(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    facts, (index,) = message.facts, message.arrays["hypotheses"].tolist()
    etas = [float(eta) for eta in facts["etas"]]
    return {}, {"sums": to_words(rows.line_losses(_scales(message), int(facts["source"]), hypotheses[index], etas))}


def _propose(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    """Tree with the largest edge on the client's rows; none if only one class has weight."""
    weights = rows.weights(int(message.facts["source"]))
    learner = DeepBoostClassifier.paper(1, family=str(message.facts["family"]))
    positive = weights > 0.0
    if len(set(rows.class_ids[positive].tolist())) < 2:
        return {}, {}
    scaled = weights[positive] * (positive.sum() / weights.sum())
    learner.fit(rows.X[positive], rows.class_ids[positive].astype(int), scaled)
    best = list(learner.ensemble_.hypotheses)[:1]
    return pack_hypotheses(best, rows.task.n_features, "inline") if best else ({}, {})


# Without an ensemble: exchanges in which Q is learned.
_BEFORE_BOOSTING: Mapping[str, Callable[[npt.NDArray[np.float64], Message], Content]] = {
    "ranges": domain_ranges,
    "moments": domain_moments,
    "gradient": domain_gradient,
}
_BOOSTING: Mapping[str, Callable[[ClientRows, Message, Sequence[Any]], Content]] = {
    "evaluate": _evaluate,
    "slopes": _slopes,
    "edges": _edges,
    "line_search": _line_search,
    "propose": _propose,
}
ACTIONS = ("register", *_BEFORE_BOOSTING, *_BOOSTING)
