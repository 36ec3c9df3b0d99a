"""Calibration of classifiers, on the rows that early stopping holds back, or by cross-fitting with short fits.

`calibration.py` has the formula; here is how classifiers get the held-back scores that it is fitted to.
"""

from __future__ import annotations

import math
import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from radboost._progress import part_of_fit, say
from radboost._validation import check_choice
from radboost.calibration import CalibrationRows, fit_calibration, shrunk
from radboost.estimators._held_back import folds_of, rate_factor
from radboost.estimators._learning import FitSettings, learn
from radboost.estimators._predicting import PredictingMixin
from radboost.rows.fields import Rows
from radboost.rows.prepare import PreparedRows
from radboost.rows.weights import RowWeights

# Limit of held-back rows x K^2: probabilities of K classes may need a K x K matrix for each row (objective "sum").
MOST_RATES = 2**22
FEWEST_ROWS = 200  # held-back rows that are allowed for any K
MOST_GATHERED = 2**23  # largest number of scores that are gathered from all workers
# Number of rows below which probabilities are shrunk, with a warning.
FEW_ROWS = 50


class CalibratedMixin(PredictingMixin):
    """A classifier with a parameter `calibration`."""

    calibration: str | None
    n_iter_: int
    verbose: int

    def _check_calibration(self) -> None:
        if self.calibration is not None:
            check_choice("calibration", self.calibration, ["auto", "right_labels"], "or None")

    def _is_calibrated(self, prepared: PreparedRows) -> bool:
        """Return True if the model is to be calibrated on these rows."""
        return self.calibration is not None

    def _rate_of_fit(self) -> float:
        """Learning rate of the fitted model, resolved from "auto"."""
        raise NotImplementedError

    def _as_fitted(self) -> Any:
        """Copy with the parameters of this fitted model, none of them "auto"."""
        return copy(self)

    def _calibrate(self, prepared: PreparedRows, settings: FitSettings, held_back: Rows | None) -> None:
        """Set `calibration_` of a model that has just been fitted; `held_back`: rows of early stopping, or None."""
        self.calibration_ = None
        if not self._is_calibrated(prepared) or not len(self.ensemble_):
            return
        threads = settings.growth.n_threads
        if held_back is not None:
            parts = [calibration_rows(self, held_back, threads)]
        else:
            parts = self._cross_fit(prepared.unwatched(), settings)
        calibration = fit_calibration(self._probabilities, parts, threads) if parts else None
        if calibration is not None and self.calibration == "right_labels":
            # equation (6a) with a label-noise rate of 0: probabilities of the labels before noise
            calibration = replace(calibration, doubt=0.0)
        n_rows = _n_to_learn_from(prepared, threads)
        if n_rows < FEW_ROWS:
            calibration = shrunk(calibration, n_rows, FEW_ROWS, len(prepared.known_classes))
            warnings.warn(
                f"Only {n_rows} rows to learn from (copies count once): probabilities are shrunk towards equal shares "
                f"of the classes. {FEW_ROWS} different rows or more are calibrated without it; calibration=None takes "
                "the probabilities of the loss.",
                UserWarning,
                stacklevel=6,
            )
        say(self.verbose, f"calibrated: {calibration}")
        self.calibration_ = calibration

    def _cross_fit(self, rows: PreparedRows, settings: FitSettings) -> list[CalibrationRows]:
        """Held-back rows of each fold, with their scores by a short fit on the other rows."""
        seed, threads = settings.growth.seed, settings.growth.n_threads
        n_classes = len(rows.known_classes)
        folds = list(folds_of(rows, seed, threads, most_held_back=max(FEWEST_ROWS, MOST_RATES // n_classes**2)))
        # All of them together take no longer than one fit of two thirds of the rows.
        short = self._shortened(seed, len(folds))
        parts = []
        for number, fold in enumerate(folds, 1):
            with part_of_fit(f"calibration, fit {number} of {len(folds)}"):
                parts.append(calibration_rows(learn(short, fold.learned), fold.held_back, threads))
        return parts

    def _shortened(self, seed: int, by: float) -> Any:
        """Estimator with fewer rounds and a larger learning rate, both by (at most) the factor `by`."""
        rate = self._rate_of_fit()
        by = rate_factor(by, rate, getattr(self, "loss", "auto"))
        short = self._as_fitted()
        short.learning_rate, short.n_rounds = by * rate, max(1, math.ceil(self.n_iter_ / by))
        short.calibration, short.early_stopping, short.warm_start = None, False, False
        short.random_state = seed % 2**32
        return short


def _n_to_learn_from(rows: PreparedRows, n_threads: int) -> int:
    """Number of distinct rows, at least the number of validation rows; copies count if their classes differ."""
    weights, copies_of_row = rows.row_weights(), np.ones(rows.n_rows) if rows.weights is None else rows.weights
    n_validation = 0 if rows.validation is None else int(rows.validation.row_weights().total)
    n_rows = max(n_validation, rows.n_different(n_threads))
    if n_rows >= FEW_ROWS:
        return n_rows
    hashes = weights.gather(rows.data.row_hashes(n_threads))
    class_ids, copies_of_row = weights.gather(rows.class_ids), weights.gather(copies_of_row)
    different, index = np.unique(hashes, return_inverse=True)
    copies = np.zeros((len(different), len(rows.known_classes)))
    np.add.at(copies, (index, class_ids), copies_of_row)
    mixed = (copies > 0.0).sum(axis=1) > 1
    return max(n_validation, int((~mixed).sum() + copies[mixed].sum()))


def calibration_rows(model: Any, rows: Rows, n_threads: int) -> CalibrationRows:
    """Held-back rows with their scores, for `fit_calibration`.

    They are gathered from all workers if few enough, because the search sums their losses hundreds of times.
    """
    weights, scores = rows.row_weights(), rows.scores(model.ensemble_, n_threads)
    if weights.native.alone or weights.n_rows * math.prod(scores.shape[1:]) > MOST_GATHERED:
        return CalibrationRows(weights, rows.class_ids, scores)
    given = None if rows.weights is None else weights.gather(rows.weights)
    class_ids = weights.gather(rows.class_ids)
    return CalibrationRows(RowWeights(given, len(class_ids)), class_ids, weights.gather(scores))
