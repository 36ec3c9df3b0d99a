"""Table 4.1 of the thesis on made-up rows, and its data sets where they are."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import multi_boost
from papers.harness import Outcome, run

(STUDY,) = multi_boost.STUDIES


def made_up(name: str, data_dir: str | None) -> Any:
    rng = np.random.default_rng(0)
    sources = rng.choice([1, 2, 3], 240, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(240, 4))
    X[:, 3] += 2.0 * sources
    y = np.where(sources == 2, X[:, 0] < 0, X[:, 0] > 0).astype(int)
    return multi_boost.Sourced(X, y, sources, [])


@pytest.mark.parametrize(
    "algorithms", [("AdaBoost-all", "MultiBoost"), pytest.param(multi_boost.ALGORITHMS, marks=pytest.mark.slow)]
)
def test_algorithms_on_every_source(algorithms: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi_boost, "load_sourced", made_up)
    wanted = [facts | {"rounds": 10} for facts in STUDY.wanted(["adult"], runs=2) if facts["algorithm"] in algorithms]
    outcomes = run(STUDY, wanted)
    known = [name for name in algorithms if name != "fairlearn" or find_spec("fairlearn")]
    rows = {row[1]: row for row in STUDY.rows(outcomes)}
    assert list(rows) == known
    assert all(len(one.result["errors"]) == 3 and min(one.result["errors"]) >= 0.0 for one in outcomes)
    assert float(rows["MultiBoost"][6].split()[0]) < float(rows["AdaBoost-all"][6].split()[0])
    assert rows["MultiBoost"][-1] == "0.190"


def test_a_picture_of_the_table() -> None:
    facts = [{"sources": "adult", "algorithm": algorithm} for algorithm in multi_boost.ALGORITHMS]
    (panel,) = STUDY.draw([Outcome(fact, {"errors": [0.1, 0.2, 0.3]}) for fact in facts]).axes
    assert [text.get_text() for text in panel.get_yticklabels()] == list(reversed(multi_boost.ALGORITHMS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("amazon", (2000, 2000, 2000)), ("fashion_mnist", (21000, 21000, 28000)), ("adult", (10628, 14783, 19811))],
)
def test_real_sources(name: str, sizes: tuple[int, ...], data_dir: Path) -> None:
    data = multi_boost.load_sourced(name, str(data_dir))
    assert tuple(np.bincount(data.sources)[1:].tolist()) == sizes
    assert data.X.shape[0] == len(data.y) == sum(sizes)
    assert len(np.unique(data.y)) == 2
