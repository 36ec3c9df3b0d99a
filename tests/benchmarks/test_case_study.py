"""benchmarks.case_study: costs, folds and intervals are what the page says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks import case_study


@pytest.fixture
def labels() -> np.ndarray:
    return (np.arange(200) % 10 < 3).astype(np.int64)


def test_the_threshold_is_where_both_answers_cost_the_same() -> None:
    p = case_study.THRESHOLD
    expected = np.array([1 - p, p]) @ case_study.COST
    assert expected[0] == pytest.approx(expected[1])


def test_rows_are_predicted_by_fits_that_have_not_seen_them(labels: np.ndarray) -> None:
    X = np.arange(200.0)[:, None]

    def seen(X_train: np.ndarray, _: np.ndarray, X_new: np.ndarray) -> np.ndarray:
        return np.isin(X_new[:, 0], X_train[:, 0]).astype(np.float64)

    np.testing.assert_array_equal(case_study.predict(seen, X, labels, 2), np.zeros((2, 200)))


def test_means_are_those_of_the_folds(labels: np.ndarray) -> None:
    values = np.random.default_rng(0).normal(size=(3, 200))
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    naive = [values[i // 5][test].mean() for i, (_, test) in enumerate(folds.split(labels, labels))]
    np.testing.assert_allclose(case_study.fold_means(values, labels), naive)
    assert np.mean(naive) == pytest.approx(values.mean())


def test_intervals_are_wider_than_those_of_independent_folds() -> None:
    differences = np.random.default_rng(0).normal(1.0, 0.5, 50)
    mean, low, high = case_study.interval(differences)
    assert mean == pytest.approx(differences.mean())
    half = 2.0096 * differences.std(ddof=1) * np.sqrt(1 / 50 + 1 / 4)  # the quantile of t with 49 degrees of freedom
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-4)


def test_tables_and_pictures(labels: np.ndarray, tmp_path: Path) -> None:
    """Without a library that is not installed."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 50, size=(200, 24))
    predicted = {name: rng.uniform(size=(2, 200)) for name in case_study.PROBABILITIES if "LightGBM" not in name}
    predicted |= {name: np.broadcast_to(labels.astype(float), (2, 200)) for name in case_study.DECISIONS}
    shown = case_study.decide(predicted)
    rows = [line.strip("| ").split(" | ") for line in case_study.cost_table(shown, X, labels).splitlines()[2:]]
    costs = {row[0]: row[1] for row in rows}
    assert costs["grant every loan"] == "1.500"
    assert costs["refuse every loan"] == "0.700"
    assert {costs[name] for name in case_study.DECISIONS} == {"0.000"}  # they know the truth
    assert [row[1] for row in rows] == sorted(costs.values(), reverse=True)
    assert len(case_study.granted_table(predicted, labels).splitlines()) == 2 + 8
    case_study.draw_costs(shown, labels, tmp_path / "costs.png")
    case_study.draw_thresholds(predicted, labels, tmp_path / "thresholds.png")
    assert {path.name for path in tmp_path.iterdir()} == {"costs.png", "thresholds.png"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*case_study.PROBABILITIES, *case_study.DECISIONS])
def test_every_method_predicts(name: str, labels: np.ndarray) -> None:
    for library in ("LightGBM", "CatBoost"):
        if name.startswith(library):
            pytest.importorskip(library.lower())
    X = np.random.default_rng(0).uniform(1, 50, size=(200, 24))
    predicted = (case_study.PROBABILITIES | case_study.DECISIONS)[name](X, labels, X[:7])
    assert predicted.shape == (7,)
    assert predicted.min() >= 0.0
    assert predicted.max() <= 1.0
