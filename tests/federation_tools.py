"""Federations in one process: clients with synthetic rows, and faults of their replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from papers.fed_multi_boost import MemoryState
from radboost import MultiSourceBoostClassifier
from radboost.families import Candidates, stumps_at
from radboost.federated.client import Client, ClientData
from radboost.federated.messages import Message, Transport
from radboost.federated.public import PROPOSABLE
from radboost.rows.domains import DomainModel, fit_domains

N_ROWS = 40  # of each client
GRID = [np.linspace(-2.0, 5.0, 12)] * 4


def rows_of(client: int, n_domains: int = 2, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, str]:
    """Rows of a client. Domains differ in the last column, and disagree about the first."""
    rng = np.random.default_rng([7, client])
    domain = client % n_domains
    n = N_ROWS + client % 5
    X = rng.normal(size=(n, 4))
    X[:, 3] += 2.0 * domain
    y = (X[:, 0] > 0 if domain == 1 else X[:, 0] + X[:, 1] < 0).astype(int)
    y = np.where(rng.random(n) < 0.1, 1 - y, y)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, f"domain {domain}"


def clean_rows(client: int) -> tuple[np.ndarray, np.ndarray, str]:
    """One threshold gets all labels right."""
    X, _, domain = rows_of(client)
    return X, (X[:, 0] > GRID[0][3]).astype(int), domain


def all_rows(n_clients: int, n_domains: int = 2, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of all clients in one place."""
    parts = [rows_of(client, n_domains, missing) for client in range(n_clients)]
    domains = np.concatenate([np.repeat(domain, len(y)) for _, y, domain in parts])
    return np.vstack([X for X, _, _ in parts]), np.concatenate([y for _, y, _ in parts]), domains


def domain_model(n_domains: int = 2, rows: Callable[..., Any] = rows_of) -> DomainModel:
    """Q from rows of clients that take no part."""
    parts = [rows(1000 + client, n_domains) for client in range(4 * n_domains)]
    ids = np.concatenate([np.full(len(y), int(domain[-1])) for _, y, domain in parts])
    return fit_domains(np.vstack([X for X, _, _ in parts]), ids.astype(np.uint16), None, {}, n_domains)


def candidates(per_round: int | None = None) -> Candidates:
    return Candidates(stumps_at(GRID), per_round)


def estimator(n_rounds: int = 15, **changes: Any) -> MultiSourceBoostClassifier:
    usual: dict[str, Any] = {
        "loss": "exponential",
        "step": "decay",
        "learning_rate": 0.5,
        "complexity_penalty": 0.0,
        "random_state": 3,
    }
    return MultiSourceBoostClassifier(n_rounds, **{**usual, **changes})


# Node, request and reply -> replies that arrive: none, others, or several.
Fault = Callable[[int, Message, Message], Iterable[Message | str]]


def when(condition: Callable[[int, Message], bool], change: Callable[[Message], Any]) -> Fault:
    """Fault of the replies of some nodes to some requests: `change` returns a reply, or a list of any number."""

    def fault(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        replies = change(reply) if condition(node, request) else reply
        return replies if isinstance(replies, list) else [replies]

    return fault


def lost(reply: Message) -> list[Message | str]:
    """No reply at all."""
    return []


class LocalTransport(Transport):
    """Clients in this process, whose replies come in descending order of their numbers."""

    def __init__(
        self,
        n_clients: int,
        n_domains: int = 2,
        missing: float = 0.0,
        fault: Fault | None = None,
        rows: Callable[[int], tuple[np.ndarray, np.ndarray, str]] | None = None,
    ) -> None:
        self.states = [MemoryState() for _ in range(n_clients)]
        self._given = rows or (lambda k: rows_of(k, n_domains, missing))
        self.clients = [self._client(k) for k in range(n_clients)]
        self.fault = fault
        self.absent: set[int] = set()
        self.requests: list[tuple[int, Message]] = []
        self.replies: list[tuple[int, Message]] = []

    def _client(self, k: int) -> Client:
        return Client(lambda: ClientData(*self._given(k), f"client {k:03}"), self.states[k], PROPOSABLE)

    def restart(self, k: int, forget: bool = False) -> None:
        """Restart the process of a client, with or without its state."""
        old = self.clients[k]
        if forget:
            self.states[k].slots.clear()
        self.clients[k] = Client(old._load, self.states[k], PROPOSABLE)

    def connected(self) -> list[int]:
        return [k for k in range(len(self.clients)) if k not in self.absent]

    def send(self, requests: Mapping[int, Message]) -> list[tuple[int, Message | str]]:
        received: list[tuple[int, Message | str]] = []
        for node, request in sorted(requests.items(), reverse=True):
            self.requests.append((node, request))
            try:
                reply = self.clients[node].handle(request)
            except Exception as error:
                received.append((node, str(error)))
                continue
            self.replies.append((node, reply))
            replies = [reply] if self.fault is None else self.fault(node, request, reply)
            received += [(node, one) for one in replies]
        return received


def changed(
    message: Message, facts: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None
) -> Message:
    return replace(message, facts={**message.facts, **(facts or {})}, arrays={**message.arrays, **(arrays or {})})
