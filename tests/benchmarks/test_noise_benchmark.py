"""benchmarks.noise: means of those who have every fit, and a picture of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import noise
from benchmarks.accuracy import competitors
from benchmarks.accuracy.judging import judge
from benchmarks.accuracy.runner import Results
from benchmarks.accuracy.tasks import FRESH, all_tasks


def wrong_by(share: float) -> object:
    """A judgement of a hundred rows, so many of them wrong."""
    labels = np.zeros(100, dtype=int)
    answers = (np.arange(100) < round(100 * share)).astype(int)
    return judge(np.full((100, 2), 0.5), np.array([0, 1]), labels, answers, 1.0)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """Errors that grow with the noise, more for each competitor; the last one lacks a fit."""
    monkeypatch.setattr(competitors, "version", lambda library: "1.0")  # none of the libraries need be there
    kept = Results(tmp_path / "results.jsonl")
    for place, competitor in enumerate(noise.everybody()):
        tasks = all_tasks(FRESH, [0], noises=noise.RATES)
        for task in tasks[: -1 if competitor.name == "CatBoost" else None]:
            kept.add(competitor, task, wrong_by(0.1 + task.noise * (place + 1) / 10))  # type: ignore[arg-type]
    return kept


def test_who_lacks_a_fit_is_not_shown(results: Results, tmp_path: Path) -> None:
    errors = noise.errors_of(noise.everybody(), results, [0])
    assert list(errors) == [c.name for c in noise.everybody() if c.name != "CatBoost"]
    assert set(noise.COLOURS) == {c.name for c in noise.everybody()}
    np.testing.assert_allclose(errors["DeepBoost"].mean(axis=0), [0.10, 0.11, 0.12, 0.13])
    assert "| DeepBoost | .1000 | .1100 | .1200 | .1300 |  |  |" in noise.table(errors)
    assert "| .1000 | .1200 | .1400 | .1600 | +2.0 ± 0.0 points | 22 / 0 sets |" in noise.table(errors)
    noise.draw(errors, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_labels_keep_their_order_and_their_distance() -> None:
    placed = noise._apart({"a": 0.3, "b": 0.301, "c": 0.5}, 0.01)
    assert placed["a"] + 0.01 <= placed["b"] + 1e-12 < placed["c"]
