"""Rows are draws: copies of a row, and units of an integer weight, are held back one by one."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from collective_tools import ThreadGroup, split_at_random
from prepared_rows import part_of, prepare
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier
from radboost.calibration import CalibrationRows, fit_calibration
from radboost.rows import splitting
from radboost.rows.hashing import order_of
from radboost.rows.prepare import PreparedRows
from radboost.rows.weights import RowWeights

CELLS = np.array([[a, b] for a in range(4) for b in range(3)], dtype=float)
THIRDS = [(0.0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1.0)]
ESTIMATORS = {
    "deep": DeepBoostClassifier(60),
    "rgb": RGBClassifier(60),
    "softmax": SoftmaxBoostClassifier(60),
}


def truth(n_classes: int) -> np.ndarray:
    """P(class | cells), for each of the cells."""
    scores = np.column_stack([np.cos(CELLS @ [0.9 + k, 0.7 * k]) for k in range(n_classes)])
    return np.exp(1.5 * scores) / np.exp(1.5 * scores).sum(axis=1, keepdims=True)


def loss_of(probabilities: np.ndarray, true: np.ndarray) -> float:
    """The expected log loss, all cells being as frequent."""
    return float(-np.sum(true * np.log(probabilities)) / len(CELLS))


def draws(n_classes: int, m: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    cells = rng.integers(0, len(CELLS), m)
    y = (truth(n_classes)[cells].cumsum(axis=1) < rng.random((m, 1))).sum(axis=1)
    return CELLS[cells], y


def counted(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The different rows, and how often each occurs."""
    rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    return rows[:, :-1], rows[:, -1].astype(int), counts


def held_of(rows: PreparedRows, part: tuple[float, float], seed: int = 3) -> tuple[dict[Any, float], dict[Any, float]]:
    """What is learned from and what is held back, as the weight of each different row."""
    learned, watched, _ = rows.hold_back(part, seed, 1)
    own = learned.weights if learned.weights is not None else np.ones(learned.n_rows)
    others = watched.weights if watched.weights is not None else np.ones(len(watched.class_ids))
    return (
        totals(learned.X[learned.order], learned.class_ids, own),
        totals(np.asarray(watched.X), watched.class_ids, others),
    )


def totals(X: np.ndarray, ids: np.ndarray, weights: np.ndarray) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for row, one, weight in zip(X.tolist(), ids.tolist(), weights.tolist(), strict=True):
        found[*row, one] = found.get((*row, one), 0.0) + weight
    return found


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_probabilities_are_those_that_the_rows_were_drawn_with(name: str, n_classes: int) -> None:
    X, y = draws(n_classes)
    model = ESTIMATORS[name].set_params(n_jobs=1).fit(X, y)
    true, plain = truth(n_classes), model.decision_function(CELLS)
    entropy, loss = loss_of(true, true), loss_of(model.predict_proba(CELLS), true)
    # No two numbers could make much better probabilities of these scores.
    scores, ids = np.repeat(plain, n_classes, axis=0), np.tile(np.arange(n_classes), len(CELLS)).astype(np.uint16)
    judged = CalibrationRows(RowWeights(1e6 * true.reshape(-1), len(ids)), ids, scores)
    best = fit_calibration(model._probabilities, [judged], 1).apply(model._probabilities, plain)
    assert loss < loss_of(best, true) + 0.01
    # Scores of other losses than the logistic one are not quite logarithms of odds.
    assert loss < entropy + (0.03 if name == "rgb" else 0.13)
    assert np.log(n_classes) > entropy + 0.2  # knowing nothing would not do
    # Other orders, threads, and weights in place of copies.
    order = np.random.default_rng(0).permutation(len(y))
    calibration, probabilities = model.calibration_, model.predict_proba(CELLS)
    cells, labels, counts = counted(X, y)
    for given in ((X[order], y[order]), (cells, labels, counts)):
        other = ESTIMATORS[name].set_params(n_jobs=2).fit(*given)
        assert other.calibration_ == calibration
        np.testing.assert_array_equal(other.predict_proba(CELLS), probabilities)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_rows_that_decide_when_to_stop(name: str) -> None:
    X, y = draws(2)
    model = ESTIMATORS[name].__class__(60, early_stopping=10, n_jobs=1).fit(X, y)
    assert loss_of(model.predict_proba(CELLS), truth(2)) < loss_of(truth(2), truth(2)) + 0.05


def test_every_copy_is_held_back_once() -> None:
    X, y = draws(4)
    cells, labels, counts = counted(X, y)
    copies, weighted = prepare(DeepBoostClassifier(), X, y), prepare(DeepBoostClassifier(), cells, labels, counts)
    whole = totals(cells, labels, counts.astype(float))
    shares = []
    sums = dict.fromkeys(whole, 0.0)
    for part in THIRDS:
        learned, held = held_of(copies, part)
        assert (learned, held) == held_of(weighted, part)
        assert {row: learned.get(row, 0.0) + held.get(row, 0.0) for row in whole} == whole
        sums = {row: sums[row] + held.get(row, 0.0) for row in whole}
        shares += [held.get(row, 0.0) / n for row, n in whole.items() if n >= 30]
    assert sums == whole
    # Copies are drawn, not dealt in proportion: shares spread as those of a binomial law do.
    spread = np.sqrt(np.mean([2 / 9 / n for n in whole.values() if n >= 30]))
    assert np.mean(shares) == pytest.approx(1 / 3)
    assert 0.6 * spread < np.std(shares) < 1.5 * spread


def naive_draws(keys: Any, strata: Any, copies: Any, interval: tuple[float, float]) -> list[int]:
    """The number of draws of each row, given in the order of ties, that are held back: one by one."""
    draws: list[tuple[int, int, int]] = []  # stratum, key, row
    seen: dict[Any, int] = {}
    for row, (key, stratum, n) in enumerate(zip(keys.tolist(), strata.tolist(), copies.tolist(), strict=True)):
        for _ in range(int(n)):
            number = seen[key, stratum] = seen.get((key, stratum), -1) + 1
            key_of_draw = splitting._draw_keys(np.array([key], dtype=np.uint64), np.array([number]))[0]
            draws.append((stratum, int(key_of_draw), row))
    held = [0] * len(keys)
    for stratum in set(strata.tolist()):
        ranked = sorted(draw for draw in draws if draw[0] == stratum)
        first, last = (math.ceil(share * len(ranked) - 1e-9) for share in interval)
        for _, _, row in ranked[first : min(last, first + len(ranked) - 1)]:
            held[row] += 1
    return held


@pytest.mark.parametrize("interval", [(0.0, 0.1), (0.2, 0.7), (2 / 3, 1.0), (0.0, 1.0)])
def test_draws_one_by_one(interval: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    hashes, strata = rng.integers(0, 25, 80).astype(np.uint64), rng.integers(0, 3, 80).astype(np.uint32)
    for copies in (np.ones(80), rng.integers(1, 40, 80).astype(float)):
        weights = RowWeights(copies, 80)
        rows = splitting.RowsByContent(order_of(hashes, 7), strata, weights, copies, np.arange(80.0)[:, None])
        assert rows.draws(interval).tolist() == naive_draws(rows.keys, strata, copies, interval)
    keys = order_of(np.arange(80, dtype=np.uint64), 7)
    once = splitting.RowsByContent(keys, strata, weights, np.ones(80), np.ones((80, 1)))
    np.testing.assert_array_equal(once.draws(interval), once.distinct_rows(interval))


def test_as_many_folds_as_rows() -> None:
    keys = np.random.default_rng(0).integers(0, 2**63, 38).astype(np.uint64)
    for n in range(2, 39):
        given = (np.zeros(n, dtype=np.uint32), RowWeights(None, n), np.ones(n), np.ones((n, 1)))
        rows = splitting.RowsByContent(order_of(keys[:n], 7), *given)
        assert [rows.draws((k / n, (k + 1) / n)).sum() for k in range(n)] == [1] * n


def test_heavy_rows_are_dealt_out_in_lumps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MOST_UNITS", 300)
    X, y = draws(2)
    cells, labels, counts = counted(X, y)
    copies, weighted = prepare(DeepBoostClassifier(), X, y), prepare(DeepBoostClassifier(), cells, labels, counts)
    held = [held_of(copies, part)[1] for part in THIRDS]
    assert held == [held_of(weighted, part)[1] for part in THIRDS]
    assert all(sum(one.get(row, 0.0) for one in held) == n for row, n in totals(cells, labels, counts).items())
    lump = 8.0  # the least power of 2 that leaves no more than 300
    assert sum(n % lump == 0.0 for one in held for n in one.values()) > 0.5 * sum(map(len, held))


def test_equal_cells_with_other_targets_are_draws_of_their_own() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 3, (300, 2)).astype(float), np.round(rng.normal(size=300), 1)
    X[:40, 0] = np.arange(40) + 5.0  # rows without a copy
    order = rng.permutation(300)
    rows, moved = (prepare(RGBRegressor(), X[i], y[i], regression=True) for i in (slice(None), order))
    for part in THIRDS:
        (_, held, places), (_, again, others) = rows.hold_back(part, 3, 1), moved.hold_back(part, 3, 1)
        assert len(places) == pytest.approx(100, abs=1)
        pairs = [sorted(zip(one.X[:, 0], one.X[:, 1], one.targets, strict=True)) for one in (held, again)]
        assert pairs[0] == pairs[1]
        assert len(others) == len(places)
    cells = {tuple(row) for row in X[places].tolist()}
    assert cells & {tuple(row) for row in np.delete(X, places, axis=0).tolist()}


def test_class_weights_are_no_numbers_of_copies() -> None:
    X, y = draws(2, 300)
    cells, labels, counts = counted(X, y)
    for given in ({0: 1, 1: 5}, "balanced"):
        estimator = DeepBoostClassifier(class_weight=given)
        copies, weighted = prepare(estimator, X, y), prepare(estimator, cells, labels, counts)
        plain = prepare(DeepBoostClassifier(), X, y)
        for part in THIRDS:
            held, of_plain = held_of(copies, part)[1], held_of(plain, part)[1]
            assert held == {row: pytest.approx(n) for row, n in held_of(weighted, part)[1].items()}
            unit = copies.class_units
            assert held == {row: pytest.approx(n * unit[int(row[2])]) for row, n in of_plain.items()}


def test_weights_that_are_no_numbers_of_copies() -> None:
    X, y = draws(2, 400)
    weights = np.random.default_rng(0).random(400) * 2.0 + 0.1
    rows = prepare(DeepBoostClassifier(), X, y, weights)
    order = np.random.default_rng(1).permutation(400)
    moved = prepare(DeepBoostClassifier(), X[order], y[order], weights[order])
    whole = totals(X, y, weights)
    for part in THIRDS:
        learned, held = held_of(rows, part)
        assert {row: pytest.approx(learned.get(row, 0.0) + held.get(row, 0.0)) for row in whole} == whole
        again, watched, _ = moved.hold_back(part, 3, 1)
        first, second, _ = rows.hold_back(part, 3, 1)
        assert sorted(again.weights.tolist()) == sorted(first.weights.tolist())
        assert sorted(watched.weights.tolist()) == sorted(second.weights.tolist())
        assert min(first.weights.min(), second.weights.min()) > 1e-8


def test_copies_that_several_workers_have() -> None:
    X, y = draws(3, 300)
    weights = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    for given in (None, weights):
        rows = prepare(DeepBoostClassifier(), X, y, given)
        expected = held_of(rows, THIRDS[1])
        parts = split_at_random(rows.n_rows, 3, np.random.default_rng(5), empty=1)
        found = ThreadGroup(3).run(
            lambda rank, collective, rows=rows, parts=parts: held_of(
                part_of(rows, rows.order[parts[rank]], collective), THIRDS[1]
            )
        )
        for place in range(2):
            assert sum((Counter(worker[place]) for worker in found), Counter()) == expected[place]


def test_copies_with_costs_of_their_own_are_told_apart() -> None:
    X, y = draws(2, 300)
    cost = np.random.default_rng(0).integers(0, 9, (300, 2)).astype(float)
    order = np.random.default_rng(1).permutation(300)
    found = [
        SoftmaxBoostClassifier(5, early_stopping=2, random_state=0, n_jobs=1).fit(X[i], y[i], cost=cost[i])
        for i in (slice(None), order)
    ]
    assert found[0].history_ == found[1].history_
    np.testing.assert_array_equal(*(one.decision_function(CELLS) for one in found))
