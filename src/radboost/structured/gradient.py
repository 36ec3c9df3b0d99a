"""The terms of the gradient of (6.1): log Z and Q(z, s), by automata instead of a sum over all strings.

Storcheus (2021), Figures 6.2(a) and 6.4(a), appendix D.2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radboost._validation import check_integer, resolve_n_jobs
from radboost.engine import (
    LayeredArcs,
    LossAutomaton,
    StopFlag,
    make_chain,
    make_layered_arcs,
    structured_expected_loss,
    structured_flow,
)
from radboost.structured.automata import LossCache, as_array, check_budget, check_string
from radboost.structured.losses import LARGEST_COST, StringLoss, get_string_loss

# Costs are kept to multiples of 2^-38 and 2^-40 (native/automata): what that may add to a loss, for each symbol.
ROUNDING = 2.0**-37

# Of sums of a few hundred numbers, relative to their sizes.
FLOAT_ERROR = 2.0**-48
INFINITE = (
    "The loss of a string that the potentials allow is infinite, and so is Z: the transducer of the loss has no path "
    "for it. Smooth the loss (ngram() has smoothing=1.0), or give every pair of strings a path."
)

_CACHE = LossCache()


class LayeredAcceptor:
    """Scores of strings as an automaton whose arcs lead from one layer of states to the next: a beam, or any lattice.

    `arcs` are rows of (layer, origin, symbol, target), states being numbered within their layer. Strings begin in the
    one state of layer 0 and may end in any state of the last layer. `potentials` are the scores of the arcs, -inf for
    one that must not be taken.
    """

    def __init__(self, n_states: Sequence[int], arcs: Any, potentials: Any, alphabet_size: int) -> None:
        given = as_array(n_states)
        if given is None or given.ndim != 1 or len(given) < 2:
            raise TypeError(f"n_states must be a list of how many states each of the layers has; got {n_states!r}.")
        self.n_states = tuple(check_integer("n_states", size, 1) for size in given.tolist())
        self.alphabet_size = check_integer("alphabet_size", alphabet_size, 1)
        rows = as_array(arcs)
        if rows is None or rows.ndim != 2 or rows.shape[1] != 4 or rows.dtype.kind not in "iu":
            raise ValueError(
                "arcs must be rows of four integers (layer, origin, symbol, target); got "
                f"{repr(arcs)[:80] if rows is None else f'an array of shape {rows.shape} and type {rows.dtype}'}."
            )
        self._check_arcs(rows)
        self.potentials = _checked_potentials(potentials, (len(rows),))
        self._order = np.lexsort((rows[:, 1], rows[:, 0]))
        layer, origin, symbol, target = np.ascontiguousarray(rows[self._order].T.astype(np.int32))
        self._layers = layer
        sizes = np.array(self.n_states, dtype=np.int32)
        self._arcs = make_layered_arcs(sizes, self.alphabet_size, layer, origin, symbol, target)

    def _check_arcs(self, rows: NDArray[Any]) -> None:
        layers = len(self.n_states) - 1
        sizes = np.array(self.n_states)
        if self.n_states[0] != 1:
            raise ValueError(f"A layered acceptor has one state in its first layer; got {self.n_states[0]}.")
        layer = np.clip(rows[:, 0], 0, layers - 1)
        limits = {
            "layer": (0, np.full(len(rows), layers)),
            "origin": (1, sizes[layer]),
            "symbol": (2, np.full(len(rows), self.alphabet_size)),
            "target": (3, sizes[layer + 1]),
        }
        for name, (column, limit) in limits.items():
            wrong = np.flatnonzero((rows[:, column] < 0) | (rows[:, column] >= limit))
            if wrong.size:
                k = wrong[0]
                raise ValueError(
                    f"Arc {k} has the {name} {rows[k, column]}, which must be from 0 to {limit[k] - 1}; got "
                    f"(layer, origin, symbol, target) = {tuple(rows[k].tolist())}."
                )

    def with_potentials(self, potentials: Any) -> LayeredAcceptor:
        """Acceptor of the same arcs with other scores."""
        other = object.__new__(LayeredAcceptor)
        other.__dict__.update(self.__dict__, potentials=_checked_potentials(potentials, self.potentials.shape))
        return other

    @property
    def length(self) -> int:
        return len(self.n_states) - 1

    def _scores(self) -> tuple[LayeredArcs, NDArray[np.float64]]:
        return self._arcs, np.ascontiguousarray(self.potentials[self._order])

    def _layer_starts(self) -> NDArray[np.int64]:
        return np.searchsorted(self._layers, np.arange(self.length + 1))

    def _back(self, through: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.empty_like(through)
        values[self._order] = through
        return values


def _checked_potentials(potentials: Any, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
    given = as_array(potentials)
    if given is None or given.dtype.kind not in "fiub":
        raise TypeError(f"potentials must be an array of numbers; got {repr(potentials)[:80]}.")
    values = given.astype(np.float64)
    if shape is not None and values.shape != shape:
        raise ValueError(f"potentials must have the shape {shape}; got {values.shape}.")
    finite = values[values != -math.inf]
    if not (np.abs(finite) <= LARGEST_COST).all():
        raise ValueError(
            f"potentials must be numbers of at most {LARGEST_COST:g} in size, or -inf for what must not be taken; got "
            "NaN, +inf or a larger one. Scores that grow without bound ask for a smaller step or more regularisation."
        )
    return values


def alphabet_of(potentials: Any, order: int) -> int:
    """Size of the alphabet, of which potentials have the power `order` as their number of columns."""
    width = potentials.shape[1]
    size: int = round(width ** (1.0 / order))
    if size**order != width:
        raise ValueError(
            f"potentials must have alphabet_size ** order columns; got {width}, which is no number to the power of "
            f"{order}. Scores of single symbols have order=1."
        )
    return size


class _Chain:
    """Scores of shape (length, alphabet ** order): entry z of row s is w . psi(x, z, s)."""

    def __init__(self, potentials: Any, order: int) -> None:
        self.potentials = _checked_potentials(potentials)
        self.order = check_integer("order", order, 1)
        if self.potentials.ndim != 2 or 0 in self.potentials.shape:
            raise ValueError(
                "potentials must have the shape (length, alphabet_size ** order), with a length of at least 1; got "
                f"{self.potentials.shape}."
            )
        self.length = len(self.potentials)
        self.alphabet_size = alphabet_of(self.potentials, self.order)
        self._used = used_potentials(self.length, self.alphabet_size, self.order)

    def _scores(self) -> tuple[LayeredArcs, NDArray[np.float64]]:
        chain = _chain(self.length, self.alphabet_size, self.order)
        return chain, np.ascontiguousarray(self.potentials[self._used])

    def _layer_starts(self) -> NDArray[np.int64]:
        return np.append(0, np.cumsum(self._used.sum(axis=1)))

    def _back(self, through: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.zeros_like(self.potentials)
        values[self._used] = through
        return values


@lru_cache(maxsize=16)
def _chain(length: int, alphabet_size: int, order: int) -> LayeredArcs:
    return make_chain(length, alphabet_size, order)


@lru_cache(maxsize=64)
def used_potentials(length: int, alphabet_size: int, order: int) -> NDArray[np.bool_]:
    """Mask of the entries of potentials that are scores: at the first positions substrings are shorter."""
    n_used = alphabet_size ** np.minimum(np.arange(1, length + 1), order)
    used: NDArray[np.bool_] = np.arange(alphabet_size**order) < n_used[:, None]
    used.setflags(write=False)
    return used


def substring_numbers(y: NDArray[np.int32], alphabet_size: int, order: int) -> NDArray[np.int64]:
    """Column of potentials for the substring of `order` symbols that ends at each position; shape (length,)."""
    numbers = np.zeros(len(y), dtype=np.int64)
    for back in range(order):
        numbers[back:] += y[: len(y) - back].astype(np.int64) * alphabet_size**back
    return numbers


@dataclass(frozen=True)
class GradientTerms:
    """log Z and Q of (6.1) for one true string, with bounds of their errors.

    - `log_z`: log of the sum over all strings y of exp(L(y, y_i) + score(y));
    - `q`: for each potential, the fraction of Z that goes through it; entries that are no scores are 0;
    - `exact`: whether every loss was known exactly, up to rounding;
    - `log_z_bounds`, `q_low`, `q_high`: certain bounds of the exact values;
    - `n_states`: of the deterministic automaton of the loss.
    """

    log_z: float
    q: NDArray[np.float64]
    exact: bool
    log_z_bounds: tuple[float, float]
    n_states: int
    bounds_of_q: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]] = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = (self.log_z, self.q, self.exact, self.log_z_bounds, self.n_states)
        return GradientTerms, (*kept, partial(tuple, self._q_bounds))

    @cached_property
    def _q_bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.bounds_of_q()

    @property
    def q_low(self) -> NDArray[np.float64]:
        return self._q_bounds[0]

    @property
    def q_high(self) -> NDArray[np.float64]:
        return self._q_bounds[1]

    @property
    def log_z_error(self) -> float:
        """Largest possible error of log Z."""
        return max(self.log_z - self.log_z_bounds[0], self.log_z_bounds[1] - self.log_z)

    @property
    def q_error(self) -> float:
        """Largest possible error of an entry of Q."""
        return float(np.max(np.maximum(self.q - self.q_low, self.q_high - self.q)))


def gradient_terms(
    loss: StringLoss | str,
    y: Any,
    potentials: Any,
    *,
    order: int = 1,
    max_states: int | None = None,
    threshold: float | None = None,
    cache: LossCache | None = None,
) -> GradientTerms:
    """log Z and Q(z, s) of the structured objective (6.1) for one true string y.

    `potentials` has the shape (length, alphabet_size ** order). Row s, entry z is the score of the substring z of
    `order` symbols that ends at position s; the last symbol is the last digit of the number z. At the positions before
    `order` substrings are shorter, and only the first alphabet_size ** s entries count. Or it is a `LayeredAcceptor`.

    Losses are exact while their automaton, before equal states are merged, has at most `max_states` states (None: any
    number for n-gram and Hamming losses, 100,000 for others). Beyond, states are merged, those of the strings with the
    largest losses first. Each string then has a lower and an upper bound on its loss, and the bounds of log Z and Q are
    sums over all strings by these. With a `threshold`, only losses up to it above the least are kept exact (as far as
    `max_states` allows). The automaton is made once for each y and kept in `cache`.
    """
    resolved, scores = get_string_loss(loss), _scores_of(potentials, order)
    return _terms(resolved, y, scores, max_states, threshold, _checked_cache(cache))


def gradient_terms_batch(
    loss: StringLoss | str,
    targets: Sequence[Any],
    potentials: Sequence[Any],
    *,
    order: int = 1,
    max_states: int | None = None,
    threshold: float | None = None,
    cache: LossCache | None = None,
    n_jobs: int | None = None,
    certify: bool = True,
    numbers: Sequence[int] | None = None,
) -> list[GradientTerms]:
    """`gradient_terms` for each true string with its potentials, on `n_jobs` threads (None: all cores).

    Without `certify` there are no bounds where losses are not exact, which is faster. `numbers` name the sequences in
    errors, 0, 1, ... unless given.
    """
    for name, given in (("targets", targets), ("potentials", potentials)):
        if isinstance(given, str) or not hasattr(given, "__len__"):
            raise TypeError(f"{name} must be a list with an entry for each sequence; got {repr(given)[:80]}.")
    if len(targets) != len(potentials):
        raise ValueError(f"There must be potentials for each of the {len(targets)} targets; got {len(potentials)}.")
    resolved, kept = get_string_loss(loss), _checked_cache(cache)

    def one(k: int, stop: StopFlag | None) -> GradientTerms:
        try:
            scores = _scores_of(potentials[k], order)
            return _terms(resolved, targets[k], scores, max_states, threshold, kept, stop, certify)
        except (ValueError, TypeError) as error:
            raise type(error)(f"Sequence {k if numbers is None else numbers[k]}: {error}") from error

    workers = min(resolve_n_jobs(n_jobs), len(targets))
    if workers <= 1:
        return [one(k, None) for k in range(len(targets))]
    return _in_threads(one, len(targets), workers)


def _in_threads(one: Callable[[int, StopFlag], GradientTerms], n_tasks: int, workers: int) -> list[GradientTerms]:
    """Results of all tasks in order. Ctrl-C reaches the main thread alone, which stops the others."""
    stop = StopFlag()
    pool = ThreadPoolExecutor(workers)
    futures = [pool.submit(one, k, stop) for k in range(n_tasks)]
    try:
        return [future.result() for future in futures]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def expected_loss(
    loss: StringLoss | str,
    y: Any,
    potentials: Any,
    *,
    order: int = 1,
    max_states: int | None = None,
    threshold: float | None = None,
    cache: LossCache | None = None,
) -> tuple[float, float]:
    """Bounds of the expected loss of strings drawn with odds exp(score) against y; equal where the loss is exact."""
    resolved, scores = get_string_loss(loss), _scores_of(potentials, order)
    automaton = _automaton(resolved, y, scores, max_states, threshold, _checked_cache(cache))
    low, high = structured_expected_loss(*scores._scores(), automaton)
    if low == math.inf:
        raise ValueError(INFINITE)
    return float(low), float(high)


def _checked_cache(cache: LossCache | None) -> LossCache:
    if cache is not None and not isinstance(cache, LossCache):
        raise TypeError(f"cache must be a radboost.structured.LossCache, or None for a common one; got {cache!r}.")
    return _CACHE if cache is None else cache


def _scores_of(potentials: Any, order: int) -> LayeredAcceptor | _Chain:
    return potentials if isinstance(potentials, LayeredAcceptor) else _Chain(potentials, order)


def _automaton(
    loss: StringLoss,
    y: Any,
    scores: LayeredAcceptor | _Chain,
    max_states: object,
    threshold: object,
    cache: LossCache,
    stop: StopFlag | None = None,
) -> LossAutomaton:
    true = check_string("y", y, scores.alphabet_size)
    loss.check_lengths(scores.length, len(true))
    budget, bound = check_budget(loss, max_states, threshold, scores.length)
    made = cache.automaton(loss, true, scores.length, scores.alphabet_size, budget, bound, stop)
    if not made.bounded:
        raise ValueError(
            f"max_states={budget} is too few for this loss: strings had to be merged of which some have an infinite "
            "cost where others have none, so that there is no upper bound on their losses. Raise max_states, or give "
            "the transducer of the loss a path for every pair of strings from each of its states."
        )
    return made


def _terms(
    loss: StringLoss,
    y: Any,
    scores: LayeredAcceptor | _Chain,
    max_states: object,
    threshold: object,
    cache: LossCache,
    stop: StopFlag | None = None,
    certify: bool = True,
) -> GradientTerms:
    automaton = _automaton(loss, y, scores, max_states, threshold, cache, stop)
    arcs, potentials = scores._scores()
    log_z, q, log_through, infinite = structured_flow(arcs, potentials, automaton, certify, stop)
    if infinite:
        raise ValueError(INFINITE)
    if not (certify or automaton.exact):
        shaped = scores._back(q)
        nothing = np.zeros_like(shaped), np.ones_like(shaped)
        return GradientTerms(log_z[0], shaped, False, (-math.inf, math.inf), automaton.n_states, lambda: nothing)
    sizes = scores.length * automaton.largest_cost + float(np.sum(np.abs(log_z)))
    sizes += scores.length * float(np.max(np.abs(potentials[potentials != -math.inf])))
    slack = scores.length * ROUNDING + FLOAT_ERROR * sizes
    bounds = (min(log_z) - slack, max(log_z) + slack)

    def bounds_of_q() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if automaton.exact:
            spread = math.expm1(2.0 * slack)
            low, high = q / (1.0 + spread * (1.0 - q)), np.minimum(1.0, q * (1.0 + spread))
        else:
            low, high = _within(log_through[0], log_through[1], bounds, scores._layer_starts())
        return scores._back(low), scores._back(high)

    return GradientTerms(log_z[0], scores._back(q), automaton.exact, bounds, automaton.n_states, bounds_of_q)


def _within(
    low: NDArray[np.float64], high: NDArray[np.float64], log_z: tuple[float, float], starts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of N / (N + R), N and R being the weights of strings through an arc and through others of its layer."""
    # `low` and `high` are logarithms of fractions of Z by the lower and by the upper bounds of losses.
    n_low, n_high = low + log_z[0], high + log_z[1]
    with np.errstate(over="ignore", invalid="ignore"):
        lower = 1.0 / (1.0 + np.exp(_others(n_high, starts) - n_low))
        upper = 1.0 / (1.0 + np.exp(_others(n_low, starts) - n_high))
    return np.where(n_low == -math.inf, 0.0, lower), np.where(n_high == -math.inf, 0.0, upper)


def _others(logs: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Logarithm of the sum over the other arcs of the layer, for each arc, without a difference."""
    others = np.empty_like(logs)
    for first, last in itertools.pairwise(starts):
        before = np.logaddexp.accumulate(logs[first:last])
        after = np.logaddexp.accumulate(logs[first:last][::-1])[::-1]
        others[first:last] = np.logaddexp(np.append(-math.inf, before[:-1]), np.append(after[1:], -math.inf))
    return others
