"""Everybody tuned for the same time: the other libraries by Optuna, each over the parameters that its users tune.

A trial is judged by the mean Brier score over three folds of the training part. It is proper, so it rewards good
probabilities, bounded, so a forest that says 0 and is wrong is not lost, and finer than the error on few rows. The
first trial is the library's defaults; the others are drawn by Optuna's tree-structured Parzen estimator, and a trial
that is behind the median after a fold is given up. RadBoost's own searches (competitors.py) take as long and go their
own way, by splits and scores of their own. All seconds, RadBoost's too, are those of the processor, of one thread: a
busy machine makes a run longer, and gives nobody fewer trials.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import Parts, cut

FOLDS_INSIDE = 3


@dataclass(frozen=True)
class Whole:
    """A whole number, tried by its logarithm."""

    low: int
    high: int

    def ask(self, trial: Any, name: str) -> Any:
        return trial.suggest_int(name, self.low, self.high, log=True)


@dataclass(frozen=True)
class Number:
    """A number, tried by its logarithm where it spans several powers of ten."""

    low: float
    high: float

    def ask(self, trial: Any, name: str) -> Any:
        return trial.suggest_float(name, self.low, self.high, log=self.high >= 10.0 * self.low > 0.0)


@dataclass(frozen=True)
class Choice:
    """One of several."""

    options: tuple[str, ...]

    def ask(self, trial: Any, name: str) -> Any:
        return trial.suggest_categorical(name, self.options)


Space = Mapping[str, Whole | Number | Choice]

#: name of a library -> what is tuned; what is always set comes from `ALWAYS`
SPACES: dict[str, Space] = {
    "RandomForest": {
        "n_estimators": Whole(100, 500),
        "max_features": Number(0.1, 1.0),
        "min_samples_leaf": Whole(1, 20),
        "max_samples": Number(0.5, 1.0),
        "criterion": Choice(("gini", "entropy")),
    },
    "HistGradientBoosting": {
        "max_iter": Whole(30, 1000),
        "learning_rate": Number(0.01, 0.3),
        "max_leaf_nodes": Whole(4, 128),
        "min_samples_leaf": Whole(2, 60),
        "l2_regularization": Number(0.001, 30.0),
        "max_features": Number(0.2, 1.0),
    },
    "LightGBM": {
        "n_estimators": Whole(30, 1000),
        "learning_rate": Number(0.01, 0.3),
        "num_leaves": Whole(4, 128),
        "min_child_samples": Whole(2, 60),
        "reg_lambda": Number(0.001, 30.0),
        "subsample": Number(0.4, 1.0),
        "colsample_bytree": Number(0.2, 1.0),
    },
    "XGBoost": {
        "n_estimators": Whole(30, 1000),
        "learning_rate": Number(0.01, 0.3),
        "max_depth": Whole(2, 10),
        "min_child_weight": Number(0.5, 20.0),
        "reg_lambda": Number(0.001, 30.0),
        "subsample": Number(0.4, 1.0),
        "colsample_bytree": Number(0.2, 1.0),
    },
    "CatBoost": {
        "iterations": Whole(100, 1000),
        "learning_rate": Number(0.01, 0.3),
        "depth": Whole(3, 8),
        "l2_leaf_reg": Number(1.0, 30.0),
        "random_strength": Number(0.1, 10.0),
        "bagging_temperature": Number(0.0, 1.0),
    },
}
#: without it LightGBM reads `subsample` and does not draw
ALWAYS: dict[str, dict[str, Any]] = {"LightGBM": {"subsample_freq": 1}}


class Searched:
    """Draws settings until the budget is nearly used up, then fits all rows with the best (the first of equals).

    The folds depend on the seed and the number of rows alone, so every library sees the same. A trial that the end of
    the budget cuts off is lost. The last fit counts: the search ends when what is left is what a fit of all rows with
    the best setting is expected to take, from its fits of the folds.
    """

    def __init__(self, library: str, make: Callable[..., Any], budget: float, seed: int) -> None:
        self._space, self._always = SPACES[library], ALWAYS.get(library, {})
        self._make, self._budget, self._seed = make, budget, seed

    def fit(self, X: NDArray[Any], y: NDArray[np.int64]) -> Self:
        """Search, then fit; labels are 0, 1, ... without gaps."""
        import optuna

        self._started = time.process_time()
        folds = list(_folds(X, y, self._seed))
        with _quiet(optuna):
            study = optuna.create_study(
                sampler=optuna.samplers.TPESampler(seed=self._seed, multivariate=True),
                pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
            )
            self.chosen, self.n_trials = self._search(study, folds)
        self._model = self._make(**self.chosen).fit(X, y)
        return self

    def _search(self, study: Any, folds: list[Parts]) -> tuple[dict[str, Any], int]:
        """The best setting, and how many were begun. The defaults need not lie in the space, so Optuna is not told."""
        best, tried = dict[str, Any](), 1
        lowest, expected = self._trial(best, folds, lambda place, score: False)
        while not self._is_over(expected):
            trial = study.ask()
            setting = {name: one.ask(trial, name) for name, one in self._space.items()}

            def is_behind(place: int, score: float, trial: Any = trial) -> bool:
                trial.report(score, place)
                return bool(trial.should_prune())

            score, seconds = self._trial(setting | self._always, folds, is_behind)
            complete = score < np.inf
            study.tell(trial, score if complete else None, state=_state(complete))
            if score < lowest:
                best, lowest, expected = setting | self._always, score, seconds
            tried += 1
        return best, tried

    def _trial(
        self, setting: Mapping[str, Any], folds: list[Parts], is_behind: Callable[[int, float], bool]
    ) -> tuple[float, float]:
        """The mean score over all folds, infinite where not all were fitted; and the seconds of a fit of all rows."""
        began, scores = time.process_time(), list[float]()
        for place, fold in enumerate(folds):
            model = self._make(**setting).fit(fold.X_train, fold.y_train)
            scores.append(brier_score(np.asarray(model.predict_proba(fold.X_test), dtype=np.float64), fold.y_test))
            if place + 1 < len(folds) and (self._is_over(0.0) or is_behind(place, float(np.mean(scores)))):
                return np.inf, 0.0
        # a fold learns from all rows but those of one part
        return float(np.mean(scores)), (time.process_time() - began) / (FOLDS_INSIDE - 1)

    def _is_over(self, reserve: float) -> bool:
        return time.process_time() - self._started + reserve >= self._budget

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """The labels that the chosen one predicts."""
        labels: NDArray[Any] = np.asarray(self._model.predict(X))
        return labels

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Its probabilities."""
        probabilities: NDArray[Any] = np.asarray(self._model.predict_proba(X))
        return probabilities

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self._model.classes_)


def brier_score(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Mean squared distance to the label's own vertex; a label of -1 has none, and its share is wrong altogether."""
    wanted = np.zeros_like(probabilities)
    known = labels >= 0
    wanted[np.flatnonzero(known), labels[known]] = 1.0
    return float(np.mean(np.where(known, ((probabilities - wanted) ** 2).sum(axis=1), 2.0)))


def _folds(X: NDArray[Any], y: NDArray[np.int64], seed: int) -> Iterator[Parts]:
    order = np.random.default_rng(seed).permutation(len(y))
    for fold in np.array_split(order, FOLDS_INSIDE):
        yield cut(X, y, np.setdiff1d(order, fold), fold)


def _state(complete: bool) -> Any:
    from optuna.trial import TrialState

    return TrialState.COMPLETE if complete else TrialState.PRUNED


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    import warnings

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)
