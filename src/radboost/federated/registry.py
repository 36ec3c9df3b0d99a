"""Clients as the server knows them: registration, and which of them fit together."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from radboost.federated.messages import Facts, Message, Transport
from radboost.rows.domains import DomainModel

logger = logging.getLogger("radboost.federated")
MAX_ROWS = 2**40  # of a client


@dataclass(eq=False)
class ClientRecord:
    """Client from the server's point of view."""

    node: int
    name: str
    domain: int  # index into the domains in ascending order
    n_rows: int
    position: int = -1  # steps that it has been sent; -1: not even the task
    trusted: bool = True
    reported: tuple[int, Any] | None = None  # a position, and the scales that it has reported there
    slope_sums: dict[int, int] = field(default_factory=dict)  # source -> its sum of Phi' Q(source | x)


def register(transport: Transport, left_out: dict[str, str]) -> list[Facts]:
    """Descriptions of the connected clients, in the order of their names.

    Clients whose registration cannot be used are entered in `left_out`, with the reasons.
    """
    requests = {node: Message("register", {"exchange": 0}) for node in sorted(transport.connected())}
    by_name: dict[str, list[Facts]] = {}
    for node, reply in transport.send(requests):
        if isinstance(reply, str):
            logger.warning("register: node %s has failed and is skipped: %s", node, reply)
            continue
        wrong = _fault(reply.facts)
        if wrong:
            left_out[f"node {node}"] = wrong  # its name may be that of another
            logger.error("register: node %s is left out: %s", node, wrong)
            continue
        by_name.setdefault(reply.facts["name"], []).append({**reply.facts, "node": node})
    for name, described in sorted(by_name.items()):
        if len(described) > 1:  # no way to tell which of them is right
            left_out[name] = f"{len(described)} nodes go by this name"
            logger.error("register: %d nodes go by the name %r; all of them are left out", len(described), name)
    return [described[0] for _, described in sorted(by_name.items()) if len(described) == 1]


def _fault(facts: Facts) -> str:
    """Reason why a description cannot be used; empty if it can."""

    def is_count(name: str) -> bool:
        return type(facts.get(name)) is int and 0 < facts[name] <= MAX_ROWS

    if not isinstance(facts.get("name"), str):
        return f"its name is {facts.get('name')!r}, and no text"
    if not is_count("n_rows") or not is_count("n_features"):
        return f"it has {facts.get('n_rows')!r} rows of {facts.get('n_features')!r} columns"
    labels = facts.get("labels")
    if not isinstance(labels, list) or not labels or any(type(one) not in (bool, int, float, str) for one in labels):
        return f"its labels are {str(labels)[:100]}"
    if len(labels) > 2 or any(label != label for label in labels):
        return f"it has the labels {str(labels)[:100]}; two classes are learned"
    if type(facts.get("domain")) not in (bool, int, float, str):
        return f"its domain is {facts.get('domain')!r}"
    columns = facts.get("columns")
    if columns is not None and (not isinstance(columns, list) or len(columns) != facts["n_features"]):
        return f"its columns have the names {str(columns)[:100]}"
    return ""


def select_alike(described: Sequence[Facts], domain_model: DomainModel | None, left_out: dict[str, str]) -> list[Facts]:
    """Clients with the columns, types of labels and domains, and the two classes that most have.

    The others are entered in `left_out`.
    """
    remaining, wrong = list(described), dict[str, str]()

    def keep_majority(what: str, of: Callable[[Facts], Any]) -> None:
        nonlocal remaining
        counts = Counter(repr(of(facts)) for facts in remaining)
        most = max(counts, key=lambda one: (counts[one], one), default="")
        for facts in remaining:
            if repr(of(facts)) != most:
                wrong[facts["name"]] = f"its {what} are {repr(of(facts))[:100]}, and those of most {most[:100]}"
        remaining = [facts for facts in remaining if facts["name"] not in wrong]

    keep_majority("columns", lambda facts: (facts["n_features"], facts.get("columns")))
    keep_majority("types of labels", lambda facts: sorted({type(label).__name__ for label in facts["labels"]}))
    keep_majority("types of domains", lambda facts: type(facts["domain"]).__name__)
    counts = Counter(label for facts in remaining for label in facts["labels"])
    usual = {label for label, _ in sorted(counts.items(), key=lambda pair: (-pair[1], repr(pair[0])))[:2]}
    known = None if domain_model is None or domain_model.names is None else set(domain_model.names)
    for facts in remaining:
        if not set(facts["labels"]) <= usual:
            wrong[facts["name"]] = f"its labels are {facts['labels']}, and those of most {sorted(usual)}"
        elif known is not None and facts["domain"] not in known:
            wrong[facts["name"]] = f"its domain is {facts['domain']!r}, and Q knows {sorted(known)}"
    for name, reason in wrong.items():
        logger.error("register: %r is left out: %s", name, reason)
    left_out.update(wrong)
    return [facts for facts in remaining if facts["name"] not in wrong]


def client_records(described: Sequence[Facts]) -> list[ClientRecord]:
    domains = sorted({facts["domain"] for facts in described})
    return [
        ClientRecord(facts["node"], facts["name"], domains.index(facts["domain"]), facts["n_rows"])
        for facts in described
    ]


def warn_of_left_out(left_out: Mapping[str, str], described: Sequence[Facts]) -> None:
    """Warn with names, reasons and lost rows; `described` has all clients that have registered."""
    if not left_out:
        return
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:3]]
    shown += [f"{len(left_out) - 3} more in left_out_"] if len(left_out) > 3 else []
    lost = sum(facts["n_rows"] for facts in described if facts["name"] in left_out)
    n_rows = sum(facts["n_rows"] for facts in described)
    remaining = {facts["domain"] for facts in described if facts["name"] not in left_out}
    empty = sorted({repr(facts["domain"]) for facts in described if facts["domain"] not in remaining})
    without = f", and no client of the domain {' or '.join(empty)} is left" if empty else ""
    warnings.warn(
        f"Clients were left out for good: {', '.join(shown)}. The model learns nothing more from their rows, {lost:,} "
        f"of the {n_rows:,} registered{without}. Check what these clients run.",
        UserWarning,
        stacklevel=3,
    )
