"""Table 4.1 of the thesis on made-up rows, and its data sets where they are."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from papers import datasets, multi_boost
from papers.harness import run

STUDY, AS_THESIS = multi_boost.STUDIES


def made_up(name: str, preparation: str, data_dir: str | None) -> Any:
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
    assert rows["MultiBoost"][-2] == "0.190"
    assert rows["AdaBoost-all"][-1] == "-"
    assert 0.0 <= float(rows["MultiBoost"][-1]) < 0.5


def test_columns_as_in_the_thesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adult: an indicator for each category and no education. Amazon: bigrams alone, in 20 reviews."""
    assert (STUDY.datasets, AS_THESIS.datasets) == (("amazon", "fashion_mnist", "adult"), ("amazon", "adult"))
    table = datasets.Dataset(
        *("adult", np.array([[30.0, 0, 9, 1], [40, 1, 13, 0], [50, 2, 7, 1]]), np.array([0, 1, 0])),
        feature_names=("age", "education", "education_num", "sex"),
        split=None,
        categories={"education": ("HS-grad", "Masters", "10th"), "sex": ("f", "m")},
        source="",
    )
    terms = np.repeat([[1.0, 1, 1], [1, 1, 0]], [20, 10], axis=0)
    kinds = np.tile(["books", "dvd", "electronics"], 10)
    texts = replace(table, X=sparse.csr_array(terms), y=np.zeros(30), feature_names=("a", "a_b", "c_d"), domains=kinds)
    tables = {"adult": table, "amazon": texts}
    monkeypatch.setattr(multi_boost.registry, "load", lambda name, _: tables[name])
    multi_boost.load_sourced.cache_clear()
    adult = multi_boost.load_sourced("adult", "thesis", None)
    assert adult.X.tolist() == [[30, 0, 1], [40, 1, 0], [50, 0, 1]]
    assert (adult.sources.tolist(), adult.categorical) == ([2, 1, 3], [])
    assert multi_boost.load_sourced("adult", "registry", None).categorical == [1, 3]
    widths = [multi_boost.load_sourced("amazon", one, None).X.shape[1] for one in ("registry", "thesis")]
    assert widths == [3, 2]
    multi_boost.load_sourced.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("amazon", (2000, 2000, 2000)), ("fashion_mnist", (21000, 21000, 28000)), ("adult", (10628, 14783, 19811))],
)
def test_real_sources(name: str, sizes: tuple[int, ...], data_dir: Path) -> None:
    data = multi_boost.load_sourced(name, "registry", str(data_dir))
    assert tuple(np.bincount(data.sources)[1:].tolist()) == sizes
    assert data.X.shape[0] == len(data.y) == sum(sizes)
    assert len(np.unique(data.y)) == 2
