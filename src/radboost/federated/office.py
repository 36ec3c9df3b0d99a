"""The server's side of the letters: who has rows, what they were told last, and which of their answers count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.families.candidates import draw
from radboost.federated.descent import OWNERS_SALT, Totals
from radboost.federated.desk import Client, Desk, Traffic, Transport, logger
from radboost.federated.letters import (
    Arrays,
    Letter,
    check_voting_tree,
    need,
    pack_hypotheses,
    pack_task,
    unpack_hypotheses,
)
from radboost.federated.numbers import SCALE_BITS, Scales, from_words, largest_edge
from radboost.federated.owner import Task
from radboost.federated.privacy import Privacy, flower_account
from radboost.federated.secure_sums import add_securely

# Attempts to bring an owner up to date who has forgotten what it was told.
MOST_ATTEMPTS = 3


class Office(Desk):
    """Asks owners, checks and adds up what they answer."""

    def __init__(
        self,
        transport: Transport,
        clients: Sequence[Client],
        task: Task,
        *,
        clients_per_round: int | None,
        seed: int,
        family: str = "stumps",
        candidates_per_round: int | None = None,
        privacy: Privacy | None = None,
        secure: bool = False,
    ) -> None:
        super().__init__(transport)
        self.task, self.clients = task, list(clients)
        self.sizes: FloatArray = np.array(
            [sum(client.n_rows for client in clients if client.domain == k) for k in range(len(task.domains))], float
        )
        self._privacy, self._secure = privacy, secure
        self._account = None if privacy is None else flower_account(privacy, len(clients))
        self._noise = None if privacy is None else privacy.noise()
        self.noisy = privacy is not None
        self.negotiates = privacy is None and not secure
        self._per_round, self._seed, self._family = clients_per_round, seed, family
        self._candidates_per_round = candidates_per_round
        self._known = {hypothesis.key(): place for place, hypothesis in enumerate(task.candidates)}
        self._steps: list[tuple[int, Any, float]] = []
        self.reach = 0.0  # no score is larger; the descent says
        self._strangers: set[int] = set()

    # --- what the descent asks for

    def invite(self, round_index: int) -> list[Client]:
        """Figure 4.2, line 4: some of the connected owners of each domain; owners in the order of their names."""
        self.traffic.append(Traffic())
        connected = set(self.transport.connected())
        self._find_again(connected)
        invited = []
        for domain in range(len(self.task.domains)):
            there = [c for c in self.clients if c.domain == domain and c.trusted and c.node in connected]
            seed = self._seed ^ OWNERS_SALT * (domain + 1)
            invited += [there[place] for place in draw(seed, round_index, len(there), self._per_round)]
        return invited

    def _find_again(self, connected: set[int]) -> None:
        """Owners that have come back under another number: they are known by their names."""
        strange = sorted(connected - {client.node for client in self.clients} - self._strangers)
        self._strangers.update(strange)
        if not strange:
            return
        away = {client.name: client for client in self.clients if client.node not in connected}
        for node, reply in self.transport.send({node: Letter("register", {"exchange": 0}) for node in strange}):
            client = away.pop(str(reply.facts.get("name")), None) if isinstance(reply, Letter) else None
            if client is None:
                logger.warning("node %s has come too late to take part", node)
                continue
            client.node, client.position, client.said = node, -1, None
            logger.info("%r is back", client.name)

    def take_step(self, source: int, hypothesis: Any, eta: float) -> None:
        self._steps.append((source, hypothesis, eta))
        self.n_steps = len(self._steps)

    def add(
        self, action: str, owners: Sequence[Client], facts: Callable[[Client], Mapping[str, Any]], width: int
    ) -> Totals:
        if not owners:
            return Totals({}, {}, ())
        told, units = facts(owners[0]), [1.0] * width
        if self._privacy is not None and self._account is not None:
            self._account.spend(len(owners))
            units = _units(action, told, width)
            clip = {"norm": self._privacy.clip, "units": units}
            asked = facts

            def facts(client: Client) -> Mapping[str, Any]:
                return {**asked(client), "clip": clip}

        scales = None
        if self._secure:
            sums, answered = add_securely(self, action, owners, facts, width)
        else:
            replies = self.ask(action, owners, facts, Checks(self.task, width, self.reach, self.negotiates))
            answered = tuple(replies)
            sums = _by_domain(replies, width)
            if action == "stand" and self.negotiates:
                own = [Scales(*reply.facts["scales"]) for reply in replies.values()]
                scales = Scales.largest(own) if own else Scales(*told["scales"])
        n_rows: dict[int, int] = {}
        for client in answered:
            n_rows[client.domain] = n_rows.get(client.domain, 0) + client.n_rows
        if self._noise is not None:
            sums = {domain: self._noise.added(sums[domain], units) for domain in sorted(sums)}
            if action != "edges":
                sums = {domain: [max(0, value) for value in values] for domain, values in sums.items()}
        return Totals(sums, n_rows, answered, scales)

    def privacy_spent(self) -> Any:
        """What Flower's accountant says; None without noise."""
        return None if self._account is None else self._account.accountant.get_privacy_spent()

    def propose(self, owners: Sequence[Client], round_index: int, source: int) -> list[Any]:
        """One hypothesis of each of some owners, trained on the own rows."""
        there = [client for client in owners if client.domain == source]
        drawn = draw(self._seed ^ 2 * OWNERS_SALT, round_index, len(there), self._candidates_per_round)
        chosen = [there[place] for place in drawn]
        n_features = self.task.n_features

        def check(client: Client, request: Letter, reply: Letter) -> None:
            found = unpack_hypotheses(reply, n_features, "inline")
            need(len(found) <= 1, f"it proposes {len(found)} hypotheses")
            for one in found:
                check_voting_tree(one, n_features)

        facts = {"source": source, "family": self._family}
        replies = self.ask("propose", chosen, lambda client: facts, check)
        found = [one for reply in replies.values() for one in unpack_hypotheses(reply, n_features, "inline")]
        return list({one.key()[0]: one for one in reversed(found)}.values())[::-1]

    # --- letters

    def ask(
        self,
        action: str,
        owners: Sequence[Client],
        facts: Callable[[Client], Mapping[str, Any]],
        check: Callable[[Client, Letter, Letter], None],
    ) -> dict[Client, Letter]:
        """The sound answers, in the order of the owners that were asked."""
        found: dict[Client, Letter] = {}
        waiting = list(owners)
        for _ in range(MOST_ATTEMPTS):
            self.exchange += 1
            letters = {client.node: self._letter(action, client, facts(client)) for client in waiting}
            behind: list[Client] = []
            for client, reply in self.sound(action, letters, waiting, check):
                if reply.facts.get("position") == self.n_steps:
                    client.position = self.n_steps
                    found[client] = reply
                else:  # it has lost what it was told
                    client.position = _position(reply)
                    behind.append(client)
            if not behind:
                break
            waiting = behind
        return {client: found[client] for client in owners if client in found}

    def _letter(self, action: str, client: Client, facts: Mapping[str, Any]) -> Letter:
        """What was asked for, and everything since the client was last told."""
        first = max(client.position, 0)
        news = self._steps[first:]
        inline: list[Any] = []
        steps = [self._number(hypothesis, inline) for _, hypothesis, _ in news]
        own = dict(facts)
        more: Arrays = own.pop("arrays", {})
        asked = [self._number(one, inline) for one in own.pop("hypotheses", [])]
        task_facts, task_arrays = pack_task(self.task) if client.position < 0 else ({}, {})
        inline_facts, inline_arrays = pack_hypotheses(inline, self.task.n_features, "inline") if inline else ({}, {})
        arrays: Arrays = {
            "step_sources": np.array([source for source, _, _ in news], dtype=np.int32),
            "step_hypotheses": np.array(steps, dtype=np.int32),
            "step_etas": np.array([eta for _, _, eta in news], dtype=np.float64),
            "hypotheses": np.array(asked, dtype=np.int32),
            **task_arrays,
            **inline_arrays,
            **more,
        }
        head = {"exchange": self.exchange, "from": first, "position": self.n_steps}
        letter = Letter(action, {**head, **own, **task_facts, **inline_facts}, arrays)
        self.traffic[-1].to_owners += letter.n_bytes
        self.traffic[-1].n_letters += 1
        return letter

    def _number(self, hypothesis: Any, inline: list[Any]) -> int:
        """Candidates of the task go by their places; others travel with the letter, behind them."""
        if isinstance(hypothesis, int):
            return hypothesis
        place = self._known.get(hypothesis.key())
        if place is not None:
            return place
        inline.append(hypothesis)
        return len(self.task.candidates) + len(inline) - 1


def _by_domain(replies: Mapping[Client, Letter], width: int) -> dict[int, list[int]]:
    sums: dict[int, list[int]] = {}
    for client, reply in replies.items():
        before = sums.get(client.domain, [0] * width)
        own = from_words(reply.arrays["sums"])
        sums[client.domain] = [a + b for a, b in zip(before, own, strict=True)]
    return sums


def _units(action: str, told: Mapping[str, Any], width: int) -> list[float]:
    """What a row may add to each sum at most."""
    one = 2.0**SCALE_BITS
    if action == "stand":
        return [one, one, one, 1.0]
    return [one * one / int(told["total"]) if action == "edges" else one] * width


def _position(reply: Letter) -> int:
    given = reply.facts.get("position")
    return given if isinstance(given, int) and given >= 0 else -1


@dataclass(frozen=True)
class Checks:
    """What sums over an owner's rows can be, rounding included.

    Losses and derivatives are below 2 to their scale, which becomes 2^61 exactly, and rounding keeps their order: their
    sums need no slack. D has been rounded as a double before; see `largest_edge`.
    """

    task: Task
    width: int
    reach: float  # no score is larger
    negotiates: bool  # whether owners tell their scales

    def __call__(self, client: Client, request: Letter, reply: Letter) -> None:
        words = reply.arrays.get("sums")
        need(words is not None, "it has sent no sums")
        assert words is not None
        right = words.dtype == np.int64 and words.shape == (self.width, 2)
        need(right, f"it has sent {words.dtype} of the shape {words.shape}, and {self.width} integers were asked for")
        values = from_words(words)
        check = {"stand": self._stand, "slopes": self._slopes, "edges": self._edges, "line": self._line}
        check[request.action](client, request, reply, values)

    def _stand(self, client: Client, request: Letter, reply: Letter, values: list[int]) -> None:
        if self.negotiates and not self._scales(client, request, reply):
            return
        loss, slope, own_slope, wrong = values
        most = client.n_rows << SCALE_BITS
        need(0 <= loss <= most, "the sum of its losses is out of range")
        need(0 <= slope <= most, "the sum of its derivatives is out of range")
        need(0 <= own_slope <= slope, "the sum of its derivatives times Q is out of range")
        need(0 <= wrong <= client.n_rows, f"it has {wrong} wrong answers for {client.n_rows} rows")
        client.masses = {client.domain: own_slope} if self.negotiates else {}  # a clipped sum is no bound

    def _scales(self, client: Client, request: Letter, reply: Letter) -> bool:
        """Whether its sums are in the scales that were told."""
        own = reply.facts.get("scales")
        right = isinstance(own, list) and len(own) == 2 and all(type(one) is int for one in own)
        need(right, f"its scales are {own!r}")
        assert isinstance(own, list)
        bound = Scales.at(self.task.loss, 1.0 + self.reach)
        need(bound.covers(Scales(*own)), f"its scales {own} are larger than any row's can be")
        position = int(request.facts["position"])
        same = client.said is None or client.said[0] != position or client.said[1] == own
        need(same, "its scales change from one asking to the next")
        client.said = (position, own)
        valid, fits = reply.facts.get("valid") is True, Scales(*request.facts["scales"]).covers(Scales(*own))
        need(valid or not fits, "it says that the scales are too small, and they are not")
        need(fits or not valid, "its sums are in scales that its rows exceed")
        return valid

    def _slopes(self, client: Client, request: Letter, reply: Letter, values: list[int]) -> None:
        most = client.n_rows << SCALE_BITS
        need(all(0 <= value <= most for value in values), "a sum of its derivatives is out of range")
        client.masses = dict(zip(request.facts["sources"], values, strict=True))

    def _edges(self, client: Client, request: Letter, reply: Letter, values: list[int]) -> None:
        # D sums to 2^61 over everybody, and over its rows to its share of the derivatives.
        mass = client.masses.get(request.facts["source"], client.n_rows << SCALE_BITS)
        most = largest_edge(mass, int(request.facts["total"]), client.n_rows)
        need(all(abs(value) <= most for value in values), "an edge of its rows is out of range")

    def _line(self, client: Client, request: Letter, reply: Letter, values: list[int]) -> None:
        most = client.n_rows << SCALE_BITS
        need(all(0 <= value <= most for value in values), "a loss of its rows along the line is out of range")
