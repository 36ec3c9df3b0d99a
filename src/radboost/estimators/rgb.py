"""Regularized Gradient Boosting, for classes and for numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin

from radboost._typing import ClassIds, FloatArray
from radboost._validation import check_integer
from radboost.estimators._calibrated import CalibratedMixin
from radboost.estimators._documents import described_like
from radboost.estimators._estimator import of_one_fit
from radboost.estimators._exporting import class_output, regression_output, target_link
from radboost.estimators._gradient_boosting import GradientBoosting
from radboost.estimators._learning import BoostingEstimator, FitSettings
from radboost.estimators._naming import with_constructor
from radboost.estimators._predicting import begun_at
from radboost.estimators._pruning import Costs, HowToPrune, adaptive_prices, keeps_order, wrong_labels
from radboost.estimators._trees_model import TreesModel
from radboost.explain.explanation import Explanation
from radboost.export.parts import ExportedOutput
from radboost.families import TreeFamilies
from radboost.losses import (
    REGRESSION_LOSSES,
    TWO_CLASS_LOSSES,
    MultinomialLoss,
    NamedTargetLoss,
    NativeTargetLoss,
    TargetLoss,
    ask,
    get_target_loss,
)
from radboost.losses.several import SeveralTargets
from radboost.model_file import MissingPartError, NotStored, storable_estimator
from radboost.objectives.targets import coarse
from radboost.rows.prepare import CheckedRows, PreparedRows
from radboost.rows.weights import RowWeights, ends_of_all
from radboost.trees import TreeOptions

# Targets whose values lie closer together than two to this power are counted in a unit near it.
SMALLEST_EXPONENT = -900


@storable_estimator
@described_like(BoostingEstimator)
@with_constructor
class RGBClassifier(CalibratedMixin, ClassifierMixin, GradientBoosting):
    """Gradient boosting that chooses among families of trees, for two classes and for more.

    Learns scores F(x) and lowers the mean of a loss Phi(y, F(x)) round by round. A family H(n, lambda) holds the
    regression trees with at most n splits and leaf values of norm at most lambda. Each round draws some families, fits
    a tree of each to the negative gradient, and takes the step that leaves the lowest loss plus the price of its
    family. The price is the Rademacher complexity in the bound on the true error (Cortes, Mohri and Storcheus,
    Regularized Gradient Boosting, NeurIPS 2019; Storcheus (2021), chapter 3). No step raises the loss.

    With two classes F(x) is one number; with more there is one for each class, and a leaf holds as many numbers.

    Parameters
    ----------
    n_rounds : int or "auto"
        Rounds of boosting, at most. "auto" runs trials: short fits, with longer steps, on two thirds of the rows choose
        the number by the loss on the other third and, with 900 rows and more, everything else that is "auto".
        `chosen_` says what was used.
    loss : {"auto", "logistic", "exponential"} or object
        log(1 + exp(-y F)) with y = -1 and +1 (this is "auto"), exp(-y F), or an object with methods
        `value(targets, scores)` and `derivative(targets, scores)` of a loss that is convex in the scores
        (radboost.losses.TargetLoss says what more it may have). With more than two classes only "logistic" is
        possible, the multinomial loss log sum_k exp(F_k) - F_y.
    family : TreeFamilies or None
        The sizes and norms of the families and how often each is drawn; None for the grid of the paper, 7 x 7, or, with
        n_rounds="auto", its five smallest sizes where larger ones are not worth their time. With
        more than two classes norms are multiplied by the square root of their number, because a leaf holds as many
        numbers.
    n_candidates : int
        S: how often a family is drawn in a round, with replacement. Their trees are grown together: more cost little.
    complexity_penalty : float or "auto"
        beta: the price of the most complex family, as a fraction of the loss before the first round. The others
        follow from Theorem 3.1. Larger values give smaller trees; with one candidate there is nothing to choose.
        "auto" is 0.3, or with n_rounds="auto" 0 where held-back rows gain from it; with classes and 6,000 rows or more
        0 unless they gain from 0.3.
    step : {"auto", "lipschitz", "line_search", "paper"}
        How far to go along a tree h. "lipschitz": -L'_h / C_h with C_h = mean of h^2 times the Lipschitz constant of
        the loss (equation (3.9)), which never overshoots. "line_search": to the minimum. "auto": the first where the
        loss has such a constant ("exponential" has none), the second elsewhere. "paper": with C_k of Lemma A.1, which
        is no bound for lambda above 1, so that the loss may rise.
    learning_rate : float in (0, 1] or "auto"
        Fraction of the step that is taken. "auto" is 0.3 with more than two classes, and otherwise 0.1 with n_rounds
        given and 0.05 without (of numbers 0.025); above 2,000 rows this grows with the root of their number, to 0.1 (of
        numbers 0.075).
    subsample : float in (0, 1] or "auto"
        Fraction of the rows, drawn anew each round by their content and label, that a tree is grown on, so that swapped
        labels act like another seed. Its leaves are fitted to all. "auto" is 0.3, with n_rounds given 0.5.
    calibration : "auto", "right_labels" or None
        As in DeepBoostClassifier.
    tree_options : TreeOptions or None
        How trees are grown: `max_features` (all columns; with n_rounds="auto" and more than 50 of them 50, or a tenth),
        `thresholds` ("best"; with n_rounds="auto" "random" where held-back rows gain from it or are too few to decide),
        `min_leaf_weight` (of the drawn rows: 2, with n_rounds given 10, with more than two classes 3),
        `max_bins`, `monotonic_constraints` (for two classes and regression), `interaction_constraints`. Trees always
        grow best-first, up to the largest of the sizes that were drawn.

    Attributes
    ----------
    classes_ : array of the labels, ascending
    loss_ : the loss of the fit, which probabilities are computed with
    ensemble_ : Ensemble
        The model. Its hypotheses are h / lambda, whose values lie between -1 and 1, with weights that make up for it;
        the first is a constant.
    chosen_ : dict
        What was used for "n_rounds", "learning_rate", "subsample", "complexity_penalty", "min_leaf_weight",
        "max_features" (columns) and "thresholds", and the "largest_size" of the families.
    calibration_ : Calibration or None
        Temperature, doubt and power of `predict_proba`; None where nothing was calibrated.
    history_ : dict of lists, one entry per round
        "objective" (the mean loss), "train_error", "n_hypotheses", "family_size" and "family_norm" (n and lambda of the
        family that was chosen); with a validation set "validation_loss" and "validation_error".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from radboost import RGBClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = RGBClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.93)
    True
    """

    class_weight: Any = None
    calibration: str | None = "auto"

    _regression: ClassVar[bool] = False
    _theorem: ClassVar[str] = "Regularized Gradient Boosting, Theorem 3.2"

    @classmethod
    def paper(cls, n_rounds: int = 100, **parameters: Any) -> Self:
        """Figure 3.1 as section 3.5 runs it: whole steps, all rows and columns, leaves of any weight, 100 rounds."""
        plain: dict[str, Any] = {
            "family": TreeFamilies(),
            "learning_rate": 1.0,
            "subsample": 1.0,
            "calibration": None,
            "tree_options": TreeOptions(min_leaf_weight=0.0),
        }
        return cls(n_rounds, **{**plain, **parameters})

    @of_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> FloatArray:
        """Probabilities of the classes: those for which the scores minimize the expected loss.

        With two classes p solves p Phi'(+1, F) + (1 - p) Phi'(-1, F) = 0. It is the logistic function of F or, with the
        exponential loss, of 2 F. With more classes it is the soft-max of the scores.
        """
        return self._calibrated(self.decision_function(X, offset))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        if scores.ndim == 2:
            return np.asarray(softmax(scores, axis=1), dtype=np.float64)
        loss, ones = _loss_of_fit(self, TWO_CLASS_LOSSES), np.ones(len(scores))
        down, up = -ask(loss, "derivative", ones, scores), ask(loss, "derivative", -ones, scores)
        # Far out both may be 0: the sign says which is the smaller.
        second = np.divide(up, down + up, out=(scores > 0).astype(np.float64), where=down + up > 0)
        return np.column_stack([1.0 - second, second])

    def _exported_output(self) -> ExportedOutput:
        loss = None if isinstance(self.loss_, NotStored) else get_target_loss(self.loss_, TWO_CLASS_LOSSES)
        return class_output(self, target_link(loss, len(self.classes_)))

    def _read_parameters(self) -> FitSettings:
        self._check_calibration()
        return super()._read_parameters()

    def _rate_of_fit(self) -> float:
        return float(self.chosen_["learning_rate"])

    def _as_fitted(self) -> Self:
        given, options, chosen = copy(self), self.tree_options or TreeOptions(), self.chosen_
        given.subsample, given.complexity_penalty = chosen["subsample"], chosen["complexity_penalty"]
        names = ("min_leaf_weight", "max_features", "thresholds")
        given.tree_options = replace(options, **{name: chosen[name] for name in names})
        if given.family is None:
            sizes = TreeFamilies().sizes
            given.family = TreeFamilies(sizes=[size for size in sizes if size <= chosen["largest_size"]])
        return given

    def _how_to_prune(self) -> HowToPrune:
        several = len(self.classes_) > 2
        loss = MultinomialLoss() if several else _loss_of_fit(self, TWO_CLASS_LOSSES)
        return _how_to_prune(self, loss, lambda y: y if several else 2.0 * y - 1.0, wrong_labels)

    def _name_of_loss(self) -> str | TargetLoss:
        return "logistic" if isinstance(self.loss, str) and self.loss == "auto" else self.loss

    def _read_loss(self) -> TargetLoss:
        return get_target_loss(self._name_of_loss(), TWO_CLASS_LOSSES)

    def _resolve_loss(self, rows: CheckedRows | PreparedRows) -> tuple[TargetLoss, int]:
        return self._loss_for(len(rows.known_classes))

    def _loss_for(self, n_classes: int) -> tuple[TargetLoss, int]:
        loss = self._read_loss()
        if n_classes <= 2:
            return loss, 1
        several = loss.for_classes() if isinstance(loss, NamedTargetLoss) else None
        if several is None:
            raise ValueError(
                f"loss={self.loss!r} is for two classes, and y holds {n_classes}. With more classes only "
                'loss="logistic" is possible: the multinomial loss.'
            )
        return several, n_classes

    def _take_parameters_of_fit(self) -> None:
        self.loss_ = self._name_of_loss()
        self._loss_for(len(self.classes_))


@storable_estimator
@described_like(BoostingEstimator)
class RGBRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting that chooses among families of trees, for targets that are numbers.

    The same algorithm as RGBClassifier's, with other losses. With several targets, one per column of y, a tree
    predicts all of them, and the mean of their losses is minimized.

    Parameters
    ----------
    loss : {"auto", "squared", "absolute", "huber", "quantile", "poisson", "gamma"} or object
        - "squared", which is "auto": (F - y)^2 / 2, for the mean.
        - "absolute": abs(F - y), for the median.
        - "huber": for the mean, with rows further away than a distance delta pulling no harder than those. Nine tenths
          of the targets lie within delta of their median, and `loss_.delta` is its value;
          radboost.losses.HuberLoss(delta=...) gives another one.
        - "quantile": for the median; radboost.losses.QuantileLoss(level=...) for another quantile.
        - "poisson": exp(F) - y F, for the mean of counts and other y >= 0; predictions are exp(F).
        - "gamma": y exp(-F) + F, for the mean of amounts, y > 0, whose spread grows with it; predictions are exp(F).
        - An object with methods `value(targets, scores)` and `derivative(targets, scores)` of a loss that is convex in
          the scores (radboost.losses.TargetLoss says what more it may have).
    family : TreeFamilies or None
        As in RGBClassifier; norms are counted in the root mean square of the loss's derivative at the start, so that
        the unit of y does not matter, but that rows are drawn by their content, y included: with `subsample` below 1,
        or with trials ("auto"), 2 y acts like another `random_state`.
    n_rounds, n_candidates, complexity_penalty, step, learning_rate, subsample, tree_options
        As in RGBClassifier.

    Attributes
    ----------
    history_ : dict of lists, one entry per round
        As in RGBClassifier, without errors.
    loss_ : the loss of the fit; with loss="huber" a HuberLoss with its delta
    chosen_, ensemble_
        As in RGBClassifier.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from radboost import RGBRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RGBRegressor(n_rounds=50).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.3)
    True
    """

    _regression: ClassVar[bool] = True
    _learns_several_targets: ClassVar[bool] = True

    @of_one_fit
    def predict(self, X: Any, offset: Any = None) -> FloatArray:
        """The prediction for each row: F(x) plus the offset, or what the loss makes of that.

        With several targets there is a column for each. `offset` has the same shape; a model does not keep those of its
        fit.
        """
        self._require_fitted()
        scores = np.concatenate(list(self._scores_by_block(X, self.ensemble_.n_outputs)))
        return self._predictions(begun_at(offset, scores))

    @of_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[FloatArray]:
        """Predictions after each round."""
        for scores in self._staged_scores(X):
            yield self._predictions(begun_at(offset, scores))

    @of_one_fit
    @described_like(TreesModel.explain)
    def explain(self, x: Any, *, target: int | None = None) -> Explanation:
        """Why the model predicts this for one row: the contribution of each feature and each question.

        Parameters
        ----------
        target : int or None
            The column of y that is explained; None is for models of one target.
        """
        self._require_fitted()
        n_targets = self.ensemble_.n_outputs
        if target is None and n_targets > 1:
            raise ValueError(f"The model has {n_targets} targets; say which one to explain: explain(x, target=0).")
        return self._explain(x, 0 if target is None else check_integer("target", target, 0, n_targets - 1))

    @of_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        """R squared: the fraction of the variance of y that is predicted."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.predict(X, offset), sample_weight=sample_weight))

    def _predictions(self, scores: FloatArray) -> FloatArray:
        """Predictions from scores."""
        loss = _loss_of_fit(self, REGRESSION_LOSSES)
        predicted = ask(loss, "inverse_link", scores) if hasattr(loss, "inverse_link") else scores
        return np.require(predicted, np.float64, "W")  # a loss sees scores read-only, and may return them

    def _exported_output(self) -> ExportedOutput:
        return regression_output(self, _loss_of_fit(self, REGRESSION_LOSSES))

    def _how_to_prune(self) -> HowToPrune:
        return _how_to_prune(self, self._loss_to_prune(), lambda y: y, None)

    def _loss_to_prune(self) -> TargetLoss:
        loss, n_targets = _loss_of_fit(self, REGRESSION_LOSSES), self.ensemble_.n_outputs
        return SeveralTargets(loss, n_targets) if n_targets > 1 and isinstance(loss, NativeTargetLoss) else loss

    def _check_targets_to_prune(self, targets: FloatArray) -> None:
        loss = self._loss_to_prune()
        if isinstance(loss, NamedTargetLoss):
            loss.check_targets(targets)

    def _units_to_prune(self, numbers: FloatArray, weights: FloatArray) -> FloatArray:
        """Units by the rule of the fit, whose own a file does not keep."""
        if not getattr(_loss_of_fit(self, REGRESSION_LOSSES), "scales", False):
            return super()._units_to_prune(numbers, weights)
        return _units_of(numbers, RowWeights(weights, len(weights)), 1)

    def _name_of_loss(self) -> str | TargetLoss:
        return "squared" if isinstance(self.loss, str) and self.loss == "auto" else self.loss

    def _read_loss(self) -> TargetLoss:
        return get_target_loss(self._name_of_loss(), REGRESSION_LOSSES)

    def _resolve_loss(self, rows: CheckedRows | PreparedRows) -> tuple[TargetLoss, int]:
        loss, targets = self._read_loss(), self._targets(rows.class_ids, rows.targets, 1)
        if targets.ndim == 2:
            if not isinstance(loss, NativeTargetLoss) or not loss.takes_several:
                able = ", ".join(repr(name) for name, kind in REGRESSION_LOSSES.items() if kind.takes_several)
                raise ValueError(
                    f"loss={self.loss!r} is for one target, and y has {targets.shape[1]}. With several it may be one "
                    f"of {able}; or fit a model for each target (sklearn.multioutput.MultiOutputRegressor)."
                )
            loss = SeveralTargets(loss, targets.shape[1])
        if isinstance(loss, NamedTargetLoss):
            loss.check_targets(ends_of_all(targets, rows.collective))
        return loss, 1 if targets.ndim == 1 else targets.shape[1]

    def _units(self, targets: FloatArray, weights: RowWeights, n_threads: int) -> FloatArray | None:
        """Powers of two next to the standard deviations of the targets, if the loss depends on their unit."""
        # So no target counts more because of its unit, and dividing by a power of two rounds nothing.
        if targets.ndim == 1 or not getattr(self._read_loss(), "scales", False):
            return None
        return _units_of(targets, weights, n_threads)

    def _targets(self, class_ids: ClassIds, targets: FloatArray | None, n_outputs: int) -> FloatArray:
        if targets is None:
            raise TypeError("a regression problem needs targets")
        return targets

    def _norm_unit(self, derivative: FloatArray, mean: Callable[[FloatArray], float]) -> float:
        squares = np.square(derivative)
        # A leaf holds as many numbers as there are targets.
        size = float(np.sqrt(mean(squares if squares.ndim == 1 else np.ascontiguousarray(squares.sum(axis=1)))))
        return coarse(size) if size > 0.0 else 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _units_of(targets: FloatArray, weights: RowWeights, n_threads: int) -> FloatArray:
    """The powers of two next to the standard deviations of the columns; 1 for a constant one."""
    units = []
    for column in targets.T:
        largest, least = weights.largest(np.stack([column, -column])) * [1.0, -1.0]
        if largest == least:
            units.append(1.0)
            continue
        # In a unit near the result: squares of very small numbers have no digits.
        scale = math.ldexp(1.0, max(math.frexp(largest - least)[1], SMALLEST_EXPONENT))
        mean = weights.mean(column / scale, n_threads)
        mantissa, exponent = math.frexp(math.sqrt(weights.mean((column / scale - mean) ** 2, n_threads)))
        units.append(math.ldexp(scale, exponent - (mantissa < math.sqrt(0.5))))
    return np.array(units)


def _how_to_prune(
    model: GradientBoosting, loss: TargetLoss, targets_of: Callable[[FloatArray], FloatArray], errors: Costs | None
) -> HowToPrune:
    """Prices by complexity, 0 for the constant; without `errors` the error is the loss above its minimum."""
    ensemble = model.ensemble_
    constants = np.array([one.n_splits == 0 for one in ensemble.hypotheses])

    def losses(scores: FloatArray, targets: FloatArray) -> FloatArray:
        return np.asarray(ask(loss, "value", targets_of(targets), scores), dtype=np.float64)

    def above_least(scores: FloatArray, targets: FloatArray) -> FloatArray:
        least = loss.lowest(targets) if isinstance(loss, NamedTargetLoss) else 0.0
        return losses(scores, targets) - least

    return HowToPrune(
        prices=np.where(constants, 0.0, adaptive_prices(ensemble, ensemble.complexities)),
        signed=False,
        refits_leaves=not keeps_order(model),
        losses=losses,
        errors=above_least if errors is None else errors,
    )


def _loss_of_fit(model: GradientBoosting, known: dict[str, type[NamedTargetLoss]]) -> TargetLoss:
    """The loss of the fit; a user's own, which a file does not store, is that of the parameter."""
    loss = get_target_loss(model.loss if isinstance(model.loss_, NotStored) else model.loss_, known)
    if isinstance(loss, NotStored):
        raise MissingPartError(loss.message())
    return loss
