"""Searches: the same whatever the order of the rows, threads and copies; rules, scores, and what is told of them."""

from __future__ import annotations

import pickle
import re
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, KFold

from prepared_rows import prepare
from radboost import (
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    RGBClassifier,
    RGBClassifierCV,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SoftmaxBoostClassifierCV,
    TreeOptions,
)
from radboost.rows.costs import make_costs
from radboost.tuning import bench as benches
from radboost.tuning import race as races
from radboost.tuning import search as searches
from radboost.tuning.bench import Trial, standard_error
from radboost.tuning.race import ranked
from radboost.tuning.scoring import class_scorer, cost_scorer
from radboost.tuning.spaces import DEEPBOOST, smaller_steps
from radboost.tuning.splits import GivenSplits

RNG = np.random.default_rng(5)
X = RNG.normal(size=(160, 4))
Y = np.where(RNG.random(160) < 0.1, 1, 0) ^ (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0)
C = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
T = X[:, 0] + X[:, 1] ** 2 + 0.1 * RNG.normal(size=160)
GRID = {"max_depth": [1, 3], "complexity_penalty": [0.0, 0.02]}


def small(**changes: Any) -> DeepBoostClassifierCV:
    return DeepBoostClassifierCV(
        **{"estimator": DeepBoostClassifier(12), "param_grid": GRID, "cv": 3, "n_jobs": 1, **changes}
    )


SEARCHES = [
    (small(), Y),
    (small(), C),
    (RGBClassifierCV(RGBClassifier(12), param_grid={"complexity_penalty": [0.0, 0.3]}, cv=3, n_jobs=1), Y),
    (RGBRegressorCV(RGBRegressor(12), param_grid={"subsample": [0.4, 0.8]}, cv=3, n_jobs=1), T),
    (SoftmaxBoostClassifierCV(SoftmaxBoostClassifier(12), param_grid={"max_leaves": [4, 8]}, cv=3, n_jobs=1), C),
]


def same_search(one: Any, other: Any) -> None:
    assert one.best_params_ == other.best_params_
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize(("search", "y"), SEARCHES, ids=[type(s).__name__ + str(len(set(y))) for s, y in SEARCHES])
def test_best_params_give_the_best_estimator_and_results_agree_with_them(search: Any, y: Any) -> None:
    fitted = clone(search).fit(X, y)
    again = clone(search.estimator).set_params(**fitted.best_params_, n_jobs=1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fitted.predict(X), again.predict(X))
    if hasattr(again, "predict_proba"):
        np.testing.assert_array_equal(fitted.predict_proba(X), again.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict(X), pickle.loads(pickle.dumps(fitted)).predict(X))
    results = fitted.cv_results_
    lengths = {len(column) for column in results.values()}
    assert lengths == {len(fitted.validation_curves_)}
    assert results["params"][fitted.best_index_] == fitted.best_params_
    assert results["mean_test_score"][fitted.best_index_] == fitted.best_score_
    assert results["n_rounds"][fitted.best_index_] == fitted.best_params_["n_rounds"] >= fitted.best_estimator_.n_iter_
    assert sorted(results["rank_test_score"]) == list(range(1, lengths.pop() + 1))
    splits = [results[f"split{i}_test_score"][fitted.best_index_] for i in range(fitted.n_splits_)]
    np.testing.assert_allclose(np.mean(splits), fitted.best_score_)
    for curve, n_rounds, mean in zip(
        fitted.validation_curves_, results["n_rounds"], results["mean_test_score"], strict=True
    ):
        assert curve[curve[:, 0] == n_rounds, 1] == pytest.approx(mean)


def test_scores_are_those_of_separate_fits() -> None:
    """The oracle: fits of the estimator itself, of each number of rounds, on the rows of a split.

    Columns of five values have the same bins in every part.
    """
    rows = np.digitize(X, [-1.0, -0.3, 0.3, 1.0]).astype(float)
    folds = list(KFold(3, shuffle=True, random_state=2).split(rows))
    search = small(cv=folds, scoring="accuracy").fit(rows, Y)
    results = search.cv_results_
    assert len(results["params"]) == 4
    for place, params in enumerate(results["params"]):
        for index, (train, test) in enumerate(folds):
            model = DeepBoostClassifier(calibration=None, n_jobs=1).set_params(**params).fit(rows[train], Y[train])
            assert results[f"split{index}_test_score"][place] == accuracy_score(Y[test], model.predict(rows[test]))
    for curve, params in zip(search.validation_curves_, results["params"], strict=True):
        for n_rounds, mean, _ in curve:
            model = DeepBoostClassifier(calibration=None, n_jobs=1).set_params(**{**params, "n_rounds": int(n_rounds)})
            scores = [accuracy_score(Y[b], model.fit(rows[a], Y[a]).predict(rows[b])) for a, b in folds]
            assert mean == pytest.approx(np.mean(scores))


def test_score_of_classes_by_its_definition() -> None:
    """Log loss with the best factor, by a fine grid, over that of a guess, and twice the error."""
    for y in (Y, C):
        rows = prepare(DeepBoostClassifier(), X, y)
        model = DeepBoostClassifier(12, n_jobs=1).fit(X[::2], y[::2])
        split = GivenSplits(rows, [(np.arange(0, 160, 2), np.arange(1, 160, 2))]).split(0)
        found = class_scorer(1)(model, split, [12])[0]
        scores, labels = model.decision_function(X[1::2]), y[1::2].astype(int)
        scores = np.column_stack([0 * scores, scores]) if scores.ndim == 1 else scores
        losses = []
        for factor in np.exp(np.linspace(-2.5, 2.5, 2000)):
            shares = np.exp(factor * scores) / np.exp(factor * scores).sum(axis=1, keepdims=True)
            losses.append(-np.log(shares[np.arange(80), labels]).mean())
        error = np.mean(scores.argmax(axis=1) != labels)
        assert found == pytest.approx(-min(losses) / np.log(scores.shape[1]) - 2 * error, abs=1e-3)


def test_default_setting_is_the_default_fit() -> None:
    """With nothing better than it, the search is the plain estimator, to the last bit."""
    flat = DeepBoostClassifierCV(DeepBoostClassifier(10), scoring=lambda model, X, y: 0.0, cv=2, n_jobs=1).fit(X, Y)
    plain = DeepBoostClassifier(10, n_jobs=1).fit(X, Y)
    assert flat.best_index_ == 0
    np.testing.assert_array_equal(flat.predict_proba(X), plain.predict_proba(X))
    assert flat.best_params_["n_rounds"] == 10


def test_what_the_user_fixes_stays() -> None:
    base = DeepBoostClassifier(9, max_depth=2, tree_options=TreeOptions(thresholds="best"))
    search = DeepBoostClassifierCV(base, cv=2, n_jobs=1).fit(X, Y)
    for params in search.cv_results_["params"]:
        assert params["n_rounds"] <= 9
        assert params["max_depth"] == 2
        assert params["tree_options"].thresholds == "best"


@pytest.mark.filterwarnings("error::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("changes", [{"objective": "max"}, {"family": "stumps"}, {"step": "closed_form"}], ids=str)
def test_settings_fit_what_the_user_fixes(changes: dict[str, Any]) -> None:
    search = DeepBoostClassifierCV(DeepBoostClassifier(3, **changes), cv=2, n_jobs=1).fit(X, C)
    assert len(search.cv_results_["params"]) > 3


def test_one_standard_error_takes_smaller_models() -> None:
    best = small(cv=5).fit(X, Y)
    simple = small(cv=5, rule="one_standard_error").fit(X, Y)
    results, at = simple.cv_results_, simple.best_index_
    assert results["mean_n_nodes"][at] <= best.cv_results_["mean_n_nodes"][best.best_index_]
    scores = [best.cv_results_[f"split{i}_test_score"][best.best_index_] for i in range(best.n_splits_)]
    assert simple.best_score_ >= best.best_score_ - standard_error(np.array(scores), 5)


def test_standard_error_against_simulation() -> None:
    """Splits that share rows: the plain formula is too small, that of Nadeau and Bengio about right or larger."""
    rng, n, folds = np.random.default_rng(0), 60, 5
    means, plain, corrected = [], [], []
    for _ in range(300):
        rows = rng.normal(size=n)
        parts = [part for _ in range(4) for part in np.array_split(rng.permutation(n), folds)]
        scores = np.array([rows[part].mean() for part in parts])
        means.append(scores.mean())
        plain.append(scores.std(ddof=1) / np.sqrt(len(scores)))
        corrected.append(standard_error(scores, folds))
    assert np.mean(plain) < 0.7 * np.std(means)
    assert 0.9 * np.std(means) < np.mean(corrected) < 2.0 * np.std(means)


def test_number_of_rounds_is_the_largest_within_chance() -> None:
    trial = Trial({"n_rounds": 3}, [1, 2, 3], n_folds=5)
    noise = np.array([0.01, -0.01, 0.02, -0.02])
    trial.curves = {(0, i): np.array([0.5, 0.6 + e, 0.6 - e]) for i, e in enumerate(noise)}
    assert trial.best(sorted(trial.curves)) == 2
    trial.curves = {(0, i): np.array([0.5, 0.6 + e, 0.3 + e]) for i, e in enumerate(noise)}
    assert trial.best(sorted(trial.curves)) == 1


def test_ranks_compare_what_is_shared() -> None:
    """A setting that is lucky on a split which the other has not seen is not better for that."""
    one, other = (Trial({"n_rounds": 1}, [1], n_folds=5) for _ in range(2))
    one.curves = {(0, 0): np.array([0.5]), (0, 1): np.array([0.9])}
    other.curves = {(0, 0): np.array([0.6])}
    assert ranked([one, other]) == [other, one]


def test_groups_are_held_back_together() -> None:
    groups = np.arange(len(X)) // 8
    seen: list[set[int]] = []

    def scorer(model: Any, rows: Any, y: Any) -> float:
        places = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
        seen.append(set(places))
        return 0.0

    small(scoring=scorer, cv=4, param_grid={"max_depth": [2]}).fit(X, Y, groups=groups)
    assert seen
    for held_back in seen:
        assert all(len(held_back & set(np.flatnonzero(groups == g))) in (0, 8) for g in range(20))
    with_splitter = small(cv=GroupKFold(4)).fit(X, Y, groups=groups)
    assert with_splitter.n_splits_ == 4


def test_costs_are_what_is_minimised() -> None:
    """By the definition: the mean over the rows of what the answer and the rule pay, half each."""
    cost = np.array([[0.0, 9.0, 9.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    model = SoftmaxBoostClassifier(12, cost=cost, decision="argmax", n_jobs=1).fit(X[::2], C[::2])
    rows = prepare(model, X, C)
    for prepared in (rows, replace(rows, costs=make_costs(None, cost[C[rows.order]], 3))):
        split = GivenSplits(prepared, [(np.arange(0, 160, 2), np.arange(1, 160, 2))]).split(0)
        found = cost_scorer(1)(model, split, [12])[0]
        scores = model.decision_function(X[1::2])
        rule = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        paid = [cost[y, f.argmax()] + cost[y] @ g for y, f, g in zip(C[1::2], scores, rule, strict=True)]
        assert found == pytest.approx(-0.5 * np.mean(paid), rel=1e-5)
    search = SoftmaxBoostClassifierCV(SoftmaxBoostClassifier(12), param_grid={"max_leaves": [4, 8]}, cv=3, n_jobs=1)
    assert -9.0 < search.fit(X, C, cost=cost[C]).best_score_ < 0.0


def test_no_time_is_the_default_setting_and_said() -> None:
    with pytest.warns(UserWarning, match="no settings were compared"):
        search = small(time_budget=0).fit(X, Y)
    assert search.n_splits_ == 0
    assert search.best_params_["max_depth"] == 6  # the default one, which is not in the grid
    assert np.isnan(search.best_score_)
    np.testing.assert_array_equal(search.predict(X), DeepBoostClassifier(12, n_jobs=1).fit(X, Y).predict(X))


def test_time_runs_out_between_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that allows so many fits: whatever the number, there is a model, and the best of what was compared."""
    for allowed in (1, 2, 3, 5, 9):
        fits = iter([*[1e9] * allowed, *[-1.0] * 10_000])
        monkeypatch.setattr(benches.Bench, "_affords", lambda self, trial, level, fits=fits: next(fits) > 0)
        search = small(time_budget=1e9).fit(X, Y)
        results = search.cv_results_
        assert results["n_splits"][search.best_index_] >= 1
        assert np.isfinite(search.best_score_)


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"time_budget": -1}, ValueError, "time_budget"),
    ({"rule": "worst"}, ValueError, "one_standard_error"),
    ({"cv": 1}, ValueError, "cv"),
    ({"cv": []}, ValueError, "no split"),
    ({"param_grid": {}}, ValueError, "nothing to choose"),
    ({"param_grid": {"max_depth": []}}, ValueError, "one value or more"),
    ({"param_grid": {"depth": [1]}}, ValueError, "Allowed are n_rounds.*max_depth"),
    ({"param_grid": {"n_jobs": [1]}}, ValueError, "parameter of the search"),
    ({"param_grid": {"max_bins": [9]}}, ValueError, "prepared once"),
    ({"param_grid": [3]}, TypeError, "dict"),
    ({"estimator": RGBClassifier()}, TypeError, "must be a DeepBoostClassifier"),
    ({"estimator": DeepBoostClassifier(early_stopping=True)}, ValueError, "early_stopping=False"),
    ({"scoring": lambda model, X, y: np.nan}, ValueError, "All 4 settings failed"),
    ({"param_grid": {"max_depth": [0, 99]}}, ValueError, "All 2 settings failed.*max_depth"),
    ({"param_grid": {"max_depth": [0, 99]}, "time_budget": 1e6}, ValueError, "All 2 settings failed.*max_depth"),
    ({"cv": [(np.flatnonzero(Y == 0), np.flatnonzero(Y == 1))]}, ValueError, "no row of the class"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(
    ("changes", "error", "match"), BAD, ids=[f"{next(iter(c))}-{n}" for n, (c, *_) in enumerate(BAD)]
)
def test_bad_parameters(changes: dict[str, Any], error: type[Exception], match: str) -> None:
    search = small(**changes)
    with pytest.raises(error, match=match):
        search.fit(X, Y)


def test_bad_rows() -> None:
    few = np.where(np.arange(len(X)) < 2, 7, Y)
    with pytest.warns(UserWarning, match="rows of the smallest class"):
        assert small().fit(X, few).classes_.tolist() == [0, 1, 7]
    with pytest.raises(ValueError, match="at least two rows"):
        small().fit(X[:2], [0, 1])


@pytest.mark.parametrize("time_budget", [None, 1e6])
def test_a_setting_that_fails_is_left_out(time_budget: float | None) -> None:
    with pytest.warns(FitFailedWarning, match="max_depth"):
        search = small(param_grid={"max_depth": [0, 2]}, time_budget=time_budget).fit(X, Y)
    assert search.best_params_["max_depth"] == 2
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == 1


def test_settings_with_different_losses_need_a_score() -> None:
    search = RGBRegressorCV(RGBRegressor(5), param_grid={"loss": ["squared", "absolute"]}, cv=2, n_jobs=1)
    with pytest.raises(ValueError, match="scoring="):
        search.fit(X, T)
    assert search.set_params(scoring="r2").fit(X, T).best_score_ < 1.0


def test_large_data_begins_with_a_part_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "ROWS_OF_FIRST_RUNG", 40)
    monkeypatch.setattr(races, "PREDICTIONS_OF_PARTS", 24)
    grid = {"max_depth": [1, 2, 3], "complexity_penalty": [0.0, 0.02, 0.1, 5.0], "subsample": [0.5, 1.0]}
    plain = small(param_grid=grid).fit(X, Y)
    learned = plain.cv_results_["n_resources"]
    assert set(learned) == {27, 107}
    assert learned[plain.best_index_] == 107
    assert (learned == 107).sum() == 8  # a third of 24
    assert (
        plain.cv_results_["rank_test_score"][learned == 107].max()
        < plain.cv_results_["rank_test_score"][learned == 27].min()
    )
    order = np.random.default_rng(0).permutation(len(X))
    same_search(plain, small(param_grid=grid).fit(X[order], Y[order]))


def test_every_part_of_a_search_shows_how_far_it_is(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that never runs out: smaller steps, the settings beside the best, then repeats for the last ones."""
    for name, value in {
        "FIRST_PREDICTIONS": 60,
        "LAST_PREDICTIONS": 60,
        "PREDICTIONS_OF_BUDGET": 120,
        "PASSES_OF_BUDGET": 1,
    }.items():
        monkeypatch.setattr(races, name, value)
    few = replace(
        DEEPBOOST,
        around=lambda used, base, n_classes: [{**used, "max_depth": 2}],
        slower=lambda setting: {**setting, "learning_rate": 0.02} if setting["learning_rate"] > 0.02 else None,
    )
    monkeypatch.setattr(DeepBoostClassifierCV, "_space", few)
    DeepBoostClassifierCV(cv=2, time_budget=1e9, verbose=1, n_jobs=1).fit(X[:60], Y[:60])
    told = capfd.readouterr().err
    for what in ("fit", "fit with smaller steps", "setting beside the best", "fit of the last settings"):
        bars = re.findall(rf"^{what} +(\d+)/(\d+).* score", told, re.MULTILINE)
        assert bars, what
        assert bars[-1][0] == bars[-1][1] != "0", what


def test_a_generator_gives_one_seed_for_all_fits() -> None:
    one, other = (small(random_state=np.random.RandomState(3)).fit(X, Y) for _ in range(2))
    same_search(one, other)
    assert isinstance(one.best_estimator_.random_state, int)


def test_little_evidence_does_not_beat_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time for two settings on one split of 32 answers: that the other one is ahead there says nothing."""
    fits = iter([*[1e9] * 3, *[-1.0] * 10_000])
    monkeypatch.setattr(benches.Bench, "_affords", lambda self, trial, level: next(fits) > 0)

    def lucky(model: Any, rows: Any, labels: Any) -> float:
        return float(model.tree_options.split_criterion == "edge")

    search = DeepBoostClassifierCV(DeepBoostClassifier(5), scoring=lucky, time_budget=1e9, n_jobs=1).fit(X, Y)
    assert search.best_index_ == 0
    means = search.cv_results_["mean_test_score"]
    assert means[search.cv_results_["param_split_criterion"] == "edge"].tolist() == [1.0]
    assert search.best_score_ == 0.0


@pytest.mark.parametrize(
    ("gain", "chosen"),
    [(0.0, 0.3 / 9), (-0.001, 0.3 / 9), (-0.1, 0.3), (0.1, 0.3 / 9)],
    ids=["equal", "worse within chance", "worse", "better"],
)
def test_the_best_setting_takes_smaller_steps_unless_they_are_worse(gain: float, chosen: float) -> None:
    """Scores of eight splits that differ by .01, and by a gain where steps are a third of what they were."""

    def score(setting: Any, index: int) -> float:
        n_steps = round(np.log(0.3 / setting["learning_rate"]) / np.log(3.0))
        return float(0.01 * (-1) ** (index + n_steps) + gain * n_steps)

    def run(trials: list[Trial], level: int, index: int) -> list[Trial]:
        for trial in trials:
            trial.curves[level, index] = np.full(len(trial.rounds), score(trial.setting, index))
        return trials

    bench: Any = SimpleNamespace(
        run=run,
        levels=[SimpleNamespace(n_folds=5, n_learned=80, n_splits=50)],
        clock=SimpleNamespace(left=lambda: np.inf),
        refit_time=lambda trial: 0.0,
        progress=lambda n_fits, what: nullcontext(),
    )
    leader = Trial({"n_rounds": 100, "learning_rate": 0.3}, [50, 100], n_folds=5, is_default=True)
    for index in range(8):
        run([leader], 0, index)
    race = races.Race(bench, [leader], None, slower=smaller_steps)
    found = race._slow_down(leader)
    assert found.setting["learning_rate"] == pytest.approx(chosen)
    assert found.setting["n_rounds"] * found.setting["learning_rate"] == pytest.approx(30.0)
    assert len(race.trials) == (2 if found is leader else 3)  # what was tried is kept
    # Nor need they be better than the default setting in the end, whether or not they were tried on it before.
    other = Trial({"n_rounds": 90, "learning_rate": 0.3}, [90], n_folds=5, curves={**leader.curves})
    for trials in (race.trials, [leader, other]):
        assert races.Race(bench, trials, None, slower=smaller_steps)._or_default(trials[-1]).setting == found.setting
    bench.clock.left = lambda: -1.0
    assert races.Race(bench, [leader], None, slower=smaller_steps)._slow_down(leader) is leader


@pytest.mark.parametrize("fixed", [{"learning_rate": 0.3}, {"n_rounds": 30}], ids=str)
def test_steps_that_the_user_fixes_stay(fixed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "FIRST_PREDICTIONS", 30)
    monkeypatch.setattr(races, "LAST_PREDICTIONS", 30)
    search = RGBClassifierCV(RGBClassifier(calibration=None, **fixed), cv=2, n_jobs=1).fit(X[:60], C[:60])
    (name,) = fixed
    rates = {params["learning_rate"] for params in search.cv_results_["params"]}
    assert len(rates) == 1
    assert max(params[name] for params in search.cv_results_["params"]) <= fixed[name]


@pytest.mark.parametrize(
    ("n_rounds", "rate", "slower"),
    [
        (100, 0.3, (300, 0.1)),
        (300, 0.1, (900, 0.1 / 3)),
        (900, 0.1 / 3, None),
        (1334, 0.3, None),
        (1333, 0.05, (3999, 0.05 / 3)),
    ],
)
def test_how_small_steps_become(n_rounds: int, rate: float, slower: tuple[int, float] | None) -> None:
    found = smaller_steps({"n_rounds": n_rounds, "learning_rate": rate, "subsample": 0.3})
    if slower is None:
        assert found is None
    else:
        assert found == {"n_rounds": slower[0], "learning_rate": pytest.approx(slower[1]), "subsample": 0.3}


@pytest.mark.parametrize(("left", "taken"), [(1.0, 0), (0.9, 0), (0.7, 1), (-0.1, 0)])
def test_a_moment_less_than_was_kept_for_the_last_fit_is_enough(left: float, taken: int) -> None:
    """The last trial ends when the clock shows just that; it must not cost the best setting its place."""
    seconds = [1.0, 0.2]
    trials = [Trial({"n_rounds": 1}, [1], n_folds=5) for _ in seconds]
    bench: Any = SimpleNamespace(
        clock=SimpleNamespace(left=lambda: left), refit_time=lambda trial: seconds[trials.index(trial)]
    )
    assert races.Race(bench, trials, None)._first_in_time(trials) is trials[taken]


def test_a_setting_may_be_given_twice() -> None:
    search = small(param_grid={"max_depth": [2, 2]}).fit(X, Y)
    means = search.cv_results_["mean_test_score"]
    assert means[0] == means[1]
    assert search.best_index_ == 0
