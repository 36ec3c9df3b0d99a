"""Federations in one process: owners with made-up rows, and ways for letters to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from papers.fed_multi_boost import Memory
from radboost import MultiSourceBoostClassifier
from radboost.families import Candidates, stumps_at
from radboost.federated.answers import Owner, OwnRows
from radboost.federated.desk import Transport
from radboost.federated.fitting import PROPOSABLE
from radboost.federated.letters import Letter
from radboost.rows.domains import DomainModel, fit_domains

N_ROWS = 40  # of each owner
GRID = [np.linspace(-2.0, 5.0, 12)] * 4


def rows_of(owner: int, n_domains: int = 2, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, str]:
    """Rows of an owner. Domains differ in the last column, and disagree about the first."""
    rng = np.random.default_rng([7, owner])
    domain = owner % n_domains
    n = N_ROWS + owner % 5
    X = rng.normal(size=(n, 4))
    X[:, 3] += 2.0 * domain
    y = (X[:, 0] > 0 if domain == 1 else X[:, 0] + X[:, 1] < 0).astype(int)
    y = np.where(rng.random(n) < 0.1, 1 - y, y)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, f"domain {domain}"


def clean_rows(owner: int) -> tuple[np.ndarray, np.ndarray, str]:
    """One threshold gets all labels right."""
    X, _, domain = rows_of(owner)
    return X, (X[:, 0] > GRID[0][3]).astype(int), domain


def all_rows(n_owners: int, n_domains: int = 2, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a server may never see."""
    parts = [rows_of(owner, n_domains, missing) for owner in range(n_owners)]
    domains = np.concatenate([np.repeat(domain, len(y)) for _, y, domain in parts])
    return np.vstack([X for X, _, _ in parts]), np.concatenate([y for _, y, _ in parts]), domains


def domain_model(n_domains: int = 2) -> DomainModel:
    """From rows of owners that take no part."""
    parts = [rows_of(1000 + owner, n_domains) for owner in range(4 * n_domains)]
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


Trouble = Callable[[int, Letter, Letter], Iterable[Letter | str]]


class LocalTransport(Transport):
    """Owners in this process, asked in the wrong order. `trouble` makes of an answer none, others, or several."""

    def __init__(
        self,
        n_owners: int,
        n_domains: int = 2,
        missing: float = 0.0,
        trouble: Trouble | None = None,
        rows: Callable[[int], tuple[np.ndarray, np.ndarray, str]] | None = None,
    ) -> None:
        self.memories = [Memory() for _ in range(n_owners)]
        self._given = rows or (lambda k: rows_of(k, n_domains, missing))
        self.owners = [self._owner(k) for k in range(n_owners)]
        self.trouble = trouble
        self.absent: set[int] = set()
        self.letters: list[tuple[int, Letter]] = []
        self.replies: list[tuple[int, Letter]] = []

    def _owner(self, k: int) -> Owner:
        return Owner(lambda: OwnRows(*self._given(k), f"owner {k:03}"), self.memories[k], PROPOSABLE)

    def restart(self, k: int, forget: bool = False) -> None:
        """The process of an owner ends and begins again, with or without what was kept for it."""
        old = self.owners[k]
        if forget:
            self.memories[k].slots.clear()
        self.owners[k] = Owner(old._load, self.memories[k], PROPOSABLE)

    def connected(self) -> list[int]:
        return [k for k in range(len(self.owners)) if k not in self.absent]

    def send(self, letters: Mapping[int, Letter]) -> list[tuple[int, Letter | str]]:
        found: list[tuple[int, Letter | str]] = []
        for node, letter in sorted(letters.items(), reverse=True):
            self.letters.append((node, letter))
            try:
                reply = self.owners[node].answer(letter)
            except Exception as error:
                found.append((node, str(error)))
                continue
            self.replies.append((node, reply))
            answers = [reply] if self.trouble is None else self.trouble(node, letter, reply)
            found += [(node, answer) for answer in answers]
        return found


def changed(letter: Letter, facts: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None) -> Letter:
    return replace(letter, facts={**letter.facts, **(facts or {})}, arrays={**letter.arrays, **(arrays or {})})
