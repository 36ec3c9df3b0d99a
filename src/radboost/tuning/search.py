"""Base class of the four estimators that choose their setting by cross-validation."""

from __future__ import annotations

import numbers
import time
import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone

from radboost._progress import say
from radboost._tables import known_form, without_arrow
from radboost._typing import FloatArray
from radboost._validation import (
    check_choice,
    check_integer,
    check_real,
    check_sample_weight,
    check_verbose,
    resolve_n_jobs,
    seed_from,
)
from radboost.estimators import learn
from radboost.estimators._estimator import Estimator
from radboost.estimators._learning import ONE_CLASS
from radboost.model_file import MissingPartError, NotStored
from radboost.rows.partitions import LoadedPartition
from radboost.rows.prepare import CheckedRows, PreparedRows, read_training
from radboost.tuning.bench import Bench, Clock, Trial, with_setting
from radboost.tuning.delegation import DelegatesToBest
from radboost.tuning.race import Race, same_setting
from radboost.tuning.results import RULES, choose, cv_results, facts_of, take_facts
from radboost.tuning.scoring import Given, resolve_scorer, rounds_to_score
from radboost.tuning.spaces import Setting, Space, fixed_by_user, in_grid, names_of
from radboost.tuning.splits import DEFAULT_FOLDS, Splits, SplitsByContent, given_splits, number_of_folds

# Number of distinct rows that the first rung uses, and the factor for each further one.
ROWS_OF_FIRST_RUNG, MORE_ROWS = 8_000, 4

PARAMETERS = """

    Rows are binned once, for all folds and settings. One fit gives the scores of every smaller number of rounds, and
    their number is read off the mean over the splits. Settings are tried by successive halving: all of them on few
    splits (of large data: on few rows), the better third of them on more. The default setting of the estimator, with
    what it finds for "auto" on all rows, is always among the last ones, and is taken unless another one is better.
    Smaller steps of the best one, which DeepBoost and RGB try, are taken unless they are worse.

    Parameters
    ----------
    estimator : {name} or None
        Its parameters are those of the default setting, and what differs from the defaults of the class stays as it is
        in every setting. None for {name}().
    param_grid : dict from names to lists of values, list of such dicts, or None
        The settings to try: every combination. Names are parameters of the estimator and options of its trees
        ("thresholds", "max_features", ...). What a setting does not name is what a fit with the parameters of the
        estimator takes; `n_rounds` is the most rounds. None: settings that pay on most data, and those one step beside
        the best.
    cv : int, splitter, list of splits or None
        A number of folds, five for None: rows are dealt out by their content, those of each class apart, so that
        neither their order nor copies in place of weights matter; copies of a row are dealt out one by one (`groups` of
        `fit` keep them together). Folds are repeated with other draws until there are 1,500 held-back predictions. A
        splitter of scikit-learn's form, or a list of splits, is taken as it is: its folds may depend on the order of
        the rows, and are not repeated.
    scoring : str, callable or None
        What is to be large: a name of scikit-learn's, or a function of a fitted model, X and y. None: {scoring}
    rule : {{"best", "one_standard_error"}}
        Which setting is taken: the one with the best mean score, or the one with the smallest models (nodes of all
        trees) whose mean score is within one standard error of that.
    time_budget : float or None
        Seconds for `fit`, about. What a search of the whole space leaves of them goes into further settings and repeats
        of the folds; where they do not suffice, what was tried until then decides. With a budget two runs may try
        different settings: it is the one parameter through which the speed of the machine matters. None: the whole
        search.
    n_jobs : int or None
        Threads, at most 1024; None for all cores. The model does not depend on it.
    random_state : int, generator or None
        Seed of the folds and of all fits.
    verbose : int
        Show progress bars, one for each part of the search, and which settings go on.

    Attributes
    ----------
    best_estimator_ : {name}
        The chosen setting, fitted to all rows. What the search predicts, it does.
    best_params_ : dict
        The parameters of the chosen setting. An estimator with these, the other parameters of `estimator` and the same
        seed, fitted to the same rows, is `best_estimator_`, bit for bit.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of arrays
        As in scikit-learn's searches ("params", "param_...", "split0_test_score", ..., "mean_test_score",
        "std_test_score", "rank_test_score", "mean_fit_time", ...), with "n_rounds" (the number that was read off),
        "n_splits", "n_resources" (rows that fits learned from), "iter" (the last rung) and "mean_n_nodes". Settings
        that were dropped early were tried on fewer splits, and their means do not compare: ranks go by how far they
        came first.
    validation_curves_ : list of arrays of shape (n, 3)
        For each setting numbers of rounds, mean scores and their standard errors.
    n_splits_ : int
        Splits that the chosen setting was tried on.
    refit_time_ : float
        Seconds of the fit to all rows.
    explain, predict_contributions, apply, to_text, feature_importance, permutation_importance, prune, to_onnx, \
to_treelite, to_c, staged_predict and others : methods
        Those of `best_estimator_`: `prune` returns a {name}. `save` and `to_dict` keep the whole search.
    classes_, ensemble_, chosen_, history_, n_iter_, feature_importances_, n_features_in_, feature_names_in_ and others
        Those of `best_estimator_`.
    """


class Search(DelegatesToBest, Estimator):
    """Chooses a setting, and predicts with it."""

    _kind_of_file: ClassVar[str] = "searches"
    _tuned: ClassVar[type[Any]]
    _regression: ClassVar[bool] = False
    _space: ClassVar[Space]

    best_estimator_: Any
    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    cv_results_: dict[str, Any]
    validation_curves_: list[FloatArray]
    n_splits_: int
    refit_time_: float

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        time_budget: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Chooses a setting, then learns from all rows with it.

        Parameters
        ----------
        X, y, sample_weight :
            As in the estimator without CV.
        groups : array or None
            Rows of one group are held back together: for a splitter that asks for them; with a number of folds,
            those of scikit-learn's GroupKFold.
        """
        return self._search(X, y, sample_weight, groups)

    def _read_parameters(self) -> Any:
        """Check parameters before data are read; returns those of the estimator."""
        check_choice("rule", self.rule, RULES)
        check_verbose(self.verbose)
        resolve_n_jobs(self.n_jobs)
        if self.time_budget is not None:
            check_real("time_budget", self.time_budget, low=0.0)
        if self.cv is not None and isinstance(self.cv, numbers.Integral):
            check_integer("cv", self.cv, 2)
        base = self._base()
        if self.param_grid is not None:
            in_grid(self.param_grid, base, names_of(self._tuned))
        return base._read_parameters()

    def _base(self) -> Any:
        """Estimator with the parameters that are common to all settings."""
        given = self._tuned() if self.estimator is None else self.estimator
        if not isinstance(given, self._tuned):
            raise TypeError(f"estimator must be a {self._tuned.__name__} or None; got {given!r}.")
        if given.early_stopping is not None and given.early_stopping is not False:
            raise ValueError(
                "The number of rounds is read off the folds: give an estimator with early_stopping=False, not "
                f"{given.early_stopping!r}."
            )
        base = clone(given)
        base.n_jobs, base.verbose, base.warm_start = self.n_jobs, 0, False
        base.random_state = self.random_state
        return base

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any, cost: Any = None) -> Self:
        for name in ("estimator", "param_grid", "cv", "scoring"):
            if isinstance(getattr(self, name), NotStored):
                raise MissingPartError(getattr(self, name).message())
        self._read_parameters()
        base = self._base()
        if not isinstance(self.random_state, numbers.Integral):  # one seed for all fits
            base.random_state = seed_from(self.random_state) % 2**32
        settings = base._read_parameters()
        reader, growth = copy(base), settings.growth
        rows = LoadedPartition(X, y, sample_weight, cost=cost)
        training = read_training(reader, [rows], rows.given, regression=self._regression)
        base._check_training(training)
        prepared = training.prepare(growth.options.max_bins, growth.n_threads)
        levels = self._levels(prepared, training, groups, growth.seed, growth.n_threads)
        weights = check_sample_weight(sample_weight, training.n_given)
        labels = without_arrow(y) if training.kept is not None else training.labels
        given = Given(_with_rows(X), labels, weights, training.kept)
        scorer = resolve_scorer(
            self.scoring,
            given,
            base,
            growth.n_threads,
            regression=self._regression,
            has_costs=prepared.costs is not None or getattr(base, "cost", None) is not None,
        )
        budget = None if self.time_budget is None else float(self.time_budget)
        clock = Clock(0.0 if prepared.has_one_class else budget)  # one class: nothing to compare
        say(self.verbose, "the default setting, fitted to all rows")
        began = time.perf_counter()
        default = learn(base, prepared, settings=settings)
        if default.stop_reason_ != ONE_CLASS:
            base._warn(default)
        seconds = time.perf_counter() - began
        n_rows = float(prepared.n_rows)
        bench = Bench(base, levels, scorer, clock, n_rows, seconds, int(self.verbose))
        race = self._race(bench, base, default, prepared)
        leader = race.run()
        self._finish(race, leader, default, seconds, prepared)
        return self

    def _levels(
        self, prepared: PreparedRows, training: CheckedRows, groups: Any, seed: int, n_threads: int
    ) -> list[Splits]:
        whole = self.cv is None or isinstance(self.cv, numbers.Integral)
        n_folds = DEFAULT_FOLDS if self.cv is None else int(self.cv) if whole else 0
        if groups is not None and whole:
            from sklearn.model_selection import GroupKFold

            cv: Any = GroupKFold(n_folds)
        else:
            cv = self.cv
        if groups is not None or not whole:
            y = np.zeros(training.n_given)
            if training.classes is not None:
                # Rows of weight zero are in no part, so that their class does not matter.
                ids = np.zeros(training.n_given, dtype=np.int64)
                ids[np.arange(training.n_given) if training.kept is None else training.kept] = training.class_ids
                y = training.classes[ids]
            return [given_splits(prepared, cv, y, groups, training.kept, training.n_given)]
        n_folds = number_of_folds(prepared, n_folds)
        n_different = prepared.n_different(n_threads)
        sizes, size = [], ROWS_OF_FIRST_RUNG
        while 1.5 * size < n_different:
            sizes.append(size)
            size *= MORE_ROWS
        rows = replace(prepared, validation=None)
        return [
            SplitsByContent(rows, n_folds, seed, n_threads, n_different, n_rows) for n_rows in [*sizes, n_different]
        ]

    def _race(self, bench: Bench, base: Any, default: Any, prepared: PreparedRows) -> Race:
        names = names_of(self._tuned)
        used = self._space.used(default)
        n_classes = 0 if prepared.classes is None else len(prepared.classes)
        trial = partial(_trial, n_folds=bench.levels[-1].n_folds)
        if self.param_grid is not None:
            given = in_grid(self.param_grid, base, names)
            if self._regression and self.scoring is None and any("loss" in setting for setting in given):
                raise ValueError('Settings with different losses cannot be compared by them: give scoring="r2", say.')
            complete = [{**used, **setting} for setting in given]
            return Race(bench, list(map(trial, complete)), None, int(self.verbose))
        fixed = fixed_by_user(base, names)

        def free(setting: Setting) -> Setting:
            return {**setting, **{name: value for name, value in fixed.items() if name in setting}}

        settings: list[Setting] = []
        for setting in map(free, self._space.around(used, base, n_classes)):
            if not any(same_setting(setting, other) for other in [used, *settings]):
                settings.append(setting)
        trials = [replace(trial(used), is_default=True), *map(trial, settings)]

        def neighbors(setting: Setting) -> Any:
            return map(free, self._space.neighbors(setting, base))

        def slower(setting: Setting) -> Setting | None:
            slow = None if self._space.slower is None else self._space.slower(setting)
            return slow if slow is None or same_setting(free(slow), slow) else None  # a part may be fixed

        return Race(bench, trials, neighbors, int(self.verbose), slower=slower)

    def _finish(self, race: Race, leader: Trial, default: Any, seconds: float, prepared: PreparedRows) -> None:
        trial, n_rounds = choose(race, leader, self.rule)
        base, tried = race.bench.base, bool(trial.curves)
        if not tried:  # no setting was compared: take the default one
            trial = replace(_trial(self._space.used(default), leader.n_folds), is_default=True)
            race.trials, n_rounds = [trial], trial.rounds[-1]
        results, curves, index = cv_results(race, base, trial, n_rounds)
        if not tried and default.stop_reason_ != ONE_CLASS:
            warnings.warn(
                f"time_budget={self.time_budget!r} was over after the first fit: no settings were compared, and the "
                "model is that of the default setting. Give more seconds.",
                UserWarning,
                stacklevel=5,
            )
        say(self.verbose, f"chosen: {results['params'][index]}")
        if not tried or (trial.is_default and n_rounds == trial.setting["n_rounds"]):
            model = default
        else:
            began = time.perf_counter()
            model = learn(with_setting(base, {**trial.setting, "n_rounds": n_rounds}), prepared)
            seconds = time.perf_counter() - began
        fitted = copy(self)
        for name in list(fitted.__dict__):
            if name.endswith("_"):
                del fitted.__dict__[name]
        fitted.best_estimator_ = model
        fitted.best_index_ = index
        fitted.best_params_ = results["params"][index]
        fitted.best_score_ = float(results["mean_test_score"][index])
        fitted.cv_results_, fitted.validation_curves_ = results, curves
        fitted.n_splits_ = int(results["n_splits"][index])
        fitted.refit_time_ = seconds
        # One assignment: a prediction in another thread uses either the old model or the new one.
        self.__dict__ = fitted.__dict__

    def _facts(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays that a model file stores besides the best estimator."""
        return facts_of(self)

    def _take_facts(self, best: Any, facts: Mapping[str, Any], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Set the attributes from the results of `_facts`, after checks: the file is not trusted."""
        if type(best) is not self._tuned:
            raise ValueError(f"its best estimator is a {type(best).__name__}, not a {self._tuned.__name__}")
        take_facts(self, best, facts, columns)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.estimator if isinstance(self.estimator, self._tuned) else self._tuned()
        tags.input_tags, tags.target_tags = given.__sklearn_tags__().input_tags, given.__sklearn_tags__().target_tags
        return tags


def _trial(setting: Mapping[str, Any], n_folds: int) -> Trial:
    n_rounds = check_integer("n_rounds", setting["n_rounds"], 1)
    return Trial(dict(setting), rounds_to_score(n_rounds), n_folds)


def _with_rows(X: Any) -> Any:
    """Convert X to a form whose rows scikit-learn can index."""
    known = known_form(X)
    return known.tocsr() if sparse.issparse(known) else known


def described(name: str, what: str, scoring: str) -> str:
    """Docstring of a search: the summary `what`, and parameters for the estimator `name`."""
    return what + PARAMETERS.format(name=name, scoring=scoring)
