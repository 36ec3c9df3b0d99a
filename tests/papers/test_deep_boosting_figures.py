"""Figures 3 and 4 of "Deep Boosting": what is fitted, printed and drawn."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from papers import STUDIES, datasets, protocol, studies
from papers.deep_boosting_figures import TABLE_2, Margins, TreeSizes
from papers.plots import draw_study
from papers.studies import Outcome
from radboost import DeepBoostClassifier, guarantees

SIZES, MARGINS = STUDIES["deep-boosting-fig3"], STUDIES["deep-boosting-fig4"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small stand-in for ionosphere."""
    rng = np.random.default_rng(1)
    lines = ["a,b,c,target"]
    for a, b, c in rng.normal(size=(80, 3)):
        lines.append(f"{a:.3f},{b:.3f},{c:.3f},{'good' if a + b * b + 0.7 * rng.normal() > 0.8 else 'bad'}")
    (tmp_path / "ionosphere.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return tmp_path


def test_the_ensemble_is_the_one_that_table_2_chooses(folder: Path) -> None:
    facts = studies.units(MARGINS, quick=True, seed=2)[1]
    assert facts["algorithm"] == "AdaBoost-L1"
    result = MARGINS.fit(facts, str(folder))
    cells = protocol.reproduce(TABLE_2, ["ionosphere"], data_dir=str(folder), quick=True, runs=1, seed=2)
    (chosen,) = next(cell for cell in cells if cell.algorithm == "AdaBoost-L1").runs
    assert result["test_error"] == chosen.test_error
    assert np.mean(result["sizes"]) == pytest.approx(chosen.tree_size)
    data = datasets.load("ionosphere", folder)
    train, _, _ = protocol.parts(protocol.partition(80, 10, 2), 0)
    model = DeepBoostClassifier.paper(**result["parameters"]).fit(data.X[train], data.y[train])
    expected = np.sort(guarantees.margins(model, data.X[train], data.y[train]))
    np.testing.assert_allclose(result["margins"], expected, atol=1e-12)


def test_figures_share_what_they_have_in_common() -> None:
    of_sizes, of_margins = (studies.units(study) for study in (SIZES, MARGINS))
    assert len(of_sizes) == 10
    assert len(of_margins) == 30
    assert [facts for facts in of_margins if facts["algorithm"] == "DeepBoost"] == of_sizes


def outcome(algorithm: str, run: int, sizes: list[int], weights: list[float], margins: list[float]) -> Outcome:
    result = {"sizes": sizes, "weights": weights, "margins": margins, "test_error": 0.1, "parameters": {}}
    return Outcome({"algorithm": algorithm, "run": run}, result)


def test_sizes_are_counted() -> None:
    assert isinstance(SIZES, TreeSizes)
    outcomes = [
        outcome("DeepBoost", 0, [3, 3, 7], [1.0, 2.0, 1.0], [0.1]),
        outcome("DeepBoost", 1, [7], [5.0], [0.2]),
    ]
    assert [row.split() for row in SIZES.rows(outcomes)] == [
        ["3", "1.0", "33.3%", "37.5%"],
        ["7", "1.0", "66.7%", "62.5%"],
    ]
    (ax,) = draw_study(SIZES, outcomes).axes
    assert [patch.get_height() for patch in ax.patches] == [0, 1, 0, 1]
    assert ax.get_title(loc="left") == "DeepBoost on ionosphere, mean of 2 runs"


def test_margins_are_summed_up_and_drawn() -> None:
    assert isinstance(MARGINS, Margins)
    outcomes = [
        outcome("AdaBoost", 0, [3], [1.0], [-0.2, 0.0, 0.2, 0.4, 0.6]),
        outcome("AdaBoost-L1", 0, [3, 5], [1.0, 1.0], [0.1, 0.1, 0.3, 0.3, 0.3]),
        outcome("DeepBoost", 0, [], [], [0.5, 0.5, 0.5, 0.5, 0.5]),
    ]
    rows = [row.split() for row in MARGINS.rows(outcomes)]
    assert rows[0] == ["AdaBoost", "-0.200", "0.000", "0.200", "0.400", "0.200", "0.1000", "1.0", "3.0"]
    assert rows[1][-2:] == ["2.0", "4.0"]
    assert rows[2][-2:] == ["0.0", "0.0"]
    axes = draw_study(MARGINS, outcomes).axes
    assert [ax.get_title(loc="left") for ax in axes[:3]] == [
        "AdaBoost, mean 0.20",
        "AdaBoost-L1, mean 0.22",
        "DeepBoost, mean 0.50",
    ]
    assert sum(patch.get_height() for patch in axes[0].patches) == pytest.approx(1.0)
    np.testing.assert_allclose(axes[3].lines[1].get_ydata(), [0.2, 0.4, 0.6, 0.8, 1.0])
