"""Fitted estimators to files and back."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from radboost.model_file import boosted, sparse
from radboost.model_file.container import AnyArray, PathLike, read_versioned, write
from radboost.model_file.encoding import decode, encode
from radboost.model_file.errors import ModelFileError
from radboost.model_file.sections import look_up

# A file names classes; these are all it can name. They are looked up late, because estimators use this module.
ESTIMATORS: Mapping[str, str] = {
    "DeepBoostClassifier": "radboost.estimators.deepboost.DeepBoostClassifier",
    "SoftmaxBoostClassifier": "radboost.estimators.softmax.SoftmaxBoostClassifier",
    "RGBClassifier": "radboost.estimators.rgb.RGBClassifier",
    "RGBRegressor": "radboost.estimators.rgb.RGBRegressor",
    "AdaBoostMHClassifier": "radboost.baselines.adaboost_mh.AdaBoostMHClassifier",
    "SAMMEClassifier": "radboost.baselines.samme.SAMMEClassifier",
    "MartiBoostClassifier": "radboost.baselines.martiboost.MartiBoostClassifier",
    "SparseBoostClassifier": "radboost.estimators.sparse.SparseBoostClassifier",
    "SparseBoostRegressor": "radboost.estimators.sparse.SparseBoostRegressor",
    "MultiTaskSparseBoostClassifier": "radboost.estimators.sparse.MultiTaskSparseBoostClassifier",
    "SparseBoostClassifierCV": "radboost.estimators.sparse_cv.SparseBoostClassifierCV",
    "SparseBoostRegressorCV": "radboost.estimators.sparse_cv.SparseBoostRegressorCV",
    "MultiTaskSparseBoostClassifierCV": "radboost.estimators.sparse_cv.MultiTaskSparseBoostClassifierCV",
}
VALUES: Mapping[str, str] = {
    "AbsoluteLoss": "radboost.losses.absolute.AbsoluteLoss",
    "EarlyStopping": "radboost.rows.watch.EarlyStopping",
    "ExponentialTargetLoss": "radboost.losses.two_class.ExponentialTargetLoss",
    "HuberLoss": "radboost.losses.huber.HuberLoss",
    "KernelFamily": "radboost.families.kernel.KernelFamily",
    "LogisticTargetLoss": "radboost.losses.two_class.LogisticTargetLoss",
    "PoissonLoss": "radboost.losses.poisson.PoissonLoss",
    "QuantileLoss": "radboost.losses.quantile.QuantileLoss",
    "SquaredLoss": "radboost.losses.squared.SquaredLoss",
    "StumpPairs": "radboost.families.trees.StumpPairs",
    "Stumps": "radboost.families.trees.Stumps",
    "TreeFamilies": "radboost.families.norm_balls.TreeFamilies",
    "TreeOptions": "radboost.trees.grower.TreeOptions",
    "Trees": "radboost.families.trees.Trees",
    "features.Kernel": "radboost.sparsity.Kernel",
    "features.Products": "radboost.sparsity.Products",
    "features.Stumps": "radboost.sparsity.Stumps",
    "features.Trees": "radboost.sparsity.Trees",
}
# By the estimators' `kind_of_file`.
KINDS = {"boosted": boosted, "sparse": sparse}


def save_model(estimator: Any, path: PathLike) -> None:
    """Write a fitted estimator to ``path``, all or nothing; ``docs/model-file.md`` describes the file.

    A loss, a kernel or a generator of the user's own is not stored: the file notes its ``repr``, and the loaded
    model asks for it where it is needed.
    """
    name = type(estimator).__name__
    if look_up(ESTIMATORS).get(name) is not type(estimator):
        raise ModelFileError(
            f"{name} cannot be saved to a model file; known are {', '.join(ESTIMATORS)}. pickle keeps any object."
        )
    try:
        described, arrays = KINDS[estimator.kind_of_file].describe(estimator)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"This model cannot be saved to a model file: {error}") from error
    values = look_up(VALUES)
    params = {**estimator.get_params(deep=False), **estimator._parameters_of_fit()}
    header = {
        "model": name,
        "radboost_version": version("radboost"),
        "params": {key: encode(value, key, values) for key, value in params.items()},
        **described,
    }
    write(path, header, arrays)


def load_model(path: PathLike) -> Any:
    """Return the fitted model saved at ``path``; it scores bit for bit like the one that was saved.

    Loading runs no code from the file. Anything but a whole, unaltered model file is a
    :class:`~radboost.ModelFileError` that names the reason.
    """
    version, header, arrays = read_versioned(path)
    try:
        if version == 1:
            boosted.bring_up_from_format_1(header, arrays)
        return _restore(header, arrays)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is not a usable RadBoost model file: {reason}") from error


def _restore(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """Build the estimator; every check that fails raises one of the errors ``load_model`` expects."""
    name = header["model"]
    estimators = look_up(ESTIMATORS)
    if not isinstance(name, str) or name not in estimators:
        raise ModelFileError(f"it holds a {str(name)[:40]!r}, and known are {', '.join(estimators)}.")
    model = estimators[name](**_restore_params(estimators[name], header["params"]))
    KINDS[model.kind_of_file].restore(model, header, arrays)
    return model


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
    values = look_up(VALUES)
    return {key: decode(data, key, values) for key, data in params.items()}
