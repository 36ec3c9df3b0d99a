"""What server and owners write to each other: an action, facts, and arrays. Nothing in a letter is code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost.families.kinds import Shape
from radboost.families.stored import read_hypotheses, write_hypotheses
from radboost.federated.owner import Task
from radboost.rows.domains import DomainModel
from radboost.trees.tree import Tree

Arrays = dict[str, npt.NDArray[Any]]
MOST_QUESTIONS = 2**12


@dataclass(frozen=True)
class Letter:
    action: str
    facts: dict[str, Any] = field(default_factory=dict)  # as JSON has them
    arrays: Arrays = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """What it takes on the way, but for the envelope."""
        return len(json.dumps(self.facts)) + sum(array.nbytes for array in self.arrays.values())


class LetterError(ValueError):
    """A letter that nobody could have written in good faith."""


def need(condition: bool, message: str) -> None:
    if not condition:
        raise LetterError(message)


def pack_hypotheses(hypotheses: Sequence[Any], n_features: int, prefix: str) -> tuple[dict[str, Any], Arrays]:
    """Hypotheses as the files of models have them."""
    kinds, stored = write_hypotheses(hypotheses, n_features, boosted=True)
    arrays = {f"{prefix}/{name}": np.ascontiguousarray(array) for name, array in stored.arrays.items()}
    return {f"{prefix}/header": stored.header}, {f"{prefix}/kinds": kinds, **arrays}


def unpack_hypotheses(letter: Letter, n_features: int, prefix: str) -> list[Any]:
    """The inverse of `pack_hypotheses`, of a letter that nobody vouches for; none where it has none."""
    if f"{prefix}/kinds" not in letter.arrays:
        return []
    start = f"{prefix}/"
    arrays = {name.removeprefix(start): array for name, array in letter.arrays.items() if name.startswith(start)}
    header = letter.facts.get(f"{prefix}/header", {})
    need(isinstance(header, Mapping), "the header of the hypotheses is no table")
    try:
        return read_hypotheses("kinds", header, arrays, Shape(n_features), boosted=True)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise LetterError(f"its hypotheses cannot be read: {error}") from error


def check_voting_tree(hypothesis: Any, n_features: int) -> None:
    """Refuses all but trees whose leaves are -1 and +1: edges of others have other units."""
    need(isinstance(hypothesis, Tree) and hypothesis.n_outputs == 1, f"{type(hypothesis).__name__} is no voting tree")
    need(hypothesis.n_features == n_features, f"a tree is for {hypothesis.n_features} columns, not for {n_features}")
    leaves = hypothesis.value[hypothesis.feature < 0]
    need(bool((np.abs(leaves) == 1.0).all()), "a leaf of a tree is neither -1 nor +1")
    asked = [array[hypothesis.feature >= 0] for array in (hypothesis.feature, hypothesis.threshold)]
    inner, said = len(asked[0]), hypothesis.n_splits
    # A stump pair asks its second question at both leaves of the first.
    pair = inner == 3 and all(array[1] == array[2] for array in asked)
    need(said == inner or (pair and said == 2), f"a tree says that it has {said} questions, and has {inner}")
    need(inner <= MOST_QUESTIONS, f"a tree has {inner} questions; at most {MOST_QUESTIONS} are taken")


def pack_task(task: Task) -> tuple[dict[str, Any], Arrays]:
    facts: dict[str, Any] = {
        "loss": task.loss,
        "classes": list(task.classes),
        "domains": list(task.domains),
        "n_features": task.n_features,
    }
    arrays: Arrays = {} if task.domain_model is None else task.domain_model.to_arrays()
    header, stored = pack_hypotheses(task.candidates, task.n_features, "candidates") if task.candidates else ({}, {})
    return {"task": facts, **header}, {**arrays, **stored}


def unpack_task(letter: Letter) -> Task:
    facts = letter.facts["task"]
    n_features, domains = int(facts["n_features"]), list(facts["domains"])
    model = None if len(domains) == 1 else DomainModel.from_arrays(letter.arrays, n_features, len(domains))
    candidates = unpack_hypotheses(letter, n_features, "candidates")
    return Task(str(facts["loss"]), list(facts["classes"]), domains, n_features, model, candidates)
