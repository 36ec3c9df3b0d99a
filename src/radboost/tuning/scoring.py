"""Scores of a fit on held-back rows, after several numbers of rounds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from radboost._typing import FloatArray
from radboost.calibration import CalibrationRows, fit_calibration
from radboost.estimators._trial_monitor import calibrated_losses
from radboost.losses import ask
from radboost.tuning.splits import Split

FIRST_ROUND = 8  # smallest number of rounds at which a fit is scored
RATIO = 1.2  # of successive numbers of rounds
WEIGHT_OF_ERRORS = 2.0  # in the default score of classifiers, relative to the normalized log loss


def rounds_to_score(n_rounds: int) -> list[int]:
    """Numbers of rounds in about equal ratios, ascending; the last is `n_rounds`."""
    rounds, at = {n_rounds}, float(FIRST_ROUND)
    while at < n_rounds:
        rounds.add(round(at))
        at *= RATIO
    return sorted(rounds)


class RoundScorer(Protocol):
    """Scores of a model after each of the numbers of rounds, shape (len(rounds),); larger is better."""

    def __call__(self, model: Any, split: Split, rounds: list[int]) -> FloatArray: ...


class ScorerOfRawScores:
    """RoundScorer that computes a number from the raw scores f(x) of the held-back rows."""

    def __init__(self, value: Callable[[Any, FloatArray, Split], float], n_threads: int) -> None:
        self._value, self._n_threads = value, n_threads

    def __call__(self, model: Any, split: Split, rounds: list[int]) -> FloatArray:
        wanted, values = set(rounds), {}
        ensemble = model.ensemble_
        staged = ensemble.staged_decision_function(split.held_back.X, self._n_threads)
        for n_rounds, scores in enumerate(staged, 1):
            if n_rounds in wanted or n_rounds == ensemble.n_rounds:
                values[n_rounds] = self._value(model, scores, split)
        if not values:  # the fit ended before its first round
            scores = ensemble.decision_function(split.held_back.X, self._n_threads)
            values[0] = self._value(model, scores, split)
        last = values[max(values)]
        return np.array([values.get(n_rounds, last) for n_rounds in rounds])


def class_scorer(n_threads: int) -> ScorerOfRawScores:
    """Minus the log loss, divided by that of a uniform guess (log K), minus twice the error rate.

    The log loss is computed with the best factor on the scores. Penalties and damping shrink scores, but not the
    quality of predictions. Errors matter most to users, but vary much on few rows. The log loss distinguishes settings
    on fewer rows, but is sensitive to a few very wrong ones.
    """

    def value(model: Any, scores: FloatArray, split: Split) -> float:
        rows = split.held_back
        weights = rows.row_weights()
        predicted = (scores > 0.0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        error = weights.mean((predicted != rows.class_ids).astype(np.float64), n_threads)
        n_classes = 2 if scores.ndim == 1 else scores.shape[1]
        loss = weights.mean(calibrated_losses(scores, rows, n_threads), n_threads) / math.log(n_classes)
        return -loss - WEIGHT_OF_ERRORS * error

    return ScorerOfRawScores(value, n_threads)


def cost_scorer(n_threads: int) -> ScorerOfRawScores:
    """Minus the mean cost, averaged over the predictions (by `decision`) and draws from the probabilities."""

    def value(model: Any, scores: FloatArray, split: Split) -> float:
        rows, costs = split.held_back, split.held_back.costs or model._costs_of(split.learned)
        table = costs.of_rows(rows.class_ids)
        predicted = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        if model._decides_by() == "minimum_cost":
            predicted = model._decision()(scores)
        paid = table[np.arange(len(table)), predicted] + (table * model._probabilities(scores)).sum(axis=1)
        return -0.5 * costs.scale * rows.row_weights().mean(paid, n_threads)

    return ScorerOfRawScores(value, n_threads)


def regression_scorer(n_threads: int) -> ScorerOfRawScores:
    """Minus the mean loss that the estimator minimizes."""

    def value(model: Any, scores: FloatArray, split: Split) -> float:
        rows = split.held_back
        loss = model._resolve_loss(split.learned)[0] if isinstance(model.loss_, str) else model.loss_
        targets = model._targets(rows.class_ids, rows.targets, 1)
        if model._units_of_fit is not None:  # scales of several targets, so that all count alike
            targets, scores = targets / model._units_of_fit, scores / model._units_of_fit
        losses = np.ascontiguousarray(ask(loss, "value", targets, scores), dtype=np.float64)
        return -rows.row_weights().mean(losses, n_threads)

    return ScorerOfRawScores(value, n_threads)


@dataclass(frozen=True)
class Given:
    """Rows as the user gave them, for scorers of scikit-learn."""

    X: Any
    y: Any
    sample_weight: FloatArray | None
    kept: Any  # indices of the rows with a positive weight; None: all

    def part(self, indices: Any, fractions: FloatArray | None) -> tuple[Any, Any, FloatArray | None]:
        """X, y and weights of prepared rows by their indices, the weights times `fractions` (None: 1)."""
        from sklearn.utils import _safe_indexing

        rows = indices if self.kept is None else self.kept[indices]
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        if weights is not None and fractions is not None:
            weights = weights * fractions
        return _safe_indexing(self.X, rows), _safe_indexing(self.y, rows), weights


class SklearnScorer:
    """RoundScorer that calls a scorer of scikit-learn on models of fewer rounds."""

    def __init__(self, scorer: Any, given: Given, n_threads: int, *, calibrates: bool) -> None:
        self._scorer, self._given, self._n_threads, self._calibrates = scorer, given, n_threads, calibrates
        self._weighs = given.sample_weight is not None and _takes_weights(scorer)

    def __call__(self, model: Any, split: Split, rounds: list[int]) -> FloatArray:
        X, y, weights = self._given.part(split.indices, split.fractions)
        more = {"sample_weight": weights} if self._weighs else {}
        values: dict[int, float] = {}
        for n_rounds in (min(at, model.n_iter_) for at in rounds):
            if n_rounds not in values:
                values[n_rounds] = _as_score(self._scorer(self._model(model, n_rounds, split), X, y, **more))
        return np.array([values[min(at, model.n_iter_)] for at in rounds])

    def _model(self, model: Any, n_rounds: int, split: Split) -> Any:
        shorter = model_of_rounds(model, n_rounds)
        if self._calibrates and len(shorter.ensemble_):
            # Its two parameters are fitted on the held-back rows; after a fit to all rows they come from other rows.
            rows = split.held_back
            scores = shorter.ensemble_.decision_function(rows.X, self._n_threads)
            parts = [CalibrationRows(rows.row_weights(), rows.class_ids, scores)]
            shorter.calibration_ = fit_calibration(shorter._probabilities, parts, self._n_threads)
        return shorter


def model_of_rounds(model: Any, n_rounds: int) -> Any:
    """Copy of the model after its first `n_rounds` rounds."""
    shorter = copy(model)
    shorter.ensemble_ = model.ensemble_.of_rounds(n_rounds)
    shorter.n_iter_ = n_rounds
    shorter._name_classes()
    return shorter


def resolve_scorer(
    scoring: Any, given: Given, base: Any, n_threads: int, *, regression: bool, has_costs: bool
) -> RoundScorer:
    """RoundScorer for the parameter `scoring`; None: the default for classes, costs or regression."""
    if scoring is None:
        if regression:
            return regression_scorer(n_threads)
        return cost_scorer(n_threads) if has_costs else class_scorer(n_threads)
    from sklearn.metrics import check_scoring  # loads much that other fits do without

    if isinstance(scoring, Mapping | list | tuple | set):
        raise ValueError(f"scoring must be one name or one callable, which a setting is chosen by; got {scoring!r}.")
    scorer = check_scoring(base, scoring)
    calibrates = not regression and getattr(base, "calibration", None) is not None and not has_costs
    asks = getattr(scorer, "_response_method", None)
    wanted = asks is None or "predict_proba" in (asks if isinstance(asks, str) else list(asks))
    return SklearnScorer(scorer, given, n_threads, calibrates=calibrates and wanted)


def _takes_weights(scorer: Any) -> bool:
    if hasattr(scorer, "_score_func"):
        return _has_argument(scorer._score_func)
    return _has_argument(scorer)


def _has_argument(function: Any) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _as_score(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"scoring must return one number, of which larger ones are better; got {value!r}.") from error


def sizes_by_round(model: Any, rounds: list[int]) -> FloatArray:
    """Total number of nodes of the trees after each of the numbers of rounds, shape (len(rounds),)."""
    ensemble = model.ensemble_
    entered = np.full(len(ensemble.entered), ensemble.n_rounds + 1)
    np.minimum.at(entered, ensemble.steps["hypothesis"], ensemble.steps["round"] + 1)
    nodes = np.array([hypothesis.n_nodes for hypothesis in ensemble.entered], dtype=np.float64)
    return np.array([nodes[entered <= n_rounds].sum() for n_rounds in rounds])
