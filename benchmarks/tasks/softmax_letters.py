"""Soft-max boosting on letters: the paper's algorithm here, and around scikit-learn's DecisionTreeClassifier."""

import itertools

import numpy as np
from numpy.typing import NDArray

from benchmarks import data
from benchmarks.oracle import softmax_oracle
from benchmarks.results import Result, Row, Target
from benchmarks.settings import Sizes
from benchmarks.timing import seconds
from radboost import SoftmaxBoostClassifier

TRAINING_ROWS = 15_000
OURS, THEIRS = "RadBoost", "scikit-learn trees"


def run(sizes: Sizes) -> Result:
    """Seconds for 1000 rounds, 26,000 trees; scikit-learn's are extrapolated from the first rounds."""
    X, y = data.real("letters")
    train = X[:TRAINING_ROWS][: sizes.letters_rows], y[:TRAINING_ROWS][: sizes.letters_rows]
    test = X[TRAINING_ROWS:], y[TRAINING_ROWS:]
    rounds, few = sizes.softmax_rounds, sizes.softmax_slow_rounds
    short, _ = _fit(*train, few)
    whole, model = _fit(*train, rounds)
    slow = _seconds_per_round(*train, few)
    return Result(
        task="softmax-letters",
        title=f"Soft-max boosting on letters, {len(train[1]):,} rows, 26 classes, {rounds} rounds",
        unit="s",
        rows=[
            Row(
                OURS,
                whole,
                ours=True,
                error=float(np.mean(model.predict(test[0]) != test[1])),
                trees=len(model.ensemble_.hypotheses),
                note=f"the first {few} rounds: {short:.2f} s",
            ),
            Row(THEIRS, slow * rounds, note=f"extrapolated from {few} rounds, {slow * few:.1f} s"),
        ],
        targets=[Target(OURS, THEIRS, 0.1)],
        note=(
            "`SoftmaxBoostClassifier.paper`, Algorithm 2 with trees of 12 leaves and M = N, two threads, against the "
            "same algorithm in NumPy around scikit-learn's DecisionTreeClassifier "
            "(`tests/reference/softmax.py`), which has one thread."
        ),
    )


def _fit(X: NDArray[np.float32], y: NDArray[np.int64], rounds: int) -> tuple[float, SoftmaxBoostClassifier]:
    model = SoftmaxBoostClassifier.paper(rounds, n_jobs=2)
    return seconds(lambda: model.fit(X, y)), model


def _seconds_per_round(X: NDArray[np.float32], y: NDArray[np.int64], rounds: int) -> float:
    oracle = softmax_oracle()
    costs = oracle.binary_costs(y, int(y.max()) + 1)
    boosting = oracle.sm_boost(X, costs, rounds, np.random.default_rng(0))
    return seconds(lambda: list(itertools.islice(boosting, rounds))) / rounds
