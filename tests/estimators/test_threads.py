"""A thread that predicts while another one fits the same estimator sees the old model or the new one, whole."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

from fingerprints import table
from radboost import DeepBoostClassifier, RGBClassifier, SoftmaxBoostClassifier, SparseBoostClassifier
from radboost.baselines import AdaBoostMHClassifier, SAMMEClassifier
from radboost.estimators._estimator import of_one_fit

pytestmark = pytest.mark.filterwarnings("ignore")

ESTIMATORS = [
    DeepBoostClassifier(2, n_jobs=1),
    SoftmaxBoostClassifier(2, n_jobs=1),
    RGBClassifier(2, n_jobs=1),
    AdaBoostMHClassifier(2, max_leaves=3, n_jobs=1),
    SAMMEClassifier(2, max_leaves=3, n_jobs=1),
    SparseBoostClassifier(n_jobs=1),
]
METHODS = ("predict", "predict_proba", "decision_function", "feature_importances_")


def answer(model: Any, method: str, X: Any) -> Any:
    found = getattr(model, method)
    return found(X) if callable(found) else found


def two_models(model: Any) -> tuple[Any, Any]:
    """Of two classes and of four, with labels that have nothing in common."""
    X2, y2 = table(1, 60, 5)
    X4, y4 = table(4, 60, 5, 4)
    few, many = (type(model)(**model.get_params()) for _ in range(2))
    return few.fit(X2, np.array(["no", "yes"])[y2]), many.fit(X4, np.array(["a", "b", "c", "d"])[y4])


def answer_while_switching(old: Any, new: Any, method: str, X: Any, nth: int) -> tuple[Any, int]:
    """What the old model answers if the new one takes its place before the n-th line; and how many lines there were.

    A trace function stands in for the other thread, so that no moment is left to chance.
    """
    shared = type(old)(**old.get_params())
    shared.__dict__ = dict(old.__dict__)
    n_lines = 0

    def switch(frame: Any, event: str, argument: Any) -> Any:
        nonlocal n_lines
        if "radboost" not in frame.f_code.co_filename:
            return None
        n_lines += event == "line"
        if event == "line" and n_lines == nth:
            shared.__dict__ = dict(new.__dict__)  # what the last line of `fit` does
        return switch

    sys.settrace(switch)
    try:
        return answer(shared, method, X), n_lines
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_predictions_between_two_fits(model: Any) -> None:
    X, models = table(1, 60, 5)[0], two_models(model)
    for method in METHODS:
        allowed = [answer(one, method, X) for one in models]
        for old, new in (models, models[::-1]):
            n_lines = answer_while_switching(old, new, method, X, 0)[1]
            assert n_lines > 3
            for nth in range(1, n_lines + 1):
                got, _ = answer_while_switching(old, new, method, X, nth)
                assert any(np.array_equal(got, one) for one in allowed)


def test_predictions_while_another_thread_fits() -> None:
    model, data = DeepBoostClassifier(2, n_jobs=1), [table(1, 60, 5), table(4, 60, 5, 4)]
    X = data[0][0]
    allowed = [DeepBoostClassifier(2).fit(*each).predict_proba(X) for each in data]
    model.fit(*data[0])
    errors: list[Any] = []
    done = threading.Event()

    def refit() -> None:
        for k in range(60):
            model.fit(*data[k % 2])
        done.set()

    thread = threading.Thread(target=refit)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        while not done.is_set():
            got = model.predict_proba(X)
            if not any(np.array_equal(got, one) for one in allowed):
                errors.append(got)
    finally:
        thread.join()
        sys.setswitchinterval(switching)
    assert not errors


def test_a_view_costs_no_copy() -> None:
    class Model:
        @of_one_fit
        def attributes(self) -> Any:
            return self.__dict__

    model = Model()
    model.coefficient_ = 3  # type: ignore[attr-defined]
    assert model.attributes() is model.__dict__
    assert Model.attributes.__name__ == "attributes"
