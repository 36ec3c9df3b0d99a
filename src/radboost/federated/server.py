"""Server of a federation: exchanges with clients, the sums over their valid replies, and the steps that they know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.families.candidates import draw
from radboost.federated.checks import SumCheck
from radboost.federated.fixed_point import Scales, from_words
from radboost.federated.messages import (
    Arrays,
    Facts,
    Message,
    ProtocolError,
    Task,
    Transport,
    check_voting_tree,
    pack_hypotheses,
    pack_task,
    require,
    unpack_hypotheses,
)
from radboost.federated.registry import ClientRecord, logger

# Attempts to bring a client up to date that has lost its state.
MAX_ATTEMPTS = 3
# Draws of clients must not be those of candidates.
CLIENTS_SALT = 0x51ED270B

Check = Callable[[ClientRecord, Message, Message], None]  # of a reply to a request; raises ProtocolError


@dataclass
class Traffic:
    """Bytes and messages of one boosting round."""

    to_clients: int = 0
    from_clients: int = 0
    n_messages: int = 0  # to clients


@dataclass(frozen=True)
class Totals:
    """Sums over the rows of the clients that have replied, by domain."""

    sums: Mapping[int, list[int]]
    n_rows: Mapping[int, int]
    clients: tuple[ClientRecord, ...]
    scales: Scales | None = None  # the largest that the clients have reported, with the losses


class Server:
    """Requests to the clients, and the sums in their valid replies under the current ensemble.

    A client whose reply cannot be right is left out for good.
    """

    def __init__(
        self,
        transport: Transport,
        clients: Sequence[ClientRecord],
        task: Task,
        left_out: dict[str, str],
        seed: int,
        clients_per_round: int | None,
    ) -> None:
        self.transport, self.clients, self.task = transport, clients, task
        self.left_out = left_out  # name of a client -> reason
        self.n_exchanges = 0  # the number of an exchange; replies must repeat it
        self.traffic: list[Traffic] = [Traffic()]
        self.largest_score = 0.0  # upper bound; the descent sets it
        self.seed, self._per_round = seed, clients_per_round
        self._index = {id(hypothesis): k for k, hypothesis in enumerate(task.candidates)}
        self._steps: list[tuple[int, Any, float]] = []  # source, hypothesis, eta
        self._unknown_nodes: set[int] = set()

    @cached_property
    def sizes(self) -> FloatArray:
        """Rows of each domain, of the clients that are left when boosting begins."""
        rows = [
            sum(c.n_rows for c in self.clients if c.domain == k and c.trusted) for k in range(len(self.task.domains))
        ]
        return np.array(rows, dtype=np.float64)

    def exchange(
        self,
        action: str,
        contents: Mapping[ClientRecord, tuple[Facts, Arrays]],
        check: Check,
        n_steps: int = 0,
    ) -> dict[ClientRecord, Message]:
        """Valid replies; clients without one are skipped in this exchange.

        `check` raises ProtocolError for a reply that cannot be right. A reply of a client that does not yet have the
        `n_steps` steps of the ensemble is returned unchecked.
        """
        self.n_exchanges += 1
        requests = {
            client: Message(action, {"exchange": self.n_exchanges, **facts}, arrays)
            for client, (facts, arrays) in contents.items()
        }
        self.traffic[-1].n_messages += len(requests)
        self.traffic[-1].to_clients += sum(request.n_bytes for request in requests.values())
        replies: dict[int, list[Message | str]] = {}
        for node, reply in self.transport.send({client.node: request for client, request in requests.items()}):
            replies.setdefault(node, []).append(reply)
        valid = {}
        for client, request in requests.items():
            received = replies.pop(client.node, [])
            if not received:
                logger.warning("%s: %r has not answered and is skipped", action, client.name)
                continue
            reply = received[0]
            if isinstance(reply, str):
                logger.warning("%s: %r has failed and is skipped: %s", action, client.name, reply)
                continue
            self.traffic[-1].from_clients += reply.n_bytes
            try:
                require(len(received) == 1, f"it has answered {len(received)} times")
                self._check(client, request, reply, check, n_steps)
            except ProtocolError as error:
                client.trusted = False
                self.left_out[client.name] = str(error)
                logger.error("%s: %r is left out from now on: %s", action, client.name, error)
                continue
            valid[client] = reply
        for node in replies:
            logger.error("%s: node %s has answered and was not asked; its answer is thrown away", action, node)
        return valid

    def _check(self, client: ClientRecord, request: Message, reply: Message, check: Check, n_steps: int) -> None:
        require(reply.facts.get("name") == client.name, f"it says that it is {reply.facts.get('name')!r}")
        number = reply.facts.get("exchange")
        is_reply = reply.action == request.action and number == self.n_exchanges
        require(is_reply, f"it answers another message ({reply.action!r}, number {number!r})")
        position = reply.facts.get("position", n_steps)
        require(type(position) is int and -1 <= position <= n_steps, f"it has taken {position!r} steps")
        if position == n_steps:
            check(client, request, reply)

    # --- what the descent asks for

    def invite(self, round_index: int) -> list[ClientRecord]:
        """Connected clients of each domain drawn for a round, in the order of their names. Figure 4.2, line 4."""
        self.traffic.append(Traffic())
        connected = set(self.transport.connected())
        self._recognize(connected)
        invited = []
        for domain in range(len(self.task.domains)):
            there = [c for c in self.clients if c.domain == domain and c.trusted and c.node in connected]
            seed = self.seed ^ CLIENTS_SALT * (domain + 1)
            invited += [there[k] for k in draw(seed, round_index, len(there), self._per_round)]
        return invited

    def _recognize(self, connected: set[int]) -> None:
        """Find by their names the clients that have come back with another node number."""
        new = sorted(connected - {client.node for client in self.clients} - self._unknown_nodes)
        self._unknown_nodes.update(new)
        if not new:
            return
        away = {client.name: client for client in self.clients if client.node not in connected}
        requests = {node: Message("register", {"exchange": 0}) for node in new}
        for node, reply in self.transport.send(requests):
            client = away.pop(str(reply.facts.get("name")), None) if isinstance(reply, Message) else None
            if client is None:
                logger.warning("node %s has come too late to take part", node)
                continue
            client.node, client.position, client.reported = node, -1, None
            logger.info("%r is back", client.name)

    def add_step(self, source: int, hypothesis: Any, eta: float) -> None:
        """Append a step to the ensemble; each client gets it with its next message."""
        self._steps.append((source, hypothesis, eta))

    def add_up(
        self,
        action: str,
        clients: Sequence[ClientRecord],
        width: int,
        scales: Scales,
        facts: Facts | None = None,
        factors: FloatArray | None = None,
    ) -> Totals:
        """Totals of the `width` sums that each client returns; `factors` of the domains are sent to their clients."""

        def own_facts(client: ClientRecord) -> Facts:
            factor = {} if factors is None else {"factor": float(factors[client.domain])}
            return {"scales": [scales.loss, scales.slope], **factor, **(facts or {})}

        replies = self.ask(action, clients, own_facts, SumCheck(self.task.loss, width, self.largest_score))
        sums: dict[int, list[int]] = {}
        n_rows: dict[int, int] = {}
        for client, reply in replies.items():
            before = sums.get(client.domain, [0] * width)
            sums[client.domain] = [a + b for a, b in zip(before, from_words(reply.arrays["sums"]), strict=True)]
            n_rows[client.domain] = n_rows.get(client.domain, 0) + client.n_rows
        reported = [Scales(*reply.facts["scales"]) for reply in replies.values() if action == "evaluate"]
        return Totals(sums, n_rows, tuple(replies), Scales.largest(reported) if reported else None)

    def propose(
        self, clients: Sequence[ClientRecord], round_index: int, source: int, family: str, per_round: int | None
    ) -> list[Any]:
        """Distinct hypotheses of some clients of a domain, each trained on the client's rows."""
        there = [client for client in clients if client.domain == source]
        drawn = draw(self.seed ^ 2 * CLIENTS_SALT, round_index, len(there), per_round)
        n_features = self.task.n_features

        def check(client: ClientRecord, request: Message, reply: Message) -> None:
            hypotheses = unpack_hypotheses(reply, n_features, "inline")
            require(len(hypotheses) <= 1, f"it proposes {len(hypotheses)} hypotheses")
            for one in hypotheses:
                check_voting_tree(one, n_features)

        facts = {"source": source, "family": family}
        replies = self.ask("propose", [there[k] for k in drawn], lambda client: facts, check)
        proposed = [one for reply in replies.values() for one in unpack_hypotheses(reply, n_features, "inline")]
        return list({one.key()[0]: one for one in reversed(proposed)}.values())[::-1]

    # --- messages

    def ask(
        self, action: str, clients: Sequence[ClientRecord], facts: Callable[[ClientRecord], Facts], check: Check
    ) -> dict[ClientRecord, Message]:
        """Valid replies of clients that have all steps, in the order of `clients`."""
        replies: dict[ClientRecord, Message] = {}
        waiting, n_steps = list(clients), len(self._steps)
        for _ in range(MAX_ATTEMPTS):
            if not waiting:
                break
            contents = {client: self._content(client, facts(client)) for client in waiting}
            waiting = []
            for client, reply in self.exchange(action, contents, check, n_steps).items():
                client.position = reply.facts.get("position", -1)
                if client.position == n_steps:
                    replies[client] = reply
                else:  # it has lost its state
                    waiting.append(client)
        return {client: replies[client] for client in clients if client in replies}

    def _content(self, client: ClientRecord, facts: Facts) -> tuple[Facts, Arrays]:
        """Content of a request with all steps since the client's position."""
        first = max(client.position, 0)
        steps = self._steps[first:]
        inline: list[Any] = []
        indices = [self._index_of(hypothesis, inline) for _, hypothesis, _ in steps]
        asked = [self._index_of(one, inline) for one in facts.get("hypotheses", [])]
        task_facts, task_arrays = pack_task(self.task) if client.position < 0 else ({}, {})
        inline_facts, inline_arrays = pack_hypotheses(inline, self.task.n_features, "inline") if inline else ({}, {})
        arrays: Arrays = {
            "step_sources": np.array([source for source, _, _ in steps], dtype=np.int32),
            "step_hypotheses": np.array(indices, dtype=np.int32),
            "step_etas": np.array([eta for _, _, eta in steps], dtype=np.float64),
            "hypotheses": np.array(asked, dtype=np.int32),
            **task_arrays,
            **inline_arrays,
        }
        own = {name: fact for name, fact in facts.items() if name != "hypotheses"}
        return {"from": first, "position": len(self._steps), **own, **task_facts, **inline_facts}, arrays

    def _index_of(self, hypothesis: Any, inline: list[Any]) -> int:
        """Index into the candidates of the task, followed by the hypotheses that travel with the message."""
        if id(hypothesis) in self._index:
            return self._index[id(hypothesis)]
        inline.append(hypothesis)
        return len(self.task.candidates) + len(inline) - 1
