"""Tuning of the other libraries by Optuna, for the same time, each over the parameters that its users tune.

A trial is scored by the mean Brier score over three folds of the training part. It is proper, so it rewards good
probabilities; bounded, so a forest that says 0 and is wrong is not lost; and finer than the error on few rows. The
first trial is the library's defaults. The others are drawn by Optuna's tree-structured Parzen estimator, and a trial
that is behind the median after a fold is given up. RadBoost's own searches (competitors.py) take as long and go their
own way, by splits and scores of their own. All seconds, RadBoost's too, are those of the processor, of one thread: a
busy machine makes a run longer, and gives nobody fewer trials.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.tasks import Parts, cut

FOLDS_INSIDE = 3

#: parameter -> (lowest, highest), whole numbers or not, or strings to choose from
Space = Mapping[str, tuple[int, int] | tuple[float, float] | tuple[str, ...]]

#: library -> its space; what is always set comes from `ALWAYS`
SPACES: dict[str, Space] = {
    "RandomForest": {
        "n_estimators": (100, 500),
        "max_features": (0.1, 1.0),
        "min_samples_leaf": (1, 20),
        "max_samples": (0.5, 1.0),
        "criterion": ("gini", "entropy"),
    },
    "HistGradientBoosting": {
        "max_iter": (30, 1000),
        "learning_rate": (0.01, 0.3),
        "max_leaf_nodes": (4, 128),
        "min_samples_leaf": (2, 60),
        "l2_regularization": (0.001, 30.0),
        "max_features": (0.2, 1.0),
    },
    "LightGBM": {
        "n_estimators": (30, 1000),
        "learning_rate": (0.01, 0.3),
        "num_leaves": (4, 128),
        "min_child_samples": (2, 60),
        "reg_lambda": (0.001, 30.0),
        "subsample": (0.4, 1.0),
        "colsample_bytree": (0.2, 1.0),
    },
    "XGBoost": {
        "n_estimators": (30, 1000),
        "learning_rate": (0.01, 0.3),
        "max_depth": (2, 10),
        "min_child_weight": (0.5, 20.0),
        "reg_lambda": (0.001, 30.0),
        "subsample": (0.4, 1.0),
        "colsample_bytree": (0.2, 1.0),
    },
    "CatBoost": {
        "iterations": (100, 1000),
        "learning_rate": (0.01, 0.3),
        "depth": (3, 8),
        "l2_leaf_reg": (1.0, 30.0),
        "random_strength": (0.1, 10.0),
        "bagging_temperature": (0.0, 1.0),
    },
}
#: without it LightGBM reads `subsample` and does not draw
ALWAYS: dict[str, dict[str, Any]] = {"LightGBM": {"subsample_freq": 1}}


def distributions(space: Space) -> dict[str, Any]:
    """Translate a space for Optuna; whole numbers, and others that span a factor of ten, are drawn by logarithm."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def distribution(given: tuple[Any, ...]) -> Any:
        if isinstance(given[0], str):
            return CategoricalDistribution(given)
        low, high = given
        if isinstance(low, int):
            return IntDistribution(low, high, log=True)
        return FloatDistribution(low, high, log=high >= 10.0 * low > 0.0)

    return {name: distribution(given) for name, given in space.items()}


class Search:
    """An estimator that draws settings until the budget is nearly used up, then fits all rows with the best.

    The folds depend on the seed and the number of rows alone, so every library has the same. A trial that the end of
    the budget cuts off is lost. The search ends when what is left is what a fit of all rows with the best setting is
    expected to take, from its fits of the folds.
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
        """Best setting, and the number of trials. The defaults need not lie in the space, so Optuna has not theirs."""
        from optuna.trial import TrialState

        best, tried = dict[str, Any](), 1
        lowest, expected = self._trial(best, folds, lambda fold, score: False)
        space = distributions(self._space)
        while not self._is_over(expected):
            trial = study.ask(space)

            def is_behind(fold: int, score: float, trial: Any = trial) -> bool:
                trial.report(score, fold)
                return bool(trial.should_prune())

            setting = trial.params | self._always
            score, seconds = self._trial(setting, folds, is_behind)
            if score < np.inf:
                study.tell(trial, score)
            else:
                study.tell(trial, state=TrialState.PRUNED)
            if score < lowest:
                best, lowest, expected = setting, score, seconds
            tried += 1
        return best, tried

    def _trial(
        self, setting: Mapping[str, Any], folds: list[Parts], is_behind: Callable[[int, float], bool]
    ) -> tuple[float, float]:
        """Mean score over the folds, infinite where one is not fitted, and expected seconds of a fit of all rows."""
        began, scores = time.process_time(), list[float]()
        for k, fold in enumerate(folds):
            model = self._make(**setting).fit(fold.X_train, fold.y_train)
            scores.append(brier_score(np.asarray(model.predict_proba(fold.X_test), dtype=np.float64), fold.y_test))
            if k + 1 < len(folds) and (self._is_over(0.0) or is_behind(k, float(np.mean(scores)))):
                return np.inf, 0.0
        # a fold learns from all rows but those of one part
        return float(np.mean(scores)), (time.process_time() - began) / (FOLDS_INSIDE - 1)

    def _is_over(self, reserve: float) -> bool:
        return time.process_time() - self._started + reserve >= self._budget

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Predict labels with the chosen setting."""
        return np.asarray(self._model.predict(X))

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        """Predict probabilities with the chosen setting."""
        return np.asarray(self._model.predict_proba(X))

    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self._model.classes_)


def brier_score(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Average the squared distance to the label's own vertex; 2 for a label of -1, which has none."""
    wanted = np.zeros_like(probabilities)
    known = labels >= 0
    wanted[np.flatnonzero(known), labels[known]] = 1.0
    return float(np.mean(np.where(known, ((probabilities - wanted) ** 2).sum(axis=1), 2.0)))


def _folds(X: NDArray[Any], y: NDArray[np.int64], seed: int) -> Iterator[Parts]:
    order = np.random.default_rng(seed).permutation(len(y))
    for fold in np.array_split(order, FOLDS_INSIDE):
        yield cut(X, y, np.setdiff1d(order, fold), fold)


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
