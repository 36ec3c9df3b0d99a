"""Fits in parts are one fit: warm starts, checkpoints, callbacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from properties.cases import Case, essence, one_of_each, over, scores
from radboost import Checkpoint


def rounds(case: Case, n: int) -> dict[str, int]:
    """The parameter that says how many rounds there are at most."""
    return {"n_rounds": n}


class EndedError(Exception):
    """What ends a fit in the middle."""


class EndsAfter:
    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds

    def on_round_end(self, context: Any) -> None:
        if context.round + 1 == self.n_rounds:
            raise EndedError


class Watches:
    """Writes down what it is told."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.told: list[tuple[str, int]] = []

    def on_fit_begin(self, context: Any) -> None:
        self.told.append(("begin", context.round))

    def on_round_end(self, context: Any) -> None:
        self.told.append(("round", context.round))
        assert {len(column) for column in context.history.values()} == {context.round + 1}
        if self.stop_after is not None and context.round + 1 == self.stop_after:
            context.stop("enough")

    def on_fit_end(self, context: Any) -> None:
        self.told.append(("end", context.round))


@over(lambda case: case.boosted and not case.held_back and not case.sourced)
def test_a_warm_start_goes_on(case: Case) -> None:
    X, y = case.data(1, missing=0.05)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    for weights in (None, w):
        whole = case.make(**rounds(case, 7)).fit(X, y, weights)
        model = case.make(**rounds(case, 3), warm_start=True).fit(X, y, weights)
        model.set_params(**rounds(case, 7)).fit(X, y, weights)
        assert essence(model, X) == essence(whole, X)
    with pytest.raises(ValueError, match=r"warm_start=(True|False)"):
        model.set_params(**rounds(case, 2)).fit(X, y, w)
    with pytest.raises(ValueError, match=r"warm_start=(True|False)"):
        model.set_params(**rounds(case, 9)).fit(X[:, :3], y, w)
    assert essence(model, X) == essence(whole, X)


@over(lambda case: case.boosted)
def test_an_interrupted_fit_resumes(case: Case, tmp_path: Path) -> None:
    X, y = case.data(2, missing=0.05)
    path = tmp_path / "fit.checkpoint"
    whole = case.make(**rounds(case, 8)).fit(X, y)
    for ended in (1, 5):
        model = case.make(**rounds(case, 8))
        try:
            model.fit(X, y, callbacks=[Checkpoint(path, every=2), EndsAfter(ended)])
        except EndedError:
            assert not hasattr(model, "ensemble_")
        resumed = case.make(**rounds(case, 8), n_jobs=2).fit(X, y, resume_from=path)
        assert essence(resumed, X) == essence(whole, X)


@one_of_each(lambda case: case.boosted)
def test_a_checkpoint_of_another_fit_is_refused(case: Case, tmp_path: Path) -> None:
    X, y = case.data(3)
    path = tmp_path / "fit.checkpoint"
    case.make().fit(X, y, callbacks=[Checkpoint(path, every=2)])
    moved = np.vstack([X[1:], X[:1] + 1.0])
    for rows, labels, changes in ((moved, y, {}), (X, y[::-1].copy(), {}), (X, y, {"max_bins": 9})):
        if changes and "max_bins" not in case.make().get_params():
            continue
        with pytest.raises(ValueError, match=r"(?s)checkpoint.*(differ|other|not)"):
            case.make(**changes).fit(rows, labels, resume_from=path)


@over(lambda case: case.boosted)
def test_callbacks_see_every_round_and_may_stop(case: Case) -> None:
    X, y = case.data(4, missing=0.05)
    plain, watch = case.make().fit(X, y), Watches()
    model = case.make().fit(X, y, callbacks=[watch])
    assert essence(model, X) == essence(plain, X)
    assert watch.told[0] == ("begin", -1)
    assert [told for told in watch.told if told[0] == "round"] == [("round", t) for t in range(len(watch.told) - 2)]
    assert watch.told[-1][0] == "end"
    if not case.held_back:
        stopped = case.make().fit(X, y, callbacks=[Watches(stop_after=3)])
        assert stopped.stop_reason_ == "enough"
        assert stopped.n_iter_ == 3
        short = case.make(**rounds(case, 3))
        if "auto" not in str(short.get_params().get("learning_rate")):
            np.testing.assert_array_equal(scores(stopped, X), scores(short.fit(X, y), X))


@one_of_each(lambda case: case.boosted)
@pytest.mark.parametrize("callbacks", ["stop", 3, [3], [object()], [Watches]])
def test_callbacks_refused(case: Case, callbacks: Any) -> None:
    X, y = case.data(5)
    with pytest.raises(TypeError, match=r"(?s)callback.*on_round_end"):
        case.make().fit(X, y, callbacks=callbacks)
