"""Callbacks of fits on several workers: they hear what those of one machine hear; checkpoints go on anywhere."""

from __future__ import annotations

import pickle
import threading
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from distributed_tools import (
    AbortedError,
    AbortingCollective,
    After,
    arguments_of,
    cut,
    everything,
    fit_by_threads,
    run_task,
)
from fingerprints import table
from radboost import (
    Checkpoint,
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
)
from radboost.boosting import FitContext
from radboost.distributed.callbacks import CallbackEvent, CallbackRunner, Receiver
from radboost.distributed.cluster import RowsLostError
from radboost.distributed.collective import WorkerLostError
from radboost.distributed.learning import FitTask
from radboost.model_file import ModelFileError
from radboost.rows.partitions import LoadedPartition

pytestmark = pytest.mark.filterwarnings("ignore:The model")

X, Y = table(3, 200, 5, 3)
SOURCES = np.random.default_rng(5).choice(["a", "b"], 200)
ESTIMATORS = [
    DeepBoostClassifier(5, complexity_penalty=0.01, max_depth=3, early_stopping=4),
    SoftmaxBoostClassifier(4, learning_rate=0.7, calibration=None),
    RGBClassifier(4, calibration=None),
    RGBRegressor(4),
    MultiSourceBoostClassifier(4),
]
DEEP = ESTIMATORS[0]


class Diary:
    """Notes all that a callback can see; ends the fit after some rounds."""

    def __init__(self, last: int | None = None) -> None:
        self.last, self.lines = last, []
        self.lock = threading.Lock()  # cannot be pickled: callbacks stay where they are

    def note(self, hook: str, context: FitContext) -> None:
        model = deepcopy(context.fitted_estimator)
        line = (hook, context.round, context.n_rounds, context.estimator_name, repr(dict(context.parameters)))
        history = {name: list(column) for name, column in context.history.items()}
        self.lines.append((*line, history, context.stop_reason, everything(model)))

    def on_fit_begin(self, context: FitContext) -> None:
        self.note("begin", context)

    def on_round_end(self, context: FitContext) -> None:
        self.note("round", context)
        if context.round == self.last:
            context.stop("enough")

    def on_fit_end(self, context: FitContext) -> None:
        self.note("end", context)


def copying(path: Path, to: Path) -> After:
    """Copies a checkpoint after the second round."""
    return After(1, lambda: to.write_bytes(path.read_bytes()))


def by_pickle(runner: CallbackRunner) -> Receiver:
    """Passes events through pickle, as over the network."""
    return lambda event: runner.handle(pickle.loads(pickle.dumps(event)))


def more_of(estimator: Any) -> dict[str, Any]:
    return {"sources": SOURCES} if isinstance(estimator, MultiSourceBoostClassifier) else {}


def parts_of(estimator: Any) -> list[LoadedPartition]:
    columns = {"X": X, "y": Y, **more_of(estimator)}
    return [LoadedPartition(**{name: given[part::5] for name, given in columns.items()}) for part in range(5)]


def fit(estimator: Any, n_workers: int, callbacks: Any = None, **more: Any) -> Any:
    estimator = clone(estimator)
    receiver = None if callbacks is None else by_pickle(CallbackRunner(estimator, callbacks))
    models = fit_by_threads(estimator, parts_of(estimator), n_workers, None, receiver, callbacks=callbacks, **more)
    assert all(everything(model) == everything(models[0]) for model in models)
    return models[0]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("last", [None, 1])
def test_callbacks_hear_what_those_of_one_machine_hear(estimator: Any, last: int | None) -> None:
    there, here = Diary(last), Diary(last)
    model = fit(estimator, 3, [there])
    expected = clone(estimator).fit(X, Y, **more_of(estimator), callbacks=[here])
    assert there.lines == here.lines
    assert everything(model)[:-1] == everything(expected)[:-1]
    assert (model.stop_reason_ == "enough") == (last is not None)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_checkpoints_go_on_with_any_number_of_workers(estimator: Any, tmp_path: Path) -> None:
    """Those of two workers with three, and on one machine, with the rows in another order."""
    path, again = tmp_path / "fit.checkpoint", tmp_path / "copy.checkpoint"
    expected = clone(estimator).fit(X, Y, **more_of(estimator))
    model = fit(estimator, 2, [Checkpoint(path, every=1), copying(path, again)])
    assert everything(model)[:-1] == everything(expected)[:-1]
    diary = Diary()
    model = fit(estimator, 3, [diary], resume_from=again)
    assert everything(model)[:-1] == everything(expected)[:-1]
    assert [line[1] for line in diary.lines[:2]] == [1, 2]
    order = np.random.default_rng(0).permutation(200)
    more = {name: given[order] for name, given in more_of(estimator).items()}
    local = clone(estimator).fit(X[order], Y[order], **more, resume_from=again)
    assert everything(local)[:-1] == everything(expected)[:-1]


def test_other_rows_and_other_checkpoints_are_refused(tmp_path: Path) -> None:
    path, local = tmp_path / "fit.checkpoint", tmp_path / "local.checkpoint"
    fit(DEEP, 2, [Checkpoint(path)])
    clone(DEEP).fit(X, Y, callbacks=[Checkpoint(local)])
    with pytest.raises(ModelFileError, match="of a fit on one machine"):
        fit(DEEP, 2, resume_from=local)
    with pytest.raises(ModelFileError, match="learning_rate was"):
        fit(clone(DEEP).set_params(learning_rate=0.5), 2, resume_from=path)
    moved = X.copy()
    moved[17, 2] += 3.0
    for rows, labels, weights, what in (
        (moved, Y, None, "rows"),
        (X, np.roll(Y, 1), None, "labels"),
        (X, Y, np.full(200, 2.0), "weights"),
    ):
        with pytest.raises(ModelFileError, match=f"the {what} differ"):
            fit_by_threads(clone(DEEP), cut(4, X=rows, y=labels, sample_weight=weights), 2, resume_from=path)


@pytest.mark.parametrize("seed", [None, np.random.RandomState(3)])
def test_a_seed_that_was_drawn_goes_on(seed: Any, tmp_path: Path) -> None:
    path, again = tmp_path / "fit.checkpoint", tmp_path / "copy.checkpoint"
    estimator = clone(DEEP).set_params(random_state=seed)
    model = fit(estimator, 2, [Checkpoint(path, every=1), copying(path, again)])
    assert (model.random_state is None) == (seed is None)
    assert everything(fit(estimator, 3, resume_from=again))[:-1] == everything(model)[:-1]


def test_losses_in_mid_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All workers are gone again and again: callbacks hear of each round once, and the model is that of one machine."""
    path = tmp_path / "fit.checkpoint"
    here, there = Diary(), Diary()
    estimator = clone(DEEP).set_params(n_rounds=12, early_stopping=False, calibration=None)
    expected = clone(estimator).fit(X, Y, callbacks=[here])
    callbacks: list[Any] = [there, Checkpoint(path)]
    runner = CallbackRunner(estimator, callbacks)
    task = FitTask.of(estimator, arguments_of(callbacks=callbacks))
    parts = parts_of(estimator)
    seen = []
    for n_operations in (5, 40, 50, 55, 60):
        earlier = runner.trace.finished()
        with pytest.raises(AbortedError):
            run_task(
                task,
                [parts[::2], parts[1::2]],
                lambda group, rank, n=n_operations: AbortingCollective(group, rank, n),
                lambda rank, earlier=earlier: {
                    "earlier": deepcopy(earlier),
                    "receiver": by_pickle(runner) if rank == 0 else None,
                },
            )
        seen.append(runner.trace.n_rounds)
        runner.handle("looking at the data")  # in every attempt
    assert len(set(seen)) > 2  # before the first round, and after some
    error = runner.final_error(WorkerLostError("All workers are gone."))
    assert error.checkpoints == (str(path),)
    assert f"The {seen[-1]} rounds so far are in '{path}'" in str(error)
    assert everything(fit(estimator, 3, resume_from=path))[:-1] == everything(expected)[:-1]
    callbacks[1].path = str(tmp_path / "gone" / "fit.checkpoint")
    error = runner.final_error(WorkerLostError("All workers are gone."))
    assert f"All workers are gone. The {seen[-1]} rounds so far could not be written" in str(error)
    callbacks[1].path = str(path)
    model = fit_by_threads(estimator, parts, 3, runner.trace, by_pickle(runner), callbacks=callbacks)[0]
    assert everything(model) == everything(expected)
    assert there.lines == here.lines
    assert capsys.readouterr().err == "looking at the data\n"


def test_an_answer_that_was_lost_is_given_again() -> None:
    """A callback has asked for the end, and the worker that was told so is gone."""
    diary = Diary(1)
    runner = CallbackRunner(DEEP, [diary])

    def losing(event: CallbackEvent | str) -> str | None:
        answer = runner.handle(event)
        if answer is not None:
            raise AbortedError
        return answer

    with pytest.raises(AbortedError):
        fit_by_threads(DEEP, parts_of(DEEP), 2, None, losing, callbacks=[diary])
    model = fit_by_threads(DEEP, parts_of(DEEP), 3, runner.trace, by_pickle(runner), callbacks=[diary])[0]
    assert (model.stop_reason_, len(model.history_["objective"])) == ("enough", 2)
    assert [line[0] for line in diary.lines] == ["begin", "round", "round", "end"]


def test_without_a_checkpoint_the_error_says_how_to_keep_rounds() -> None:
    for callbacks in ([], [Diary()]):
        error = CallbackRunner(DEEP, callbacks).final_error(RowsLostError("A partition is lost."))
        assert isinstance(error, RowsLostError)
        assert not error.checkpoints
        assert "A partition is lost. No rounds are kept: with callbacks=[radboost.Checkpoint(path)]" in str(error)
