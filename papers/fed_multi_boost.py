"""Table B.1 of Storcheus's thesis (2021): a federation of writers in two domains.

EMNIST by writer cannot be had. Pictures of MNIST and Fashion-MNIST are dealt to made-up writers by their style (see
`deal`), so that the figures cannot be the thesis's; the order of the algorithms can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from papers import datasets as registry
from papers.harness import Facts, Result, Row
from papers.multi_boost import ErrorsBySource
from radboost.estimators import MultiSourceBoostClassifier
from radboost.federated.answers import Owner, OwnRows
from radboost.federated.desk import Transport
from radboost.federated.fitting import PROPOSABLE, TrainedByOwners, clients_of, fit_federated, register
from radboost.federated.letters import Letter
from radboost.federated.linear import fit_linear

ALGORITHMS = ("FedAdaBoost-1", "FedAdaBoost-2", "FedAdaBoost-all", "FedMultiBoost", "FedAvg", "AFL")
PICTURES_PER_WRITER = 100
SIDE = 14  # pictures of 28 x 28 are halved
# A federation in one process is asked in the same words as over Flower, and ends with the same model, bit for bit.
PER_DOMAIN = 10  # owners of each domain that a round asks: 20 in all, as in the thesis


@dataclass(frozen=True)
class Problem:
    """Two kinds of pictures, and the styles that domains and writers differ in."""

    data: str
    classes: tuple[int, int]
    domains_by: str
    writers_by: str


PROBLEMS: Mapping[str, Problem] = {
    "mnist-4-9": Problem("mnist", (4, 9), "slant", "ink"),
    "mnist-1-7": Problem("mnist", (1, 7), "slant", "ink"),
    "fashion-0-6": Problem("fashion_mnist", (0, 6), "ink", "slant"),
}


@dataclass(frozen=True)
class Dealt:
    """Pictures with the number of their writer and of their domain, 1 or 2."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    writers: NDArray[np.int64]
    domains: NDArray[np.int64]


def styles(pictures: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Ink of each picture, and slant of its strokes: how far they move sideways by each row; shape (n_pictures,)."""
    grey = pictures.reshape(-1, 28, 28).astype(np.float64)
    ink = grey.sum(axis=(1, 2))
    across, down = np.arange(28.0), np.arange(28.0)
    x = (grey.sum(axis=1) @ across) / ink
    y = (grey.sum(axis=2) @ down) / ink
    dx, dy = across[None, None, :] - x[:, None, None], down[None, :, None] - y[:, None, None]
    sideways, height = (grey * dx * dy).sum(axis=(1, 2)), (grey * dy * dy).sum(axis=(1, 2))
    return {"ink": ink, "slant": -sideways / height}


@lru_cache(maxsize=1)
def deal(name: str, data_dir: str | None) -> Dealt:
    """Deal pictures: the half of a class with less of one style is domain 1; neighbors in the other have one writer.

    So writers have both classes, in a style of their own, and domains are of one size.
    """
    problem = PROBLEMS[name]
    data = registry.load(problem.data, data_dir)
    kept = np.flatnonzero(np.isin(data.y.astype(int), problem.classes))
    pictures, y = np.asarray(data.X)[kept], (data.y.astype(int)[kept] == problem.classes[1]).astype(np.int64)
    style = styles(pictures)
    domains, writers = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    n_writers = len(y) // 2 // PICTURES_PER_WRITER
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        rows = rows[np.argsort(style[problem.domains_by][rows], kind="stable")]
        for domain, part in enumerate(np.array_split(rows, 2), start=1):
            part = part[np.argsort(style[problem.writers_by][part], kind="stable")]
            domains[part] = domain
            for number, own in enumerate(np.array_split(part, n_writers)):
                writers[own] = 2 * number + domain - 1
    halved = pictures.reshape(-1, SIDE, 2, SIDE, 2).mean(axis=(2, 4)).reshape(len(y), -1) / 255.0
    return Dealt(np.ascontiguousarray(halved), y, writers, domains)


class Memory:
    """Memory of an owner between letters."""

    def __init__(self) -> None:
        self.slots: dict[str, Letter] = {}

    def load(self, slot: str) -> Letter | None:
        return self.slots.get(slot)

    def store(self, slot: str, letter: Letter) -> None:
        self.slots[slot] = letter


class InOneProcess(Transport):
    """Owners of given rows, who answer at once."""

    def __init__(self, given: list[OwnRows]) -> None:
        self._owners = [Owner(lambda own=own: own, Memory(), PROPOSABLE) for own in given]  # type: ignore[misc]

    def connected(self) -> list[int]:
        return list(range(len(self._owners)))

    def send(self, letters: Mapping[int, Letter]) -> list[tuple[int, Letter | str]]:
        return [(node, self._owners[node].answer(letter)) for node, letter in letters.items()]


@dataclass(frozen=True)
class ErrorsByDomain(ErrorsBySource):
    """Writers are held back fold by fold; 20 of the others are asked in each round."""

    algorithms: tuple[str, ...] = ALGORITHMS
    rounds: int = 500
    quick_rounds: int = 200

    published: ClassVar[str] = "fed-multi-boost"
    columns: ClassVar[Row] = ("data set", "algorithm", "error 1", "error 2", "uniform", "agnostic", "paper")
    legend = (
        "means (standard deviations) over the folds; agnostic: the mean of the larger error; paper: its own\n"
        "on EMNIST. Stumps trained by writers, exponential loss; FedAvg and AFL: linear models. Rows by domain (Table\n"
        "B.2): mnist-4-9 6891 + 6891, mnist-1-7 7586 + 7584, fashion-0-6 7000 + 7000, 100 to a writer"
    )

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(PROBLEMS)

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Errors on the writers that one fold holds back, by domain."""
        dealt = deal(facts["sources"], data_dir)
        order = np.random.default_rng([facts["seed"], 1]).permutation(1 + dealt.writers.max())
        fold = np.empty(len(order), dtype=int)
        fold[order] = np.arange(len(order)) % facts["folds"]
        test = fold[dealt.writers] == facts["fold"]
        algorithm = facts["algorithm"]
        only = int(algorithm[-1]) if algorithm[-1].isdigit() else None
        given = [
            OwnRows(
                dealt.X[rows],
                dealt.y[rows],
                int(dealt.domains[rows][0]) if algorithm in ("FedMultiBoost", "AFL", "FedAvg") else 0,
                f"writer {writer:04}",
            )
            for writer in np.unique(dealt.writers[~test]).tolist()
            for rows in [np.flatnonzero(dealt.writers == writer)]
            if only is None or dealt.domains[rows][0] == only
        ]
        predict = _predictor(algorithm, facts["rounds"], InOneProcess(given), dealt.X.shape[1])
        wrong = predict(dealt.X[test]) != dealt.y[test]
        return {"errors": [float(wrong[dealt.domains[test] == domain].mean()) for domain in (1, 2)]}


def _predictor(
    algorithm: str, rounds: int, transport: InOneProcess, n_features: int
) -> Callable[[NDArray[np.float64]], NDArray[Any]]:
    if algorithm in ("FedAvg", "AFL"):
        model = fit_linear(
            transport,
            clients_of(register(transport)),
            np.array([0, 1]),
            n_features,
            method=algorithm.lower(),
            n_rounds=rounds,
            clients_per_round=PER_DOMAIN,
            learning_rate=1.0,
        )
        return model.predict
    multi = algorithm == "FedMultiBoost"
    estimator = MultiSourceBoostClassifier(
        rounds,
        loss="exponential",
        step="decay" if multi else "line_search",
        learning_rate=0.5 if multi else 1.0,
        complexity_penalty=0.0,
    )
    per_round = PER_DOMAIN if multi else 2 * PER_DOMAIN
    fitted, _ = fit_federated(
        estimator, transport, candidates=TrainedByOwners(), domain_model=None, clients_per_round=per_round
    )
    return fitted.predict


STUDIES = (ErrorsByDomain("fedmultiboost-b.1", "Storcheus (2021), Table B.1: clients who keep their data"),)
