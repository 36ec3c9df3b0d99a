"""Reports of small models: all that is asked for is there, and the numbers are those of other computations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import (
    confusion_matrix,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
)

from radboost import DeepBoostClassifier, RGBRegressor, guarantees, report
from radboost.report.blocks import CellTable, Report, SideBySide, Text


def walk(blocks: Any) -> list[Any]:
    """All blocks, those inside others too."""
    found = []
    for block in blocks:
        found.append(block)
        if isinstance(block, SideBySide):
            found += walk(block.blocks)
    return found


def blocks_of(made: Report, kind: type[Any]) -> list[Any]:
    return [block for section in made.sections for block in walk(section.blocks) if isinstance(block, kind)]


@pytest.fixture(scope="module")
def cancer() -> dict[str, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    model = DeepBoostClassifier(n_rounds=20, n_jobs=1).fit(X[train], y[train])
    made = model.report(X[test], y[test], X_train=X[train], y_train=y[train])
    return {"model": model, "X": X[test], "y": y[test], "X_train": X[train], "y_train": y[train], "report": made}


def test_rows_are_called_by_their_numbers_in_the_table(cancer: dict[str, Any]) -> None:
    model, X, y, X_train, y_train = (cancer[name] for name in ("model", "X", "y", "X_train", "y_train"))
    made = model.report(
        X, y, X_train=X_train, y_train=y_train, row_numbers=X.index + 1, row_numbers_train=X_train.index + 1
    )
    before, after = (section(one, "labels").blocks[1] for one in (cancer["report"], made))
    assert "counted from 0" in before.caption
    assert "counted from 1" in after.caption
    (listed,) = (block for block in blocks_of(made, CellTable) if "more likely" in block.columns)
    labels = load_breast_cancer().target
    for part, row, label, *_ in listed.rows:
        assert str(labels[row - 1]) == label  # of both parts
        assert (row - 1) % 2 == (part == "held-out")
    with pytest.raises(ValueError, match="belong together"):
        model.report(X, y, X_train=X_train, y_train=y_train, row_numbers=X.index)
    with pytest.raises(ValueError, match="whole number for each of"):
        model.report(X, y, row_numbers=X.index[1:])


def test_small_p_values_are_shown_as_one(cancer: dict[str, Any]) -> None:
    """0.00000229 in a table is hard to read, and no decision needs it: Holm's correction is made before."""
    (table,) = (block for block in blocks_of(cancer["report"], CellTable) if "p-value" in block.columns[-1])
    assert table.columns[-1] == "p-value (at least 0.0001)"
    assert all(0.0001 <= row[-1] <= 1.0 for row in table.rows[1:])


def test_the_confusion_is_that_of_scikit_learn(cancer: dict[str, Any]) -> None:
    model, X, y = cancer["model"], cancer["X"], cancer["y"]
    confusion = section(cancer["report"], "predictions").blocks[0]
    assert [list(row[1:]) for row in confusion.rows] == confusion_matrix(y, model.predict(X)).tolist()


def test_thresholds_count_what_lies_above_them(cancer: dict[str, Any]) -> None:
    chart, table = section(cancer["report"], "predictions").blocks[2:]
    chances, positive = cancer["model"].predict_proba(cancer["X"])[:, 1], cancer["y"].to_numpy() == 1
    recall, precision, error = chart.series
    thresholds = np.array(recall.x)
    assert len(thresholds) <= 200
    assert list(thresholds) == sorted(set(thresholds))
    above = chances > thresholds[:, None]
    np.testing.assert_allclose(recall.y, above[:, positive].mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(error.y, (above != positive).mean(axis=1), rtol=1e-5)
    right = [positive[one].mean() if one.any() else np.nan for one in above]
    np.testing.assert_allclose(np.array(precision.y, dtype=float), right, rtol=1e-5)
    for name, threshold, cost, *_ in table.rows:
        ratio = float(name.partition(" :")[0])
        costs = (ratio * (~above & positive) + (above & ~positive)).mean(axis=1)
        assert cost == pytest.approx(costs.min(), rel=1e-5)
        assert cost == pytest.approx(costs[thresholds == threshold][0], rel=1e-5)


def test_a_report_is_the_same_every_time(cancer: dict[str, Any]) -> None:
    given = {name: cancer[name] for name in ("X", "y", "X_train", "y_train")}
    assert report.build(cancer["model"], **given) == cancer["report"]


def test_a_file_is_written_once(cancer: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    model, X, y = cancer["model"], cancer["X"][:40], cancer["y"][:40]
    model.report(X, y, path)
    assert path.read_text(encoding="utf-8").startswith("<!")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        model.report(X, y, path)
    first = path.read_bytes()
    model.report(X, y, path, overwrite=True)
    assert path.read_bytes() == first
    with pytest.raises(ValueError, match=r"\.html"):
        model.report(X, y, tmp_path / "report.txt")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        model.report(X, y, tmp_path / "nowhere" / "report.html")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["report.html"]


def section(made: Report, name: str) -> Any:
    (found,) = (one for one in made.sections if one.name == name)
    return found


def test_dependence_shows_contributions(cancer: dict[str, Any]) -> None:
    model, X = cancer["model"], cancer["X"]
    found = np.asarray(model.predict_contributions(X))
    first = walk(section(cancer["report"], "dependence").blocks)[1]
    column = int(np.abs(found[:, :-1]).mean(axis=0).argmax())
    assert first.title == X.columns[column]
    pairs = {(float(f"{a:.6g}"), float(f"{b:.6g}")) for a, b in zip(X.iloc[:, column], found[:, column], strict=True)}
    assert set(zip(first.series[0].x, first.series[0].y, strict=True)) <= pairs


def test_promises_are_those_of_the_guarantees(cancer: dict[str, Any]) -> None:
    blocks = walk(section(cancer["report"], "guarantees").blocks)
    table = next(block for block in blocks if isinstance(block, CellTable) and block.columns[0] == "what")
    bound = guarantees.bound(cancer["model"], cancer["X_train"], cancer["y_train"])
    limit = guarantees.holdout(cancer["model"], cancer["X"], cancer["y"])
    assert [row[1] for row in table.rows[:3]] == pytest.approx([bound.total, limit.upper, limit.error], rel=1e-5)
    assert bound.vacuous
    assert "vacuous" in str(table.rows[0][2])
    X, y, twice = cancer["X_train"], cancer["y_train"], np.repeat(np.arange(285), 2)
    made = cancer["model"].report(cancer["X"], cancer["y"], X_train=X.iloc[twice], y_train=y.iloc[twice])
    notes = [block.paragraphs[0] for block in walk(section(made, "guarantees").blocks) if isinstance(block, Text)]
    assert any("285 of the 570 rows in X are copies" in note for note in notes)


def test_the_learning_curve_is_the_history(cancer: dict[str, Any]) -> None:
    chart = section(cancer["report"], "learning").blocks[0]
    history = cancer["model"].history_["train_error"]
    assert list(chart.series[0].y) == pytest.approx(history, rel=1e-5)
    assert chart.marks[0].x == cancer["model"].n_iter_


def test_columns_that_fit_chance_are_told() -> None:
    """A name of rows has gain in deep trees, and shuffling it on held-out rows costs nothing."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 2, 600), rng.normal(size=600)])
    y = np.where(rng.random(600) < 0.25, 1 - X[:, 0], X[:, 0]).astype(int)
    model = DeepBoostClassifier(n_rounds=30, max_depth=8, complexity_penalty=0.0, n_jobs=1, calibration=None)
    made = model.fit(X[:300], y[:300]).report(X[300:], y[300:])
    told = [block for block in walk(section(made, "importance").blocks) if isinstance(block, Text)]
    assert any(block.tone == "warning" and "'x[1]'" in block.paragraphs[0] for block in told)
    assert not any("'x[0]'" in paragraph for block in told for paragraph in block.paragraphs)


def test_scores_of_numbers_are_those_of_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = RGBRegressor(n_rounds=20, n_jobs=1).fit(X[:250], y[:250])
    weights = np.linspace(0.5, 2.0, 192)
    made = model.report(X[250:], y[250:], sample_weight=weights, X_train=X[:250], y_train=y[:250])
    table = next(block for block in made.sections[0].blocks if isinstance(block, CellTable))
    answers, mean = model.predict(X[250:]), np.full(192, y[:250].mean())
    measures = {
        "RMSE": lambda given: np.sqrt(mean_squared_error(y[250:], given, sample_weight=weights)),
        "MAE": lambda given: mean_absolute_error(y[250:], given, sample_weight=weights),
        "R squared": lambda given: r2_score(y[250:], given, sample_weight=weights),
    }
    assert [row[0] for row in table.rows] == list(measures)
    for name, value, low, high, _, constant in table.rows:
        assert value == pytest.approx(measures[str(name)](answers), rel=1e-5)
        assert constant == pytest.approx(measures[str(name)](mean), rel=1e-4)
        assert low < value < high
    residuals = section(made, "residuals").blocks
    rows = np.argsort(-np.abs(y[250:] - answers), kind="stable")[:8]
    assert [int(row[0]) for row in residuals[2].rows] == rows.tolist()
