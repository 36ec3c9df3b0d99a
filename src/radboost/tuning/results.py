"""Choice of a setting by `rule`, and `cv_results_`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from radboost._typing import FloatArray
from radboost.tuning.bench import Key, Trial, parameters_of, standard_error
from radboost.tuning.race import Race
from radboost.tuning.spaces import Setting
from radboost.tuning.splits import Splits

RULES = ["best", "one_standard_error"]


def choose(race: Race, leader: Trial, rule: str) -> tuple[Trial, int]:
    """Chosen setting and number of rounds, by `rule`.

    "one_standard_error": the smallest model, by the nodes of its trees, whose mean score is within a standard error of
    that of the leader. Only settings that were tried on all splits of the leader are candidates.
    """
    n_folds = race.bench.levels[-1].n_folds
    keys = leader.keys_of_last_rows
    if not keys:
        return leader, leader.rounds[-1]
    index = leader.best(keys)
    if rule == "best" or len(keys) < 2:
        return leader, leader.rounds[index]
    threshold = float(leader.scores(keys).mean()) - standard_error(leader.scores(keys), n_folds)
    smallest = (float(np.mean([leader.sizes[key][index] for key in keys])), leader, leader.rounds[index])
    for trial in race.trials:
        if trial.failure is not None or not set(keys) <= set(trial.curves):
            continue
        means = trial.mean_curve(keys)
        sizes = np.mean([trial.sizes[key] for key in keys], axis=0)
        for i in np.flatnonzero(means >= threshold):
            if sizes[i] < smallest[0]:
                smallest = (float(sizes[i]), trial, trial.rounds[i])
    return smallest[1], smallest[2]


def cv_results(race: Race, base: Any, chosen: Trial, n_rounds: int) -> tuple[dict[str, Any], list[FloatArray], int]:
    """Contents of `cv_results_`, curves (see `_curve`) of all settings, and the index of the chosen one."""
    trials = [trial for trial in race.trials if trial.curves or trial.failure is not None or trial is chosen]
    levels = race.bench.levels
    level = max((key[0] for trial in trials for key in trial.curves), default=0)
    indices = sorted({key[1] for trial in trials for key in trial.curves if key[0] == level})
    rounds = [n_rounds if trial is chosen else _rounds_of(trial) for trial in trials]
    results: dict[str, Any] = {}
    for name, times in (("fit", "fit_times"), ("score", "score_times")):
        seconds = [list(getattr(trial, times).values()) for trial in trials]
        results[f"mean_{name}_time"] = np.array([np.mean(values) if values else np.nan for values in seconds])
        results[f"std_{name}_time"] = np.array([np.std(values) if values else np.nan for values in seconds])
    settings = [{**trial.setting, "n_rounds": n} for trial, n in zip(trials, rounds, strict=True)]
    results |= parameter_columns(settings)
    results["params"] = [parameters_of(base, setting) for setting in settings]
    for index in indices:
        results[f"split{index}_test_score"] = np.array(
            [_score(trial, (level, index), n) for trial, n in zip(trials, rounds, strict=True)]
        )
    scores = [_scores(trial, n) for trial, n in zip(trials, rounds, strict=True)]
    results["mean_test_score"] = np.array([np.mean(one) if len(one) else np.nan for one in scores])
    results["std_test_score"] = np.array([np.std(one) if len(one) else np.nan for one in scores])
    results["rank_test_score"] = _ranks(trials, results["mean_test_score"])
    results["n_rounds"] = np.array(rounds, dtype=np.int64)
    results["n_splits"] = np.array([len(trial.keys_of_last_rows) for trial in trials], dtype=np.int64)
    results["n_resources"] = np.array([_n_learned(trial, levels) for trial in trials], dtype=np.int64)
    results["iter"] = np.array([trial.rung for trial in trials], dtype=np.int64)
    results["mean_n_nodes"] = np.array([_size(trial, n) for trial, n in zip(trials, rounds, strict=True)])
    curves = [_curve(trial, levels[-1].n_folds) for trial in trials]
    return results, curves, trials.index(chosen)


def differing(results: Mapping[str, Any]) -> list[list[str]]:
    """Lists of "name=value" for each setting, one list per parameter that differs between settings of a `cv_results_`.

    The text is empty for a setting without the parameter.
    """
    lists = []
    for column in results:
        if column.startswith("param_"):
            name = column.removeprefix("param_")
            words = ["" if value is np.ma.masked else f"{name}={_plain(value)!r}" for value in results[column]]
            if len(set(words)) > 1:
                lists.append(words)
    return lists


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def parameter_columns(settings: Sequence[Setting]) -> dict[str, Any]:
    """Masked arrays "param_<name>" of `cv_results_`; masked for settings without the parameter."""
    columns = {}
    for name in sorted({name for setting in settings for name in setting}):
        column = np.empty(len(settings), dtype=object)
        for i, setting in enumerate(settings):
            column[i] = setting.get(name)
        columns[f"param_{name}"] = np.ma.masked_array(column, mask=[name not in setting for setting in settings])
    return columns


def settings_of(results: Mapping[str, Any]) -> list[Setting]:
    """Settings from the columns "param_<name>" of `cv_results_`."""
    columns = {name.removeprefix("param_"): column for name, column in results.items() if name.startswith("param_")}
    return [
        {name: column[i] for name, column in columns.items() if column[i] is not np.ma.masked}
        for i in range(len(results["params"]))
    ]


def _rounds_of(trial: Trial) -> int:
    keys = trial.keys_of_last_rows
    return trial.rounds[trial.best(keys)] if keys else trial.rounds[-1]


def _score(trial: Trial, key: Key, n_rounds: int) -> float:
    return float(trial.curves[key][trial.rounds.index(n_rounds)]) if key in trial.curves else np.nan


def _scores(trial: Trial, n_rounds: int) -> list[float]:
    return [_score(trial, key, n_rounds) for key in trial.keys_of_last_rows]


def _size(trial: Trial, n_rounds: int) -> float:
    keys = trial.keys_of_last_rows
    index = trial.rounds.index(n_rounds)
    return float(np.mean([trial.sizes[key][index] for key in keys])) if keys else np.nan


def _n_learned(trial: Trial, levels: Sequence[Splits]) -> int:
    keys = trial.keys_of_last_rows
    return round(levels[keys[0][0]].n_learned) if keys else 0


def _curve(trial: Trial, n_folds: int) -> FloatArray:
    """Numbers of rounds, mean scores and their standard errors, shape (n, 3)."""
    keys = trial.keys_of_last_rows
    if not keys:
        return np.zeros((0, 3))
    scores = np.array([trial.curves[key] for key in keys])
    errors = [standard_error(column, n_folds) if len(keys) > 1 else np.nan for column in scores.T]
    return np.column_stack([trial.rounds, scores.mean(axis=0), errors])


def _ranks(trials: Sequence[Trial], means: FloatArray) -> npt.NDArray[np.int32]:
    """Ranks from 1 by level, number of splits, and mean score: means over different splits are not comparable."""
    order = sorted(
        range(len(trials)),
        key=lambda i: (
            -(trials[i].keys_of_last_rows[0][0] if trials[i].curves else -1),
            -len(trials[i].keys_of_last_rows),
            -means[i] if np.isfinite(means[i]) else np.inf,
        ),
    )
    ranks = np.empty(len(trials), dtype=np.int32)
    ranks[order] = np.arange(1, len(trials) + 1)
    return ranks


def number_columns(results: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    """Numeric columns of `cv_results_`."""
    return {name: np.asarray(column) for name, column in results.items() if not name.startswith("param")}


def facts_of(search: Any) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Plain values and arrays of a search that a model file stores besides the best estimator."""
    facts = {
        "best_index": search.best_index_,
        "refit_time": search.refit_time_,
        "settings": settings_of(search.cv_results_),
        "params": search.cv_results_["params"],
    }
    columns = number_columns(search.cv_results_)
    columns["curves"] = np.concatenate(search.validation_curves_)
    columns["curve_lengths"] = np.array([len(curve) for curve in search.validation_curves_], dtype=np.int64)
    return facts, columns


def take_facts(search: Any, best: Any, facts: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> None:
    """Set the attributes of a search from the results of `facts_of`, after checks: the file is not trusted."""
    settings, params, index = facts["settings"], facts["params"], facts["best_index"]
    for listed in (settings, params):
        if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
            raise ValueError("the settings of the search must be a list of dicts")
    numeric = {name: column for name, column in columns.items() if name not in ("curves", "curve_lengths")}
    curves, lengths = columns["curves"], columns["curve_lengths"]
    lists = [settings, params, lengths, *numeric.values()]
    if any(len(one) != len(settings) for one in lists) or any(one.ndim != 1 for one in numeric.values()):
        raise ValueError("the columns of the search have different lengths")
    if type(index) is not int or not 0 <= index < len(settings):
        raise ValueError("the best setting of the search does not exist")
    sound = curves.dtype == np.float64 and lengths.dtype == np.int64 and lengths.min(initial=0) >= 0
    if not sound or curves.shape != (lengths.sum(), 3):
        raise ValueError("the curves of the search do not fit the settings")
    results = {**numeric, **parameter_columns(settings), "params": params}
    search.best_estimator_, search.best_index_, search.cv_results_ = best, index, results
    search.best_params_ = params[index]
    search.best_score_ = float(results["mean_test_score"][index])
    search.n_splits_ = int(results["n_splits"][index])
    search.refit_time_ = float(facts["refit_time"])
    search.validation_curves_ = np.split(curves, np.cumsum(lengths)[:-1])
