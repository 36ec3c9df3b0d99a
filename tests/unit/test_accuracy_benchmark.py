"""benchmarks.accuracy: the same data for all, and no fit made twice."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.accuracy.competitors import Competitor
from benchmarks.accuracy.runner import Results, run, table
from benchmarks.accuracy.tasks import Source, Task, all_tasks


def majority(seed: int, **parameters: Any) -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(random_state=seed, **parameters)


@pytest.fixture
def source(tmp_path: Path) -> Source:
    X = np.random.default_rng(0).normal(size=(100, 2)).round(3)
    lines = ["a,b,target", *(f"{a},{b},{'M' if i % 4 else 'R'}" for i, (a, b) in enumerate(X))]
    (tmp_path / "sonar.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return Source(str(tmp_path))


def test_a_fifth_of_the_training_labels_is_exchanged_and_nothing_else(source: Source) -> None:
    for fold in range(5):
        clean, noisy = (source.parts(Task("sonar", 1, noise, fold)) for noise in (0.0, 0.2))
        np.testing.assert_array_equal(clean.X_train, noisy.X_train)
        np.testing.assert_array_equal(clean.X_test, noisy.X_test)
        np.testing.assert_array_equal(clean.y_test, noisy.y_test)
        assert np.count_nonzero(clean.y_train != noisy.y_train) == 16
        again = source.parts(Task("sonar", 1, 0.2, fold))
        np.testing.assert_array_equal(noisy.y_train, again.y_train)
        assert clean.y_test.mean() == 0.25


def test_what_is_in_the_file_is_not_fitted_again(source: Source, tmp_path: Path) -> None:
    file, said = tmp_path / "kept" / "results.jsonl", []
    dummy = Competitor("dummy", "scikit-learn", majority)
    tasks = all_tasks(("sonar",))
    run([dummy], tasks[:3], Results(file), source, 1, said.append)
    assert len(file.read_text().splitlines()) == 3
    assert "| dummy | - / - |" in table([dummy], tasks, Results(file))
    run([dummy], tasks, Results(file), source, 1, said.append)
    run([dummy], tasks, Results(file), source, 1, said.append)
    assert len(file.read_text().splitlines()) == len(tasks) == 30
    assert [line.split(" fits")[0] for line in said] == ["dummy: 3", "dummy: 27"]
    assert "| dummy | .2500 / .2500 | **.2500 / .2500** |" in table([dummy], tasks, Results(file))


def test_the_key_follows_parameters_and_tag_but_not_the_name() -> None:
    plain = Competitor("a", "scikit-learn", majority)
    assert plain.key == Competitor("b", "scikit-learn", majority).key
    assert plain.key != Competitor("a", "scikit-learn", majority, {"strategy": "uniform"}).key
    assert plain.key != Competitor("a", "scikit-learn", majority, tag="new engine").key
