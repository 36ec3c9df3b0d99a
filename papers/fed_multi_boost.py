"""Table B.1 of Storcheus's thesis (2021): a federation of writers in two domains.

EMNIST by writer cannot be had. Pictures of MNIST and Fashion-MNIST are dealt to made-up writers by their style (see
`deal`), so that the figures cannot be the thesis's; the order of the algorithms can.

Linear models beside it are federated averaging (McMahan et al., 2017) and agnostic federated learning (Mohri, Sivek and
Suresh, 2019): two classes, logistic loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from papers import datasets as registry
from papers.harness import Facts, Result, Row
from papers.multi_boost import ErrorsBySource
from radboost.estimators import MultiSourceBoostClassifier
from radboost.families.candidates import draw
from radboost.federated.client import Client, ClientData
from radboost.federated.fitting import fit_federated
from radboost.federated.messages import Message, Transport
from radboost.federated.public import PROPOSABLE, TrainedByOwners
from radboost.linear.minimax import on_simplex

ALGORITHMS = ("FedAdaBoost-1", "FedAdaBoost-2", "FedAdaBoost-all", "FedMultiBoost", "FedAvg", "AFL")
PICTURES_PER_WRITER = 100
SIDE = 14  # pictures of 28 x 28 are halved
PER_DOMAIN = 10  # clients of each domain that a round asks: 20 in all, as in the thesis
BATCH = 20
LEARNING_RATE, MIXTURE_RATE = 1.0, 0.1  # of linear models; divided by sqrt(round) and constant


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


class MemoryState:
    """Client state in memory."""

    def __init__(self) -> None:
        self.slots: dict[str, Message] = {}

    def load(self, slot: str) -> Message | None:
        return self.slots.get(slot)

    def store(self, slot: str, message: Message) -> None:
        self.slots[slot] = message


class LocalTransport(Transport):
    """Clients in this process: the messages, and so the model, are those of a federation on Flower."""

    def __init__(self, data: Sequence[ClientData]) -> None:
        self._clients = [Client(lambda own=own: own, MemoryState(), PROPOSABLE) for own in data]  # type: ignore[misc]

    def connected(self) -> list[int]:
        return list(range(len(self._clients)))

    def send(self, requests: Mapping[int, Message]) -> list[tuple[int, Message | str]]:
        return [(node, self._clients[node].handle(request)) for node, request in requests.items()]


def loss_and_gradient(
    design: NDArray[np.float64], labels: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Sum of the logistic loss over rows, and its derivative; labels are -1 and +1."""
    margins = labels * (design @ coefficients)
    pull = -labels / (1.0 + np.exp(np.clip(margins, -500.0, 500.0)))
    return float(np.sum(np.logaddexp(0.0, -margins))), np.asarray(pull @ design)


def fit_linear(
    data: Sequence[ClientData], *, method: str, n_rounds: int, clients_per_round: int | None = None
) -> NDArray[np.float64]:
    """Coefficients, the last of which is the offset; labels are 0 and 1.

    "fedavg" averages the coefficients that clients reach from the same start. "afl" descends for the coefficients and
    ascends for the mixture of the domains, and averages the rounds.
    """
    rows = [(np.hstack([own.X, np.ones((len(own.X), 1))]), np.where(own.y == 1, 1.0, -1.0)) for own in data]
    domains = sorted({own.domain for own in data})
    members = [[rows[k] for k, own in enumerate(data) if own.domain == domain] for domain in domains]
    current, mixture = np.zeros(rows[0][0].shape[1]), np.full(len(domains), 1.0 / len(domains))
    average = np.zeros_like(current)
    for round_index in range(n_rounds):
        rate = LEARNING_RATE / math.sqrt(1.0 + round_index)
        drawn = [
            [of_domain[k] for k in draw(seed, round_index, len(of_domain), clients_per_round)]
            for seed, of_domain in enumerate(members)
        ]
        n_rows = [sum(len(labels) for _, labels in clients) for clients in drawn]
        if method == "fedavg":
            chosen = [client for clients in drawn for client in clients]
            reached = [len(labels) / sum(n_rows) * _local_descent(X, labels, current, rate) for X, labels in chosen]
            current = average = np.sum(reached, axis=0)
            continue
        sums = [[loss_and_gradient(X, labels, current) for X, labels in clients] for clients in drawn]
        losses = np.array([sum(loss for loss, _ in parts) / n for parts, n in zip(sums, n_rows, strict=True)])
        slopes = np.array([sum(slope / n for _, slope in parts) for parts, n in zip(sums, n_rows, strict=True)])
        current = current - 10.0 * rate * (mixture @ slopes)
        mixture = on_simplex(mixture + MIXTURE_RATE * losses)
        average += (current - average) / (1.0 + round_index)
    return average


def _local_descent(
    design: NDArray[np.float64], labels: NDArray[np.float64], start: NDArray[np.float64], rate: float
) -> NDArray[np.float64]:
    """Coefficients after one pass over the rows."""
    coefficients = start.copy()
    for first in range(0, len(design), BATCH):
        part = slice(first, first + BATCH)
        _, slope = loss_and_gradient(design[part], labels[part], coefficients)
        coefficients -= rate * slope / len(labels[part])
    return coefficients


@dataclass(frozen=True)
class ErrorsByDomain(ErrorsBySource):
    """Writers are held back fold by fold; 20 of the others are asked in each round."""

    algorithms: tuple[str, ...] = ALGORITHMS
    rounds: int = 500
    quick_rounds: int = 200

    published: ClassVar[str] = "fed-multi-boost"
    against: ClassVar[str] = "FedAdaBoost-all"
    columns: ClassVar[Row] = ("data set", "algorithm", "error 1", "error 2", "uniform", "agnostic", "paper", "p")
    legend = (
        "means (standard deviations) over the folds; agnostic: mean of the larger error; paper: its own on EMNIST;\n"
        "p: one-tailed paired t-test against FedAdaBoost-all. Stumps trained by writers, exponential loss; FedAvg and\n"
        "AFL: linear models. Rows by domain (Table B.2): mnist-4-9 6891 + 6891, mnist-1-7 7586 + 7584,\n"
        "fashion-0-6 7000 + 7000, 100 to a writer"
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
        data_of = [
            ClientData(
                dealt.X[rows],
                dealt.y[rows],
                int(dealt.domains[rows][0]) if algorithm in ("FedMultiBoost", "AFL", "FedAvg") else 0,
                f"writer {writer:04}",
            )
            for writer in np.unique(dealt.writers[~test]).tolist()
            for rows in [np.flatnonzero(dealt.writers == writer)]
            if only is None or dealt.domains[rows][0] == only
        ]
        wrong = _predictor(algorithm, facts["rounds"], data_of)(dealt.X[test]) != dealt.y[test]
        return {"errors": [float(wrong[dealt.domains[test] == domain].mean()) for domain in (1, 2)]}


def _predictor(
    algorithm: str, rounds: int, data: Sequence[ClientData]
) -> Callable[[NDArray[np.float64]], NDArray[Any]]:
    if algorithm in ("FedAvg", "AFL"):
        linear = fit_linear(data, method=algorithm.lower(), n_rounds=rounds, clients_per_round=PER_DOMAIN)
        return lambda X: (X @ linear[:-1] + linear[-1] > 0).astype(int)
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
        estimator, LocalTransport(data), candidates=TrainedByOwners(), domain_model=None, clients_per_round=per_round
    )
    return fitted.predict


STUDIES = (ErrorsByDomain("fedmultiboost-b.1", "Storcheus (2021), Table B.1: clients who keep their data"),)
