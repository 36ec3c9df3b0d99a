"""Client of a federation: its replies to messages are sums over its rows, as integers in fixed point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from radboost._tables import column_names
from radboost._typing import FloatArray
from radboost.engine import Collective, current, evaluate_loss
from radboost.estimators import DeepBoostClassifier
from radboost.families.raw_rows import RawRows, enter_again
from radboost.federated.domains import domain_gradient, domain_moments, domain_ranges
from radboost.federated.fixed_point import Scales, argument_with, from_limbs, plain, to_limbs, to_words
from radboost.federated.messages import (
    Arrays,
    Facts,
    Message,
    ProtocolError,
    Task,
    pack_hypotheses,
    unpack_hypotheses,
    unpack_task,
)
from radboost.losses import get_loss
from radboost.objectives import Objective
from radboost.rows.domains import probabilities_of
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import read_training
from radboost.rows.read import dense_rows

Content = tuple[Facts, Arrays]


class RemoteCollective(Collective):
    """Collective of one client, whose other members are on machines that cannot be reached from here.

    The engine reduces sums and maxima over the rows of all clients. Here the local part is kept, to be sent to the
    server; the result is what the server has sent before, or the local part where it has sent nothing.
    """

    alone = False

    def __init__(self) -> None:
        super().__init__()
        self.local_sums: list[int] = []
        self.largest: float | None = None  # results of all reductions; None: those of the local rows
        self.sums: Sequence[int] | None = None

    def maximum(self, values: npt.NDArray[np.float64]) -> None:
        if self.largest is not None:
            values[:] = self.largest

    def sum(self, values: npt.NDArray[np.int64]) -> None:
        self.local_sums = from_limbs(values) if len(values) % 3 == 0 else []
        if self.sums is not None:
            values[:] = to_limbs(self.sums)

    def gather(self, data: bytes) -> list[Any]:
        raise NotImplementedError("the rows of a client stay where they are")


@dataclass
class ClientRows:
    """Rows of one client, all of one domain, with their scores under the steps of the ensemble known so far.

    Sums are integers in units of the `scales` that the server has sent. Hypotheses may be given as indices into the
    candidates of the task.
    """

    task: Task
    X: FloatArray
    class_ids: npt.NDArray[np.uint16]
    domain: int
    n_threads: int = 1
    position: int = 0  # steps of the ensemble that the scores include
    _collective: RemoteCollective = field(default_factory=RemoteCollective, init=False)

    def __post_init__(self) -> None:
        self._objective = Objective(
            "sum", get_loss(self.task.loss), self.class_ids, 2, None, self.n_threads, collective=self._collective
        )
        model = self.task.domain_model
        q = probabilities_of(model, self.X, (), np.array(self.task.domains), 2, self.n_threads)
        self._q = [np.ascontiguousarray(column) for column in q.T]
        self._groups = current().row_groups(np.zeros(len(self.X), dtype=np.uint16), 1)
        self._raw = RawRows(self.X, np.arange(len(self.X), dtype=np.uint32), self.n_threads)
        self._views: dict[int, Any] = {}
        self._columns: Any = None

    @property
    def scores(self) -> FloatArray:
        return self._scores.values()  # type: ignore[no-any-return]

    def set_scores(self, scores: FloatArray, position: int) -> None:
        """Restore the state after `position` steps."""
        self._scores.set(np.ascontiguousarray(scores, dtype=np.float64))
        self.position = position

    @property
    def _scores(self) -> Any:
        return self._objective.scores

    def step(self, hypothesis: Any, source: int, eta: float) -> None:
        """f += eta Q(source | x) h(x)."""
        columns = current().members(len(self.X), 2)
        slot = enter_again(hypothesis, self._raw, columns)
        self._scores.step(columns, slot, eta, self.n_threads, self._q[source])
        self.position += 1

    def largest_scales(self) -> Scales:
        """Least scales that cover the losses and derivatives of all rows."""
        return Scales.at(self.task.loss, float(np.max(1.0 - self._labels() * self.scores)))

    def evaluate(self, scales: Scales) -> list[int]:
        """Sums of Phi, of Phi' (Z), of Phi' Q(own domain | x), and the number of errors. Figure 4.2, lines 7 and 8."""
        sums = self._reweigh([self._view(self.domain, 1.0)], scales)
        loss, slope, _, slope_times_q = self._collective.local_sums
        return [loss, slope, slope_times_q, round(sums.error)]

    def slopes(self, scales: Scales, sources: Sequence[int], factor: float) -> list[int]:
        """Sum of factor Phi' Q(k | x) for each of the sources k."""
        self._reweigh([self._view(source, factor) for source in sources], scales)
        return self._collective.local_sums[3:]

    def edges(self, scales: Scales, source: int, factor: float, total: int, hypotheses: Sequence[Any]) -> list[int]:
        """Sum of D y Q(source | x) h(x) for each hypothesis; `total` is the sum of Phi' Q over all clients.

        Figure 4.2, lines 14 to 16.
        """
        view = self._view(source, factor)
        self._reweigh([view], scales, [0, 0, 0, total])
        if self._columns is None:  # slots follow the order of the candidates
            self._columns = current().members(len(self.X), 2)
            for hypothesis in self.task.candidates:
                enter_again(hypothesis, self._raw, self._columns)
        known = view.edge_sums(self._columns, False, self.n_threads) if self.task.candidates else []
        columns = current().members(len(self.X), 2)
        inline = [k for k, one in enumerate(hypotheses) if not isinstance(one, int)]
        slots = {k: enter_again(hypotheses[k], self._raw, columns) for k in inline}
        new = view.edge_sums(columns, False, self.n_threads) if slots else []
        return [new[slots[k]] if k in slots else known[one] for k, one in enumerate(hypotheses)]

    def line_losses(self, scales: Scales, source: int, hypothesis: Any, etas: Sequence[float]) -> list[int]:
        """Sum of Phi after each of some steps along a hypothesis; `scales` must cover all of them."""
        columns, before, losses = current().members(len(self.X), 2), self.scores, []
        slot = enter_again(hypothesis, self._raw, columns)
        for eta in etas:
            self._scores.step(columns, slot, eta, self.n_threads, self._q[source])
            self._reweigh([], scales)
            losses.append(self._collective.local_sums[0])
            self._scores.set(before)
        return losses

    def weights(self, source: int) -> FloatArray:
        """Phi' Q(source | x): row weights for training hypotheses here; shape (n_rows,)."""
        derivatives = evaluate_loss(self.task.loss, 1.0 - self._labels() * self.scores)[1]
        return np.asarray(derivatives * self._q[source])

    def _labels(self) -> FloatArray:
        return np.where(self.class_ids == 1, 1.0, -1.0)

    def _reweigh(self, views: Sequence[Any], scales: Scales, sums: Sequence[int] | None = None) -> Any:
        """Loss and weights of the rows, as if these were the scales and sums over the rows of all clients."""
        self._collective.largest, self._collective.sums = argument_with(self.task.loss, scales), sums
        try:
            return self._scores.reweigh(views, self.n_threads)
        finally:
            self._collective.largest = self._collective.sums = None

    def _view(self, source: int, factor: float) -> Any:
        if source not in self._views:
            self._views[source] = current().margin_weighting(self._scores, factors=self._q[source])
        view = self._views[source]
        view.set_factors(self._q[source], self._groups, np.array([factor]), self.n_threads)
        return view


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


def _evaluate(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    own, scales = rows.largest_scales(), Scales(*message.facts["scales"])
    valid = scales.covers(own)
    sums = rows.evaluate(scales) if valid else [0, 0, 0, 0]
    return {"scales": [own.loss, own.slope], "valid": valid}, {"sums": to_words(sums)}


def _sums(rows: ClientRows, message: Message, hypotheses: Sequence[Any]) -> Content:
    """Sums for a step: "slopes", "edges", or losses along the line."""
    facts, scales, n_known = message.facts, Scales(*message.facts["scales"]), len(rows.task.candidates)
    if message.action == "slopes":
        sums = rows.slopes(scales, facts["sources"], facts["factor"])
    elif message.action == "edges":
        asked = [k if k < n_known else hypotheses[k] for k in message.arrays["hypotheses"].tolist()]
        sums = rows.edges(scales, facts["source"], facts["factor"], int(facts["total"]), asked)
    else:
        (index,) = message.arrays["hypotheses"].tolist()
        sums = rows.line_losses(scales, facts["source"], hypotheses[index], facts["etas"])
    return {}, {"sums": to_words(sums)}


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
    **dict.fromkeys(("slopes", "edges", "line_search"), _sums),
    "propose": _propose,
}
ACTIONS = ("register", *_BEFORE_BOOSTING, *_BOOSTING)
