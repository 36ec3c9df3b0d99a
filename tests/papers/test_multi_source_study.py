"""Table 4.1 of the thesis on rows of our own, and its data sets where they are."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import papers as experiments
from papers import multi_source_fits, studies
from papers.multi_source import ALGORITHMS, PAPER

STUDY: Any = experiments.STUDIES["multiboost-4.1"]


def made_up(name: str, data_dir: str | None) -> Any:
    rng = np.random.default_rng(0)
    sources = rng.choice([1, 2, 3], 240, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(240, 4))
    X[:, 3] += 2.0 * sources
    y = np.where(sources == 2, X[:, 0] < 0, X[:, 0] > 0).astype(int)
    return multi_source_fits.Sourced(X, y, sources, [])


@pytest.mark.slow
def test_every_algorithm_on_every_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi_source_fits, "load_sourced", made_up)
    wanted = [facts | {"rounds": 10} for facts in studies.units(STUDY, ["adult"], quick=True) if facts["fold"] < 2]
    outcomes = list(studies.run(STUDY, wanted))
    known = [name for name in ALGORITHMS if name != "fairlearn" or find_spec("fairlearn")]
    assert {outcome.facts["algorithm"] for outcome in outcomes} == set(known)
    by_name: dict[str, list[float]] = {}
    for outcome in outcomes:
        assert len(outcome.result["errors"]) == 3
        assert all(0.0 <= error <= 1.0 for error in outcome.result["errors"])
        by_name.setdefault(outcome.facts["algorithm"], []).append(max(outcome.result["errors"]))
    assert np.mean(by_name["MultiBoost"]) < np.mean(by_name["AdaBoost-all"])
    lines = STUDY.rows(outcomes)
    assert len(lines) == len(known)
    assert any("MultiBoost " in line and "0.190" in line for line in lines)


def test_a_picture_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from papers.plots import draw_study

    facts = [{"sources": "adult", "algorithm": algorithm} for algorithm in ALGORITHMS]
    outcomes = [studies.Outcome(fact, {"errors": [0.1, 0.2, 0.3]}) for fact in facts]
    (panel,) = draw_study(STUDY, outcomes).axes
    assert [text.get_text() for text in panel.get_yticklabels()] == list(reversed(ALGORITHMS))


def test_unknown_data_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="has no data set 'mnist'; it has amazon, fashion_mnist, adult"):
        studies.units(STUDY, ["mnist"])


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("amazon", (2000, 2000, 2000)), ("fashion_mnist", (21000, 21000, 28000)), ("adult", (10628, 14783, 19811))],
)
def test_the_sources_are_those_of_table_b_2(name: str, sizes: tuple[int, ...], data_dir: Path) -> None:
    data = multi_source_fits.load_sourced(name, str(data_dir))
    assert tuple(np.bincount(data.sources)[1:]) == sizes
    assert len(np.unique(data.y)) == 2
    assert set(PAPER[name]) <= set(ALGORITHMS)
