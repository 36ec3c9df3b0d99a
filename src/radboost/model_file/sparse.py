"""Model files of sparse models: header and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from radboost.model_file.checks import read_array, require
from radboost.model_file.container import AnyArray
from radboost.model_file.encoding import decode_labels, encode_labels
from radboost.model_file.sections import ENSEMBLE, FIT, Content, history_arrays, restore_course, section

# parameters that a fit may resolve from "auto"
_NUMBERS = ("alpha", "epsilon")
# attributes of ...CV estimators -> number of dimensions
_CHOICE = {"alphas": 1, "validation_losses": 2}


def describe(estimator: Any) -> Content:
    """Header and arrays of a fitted model."""
    ensemble_header, ensemble_arrays = estimator.ensemble_.to_arrays(estimator.n_features_in_)
    tasks = getattr(estimator, "task_labels_", None)
    header = {
        "classes": encode_labels(estimator.classes_) if is_classifier(estimator) and tasks is None else None,
        "tasks": None if tasks is None else [encode_labels(labels) for labels in tasks],
        "answers_have_columns": tasks is not None and not estimator._one_task,
        "has_coefficients": hasattr(estimator, "coef_"),
        "stop_reason": str(estimator.stop_reason_),
        "ensemble": ensemble_header,
    }
    arrays = {ENSEMBLE + key: array for key, array in ensemble_arrays.items()}
    arrays |= history_arrays(estimator.history_)
    arrays[f"{FIT}gaps"] = np.array([estimator.optimality_gap_, estimator.duality_gap_])
    for name in _NUMBERS:
        if hasattr(estimator, f"{name}_"):
            arrays[FIT + name] = np.array([getattr(estimator, f"{name}_")])
    arrays |= {FIT + key: array for key, array in estimator._arrays_of_fit().items()}
    if hasattr(estimator, "alphas_"):
        arrays |= {FIT + key: np.asarray(getattr(estimator, f"{key}_"), dtype="<f8") for key in _CHOICE}
    return header, arrays


def restore(model: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Put the content of a file into an unfitted model."""
    n_outputs = _restore_labels(model, header)
    model._take_parameters_of_fit()
    require(isinstance(header["ensemble"], dict), "the description of the ensemble must be a dict")
    ensemble_arrays = section(ENSEMBLE, arrays)
    ensemble, n_features = model._type_of_ensemble.from_arrays(
        header["ensemble"], ensemble_arrays, model._output_names()
    )
    require(ensemble.n_outputs == n_outputs, f"it has {ensemble.n_outputs} scores per row, not {n_outputs}")
    model.ensemble_, model.n_features_in_ = ensemble, n_features
    if ensemble.feature_names is not None:
        model.feature_names_in_ = np.array(ensemble.feature_names, dtype=object)
    model._take_arrays_of_fit(section(FIT, arrays))
    restore_course(model, header, arrays, set(model._recorded()))
    model.n_features_used_ = len(ensemble)
    _restore_fit(model, section(FIT, arrays))
    if header["has_coefficients"]:
        model._restore_coefficients()


def _restore_labels(model: Any, header: Mapping[str, Any]) -> int:
    """Class labels, labels of the tasks, or neither, and the number of scores per row."""
    if model._learns_tasks:
        require(isinstance(header["tasks"], list) and len(header["tasks"]) > 0, "there are no labels of tasks")
        model._take_tasks([decode_labels(labels) for labels in header["tasks"]], not header["answers_have_columns"])
        require(all(len(labels) == 2 for labels in model.task_labels_), "a task has two labels")
        require(not model._one_task or len(model.task_labels_) == 1, "predictions for several tasks have columns")
        return len(model.task_labels_)
    require(header["tasks"] is None, f"{type(model).__name__} has no tasks")
    if is_classifier(model):
        model.classes_ = decode_labels(header["classes"])
        return len(model.classes_) if len(model.classes_) > 2 else 1
    require(header["classes"] is None, "a regressor has no class labels")
    return 1


def _restore_fit(model: Any, arrays: Mapping[str, AnyArray]) -> None:
    require("gaps" in arrays and arrays["gaps"].shape == (2,), "the two gaps are missing")  # NaN: not known
    model.optimality_gap_, model.duality_gap_ = (float(gap) for gap in arrays["gaps"])
    for name in _NUMBERS:
        if hasattr(model, name):
            setattr(model, f"{name}_", float(read_array(arrays, name, "<f8", 1)[0]))
    if not hasattr(model, "cv"):
        return
    for key, n_dimensions in _CHOICE.items():
        fits = key in arrays and arrays[key].dtype == np.dtype("<f8") and arrays[key].ndim == n_dimensions
        require(fits, f"the array {key!r} is missing or of a wrong kind")
        setattr(model, f"{key}_", arrays[key].copy())
    require(len(model.alphas_) == len(model.validation_losses_), "alphas and losses do not fit each other")
