"""Short fits end early only where the rest of them changes no choice."""

from dataclasses import replace

import numpy as np
import pytest

from prepared_rows import prepare
from radboost import DeepBoostClassifier, TreeOptions
from radboost.boosting.monitor import EarlyStopping
from radboost.estimators import _held_back, _trials
from radboost.estimators._learning import learn
from radboost.estimators._trial_monitor import HeldBackLosses, calibrated_losses
from radboost.estimators._trials import Trials
from reference.data import together as table

SETTING = {"thresholds": "random", "max_depth": 6, "complexity_penalty": 0.001}


def trials_of(X, y, **parameters):
    estimator = DeepBoostClassifier(**parameters)
    rows = prepare(estimator, X, y)
    parts = _held_back.parts_of(len(y), X.shape[1], len(np.unique(y)))
    return Trials(estimator, rows, estimator._read_parameters(), parts, len(y))


class Stood:
    """Stages of a fit whose losses are given."""

    def __init__(self, losses):
        self.losses = losses

    def at(self, n_rounds):
        values = self.losses.get(n_rounds)
        return None if values is None else HeldBackLosses(np.array([values]), np.array([0.0]), n_rounds)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_a_short_fit_is_the_estimator_at_its_best_round(noise, n_classes):
    """Held-back losses are those of a model with equal parameters, at the best of the evaluated rounds."""
    trials = trials_of(*table(noise, 2000, n_classes))
    fit = trials.rated(SETTING)
    every = _trials.PACE.every
    assert fit.n_rounds % every == 0
    options = TreeOptions(leaves="rated", thresholds="random")
    given = {name: SETTING[name] for name in ("max_depth", "complexity_penalty")}
    model = DeepBoostClassifier(
        _trials.TRIAL_ROUNDS,
        learning_rate=_trials.TRIAL_RATE,
        tree_options=options,
        calibration=None,
        early_stopping=EarlyStopping(_trials.TRIAL_ROUNDS),
        **given,
    )
    rows, held_back = trials._rows, trials._held_back
    model = learn(model, replace(rows, validation=held_back))
    losses = np.array(model.history_["validation_loss"])[every - 1 :: every]
    waited = [n for n in range(len(losses)) if n - np.argmin(losses[: n + 1]) >= _trials.PACE.patience // every]
    seen = losses[: waited[0] + 1] if waited else losses
    assert fit.n_rounds == every * (1 + np.argmin(seen))
    scores = list(model.staged_decision_function(held_back.X)) if fit.n_rounds <= model.n_iter_ else None
    if scores is not None:
        np.testing.assert_array_equal(fit.losses, calibrated_losses(scores[fit.n_rounds - 1], held_back, 1))
        stage = fit.at(_trials.PACE.stage)
        np.testing.assert_array_equal(stage.losses, calibrated_losses(scores[_trials.PACE.stage - 1], held_back, 1))
    assert fit.at(10**6) is fit


def test_a_slow_fit_ends_only_where_its_gains_are_too_small():
    """Behind by 4 standard errors; behind by 6 at half the rounds, it might gain 4 more and end level."""

    def to_come(now, before, n_rounds=60):
        stages = Stood({n_rounds: now, n_rounds // 2: before})
        return _trials._extrapolated(lambda result: float(result.losses[0]), n_rounds, stages)

    assert to_come(4.0, 4.0) == 4.0
    assert to_come(4.0, 3.0) == 4.0  # further and further behind: no better than now
    assert to_come(4.0, 6.0) == 0.0
    assert to_come(4.0, 5.0) == 2.0
    assert to_come(4.0, 4.0, n_rounds=30) == -np.inf
    assert _trials._extrapolated(lambda result: 9.0, 90, Stood({90: 1.0})) == -np.inf


def test_whoever_cannot_win_ends_early_and_loses():
    X, y = table(0.0, 2000)
    whole, raced = (trials_of(X, y, random_state=7) for _ in range(2))
    huge = {**SETTING, "complexity_penalty": 0.1}
    lost = raced.slower(huge, SETTING)
    assert lost.lost
    assert lost.n_rounds < whole.rated(huge).n_rounds
    assert raced.loss(huge) == np.inf
    assert raced.loss(SETTING) < whole.loss(huge)  # what all of its rounds say
    assert raced.is_clear(SETTING, huge)
    assert not raced.beats_votes(huge)
    # Of votes that end early the comparison is the same.
    assert raced.votes(SETTING).n_rounds < whole._fit({"leaves": "votes"}, None).n_rounds
    assert raced.beats_votes(SETTING)
    assert whole.beats_votes(SETTING)


def test_deeper_trees_end_where_they_are_not_ahead():
    X, y = table(0.5, 2000)
    whole, raced = trials_of(X, y), trials_of(X, y)
    deeper = {**SETTING, "max_depth": 12}
    assert not raced.improves(deeper, SETTING)
    assert raced.rated(deeper).lost
    assert whole.loss(deeper) >= (1.0 - _trials.MIN_IMPROVEMENT) * whole.loss(SETTING)


def test_races_change_no_choice_here(monkeypatch):
    """Choices with races are those of whole short fits, in about five of six seeds: this is one of them."""
    for noise in (0.0, 0.6):
        X, y = table(noise, 2000)
        raced = DeepBoostClassifier(n_rounds=2, random_state=7).fit(X, y).chosen_
        with monkeypatch.context() as patched:
            fit = Trials._fit
            patched.setattr(Trials, "_fit", lambda trials, setting, has_lost, fit=fit: fit(trials, setting, None))
            assert DeepBoostClassifier(n_rounds=2, random_state=7).fit(X, y).chosen_ == raced
