"""How a round of soft-max boosting grows with the rows N, the classes K and the drawn pairs M: O(N K + M log M)."""

import numpy as np

from benchmarks.results import Result, Row
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost import SoftmaxBoostClassifier

COLUMNS = 16


def run(sizes: Sizes) -> Result:
    """Milliseconds per round, one size varied at a time."""
    rows, classes = sizes.growth_rows, 10
    settings: list[tuple[int, int, int | None]] = [(rows * factor, classes, None) for factor in (1, 2, 4, 8)]
    settings += [(rows, classes * factor, None) for factor in (4, 16)]
    settings += [(4 * rows, classes, 4 * rows // factor) for factor in (4, 16)]
    return Result(
        task="softmax-growth",
        title=f"Rounds of soft-max boosting as data grows, {COLUMNS} columns",
        unit="ms per round",
        rows=[_measure(*setting, sizes) for setting in settings],
        note=(
            "`SoftmaxBoostClassifier.paper`, one thread; the slope between two numbers of rounds, so that binning "
            "falls out. M = N where nothing else is said. Scores, draws and answers of the trees take time N K, "
            "the trees themselves that of the M drawn rows."
        ),
    )


def _measure(n_rows: int, n_classes: int, n_pairs: int | None, sizes: Sizes) -> Row:
    X, y = _problem(n_rows, n_classes)
    few, many = sizes.growth_rounds

    def fit(rounds: int) -> float:
        return seconds(lambda: SoftmaxBoostClassifier.paper(rounds, samples_per_round=n_pairs, n_jobs=1).fit(X, y))

    fit(few)
    best = [min(fit(rounds) for _ in range(sizes.growth_repeats)) for rounds in (few, many)]
    per_round = 1e3 * (best[1] - best[0]) / (many - few)
    name = f"N = {n_rows:,}, K = {n_classes}" + ("" if n_pairs is None else f", M = {n_pairs:,}")
    return Row(name, per_round, note=f"{1e6 * per_round / (n_rows * n_classes):.1f} ns per row and class")


def _problem(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; the class is the sector of an angle, with some noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    angle = np.arctan2(X[:, 1] + 0.5 * X[:, 2] * X[:, 3], X[:, 0]) + 0.2 * rng.standard_normal(n_rows)
    return X, np.floor((angle / (2 * np.pi) + 0.5) * n_classes).astype(np.int64) % n_classes
