"""The computations behind sections, against definitions, simulations and other libraries."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import make_blobs

from radboost import DeepBoostClassifier, RGBRegressor
from radboost.guarantees.holdout import exact_interval
from radboost.report.calibration import by_chance, calibration_error
from radboost.report.data import data
from radboost.report.figures import bootstrap, fraction_interval, mean_of_sums, percent, thinned
from radboost.report.noise import confident_learning, cross_fitted
from radboost.report.profile import profiles
from radboost.report.scores import Predictions, measures
from radboost.report.slices import holm
from radboost.report.subject import Subject, SubjectRows, read


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 40), (3, 40), (40, 40), (511, 3000)])
def test_exact_intervals_are_those_of_scipy(hits: int, n: int) -> None:
    expected = binomtest(hits, n).proportion_ci(0.95, method="exact")
    assert exact_interval(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_intervals_with_weights_have_the_limits_of_those_without() -> None:
    hits = np.arange(40) < 3
    share, exact = fraction_interval(hits, None)
    assert exact == pytest.approx(exact_interval(3, 40))
    for unit in (1e-3, 0.1, 1.0, 7.0):
        assert fraction_interval(hits, np.full(40, unit)) == (share, exact)
        near = fraction_interval(hits, unit * (1.0 + 1e-9 * np.arange(40)))
        assert near[1] == pytest.approx(exact, abs=1e-6)
    weights = np.tile([1.0, 2.0], 20)  # 60^2 / 100 rows count
    assert fraction_interval(np.zeros(40), weights)[1] == pytest.approx((0.0, exact_interval(0, 36)[1]))
    assert fraction_interval(np.ones(40), 0.01 * weights)[1] == pytest.approx((exact_interval(36, 36)[0], 1.0))
    # rows of hardly any weight say hardly anything
    few = np.r_[np.ones(5), np.full(35, 1e-9)]
    assert fraction_interval(np.zeros(40), few)[1] == pytest.approx((0.0, exact_interval(0, 5)[1]), abs=1e-6)
    assert fraction_interval(np.zeros(1), np.ones(1))[1] == pytest.approx(exact_interval(0, 1))


@pytest.mark.parametrize("chances", [(0.02, 0.02), (0.02, 0.1), (0.1, 0.02), (0.3, 0.3)])
def test_intervals_with_weights_cover(chances: tuple[float, float]) -> None:
    """Also where rows of much weight are wrong more often, and where no row is wrong in most samples."""
    rng = np.random.default_rng(3)
    truth = (0.8 * chances[0] + 0.2 * 6.0 * chances[1]) / (0.8 + 0.2 * 6.0)
    covered = 0
    for _ in range(400):
        heavy = rng.random(60) < 0.2
        hits = rng.random(60) < np.where(heavy, chances[1], chances[0])
        low, high = fraction_interval(hits, np.where(heavy, 6.0, 1.0))[1]
        covered += low <= truth <= high
    assert covered >= 0.94 * 400


@pytest.mark.parametrize("n", [300, 30_000])
def test_resampling_finds_the_interval_of_a_mean(n: int) -> None:
    """With groups of rows as with rows: the interval is that of the normal distribution."""
    values = np.random.default_rng(1).exponential(size=n)
    found = bootstrap(np.column_stack([values, np.ones(n)]), mean_of_sums, 7)
    assert found is not None
    spread = 1.96 * values.std() / np.sqrt(n)
    assert found[0] == pytest.approx(values.mean() - spread, abs=0.25 * spread)
    assert found[1] == pytest.approx(values.mean() + spread, abs=0.25 * spread)
    assert bootstrap(np.ones((3, 2)), mean_of_sums, 7) is None


def test_small_shares_do_not_look_like_none() -> None:
    assert (percent(0.0), percent(0.00001), percent(0.123456)) == ("0.0%", "under 0.1%", "12.3%")
    assert thinned(10, 3).tolist() == [0, 4, 9]
    assert thinned(1, 3).tolist() == [0]


def _naive_estimate(P: Any, labels: Any) -> tuple[float, Any]:
    """Confident learning row by row: the fraction of wrong labels, and a class for each row."""
    n, n_classes = P.shape
    thresholds = [P[labels == c, c].mean() if (labels == c).any() else np.inf for c in range(n_classes)]
    counts, suggested = np.zeros((n_classes, n_classes)), labels.copy()
    for row in range(n):
        reached = [c for c in range(n_classes) if P[row, c] >= thresholds[c]]
        if reached:
            suggested[row] = max(reached, key=lambda c: (P[row, c], -c))
            counts[labels[row], suggested[row]] += 1
    right = 0.0
    for c in range(n_classes):
        line = counts[c] if counts[c].sum() else np.eye(n_classes)[c]
        right += line[c] / line.sum() * (labels == c).sum() / n
    return 1.0 - right, suggested


def test_confident_learning_is_its_definition() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        P = rng.dirichlet([0.5] * 4, size=60)
        labels = rng.integers(0, 3, 60)  # a class without rows, too
        fraction, suggested = confident_learning(P, labels)
        expected = _naive_estimate(P, labels)
        assert fraction == pytest.approx(expected[0])
        assert suggested.tolist() == expected[1].tolist()


def _flipped(share: float, seed: int) -> tuple[Subject, Any]:
    X, y = make_blobs(700, n_features=5, centers=3, cluster_std=1.5, random_state=seed)
    rng = np.random.default_rng(seed)
    flipped = rng.random(len(y)) < share
    y = np.where(flipped, (y + rng.integers(1, 3, len(y))) % 3, y)
    model = DeepBoostClassifier(n_rounds=20, learning_rate=0.3, max_depth=3, n_jobs=1).fit(X[500:], y[500:])
    return read(model, X[500:], y[500:], X_train=X[:500], y_train=y[:500]), flipped[:500]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25])
def test_wrong_labels_are_counted_and_found(share: float) -> None:
    """By fits to other rows: within three points of the truth, and nine of ten suspects are wrong."""
    subject, flipped = _flipped(share, 3)
    assert subject.train is not None
    crossed = cross_fitted(subject, subject.train)
    assert crossed is not None
    places, probabilities = crossed
    ids = subject.train.class_ids[places]
    fraction, suggested = confident_learning(probabilities, ids)
    assert fraction == pytest.approx(flipped.mean(), abs=0.03)
    suspects = places[suggested != ids]
    if share:
        assert flipped[suspects].mean() > 0.9
        assert len(suspects) > 0.6 * flipped.sum()
    else:
        assert len(suspects) == 0


def _leaking() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    n = 400
    y = rng.random(n) < 0.3
    honest = rng.normal(size=n) + y
    frame = pd.DataFrame(
        {
            "honest": honest,
            "outcome": np.where(y, 5.0, 1.0) + 0.1 * rng.normal(size=n),
            "when": np.where(y, np.nan, rng.normal(size=n)),
            "number": np.arange(n),
            "name": pd.Categorical([f"person {i}" for i in range(n)]),
            "same": 1.0,
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    return frame, y


def test_columns_that_give_the_target_away_are_suspected() -> None:
    frame, y = _leaking()
    model = DeepBoostClassifier(n_rounds=5, n_jobs=1, categorical_features=["name"]).fit(frame[:200], y[:200])
    subject = read(model, frame[200:], y[200:], X_train=frame[:200], y_train=y[:200])
    found = {one.name: one for one in profiles(subject)}
    assert {name for name, one in found.items() if (one.suspicion.alone or 0.0) >= 0.9} == {"outcome", "when"}
    assert {name for name, one in found.items() if one.suspicion.missingness} == {"when"}
    assert {name for name, one in found.items() if one.suspicion.id_like} == {"number", "name"}
    assert {name for name, one in found.items() if one.constant} == {"same"}
    card = data(subject)
    assert len(card.serious) == 2
    assert "'outcome'" in card.serious[0].short
    assert "Do not trust this yet" in model.report(frame[200:], y[200:]).verdict


def test_parts_that_were_not_drawn_alike_are_told() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "moved": np.concatenate([rng.normal(size=300), 1.0 + rng.normal(size=300)]),
            "still": rng.normal(size=600),
            "kind": pd.Categorical(np.where(np.arange(600) < 300, "a", rng.choice(["a", "b"], 600))),
            "colour": pd.Categorical(rng.choice(["red", "blue"], 600)),
        }
    )
    y = (frame["still"] > 0.0).to_numpy()
    frame.loc[:5, "kind"] = "b"
    model = DeepBoostClassifier(n_rounds=5, n_jobs=1).fit(frame[:300], y[:300])
    subject = read(model, frame[300:], y[300:], X_train=frame[:300], y_train=y[:300])
    assert {one.name for one in profiles(subject) if one.drift is not None} == {"moved", "kind"}
    alike = read(model, frame[1::2], y[1::2], X_train=frame[::2], y_train=y[::2])
    assert not [one.name for one in profiles(alike) if one.drift is not None]


def test_copies_and_contradictions_are_counted() -> None:
    X = np.arange(120.0).reshape(60, 2)
    y = np.arange(60) % 2
    model = DeepBoostClassifier(n_rounds=3, n_jobs=1).fit(X, y)
    test = np.vstack([X[:6], X[:3], 500.0 + X[:50]])  # 9 copies of training rows; rows 0, 1, 2 twice
    labels = np.concatenate([y[:6], 1 - y[:2], y[2:3], y[:50]])  # the second copies of rows 0 and 1 contradict
    told = " ".join(one.text for one in data(read(model, test, labels, X_train=X, y_train=y)).findings)
    assert "9 held-out rows (15.3%) are copies of training rows" in told
    assert "3 held-out rows (5.1%) are copies of another one" in told
    assert "4 held-out rows (6.8%) have the same cells as another row and a different target" in told


def test_calibration_error_beside_chance() -> None:
    rng = np.random.default_rng(2)
    stated = rng.random(4000)
    happened = rng.random(4000) < stated
    weights = np.ones(4000)
    naive = 0.0
    for place in range(10):
        here = (stated >= place / 10) & (stated < (place + 1) / 10)
        naive += abs(stated[here].mean() - happened[here].mean()) * here.mean()
    assert calibration_error(stated, happened, weights) == pytest.approx(naive)
    usual, most = by_chance(stated, weights, 1)
    assert 0.0 < usual < most
    assert calibration_error(stated, happened, weights) <= most
    assert calibration_error(stated**2, happened, weights) > 5 * most


def test_numbers_are_written_as_people_write_them() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(1950, 2011, 60), rng.integers(1300, 2400, 60)]).astype(float)
    X[0] = 1998.0, 1_480_000.0
    y = 150_000.0 + 40 * X[:, 1]
    model = RGBRegressor(n_rounds=5, n_jobs=1).fit(X, y)
    subject = read(model, X, y)
    assert [subject.value_text(place, 2004.0) for place in range(2)] == ["2004", "2,004"]
    assert not re.search(r"\de[+]?0?\d", model.report(X, y).verdict + str(model.explain(X[0])))


@pytest.mark.parametrize("copies", [1, 4])
def test_intervals_of_areas_cover(copies: int) -> None:
    """The interval holds the true area, 0.76 = Phi(1 / sqrt 2), in about 95 of 100 samples; copies do not count."""
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        many = np.repeat(np.arange(150), copies)
        ids, rows = many % 2, many[:, None].astype(np.float64)
        stated = 1.0 / (1.0 + np.exp(-(rng.normal(size=150)[many] + ids)))
        part = SubjectRows(rows, ids, rows, None, ids, np.arange(len(ids)))
        chances = np.column_stack([1.0 - stated, stated])
        subject = Subject(None, None, part, None, ("row",), (0, 1), ids, chances, None, {})
        measure = next(one for one in measures(subject) if one.name == "AUC")
        found = measure.interval_of(subject, Predictions(ids, chances))
        assert found is not None
        covered += found[0] <= 0.7602499 <= found[1]
    assert 180 <= covered <= 200


def test_corrections_for_many_looks_are_holms() -> None:
    assert holm([0.001, 0.04, 0.013, 0.9]) == [True, False, True, False]
    assert holm([]) == []
    rng = np.random.default_rng(0)
    assert np.mean([any(holm(rng.random(50).tolist())) for _ in range(400)]) < 0.08


def test_a_model_like_the_linear_one_is_not_called_better() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=300)
    model = RGBRegressor(n_rounds=20, n_jobs=1).fit(X[:150], y[:150])
    made = model.report(X[150:], y[150:], X_train=X[:150], y_train=y[:150])
    assert made.verdict_tone == "warning"
    assert "linear model, which is the better choice here" in made.verdict
    subject = read(model, X[150:], y[150:])
    same = measures(subject)[0].beside(subject, subject.own, subject.own)
    assert same is not None
    assert not same.clear
