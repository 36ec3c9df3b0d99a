"""Fitted estimators to files and back."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from radboost.model_file.container import AnyArray, PathLike, read_versioned, write
from radboost.model_file.encoding import decode, decode_labels, encode, encode_labels
from radboost.model_file.errors import ModelFileError

# A file names classes; these are all it can name. They are looked up late, because estimators use this module.
ESTIMATORS: Mapping[str, str] = {
    "DeepBoostClassifier": "radboost.estimators.deepboost",
    "SoftmaxBoostClassifier": "radboost.estimators.softmax",
    "RGBClassifier": "radboost.estimators.rgb",
    "RGBRegressor": "radboost.estimators.rgb",
    "AdaBoostMHClassifier": "radboost.baselines.adaboost_mh",
    "SAMMEClassifier": "radboost.baselines.samme",
    "MartiBoostClassifier": "radboost.baselines.martiboost",
}
VALUES: Mapping[str, str] = {
    "AbsoluteLoss": "radboost.losses.absolute",
    "EarlyStopping": "radboost.estimators.early_stopping",
    "ExponentialTargetLoss": "radboost.losses.two_class",
    "HuberLoss": "radboost.losses.huber",
    "KernelFamily": "radboost.families.kernel",
    "LogisticTargetLoss": "radboost.losses.two_class",
    "PoissonLoss": "radboost.losses.poisson",
    "QuantileLoss": "radboost.losses.quantile",
    "SquaredLoss": "radboost.losses.squared",
    "StumpPairs": "radboost.families.trees",
    "Stumps": "radboost.families.trees",
    "TreeFamilies": "radboost.families.norm_balls",
    "TreeOptions": "radboost.trees.grower",
    "Trees": "radboost.families.trees",
}
PARTS: Mapping[str, str] = {
    "BranchingProgram": "radboost.baselines.program",
    "Ensemble": "radboost.ensemble",
    "OBJECTIVES": "radboost.objectives",
    "resolve_objective": "radboost.objectives",
}
_ENSEMBLE = "ensemble/"
_HISTORY = "history/"
_FIT = "fit/"
_COUNTS = ("n_iter_", "n_skipped_rounds_")


def save_model(estimator: Any, path: PathLike) -> None:
    """Write a fitted estimator to ``path``, all or nothing; ``docs/model-file.md`` describes the file.

    A loss, a kernel or a generator of the user's own is not stored: the file notes its ``repr``, and the loaded
    model asks for it where it is needed.
    """
    name = type(estimator).__name__
    if _look_up(ESTIMATORS).get(name) is not type(estimator):
        raise ModelFileError(
            f"{name} cannot be saved to a model file; known are {', '.join(ESTIMATORS)}. pickle keeps any object."
        )
    values = _look_up(VALUES)
    try:
        ensemble_header, ensemble_arrays = estimator.ensemble_.to_arrays()
    except ValueError as error:
        raise ModelFileError(f"This model cannot be saved to a model file: {error}") from error
    header = {
        "model": name,
        "radboost_version": version("radboost"),
        "params": {
            key: encode(v, key, values)
            for key, v in {**estimator.get_params(deep=False), **estimator._parameters_of_fit()}.items()
        },
        "objective": str(estimator.objective_) if estimator.stores_objective else None,
        "classes": encode_labels(estimator.classes_) if hasattr(estimator, "classes_") else None,
        "counts": {key: int(getattr(estimator, key)) for key in _COUNTS},
        "stop_reason": str(estimator.stop_reason_),
        "ensemble": ensemble_header,
    }
    arrays = {_ENSEMBLE + key: array for key, array in ensemble_arrays.items()}
    arrays |= {_HISTORY + key: _history_array(key, items) for key, items in estimator.history_.items()}
    arrays |= {_FIT + key: array for key, array in estimator._arrays_of_fit().items()}
    write(path, header, arrays)


def load_model(path: PathLike) -> Any:
    """Return the fitted model saved at ``path``; it scores bit for bit like the one that was saved.

    Loading runs no code from the file. Anything but a whole, unaltered model file is a
    :class:`~radboost.ModelFileError` that names the reason.
    """
    version, header, arrays = read_versioned(path)
    try:
        if version == 1:
            _bring_up_from_format_1(header, arrays)
        return _restore(header, arrays)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is not a usable RadBoost model file: {reason}") from error


def _look_up(places: Mapping[str, str]) -> dict[str, Any]:
    return {name: getattr(importlib.import_module(module), name) for name, module in places.items()}


def _history_array(key: str, items: list[Any]) -> AnyArray:
    """Return one column of ``history_`` as whole numbers where all its items are."""
    whole = all(isinstance(item, int | np.integer) for item in items)
    array = np.array(items, dtype=np.int64 if whole else np.float64)
    if array.ndim != 1:
        raise ModelFileError(f"history_[{key!r}] must be a list of numbers to be saved.")
    return array


def _bring_up_from_format_1(header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Add what format 1, which knew two classes and no categories, left unsaid."""
    ensemble = header["ensemble"]
    if isinstance(ensemble, dict):
        ensemble["n_outputs"] = 1
        ensemble["categories"] = []
    header["objective"] = "sum"  # with two classes all objectives are the same
    n_kernels = arrays.get(f"{_ENSEMBLE}kernel_gammas", np.zeros(0)).size
    arrays[f"{_ENSEMBLE}kernel_classes"] = np.zeros(n_kernels, dtype="<i4")
    arrays[f"{_ENSEMBLE}category_nodes"] = np.zeros(0, dtype="<i8")
    arrays[f"{_ENSEMBLE}category_sets"] = np.zeros((0, 4), dtype="<u8")


def _restore(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """Build the estimator; every check that fails raises one of the errors ``load_model`` expects."""
    name = header["model"]
    estimators = _look_up(ESTIMATORS)
    if not isinstance(name, str) or name not in estimators:
        raise ModelFileError(f"it holds a {str(name)[:40]!r}, and known are {', '.join(estimators)}.")
    model = estimators[name](**_restore_params(estimators[name], header["params"]))
    has_classes = is_classifier(model)
    if has_classes:
        model.classes_ = decode_labels(header["classes"])
    elif header["classes"] is not None:
        raise ModelFileError("a regressor has no class labels.")
    model._take_parameters_of_fit()
    model._take_arrays_of_fit({k.removeprefix(_FIT): a for k, a in arrays.items() if k.startswith(_FIT)})
    if model.stores_objective:
        model.objective_ = _restore_objective(header["objective"], model.loss)
    for key in _COUNTS:
        count = header["counts"][key]
        if type(count) is not int or count < 0:
            raise ModelFileError(f"{key} must be a whole number, got {str(count)[:40]}.")
        setattr(model, key, count)
    if not isinstance(header["stop_reason"], str):
        raise ModelFileError("the stop reason must be a text.")
    model.stop_reason_ = header["stop_reason"]
    if not isinstance(header["ensemble"], dict):
        raise ModelFileError("the description of the ensemble must be a dict.")
    ensemble_arrays = {k.removeprefix(_ENSEMBLE): a for k, a in arrays.items() if k.startswith(_ENSEMBLE)}
    model.ensemble_ = _look_up(PARTS)[model.kind_of_ensemble].from_arrays(header["ensemble"], ensemble_arrays)
    n_classes, n_outputs = len(model.classes_) if has_classes else 0, model.ensemble_.n_outputs
    if n_outputs != (n_classes if n_classes > 2 else 1):
        raise ModelFileError(
            f"it has {n_classes} class labels and {n_outputs} scores per row; two classes share one score, as in "
            "regression, and each of more has its own."
        )
    model.history_ = {
        key.removeprefix(_HISTORY): array.tolist() for key, array in arrays.items() if key.startswith(_HISTORY)
    }
    # Every round left a line in the history, so the number of rounds is bounded by the size of the file.
    lengths = {len(column) for column in model.history_.values()}
    if lengths != {model.ensemble_.n_rounds} or model.n_iter_ != model.ensemble_.n_rounds:
        raise ModelFileError("the history does not fit the number of rounds.")
    model.n_features_in_ = model.ensemble_.n_features
    if model.n_features_in_ >= 2**31:
        raise ModelFileError("a model has fewer than 2^31 columns.")
    if model.ensemble_.feature_names is not None:
        model.feature_names_in_ = np.array(model.ensemble_.feature_names, dtype=object)
    return model


def _restore_objective(name: Any, loss: Any) -> str:
    """A loss of the user's own is not in the file, and does not speak against any objective."""
    parts = _look_up(PARTS)
    if not isinstance(name, str) or name not in parts["OBJECTIVES"]:
        raise ModelFileError(f"its objective is {str(name)[:40]!r}, and known are {', '.join(parts['OBJECTIVES'])}.")
    return str(parts["resolve_objective"](name, loss)) if isinstance(loss, str) else name


def _restore_params(estimator: type, params: Any) -> dict[str, Any]:
    """Decode the constructor's parameters; a name that this version lacks comes from a newer one."""
    if not isinstance(params, dict):
        raise ModelFileError("its parameters are not a dict.")
    known = set(inspect.signature(estimator).parameters)
    unknown = sorted(set(params) - known)
    if unknown:
        raise ModelFileError(
            f"{estimator.__name__} has no parameter {', '.join(unknown)[:80]} in this version of RadBoost; upgrade "
            "radboost to open the file."
        )
    values = _look_up(VALUES)
    return {key: decode(data, key, values) for key, data in params.items()}
