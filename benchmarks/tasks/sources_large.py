"""A round over three sources on 1,000,000 x 28 rows, beside a round of DeepBoost on the same rows."""

from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost import DeepBoostClassifier, MultiSourceBoostClassifier, TreeOptions

N_SOURCES = 3
SINGLE = "DeepBoost"


def run(sizes: Sizes) -> Result:
    """Milliseconds per round: the slope between few and many rounds, so that Q, which is learned once, falls out."""
    X, y = data.synthetic(sizes.large_rows, sizes.large_columns, seed=0)
    noise = np.random.default_rng(0).normal(size=(len(y), N_SOURCES))
    sources = np.argmax(X[:, 5 : 5 + N_SOURCES] + [0.0, 0.3, 0.1] + 0.5 * noise, axis=1)

    def fit(name: str, rounds: int) -> None:
        same: dict[str, Any] = {"n_rounds": rounds, "n_jobs": 2}
        if name == SINGLE:
            DeepBoostClassifier(max_depth=6, calibration=None, tree_options=TreeOptions(leaves="votes"), **same).fit(
                X, y
            )
        else:
            MultiSourceBoostClassifier(source_objective=name, **same).fit(X, y, sources=sources)

    names = (SINGLE, "max", "softmax", "sum")
    runs: dict[str, list[list[float]]] = {name: [[], []] for name in names}
    few, many = sizes.sources_slope
    for _ in range(sizes.repeats):
        for name in names:
            for times, rounds in zip(runs[name], (few, many), strict=True):
                times.append(seconds(lambda n=name, r=rounds: fit(n, r)))  # type: ignore[misc]
    return Result(
        task="sources-large",
        title=f"A round over {N_SOURCES} sources, {sizes.large_rows:,} x {sizes.large_columns}",
        unit="ms per round",
        rows=[
            Row(
                name,
                1e3 * (min(runs[name][1]) - min(runs[name][0])) / (many - few),
                ours=name != SINGLE,
                note=f"rounds {few}: {min(runs[name][0]):.2f} s, {many}: {min(runs[name][1]):.2f} s",
                runs=runs[name][0] + runs[name][1],
            )
            for name in names
        ],
        targets=[
            Target("max", SINGLE, 1.0 + 0.3 * N_SOURCES),
            Target("softmax", SINGLE, 0.3 + N_SOURCES),
            Target("sum", SINGLE, 0.3 + N_SOURCES),
        ],
        note="`MultiSourceBoostClassifier` by its `source_objective`, beside `DeepBoostClassifier` on all rows.",
    )
