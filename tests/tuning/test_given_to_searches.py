"""What searches make of weights, scorers and splits that are given, and of mistakes in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import FitFailedWarning

from radboost import RGBClassifier, RGBClassifierCV
from radboost.tuning import search as searches

X = np.random.default_rng(0).normal(size=(60, 3))


def search(penalties: tuple[float, ...] = (0.0, 0.1), n_rounds: int = 5, **given: Any) -> RGBClassifierCV:
    """Of quick fits, scored by their accuracy."""
    model = RGBClassifier(n_rounds, calibration=None)
    return RGBClassifierCV(model, {"complexity_penalty": penalties}, **{"cv": 2, "scoring": "accuracy", **given})


@pytest.mark.parametrize("seed", [4, 16])
def test_weights_are_copies_for_scorers_too(seed: int) -> None:
    """Few different rows: of the weight of a row a part may be held back, and that part judges."""
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 3, (60, 3)).astype(float)
    y = (draw.random(60) < 0.3 + 0.2 * X[:, 0]).astype(int)
    weights = draw.integers(0, 9, 60)
    copies = np.repeat(np.arange(60), weights)
    weighted, repeated = (search((0.0, 0.1, 0.3, 1.0), 8, cv=3) for _ in range(2))
    weighted.fit(X, y, sample_weight=weights)
    repeated.fit(X[copies], y[copies])
    assert weighted.best_params_ == repeated.best_params_
    found, expected = (one.cv_results_["mean_test_score"] for one in (weighted, repeated))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_one_weight_for_all_rows_with_a_scorer() -> None:
    found = search().fit(X, X[:, 0] > 0, sample_weight=2.0)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("form", ["coo", "dia", "record batch", "table"])
def test_scorers_see_rows_of_every_form(form: str) -> None:
    """Also where rows without weight have to be left out."""
    X = np.random.default_rng(0).integers(0, 3, size=(60, 3)).astype(float)
    y, weights = (X[:, 0] > 0).astype(int), np.arange(60) % 3
    given: list[Any] = [X, y]
    if form in ("coo", "dia"):
        given[0] = sparse.coo_matrix(X).asformat(form)
    else:
        pa = pytest.importorskip("pyarrow")
        given[0] = pa.record_batch({name: X[:, k] for k, name in enumerate("abc")})
        given[0] = given[0] if form == "record batch" else pa.Table.from_batches([given[0]])
        given[1] = pa.array(y)
    for more in ({}, {"sample_weight": weights}):
        found, wanted = (search().fit(*rows, **more) for rows in (given, [X, y]))
        scores = [one.cv_results_["mean_test_score"] for one in (found, wanted)]
        np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scoring": "nonsense"}, "nonsense"),
        ({"scoring": ["accuracy", "roc_auc"]}, "scoring must be one name or one callable"),
        ({"cv": "5"}, "cv"),
        ({"cv": [([0, 1], [2, 60])]}, "Split 0 of cv must name rows by their places, whole numbers from 0 to 59"),
        ({"cv": [([0, 1], [-1])]}, "Split 0 of cv must name rows by their places"),
        ({"cv": [([0.0, 1.0], [2.0])]}, "Split 0 of cv must name rows by their places"),
        ({"cv": [([], [])]}, "A split has no row with a positive weight"),
        ({"time_budget": [5]}, "time_budget must be"),
    ],
)
def test_mistakes_are_found_before_anything_is_fitted(
    given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: Any, **named: Any) -> None:
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(searches, "learn", never)
    with pytest.raises((ValueError, TypeError), match=message):
        RGBClassifierCV(**given).fit(X, X[:, 0] > 0)


def test_splits_may_be_masks() -> None:
    first = np.arange(60) < 40
    masks, places = [(first, ~first)], [(np.arange(40), np.arange(40, 60))]
    found = [search(cv=cv, scoring=None).fit(X, X[:, 0] > 0).cv_results_ for cv in (masks, places)]
    np.testing.assert_array_equal(found[0]["mean_test_score"], found[1]["mean_test_score"])


def test_scorers_must_give_finite_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="its scores are infinite"):
        search(scoring=lambda model, X, y: np.inf).fit(X, np.arange(60) % 2)


def test_a_part_without_rows() -> None:
    with pytest.raises(
        ValueError, match=r"None of the rows \(n_samples=2\) .* fewer folds, or switch early_stopping off"
    ):
        RGBClassifier(3, early_stopping=True).fit([[0.0], [1.0]], [0, 1])
