"""FedMultiBoost in Flower's form: a strategy for the server, apps for both sides, letters as messages."""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Result, Strategy

from radboost._validation import check_choice, check_integer, check_real
from radboost.estimators import MultiSourceBoostClassifier
from radboost.families.candidates import Candidates
from radboost.federated.answers import Owner, OwnRows
from radboost.federated.desk import Transport, logger
from radboost.federated.fitting import PROPOSABLE, TrainedByOwners, check_federation, fit_federated
from radboost.federated.letters import Letter
from radboost.federated.office import Office
from radboost.federated.privacy import Privacy
from radboost.model_file import check_can_save
from radboost.rows.domains import DomainModel

ARRAYS, FACTS = "arrays", "facts"
ACTIONS = (
    "register",
    "ranges",
    "moments",
    "gradient",
    "linear",
    "stand",
    "slopes",
    "edges",
    "line",
    "propose",
    "keys",
    "shares",
    "unmask",
)
# Owners whose rows a process keeps in memory between messages; the simulation has many in one process.
MOST_OWNERS = 256
POLL_SECONDS = 0.2
LONGEST_REASON = 200


def to_records(letter: Letter) -> RecordDict:
    arrays = ArrayRecord(OrderedDict((name, Array(np.ascontiguousarray(a))) for name, a in letter.arrays.items()))
    return RecordDict({ARRAYS: arrays, FACTS: ConfigRecord({"json": json.dumps(letter.facts)})})


def from_records(action: str, records: RecordDict) -> Letter:
    """Raises what it likes for records that were never a letter."""
    facts = json.loads(str(records[FACTS]["json"]))
    if not isinstance(facts, dict):
        raise ValueError("the facts are no table")
    arrays: Any = records[ARRAYS]
    return Letter(action, facts, {str(name): array.numpy() for name, array in arrays.items()})


# --- owners


class NodeState:
    """Keeps what must outlive a message in the state that Flower has for the node."""

    def __init__(self, context: Context) -> None:
        self._state = context.state

    def load(self, slot: str) -> Letter | None:
        if f"radboost-{slot}-{FACTS}" not in self._state:
            return None
        records = RecordDict({name: self._state[f"radboost-{slot}-{name}"] for name in (ARRAYS, FACTS)})
        return from_records("kept", records)

    def store(self, slot: str, letter: Letter) -> None:
        for name, record in to_records(letter).items():
            self._state[f"radboost-{slot}-{name}"] = record


def client_app(
    load: Callable[[Context], Any],
    mods: Any = None,
    *,
    proposes: tuple[str, ...] = (),
    require_secure: bool = False,
) -> ClientApp:
    """The app that an owner of rows runs.

    Parameters
    ----------
    load : function
        Gets Flower's `Context` and returns (X, y, domain): rows of numbers (NaN is missing), labels, and the name of
        the domain that the owner belongs to; or (X, y, domain, name). The name tells owners apart from run to run; left
        out, it is that of the partition ("partition-id" in the node's configuration).
    mods : list or None
        Flower's modifiers of messages.
    proposes : tuple of "stumps", "stump_pairs", "trees"
        Hypotheses that the owner is willing to train for others (`TrainedByOwners`); they show thresholds between
        values of its rows. By default none.
    require_secure : bool
        Whether the owner answers secure sums alone.
    """
    if not callable(load):
        raise TypeError(f"load must be a function of Flower's Context that returns (X, y, domain); got {load!r}.")
    for family in proposes:
        check_choice("proposes", family, PROPOSABLE)
    app = ClientApp(mods=mods)
    owners: OrderedDict[tuple[int, int], Owner] = OrderedDict()

    def answer(message: Message, context: Context) -> Message:
        key = (context.run_id, context.node_id)
        if key not in owners:
            owners[key] = Owner(lambda: _own_rows(load, context), NodeState(context), proposes, require_secure)
        owners.move_to_end(key)
        while len(owners) > MOST_OWNERS:
            owners.popitem(last=False)
        owner = owners[key]
        owner.keep = NodeState(context)
        action = message.metadata.message_type.partition(".")[2]
        return Message(to_records(owner.answer(from_records(action, message.content))), reply_to=message)

    for action in ACTIONS:
        app.train(action)(answer)
    return app


def _own_rows(load: Callable[[Context], Any], context: Context) -> OwnRows:
    given = load(context)
    if isinstance(given, OwnRows):
        return given
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
    return OwnRows(X, y, domain, str(name[0]))


# --- the server


class GridTransport(Transport):
    """Letters as messages on Flower's grid; the strategy writes them and reads the replies."""

    def __init__(self, grid: Grid, strategy: FedMultiBoost, timeout: float) -> None:
        self._grid, self._strategy, self._timeout = grid, strategy, timeout
        self._n_exchanges = 0

    def connected(self) -> list[int]:
        return sorted(self._grid.get_node_ids())

    def send(self, letters: Mapping[int, Letter]) -> Iterable[tuple[int, Letter | str]]:
        if not letters:
            return []
        self._n_exchanges += 1
        self._strategy.outbox = dict(letters)
        messages = self._strategy.configure_train(self._n_exchanges, ArrayRecord(), ConfigRecord(), self._grid)
        replies = self._grid.send_and_receive(messages, timeout=self._timeout)
        self._strategy.aggregate_train(self._n_exchanges, replies)
        return self._strategy.inbox


class FedMultiBoost(Strategy):
    """Federated MultiBoost (Storcheus, PhD thesis, NYU 2021, Figure 4.2) as a Flower strategy.

    Each round asks some owners of every domain for sums over their rows, twice: for the losses, and for the edges of
    candidates. Rows never travel. Sums are integers, so that the model depends neither on the order of replies nor on
    who has which rows: with all owners in every round it is that of the estimator fitted on all rows, bit for bit.

    Parameters
    ----------
    estimator : MultiSourceBoostClassifier
        With `step="decay"` or `step="line_search"`; its `n_rounds`, `loss`, `learning_rate`, `source_objective`, `mu`,
        `mixtures`, `complexity_penalty`, `random_state` and `verbose` are read.
    candidates : Candidates or TrainedByOwners
        Hypotheses that are made in advance, from public rows or at public thresholds (`candidates_from`, `stumps_at`),
        or that owners train on their rows in every round.
    domain_model : DomainModel or None
        Q, which tells the domains apart, from `learn_domains` on public rows. None: owners learn it together, by
        federated logistic regression; with one domain there is none.
    clients_per_round : int or None
        r: owners of each domain that a round asks; None for all that are connected.
    privacy : Privacy or None
        Clipping and noise on the sums. None: sums are exact.
    secure : bool
        Secure aggregation: the server sees the totals of each domain alone. Single answers can then not be checked.
    wait_for : int
        Owners that must be connected before the first round.
    timeout : float
        Seconds that replies are waited for; who has not answered by then is skipped.

    Attributes
    ----------
    model_ : the fitted MultiSourceBoostClassifier
    traffic_ : list of bytes and letters by round, the first of which is that of the set-up
    privacy_spent_ : with `privacy`, epsilon and delta by Flower's accountant; otherwise None
    left_out_ : dict of owners that were left out because of what they said, with the reasons; a warning names them
    """

    def __init__(
        self,
        estimator: MultiSourceBoostClassifier,
        *,
        candidates: Candidates | TrainedByOwners,
        domain_model: DomainModel | None = None,
        clients_per_round: int | None = None,
        privacy: Privacy | None = None,
        secure: bool = False,
        wait_for: int = 1,
        timeout: float = 600.0,
    ) -> None:
        check_federation(estimator, candidates, clients_per_round, sums_are_hidden=privacy is not None or secure)
        check_integer("wait_for", wait_for, 1)
        check_real("timeout", timeout, low=0.0, open_low=True)
        self.estimator, self.candidates, self.domain_model = estimator, candidates, domain_model
        self.clients_per_round, self.privacy, self.secure = clients_per_round, privacy, secure
        self.wait_for, self.timeout = wait_for, timeout
        self._patience = timeout
        self.outbox: dict[int, Letter] = {}
        self.inbox: list[tuple[int, Letter | str]] = []

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
        """Runs all rounds; `num_rounds` and `timeout` may take the place of those that were set."""
        estimator = self.estimator
        if num_rounds is not None:
            estimator = MultiSourceBoostClassifier(**{**estimator.get_params(deep=False), "n_rounds": num_rounds})
        patience = self._patience = self.timeout if timeout is None else timeout
        _log_with_flower()
        self._wait(grid, patience)
        self.summary()
        fitted, office = fit_federated(
            estimator,
            GridTransport(grid, self, patience),
            candidates=self.candidates,
            domain_model=self.domain_model,
            clients_per_round=self.clients_per_round,
            privacy=self.privacy,
            secure=self.secure,
        )
        self.model_, self.traffic_ = fitted, office.traffic
        self.left_out_, self.privacy_spent_ = office.left_out, office.privacy_spent()
        if self.privacy_spent_ is not None:
            logger.info("Privacy spent: %s", self.privacy_spent_)
        return self._result(fitted, office, evaluate_fn)

    def _result(self, fitted: MultiSourceBoostClassifier, office: Office, evaluate_fn: Any) -> Result:
        result = Result()
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
            found = evaluate_fn(fitted.n_iter_, result.arrays)
            if found is not None:
                result.evaluate_metrics_serverapp[fitted.n_iter_] = found
        return result

    def _wait(self, grid: Grid, timeout: float) -> None:
        end = time.monotonic() + timeout
        while (n := len(list(grid.get_node_ids()))) < self.wait_for:
            if time.monotonic() > end:
                raise RuntimeError(f"After {timeout:g} seconds {n} owners are connected, and wait_for={self.wait_for}.")
            time.sleep(POLL_SECONDS)

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The messages of one exchange: the letters in `outbox`."""
        group = str(server_round)
        return [
            Message(to_records(letter), node, f"train.{letter.action}", group_id=group, ttl=2.0 * self._patience + 60.0)
            for node, letter in sorted(self.outbox.items())
        ]

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Reads the replies of one exchange into `inbox`; they are checked and added up where they were asked for."""
        self.inbox = []
        for reply in replies:
            node = reply.metadata.src_node_id
            if reply.has_error():
                self.inbox.append((node, _last_line(reply.error.reason) or f"error {reply.error.code}"))
                continue
            action = reply.metadata.message_type.partition(".")[2]
            try:
                self.inbox.append((node, from_records(action, reply.content)))
            except Exception as error:  # whatever an owner has sent, it is no letter
                self.inbox.append((node, Letter("unreadable", {"why": str(error)})))
        return None, None

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Nothing: losses and errors of every domain come with the sums of the round."""
        return []

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        return None

    def summary(self) -> None:
        per_round = "all" if self.clients_per_round is None else self.clients_per_round
        logger.info("FedMultiBoost: %s; owners of a domain in each round: %s", self.estimator, per_round)


def _last_line(text: str | None) -> str:
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    return last if len(last) <= LONGEST_REASON else f"{last[: LONGEST_REASON - 3]}..."


def _log_with_flower() -> None:
    """Lets our log go where Flower's goes, unless somebody has told it where."""
    if not logger.hasHandlers():
        logger.handlers = list(logging.getLogger("flwr").handlers)
        logger.setLevel(logging.INFO)


def server_app(
    strategy: FedMultiBoost | Callable[[Context], FedMultiBoost], save_to: str | Path | None = None
) -> ServerApp:
    """The app that the server runs: the strategy from beginning to end, and the model into a file.

    `strategy` may be a function of Flower's Context that makes it. Whether a file can be saved there is checked when
    the server begins, before any owner is asked.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        if save_to is not None:
            check_can_save(save_to)  # here, because owners may import the app of the server as well
        made = strategy if isinstance(strategy, FedMultiBoost) else strategy(context)
        made.start(grid)
        if save_to is not None:
            made.model_.save(save_to)

    return app
