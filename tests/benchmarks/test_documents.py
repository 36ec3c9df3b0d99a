"""Figures, pictures and commands of the documents that the benchmarks make."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import radboost
from benchmarks import __main__ as speed
from benchmarks import examples, wrong_labels
from benchmarks.accuracy import __main__ as accuracy
from benchmarks.accuracy.competitors import Competitor
from benchmarks.competitors import random_forest
from benchmarks.markdown import number
from radboost import structured

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MEANS = re.compile(r"^\| (\w+) \| (\.\d{4}) / (\.\d{4}) \|", re.MULTILINE)
COMMAND = re.compile(r"python -m (benchmarks(?:\.\w+)*)([^`\n|]*)")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
COMMANDS = sorted({found for page in PAGES for found in COMMAND.findall(page.read_text(encoding="utf-8"))})
PARSERS = {"benchmarks": speed.arguments, "benchmarks.accuracy": accuracy.arguments}


def test_commands_of_the_documents_exist() -> None:
    for module, options in COMMANDS:
        assert importlib.util.find_spec(module) is not None, module
        given = shlex.split(options, comments=True)
        if module in PARSERS and "--help" not in given:
            PARSERS[module](given)
        elif module == "benchmarks.examples":
            assert given[0] in examples.EXAMPLES


def test_the_chart_is_readable_without_eyes_and_names_what_there_is() -> None:
    root = ET.fromstring((DOCS / "images" / "which-estimator.svg").read_text(encoding="utf-8"))
    content = " ".join(root.itertext())
    named = set(re.findall(r"\b\w+(?:Classifier|Regressor)(?:CV)?\b", content)) - {"BoostClassifier"}
    assert len(named) >= 8
    assert all(hasattr(radboost, name) or hasattr(structured, name) for name in named)
    assert root.attrib["role"] == "img"


def test_the_table_of_which_estimator_stands_in_the_tables_of_the_defaults() -> None:
    """Each pair of means, clean and noisy, is one that docs/defaults.md has for that library."""
    tables = MEANS.findall((DOCS / "defaults.md").read_text(encoding="utf-8"))
    text = (DOCS / "which-estimator.md").read_text(encoding="utf-8").replace("**", "")
    rows = re.findall(r"^\| (\S+) \| ((?:(?:\.\d{4} / \.\d{4}|-)(?: \| )?){4}) \|$", text, re.MULTILINE)
    assert len(rows) == 7
    for name, cells in rows:
        library = {"soft-max": "SoftmaxBoost"}.get(name, name)
        pairs = re.findall(r"(\.\d{4}) / (\.\d{4})", cells)
        assert pairs
        assert all((library, clean, noisy) in tables for clean, noisy in pairs)


def test_the_table_of_costs_has_a_row_for_each_way_to_decide() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int)
    cost = np.array([[0.0, 1.0], [5.0, 0.0]])
    always = SimpleNamespace(predict=lambda X: np.ones(len(X), dtype=int))
    page = {"X": X, "y": y, "X_test": X, "y_test": y, "cost": cost, "weights": {0: 1.0, 1: 5.0}}
    page |= {"before": always, "after": always, "mean_cost": lambda labels: cost[y, labels].mean()}
    lines = examples.cost_table(page).splitlines()
    assert lines[0] == "| model | mean cost | share of mistakes |"
    assert len(lines) == 2 + 7
    assert lines[2] == f"| `SoftmaxBoostClassifier()` | {number((y == 0).mean(), 3)} | {number((y == 0).mean(), 3)} |"


def test_improbable_labels_are_suspicious() -> None:
    given = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    suspicion = wrong_labels.suspicion(given, np.array(["b", "a", "b"]), np.array(["a", "b"]))
    assert np.allclose(suspicion, [0.9, 0.1, 0.2])


def test_wrong_labels_are_counted_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong_labels, "SETS", ("breast_cancer", "wine"))
    quick = Competitor("quick", "scikit-learn", random_forest.classifier, {"n_estimators": 10})
    errors = wrong_labels.errors(1, [quick], rates=(0.0, 0.4))
    assert errors["wine"]["quick"].shape == (2, 1)
    assert 0.0 < errors["breast_cancer"]["quick"][0, 0] < errors["breast_cancer"]["quick"][1, 0] < 0.5
    wrong_labels.draw(errors, (0.0, 0.4), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").exists()
    shares = wrong_labels.hits(1, [quick], rates=(0.1,))
    assert 0.2 < shares["quick"][0] <= 1.0
    lines = wrong_labels.by_rate("found", (0.1,), {"quick": np.array([0.5])}, 2).splitlines()
    assert (lines[0], lines[2]) == ("| found | 10 percent |", "| quick | .50 |")
