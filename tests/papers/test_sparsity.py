"""Figures 7 to 14 of "Boosting with Structural Sparsity": what is run, and what is made of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from papers import sparsity_kernels, sparsity_paths, sparsity_regression, sparsity_texts
from papers.harness import Outcome, run
from papers.sparsity_paths import PENALTIES, needed
from papers.sparsity_texts import LAMBDAS, ONE_AT_A_TIME, SMOOTH, TOPICS, boosted_at, most_telling

(TOPICS_STUDY,), (REGRESSION,), (DIGITS, BY_GRADBOOST) = (
    script.STUDIES for script in (sparsity_texts, sparsity_regression, sparsity_kernels)
)
PATHS: Any = sparsity_paths.STUDIES[1]
ROUNDS: Any = sparsity_paths.STUDIES[-1]


def outcomes_of(paths: dict[str, tuple[list[int], list[float]]]) -> list[Outcome]:
    return [
        Outcome(
            {"penalty": penalty, "repeat": 0},
            {"rows": rows, "coverage": coverage, "weights": [r / 100 for r in rows], "loss": coverage},
        )
        for penalty, (rows, coverage) in paths.items()
    ]


def test_features_needed_for_a_coverage() -> None:
    outcomes = outcomes_of(
        {
            "l1": ([0, 10, 20], [3.0, 1.2, 1.0]),
            "l1/l2": ([0, 5, 30], [3.0, 1.05, 0.9]),
            "l1/linf": ([0, 8, 9], [3.0, 2.5, 2.0]),
        }
    )
    assert needed(outcomes, "l1", 1.1) == [(20, 0.2)]
    assert needed(outcomes, "l1", 1.25) == [(10, 0.1)]
    assert needed(outcomes, "l1/l2", 1.1) == [(5, 0.05)]
    assert needed(outcomes, "l1/linf", 1.1) == [None]
    rows = PATHS.rows(outcomes)
    assert ["x 1.1", "l1/l2", "1 of 1", "5.0", "5.0%", "75%"] in rows
    assert ["x 1.1", "l1/linf", "0 of 1", "-", "-", "-"] in rows
    panels = PATHS.draw(outcomes).axes
    assert [line.get_label() for line in panels[0].lines] == list(PENALTIES)
    np.testing.assert_array_equal(panels[1].lines[0].get_xdata(), [0.1, 0.2])


def test_sets_of_the_regression_can_be_chosen() -> None:
    chosen = REGRESSION.wanted(["housing"])
    assert {facts["regression"] for facts in chosen} == {"housing"}
    assert len(chosen) == 10 * 5
    assert len(REGRESSION.wanted()) == (10 + 3) * 5


def test_a_small_path(folder: str) -> None:
    small = replace(PATHS, per_class=5, n_test=30)
    wanted = small.wanted(quick=True, runs=1)
    assert wanted != PATHS.wanted(quick=True, runs=1)
    outcomes = run(small, wanted, data_dir=folder)
    assert [one.facts["penalty"] for one in outcomes] == list(PENALTIES)
    assert all(one.result["rows"][0] == 0 for one in outcomes)
    assert len(small.rows(outcomes)) == 12


@pytest.mark.slow
def test_a_small_regression(data_dir: Path) -> None:
    small = replace(REGRESSION, sizes={"housing": (1, 5)})
    outcomes = run(small, small.wanted(quick=True), data_dir=str(data_dir))
    assert all(0.0 < one.result["absolute"] <= one.result["rmse"] < 1.0 for one in outcomes)
    assert len(small.rows(outcomes)) == 5
    features = {one.facts["algorithm"]: one.result["features"] for one in outcomes}
    # a looser tolerance stops sooner, and the paper's updates take another way
    loose = sparsity_regression.LOOSE
    assert features[loose] < features[sparsity_regression.BOOSTED]
    assert features[sparsity_regression.PLAIN_BOOSTED] != features[loose]


@pytest.mark.slow
def test_small_rounds_and_digits(data_dir: Path) -> None:
    rounds = replace(ROUNDS, dataset="vowel", per_class=5, n_test=100, quick_rounds=(2, 5))
    rows = rounds.rows(run(rounds, rounds.wanted(quick=True), data_dir=str(data_dir)))
    assert [row[0] for row in rows] == ["adaboost", "gradboost", "newton"]
    assert {facts["update"] for facts in BY_GRADBOOST.wanted(quick=True)} == {"gradboost"}
    digits = replace(DIGITS, quick_sizes=(3,), n_seen=2000)
    outcomes = run(digits, digits.wanted(quick=True), data_dir=str(data_dir))
    assert 200 < outcomes[0].result["centers"] < 600
    assert [row[1] for row in digits.rows(outcomes)] == list(sparsity_kernels.PENALTIES)


@pytest.mark.slow
def test_a_small_run_of_texts(data_dir: Path) -> None:
    """One topic, the L1 booster and the one that takes a feature at a time."""
    study = replace(TOPICS_STUDY, quick_rounds=(3,))
    wanted = (boosted_at(LAMBDAS[-1]), SMOOTH, ONE_AT_A_TIME)
    units = [one for one in study.wanted(quick=True) if one["topic"] == TOPICS[0] and one["algorithm"] in wanted]
    boosted, smooth, single = run(study, units, data_dir=str(data_dir))
    assert boosted.result["stopped"] == "optimal"
    assert boosted.result["features"] > single.result["features"] == 3
    assert boosted.result["error"] < single.result["error"]
    assert smooth.result["features"] == 3
    # the smooth L1 penalty is below the square that it is near zero
    assert smooth.result["loss"] != single.result["loss"]
    assert len(study.rows([boosted, smooth, single])) == 3


def test_the_most_telling_words() -> None:
    """Appendix D: columns that are in the rows of one class alone come first."""
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 3 == 0
    X = sparse.csr_array((rng.random((3000, 1000)) < 0.1).astype(float))
    X = sparse.hstack([X, sparse.csr_array((y & (rng.random(3000) < 0.5)).astype(float)[:, None])]).tocsr()
    chosen = most_telling(X, y)
    assert len(chosen) == 800
    assert 1000 in chosen
