"""Linear models for comparison: federated averaging, and agnostic federated learning, by the same letters.

McMahan et al. (2017); Mohri, Sivek and Suresh (2019). Two classes, logistic loss. Parameters and gradients are real
numbers, added in the order of the owners' names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.families.candidates import draw
from radboost.federated.desk import Client, Transport
from radboost.federated.letters import Arrays, Letter, need
from radboost.federated.regression import Survey
from radboost.linear.minimax import on_simplex

METHODS = ("fedavg", "afl")
BATCH = 20


@dataclass(frozen=True)
class LinearModel:
    """sign(w x + b) as a class."""

    coefficients: FloatArray  # the last one is the offset
    classes: npt.NDArray[Any]

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(_design(np.asarray(X, dtype=np.float64)) @ self.coefficients)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        return np.asarray(self.classes[(self.decision_function(X) > 0).astype(int)])


def _design(X: FloatArray) -> FloatArray:
    return np.hstack([np.nan_to_num(X), np.ones((len(X), 1))])


def loss_and_slope(design: FloatArray, labels: FloatArray, coefficients: FloatArray) -> tuple[float, FloatArray]:
    """The sums of log(1 + exp(-y f)) and of its derivative; labels are -1 and +1."""
    margins = labels * (design @ coefficients)
    pull = -labels / (1.0 + np.exp(np.clip(margins, -500.0, 500.0)))
    return float(np.sum(np.logaddexp(0.0, -margins))), np.asarray(pull @ design)


def answer_linear(X: FloatArray, y: npt.NDArray[Any], letter: Letter) -> tuple[dict[str, Any], Arrays]:
    """Coefficients after some passes over the own rows, or loss and gradient at those that came."""
    facts, start = letter.facts, letter.arrays["coefficients"]
    labels = np.where(y == facts["positive"], 1.0, -1.0)
    design = _design(X)
    if facts["method"] == "afl":
        loss, slope = loss_and_slope(design, labels, start)
        return {"loss": loss}, {"numbers": slope}
    found, rate = start.copy(), float(facts["rate"])
    for _ in range(int(facts["passes"])):
        for first in range(0, len(X), BATCH):
            part = slice(first, first + BATCH)
            _, slope = loss_and_slope(design[part], labels[part], found)
            found -= rate * slope / len(labels[part])
    return {"loss": 0.0}, {"numbers": found}


def fit_linear(
    transport: Transport,
    clients: Sequence[Client],
    classes: npt.NDArray[Any],
    n_features: int,
    *,
    method: str,
    n_rounds: int = 100,
    clients_per_round: int | None = None,
    learning_rate: float = 0.1,
    mixture_rate: float = 0.1,
    seed: int = 0,
) -> LinearModel:
    """A linear model of all owners.

    With "fedavg" it is the mean of what owners reach from the same start; with "afl" there is descent for the
    coefficients and ascent for the mixture of the domains, and the model is the average of the rounds.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    survey, n_domains = Survey(transport), 1 + max(client.domain for client in clients)
    now, mixture = np.zeros(n_features + 1), np.full(n_domains, 1.0 / n_domains)
    average = np.zeros_like(now)

    def check(client: Client, request: Letter, reply: Letter) -> None:
        numbers, loss = reply.arrays.get("numbers"), reply.facts.get("loss")
        right = numbers is not None and numbers.shape == now.shape and numbers.dtype == np.float64
        need(right, "its numbers do not fit")
        need(bool(np.isfinite(numbers).all()), "its numbers are not finite")  # type: ignore[arg-type]
        need(isinstance(loss, float) and math.isfinite(loss), "its loss is no number")

    positive = classes.tolist()[1]
    for round_index in range(n_rounds):
        there: list[Client] = []
        for domain in range(n_domains):
            own = [client for client in clients if client.domain == domain and client.trusted]
            there += [own[k] for k in draw(seed + domain, round_index, len(own), clients_per_round)]
        rate = learning_rate / math.sqrt(1.0 + round_index)
        facts = {"method": method, "rate": rate, "passes": 1, "positive": positive}
        replies = survey.ask("linear", there, facts, {"coefficients": now}, check)
        if method == "fedavg":
            rows = sum(client.n_rows for client in replies)
            now = np.sum([client.n_rows / rows * r.arrays["numbers"] for client, r in replies.items()], axis=0)
            average = now
            continue
        losses, slopes = np.zeros(n_domains), np.zeros((n_domains, len(now)))
        for domain in range(n_domains):
            own_replies = {client: r for client, r in replies.items() if client.domain == domain}
            rows = max(1, sum(client.n_rows for client in own_replies))
            losses[domain] = sum(reply.facts["loss"] for reply in own_replies.values()) / rows
            for reply in own_replies.values():
                slopes[domain] += reply.arrays["numbers"] / rows
        now = now - 10.0 * rate * (mixture @ slopes)
        mixture = on_simplex(mixture + mixture_rate * losses)
        average += (now - average) / (1.0 + round_index)
    return LinearModel(average, classes)
