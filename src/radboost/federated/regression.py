"""Q learned by the owners together: logistic regression on standardised columns, by sums alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from radboost._typing import FloatArray
from radboost.federated.desk import Client, Desk, logger
from radboost.federated.letters import Arrays, Letter, need
from radboost.federated.numbers import SCALE_BITS, from_words, to_words
from radboost.rows.domains import LOGIT_VARIANCE, DomainModel

MOST_ITERATIONS = 200
GRADIENT_TOLERANCE = 1e-5  # of the mean loss
LEAST_SPREAD = 1e-12
LARGEST_RANGE = 500  # columns with numbers beyond 2 to this power must be rescaled first
EMPTY = -2000  # the exponent of a column without a value


# --- owners


def answer_ranges(X: FloatArray, letter: Letter) -> tuple[dict[str, Any], Arrays]:
    """Of each column the power of two that no value reaches."""
    largest = np.max(np.where(np.isnan(X), 0.0, np.abs(X)), axis=0)
    exponents = [math.frexp(float(one))[1] if one > 0 else EMPTY for one in largest]
    return {}, {"exponents": np.array(exponents, dtype=np.int32)}


def answer_moments(X: FloatArray, letter: Letter) -> tuple[dict[str, Any], Arrays]:
    """Of each column the number of values, their sum, and the sum of their squares."""
    exponents = letter.arrays["exponents"].tolist()
    known = ~np.isnan(X)
    sums: list[int] = []
    for column, exponent in enumerate(exponents):
        values = X[known[:, column], column]
        scaled = np.ldexp(values, -exponent) if exponent > EMPTY else 0.0 * values  # in (-1, 1)
        sums += [len(values), *fixed_sums(np.column_stack([scaled, scaled * scaled]))]
    return {}, {"sums": to_words(sums)}


def answer_gradient(X: FloatArray, domain: int, letter: Letter) -> tuple[dict[str, Any], Arrays]:
    """The sums of the loss and of its gradient at given coefficients."""
    facts, arrays = letter.facts, letter.arrays
    design = standardised(X, arrays["means"], arrays["spreads"], arrays["indicated"])
    value, gradient = loss_and_gradient(design, np.full(len(X), domain), arrays["coefficients"])
    top = float(facts["largest_loss"])
    shares = np.clip(gradient.reshape(len(X), -1) / arrays["limits"], -1.0, 1.0)
    return {}, {"sums": to_words(fixed_sums(np.column_stack([value / top, shares])))}


def fixed_sums(values: npt.NDArray[np.float64]) -> list[int]:
    """The exact sums of columns of numbers in [-1, 1], each rounded to a multiple of 2^-60, in units of these."""
    fixed = np.rint(np.ldexp(values, SCALE_BITS - 1)).astype(np.int64)
    high, low = (fixed >> 32).sum(axis=0), (fixed & 0xFFFFFFFF).sum(axis=0)
    return [(a << 32) + b for a, b in zip(high.tolist(), low.tolist(), strict=True)]


def standardised(X: FloatArray, means: FloatArray, spreads: FloatArray, indicated: Any) -> FloatArray:
    """Columns with mean 0 and spread 1, missing values at the mean; indicators of these; and a column of ones."""
    missing = np.isnan(X)
    values = np.where(missing, 0.0, X - means) / spreads
    indicators = missing[:, indicated].astype(np.float64)
    return np.hstack([values, indicators, np.ones((len(X), 1))])


def loss_and_gradient(
    design: FloatArray, domains: npt.NDArray[Any], coefficients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """-log Q(own domain | x) of each row, and its derivative by the coefficients of each domain."""
    logits = design @ coefficients
    logits -= logits.max(axis=1, keepdims=True)
    odds = np.exp(logits)
    shares = odds / odds.sum(axis=1, keepdims=True)
    rows = np.arange(len(design))
    loss = np.log(odds.sum(axis=1)) - logits[rows, domains]
    shares[rows, domains] -= 1.0
    return loss, design[:, :, None] * shares[:, None, :]


# --- the server


class Survey(Desk):
    """The exchanges before the first round."""

    def ask(
        self,
        action: str,
        clients: Sequence[Client],
        facts: Mapping[str, Any],
        arrays: Arrays,
        check: Callable[[Client, Letter, Letter], None],
    ) -> dict[Client, Letter]:
        self.exchange += 1
        letters = {}
        for client in clients:
            if client.trusted:
                letters[client.node] = Letter(
                    action, {"exchange": self.exchange, "domain": client.domain, **facts}, arrays
                )
                self.traffic[-1].to_owners += letters[client.node].n_bytes
                self.traffic[-1].n_letters += 1
        found = self.sound(action, letters, [client for client in clients if client.trusted], check)
        if not found:
            raise RuntimeError(f"No owner has answered ({action!r}) while the domains were learned.")
        return dict(found)

    def add(
        self,
        action: str,
        clients: Sequence[Client],
        facts: Mapping[str, Any],
        arrays: Arrays,
        width: int,
        possible: Callable[[list[int], int], bool],
    ) -> tuple[list[int], list[Client]]:
        """Sums over the rows of all; `possible` says whether those of one owner can be, by its number of rows."""

        def check(client: Client, request: Letter, reply: Letter) -> None:
            words = reply.arrays.get("sums")
            need(words is not None and words.dtype == np.int64 and words.shape == (width, 2), "its sums do not fit")
            assert words is not None
            need(possible(from_words(words), client.n_rows), "a sum of its rows is out of range")

        replies = self.ask(action, clients, facts, arrays, check)
        columns = [from_words(reply.arrays["sums"]) for reply in replies.values()]
        return [sum(values) for values in zip(*columns, strict=True)], list(replies)


def learn_together(survey: Survey, clients: Sequence[Client], n_domains: int, n_features: int) -> DomainModel:
    """Q by L-BFGS on the server; each of its steps asks all owners for a loss and a gradient."""
    exponents = _ranges(survey, clients, n_features)
    known, means, spreads = _moments(survey, clients, exponents)
    n_rows = sum(client.n_rows for client in clients if client.trusted)
    indicated = np.flatnonzero(known < n_rows).astype(np.int32)
    useful = spreads > LEAST_SPREAD * np.maximum(1.0, np.abs(means))
    scale = np.where(useful, spreads, np.inf)  # a constant column tells nothing
    width = n_features + len(indicated) + 1
    tops = np.where(useful, (np.ldexp(1.0, np.maximum(exponents, -1000)) + np.abs(means)) / scale, 1.0)
    limits = np.concatenate([np.maximum(tops, 1e-300), np.ones(len(indicated) + 1)])
    free = n_domains - 1 if n_domains == 2 else n_domains  # of two domains one has the function, as in scikit-learn
    strength = min(1.0, LOGIT_VARIANCE / max(1, int(useful.sum()) + len(indicated)))
    penalised = np.append(np.ones(width - 1), 0.0)[:, None]

    def whole(flat: FloatArray) -> FloatArray:
        found = np.zeros((width, n_domains))
        found[:, n_domains - free :] = flat.reshape(width, free)
        return found

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients = whole(flat)
        largest = math.log(n_domains) + 2.0 * float(np.abs(coefficients).T @ limits @ np.ones(n_domains)) + 1e-9
        arrays = {
            "means": means,
            "spreads": scale,
            "indicated": indicated,
            "coefficients": coefficients,
            "limits": np.repeat(limits, n_domains),
        }
        width_of_all = 1 + width * n_domains
        sums, answered = survey.add(
            "gradient", clients, {"largest_loss": largest}, arrays, width_of_all, _possible_gradient
        )
        m = sum(client.n_rows for client in answered)
        unit = math.ldexp(1.0, 1 - SCALE_BITS) / m
        gradient = np.array(sums[1:], dtype=np.float64).reshape(width, n_domains) * limits[:, None] * unit
        own = coefficients * penalised / (strength * m)
        loss = float(sums[0]) * largest * unit + 0.5 * float(np.sum(coefficients * own))
        return loss, (gradient + own)[:, n_domains - free :].reshape(-1)

    found = minimize(
        evaluate,
        np.zeros(width * free),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_ITERATIONS, "gtol": GRADIENT_TOLERANCE},
    )
    logger.info("Q: %d steps of L-BFGS, %d exchanges", found.nit, survey.exchange)
    coefficients = whole(found.x)
    lines = np.zeros((width - 1, n_domains))
    lines[:n_features][useful] = coefficients[:n_features][useful] / scale[useful, None]
    lines[n_features:] = coefficients[n_features : width - 1]
    offsets = coefficients[-1] - np.where(useful, means, 0.0) @ lines[:n_features]
    nothing = np.zeros((0, 2), dtype=np.int32)
    return DomainModel(lines, offsets, means, indicated, nothing)


def _possible_gradient(sums: list[int], n_rows: int) -> bool:
    """The loss is not negative, and no term is larger than its limit."""
    most = n_rows << (SCALE_BITS - 1)
    return 0 <= sums[0] <= most and all(abs(value) <= most for value in sums[1:])


def _possible_moments(sums: list[int], n_rows: int) -> bool:
    """Counts of values, sums of numbers in [-1, 1], and of their squares."""
    for count, total, squares in zip(sums[::3], sums[1::3], sums[2::3], strict=True):
        most = count << (SCALE_BITS - 1)
        if not (0 <= count <= n_rows and abs(total) <= most and 0 <= squares <= most):
            return False
    return True


def _ranges(survey: Survey, clients: Sequence[Client], n_features: int) -> npt.NDArray[np.int64]:
    def check(client: Client, request: Letter, reply: Letter) -> None:
        found = reply.arrays.get("exponents")
        right = found is not None and found.dtype == np.int32 and found.shape == (n_features,)
        need(right, "its ranges do not fit the columns")
        assert found is not None
        need(bool(((found >= EMPTY) & (found <= LARGEST_RANGE)).all()), "a range of its columns is out of range")

    replies = survey.ask("ranges", clients, {}, {}, check)
    return np.asarray(np.max([reply.arrays["exponents"] for reply in replies.values()], axis=0), dtype=np.int64)


def _moments(
    survey: Survey, clients: Sequence[Client], exponents: npt.NDArray[np.int64]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each column the number of known values, their mean and spread."""
    sums, _ = survey.add(
        "moments", clients, {}, {"exponents": exponents.astype(np.int32)}, 3 * len(exponents), _possible_moments
    )
    lines = np.array(sums, dtype=object).reshape(-1, 3)
    known = lines[:, 0].astype(np.float64)
    unit = math.ldexp(1.0, 1 - SCALE_BITS)
    count = np.maximum(known, 1.0)
    means, squares = (lines[:, k].astype(np.float64) * unit / count for k in (1, 2))
    powers = np.maximum(exponents, -1000)
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0))
    return known, np.ldexp(means, powers), np.ldexp(spreads, powers)
