"""Clients that follow the protocol are never left out, and sums just beyond what they can send are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from federation_tools import GRID, N_ROWS, LocalTransport, candidates, changed, clean_rows, domain_model, estimator
from radboost.boosting import Trace
from radboost.families import Candidates, stumps_at
from radboost.federated import TrainedByOwners
from radboost.federated.client import ClientRows
from radboost.federated.descent import FederatedDescent
from radboost.federated.fitting import fit_federated
from radboost.federated.fixed_point import Scales, from_words, largest_edge, to_words
from radboost.federated.messages import Message, Task
from radboost.penalties import WeightedL1
from radboost.rows.domains import DomainModel

QUICK, ALL = range(14), range(14, 1000)


def random_federation(seed: int) -> tuple[LocalTransport, dict[str, Any]]:
    """Clients with made-up rows, in most federations with labels that one candidate gets right, and settings."""
    rng = np.random.default_rng([41, seed])
    n_domains, n_clients, noise = int(rng.integers(1, 4)), int(rng.integers(3, 9)), rng.choice([0.0, 0.0, 0.1])
    distance, columns = rng.choice([0.5, 2.0, 12.0]), rng.integers(0, 3, 3)  # of the domains; the one with the labels

    def rows(client: int, _: int = n_domains) -> tuple[np.ndarray, np.ndarray, str]:
        own, domain = np.random.default_rng([seed, client]), client % n_domains
        X = own.normal(size=(int(own.integers(1, 60)), 4))
        y = X[:, columns[domain]] > own.choice(GRID[0][2:5], size=1)
        X[:, 3] += distance * domain
        return X, np.where(own.random(len(X)) < noise, ~y, y).astype(int), f"domain {domain}"

    model = None
    if n_domains > 1 and rng.random() < 0.8:
        model = domain_model(n_domains, rows)
    families: list[Any] = [Candidates(stumps_at(GRID)), Candidates(stumps_at(GRID), 9)]
    families += [TrainedByOwners("stumps"), TrainedByOwners("trees", 2), TrainedByOwners("stump_pairs", 1)]
    learner = estimator(
        int(rng.integers(4, 12)),
        loss=rng.choice(["exponential", "logistic"]).item(),
        step=rng.choice(["decay", "line_search"]).item(),
        learning_rate=rng.choice([0.1, 0.5, 1.0]).item(),
        source_objective=rng.choice(["max", "max", "softmax", "sum"]).item(),
        random_state=seed,
    )
    given = families[int(rng.choice(5, p=[0.4, 0.2, 0.2, 0.1, 0.1]))]
    per_round = 2 if rng.random() < 0.2 else None
    settings = {"estimator": learner, "candidates": given, "domain_model": model, "clients_per_round": per_round}
    return LocalTransport(n_clients, rows=rows), settings


@pytest.mark.parametrize("seeds", [QUICK, pytest.param(ALL, marks=pytest.mark.slow)])
def test_nobody_who_follows_the_protocol_is_left_out(seeds: range) -> None:
    found = {}
    for seed in seeds:
        transport, settings = random_federation(seed)
        _, server = fit_federated(transport=transport, **settings)
        found[seed] = server.left_out
    assert {seed: who for seed, who in found.items() if who} == {}


@pytest.mark.parametrize(("beyond", "names"), [(0, []), (1, ["client 001"])])
def test_an_edge_one_unit_beyond_what_rounding_allows_is_a_lie(beyond: int, names: list[str]) -> None:
    own: dict[int, int] = {}

    def greedy(node: int, request: Message, reply: Message) -> Iterable[Message | str]:
        if request.action == "evaluate":
            own[node] = from_words(reply.arrays["sums"])[2]
        if request.action != "edges" or node != 1:
            return [reply]
        n, total = N_ROWS + 1, int(request.facts["total"])
        most = (Fraction(own[1]) + Fraction(n, 2)) / total * 2**61 * (1 + Fraction(1, 2**51)) + Fraction(n, 2)
        return [changed(reply, arrays={"sums": to_words([-math.floor(most) - beyond] * len(reply.arrays["sums"]))})]

    transport = LocalTransport(6, fault=greedy, rows=clean_rows)
    _, server = fit_federated(estimator(6), transport, candidates=candidates(), domain_model=domain_model())
    assert list(server.left_out) == names


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_edges_of_rows_that_are_all_right_come_near_the_bound(loss: str) -> None:
    """Derivatives from almost nothing to all that the scale holds; few rows and many."""
    rng, used = np.random.default_rng(1), []
    for k in range(200):
        n = int(rng.integers(1, 50))
        X = rng.normal(size=(n, 4))
        rows = ClientRows(Task(loss, [0, 1], ["a"], 4, None), X, (X[:, 0] > GRID[0][3]).astype(np.uint16), 0)
        rows.set_scores(np.where(rows.class_ids == 1, 1.0, -1.0) * rng.uniform(0, 10.0 ** rng.uniform(-3, 2), n), 0)
        scales = Scales.at(loss, 1.0)
        mass = rows.evaluate(scales)[2]
        total = mass + round(mass * rng.uniform(0, 4)) * (k % 4 > 0)
        if total:
            (edge,) = rows.edges(scales, 0, 1.0, total, [stumps_at([[GRID[0][3]], [], [], []])[0]])
            share, most = mass * 2**61 // total, largest_edge(mass, total, n)
            assert edge <= most
            used.append((edge - share) / (most - share))
    assert max(used) > 0.25


def test_shares_that_sum_to_more_than_one_stay_within_the_scales() -> None:
    """Three shares, each rounded up; with them the loss of a row is just beyond a power of two."""
    shares = np.array([19660.6, 19660.6, 26214.8]) * 2.0**-16
    none = np.zeros(0, np.int32)
    model = DomainModel(np.zeros((4, 3)), np.log(shares), np.zeros(4), none, none.reshape(0, 2))
    task = Task("exponential", [0, 1], ["a", "b", "c"], 4, model)
    rows = ClientRows(task, np.zeros((1, 4)), np.zeros(1, dtype=np.uint16), 0)
    server: Any = SimpleNamespace(task=task, sizes=[1.0] * 3, add_step=lambda *step: None)
    settings: dict[str, Any] = {"over": None, "penalty": WeightedL1(0.0), "learning_rate": 1.0, "step": "decay"}
    descent = FederatedDescent(server, candidates=candidates(), seeds=[0] * 3, trace=Trace(), **settings)
    always = stumps_at([[5.0], [], [], []])[0]
    answer = 1.0 if always.predict(np.zeros((1, 4)))[0] > 0 else -1.0
    weight = answer * math.floor((3.0 * math.log(2.0) - 1.0) * 2**24) * 2.0**-24
    for domain in range(3):
        descent._take(domain, domain, always, weight)
        rows.step(always, domain, weight)
    assert rows.largest_scales() == Scales(4, 4)
    assert Scales.at("exponential", 1.0 + server.largest_score).covers(Scales(4, 4))
