"""A desk at the server: letters go out, and of what comes back only sound answers are kept."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from radboost.federated.letters import Letter, LetterError, need

logger = logging.getLogger("radboost.federated")


class Transport(ABC):
    """Takes letters to nodes and brings back what they answer: any number of replies, in any order."""

    @abstractmethod
    def connected(self) -> list[int]:
        """The nodes that can be asked now."""

    @abstractmethod
    def send(self, letters: Mapping[int, Letter]) -> Iterable[tuple[int, Letter | str]]:
        """Pairs of a node and its answer, or of a node and what went wrong there."""


@dataclass(eq=False)
class Client:
    """An owner of rows, as the server knows it."""

    node: int
    name: str
    domain: int
    n_rows: int
    position: int = -1  # steps that it has been told; -1: nothing, not even the task
    trusted: bool = True
    # What it has said at a position: its scales, and the sums of its derivatives times Q by sources.
    said: tuple[int, Any] | None = None
    masses: dict[int, int] = field(default_factory=dict)


@dataclass
class Traffic:
    """Bytes of one boosting round, beside what the thesis counts."""

    to_owners: int = 0
    from_owners: int = 0
    n_letters: int = 0


class Desk:
    """Where letters are written and answers are checked."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.exchange = 0  # the number of the last one; replies must repeat it
        self.n_steps = 0  # of the ensemble, which sound answers know
        self.traffic: list[Traffic] = [Traffic()]
        self.left_out: dict[str, str] = {}  # owners by their names, and what was wrong with an answer

    def sound(
        self,
        action: str,
        letters: Mapping[int, Letter],
        asked: Sequence[Client],
        check: Callable[[Client, Letter, Letter], None],
    ) -> list[tuple[Client, Letter]]:
        """Answers that are what was asked for; who drops out is skipped, who cannot be right is left out for good."""
        by_node = {client.node: client for client in asked}
        answers: dict[int, list[Letter | str]] = {}
        for node, answer in self.transport.send(letters):
            answers.setdefault(node, []).append(answer)
        found = []
        for client in asked:
            given = answers.pop(client.node, [])
            if not given:
                logger.warning("%s: %r has not answered and is skipped", action, client.name)
                continue
            if isinstance(given[0], str):
                logger.warning("%s: %r has failed and is skipped: %s", action, client.name, given[0])
                continue
            reply = given[0]
            self.traffic[-1].from_owners += reply.n_bytes
            try:
                need(len(given) == 1, f"it has answered {len(given)} times")
                need(reply.facts.get("name") == client.name, f"it says that it is {reply.facts.get('name')!r}")
                need(
                    reply.action == action and reply.facts.get("exchange") == self.exchange,
                    f"it answers another letter ({reply.action!r}, number {reply.facts.get('exchange')!r})",
                )
                position = reply.facts.get("position", self.n_steps)
                need(type(position) is int and -1 <= position <= self.n_steps, f"it has taken {position!r} steps")
                if position == self.n_steps:
                    check(client, letters[client.node], reply)
            except LetterError as error:
                client.trusted = False
                self.left_out[client.name] = str(error)
                logger.error("%s: %r is left out from now on: %s", action, client.name, error)
                continue
            found.append((client, reply))
        for node in answers:
            if node not in by_node:
                logger.error("%s: node %s has answered and was not asked; its answer is thrown away", action, node)
        return found
