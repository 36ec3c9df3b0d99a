"""One gradient of the structured objective by automata, beside the same operations in OpenFst."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import openfst
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost.structured import (
    GradientTerms,
    LossCache,
    StringLoss,
    edit_distance,
    gradient_terms,
    ngram,
    smith_waterman,
)
from radboost.structured.automata import DEFAULT_STATES

ALPHABET_SIZE, ORDER = 10, 2
THRESHOLD = 2.0  # by 3 OpenFst takes ten to twenty times as long
BUDGETS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
AGREEMENT = 1e-6
OURS, DEFAULT, KEPT, THEIRS = "RadBoost", "RadBoost, default states", "RadBoost, automaton kept", "OpenFst"

Problem = tuple[NDArray[np.int64], NDArray[np.float64]]


def problem(length: int) -> Problem:
    """A true string and the potentials of all bigrams, the same at each place: those of Storcheus, section 6.6.1."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, ALPHABET_SIZE, length)
    return y, np.tile(rng.normal(size=ALPHABET_SIZE**ORDER), (length, 1))


def run(task: str, name: str, loss: StringLoss, threshold: float | None, sizes: Sizes) -> Result:
    """Seconds for log Z and Q, from the loss, the true string and the potentials."""
    length = sizes.structured_length
    y, potentials = problem(length)
    theirs = openfst.gradient_terms(loss, y, potentials, threshold)
    max_states = fewest_states(loss, y, potentials, threshold, theirs)
    options: dict[str, Any] = {"order": ORDER, "max_states": max_states, "threshold": threshold}
    by_default = {**options, "max_states": DEFAULT_STATES}
    kept = LossCache()
    terms = gradient_terms(loss, y, potentials, cache=kept, **options)
    closer = gradient_terms(loss, y, potentials, cache=LossCache(), **by_default)
    works: dict[str, Callable[[], object]] = {
        OURS: lambda: gradient_terms(loss, y, potentials, cache=LossCache(), **options),
        DEFAULT: lambda: gradient_terms(loss, y, potentials, cache=LossCache(), **by_default),
        KEPT: lambda: gradient_terms(loss, y, potentials, cache=kept, **options),
        THEIRS: lambda: openfst.gradient_terms(loss, y, potentials, threshold),
    }
    runs: dict[str, list[float]] = {competitor: [] for competitor in works}
    for _ in range(sizes.repeats):
        for competitor, work in works.items():
            runs[competitor].append(seconds(work))
    notes = {
        OURS: _budget(terms, max_states),
        DEFAULT: _budget(closer, DEFAULT_STATES),
        KEPT: f"max_states {max_states:,}; every gradient but the first of a true string",
        THEIRS: f"{theirs.strings.num_states():,} states of A o B",
    }
    return Result(
        task=task,
        title=f"A gradient with {name}, {length} symbols out of {ALPHABET_SIZE}",
        unit="s",
        rows=[
            Row(competitor, min(times), ours=competitor != THEIRS, note=notes[competitor], runs=times)
            for competitor, times in runs.items()
        ],
        targets=[Target(OURS, THEIRS, 0.1)],
        note=f"log Z and Q of order {ORDER}, one thread each, OpenFst by pynini {version('pynini')}. "
        + _what_was_summed(theirs, threshold),
    )


def _budget(terms: GradientTerms, max_states: int) -> str:
    certain = "" if terms.log_z_error < AGREEMENT else f", log Z over all strings within {terms.log_z_error:.1f}"
    return f"max_states {max_states:,}{certain}"


def _what_was_summed(theirs: openfst.OpenFstTerms, threshold: float | None) -> str:
    if threshold is None:
        return "Both sum over all strings."
    return (
        f"Determinization is pruned at {threshold:g} above the least loss: OpenFst sums over {theirs.n_strings:,.0f} "
        "strings, and leaves out all others. RadBoost has the fewest states that tell these strings apart (log Z over "
        "them is the same), and sums over the others too, by bounds of their losses; with its default, more states "
        "make these bounds closer."
    )


def fewest_states(
    loss: StringLoss, y: NDArray[Any], potentials: NDArray[Any], threshold: float | None, theirs: openfst.OpenFstTerms
) -> int:
    """The first budget by which the strings that OpenFst has kept have exact losses."""
    scores = potentials if threshold is None else theirs.acceptor(potentials)
    for max_states in BUDGETS:
        terms = gradient_terms(
            loss, y, scores, order=ORDER, max_states=max_states, threshold=threshold, cache=LossCache()
        )
        if terms.log_z_error < AGREEMENT:
            if abs(terms.log_z - theirs.log_z) > AGREEMENT:
                raise ValueError(
                    f"log Z over the same strings is {theirs.log_z!r} by OpenFst and {terms.log_z!r} by RadBoost; they "
                    f"must agree within {AGREEMENT:g}, or the times compare two different things."
                )
            return max_states
    raise ValueError(
        f"{BUDGETS[-1]:,} states do not tell the strings apart that OpenFst keeps at the threshold {threshold}; choose "
        "a smaller one."
    )


TASKS: dict[str, Callable[[Sizes], Result]] = {
    "structured-edit": partial(run, "structured-edit", "the edit distance", edit_distance(), THRESHOLD),
    "structured-smith-waterman": partial(
        run, "structured-smith-waterman", "the Smith-Waterman score", smith_waterman(), THRESHOLD
    ),
    "structured-bigram": partial(run, "structured-bigram", "common bigrams", ngram(2), None),
}
