"""Objects that a fit tells of its rounds, and that may end it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from boosting_cases import CASES, EVERY, Case, everything, two
from radboost import DeepBoostClassifier

pytestmark = pytest.mark.filterwarnings("ignore:The model")


class Diary:
    """Writes down what it is told."""

    def __init__(self, name: str = "", pages: list[Any] | None = None) -> None:
        self.name = name
        self.pages: list[Any] = [] if pages is None else pages

    def on_fit_begin(self, context: Any) -> None:
        self.pages.append((self.name, "begin", context.round, context.stop_reason))

    def on_round_end(self, context: Any) -> None:
        lengths = {len(column) for column in context.history.values()}
        assert lengths == {context.round + 1}
        self.pages.append((self.name, "round", context.round, context.stop_reason))

    def on_fit_end(self, context: Any) -> None:
        self.pages.append((self.name, "end", context.round, context.stop_reason))


@EVERY
def test_every_fit_tells_of_every_round(case: Case) -> None:
    diary = Diary()
    model = case.fitted(case.model(), callbacks=[diary])
    assert everything(model) == case.whole
    rounds = [page[2] for page in diary.pages if page[1] == "round"]
    assert diary.pages[0] == ("", "begin", -1, None)
    assert rounds == list(range(len(rounds)))
    assert len(rounds) >= model.n_iter_
    last = None if model.stop_reason_ == "all rounds done" else model.stop_reason_
    assert diary.pages[-1] == ("", "end", len(rounds) - 1, last)


@EVERY
def test_every_fit_can_be_stopped_and_shows_its_model(case: Case) -> None:
    class StopAfter:
        def on_round_end(self, context: Any) -> None:
            if context.round == 0:
                self.shown = context.fitted_estimator
                assert context.ensemble is self.shown.ensemble_
                context.stop("enough")
                context.stop("a second reason is not heard")

    stop = StopAfter()
    model = case.fitted(case.model(), callbacks=[stop])
    short = case.fitted(case.model(1))
    assert model.n_iter_ == short.n_iter_
    assert everything(model)[0] == everything(short)[0] == everything(stop.shown)[0]
    if short.stop_reason_ == "all rounds done":
        assert model.stop_reason_ == "enough"
    X, _ = case.data()
    np.testing.assert_array_equal(stop.shown.predict(X), model.predict(X))


def test_hooks_are_called_in_the_order_of_the_list() -> None:
    pages: list[Any] = []

    only_rounds = SimpleNamespace(on_round_end=Diary("second", pages).on_round_end)
    DeepBoostClassifier(2).fit(*two(), callbacks=(Diary("first", pages), only_rounds, Diary("third", pages)))
    hooks = [page[:2] for page in pages]
    assert hooks == [
        ("first", "begin"),
        ("third", "begin"),
        *[("first", "round"), ("second", "round"), ("third", "round")] * 2,
        ("first", "end"),
        ("third", "end"),
    ]


def test_a_callback_sees_parameters_history_and_rounds() -> None:
    seen: dict[str, Any] = {}

    class Look:
        def on_round_end(self, context: Any) -> None:
            seen.update(
                name=context.estimator_name,
                n_rounds=context.n_rounds,
                depth=context.parameters["max_depth"],
                objective=list(context.history["objective"]),
            )
            with pytest.raises(TypeError):
                context.parameters["max_depth"] = 60

    model = DeepBoostClassifier(5, max_depth=3).fit(*two(), callbacks=[Look()])
    assert seen == {
        "name": "DeepBoostClassifier",
        "n_rounds": 5,
        "depth": 3,
        "objective": model.history_["objective"],
    }
    assert model.max_depth == 3


def test_a_stop_before_the_first_round_leaves_an_empty_model() -> None:
    never = SimpleNamespace(on_fit_begin=lambda context: context.stop())
    model = DeepBoostClassifier(5).fit(*two(), callbacks=[never])
    assert (model.n_iter_, len(model.ensemble_), model.stop_reason_) == (0, 0, "stopped by a callback")
    assert model.history_ == {"objective": [], "train_error": [], "n_hypotheses": []}


@pytest.mark.parametrize("hook", ["on_fit_begin", "on_round_end", "on_fit_end"])
@pytest.mark.parametrize("name", ["deep", "soft-max", "rgb", "samme", "martiboost"])
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_in_a_callback_leaves_the_estimator_as_it_was(hook: str, name: str, error: type) -> None:
    case = CASES[name]

    def fail(context: Any) -> None:
        raise error

    broken = SimpleNamespace(**{hook: fail})
    model = case.fitted(case.model(3))
    before = dict(vars(model))
    with pytest.raises(error):
        case.fitted(model, callbacks=[broken])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
    new = case.model(3)
    with pytest.raises(error):
        case.fitted(new, callbacks=[broken])
    assert not any(key.endswith("_") for key in vars(new))


@pytest.mark.parametrize("given", [3, "abc", [object()], [Diary], [None], [lambda context: None]])
def test_what_is_no_callback_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="on_fit_begin, on_round_end, on_fit_end"):
        DeepBoostClassifier(2).fit(*two(), callbacks=given)


def test_a_reason_is_a_text() -> None:
    wrong = SimpleNamespace(on_round_end=lambda context: context.stop(3))
    with pytest.raises(TypeError, match="reason to stop must be a text"):
        DeepBoostClassifier(2).fit(*two(), callbacks=[wrong])


def test_early_stopping_speaks_first() -> None:
    case, diary = CASES["deep, early stopping"], Diary()
    model = case.fitted(case.model(), callbacks=[diary])
    assert diary.pages[-2][3] == model.stop_reason_
    assert model.stop_reason_.startswith("early stopping")
    assert len(diary.pages) - 2 > model.n_iter_  # the rounds it waited for are told of, and are not in the model
