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
from radboost.estimators._predicting import of_one_fit

pytestmark = [pytest.mark.native, pytest.mark.filterwarnings("ignore")]

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


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_predictions_between_two_fits(model: Any) -> None:
    """The fit is put in place between any two lines that a prediction runs, one after the other, until none is left.

    A trace function stands in for the other thread: it switches the model at the n-th line of the package.
    """
    X2, y2 = table(1, 60, 5)
    X4, y4 = table(4, 60, 5, 4)
    few = type(model)(**model.get_params()).fit(X2, y2)
    many = type(model)(**model.get_params()).fit(X4, y4)
    n_mixed = 0
    for method in METHODS:
        allowed = [answer(few, method, X2), answer(many, method, X2)]
        for nth in range(1, 400):
            shared = type(model)(**model.get_params()).fit(X2, y2)
            lines = 0

            def switch(frame: Any, event: str, argument: Any, shared: Any = shared, nth: int = nth) -> Any:
                nonlocal lines
                if "radboost" not in frame.f_code.co_filename:
                    return None
                lines += 1
                if lines == nth:
                    shared.__dict__ = dict(many.__dict__)  # what the last line of `fit` does
                return switch

            sys.settrace(switch)
            try:
                got = answer(shared, method, X2)
            finally:
                sys.settrace(None)
            n_mixed += not any(np.array_equal(got, one) for one in allowed)
            if lines < nth:
                break
        assert lines < nth, "the prediction runs more lines than were tried"
    assert n_mixed == 0


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
