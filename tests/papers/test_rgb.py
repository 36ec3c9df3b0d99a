"""Table 3.1 of Regularized Gradient Boosting: grids, folds, choice."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import stats

from papers.harness import Outcome, combine, run
from papers.rgb import CONTENDERS, STUDIES, ContendersTable, deal


def test_everybody_has_as_many_configurations() -> None:
    """7 norms, 7 depths and 5 rates in the paper, which tunes beta alone for RGB (section 3.5)."""
    *published, damped, xgboost = CONTENDERS
    assert {len(combine(one.grid)) for one in (damped, xgboost)} == {245}
    assert {len(combine(one.coarse)) for one in (damped, xgboost)} == {6}
    models = [one.make(complexity_penalty=0.3) for one in published]
    assert {(model.step, model.n_candidates) for model in models} == set(product(("auto", "paper"), (7, 49, 200)))
    assert {(model.learning_rate, model.subsample, model.n_rounds) for model in models} == {(1.0, 1.0, 100)}
    for one in published:
        assert [choice["complexity_penalty"] for choice in combine(one.grid)] == [0.001, 0.01, 0.1, 0.3, 1]
    assert xgboost.grid["max_depth"] == (1, 2, 3, 4, 5, 6, 7)
    assert xgboost.grid["reg_lambda"] == (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)


def test_a_quick_run(folder: str) -> None:
    table = ContendersTable("small", "a test", contenders=CONTENDERS[:1])
    outcomes = run(table, table.wanted(["sonar"], quick=True), data_dir=folder)
    assert len(outcomes) == 5 * 5
    (row,) = table.rows(outcomes)
    assert [row[0], row[1], row[3], row[5]] == ["sonar", CONTENDERS[0].name, "0.2694 (0.0210)", "-"]
    means = np.array([one.result["error"] for one in outcomes]).reshape(5, 5).mean(axis=1)
    assert row[2].split()[0] == f"{means.min():.4f}"
    assert (
        row[6] == f"complexity_penalty={outcomes[5 * int(means.argmin())].facts['parameters']['complexity_penalty']:g}"
    )


def test_the_lowest_mean_is_tested_against_xgboost() -> None:
    errors = {("RGB", 1): [0.3, 0.2], ("RGB", 2): [0.2, 0.1], ("XGBoost", 1): [0.25, 0.3]}
    outcomes = [
        Outcome({"dataset": "sonar", "contender": name, "parameters": {"x": x}, "fold": fold}, {"error": error})
        for (name, x), of_folds in errors.items()
        for fold, error in enumerate(of_folds)
    ]
    ours, theirs = STUDIES[0].rows(outcomes)
    p = stats.ttest_rel([0.2, 0.1], [0.25, 0.3], alternative="less").pvalue
    assert ours[2:] == ["0.1500 (0.0707)", "0.2694 (0.0210)", "-5.7", f"{p:.3f}", "x=2"]
    assert theirs[2:] == ["0.2750 (0.0354)", "0.2864 (0.0213)", "-0.5", "-", "x=1"]


def test_folds() -> None:
    """A sorted file: only shuffled folds have rows of every part of it."""
    rows = np.arange(40, dtype=float)
    data: Any = SimpleNamespace(X=rows[:, None], y=(rows >= 20).astype(int))
    shuffled, contiguous = (deal(data, table.folds, seed=0) for table in STUDIES)
    assert [test.tolist() for _, test in contiguous] == [
        [*range(4 * k, 4 * k + 4), *range(20 + 4 * k, 24 + 4 * k)] for k in range(5)
    ]
    for train, test in shuffled:
        assert sorted([*train, *test]) == list(range(40))
    assert [test.tolist() for _, test in shuffled] != [test.tolist() for _, test in contiguous]
    assert [test.tolist() for _, test in shuffled] != [test.tolist() for _, test in deal(data, "shuffled", seed=1)]
