"""Stand-ins for data sets, and no network."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RADBOOST_DATA", raising=False)
    monkeypatch.setenv("RADBOOST_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with ionosphere, sonar, statlog and vowel, of few rows: two and three classes, vowel with a split."""
    rng = np.random.default_rng(1)
    folder = tmp_path / "data"
    folder.mkdir()
    X = rng.normal(size=(90, 3)).round(3)
    noise = rng.normal(size=90)
    tables = {
        "ionosphere": np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * noise > 0.8, "good", "bad"),
        "sonar": np.where(X[:, 0] + 0.3 * noise > 0, "M", "R"),
        "statlog": np.array(list("abc"))[(4 * X[:, 0] + 4 * X[:, 1]).astype(int) % 3],
        "vowel": (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 0),
    }
    for name, y in tables.items():
        split = [f"{'train' if i < 60 else 'test'}," if name == "vowel" else "" for i in range(90)]
        lines = [f"a,b,c,{'split,' if name == 'vowel' else ''}target"]
        lines += [f"{a},{b},{c},{part}{label}" for (a, b, c), part, label in zip(X, split, y, strict=True)]
        (folder / f"{name}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return str(folder)
