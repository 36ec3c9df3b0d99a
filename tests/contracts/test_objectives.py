"""What every registered objective promises, for two classes and for more; a new one joins by being listed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from radboost._native import HypothesisColumns
from radboost.losses import MarginLoss, get_loss
from radboost.objectives import OBJECTIVES, Objective, resolve_objective, row_cost
from radboost.penalties import closed_form_step, on_grid
from reference import losses
from reference.multiclass import Objective as Naive
from reference.multiclass import Sums, base_margin, make_objective, row_losses

GRID = 2.0**20


class Own(MarginLoss):
    """A loss without a kernel."""

    def __init__(self, name: str) -> None:
        self._known = losses.LOSSES[name]

    def value(self, u: np.ndarray) -> np.ndarray:
        assert u.ndim == 1
        return self._known.value(u)

    def derivative(self, u: np.ndarray) -> np.ndarray:
        assert u.ndim == 1
        return self._known.derivative(u)


def loss_object(name: str) -> Any:
    return get_loss(name) if name in ("exponential", "logistic") else Own(name.removeprefix("own "))


def naive_loss(name: str) -> losses.Loss:
    return losses.LOSSES[name.removeprefix("own ")]


def probabilities(name: str, loss: Any, scores: np.ndarray) -> np.ndarray:
    """With a column for each class, or with the one margin of two classes."""
    n_classes = 2 if scores.ndim == 1 else scores.shape[1]
    return row_cost(name, n_classes).probabilities(loss, scores)


LOSS_NAMES = ("exponential", "logistic", "own logistic", "own smooth_hinge")
NATIVE = sorted(name for name, cost in OBJECTIVES.items() if cost.native)
IN_NUMPY = sorted(set(OBJECTIVES) - set(NATIVE))
PAIRS = [(name, loss) for name in NATIVE for loss in LOSS_NAMES if name != "compsum" or loss == "logistic"]
EVERY = pytest.mark.parametrize(("name", "loss", "n_classes"), [(*pair, n) for pair in PAIRS for n in (2, 3, 5)])


class Rows:
    """Training rows with their hypotheses; f and s are kept beside the objective."""

    def __init__(self, n: int, n_classes: int, seed: int, weighted: bool = True) -> None:
        self.rng = np.random.default_rng([seed, n_classes])
        self.n, self.n_classes = n, n_classes
        self.y = np.sort(self.rng.integers(0, n_classes, n)).astype(np.uint16)
        self.w = self.rng.random(n) + 0.2 if weighted else np.ones(n)
        self.columns = HypothesisColumns(n, n_classes)
        self.f, self.s = np.zeros((n, n_classes)), np.zeros(n)

    def objective(self, name: str, loss: str, n_threads: int = 1) -> Objective:
        return Objective(name, loss_object(loss), self.y, self.n_classes, self.w, n_threads)

    def add(self, right: float = 0.5) -> tuple[int, np.ndarray]:
        """A hypothesis that is right in this share of the rows, and one of its mistakes is to abstain."""
        low = -1 if self.n_classes > 2 else 0
        guess = self.rng.integers(low, self.n_classes, self.n)
        answers = np.where(self.rng.random(self.n) < right, self.y, guess).astype(np.int32)
        slot = self.columns.take_slot()
        self.columns.set_answers(slot, np.arange(self.n, dtype=np.int32), answers, 1)
        h = np.zeros((self.n, self.n_classes))
        h[np.flatnonzero(answers >= 0), answers[answers >= 0]] = 1.0
        return slot, h

    def naive(self, name: str, loss: str) -> Naive:
        return make_objective(name, naive_loss(loss), self.y, self.w, self.n_classes)

    def at(self) -> Sums:
        return Sums(self.f, self.s)

    def step(self, objective: Objective, slot: int, h: np.ndarray, eta: float) -> None:
        objective.step(self.columns, slot, eta)
        self.f += eta * h
        self.s += eta * base_margin(h, self.y)

    def loss_at(self, name: str, loss: str, h: np.ndarray, eta: float) -> float:
        return self.naive(name, loss).value(self.at().moved(eta, h, self.y))

    def scores(self) -> np.ndarray:
        return self.f[:, 1] - self.f[:, 0] if self.n_classes == 2 else self.f


@EVERY
def test_rounds(name: str, loss: str, n_classes: int) -> None:
    rows = Rows(33, n_classes, 0)
    objective = rows.objective(name, loss)
    assert objective.name == name
    assert objective.n_classes == n_classes
    assert objective.total_weight == pytest.approx(rows.w.sum(), rel=1e-15)
    assert objective.smooth == (n_classes == 2 or name != "max")
    for _ in range(4):
        found = objective.reweigh()
        naive, at = rows.naive(name, loss), rows.at()
        slot, h = rows.add()
        assert found.loss == pytest.approx(rows.loss_at(name, loss, h, 0.0), rel=1e-12)
        assert found.slope == pytest.approx(naive.normaliser(at) / naive.m, rel=1e-12)
        assert found.error == pytest.approx(naive.error(at), rel=1e-12)
        growing, shrinking = objective.edges(rows.columns)
        assert growing[slot] == pytest.approx(naive.edge(at, h), abs=1e-7)
        assert shrinking[slot] == pytest.approx(naive.edge(at, h, shrinking=True), abs=1e-7)
        assert np.array_equal(growing, shrinking) or not objective.smooth
        rows.step(objective, slot, h, 0.375)


@EVERY
def test_derivative_along_a_line(name: str, loss: str, n_classes: int) -> None:
    rows = Rows(29, n_classes, 1)
    objective = rows.objective(name, loss)
    for _ in range(2):
        rows.step(objective, *rows.add(), 0.3125)
    slot, h = rows.add()
    state = objective.reweigh()
    for eta in (0.0, 0.7, 4.0, -0.4):
        found, derivative = rows.loss_at(name, loss, h, eta), objective.slope_along(rows.columns, slot, eta)
        below = (found - rows.loss_at(name, loss, h, eta - 1e-6)) / 1e-6
        above = (rows.loss_at(name, loss, h, eta + 1e-6) - found) / 1e-6
        slack = 1e-4 * max(1.0, abs(derivative), found)
        assert below - slack <= derivative <= above + slack
    edge = objective.edges(rows.columns)[0][slot]
    assert objective.slope_along(rows.columns, slot, 0.0) == pytest.approx(-state.slope * edge, abs=1e-6 * state.slope)


@EVERY
def test_the_closed_form_goes_down(name: str, loss: str, n_classes: int) -> None:
    """E.2, F.2, G.2: the step that minimises the bound never raises the loss, and steps keep to the grid."""
    rows = Rows(60, n_classes, 2)
    objective = rows.objective(name, loss)
    native = not loss.startswith("own")
    assert objective.has_closed_form == (native and (n_classes == 2 or name != "max"))
    if not objective.has_closed_form:
        return
    before = objective.reweigh()
    for k in range(8):
        slot, _ = rows.add(0.75)
        edge = objective.edges(rows.columns)[0][slot]
        if edge <= 0.0:
            continue
        eta = closed_form_step(edge, 0.0, 0.01 * (k % 2), signed=n_classes == 2)
        objective.step(rows.columns, slot, on_grid(eta, objective.step_grid))
        after = objective.reweigh()
        assert after.loss <= before.loss * (1 + 1e-12)
        before = after


@EVERY
def test_losses_of_rows_given_by_their_scores(name: str, loss: str, n_classes: int) -> None:
    rows = Rows(31, n_classes, 3)
    objective = rows.objective(name, loss)
    for _ in range(3):
        rows.step(objective, *rows.add(), 0.4375)
    found = objective.row_losses(rows.scores(), rows.y)
    stand_in = "max" if name == "maxsum" and n_classes > 2 else name
    known = row_losses(stand_in, naive_loss(loss), rows.f, base_margin(rows.f, rows.y), rows.y)
    np.testing.assert_allclose(found, known, rtol=1e-12)
    mean = float(np.sum(rows.w * found) / rows.w.sum())
    if stand_in == name:
        assert objective.reweigh().loss == pytest.approx(mean, rel=1e-12)
    else:
        assert objective.reweigh().loss >= mean * (1 - 1e-12)


@EVERY
def test_edges_of_values(name: str, loss: str, n_classes: int) -> None:
    """Each channel is the hypothesis that gives the values to one class; with two classes they are the margin's."""
    rows = Rows(40, n_classes, 4)
    objective = rows.objective(name, loss)
    rows.step(objective, *rows.add(), 0.5)
    objective.reweigh()
    values = (np.rint(rows.rng.random((3, 40)) * GRID) / GRID).astype(np.float32)
    found = objective.value_edges(values)
    assert found.shape == (3, 1 if n_classes == 2 else n_classes)
    channels = [1] if n_classes == 2 else range(n_classes)
    for k, row in enumerate(values):
        for place, channel in enumerate(channels):
            slot = rows.columns.add_values(row, channel)
            assert objective.edges(rows.columns)[0][slot] == pytest.approx(found[k, place], rel=1e-14)


def edges(objective: Objective, columns: HypothesisColumns) -> list[list[float]]:
    return [side.tolist() for side in objective.edges(columns)]


@pytest.mark.parametrize("n_classes", [3, 4])
@pytest.mark.parametrize("loss", ["logistic", "own smooth_hinge"])
@pytest.mark.parametrize("name", NATIVE)
def test_threads_order_and_copies(name: str, loss: str, n_classes: int) -> None:
    """A user's own loss included: the same bits for every thread count, order within classes, and split of weights."""
    if name == "compsum" and loss != "logistic":
        return
    rows = Rows(50, n_classes, 5)
    rows.w = rows.rng.integers(1, 4, 50).astype(float)
    answers = rows.rng.integers(-1, n_classes, (3, 50)).astype(np.int32)

    def play(places: np.ndarray, w: np.ndarray | None, n_threads: int) -> list[Any]:
        y = rows.y[places]
        objective = Objective(name, loss_object(loss), y, n_classes, w, n_threads)
        columns = HypothesisColumns(len(places), n_classes)
        kept: list[Any] = []
        for row in answers:
            slot = columns.take_slot()
            columns.set_answers(slot, np.arange(len(places), dtype=np.int32), row[places], n_threads)
            kept += [*objective.reweigh(), edges(objective, columns), objective.slope_along(columns, slot, 0.3)]
            objective.step(columns, slot, 0.625)
        return kept

    one = play(np.arange(50), rows.w, 1)
    assert play(np.arange(50), rows.w, 3) == one
    shuffled = np.lexsort((rows.rng.random(50), rows.y))
    assert play(shuffled, rows.w[shuffled], 1) == one
    assert play(np.repeat(np.arange(50), rows.w.astype(int)), None, 2) == one


@pytest.mark.parametrize("loss", ["exponential", "logistic", "own smooth_hinge"])
def test_two_classes_know_one_objective(loss: str) -> None:
    """ERRATA 10: with two classes all four are the margin's, with the loss they were given."""
    known = None
    for name in NATIVE:
        if name == "compsum" and loss != "logistic":
            continue
        rows = Rows(30, 2, 6)
        objective = rows.objective(name, loss)
        assert objective.signed
        assert objective.smooth
        slot, h = rows.add()
        objective.reweigh()
        rows.step(objective, slot, h, 0.25)
        p = probabilities(name, loss_object(loss), rows.scores())
        found = (objective.reweigh(), edges(objective, rows.columns), p.tolist())
        assert known is None or found == known
        known = found


@pytest.mark.parametrize("n_classes", [3, 6])
@pytest.mark.parametrize(
    ("name", "loss"),
    [("sum", "exponential"), ("sum", "logistic"), ("sum", "own smooth_hinge"), ("compsum", "logistic")],
)
def test_probabilities_are_those_that_the_scores_minimise(name: str, loss: str, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    for _ in range(4):
        p = rng.dirichlet(np.full(n_classes, 2.0))

        def expected(f: np.ndarray, p: np.ndarray = p) -> float:
            each = make_objective(name, naive_loss(loss), np.arange(n_classes), p)
            return each.value(Sums(np.tile(f, (n_classes, 1)), np.zeros(n_classes)))

        best = minimize(expected, np.zeros(n_classes), options={"gtol": 1e-9})
        found = probabilities(name, loss_object(loss), best.x[None, :])
        np.testing.assert_allclose(found[0], p, atol=2e-6)


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_probabilities_of_two_classes(loss: str) -> None:
    phi = naive_loss(loss)
    for p in (0.1, 0.5, 0.8):
        best = minimize(
            lambda f, p=p: float(p * phi.value(1 - f)[0] + (1 - p) * phi.value(1 + f)[0]), np.zeros(1), tol=1e-12
        )
        found = probabilities("sum", loss_object(loss), best.x)
        np.testing.assert_allclose(found, [[1 - p, p]], atol=2e-5)


@EVERY
def test_probabilities_are_probabilities(name: str, loss: str, n_classes: int) -> None:
    """At any scores: they sum to one, follow the order of the scores, and know nothing of a common shift."""
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(200, n_classes)) * 10.0 ** rng.integers(-2, 4, (200, 1))
    scores[0], scores[1] = 0.0, np.arange(n_classes) * 900.0
    given = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    found = probabilities(name, loss_object(loss), given)
    assert found.shape == scores.shape
    assert np.all((found >= 0) & (found <= 1))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(found[0], 1.0 / n_classes, rtol=1e-12)
    order = np.argsort(scores, axis=1)
    assert np.all(np.diff(np.take_along_axis(found, order, axis=1), axis=1) >= -1e-12)
    if n_classes > 2:
        rounded = np.round(scores, 3)
        here, there = (probabilities(name, loss_object(loss), rounded + shift) for shift in (0.0, 7.0))
        np.testing.assert_allclose(here, there, atol=1e-9)
    assert probabilities(name, loss_object(loss), given[:0]).shape == (0, n_classes)


@pytest.mark.parametrize("loss", ["logistic", "own smooth_hinge"])
@pytest.mark.parametrize("name", IN_NUMPY)
def test_an_objective_in_numpy(name: str, loss: str) -> None:
    """Its weights D, and its derivative along a line, are those of the mean of `row_losses`, by differences."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 4, 30)).astype(np.uint16)
    objective = Objective(name, loss_object(loss), y, 4, None, 1)
    scores = rng.integers(-8, 8, (30, 4)) / 8.0
    objective.start_from(scores)
    state = objective.reweigh()
    assert state.loss == pytest.approx(objective.row_losses(scores, y).mean(), rel=1e-12)
    values = (rng.integers(0, 8, (3, 30)) / 8.0).astype(np.float32)
    columns = HypothesisColumns(30, 4)
    for h, edges_of_h in zip(values, objective.value_edges(values), strict=True):
        for k in range(4):
            moved = np.zeros_like(scores)
            moved[:, k] = 1e-5 * h
            ends = [objective.row_losses(scores + sign * moved, y).mean() for sign in (1.0, -1.0)]
            assert -state.slope * edges_of_h[k] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)
            assert objective.slope_along(columns, columns.add_values(h, k), 0.0) == pytest.approx(
                -state.slope * edges_of_h[k], abs=1e-7
            )


def test_names() -> None:
    exponential, logistic = get_loss("exponential"), get_loss("logistic")
    assert resolve_objective("sum", exponential) == "sum"
    assert resolve_objective("sum", Own("logistic")) == "sum"
    assert [resolve_objective(name, logistic) for name in NATIVE] == NATIVE
    for unknown in ("mean", None, 3):
        with pytest.raises(ValueError, match=r"(?s)objective.*'compsum'.*'max'.*'maxsum'.*'sum'"):
            resolve_objective(unknown, logistic)
    for loss in (exponential, Own("logistic")):
        for n_classes in (2, 3):
            with pytest.raises(ValueError, match=r"(?s)compsum.*got loss=.*Use .*logistic"):
                Objective("compsum", loss, np.arange(n_classes, dtype=np.uint16), n_classes, None, 1)


@pytest.mark.parametrize("name", ["sum", "maxsum", "max"])
def test_a_users_loss_is_checked(name: str) -> None:
    class Growing:
        def value(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return targets * scores

        def derivative(self, targets: np.ndarray, scores: np.ndarray) -> np.ndarray:
            return targets

    y = np.array([0, 1, 2], dtype=np.uint16)
    with pytest.raises(ValueError, match=r"Growing\.derivative is positive .* must not increase"):
        Objective(name, get_loss(Growing()), y, 3, None, 1).reweigh()
