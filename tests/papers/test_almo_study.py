"""Table 5.1 of the thesis on rows of our own, and its data sets where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import papers as experiments
from papers import almo, studies

STUDY: Any = experiments.STUDIES["almo-5.1"]


def made_up(name: str, data_dir: str | None) -> almo.Split:
    rng = np.random.default_rng(0)
    n_classes = 2 if name == "adult" else 3
    X = rng.normal(size=(400, 4))
    y = (X @ rng.normal(size=(4, n_classes)) + 0.5 * rng.normal(size=(400, n_classes))).argmax(axis=1)
    return almo.Split(X[:300], y[:300], X[300:], y[300:])


@pytest.mark.parametrize("name", ["adult", "mnist"])
def test_every_method(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(almo, "load_split", made_up)
    wanted = [facts | {"rounds": 80} for facts in studies.units(STUDY, [name], quick=True)]
    outcomes = list(studies.run(STUDY, wanted))
    assert [outcome.facts["method"] for outcome in outcomes] == list(almo.METHODS)
    worst = {}
    for outcome in outcomes:
        assert outcome.result["setting"] in almo.GRID
        assert len(outcome.result["trained"]) == 3
        worst[outcome.facts["method"]] = np.mean(
            [max(one[loss] for loss in almo.LOSSES) for one in outcome.result["trained"]]
        )
        assert all(0.5 < one["auc"] <= 1.0 for one in outcome.result["trained"])
    assert worst["ALMO"] <= min(worst.values()) + 0.05
    lines = STUDY.rows(outcomes)
    assert len(lines) == 6 + 2  # two of them with the paper's
    assert any("paper" in line and "0.8321" in line for line in lines) == (name == "adult")


def test_a_picture_and_a_refusal() -> None:
    with pytest.raises(ValueError, match=r"almo-5.1 has no data set 'dna'"):
        studies.units(STUDY, ["dna"])
    pytest.importorskip("matplotlib")
    from papers.plots import draw_study

    trained = [dict.fromkeys(almo.METRICS, 0.3)] * 3
    facts = [{"almo": name, "method": method} for name in ("mnist", "adult") for method in almo.METHODS]
    outcomes = [studies.Outcome(fact, {"trained": trained}) for fact in facts]
    panels = draw_study(STUDY, outcomes).axes
    assert [panel.get_title() for panel in panels] == ["mnist", "adult"]


@pytest.mark.parametrize(("name", "n_columns"), [("mnist", 784), ("adult", 105)])
def test_the_data_sets(name: str, n_columns: int, data_dir: Path) -> None:
    data = almo.load_split(name, str(data_dir))
    assert data.X.shape[1] == data.X_test.shape[1] == n_columns
    assert np.isfinite(data.X).all()
    assert set(data.y.tolist()) == set(data.y_test.tolist())


def test_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods, two epochs: the same twice, and better than nothing."""
    pytest.importorskip("torch")
    monkeypatch.setattr(almo, "load_split", made_up)
    monkeypatch.setattr(almo, "NETWORK_GRID", almo.NETWORK_GRID[:2])
    study: Any = experiments.STUDIES["almo-5.2"]
    for name in ("adult", "mnist"):
        wanted = [
            facts | {"epochs": 4} for facts in studies.units(study, [name]) if facts["method"] in ("ALMO", "hinge")
        ]
        first, again = (list(studies.run(study, wanted)) for _ in range(2))
        assert [outcome.result for outcome in first] == [outcome.result for outcome in again]
        for outcome in first:
            assert all(one["auc"] > 0.7 for one in outcome.result["trained"])
            assert all(abs(sum(one.values()) - 1.0) < 1e-9 for one in outcome.result["mixtures"])
        assert len(study.rows(first)) == 3
