"""Fitted estimators to files and back."""

from __future__ import annotations

import inspect
from importlib.metadata import version
from typing import Any

from radboost.model_file import boosted, sparse
from radboost.model_file.container import AnyArray, PathLike, read_versioned, write
from radboost.model_file.encoding import decode, encode
from radboost.model_file.errors import ModelFileError
from radboost.model_file.registry import estimator_named, known_estimators, known_values

# By the estimators' `_kind_of_file`.
KINDS = {"boosted": boosted, "sparse": sparse}


def save_model(estimator: Any, path: PathLike) -> None:
    """Write a fitted estimator to ``path``, all or nothing; ``docs/model-file.md`` describes the file.

    A loss, a kernel or a generator of the user's own is not stored: the file notes its ``repr``, and the loaded
    model asks for it where it is needed.
    """
    name = type(estimator).__name__
    if estimator_named(name) is not type(estimator):
        raise ModelFileError(
            f"{name} cannot be saved to a model file; known are {', '.join(known_estimators())}. pickle keeps any "
            "object."
        )
    try:
        described, arrays = KINDS[estimator._kind_of_file].describe(estimator)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"This model cannot be saved to a model file: {error}") from error
    params = {**estimator.get_params(deep=False), **estimator._parameters_of_fit()}
    header = {
        "model": name,
        "radboost_version": version("radboost"),
        "params": {key: encode(value, key, known_values()) for key, value in params.items()},
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
    if "checkpoint_of" in header:
        raise ModelFileError("it is a checkpoint of a fit, which fit(..., resume_from=path) goes on from.")
    name = header["model"]
    estimator = estimator_named(name)
    if estimator is None:
        raise ModelFileError(f"it holds a {str(name)[:40]!r}, and known are {', '.join(known_estimators())}.")
    model = estimator(**_restore_params(estimator, header["params"]))
    KINDS[model._kind_of_file].restore(model, header, arrays)
    return model


def _restore_params(estimator: Any, params: Any) -> dict[str, Any]:
    """Decode the constructor's parameters; a name that this version lacks comes from a newer one."""
    if not isinstance(params, dict):
        raise ModelFileError("its parameters are not a dict.")
    decoded: dict[str, Any] = estimator._under_names_of_today(
        {key: decode(data, key, known_values()) for key, data in params.items()}
    )
    known = set(inspect.signature(estimator).parameters)
    unknown = sorted(set(decoded) - known)
    if unknown:
        raise ModelFileError(
            f"{estimator.__name__} has no parameter {', '.join(unknown)[:80]} in this version of RadBoost; upgrade "
            "radboost to open the file."
        )
    return decoded
