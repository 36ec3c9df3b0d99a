"""Model files of boosted models (with rounds and an `Ensemble`): header and arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from radboost.calibration import Calibration
from radboost.model_file.checks import read_integer, require
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode_labels, encode_labels
from radboost.model_file.sections import ENSEMBLE, FIT, Content, history_arrays, read_history, section

_COUNTS = ("n_iter_", "n_skipped_rounds_")
_WORDS = ("thresholds", "leaves")  # entries of `chosen_` that are strings


def describe(estimator: Any) -> Content:
    """Header and arrays of a fitted model."""
    ensemble_header, ensemble_arrays = estimator.ensemble_.to_arrays()
    calibration = getattr(estimator, "calibration_", None)
    header = {
        "objective": str(estimator.objective_) if hasattr(estimator, "objective_") else None,
        "classes": encode_labels(estimator.classes_) if hasattr(estimator, "classes_") else None,
        "counts": {key: int(getattr(estimator, key)) for key in _COUNTS},
        "stop_reason": str(estimator.stop_reason_),
        **({"chosen": dict(estimator.chosen_)} if hasattr(estimator, "chosen_") else {}),
        **({"calibration": asdict(calibration)} if calibration is not None else {}),
        "ensemble": ensemble_header,
    }
    arrays = {ENSEMBLE + key: array for key, array in ensemble_arrays.items()}
    arrays |= history_arrays(estimator.history_)
    arrays |= {FIT + key: array for key, array in estimator._arrays_of_fit().items()}
    if hasattr(estimator, "optimality_gap_"):
        arrays[f"{FIT}optimality_gap"] = np.array([estimator.optimality_gap_])
    return header, arrays


def restore(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Put the content of a file into an unfitted model."""
    has_classes = is_classifier(model)
    if has_classes:
        model.classes_ = decode_labels(header["classes"])
    else:
        require(header["classes"] is None, "a regressor has no class labels")
    model._take_parameters_of_fit()
    model._take_arrays_of_fit(section(FIT, arrays))
    if hasattr(model, "_take_objective"):
        model._take_objective(header["objective"])
    require(isinstance(header["counts"], dict), "its counts are not a dict")
    for key in _COUNTS:
        setattr(model, key, read_integer(header["counts"], key, 0))
    require(isinstance(header["stop_reason"], str), "the stop reason must be a text")
    model.stop_reason_ = header["stop_reason"]
    if f"{FIT}optimality_gap" in arrays:
        gap = arrays[f"{FIT}optimality_gap"]
        require(gap.dtype == np.dtype("<f8") and gap.shape == (1,), "the optimality gap must be a number")
        model.optimality_gap_ = float(gap[0])
    if "chosen" in header:
        model.chosen_ = _read_chosen(header["chosen"], model._chosen)
    if "calibration" in header:
        model.calibration_ = _read_calibration(header["calibration"], len(model.classes_) if has_classes else 0)
    require(isinstance(header["ensemble"], dict), "the description of the ensemble must be a dict")
    model.ensemble_ = model._type_of_ensemble.from_arrays(header["ensemble"], section(ENSEMBLE, arrays))
    model._name_classes()
    n_classes, n_outputs = len(model.classes_) if has_classes else 0, model.ensemble_.n_outputs
    targets = not has_classes and model._learns_several_targets
    require(
        targets or n_outputs == (n_classes if n_classes > 2 else 1),
        f"it has {n_classes} class labels and {n_outputs} scores per row; two classes have one score, as in "
        "regression, and each of more has its own",
    )
    pointless = n_classes == 1 and model.ensemble_.hypotheses
    require(not pointless, "it has 1 class label, and hypotheses that tell classes apart")
    model.history_ = read_history(arrays)
    # Every round has an entry in the history, so the number of rounds is bounded by the size of the file.
    lengths, n_rounds = {len(column) for column in model.history_.values()}, model.ensemble_.n_rounds
    # With early stopping the history goes on after the rounds that the model has kept.
    fits = len(lengths) == 1 and min(lengths) >= n_rounds and model.n_iter_ == n_rounds
    require(fits, "the history does not fit the number of rounds")
    model.n_features_in_ = model.ensemble_.n_features
    require(model.n_features_in_ < 2**31, "a model has fewer than 2^31 columns")
    if model.ensemble_.feature_names is not None:
        model.feature_names_in_ = np.array(model.ensemble_.feature_names, dtype=object)


def _read_chosen(chosen: Any, names: Sequence[str]) -> dict[str, float | int | str]:
    complete = isinstance(chosen, dict) and set(chosen) == set(names)
    require(complete, f"what was chosen for the fit must be {', '.join(names) or 'nothing'}")
    for name, value in chosen.items():
        types, kind = ((str,), "a word") if name in _WORDS else ((int, float), "a number")
        require(type(value) in types, f"{name}, which was chosen for the fit, must be {kind}, got {str(value)[:40]!r}")
    return dict(chosen)


def _read_calibration(given: Any, n_classes: int) -> Calibration:
    names = [field.name for field in fields(Calibration)]
    numbers = isinstance(given, dict) and all(type(value) is float for value in given.values())
    require(numbers and set(given) == set(names), f"a calibration must have the numbers {', '.join(names)}")
    allowed = 0.0 < given["temperature"] < math.inf and 0.0 <= given["doubt"] <= 1.0
    require(allowed, "the temperature of a calibration must be positive, and its doubt lie between 0 and 1")
    allowed = 0.0 <= given["power"] < math.inf and 0.0 < given["ground"] < math.inf
    require(allowed, "the power of a calibration must be 0 or more, and its ground positive")
    require(given["power"] == 0.0 or n_classes >= 3, "a calibration has a power with three classes or more")
    return Calibration(**given)
