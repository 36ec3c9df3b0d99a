"""Messages between the server and its clients, and their transport. They hold JSON and arrays, and never pickles."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.families.kinds import Shape
from radboost.families.stored import read_hypotheses, write_hypotheses
from radboost.rows.domains import DomainModel
from radboost.trees.tree import Tree

Facts = dict[str, Any]  # values of JSON
Arrays = dict[str, npt.NDArray[Any]]
MAX_SPLITS = 2**12  # of a tree in a message


@dataclass(frozen=True)
class Message:
    """Request or reply: an action (the name of a handler in client.py, repeated by its reply), facts, and arrays."""

    action: str
    facts: Facts = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Size of facts (as JSON) and arrays, without what Flower adds."""
        return len(json.dumps(self.facts)) + sum(array.nbytes for array in self.arrays.values())


@dataclass(frozen=True)
class Task:
    """Learning problem, the model of Q(domain | x), and hypotheses fixed in advance; each client gets it once."""

    loss: str
    classes: Sequence[Any]  # labels, ascending
    domains: Sequence[Any]  # ascending
    n_features: int
    domain_model: DomainModel | None  # None with one domain
    candidates: Sequence[Any] = ()


class Transport(ABC):
    """Delivery of messages to nodes, Flower's name for the processes of clients."""

    @abstractmethod
    def connected(self) -> list[int]:
        """IDs of the nodes that can be reached now."""

    @abstractmethod
    def send(self, requests: Mapping[int, Message]) -> Iterable[tuple[int, Message | str]]:
        """Pairs of a node and its reply or error message, in any order; a node may have none, or several."""


class ProtocolError(ValueError):
    """Message that breaks the protocol: a correct client or server never sends it."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise ProtocolError(message)


def pack_hypotheses(hypotheses: Sequence[Any], n_features: int, prefix: str) -> tuple[Facts, Arrays]:
    """Hypotheses in the form of model files, under names that begin with `prefix`."""
    kinds, stored = write_hypotheses(hypotheses, n_features, boosted=True)
    arrays = {f"{prefix}/{name}": np.ascontiguousarray(array) for name, array in stored.arrays.items()}
    return {f"{prefix}/header": stored.header}, {f"{prefix}/kinds": kinds, **arrays}


def unpack_hypotheses(message: Message, n_features: int, prefix: str) -> list[Any]:
    """Inverse of `pack_hypotheses` for an untrusted message; empty where it has none."""
    if f"{prefix}/kinds" not in message.arrays:
        return []
    start = f"{prefix}/"
    arrays = {name.removeprefix(start): array for name, array in message.arrays.items() if name.startswith(start)}
    header = message.facts.get(f"{prefix}/header", {})
    require(isinstance(header, Mapping), "the header of the hypotheses is no table")
    try:
        return read_hypotheses("kinds", header, arrays, Shape(n_features), boosted=True)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise ProtocolError(f"its hypotheses cannot be read: {error}") from error


def check_voting_tree(hypothesis: Any, n_features: int) -> None:
    """Refuse all but trees with leaves -1 and +1: only their edges, sums of D y h(x), can be compared."""
    is_tree = isinstance(hypothesis, Tree) and hypothesis.n_outputs == 1
    require(is_tree, f"{type(hypothesis).__name__} is no voting tree")
    require(hypothesis.n_features == n_features, f"a tree is for {hypothesis.n_features} columns, not for {n_features}")
    leaves = hypothesis.value[hypothesis.feature < 0]
    require(bool((np.abs(leaves) == 1.0).all()), "a leaf of a tree is neither -1 nor +1")
    splits = [array[hypothesis.feature >= 0] for array in (hypothesis.feature, hypothesis.threshold)]
    n_inner, n_splits = len(splits[0]), hypothesis.n_splits
    # A stump pair is a tree of three inner nodes that counts as two splits: both lower nodes have the same one.
    is_pair = n_inner == 3 and n_splits == 2 and all(array[1] == array[2] for array in splits)
    require(n_splits == n_inner or is_pair, f"a tree says that it has {n_splits} questions, and has {n_inner}")
    require(n_inner <= MAX_SPLITS, f"a tree has {n_inner} questions; at most {MAX_SPLITS} are taken")


def pack_task(task: Task) -> tuple[Facts, Arrays]:
    facts: Facts = {
        "loss": task.loss,
        "classes": list(task.classes),
        "domains": list(task.domains),
        "n_features": task.n_features,
    }
    arrays: Arrays = {} if task.domain_model is None else task.domain_model.to_arrays()
    header, stored = pack_hypotheses(task.candidates, task.n_features, "candidates") if task.candidates else ({}, {})
    return {"task": facts, **header}, {**arrays, **stored}


def unpack_task(message: Message) -> Task:
    facts = message.facts["task"]
    n_features, domains = int(facts["n_features"]), list(facts["domains"])
    model = None if len(domains) == 1 else DomainModel.from_arrays(message.arrays, n_features, len(domains))
    candidates = unpack_hypotheses(message, n_features, "candidates")
    return Task(str(facts["loss"]), list(facts["classes"]), domains, n_features, model, candidates)
