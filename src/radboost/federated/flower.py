"""FedMultiBoost on Flower: the strategy of the server, apps for both sides, and their messages as Flower's."""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, MetricRecord, RecordDict
from flwr.app import Message as FlowerMessage
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Result, Strategy

from radboost._validation import check_choice, check_integer, check_real
from radboost.estimators import MultiSourceBoostClassifier
from radboost.families.candidates import Candidates
from radboost.federated.client import ACTIONS, Client, ClientData
from radboost.federated.fitting import check_federation, fit_federated
from radboost.federated.messages import Message, Transport
from radboost.federated.public import PROPOSABLE, TrainedByOwners
from radboost.federated.registry import logger
from radboost.model_file import check_can_save
from radboost.rows.domains import DomainModel

ARRAYS, FACTS = "arrays", "facts"
# Clients whose rows a process keeps in memory between messages; a simulation has many in one process.
MAX_CLIENTS = 256
POLL_SECONDS = 0.2
MAX_REASON = 200  # characters of an error message


def to_records(message: Message) -> RecordDict:
    arrays = ArrayRecord(OrderedDict((name, Array(np.ascontiguousarray(a))) for name, a in message.arrays.items()))
    return RecordDict({ARRAYS: arrays, FACTS: ConfigRecord({"json": json.dumps(message.facts)})})


def from_records(action: str, records: RecordDict) -> Message:
    """Inverse of `to_records`; raises any exception for records of another form."""
    facts = json.loads(str(records[FACTS]["json"]))
    if not isinstance(facts, dict):
        raise ValueError("the facts are no table")
    arrays: Any = records[ARRAYS]
    return Message(action, facts, {str(name): array.numpy() for name, array in arrays.items()})


# --- clients


class NodeState:
    """Client state in the state that Flower keeps for a node."""

    def __init__(self, context: Context) -> None:
        self._state = context.state

    def load(self, slot: str) -> Message | None:
        if f"radboost-{slot}-{FACTS}" not in self._state:
            return None
        records = RecordDict({name: self._state[f"radboost-{slot}-{name}"] for name in (ARRAYS, FACTS)})
        return from_records("kept", records)

    def store(self, slot: str, message: Message) -> None:
        for name, record in to_records(message).items():
            self._state[f"radboost-{slot}-{name}"] = record


def client_app(load: Callable[[Context], Any], mods: Any = None, *, proposes: tuple[str, ...] = ()) -> ClientApp:
    """App that a client runs where its rows are.

    Parameters
    ----------
    load : function
        Gets Flower's `Context` and returns (X, y, domain): rows of numbers (NaN is missing), labels, and the name of
        the domain that the client belongs to; or (X, y, domain, name). The name tells clients apart from run to run;
        left out, it is that of the partition ("partition-id" in the node's configuration).
    mods : list or None
        Flower's modifiers of messages.
    proposes : tuple of "stumps", "stump_pairs", "trees"
        Hypotheses that the client trains for others (`TrainedByOwners`); they show thresholds between values of its
        rows. By default none.
    """
    if not callable(load):
        raise TypeError(f"load must be a function of Flower's Context that returns (X, y, domain); got {load!r}.")
    for family in proposes:
        check_choice("proposes", family, PROPOSABLE)
    app = ClientApp(mods=mods)
    clients: OrderedDict[tuple[int, int], Client] = OrderedDict()

    def handle(message: FlowerMessage, context: Context) -> FlowerMessage:
        key = (context.run_id, context.node_id)
        if key not in clients:
            clients[key] = Client(lambda: _client_data(load, context), NodeState(context), proposes)
        clients.move_to_end(key)
        while len(clients) > MAX_CLIENTS:
            clients.popitem(last=False)
        clients[key].state = NodeState(context)
        reply = clients[key].handle(from_records(_action(message), message.content))
        return FlowerMessage(to_records(reply), reply_to=message)

    for action in ACTIONS:
        app.train(action)(handle)
    return app


def _action(message: FlowerMessage) -> str:
    return str(message.metadata.message_type.partition(".")[2])


def _client_data(load: Callable[[Context], Any], context: Context) -> ClientData:
    given = load(context)
    if not isinstance(given, tuple) or len(given) not in (3, 4):
        raise TypeError(
            f"load must return (X, y, domain) or (X, y, domain, name); got {type(given).__name__} "
            f"{f'of {len(given)}' if isinstance(given, tuple) else ''}."
        )
    X, y, domain, *name = given
    if not name:
        if "partition-id" not in context.node_config:
            raise ValueError(
                'This node has no "partition-id" in its configuration; let load return (X, y, domain, name) with a '
                "name that stays the same from run to run."
            )
        name = [f"partition {int(context.node_config['partition-id']):06d}"]
    return ClientData(X, y, domain, str(name[0]))


# --- the server


class GridTransport(Transport):
    """Messages on Flower's grid."""

    def __init__(self, grid: Grid, timeout: float) -> None:
        self._grid, self._timeout = grid, timeout
        self._n_exchanges = 0

    def connected(self) -> list[int]:
        return sorted(self._grid.get_node_ids())

    def send(self, requests: Mapping[int, Message]) -> Iterator[tuple[int, Message | str]]:
        if not requests:
            return
        self._n_exchanges += 1
        group, ttl = str(self._n_exchanges), 2.0 * self._timeout + 60.0
        messages = [
            FlowerMessage(to_records(message), node, f"train.{message.action}", group_id=group, ttl=ttl)
            for node, message in sorted(requests.items())
        ]
        for reply in self._grid.send_and_receive(messages, timeout=self._timeout):
            node = reply.metadata.src_node_id
            if reply.has_error():
                yield node, _last_line(reply.error.reason) or f"error {reply.error.code}"
                continue
            try:
                message = from_records(_action(reply), reply.content)
            except Exception as error:  # the content comes from a client: it can be anything
                message = Message("unreadable", {"why": str(error)})
            yield node, message


class FedMultiBoost(Strategy):
    """Federated MultiBoost (Storcheus, PhD thesis, NYU 2021, Figure 4.2) as a Flower strategy.

    Each round asks some clients of every domain for sums over their rows, twice: for the losses, and for the edges of
    candidates. Rows never travel. Sums are integers, so that the model depends neither on the order of replies nor on
    which client has which rows. With all clients in every round it is that of the estimator on all rows, bit for bit.
    The server sees the sums of each client.

    Parameters
    ----------
    estimator : MultiSourceBoostClassifier
        With `step="decay"` or `step="line_search"`; its `n_rounds`, `loss`, `learning_rate`, `source_objective`, `mu`,
        `mixtures`, `complexity_penalty`, `random_state` and `verbose` are read.
    candidates : Candidates or TrainedByOwners
        Hypotheses that are made in advance, from public rows or at public thresholds (`candidates_from`, `stumps_at`),
        or that clients train on their rows in every round.
    domain_model : DomainModel or None
        Q, which tells the domains apart, from `learn_domains` on public rows. None: clients learn it together, by
        federated logistic regression; with one domain there is none.
    clients_per_round : int or None
        r: clients of each domain that a round asks; None for all that are connected.
    wait_for : int
        Clients that must be connected before the first round.
    timeout : float
        Seconds to wait for replies; a client that has not replied by then is skipped.

    Attributes
    ----------
    model_ : the fitted MultiSourceBoostClassifier
    traffic_ : list of bytes and messages by round, the first of which is that of the set-up
    left_out_ : dict of clients that were left out because of their replies, with the reasons; a warning names them
    """

    def __init__(
        self,
        estimator: MultiSourceBoostClassifier,
        *,
        candidates: Candidates | TrainedByOwners,
        domain_model: DomainModel | None = None,
        clients_per_round: int | None = None,
        wait_for: int = 1,
        timeout: float = 600.0,
    ) -> None:
        check_federation(estimator, candidates, clients_per_round)
        check_integer("wait_for", wait_for, 1)
        check_real("timeout", timeout, low=0.0, open_low=True)
        self.estimator, self.candidates, self.domain_model = estimator, candidates, domain_model
        self.clients_per_round, self.wait_for, self.timeout = clients_per_round, wait_for, timeout

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord | None = None,
        num_rounds: int | None = None,
        timeout: float | None = None,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Callable[[int, ArrayRecord], MetricRecord | None] | None = None,
    ) -> Result:
        """Run all rounds; `num_rounds` and `timeout` replace those of the constructor."""
        estimator = self.estimator
        if num_rounds is not None:
            estimator = MultiSourceBoostClassifier(**{**estimator.get_params(deep=False), "n_rounds": num_rounds})
        timeout = self.timeout if timeout is None else timeout
        if not logger.hasHandlers():  # then the log goes where Flower's does
            logger.handlers = list(logging.getLogger("flwr").handlers)
            logger.setLevel(logging.INFO)
        self._wait(grid, timeout)
        self.summary()
        self.model_, server = fit_federated(
            estimator,
            GridTransport(grid, timeout),
            candidates=self.candidates,
            domain_model=self.domain_model,
            clients_per_round=self.clients_per_round,
        )
        self.traffic_, self.left_out_ = server.traffic, server.left_out
        return self._result(evaluate_fn)

    def _result(self, evaluate_fn: Any) -> Result:
        result, fitted = Result(), self.model_
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.radboost"
            fitted.save(path)
            model = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        result.arrays = ArrayRecord(OrderedDict(model=Array(model)))
        for round_index in range(fitted.n_iter_):
            result.train_metrics_clientapp[round_index + 1] = MetricRecord(
                {name: values[round_index] for name, values in fitted.history_.items()}
            )
        if evaluate_fn is not None:
            metrics = evaluate_fn(fitted.n_iter_, result.arrays)
            if metrics is not None:
                result.evaluate_metrics_serverapp[fitted.n_iter_] = metrics
        return result

    def _wait(self, grid: Grid, timeout: float) -> None:
        end = time.monotonic() + timeout
        while (n := len(list(grid.get_node_ids()))) < self.wait_for:
            if time.monotonic() > end:
                raise RuntimeError(
                    f"After {timeout:g} seconds {n} clients are connected, and wait_for={self.wait_for}."
                )
            time.sleep(POLL_SECONDS)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[FlowerMessage]:
        """No messages: `start` runs rounds of its own, of several exchanges each."""
        return []

    def aggregate_train(self, server_round: int, replies: Iterable[FlowerMessage]) -> tuple[None, None]:
        return None, None

    configure_evaluate = configure_train

    def aggregate_evaluate(self, server_round: int, replies: Iterable[FlowerMessage]) -> None:
        return None

    def summary(self) -> None:
        per_round = "all" if self.clients_per_round is None else self.clients_per_round
        logger.info("FedMultiBoost: %s; clients of a domain in each round: %s", self.estimator, per_round)


def _last_line(text: str | None) -> str:
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    return last if len(last) <= MAX_REASON else f"{last[: MAX_REASON - 3]}..."


def server_app(
    strategy: FedMultiBoost | Callable[[Context], FedMultiBoost], save_to: str | Path | None = None
) -> ServerApp:
    """App that the server runs: the strategy from beginning to end, and the model into a file.

    `strategy` may be a function of Flower's Context that makes it. Whether a file can be saved there is checked when
    the server begins, before any client is asked.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        if save_to is not None:
            check_can_save(save_to)  # here, because clients may import the app of the server as well
        made = strategy if isinstance(strategy, FedMultiBoost) else strategy(context)
        made.start(grid)
        if save_to is not None:
            made.model_.save(save_to)

    return app
