"""Content of the files of models with rounds and an `Ensemble`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from radboost.calibration import Calibration
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode_labels, encode_labels
from radboost.model_file.errors import ModelFileError
from radboost.model_file.sections import ENSEMBLE, FIT, Content, history_arrays, read_history, section

_COUNTS = ("n_iter_", "n_skipped_rounds_")


def describe(estimator: Any) -> Content:
    """Header and arrays of a fitted model."""
    ensemble_header, ensemble_arrays = estimator.ensemble_.to_arrays()
    calibration = getattr(estimator, "calibration_", None)
    header = {
        "objective": str(estimator.objective_) if estimator._stores_objective else None,
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
    return header, arrays


def restore(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Puts into an unfitted model what a file says."""
    has_classes = is_classifier(model)
    if has_classes:
        model.classes_ = decode_labels(header["classes"])
    elif header["classes"] is not None:
        raise ModelFileError("a regressor has no class labels.")
    model._take_parameters_of_fit()
    model._take_arrays_of_fit(section(FIT, arrays))
    if model._stores_objective:
        model._take_objective(header["objective"])
    for key in _COUNTS:
        count = header["counts"][key]
        if type(count) is not int or count < 0:
            raise ModelFileError(f"{key} must be a whole number, got {str(count)[:40]}.")
        setattr(model, key, count)
    if not isinstance(header["stop_reason"], str):
        raise ModelFileError("the stop reason must be a text.")
    model.stop_reason_ = header["stop_reason"]
    if "chosen" in header:
        model.chosen_ = _read_chosen(header["chosen"], model._chosen, model._chosen_words)
    if "calibration" in header:
        model.calibration_ = _read_calibration(header["calibration"], len(model.classes_) if has_classes else 0)
    if not isinstance(header["ensemble"], dict):
        raise ModelFileError("the description of the ensemble must be a dict.")
    model.ensemble_ = model._type_of_ensemble.from_arrays(header["ensemble"], section(ENSEMBLE, arrays))
    model._name_classes()
    n_classes, n_outputs = len(model.classes_) if has_classes else 0, model.ensemble_.n_outputs
    targets = not has_classes and model._learns_several_targets
    if n_outputs != (n_classes if n_classes > 2 else 1) and not targets:
        raise ModelFileError(
            f"it has {n_classes} class labels and {n_outputs} scores per row; two classes share one score, as in "
            "regression, and each of more has its own."
        )
    if n_classes == 1 and model.ensemble_.hypotheses:
        raise ModelFileError("it has 1 class label, and hypotheses that tell classes apart.")
    model.history_ = read_history(arrays)
    # Every round left a line in the history, so the number of rounds is bounded by the size of the file.
    lengths = {len(column) for column in model.history_.values()}
    # With early stopping the history goes on after the rounds that the model has kept.
    if len(lengths) != 1 or min(lengths) < model.ensemble_.n_rounds or model.n_iter_ != model.ensemble_.n_rounds:
        raise ModelFileError("the history does not fit the number of rounds.")
    model.n_features_in_ = model.ensemble_.n_features
    if model.n_features_in_ >= 2**31:
        raise ModelFileError("a model has fewer than 2^31 columns.")
    if model.ensemble_.feature_names is not None:
        model.feature_names_in_ = np.array(model.ensemble_.feature_names, dtype=object)


def _read_chosen(found: Any, names: Sequence[str], words: Sequence[str]) -> dict[str, float | int | str]:
    if not isinstance(found, dict) or set(found) != set(names):
        raise ModelFileError(f"what was chosen for the fit must be {', '.join(names) or 'nothing'}.")
    for name, value in found.items():
        if type(value) not in ((str,) if name in words else (int, float)):
            kind = "a word" if name in words else "a number"
            raise ModelFileError(f"{name}, which was chosen for the fit, must be {kind}, got {str(value)[:40]!r}.")
    return found


def _read_calibration(found: Any, n_classes: int) -> Calibration:
    names = [field.name for field in fields(Calibration)]
    numbers = isinstance(found, dict) and all(type(value) is float for value in found.values())
    if not numbers or set(found) != set(names):
        raise ModelFileError(f"a calibration must have the numbers {', '.join(names)}.")
    if not 0.0 < found["temperature"] < math.inf or not 0.0 <= found["doubt"] <= 1.0:
        raise ModelFileError("the temperature of a calibration must be positive, and its doubt lie between 0 and 1.")
    if not 0.0 <= found["power"] < math.inf or not 0.0 < found["ground"] < math.inf:
        raise ModelFileError("the power of a calibration must be 0 or more, and its ground positive.")
    if found["power"] > 0.0 and n_classes < 3:
        raise ModelFileError("a calibration has a power with three classes or more.")
    return Calibration(**found)
