"""A round over three sources on 1,000,000 x 28 rows, beside a round of DeepBoost on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, TreeOptions

N_SOURCES = 3
SINGLE = "DeepBoost"
ROUNDS = (5, 65)


def run(sizes: Sizes) -> Result:
    """Measure milliseconds per round between short and long fits: Q, which is learned once, cancels."""
    X, y = data.synthetic(sizes.large_rows, sizes.large_columns, seed=0)
    noise = np.random.default_rng(0).normal(size=(len(y), N_SOURCES))
    sources = np.argmax(X[:, -N_SOURCES:] + [0.0, 0.3, 0.1] + 0.5 * noise, axis=1)

    def fit(name: str, rounds: int) -> None:
        same: dict[str, Any] = {"n_rounds": rounds, "n_jobs": 2}
        if name == SINGLE:
            options = TreeOptions(leaves="votes")
            DeepBoostClassifier(max_depth=6, calibration=None, tree_options=options, **same).fit(X, y)
        else:
            MultiSourceBoostClassifier(source_objective=name, **same).fit(X, y, sources=sources)

    def milliseconds(name: str) -> float:
        few, many = (min(seconds(lambda: fit(name, n)) for _ in range(sizes.repeats)) for n in ROUNDS)  # noqa: B023
        return 1e3 * (many - few) / (ROUNDS[1] - ROUNDS[0])

    return Result(
        title=f"A round over {N_SOURCES} sources, {sizes.large_rows:,} x {sizes.large_columns}",
        unit="ms per round",
        rows=[Row(name, milliseconds(name), ours=name != SINGLE) for name in (SINGLE, "max", "softmax", "sum")],
        note="`MultiSourceBoostClassifier` by its `source_objective`, beside `DeepBoostClassifier` on all rows.",
    )
