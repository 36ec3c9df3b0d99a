"""Q learned by all clients together: logistic regression on standardized columns, by sums alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from radboost._typing import FloatArray
from radboost.federated.checks import sums_in
from radboost.federated.fixed_point import SCALE_BITS, from_words, to_words
from radboost.federated.messages import Arrays, Facts, Message, require
from radboost.federated.registry import ClientRecord, logger
from radboost.federated.server import Check, Server
from radboost.rows.domains import SMALLEST_SPREAD, DomainModel, expand, prior_variance

MAX_ITERATIONS = 200
GRADIENT_TOLERANCE = 1e-5  # of the mean loss
LARGEST_EXPONENT = 500  # columns with numbers beyond 2 to this power must be rescaled first
SMALLEST_EXPONENT = -1000  # keeps 2 to this power a normal number
EMPTY = -2000  # exponent of a column without a value
NO_CATEGORIES = np.zeros((0, 2), dtype=np.int32)


# --- clients


def domain_ranges(X: FloatArray, message: Message) -> tuple[Facts, Arrays]:
    """Exponent of a power of two that no value of a column reaches, for each column."""
    largest = np.max(np.where(np.isnan(X), 0.0, np.abs(X)), axis=0)
    exponents = [math.frexp(float(one))[1] if one > 0 else EMPTY for one in largest]
    return {}, {"exponents": np.array(exponents, dtype=np.int32)}


def domain_moments(X: FloatArray, message: Message) -> tuple[Facts, Arrays]:
    """Number of values, their sum, and the sum of their squares, for each column."""
    known = ~np.isnan(X)
    sums: list[int] = []
    for column, exponent in enumerate(message.arrays["exponents"].tolist()):
        values = X[known[:, column], column]
        scaled = np.ldexp(values, -exponent) if exponent > EMPTY else 0.0 * values  # in (-1, 1)
        sums += [len(values), *fixed_sums(np.column_stack([scaled, scaled * scaled]))]
    return {}, {"sums": to_words(sums)}


def domain_gradient(X: FloatArray, message: Message) -> tuple[Facts, Arrays]:
    """Sums of the loss and of its gradient at the coefficients of the message."""
    facts, arrays = message.facts, message.arrays
    design = standardized(X, arrays["means"], arrays["spreads"], arrays["indicated"])
    value, gradient = loss_and_gradient(design, np.full(len(X), int(facts["domain"])), arrays["coefficients"])
    scaled = np.clip(gradient.reshape(len(X), -1) / arrays["limits"], -1.0, 1.0)
    return {}, {"sums": to_words(fixed_sums(np.column_stack([value / float(facts["largest_loss"]), scaled])))}


def fixed_sums(values: npt.NDArray[np.float64]) -> list[int]:
    """Exact sums of columns of numbers in [-1, 1], each rounded to a multiple of 2^-60, in units of 2^-60."""
    fixed = np.rint(np.ldexp(values, SCALE_BITS - 1)).astype(np.int64)
    high, low = (fixed >> 32).sum(axis=0), (fixed & 0xFFFFFFFF).sum(axis=0)
    return [(a << 32) + b for a, b in zip(high.tolist(), low.tolist(), strict=True)]


def standardized(X: FloatArray, means: FloatArray, spreads: FloatArray, indicated: Any) -> FloatArray:
    """Columns with mean 0 and spread 1, missing values at 0; their indicators; and a column of ones."""
    design = np.hstack([expand(X, means, indicated, NO_CATEGORIES), np.ones((len(X), 1))])
    design[:, : len(means)] = (design[:, : len(means)] - means) / spreads
    return design


def loss_and_gradient(
    design: FloatArray, domains: npt.NDArray[Any], coefficients: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """-log Q(own domain | x) of each row, and its derivative; shapes (n,) and (n, n_columns, n_domains)."""
    logits = design @ coefficients
    logits -= logits.max(axis=1, keepdims=True)
    odds = np.exp(logits)
    residuals = odds / odds.sum(axis=1, keepdims=True)
    rows = np.arange(len(design))
    loss = np.log(odds.sum(axis=1)) - logits[rows, domains]
    residuals[rows, domains] -= 1.0
    return loss, design[:, :, None] * residuals[:, None, :]


# --- the server


def learn_together(server: Server) -> DomainModel:
    """Q by L-BFGS on the server; each evaluation asks all clients for a loss and a gradient."""
    n_domains, n_features = len(server.task.domains), server.task.n_features
    exponents = _ranges(server, n_features)
    known, means, spreads = _moments(server, exponents)
    n_rows = sum(client.n_rows for client in server.clients if client.trusted)
    indicated = np.flatnonzero(known < n_rows).astype(np.int32)
    useful = spreads > SMALLEST_SPREAD * np.maximum(1.0, np.abs(means))
    scale = np.where(useful, spreads, np.inf)  # a constant column tells nothing
    width = n_features + len(indicated) + 1
    tops = np.where(useful, (np.ldexp(1.0, np.maximum(exponents, SMALLEST_EXPONENT)) + np.abs(means)) / scale, 1.0)
    limits = np.concatenate([np.maximum(tops, 1e-300), np.ones(len(indicated) + 1)])
    free = n_domains - 1 if n_domains == 2 else n_domains  # one function tells two domains apart, as in scikit-learn
    strength = prior_variance(int(useful.sum()) + len(indicated))
    fixed = {"means": means, "spreads": scale, "indicated": indicated, "limits": np.repeat(limits, n_domains)}
    penalized = np.append(np.ones(width - 1), 0.0)[:, None]

    def whole(flat: FloatArray) -> FloatArray:
        coefficients = np.zeros((width, n_domains))
        coefficients[:, n_domains - free :] = flat.reshape(width, free)
        return coefficients

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        coefficients = whole(flat)
        largest = math.log(n_domains) + 2.0 * float(np.abs(coefficients).T @ limits @ np.ones(n_domains)) + 1e-9
        arrays = {**fixed, "coefficients": coefficients}
        n_sums, facts = 1 + width * n_domains, {"largest_loss": largest}
        sums, m = _add_up(server, "gradient", facts, arrays, n_sums, _is_possible_gradient)
        unit = math.ldexp(1.0, 1 - SCALE_BITS) / m
        gradient = np.array(sums[1:], dtype=np.float64).reshape(width, n_domains) * limits[:, None] * unit
        own = coefficients * penalized / (strength * m)
        loss = float(sums[0]) * largest * unit + 0.5 * float(np.sum(coefficients * own))
        return loss, (gradient + own)[:, n_domains - free :].reshape(-1)

    options = {"maxiter": MAX_ITERATIONS, "gtol": GRADIENT_TOLERANCE}
    solution = minimize(evaluate, np.zeros(width * free), jac=True, method="L-BFGS-B", options=options)
    logger.info("Q: %d steps of L-BFGS, %d exchanges", solution.nit, server.n_exchanges)
    coefficients = whole(solution.x)
    rescaled = np.zeros((width - 1, n_domains))
    rescaled[:n_features][useful] = coefficients[:n_features][useful] / scale[useful, None]
    rescaled[n_features:] = coefficients[n_features : width - 1]
    offsets = coefficients[-1] - np.where(useful, means, 0.0) @ rescaled[:n_features]
    return DomainModel(rescaled, offsets, means, indicated, NO_CATEGORIES)


def _ask(server: Server, action: str, facts: Facts, arrays: Arrays, check: Check) -> dict[ClientRecord, Message]:
    contents = {client: ({"domain": client.domain, **facts}, arrays) for client in server.clients if client.trusted}
    replies = server.exchange(action, contents, check)
    if not replies:
        raise RuntimeError(f"No client has answered ({action!r}) while the domains were learned.")
    return replies


def _add_up(
    server: Server,
    action: str,
    facts: Facts,
    arrays: Arrays,
    width: int,
    is_possible: Callable[[list[int], int], bool],  # of the sums of one client and its number of rows
) -> tuple[list[int], int]:
    """Sums over the rows of the clients that reply, and the number of these rows."""

    def check(client: ClientRecord, request: Message, reply: Message) -> None:
        require(is_possible(sums_in(reply, width), client.n_rows), "a sum of its rows is out of range")

    replies = _ask(server, action, facts, arrays, check)
    columns = [from_words(reply.arrays["sums"]) for reply in replies.values()]
    return [sum(values) for values in zip(*columns, strict=True)], sum(client.n_rows for client in replies)


def _is_possible_gradient(sums: list[int], n_rows: int) -> bool:
    """True if the loss is not negative, and no term exceeds its limit."""
    most = n_rows << (SCALE_BITS - 1)
    return 0 <= sums[0] <= most and all(abs(value) <= most for value in sums[1:])


def _are_possible_moments(sums: list[int], n_rows: int) -> bool:
    """True if these can be counts of values, sums of numbers in [-1, 1], and sums of their squares."""
    for count, total, squares in zip(sums[::3], sums[1::3], sums[2::3], strict=True):
        most = count << (SCALE_BITS - 1)
        if not (0 <= count <= n_rows and abs(total) <= most and 0 <= squares <= most):
            return False
    return True


def _ranges(server: Server, n_features: int) -> npt.NDArray[np.int64]:
    def check(client: ClientRecord, request: Message, reply: Message) -> None:
        own = reply.arrays.get("exponents")
        require(own is not None and own.dtype == np.int32 and own.shape == (n_features,), "its ranges do not fit")
        assert own is not None
        require(bool(((own >= EMPTY) & (own <= LARGEST_EXPONENT)).all()), "a range of its columns is out of range")

    replies = _ask(server, "ranges", {}, {}, check)
    return np.asarray(np.max([reply.arrays["exponents"] for reply in replies.values()], axis=0), dtype=np.int64)


def _moments(server: Server, exponents: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number of known values, mean and spread of each column."""
    arrays, n_sums = {"exponents": exponents.astype(np.int32)}, 3 * len(exponents)
    sums, _ = _add_up(server, "moments", {}, arrays, n_sums, _are_possible_moments)
    moments = np.array(sums, dtype=object).reshape(-1, 3)
    known = moments[:, 0].astype(np.float64)
    unit = math.ldexp(1.0, 1 - SCALE_BITS)
    count = np.maximum(known, 1.0)
    means, squares = (moments[:, k].astype(np.float64) * unit / count for k in (1, 2))
    powers = np.maximum(exponents, SMALLEST_EXPONENT)
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0))
    return known, np.ldexp(means, powers), np.ldexp(spreads, powers)
