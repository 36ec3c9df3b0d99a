"""Rows that are prepared once are learned from many times, with the models that `fit` makes."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from boosting_cases import CASES, everything, four, numbers, two
from fingerprints import fractions
from prepared_rows import prepare
from radboost import DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier, TreeOptions
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from radboost.estimators import learn
from radboost.rows.content import content_digests
from radboost.rows.fields import Rows
from radboost.rows.prepare import PreparedRows

pytestmark = pytest.mark.filterwarnings("ignore:The model")

WITHOUT_MORE = [name for name, case in CASES.items() if not set(case.fit()) - {"sample_weight"}]


@pytest.mark.parametrize("name", WITHOUT_MORE)
def test_fit_is_prepare_and_learn(name: str) -> None:
    case = CASES[name]
    model = case.model()
    (X, y), weights = case.data(), case.fit().get("sample_weight")
    prepared = prepare(clone(model), X, y, weights, regression=isinstance(model, RGBRegressor))
    learned = learn(model, prepared)
    assert everything(learned) == case.whole
    assert not hasattr(model, "ensemble_")
    np.testing.assert_array_equal(learned.predict(X), case.plain.predict(X))


def test_many_models_from_the_same_rows() -> None:
    X, y = two()
    weights = fractions(len(y))
    prepared = prepare(DeepBoostClassifier(), X, y, weights)
    models = [
        DeepBoostClassifier(4),
        DeepBoostClassifier(4, max_depth=2, early_stopping=3),
        SoftmaxBoostClassifier(4),
        RGBClassifier(4),
        AdaBoostMHClassifier(4),
        SAMMEClassifier(4),
        MartiBoostClassifier(4),
    ]
    before = {field.name: getattr(prepared, field.name) for field in fields(prepared)}
    for model in [*models, *models]:
        expected = clone(model).fit(X, y, sample_weight=weights)
        assert everything(learn(model, prepared)) == everything(expected)
    assert all(getattr(prepared, name) is value for name, value in before.items())


def test_learning_goes_on_from_an_earlier_state() -> None:
    prepared = prepare(DeepBoostClassifier(), *two())
    first = learn(DeepBoostClassifier(3, warm_start=True), prepared)
    longer = learn(first.set_params(n_rounds=8), prepared)
    assert first.n_iter_ == 3
    assert everything(longer) == everything(DeepBoostClassifier(8).fit(*two()))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(3))
def test_a_part_of_the_rows(seed: int, kind: str) -> None:
    """Columns of few values, all of which a third of the rows have: bins of a part are those of the whole."""
    X, y = four()
    X = np.tile(np.round(X[: len(X) // 3, :3]), (3, 1))
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(y)).astype(float)
    rows = sparse.csr_array(X) if kind == "sparse" else X
    prepared = prepare(DeepBoostClassifier(), rows, y, weights)
    third = np.arange(len(y)) < len(y) // 3
    chosen = rng.permutation(np.flatnonzero(third | (rng.random(len(y)) < 0.3)))
    part = prepared.select(chosen)
    assert isinstance(part, PreparedRows)
    assert part.n_rows == len(chosen) < prepared.n_rows
    for model in (DeepBoostClassifier(5), SoftmaxBoostClassifier(5), RGBClassifier(5), SAMMEClassifier(5)):
        inside = np.sort(chosen)
        expected = clone(model).fit(rows[inside], y[inside], sample_weight=weights[inside])
        assert everything(learn(model, part)) == everything(expected)
    mask = np.zeros(len(y), dtype=bool)
    mask[chosen] = True
    np.testing.assert_array_equal(prepared.select(mask).order, part.order)
    np.testing.assert_array_equal(part.class_ids, y[part.order])
    np.testing.assert_array_equal(part.weights, weights[part.order])  # type: ignore[arg-type]


def test_parts_keep_bins_and_classes_of_the_whole() -> None:
    X, y = four()
    prepared = prepare(DeepBoostClassifier(), X, y)
    part = prepared.select(y != 3)
    assert list(part.known_classes) == [0, 1, 2, 3]
    np.testing.assert_array_equal(part.data.n_bins(), prepared.data.n_bins())
    model = learn(DeepBoostClassifier(4), part)
    assert model.decision_function(X).shape == (len(X), 4)
    assert 3 not in model.predict(X)


def test_rows_of_regression() -> None:
    X, t = numbers()
    prepared = prepare(RGBRegressor(), X, t, regression=True)
    assert prepared.classes is None
    np.testing.assert_array_equal(prepared.targets, t)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no classes"):
        _ = prepared.known_classes
    chosen = np.arange(0, len(t), 2)
    np.testing.assert_array_equal(prepared.select(chosen).targets, t[chosen])  # type: ignore[arg-type]


def test_other_bins_are_refused() -> None:
    prepared = prepare(DeepBoostClassifier(), *two(), max_bins=16)
    with pytest.raises(ValueError, match="prepared with 16 bins, and this estimator has 255"):
        learn(DeepBoostClassifier(3), prepared)
    learned = learn(DeepBoostClassifier(3, tree_options=TreeOptions(max_bins=16)), prepared)
    assert everything(learned) == everything(DeepBoostClassifier(3, tree_options=TreeOptions(max_bins=16)).fit(*two()))


def digests(rows: PreparedRows) -> dict[str, str]:
    return content_digests(rows, 1, in_any_order=False)


def test_what_tells_rows_from_others() -> None:
    X, y = two()
    known = digests(prepare(DeepBoostClassifier(), X, y))
    assert known == digests(prepare(DeepBoostClassifier(), np.asfortranarray(X), y))
    for part, other in {
        "rows": prepare(DeepBoostClassifier(), np.where(X[0, 0] == X, X[0, 0] + 1, X), y),
        "labels": prepare(DeepBoostClassifier(), X, np.where(y == 1, 5, 0)),
        "weights": prepare(DeepBoostClassifier(), X, y, fractions(len(y)) + 1),
        "offsets": prepare(DeepBoostClassifier(), X, y, offset=np.ones(len(y))),
    }.items():
        assert {name for name, _ in known.items() ^ digests(other).items()} == {part}


def test_digests_of_rows_in_any_order() -> None:
    """Labels, targets and weights of validation rows count with the row that they belong to."""
    X, y = two()
    rows, order = prepare(DeepBoostClassifier(), X, y), np.random.default_rng(0).permutation(len(y))
    assert content_digests(rows, 1) == content_digests(prepare(DeepBoostClassifier(), X[order], y[order]), 1)

    def of_validation(labels: list[int], targets: list[float], weights: list[float]) -> tuple[str, ...]:
        watched = Rows(X[:2], np.array(labels, dtype=np.uint16), np.array(weights), np.array(targets))
        return tuple(content_digests(replace(rows, validation=watched), 1).values())

    given = ([0, 1], [2.0, 3.0], [4.0, 5.0])
    others = [(*given[:k], given[k][::-1], *given[k + 1 :]) for k in range(3)]
    assert len({of_validation(*one) for one in (given, *others)}) == 4
