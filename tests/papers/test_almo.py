"""Tables 5.1 and 5.2 of the thesis on made-up rows, and their data sets where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from papers import almo
from papers.harness import Outcome, run

LINEAR, NETWORKS = almo.STUDIES


def made_up(name: str, data_dir: str | None) -> almo.Split:
    rng = np.random.default_rng(0)
    n_classes = 2 if name == "adult" else 3
    X = rng.normal(size=(400, 4))
    y = (X @ rng.normal(size=(4, n_classes)) + 0.5 * rng.normal(size=(400, n_classes))).argmax(axis=1)
    return almo.Split(X[:300], y[:300], X[300:], y[300:])


@pytest.mark.parametrize("name", ["adult", pytest.param("mnist", marks=pytest.mark.slow)])
def test_every_method(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(almo, "load_split", made_up)
    wanted = [facts | {"rounds": 80} for facts in LINEAR.wanted([name], quick=True)]
    outcomes = run(LINEAR, wanted)
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
    rows = LINEAR.rows(outcomes)
    assert len(rows) == 6 + 2  # two of them are the paper's
    assert any(row[1] == "ALMO, paper" and "0.8321" in row for row in rows) == (name == "adult")


def test_a_picture() -> None:
    trained = [dict.fromkeys(almo.METRICS, 0.3)] * 3
    facts = [{"almo": name, "method": method} for name in ("mnist", "adult") for method in almo.METHODS]
    panels = LINEAR.draw([Outcome(fact, {"trained": trained}) for fact in facts]).axes
    assert [panel.get_title() for panel in panels] == ["mnist", "adult"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_columns"), [("mnist", 784), ("adult", 105)])
def test_the_data_sets(name: str, n_columns: int, data_dir: Path) -> None:
    data = almo.load_split(name, str(data_dir))
    assert data.X.shape[1] == data.X_test.shape[1] == n_columns
    assert np.isfinite(data.X).all()
    assert set(data.y.tolist()) == set(data.y_test.tolist())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adult", "mnist"])
def test_networks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two methods, four epochs: the same twice, and better than nothing."""
    pytest.importorskip("torch")
    monkeypatch.setattr(almo, "load_split", made_up)
    monkeypatch.setattr(almo, "NETWORK_GRID", almo.NETWORK_GRID[:2])
    wanted = [facts | {"epochs": 4} for facts in NETWORKS.wanted([name]) if facts["method"] in ("ALMO", "hinge")]
    first, again = (run(NETWORKS, wanted) for _ in range(2))
    assert first == again
    for outcome in first:
        assert all(one["auc"] > 0.7 for one in outcome.result["trained"])
        assert all(abs(sum(one.values()) - 1.0) < 1e-9 for one in outcome.result["mixtures"])
    assert len(NETWORKS.rows(first)) == 3
