"""Fits that go on, from a checkpoint or by a warm start, end like one long fit, bit for bit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from boosting_cases import CASES, EVERY, Case, SquaredHinge, everything, four, two
from radboost import (
    Checkpoint,
    DeepBoostClassifier,
    ModelFileError,
    RGBRegressor,
    SoftmaxBoostClassifier,
    load,
    model_file,
)
from radboost.model_file.replacing import LONGEST_PAUSE

pytestmark = pytest.mark.filterwarnings("ignore:The model is empty")


class BrokenError(Exception):
    pass


class BreakAfter:
    """Ends a fit with an error after so many rounds."""

    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds

    def on_round_end(self, context: Any) -> None:
        if context.round + 1 == self.n_rounds:
            raise BrokenError


def some_round(name: str, n_rounds: int) -> int:
    """One of 1, ..., n_rounds, another for every name."""
    return 1 + zlib.crc32(name.encode()) % max(1, n_rounds)


@EVERY
@pytest.mark.parametrize(
    "after", [pytest.param("first", marks=pytest.mark.slow), "some", pytest.param("last", marks=pytest.mark.slow)]
)
def test_an_interrupted_fit_goes_on(case: Case, after: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = tmp_path / "fit.checkpoint"
    n_rounds = {"first": 1, "last": case.plain.n_iter_}.get(after, some_round(request.node.name, case.plain.n_iter_))
    with pytest.raises(BrokenError):
        case.fitted(case.model(), callbacks=[Checkpoint(path, every=1), BreakAfter(n_rounds)])
    assert everything(case.fitted(case.model(n_jobs=1), resume_from=path)) == case.whole
    # Also from a fit that had come to its end.
    case.fitted(case.model(), callbacks=[Checkpoint(path, every=7)])
    assert everything(case.fitted(case.model(), resume_from=path)) == case.whole


@pytest.mark.parametrize("case", [case for name, case in CASES.items() if not name.startswith("sources")])
def test_a_warm_start_is_one_long_fit(case: Case, request: pytest.FixtureRequest) -> None:
    model = case.fitted(case.model(some_round(request.node.name, case.plain.n_iter_), warm_start=True))
    case.fitted(model.set_params(n_rounds=case.n_rounds))
    assert everything(model) == case.whole
    # Once more changes nothing: no round is left, or the reason to stop is still there.
    case.fitted(model)
    assert everything(model)[2:] == case.whole[2:]


def test_the_cases_stop_for_every_reason() -> None:
    reasons = {name: case.plain.stop_reason_ for name, case in CASES.items() if "deep" in name}
    assert reasons["deep, flawless"].startswith("one hypothesis is right")
    assert "no hypothesis lowers the objective" in reasons["deep, converges"]
    assert "10 rounds in a row" in reasons["deep, gives up"]
    assert "random pushes" in reasons["deep, 4 classes, max, pushed in vain"]
    assert reasons["deep, early stopping"].startswith("early stopping")
    assert np.any(np.diff(CASES["deep, 4 classes, max, pushed"].plain.history_["objective"]) > 0)


KILLED = """
import os, sys
sys.path[:0] = [{tests!r}]
from boosting_cases import CASES
from radboost import Checkpoint

class Ready:
    def on_round_end(self, context):
        print(context.round, flush=True)
        if context.round >= {wait_at}:
            sys.stdin.readline()  # until the end of the process

case = CASES[{name!r}]
case.fitted(case.model(), callbacks=[Checkpoint({path!r}, every=1), Ready()])
"""


def kill_in_round(name: str, path: Path, wait_at: int) -> None:
    """SIGKILL in the round `wait_at`, or in one soon after: there is no telling how far the process has come."""
    script = KILLED.format(tests=str(Path(__file__).parents[1]), name=name, path=str(path), wait_at=wait_at)
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True)
    try:
        assert child.stdout is not None
        while (line := child.stdout.readline()) and int(line) < wait_at:
            pass
        child.send_signal(signal.SIGKILL)
        child.wait(60)
    finally:
        child.kill()
    assert child.returncode == -signal.SIGKILL


def check_killed(name: str, path: Path) -> None:
    case = CASES[name]
    kill_in_round(name, path, some_round(name, case.plain.n_iter_) - 1)
    assert everything(case.fitted(case.model(), resume_from=path)) == case.whole
    assert sorted(path.parent.iterdir()) == [path]


DIES_WHILE_WRITING = """
import os, sys
from radboost import Checkpoint, DeepBoostClassifier
from boosting_cases import two

class Dies:
    def on_round_end(self, context):
        os.fsync = lambda descriptor: os._exit(9)

DeepBoostClassifier(8).fit(*two(), callbacks=[Dies(), Checkpoint(sys.argv[1], every=1)])
"""


def test_what_a_killed_fit_has_left_is_removed(tmp_path: Path) -> None:
    path, tests = tmp_path / "fit.checkpoint", str(Path(__file__).parents[1])
    command = [sys.executable, "-c", f"import sys\nsys.path[:0] = [{tests!r}]\n{DIES_WHILE_WRITING}", str(path)]
    assert subprocess.run(command, check=False).returncode == 9
    (left,) = set(tmp_path.iterdir()) - {path}
    DeepBoostClassifier(8).fit(*two(), callbacks=[Checkpoint(path)], resume_from=path)
    assert set(tmp_path.iterdir()) == {path, left}  # another process may be writing it
    os.utime(left, times=(time.time() - 2 * LONGEST_PAUSE,) * 2)
    DeepBoostClassifier(8).fit(*two(), callbacks=[Checkpoint(path)], resume_from=path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_fit_goes_on(tmp_path: Path) -> None:
    check_killed("deep, whole steps, members leave", tmp_path / "fit.checkpoint")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_killed_fit_goes_on(name: str, tmp_path: Path) -> None:
    check_killed(name, tmp_path / "fit.checkpoint")


def checkpoint(tmp_path: Path, model: Any = None, **fit: Any) -> Path:
    path = tmp_path / "fit.checkpoint"
    model = DeepBoostClassifier(6) if model is None else model
    model.fit(*two(), **fit, callbacks=[Checkpoint(path, every=2)])
    return path


def test_another_fit_is_refused_with_what_differs(tmp_path: Path) -> None:
    X, y = two()
    X_val, y_val = X[:50], y[:50]
    path = checkpoint(tmp_path)

    def message(model: Any, *data: Any, **fit: Any) -> str:
        with pytest.raises(ModelFileError) as caught:
            model.fit(*data, **fit, resume_from=path)
        return str(caught.value)

    plain = DeepBoostClassifier(6)
    assert "max_depth was 'auto' and is 3" in message(DeepBoostClassifier(6, max_depth=3), X, y)
    text = message(DeepBoostClassifier(6, loss="exponential", subsample=0.5), X, y)
    assert "loss was 'logistic' and is 'exponential'; subsample was 1.0 and is 0.5" in text
    assert "the rows differ" in message(plain, X + 1.0, y)
    assert "the labels differ" in message(plain, X, 1 - y)
    assert "the weights differ" in message(plain, X, y, sample_weight=np.full(len(y), 2.0))
    assert "the columns differ" in message(plain, X[:, :4], y)
    text = message(plain, X, y, X_val=X_val, y_val=y_val)
    assert "it had no validation rows, and now there are some" in text
    assert "is one of DeepBoostClassifier, and this is SoftmaxBoostClassifier" in message(
        SoftmaxBoostClassifier(6), X, y
    )
    path = checkpoint(tmp_path, X_val=X_val, y_val=y_val)
    assert "it had validation rows, and now there are none" in message(plain, X, y)
    assert "the validation rows differ" in message(plain, X, y, X_val=X_val, y_val=1 - y_val)
    # What has no effect on the model may change.
    whole = everything(DeepBoostClassifier(6).fit(X, y, X_val=X_val, y_val=y_val))
    free = DeepBoostClassifier(6, n_jobs=1, warm_start=True)
    assert everything(free.fit(X, y, X_val=X_val, y_val=y_val, resume_from=path)) == whole


def test_a_loss_of_ones_own_is_compared_by_what_it_holds(tmp_path: Path) -> None:
    X, y = two()
    path = checkpoint(tmp_path, DeepBoostClassifier(6, loss=SquaredHinge(1.0)))
    DeepBoostClassifier(6, loss=SquaredHinge(1.0)).fit(X, y, resume_from=path)
    with pytest.raises(ModelFileError, match=r"(?s)loss was .*SquaredHinge"):
        DeepBoostClassifier(6, loss=SquaredHinge(2.0)).fit(X, y, resume_from=path)


def test_the_number_of_rounds_may_grow(tmp_path: Path) -> None:
    X, y = two()
    path = checkpoint(tmp_path)
    assert everything(DeepBoostClassifier(9).fit(X, y, resume_from=path)) == everything(
        DeepBoostClassifier(9).fit(X, y)
    )
    with pytest.raises(ValueError, match="holds 6 rounds, and n_rounds=4 now"):
        DeepBoostClassifier(4).fit(X, y, resume_from=path)
    path = checkpoint(tmp_path, SoftmaxBoostClassifier(6))
    with pytest.raises(ModelFileError, match="n_rounds was 6 and is 12"):  # which learning_rate="auto" depends on
        SoftmaxBoostClassifier(12).fit(X, y, resume_from=path)


@pytest.mark.parametrize("random_state", [None, "generator"])
def test_a_seed_that_was_drawn_is_drawn_no_more(random_state: Any, tmp_path: Path) -> None:
    X, y = two()
    path = tmp_path / "fit.checkpoint"

    def model() -> Any:
        state = np.random.default_rng() if random_state == "generator" else None
        return DeepBoostClassifier(8, random_state=state, early_stopping=5)

    class Keep:
        def on_round_end(self, context: Any) -> None:
            if context.round == 3:
                context.save_checkpoint(str(path))

    whole = model().fit(X, y, callbacks=[Keep()])
    assert everything(model().fit(X, y, resume_from=path)) == everything(whole)


def test_a_path_that_cannot_be_written_is_told_before_the_first_round(tmp_path: Path) -> None:
    rounds: list[int] = []

    count = SimpleNamespace(on_round_end=lambda context: rounds.append(context.round))
    for path in (tmp_path / "no folder" / "fit", tmp_path):
        with pytest.raises(OSError, match="Cannot save"):
            DeepBoostClassifier(3).fit(*two(), callbacks=[count, Checkpoint(path)])
    assert not rounds
    for every in (0, -1, 2.5, True):
        with pytest.raises((TypeError, ValueError), match="every"):
            Checkpoint(tmp_path / "x", every=every)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        DeepBoostClassifier(3).fit(*two(), resume_from=tmp_path / "nothing")
    with pytest.raises(TypeError, match="resume_from must be the path"):
        DeepBoostClassifier(3).fit(*two(), resume_from=3)


def test_files_are_written_every_so_many_rounds(tmp_path: Path) -> None:
    path, seen = tmp_path / "fit.checkpoint", []

    def look(context: Any) -> None:
        seen.append(model_file.read(path)[0]["ensemble"]["n_rounds"])

    callbacks = [Checkpoint(path, every=3), SimpleNamespace(on_round_end=look, on_fit_end=look)]
    DeepBoostClassifier(8).fit(*two(), callbacks=callbacks)
    assert seen == [0, 0, 3, 3, 3, 6, 6, 6, 8]
    assert repr(Checkpoint("x", 3)) == "Checkpoint('x', every=3)"


def test_a_damaged_checkpoint_is_a_clear_error(tmp_path: Path) -> None:
    X, y = two()
    path = checkpoint(tmp_path)
    content = path.read_bytes()
    bad = tmp_path / "bad"
    rng = np.random.default_rng(0)
    for _ in range(40):
        changed = bytearray(content)
        changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
        bad.write_bytes(bytes(changed[: rng.integers(1, len(changed) + 1)] if rng.random() < 0.3 else changed))
        with pytest.raises(ModelFileError):
            DeepBoostClassifier(6).fit(X, y, resume_from=bad)


FORGERIES: dict[str, Any] = {
    "no ensemble": lambda header, arrays: header.pop("ensemble"),
    "an ensemble of another kind": lambda header, arrays: header.update(ensemble=[1]),
    "no parameters": lambda header, arrays: header.update(parameters=None),
    "no data": lambda header, arrays: header.update(data=7),
    "a seed in words": lambda header, arrays: header.update(seed="seven"),
    "a reason that is no text": lambda header, arrays: header.update(stop_reason=None),
    "more rounds than lines": lambda header, arrays: header["ensemble"].update(n_rounds=10**6),
    "a step beyond": lambda header, arrays: arrays.update({"ensemble/step_hypothesis": np.full(6, 99, dtype="<i4")}),
    "a shorter history": lambda header, arrays: arrays.update({"history/objective": np.zeros(2)}),
    "another history": lambda header, arrays: arrays.update({"history/gossip": arrays.pop("history/objective")}),
    "details": lambda header, arrays: arrays.update({"details/odds": np.zeros(2)}),
    "other columns": lambda header, arrays: header["ensemble"].update(n_features=9),
    "more classes": lambda header, arrays: header["ensemble"].update(n_outputs=3),
    "steps off the grid": lambda header, arrays: arrays.update({"ensemble/step_eta": np.full(6, 0.1)}),
}


@pytest.mark.parametrize("forge", [pytest.param(forge, id=name) for name, forge in FORGERIES.items()])
def test_a_forged_checkpoint_is_a_clear_error(forge: Any, tmp_path: Path) -> None:
    path = checkpoint(tmp_path)
    header, arrays = model_file.read(path)
    header, arrays = json.loads(json.dumps(header)), dict(arrays)
    forge(header, arrays)
    model_file.write(path, header, arrays)
    with pytest.raises(ModelFileError):
        DeepBoostClassifier(6).fit(*two(), resume_from=path)


@pytest.mark.parametrize("name", ["soft-max, 4 classes", "rgb", "adaboost.mh, 4 classes", "samme", "martiboost"])
def test_forged_steps_are_a_clear_error_or_another_fit(name: str, tmp_path: Path) -> None:
    """No estimator trusts that a file has the steps that it would have taken."""
    case, path = CASES[name], tmp_path / "fit.checkpoint"
    case.fitted(case.model(), callbacks=[Checkpoint(path)])
    header, arrays = model_file.read(path)
    rng, n_refused = np.random.default_rng(0), 0
    for _ in range(30):
        forged = dict(arrays)
        for part in rng.choice(["step_round", "step_hypothesis", "step_eta"], 2, replace=False):
            array = forged[f"ensemble/{part}"].copy()
            array[rng.integers(len(array))] = rng.choice([0, 1, 3, 1e9])
            forged[f"ensemble/{part}"] = np.sort(array) if part == "step_round" else array
        if rng.random() < 0.3:
            forged = {key: array for key, array in forged.items() if not key.startswith("details/")}
        model_file.write(path, header, forged)
        try:
            case.fitted(case.model(), resume_from=path)
        except ModelFileError:
            n_refused += 1
    assert n_refused > 0


def test_models_and_checkpoints_are_not_taken_for_each_other(tmp_path: Path) -> None:
    X, y = two()
    path = checkpoint(tmp_path)
    with pytest.raises(ModelFileError, match=r"it is a checkpoint of a fit.*resume_from"):
        load(path)
    DeepBoostClassifier(6).fit(X, y).save(path)
    with pytest.raises(ModelFileError, match="is not a checkpoint"):
        DeepBoostClassifier(6).fit(X, y, resume_from=path)


def test_a_failed_resume_leaves_the_estimator_as_it_was(tmp_path: Path) -> None:
    X, y = two()
    path = checkpoint(tmp_path)
    model = DeepBoostClassifier(3, max_depth=2).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ModelFileError):
        model.fit(X, y, resume_from=path)
    assert all(vars(model)[name] is value for name, value in before.items())


def test_warm_starts_refuse_what_would_break_the_model() -> None:
    X, y = two()
    model = DeepBoostClassifier(3, warm_start=True).fit(X, y)
    model.set_params(n_rounds=5)
    with pytest.raises(ValueError, match=r"(?s)n_rounds=2 is less.*warm_start=False"):
        model.set_params(n_rounds=2).fit(X, y)
    model.set_params(n_rounds=5)
    with pytest.raises(ValueError, match="other columns or other classes"):
        model.fit(X[:, :3], y)
    with pytest.raises(ValueError, match="other columns or other classes"):
        model.fit(X, y + 5)
    with pytest.raises(ValueError, match="whose loss was 'logistic', and loss='exponential' now"):
        model.set_params(loss="exponential").fit(X, y)
    with pytest.raises(ValueError, match="continues the last fit, which had no validation rows"):
        model.set_params(loss="logistic", early_stopping=True).fit(X, y)
    many = DeepBoostClassifier(3, warm_start=True).fit(*four())
    with pytest.raises(ValueError, match="whose objective was 'sum', and objective='max' now"):
        many.set_params(n_rounds=5, objective="max").fit(*four())
    costly = SoftmaxBoostClassifier(3, learning_rate=0.5, warm_start=True).fit(*four())
    with pytest.raises(ValueError, match="whose cost was"):
        costly.set_params(cost=2.0 - 2.0 * np.eye(4) + np.eye(4)[::-1]).fit(*four())
    with pytest.raises(TypeError, match="warm_start must be True or False"):
        SoftmaxBoostClassifier(3, warm_start="yes").fit(*four())


def test_a_warm_start_of_soft_max_keeps_its_learning_rate() -> None:
    X, y = four()
    model = SoftmaxBoostClassifier(40, warm_start=True).fit(X, y)
    rate = model.learning_rate_
    assert rate < 1.0
    with pytest.raises(ValueError, match=rf'(?s)"auto" was {rate:g}, and with n_rounds=80.*Set learning_rate={rate!r}'):
        model.set_params(n_rounds=80).fit(X, y)
    model.set_params(learning_rate=rate).fit(X, y)
    assert everything(model) == everything(SoftmaxBoostClassifier(80, learning_rate=rate).fit(X, y))
    # Where the rounds are so few that both are 1, nothing is in the way.
    short = SoftmaxBoostClassifier(4, warm_start=True).fit(X, y).set_params(n_rounds=8).fit(X, y)
    assert everything(short) == everything(SoftmaxBoostClassifier(8).fit(X, y))


def test_a_warm_start_from_a_file(tmp_path: Path) -> None:
    for name in ("deep", "soft-max, 4 classes", "adaboost.mh, 4 classes", "samme", "martiboost", "rgb, numbers"):
        case = CASES[name]
        model = case.fitted(case.model(5, warm_start=True))
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        case.fitted(again.set_params(n_rounds=case.n_rounds))
        assert everything(again) == case.whole


def test_a_warm_start_goes_on_with_more_patience() -> None:
    """Early stopping keeps the best round; with more patience the fit goes on from there, like one from the start."""
    case = CASES["rgb, validation rows, early stopping"]
    model = case.fitted(case.model(warm_start=True))
    assert model.stop_reason_.startswith("early stopping")
    case.fitted(model.set_params(early_stopping=30))
    assert everything(model) == everything(case.fitted(case.model(early_stopping=30)))


def test_other_rows_of_the_same_kind_may_go_on() -> None:
    """Not one long fit then, but a model that has seen both."""
    X, y = two()
    for model in (DeepBoostClassifier(5, warm_start=True), SoftmaxBoostClassifier(5, warm_start=True)):
        model.fit(X[:150], y[:150])
        first = list(model.ensemble_.entered)
        model.set_params(n_rounds=10).fit(X[150:], y[150:])
        assert list(model.ensemble_.entered)[: len(first)] == first
        assert model.n_iter_ == 10
    numbers = RGBRegressor(5, warm_start=True).fit(X[:150], y[:150])
    assert numbers.set_params(n_rounds=7).fit(X[150:], y[150:]).n_iter_ == 7
