"""Tables with few different rows: copies of cells with several classes are held back one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from collective_tools import ThreadGroup, split_at_random
from radboost import DeepBoostClassifier, RGBClassifier, SoftmaxBoostClassifier
from radboost.calibration import JudgedRows, fit_calibration
from radboost.rows import splitting
from radboost.rows.prepare import PreparedRows, prepare
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
    judged = JudgedRows(RowWeights(1e6 * true.reshape(-1), len(ids)), ids, scores)
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


def test_only_tables_with_few_different_rows_are_dealt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    some, labels = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    once = np.vstack([some, some[:20]]), np.concatenate([labels, 1 - labels[:20]])
    copied = np.repeat(some, 3, axis=0), np.repeat(labels, 3)
    few = np.vstack([np.repeat(some, 3, axis=0), some[:5]]), np.concatenate([np.repeat(labels, 3), 1 - labels[:5]])
    for X, y in (once, copied, few):
        rows = prepare(DeepBoostClassifier(), X, y)
        dealt = [held_of(rows, part) for part in THIRDS]
        with monkeypatch.context() as patch:
            patch.setattr(splitting.RowsByContent, "any_copies", lambda self: False)
            assert [held_of(rows, part) for part in THIRDS] == dealt
    X, y = draws(2)
    rows = prepare(DeepBoostClassifier(), np.vstack([X, [[9.0, 9.0]] * 50]), np.concatenate([y, np.zeros(50, int)]))
    assert sorted(held_of(rows, part)[1].get((9.0, 9.0, 0), 0.0) for part in THIRDS) == [0.0, 0.0, 50.0]


def test_units_one_by_one() -> None:
    rng = np.random.default_rng(0)
    amounts = np.concatenate([rng.integers(1, 40, 30), [2000, 5000], rng.random(5) * 9]).astype(float)
    keys, first = rng.integers(0, 2**63, len(amounts)).astype(np.uint64), rng.random(len(amounts)) < 0.3
    found = splitting._held_of(amounts, keys, first, (0.2, 0.6))
    for amount, key, is_held, held in zip(amounts, keys, first, found, strict=True):
        n_units = min(max(1, int(amount)), splitting.MOST_UNITS)
        ends = [unit * int(amount) // n_units if amount % 1 == 0 else unit for unit in range(n_units)] + [amount]
        expected = ends[1] if is_held else 0.0
        for unit in range(1, n_units):
            if 0.2 <= splitting._uniform(np.array([key]), unit)[0] < 0.6:
                expected += ends[unit + 1] - ends[unit]
        assert held == pytest.approx(expected, rel=1e-12)
    assert found.sum() == pytest.approx(0.4 * amounts.sum(), rel=0.1)


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
                rows.part(rows.order[parts[rank]], collective), THIRDS[1]
            )
        )
        for place in range(2):
            together: dict[Any, float] = {}
            for worker in found:
                for row, weight in worker[place].items():
                    together[row] = together.get(row, 0.0) + weight
            assert together == expected[place]


def test_copies_with_costs_of_their_own_stay_together() -> None:
    X, y = draws(2, 300)
    rows = prepare(DeepBoostClassifier(), X, y)
    costs: Any = object()
    _, held = held_of(rows, THIRDS[0])
    _, watched, _ = replace(rows, costs=costs).hold_back(THIRDS[0], 3, 1)
    whole = totals(X, y, np.ones(300))
    kept = totals(np.asarray(watched.X), watched.class_ids, np.ones(len(watched.class_ids)))
    assert all(whole[row] == weight for row, weight in kept.items())
    assert any(whole[row] != weight for row, weight in held.items())


def test_cells_of_several_classes() -> None:
    cells, ids = np.array([5, 3, 5, 3, 7, 3], dtype=np.uint64), np.array([0, 1, 1, 1, 0, 1], dtype=np.uint16)
    found = splitting._of_several_classes(cells, ids)
    assert found.tolist() == [True, False, True, False, False, False]
    assert splitting._of_several_classes(cells[:0], ids[:0]).tolist() == []
    rows = splitting.RowsByContent.of(cells.copy(), ids.astype(np.uint32), 0, RowWeights(None, 6))
    assert rows.any_copies()
