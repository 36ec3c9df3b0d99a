"""What cannot be learned from is refused: an error says what was given, what is allowed and what to do."""

from __future__ import annotations

import gc
import os
import signal
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from properties.cases import Case, essence, on_readers, one_of_each, over

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def with_cell(X: np.ndarray, value: float) -> np.ndarray:
    return np.where(np.arange(len(X))[:, None] == 7, value, X)


ROWS: dict[str, tuple[Any, str]] = {
    "no rows": (lambda X: X[:0], "(?i)0 sample|minimum of 1|empty"),
    "no columns": (lambda X: X[:, :0], "0 feature"),
    "1-D": (lambda X: X[:, 0], "(?i)expected 2D array"),
    "3-D": (lambda X: X[:, :, None], "(?i)dim"),
    "lengths": (lambda X: X[:-5], "(?i)inconsistent numbers of samples|length"),
    "inf": (lambda X: with_cell(X, np.inf), "(?i)infinity|inf"),
    "-inf": (lambda X: with_cell(X, -np.inf), "(?i)infinity|inf"),
    "complex": (lambda X: X + 1j, "(?i)complex"),
    "strings": (lambda X: [["red", *row] for row in X.tolist()], "(?i)convert|numeric|string|encode"),
    "text beside numbers in a column": (
        lambda X: pd.DataFrame({"colour": ["red", 1] * (len(X) // 2), "size": X[:, 0]}),
        "(?is)(convert|numeric|string|encode|text).*column 'colour'|column 'colour'.*(convert|numeric|string|encode)",
    ),
    "two columns of one name": (lambda X: pd.DataFrame(X[:, :2], columns=["a", "a"]), "more than one column named 'a'"),
    "a frame without columns": (lambda X: pd.DataFrame(index=range(len(X))), "has no columns; give at least one"),
    "an integer beyond all floats": (lambda X: [[10**400, *row] for row in X.tolist()], "(?i)too large"),
}


@on_readers(ROWS)
def test_rows_refused(case: Case, what: str) -> None:
    X, y = case.data(0, m=60)
    change, message = ROWS[what]
    model = case.make()
    rows = change(X)
    labels = y[:0] if what == "no rows" else y
    with pytest.raises(ValueError, match=message):
        model.fit(rows, labels)
    assert not hasattr(model, "ensemble_")


def with_label(y: np.ndarray, label: Any) -> np.ndarray:
    """The labels as names, with one of another kind."""
    names = np.array([f"class {value}" for value in y], dtype=object)
    names[3] = label
    return names


LABELS: dict[str, tuple[Any, str]] = {
    "lengths": (lambda X, y: y[:50], "(?i)inconsistent numbers of samples|length"),
    "NaN": (lambda X, y: np.where(np.arange(len(y)) == 3, np.nan, y.astype(float)), "(?i)nan"),
    "infinity": (lambda X, y: np.where(np.arange(len(y)) == 3, np.inf, y.astype(float)), "(?i)inf"),
    "continuous": (lambda X, y: X[:, 0], "(?i)continuous|unknown label type|classification"),
    "2-D": (lambda X, y: np.stack([y, y], axis=1), r"(?i)1d.*sklearn\.multioutput\.MultiOutputClassifier\("),
    "mixed types": (lambda X, y: np.array([1, "one"] * (len(y) // 2), dtype=object), "(?i)type|string|number"),
    "None": (lambda X, y: None, "(?i)requires y|y"),
    "a missing name, None": (lambda X, y: with_label(y, None), "missing|NaN"),
    "a missing name, NaN": (lambda X, y: with_label(y, np.nan), "missing|NaN"),
    "a missing name, NA": (lambda X, y: with_label(y, pd.NA), "missing|NaN"),
    "a missing name, series": (lambda X, y: pd.Series(with_label(y, pd.NA), dtype="string"), "missing|NaN"),
    "a missing date": (
        lambda X, y: pd.Series([pd.NaT, *pd.to_datetime(["2020-01-01"] * (len(y) - 1))]),
        "(?i)NaT|missing",
    ),
}


@on_readers(LABELS, lambda case: case.takes_names)
def test_labels_refused(case: Case, what: str) -> None:
    X, y = case.data(0, m=60)
    change, message = LABELS[what]
    model = case.make()
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, change(X, y))
    assert not hasattr(model, "ensemble_")


@one_of_each(lambda case: case.takes_names)
def test_more_classes_than_any_model_can_hold(case: Case) -> None:
    labels = np.arange(65_535)
    with pytest.raises(
        ValueError, match=r"65535 classes.*at most 65534.*regressor|Only binary classification|fold|members"
    ):
        case.make().fit(labels[:, None].astype(float), labels)


TARGETS: dict[str, tuple[Any, str]] = {
    "NaN": (lambda y: np.where(np.arange(len(y)) == 3, np.nan, y), "(?i)nan"),
    "infinity": (lambda y: np.where(np.arange(len(y)) == 3, np.inf, y), "(?i)inf"),
    "2-D": (lambda y: np.stack([y, y], axis=1), "(?i)1d|shape|multi"),
    "3-D": (lambda y: np.stack([y, y], axis=1)[:, :, None], "(?i)1d|shape|multi|dim 3"),
    "text": (lambda y: ["a"] * len(y), "(?i)classifier|convert|numeric"),
    "lengths": (lambda y: y[:-1], "(?i)inconsistent numbers of samples|length"),
    "None": (lambda y: None, "(?i)requires y|y"),
    "beyond what squares can hold": (lambda y: np.where(y > 0, 1e200, 0.0), "(?i)y goes|1e\\+200|large"),
}


@on_readers(TARGETS, lambda case: not case.classifies)
def test_targets_refused(case: Case, what: str) -> None:
    X, y = case.data(0, m=60)
    change, message = TARGETS[what]
    model = case.make()
    if what == "2-D" and getattr(model, "_learns_several_targets", False):
        assert model.fit(X, change(y)).predict(X).shape == (60, 2)
        return
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, change(y))
    assert not hasattr(model, "ensemble_")


def spoilt(value: float) -> np.ndarray:
    return np.where(np.arange(60) == 5, value, 1.0)


WEIGHTS: dict[str, tuple[Any, str]] = {
    "negative": (-np.ones(60), "(?i)negative"),
    "one negative": (spoilt(-1e-9), "(?i)negative"),
    "all zero": (np.zeros(60), "(?i)(?=.*zero)(?=.*weight)"),
    "NaN": (spoilt(np.nan), "(?i)nan"),
    "inf": (spoilt(np.inf), "(?i)inf"),
    "short": (np.ones(59), "sample_weight has 59 entries for 60 rows|inconsistent|sample_weight.shape"),
    "2-D": (np.ones((60, 2)), "(?i)1D|sample_weight"),
    "strings": (["heavy"] * 60, "sample_weight must hold numbers|could not convert"),
}


@on_readers(WEIGHTS)
def test_weights_refused(case: Case, what: str) -> None:
    X, y = case.data(0, m=60)
    weights, message = WEIGHTS[what]
    with pytest.raises((ValueError, TypeError), match=message):
        case.make().fit(X, y, sample_weight=weights)


@on_readers([1e-300, 1e300, 1e16], lambda case: case.boosted)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_weights_beyond_what_can_be_counted(case: Case, size: float) -> None:
    X, y = case.data(0, m=60)
    with pytest.raises(ValueError, match="sample_weight"):
        case.make().fit(X, y, sample_weight=np.full(60, size))


@one_of_each()
def test_prediction_refuses(case: Case) -> None:
    X, y = case.data(0, m=60)
    model = case.make()
    methods = ["predict", *(name for name in dir(model) if name in ("predict_proba", "decision_function"))]
    methods += [name for name in dir(model) if name.startswith("staged_") and case.boosted]
    for method in methods:
        with pytest.raises(NotFittedError, match=r"(?i)not fitted"):
            list(getattr(case.make(), method)(X))
    model.fit(X, y)
    for method in methods:
        call = getattr(model, method)
        for wrong, message in (
            (X[:, :4], r"4 features.*5 features"),
            (np.hstack([X, X[:, :1]]), r"6 features.*5 features"),
            (X[0], r"(?i)2D"),
            (np.full((2, 5), np.inf), r"(?i)infinity|inf"),
            (np.full((2, 5), "a"), r"(?i)convert|numeric|string|text"),
            (np.zeros((0, 5)), r"(?i)0 sample|minimum of 1|empty"),
        ):
            with pytest.raises(ValueError, match=message):
                list(call(wrong))


@one_of_each(lambda case: case.boosted)
def test_sparse_that_cannot_be_dense_is_refused(case: Case) -> None:
    huge = scipy.sparse.csr_matrix((30, 2**40), dtype=np.float64)
    y = np.arange(30) % max(2, case.n_classes)
    with pytest.raises((ValueError, MemoryError), match=r"needs about .* GiB.*(?i:fewer columns)"):
        case.make().fit(huge, y)


@one_of_each()
def test_shared_parameters_refused(case: Case) -> None:
    X, y = case.data(0, m=60)
    wrong = {
        "n_jobs": (0, 1.5, "all"),
        "verbose": ("loud",),
        "random_state": ("seed",),
        "n_rounds": (0, -3, 2.5, "ten", True),
    }
    wrong["early_stopping"] = ("yes", -1, 2.5)
    for name, values in wrong.items():
        if name in case.make().get_params() and (name != "n_rounds" or case.boosted):
            for value in values:
                model = case.make(**{name: value})
                with pytest.raises((ValueError, TypeError), match=f"{name}|patience"):
                    model.fit(X, y)
                assert not hasattr(model, "ensemble_")


@one_of_each(lambda case: case.validates)
def test_validation_rows_refused(case: Case) -> None:
    X, y = case.data(0, m=60)
    model = case.make(early_stopping=True)
    for given, message in (
        ({"X_val": X}, r"X_val.*y_val|y_val.*X_val"),
        ({"y_val": y}, r"X_val.*y_val|y_val.*X_val"),
        ({"X_val": X[:, :3], "y_val": y}, r"(?i)feature"),
        ({"X_val": X, "y_val": y[:9]}, r"(?i)inconsistent|length|samples"),
        ({"sample_weight_val": np.ones(60)}, r"(?i)sample_weight_val|X_val"),
        ({"X_val": X, "y_val": np.where(np.arange(60) == 3, np.nan, y)}, r"(?i)nan"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, **given)
    if case.classifies:
        with pytest.raises(ValueError, match=r"(?is)(?=.*(y_val|label|class))(?=.*17)"):
            model.fit(X, y, X_val=X, y_val=np.full(60, 17))
        with pytest.raises(ValueError, match=r"missing|NaN"):
            model.fit(X, with_label(y, f"class {y[3]}"), X_val=X, y_val=with_label(y, None))
    assert not hasattr(model, "ensemble_")


@over()
def test_a_failed_fit_leaves_the_model_alone(case: Case) -> None:
    X, y = case.data(0, m=60 + 60 * (case.n_classes > 10))
    model = case.make().fit(X, y)
    before, kept = essence(model, X), dict(vars(model))
    for rows, labels in ((X[:, :2], np.full(len(y), np.nan)), (with_cell(X, np.inf), y), (X[:, :3], y[:-1])):
        with pytest.raises(ValueError, match=r"(?i)nan|inf|inconsistent|nothing to tell apart"):
            model.fit(rows, labels)
    with pytest.raises((ValueError, TypeError), match="n_jobs"):
        model.set_params(n_jobs="many").fit(X[:, :2], y)
    model.set_params(n_jobs=None)
    assert essence(model, X) == before
    assert all(vars(model)[name] is value for name, value in kept.items() if name.endswith("_"))
    assert model.n_features_in_ == 5


@one_of_each(lambda case: case.boosted)
def test_an_interrupted_fit_leaves_the_model_alone(case: Case) -> None:
    X, y = case.data(0, m=60)
    model = case.make().fit(X, y)
    before, kept = essence(model, X), dict(vars(model))
    long: dict[str, Any] = {"n_rounds": 2000 if "MartiBoost" in case.name else 1_000_000}
    long |= {"complexity_penalty": 0.0} if "complexity_penalty" in kept else {}
    long |= {"max_leaves": 2} if isinstance(kept.get("max_leaves"), int) else {}
    rows, labels = case.data(1, m=3000, d=8)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    gc.disable()  # Hypothesis has a callback there, and Python drops exceptions that come up in such a callback
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.set_params(**long).fit(rows, labels)
    finally:
        timer.cancel()
        gc.enable()
    assert all(vars(model)[name] is value for name, value in kept.items() if name.endswith("_"))
    model.set_params(**{name: kept[name] for name in long})
    assert essence(model, X) == before
    assert essence(case.make().fit(X, y), X) == before
