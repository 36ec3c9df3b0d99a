"""Figure 6.5 of Storcheus's thesis (2021): time of one gradient of (6.1) by the length of strings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from papers.harness import Facts, Outcome, Result, Row, Study, distinct
from radboost.plot._style import COLOURS, FAINT, pyplot, tidy
from radboost.structured import (
    EPSILON,
    TROPICAL,
    LossCache,
    StringLoss,
    Transducer,
    edit_distance,
    gradient_terms,
    ngram,
    smith_waterman,
)
from radboost.structured.graphs import topological_order

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES: Mapping[str, StringLoss] = {
    "edit distance": edit_distance(),
    "Smith-Waterman": smith_waterman(),
    "bigram": ngram(2),
}
ALPHABET_SIZE, ORDER = 10, 2
MAX_STATES = 20_000
# Ten million strings take some seconds; the longest of the thesis, 8, would take minutes for each of a few trials.
LONGEST_NAIVE, NAIVE_TRIALS = 7, 3
BLOCK = 2**16  # strings at a time: what they need stays in the processor's cache

T = TypeVar("T")
WAYS = {"naive": "all strings", "made": "automaton made", "kept": "automaton kept"}


@dataclass(frozen=True)
class GradientTimes(Study):
    """Every loss at every length: by automata, made for the gradient or kept, and by the sum over all strings."""

    lengths: tuple[int, ...] = tuple(range(2, 31))
    quick_lengths: tuple[int, ...] = (2, 4, 6, 8, 12, 20, 30)
    longest_naive: int = LONGEST_NAIVE
    max_states: int = MAX_STATES

    runs = 25
    quick_runs = 2
    columns = ("loss", "length", "trials", "made (ms)", "kept (ms)", "naive (ms)", "exact", "states", "error of log Z")
    legend = (
        "made, kept: by automata, the one of the true string being made for the gradient or there already; naive:\n"
        "by the sum over all strings, in NumPy. Means over the trials (25; the thesis has 125), one thread. The naive\n"
        f"sum is made for {NAIVE_TRIALS} of them up to length {LONGEST_NAIVE} (--quick: 6), where it takes seconds;\n"
        "each further symbol takes ten times as long (the thesis ends at 8), and nothing is extrapolated. exact: the\n"
        f"fraction of trials in which {MAX_STATES:,} states were enough; in the others states are merged, and log Z\n"
        "is certain to within the error. Times want an idle machine and --jobs 1; all else is repeatable"
    )

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        longest = self.longest_naive - quick
        return [
            {
                "structured": name,
                "length": length,
                "trials": runs,
                "naive_trials": min(runs, NAIVE_TRIALS) if length <= longest else 0,
                "max_states": self.max_states,
            }
            for name in LOSSES
            for length in (self.quick_lengths if quick else self.lengths)
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Seconds of each trial by each way, and values that are the same in every run; a list for each."""
        loss, length = LOSSES[facts["structured"]], facts["length"]
        max_states = None if loss.is_small else facts["max_states"]  # n-gram losses need no budget
        exact_values = ("exact", "n_states", "log_z", "log_z_error")
        result: Result = {name: [] for name in (*WAYS, *exact_values, "naive_log_z")}
        for trial in range(facts["trials"]):
            y, potentials = draw(length, facts["seed"], trial)
            if trial == 0:
                gradient_terms("hamming", y, potentials, order=ORDER)  # what is made once for all strings of a length
            kept = LossCache()
            for how in ("made", "kept"):
                gradient = partial(gradient_terms, loss, y, potentials, order=ORDER, max_states=max_states, cache=kept)
                seconds, terms = _timed(gradient)
                result[how].append(seconds)
            for name in exact_values:
                result[name].append(getattr(terms, name))
            if trial < facts["naive_trials"]:
                seconds, naive = _timed(partial(naive_terms, loss, y, potentials))
                result["naive"].append(seconds)
                result["naive_log_z"].append(naive[0])
        return result

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for one in outcomes:
            facts, result = one.facts, one.result
            times = [f"{1e3 * np.mean(result[how]):.2f}" if result[how] else "-" for how in ("made", "kept", "naive")]
            exact, states, error = (np.mean(result[name]) for name in ("exact", "n_states", "log_z_error"))
            counts = (facts["structured"], str(facts["length"]), str(facts["trials"]))
            rows.append([*counts, *times, f"{exact:.0%}", f"{states:.0f}", f"{error:.2g}"])
        return rows

    def draw(self, outcomes: Sequence[Outcome]) -> Figure:
        """Draw a panel for each loss, seconds against length; rings are lengths at which some trials were pruned."""
        names = distinct(outcomes, "structured")
        figure: Figure
        figure, grid = pyplot().subplots(
            1, len(names), figsize=(3.6 * len(names), 3.6), layout="constrained", squeeze=False, sharey=True
        )
        for name, panel in zip(names, grid.flat, strict=True):
            for (how, label), color in zip(WAYS.items(), COLOURS, strict=False):
                shown = [one for one in outcomes if one.facts["structured"] == name and one.result[how]]
                lengths = np.array([one.facts["length"] for one in shown])
                seconds = np.array([np.mean(one.result[how]) for one in shown])
                # The sum over all strings is never pruned.
                exact = np.array([how == "naive" or all(one.result["exact"]) for one in shown], dtype=bool)
                panel.plot(lengths, seconds, "-", color=color, linewidth=1.6, label=label)
                panel.plot(lengths[exact], seconds[exact], "o", color=color, markersize=4)
                panel.plot(lengths[~exact], seconds[~exact], "o", color=color, fillstyle="none", markersize=6)
            panel.set_yscale("log")
            panel.set_title(name, loc="left")
            panel.set_xlabel("length of strings")
            tidy(panel)
        first = grid.flat[0]
        first.set_ylabel("seconds")
        handles, labels = first.get_legend_handles_labels()
        handles += first.plot([], [], "o", color=FAINT, markersize=4)
        handles += first.plot([], [], "o", color=FAINT, fillstyle="none", markersize=6)
        labels += ["exact", "pruned, with bounds"]
        figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
        return figure


def draw(length: int, seed: int, trial: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw a true string, and w for each of the 100 bigrams, the same at each position (section 6.6.1)."""
    rng = np.random.default_rng([seed, length, trial])
    y = rng.integers(0, ALPHABET_SIZE, length)
    return y, np.tile(rng.normal(size=ALPHABET_SIZE**ORDER), (length, 1))


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def naive_terms(
    loss: StringLoss, y: NDArray[np.int64], potentials: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Compute log Z and Q of order 2 by Grad-Naive, Figure D.1: a sum over all strings, a block of them at a time."""
    length, width = potentials.shape
    size = round(width ** (1.0 / ORDER))
    losses = ManyLosses(loss, y, size)
    z, q, largest = 0.0, np.zeros_like(potentials), -np.inf
    for first in range(0, size**length, BLOCK):
        rest = np.arange(first, min(first + BLOCK, size**length))
        symbols = np.empty((length, len(rest)), dtype=np.int64)
        for position in reversed(range(length)):
            rest, symbols[position] = np.divmod(rest, size)
        bigrams = [symbols[0], *(symbols[:-1] * size + symbols[1:])]
        weights = losses.of(symbols)
        for potential, numbers in zip(potentials, bigrams, strict=True):
            weights += potential[numbers]
        # Terms are relative to the largest so far, so that none overflows.
        before, largest = largest, max(largest, float(weights.max()))
        z, q = z * np.exp(before - largest), q * np.exp(before - largest)
        terms = np.exp(weights - largest)
        z += terms.sum()
        for counts, numbers in zip(q, bigrams, strict=True):
            counts += np.bincount(numbers, terms, minlength=width)
    return float(largest + np.log(z)), q / z


class ManyLosses:
    """Losses of many strings at once, without an automaton that is deterministic.

    A dynamic program over the states of Pi_1(U o Y_i): its entries are the costs of the cheapest paths, or sums of
    exp(-cost) over all paths.
    """

    def __init__(self, loss: StringLoss, y: NDArray[np.int64], alphabet_size: int) -> None:
        acceptor = loss.acceptor(y.tolist(), alphabet_size)
        self.tropical = acceptor.semiring is TROPICAL
        self.plus: Any = np.minimum if self.tropical else np.add
        self.times: Any = np.add if self.tropical else np.multiply
        self.initial = {state: self._entry(weight) for state, weight in acceptor.initial.items()}
        self.final = {state: self._entry(weight) for state, weight in acceptor.final.items()}
        self.silent = [(origin, target, self._entry(weight)) for origin, target, weight in _silent(acceptor)]
        # For each pair of states that arcs lead between, their entries by the symbol that is read.
        self.arcs: dict[tuple[int, int], NDArray[np.float64]] = {}
        for arc in acceptor.arcs:
            if arc.input != EPSILON:
                entries = self.arcs.setdefault((arc.origin, arc.target), np.full(alphabet_size, self._entry(np.inf)))
                entries[arc.input] = self.plus(entries[arc.input], self._entry(arc.weight))

    def of(self, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
        """Losses of the strings in the columns of `symbols`."""
        now: dict[int, Any] = {state: np.full(symbols.shape[1], entry) for state, entry in self.initial.items()}
        for symbols_here in symbols:
            self._follow_silent(now)
            then: dict[int, Any] = {}
            for (origin, target), entries in self.arcs.items():
                if origin in now:
                    self._add(then, target, self.times(now[origin], entries[symbols_here]))
            now = then
        self._follow_silent(now)
        total: dict[int, Any] = {}
        for state, entry in self.final.items():
            if state in now:
                self._add(total, 0, self.times(now[state], entry))
        losses: NDArray[np.float64] = total[0] if self.tropical else -np.log(total[0])
        return losses

    def _entry(self, weight: float) -> float:
        return weight if self.tropical else float(np.exp(-weight))

    def _follow_silent(self, now: dict[int, Any]) -> None:
        for origin, target, entry in self.silent:
            if origin in now:
                self._add(now, target, self.times(now[origin], entry))

    def _add(self, entries: dict[int, Any], state: int, more: NDArray[np.float64]) -> None:
        entries[state] = self.plus(entries[state], more) if state in entries else more


def _silent(acceptor: Transducer) -> list[tuple[int, int, float]]:
    """Arcs that read nothing (origin, target, weight), none of them before one that leads to its origin."""
    edges: list[list[tuple[int, float]]] = [[] for _ in range(acceptor.n_states)]
    for arc in acceptor.arcs:
        if arc.input == EPSILON:
            edges[arc.origin].append((arc.target, arc.weight))
    order = topological_order(range(acceptor.n_states), edges)
    return [(state, target, weight) for state in order for target, weight in edges[state]]


STUDIES = (GradientTimes("structured-6.5", "Storcheus (2021), Figure 6.5: the time of one gradient"),)
