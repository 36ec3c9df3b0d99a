"""`set_callbacks` of scikit-learn: its callbacks are told of each round, alone and inside of searches and pipelines."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from radboost import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
)
from radboost.baselines import SAMMEClassifier

X = np.random.default_rng(0).normal(size=(120, 3))
Y = (X[:, 0] + X[:, 1] ** 2 + np.random.default_rng(1).normal(size=120) > 0.7).astype(int)
EVERYONE = [
    DeepBoostClassifier(6, n_jobs=1),
    RGBClassifier(6, n_jobs=1),
    RGBRegressor(6, n_jobs=1),
    SoftmaxBoostClassifier(6, n_jobs=1),
    MultiSourceBoostClassifier(6, n_jobs=1),
    SAMMEClassifier(6, max_leaves=4, n_jobs=1),
]
with_callbacks = pytest.mark.skipif(
    not hasattr(EVERYONE[0], "set_callbacks"), reason="this version of scikit-learn has no callbacks"
)
by_name: dict[str, Any] = {"ids": lambda one: type(one).__name__}


class Recorder:
    """Writes down what it is told; `ends` says after which round it wants to stop."""

    def __init__(self, ends: int | None = None) -> None:
        self.events: list[tuple[str, str, int]] = []
        self.scores: list[float] = []
        self.weights: list[Any] = []
        self.ends = ends

    def setup(self, estimator: Any, context: Any) -> None:
        self.events.append(("setup", context.task_name, context.task_id))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.events.append(("teardown", context.task_name, context.task_id))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, metadata: Any, fitted_estimator: Any
    ) -> bool:
        self.events.append(("end", context.task_name, context.task_id))
        if fitted_estimator is not None:  # a search has tasks without one
            self.scores.append(fitted_estimator.score(X, y))
        self.weights.append(metadata)
        return context.task_name == "round" and context.task_id == self.ends


@with_callbacks
@pytest.mark.parametrize("estimator", EVERYONE, **by_name)
def test_the_fit_and_each_round_are_tasks(estimator: Any) -> None:
    told, model = Recorder(), clone(estimator)
    assert model.set_callbacks(told) is model
    model.fit(X, Y)
    rounds = [(what, "round", one) for one in range(6) for what in ("begin", "end")]
    assert told.events == [("setup", "fit", 0), ("begin", "fit", 0), *rounds, ("end", "fit", 0), ("teardown", "fit", 0)]
    plain = clone(estimator).set_callbacks().fit(X, Y)
    assert plain.history_ == model.history_
    staged = list(plain.staged_predict(X))
    of_rounds = [plain_score(plain, one) for one in staged]
    np.testing.assert_allclose(told.scores, [*of_rounds, of_rounds[-1]])
    assert {name for name in vars(model) if "ctx" in name or "teardown" in name} == set()
    model.set_callbacks()
    assert pickle.loads(pickle.dumps(model)).history_ == plain.history_


def plain_score(model: Any, predicted: Any) -> float:
    return float(r2_score(Y, predicted) if isinstance(model, RGBRegressor) else accuracy_score(Y, predicted))


@with_callbacks
@pytest.mark.parametrize("estimator", EVERYONE, **by_name)
def test_a_callback_ends_the_fit(estimator: Any) -> None:
    told = Recorder(ends=2)
    model = clone(estimator).set_callbacks(told).fit(X, Y, np.full(len(X), 2.0))
    assert model.n_iter_ == 3
    assert model.stop_reason_ == "stopped by a callback of scikit-learn"
    assert told.events[-3:] == [("end", "round", 2), ("end", "fit", 0), ("teardown", "fit", 0)]
    assert all(metadata["sample_weight"][0] == 2.0 for metadata in told.weights)


@with_callbacks
def test_callbacks_of_both_kinds_and_fits_that_end_early() -> None:
    class Ours:
        rounds = 0

        def on_round_end(self, context: Any) -> None:
            self.rounds += 1

    ours, told = Ours(), Recorder()
    y = (X[:, 0] > 0).astype(int)  # one tree is right on every row: the second round is not made
    model = DeepBoostClassifier.paper(6, n_jobs=1).set_callbacks(told).fit(X, y, callbacks=[ours])
    assert ours.rounds == model.n_iter_ < 6
    assert told.events.count(("end", "fit", 0)) == 1
    assert [event[0] for event in told.events].count("begin") == [event[0] for event in told.events].count("end")


@with_callbacks
def test_an_error_leaves_no_trace() -> None:
    class Fails(Recorder):
        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            if context.task_name == "round" and context.task_id == 1:
                raise RuntimeError("enough")

    told = Fails()
    model = RGBClassifier(6, n_jobs=1).set_callbacks(told)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, Y)
    assert told.events[-1] == ("teardown", "fit", 0)
    assert {name for name in vars(model) if "ctx" in name or "teardown" in name} == set()
    assert not hasattr(model, "ensemble_")


@with_callbacks
@pytest.mark.parametrize("estimator", EVERYONE[:3], **by_name)
def test_progress_bars_and_monitors_inside_of_searches(estimator: Any, capsys: Any) -> None:
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar, ScoringMonitor

    name = "r2" if isinstance(estimator, RGBRegressor) else "accuracy"
    monitor = ScoringMonitor(scoring=name)
    clone(estimator).set_callbacks(monitor, ProgressBar()).fit(X, Y, np.full(len(X), 2.0))
    assert len(monitor.get_logs().data) == 7  # six rounds and the fit
    search = GridSearchCV(clone(estimator), {"n_rounds": [2, 3]}, cv=2).set_callbacks(ProgressBar())
    assert search.fit(X, Y).best_estimator_.n_iter_ in (2, 3)
    assert "RGB" in (shown := capsys.readouterr().out) or "DeepBoost" in shown
    assert "GridSearchCV" in shown
    line = make_pipeline(StandardScaler(), clone(estimator).set_callbacks(ScoringMonitor(scoring=name)))
    assert line.fit(X, Y)[-1].n_iter_ == 6


@with_callbacks
def test_callbacks_reach_the_models_of_a_search() -> None:
    """One that is handed on: it is told of the rounds of every fit."""

    class HandedOn(Recorder):
        max_propagation_depth = None

    told = HandedOn()
    GridSearchCV(RGBClassifier(n_jobs=1), {"n_rounds": [2, 3]}, cv=2).set_callbacks(told).fit(X, Y)
    n_ended = sum(event[:2] == ("end", "round") for event in told.events)
    assert n_ended >= 2 * (2 + 3) + 2
    assert [event[0] for event in told.events].count("setup") == 1


@with_callbacks
def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match="FitCallback protocol"):
        RGBClassifier().set_callbacks(object())


@pytest.mark.slow
def test_older_versions_of_scikit_learn_do_without() -> None:
    """Where there is no module `sklearn.callback`, estimators have no `set_callbacks`, and fit as before."""
    script = (
        "import sys, importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'sklearn.callback' else find(name, *more)\n"
        "import numpy as np\n"
        "from radboost import RGBClassifier\n"
        "model = RGBClassifier(3, n_jobs=1)\n"
        "assert not hasattr(model, 'set_callbacks')\n"
        "X = np.arange(60.0).reshape(-1, 2)\n"
        "model.fit(X, X[:, 0] > 20)\n"
        "assert not any(name.startswith('sklearn.callback') for name in sys.modules), 'loaded for nothing'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
