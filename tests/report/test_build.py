"""Reports of small models: all that is asked for is there, and the numbers are those of other computations."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from radboost import DeepBoostClassifier, report
from radboost.report.blocks import Columns, Confusion, Lines, Report, Tabs, ThresholdExplorer


def walk(blocks: Any) -> list[Any]:
    """All blocks, those inside others too."""
    found = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Columns):
            found += walk(block.blocks)
        if isinstance(block, Tabs):
            found += [one for _, blocks in block.tabs for one in walk(blocks)]
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


def test_confusion_and_areas_are_those_of_scikit_learn(cancer: dict[str, Any]) -> None:
    model, X, y = cancer["model"], cancer["X"], cancer["y"]
    (confusion,) = blocks_of(cancer["report"], Confusion)
    assert np.array(confusion.counts).tolist() == confusion_matrix(y, model.predict(X)).tolist()
    titles = {block.title: block for block in blocks_of(cancer["report"], Lines)}
    chances = model.predict_proba(X)[:, 1]
    assert titles["ROC"].series[0].name == f"area {roc_auc_score(y, chances):.3f}"
    area = average_precision_score(y, chances)
    assert titles["Precision and recall"].series[0].name == f"area {area:.3f}"


def test_thresholds_count_what_lies_above_them(cancer: dict[str, Any]) -> None:
    (explorer,) = blocks_of(cancer["report"], ThresholdExplorer)
    chances, y = cancer["model"].predict_proba(cancer["X"])[:, 1], cancer["y"].to_numpy()
    assert len(explorer.thresholds) <= 200
    assert list(explorer.thresholds) == sorted(set(explorer.thresholds))
    for place, threshold in enumerate(explorer.thresholds):
        above = chances > threshold
        assert explorer.true_positive[place] == (above & (y == 1)).sum()
        assert explorer.false_positive[place] == (above & (y == 0)).sum()
        assert explorer.false_negative[place] == (~above & (y == 1)).sum()
        assert explorer.true_negative[place] == (~above & (y == 0)).sum()


def test_a_report_is_json_and_the_same_every_time(cancer: dict[str, Any]) -> None:
    given = {name: cancer[name] for name in ("X", "y", "X_train", "y_train")}
    again = report.build(cancer["model"], **given)
    assert again == cancer["report"]
    text = json.dumps(asdict(again), allow_nan=False)
    assert len(text) < 1_000_000


def test_a_file_is_written_once(cancer: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    model, X, y = cancer["model"], cancer["X"], cancer["y"]
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
