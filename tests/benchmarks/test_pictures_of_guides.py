"""The flow chart of docs/which-estimator.md, its table, and the figures of docs/guide-label-noise.md."""

import re
from xml.etree import ElementTree as ET

import numpy as np

import radboost
from benchmarks import flow_chart, wrong_labels
from radboost import structured

DOCS = flow_chart.PICTURE.parents[1]
MEANS = re.compile(r"^\| (\w+) \| (\.\d{4}) / (\.\d{4}) \|", re.MULTILINE)


def test_the_chart_is_what_its_command_draws() -> None:
    assert flow_chart.PICTURE.read_text(encoding="utf-8") == flow_chart.chart()


def test_the_chart_is_readable_without_eyes_and_names_what_there_is() -> None:
    root = ET.fromstring(flow_chart.chart())
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


def test_improbable_labels_are_suspicious() -> None:
    given = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    found = wrong_labels.suspicion(given, np.array(["b", "a", "b"]), np.array(["a", "b"]))
    assert np.allclose(found, [0.9, 0.1, 0.2])


def test_tables_are_markdown() -> None:
    assert wrong_labels.table("errors", ["0", "1"], {"A": [0.5, 0.25]}, 2) == (
        "| errors | 0 | 1 |\n|---|---|---|\n| A | .50 | .25 |"
    )
