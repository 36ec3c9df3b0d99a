"""A round over three sources on 1,000,000 x 28 rows, beside a round of DeepBoost on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks import data
from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.timing import seconds_per_round
from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, TreeOptions

N_SOURCES = 3
SINGLE = "DeepBoost"
ROUNDS = (5, 65)


def run(sizes: Sizes) -> Result:
    """Measure milliseconds per round; Q is learned once and cancels."""
    X, y = data.synthetic(sizes.large_rows, sizes.large_columns, seed=0)
    noise = np.random.default_rng(0).normal(size=(len(y), N_SOURCES))
    sources = np.argmax(X[:, -N_SOURCES:] + [0.0, 0.3, 0.1] + 0.5 * noise, axis=1)

    def fit(objective: str, rounds: int) -> None:
        MultiSourceBoostClassifier(rounds, source_objective=objective, n_jobs=2).fit(X, y, sources=sources)

    def fit_single(rounds: int) -> None:
        options = TreeOptions(leaves="votes")
        DeepBoostClassifier(rounds, max_depth=6, calibration=None, tree_options=options, n_jobs=2).fit(X, y)

    fits: dict[str, Callable[[int], None]] = {SINGLE: fit_single}
    fits |= {objective: partial(fit, objective) for objective in ("max", "softmax", "sum")}
    measured = seconds_per_round(fits, ROUNDS, sizes.repeats)
    return Result(
        title=f"A round over {N_SOURCES} sources, {sizes.large_rows:,} x {sizes.large_columns}",
        unit="ms per round",
        rows=[Row(name, 1e3 * figure, ours=name != SINGLE) for name, figure in measured.items()],
        note="`MultiSourceBoostClassifier` by its `source_objective`, beside `DeepBoostClassifier` on all rows.",
    )
