"""What users may do to SoftmaxBoostClassifier, and what they are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from radboost import SoftmaxBoostClassifier, load
from radboost.estimators import softmax

X, Y = load_wine(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[Y]
MATRIX = np.array([[0.0, 5.0, 5.0], [1.0, 0.0, 1.0], [1.0, 2.0, 0.0]])


@pytest.mark.parametrize("constant", [1.0, 1e8])
def test_a_constant_in_a_row_of_costs_changes_only_what_is_paid(constant: float) -> None:
    plain = SoftmaxBoostClassifier(20, cost=MATRIX).fit(X, Y)
    constants = constant * np.array([1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="diagonal"):
        shifted = SoftmaxBoostClassifier(20, cost=MATRIX + constants[:, None]).fit(X, Y)
    np.testing.assert_array_equal(shifted.decision_function(X), plain.decision_function(X))
    paid = np.array(plain.history_["objective"]) + constants[Y].mean()
    np.testing.assert_allclose(shifted.history_["objective"], paid, rtol=1e-12)
    plain = SoftmaxBoostClassifier(20).fit(X, Y, cost=MATRIX[Y])
    shifted = SoftmaxBoostClassifier(20).fit(X, Y, cost=(MATRIX + constants[:, None])[Y])
    np.testing.assert_array_equal(shifted.decision_function(X), plain.decision_function(X))
    paid = np.array(plain.history_["objective"]) + constants[Y].mean()
    np.testing.assert_allclose(shifted.history_["objective"], paid, rtol=1e-12)


def test_the_history_of_watched_rows_is_in_the_unit_of_the_costs() -> None:
    settings: dict[str, Any] = {"n_rounds": 15, "early_stopping": 30}
    plain = SoftmaxBoostClassifier(**settings).fit(X, Y, cost=MATRIX[Y])
    shifted = SoftmaxBoostClassifier(**settings).fit(X, Y, cost=(MATRIX + 7.0)[Y])
    for name in ("objective", "validation_loss"):
        np.testing.assert_allclose(shifted.history_[name], np.array(plain.history_[name]) + 7.0, rtol=1e-12)


def test_frames_of_costs_name_their_classes() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(MATRIX, index=list("abc"), columns=list("abc"))
    plain = SoftmaxBoostClassifier(10, cost=MATRIX).fit(X, NAMES)
    turned = SoftmaxBoostClassifier(10, cost=frame.loc[list("cab"), list("bca")]).fit(X, NAMES)
    np.testing.assert_array_equal(turned.cost_, MATRIX)
    np.testing.assert_array_equal(turned.decision_function(X), plain.decision_function(X))
    unnamed = SoftmaxBoostClassifier(10, cost=pd.DataFrame(MATRIX)).fit(X, NAMES)
    np.testing.assert_array_equal(unnamed.cost_, MATRIX)
    rows = frame.loc[NAMES].reset_index(drop=True)
    plain = SoftmaxBoostClassifier(10).fit(X, NAMES, cost=MATRIX[Y])
    turned = SoftmaxBoostClassifier(10).fit(X, NAMES, cost=rows[list("cab")])
    np.testing.assert_array_equal(turned.decision_function(X), plain.decision_function(X))
    with pytest.raises(
        ValueError, match=r"columns of cost are named \['z', 'b', 'c'\].*classes in y are \['a', 'b', 'c'\]"
    ):
        SoftmaxBoostClassifier(10, cost=frame.rename(columns={"a": "z"})).fit(X, NAMES)
    with pytest.raises(ValueError, match="rows of cost are named"):
        SoftmaxBoostClassifier(10, cost=frame.rename(index={"a": "z"})).fit(X, NAMES)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda cost: np.ma.MaskedArray(cost, np.arange(cost.size).reshape(cost.shape) == 1), "cost is a masked array"),
        (lambda cost: cost.astype(int).astype("M8[s]"), "cost must hold"),
        (lambda cost: cost.astype(int).astype("m8[s]"), "cost must hold"),
        (lambda cost: cost + 0j, "cost must hold"),
        (lambda cost: [[np.timedelta64(int(c), "s") for c in line] for line in cost], "cost must hold"),
    ],
    ids=["mask", "dates", "differences", "complex", "objects"],
)
def test_costs_that_are_no_numbers_are_refused(spoil: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SoftmaxBoostClassifier(3, cost=spoil(MATRIX)).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        SoftmaxBoostClassifier(3).fit(X, Y, cost=spoil(MATRIX[Y]))


def test_masks_and_tables_of_costs_that_hide_nothing() -> None:
    import pyarrow as pa

    plain = SoftmaxBoostClassifier(3, cost=MATRIX).fit(X, Y)
    model = SoftmaxBoostClassifier(3, cost=np.ma.MaskedArray(MATRIX)).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    plain = SoftmaxBoostClassifier(3).fit(X, NAMES, cost=MATRIX[Y])
    table = pa.table({name: MATRIX[Y][:, k] for k, name in enumerate("abc")}).select(["c", "a", "b"])
    model = SoftmaxBoostClassifier(3).fit(X, NAMES, cost=table)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_costs_of_weighted_rows_must_differ() -> None:
    costs, weights = np.zeros((len(Y), 3)), np.ones(len(Y))
    costs[0], weights[0] = [0.0, 1.0, 1.0], 0.0
    with pytest.raises(ValueError, match=r"same for every answer.*positive weight"):
        SoftmaxBoostClassifier(3).fit(X, Y, cost=costs, sample_weight=weights)


def test_files_keep_the_given_costs_and_those_of_the_fit(tmp_path: Any) -> None:
    file = tmp_path / "model.radboost"
    SoftmaxBoostClassifier(4).fit(X, Y).save(file)
    loaded = load(file)
    assert loaded.cost is None
    np.testing.assert_array_equal(loaded.cost_, 1 - np.eye(3))
    two = Y < 2
    assert len(loaded.fit(X[two], Y[two]).classes_) == 2
    SoftmaxBoostClassifier(4, cost=MATRIX).fit(X, Y, cost=MATRIX[Y] + 1.0).save(file)
    loaded = load(file)
    assert loaded.cost == MATRIX.tolist()
    assert loaded.cost_ is None
    with pytest.raises(ValueError, match="needs a cost matrix"):
        loaded.set_params(decision="minimum_cost").predict(X)


def test_draws_grow_neither_with_rows_nor_with_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(150, 4))
    labels = (rows[:, 0] > 0).astype(int)
    made = []
    descent = softmax.SoftmaxDescent
    monkeypatch.setattr(
        softmax, "SoftmaxDescent", lambda *given, **named: made.append(given[3]) or descent(*given, **named)
    )

    def drawn(X: Any, y: Any, weights: Any = None, **parameters: Any) -> int:
        SoftmaxBoostClassifier(2, calibration=None, **parameters).fit(X, y, weights)
        return int(made[-1].n_samples)

    assert drawn(rows, labels) == 150
    assert drawn(rows, labels, np.full(150, 3.0)) == drawn(np.repeat(rows, 3, axis=0), np.repeat(labels, 3)) == 450
    assert drawn(rows, labels, np.full(150, 1e6)) == 16 * 150
    many = rng.normal(size=(40_000, 2))
    assert drawn(many, (many[:, 0] > 0).astype(int)) == 2 * 4096
    assert drawn(many, np.digitize(many[:, 0], np.linspace(-1.5, 1.5, 11))) == 32_768
    assert drawn(many, (many[:, 0] > 0).astype(int), samples_per_round="rows") == 40_000
    assert drawn(rows, labels, np.full(150, 1000.0), samples_per_round=150) == 150
    assert SoftmaxBoostClassifier.paper().samples_per_round == "rows"
