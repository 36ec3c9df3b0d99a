"""Saving of fitted estimators to files, and loading."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from radboost.model_file import boosted, projections, sequences, sparse
from radboost.model_file.checks import require
from radboost.model_file.container import AnyArray, PathLike, n_bytes, read, write
from radboost.model_file.encoding import decode, encode, is_stored
from radboost.model_file.errors import ModelFileError
from radboost.model_file.registry import estimator_named, known_estimators, known_values
from radboost.model_file.schema import fits, read_schema, write_schema
from radboost.model_file.sections import Content, section

BEST = "best/"
SEARCH = "search/"


def save_model(estimator: Any, path: PathLike) -> None:
    """Write a fitted estimator to ``path``, all or nothing; ``docs/developers/model-file.md`` describes the file.

    A loss, a kernel or a generator of the user's own is not stored: the file notes its ``repr``, and the loaded
    model asks for it where it is needed.
    """
    write(path, *content_of(estimator))


def model_bytes(estimator: Any) -> int:
    """Size in bytes of the file of a fitted estimator; nothing is written."""
    return n_bytes(*content_of(estimator))


def content_of(estimator: Any) -> Content:
    """Header and arrays of the model file of a fitted estimator."""
    name = type(estimator).__name__
    if estimator_named(name) is not type(estimator):
        raise ModelFileError(
            f"{name} cannot be saved to a model file; known are {', '.join(known_estimators())}. pickle keeps any "
            "object."
        )
    try:
        described, arrays = KINDS[estimator._kind_of_file][0](estimator)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"This model cannot be saved to a model file: {error}") from error
    now, of_fit = estimator.get_params(deep=False), estimator._parameters_of_fit()
    params = _encode_params({**now, **of_fit})
    header = {
        "model": name,
        "radboost_version": version("radboost"),
        "params": params,
        "given_params": _changed_params(params, _encode_params({key: now[key] for key in of_fit})),
        **described,
    }
    schema = getattr(estimator, "schema_", None)
    if schema is not None and fits(schema, estimator):
        header["schema"] = write_schema(schema)
    try:
        _decode_params(type(estimator), header)
    except (ValueError, TypeError) as error:
        raise ModelFileError(
            f"This model cannot be saved to a model file, because it could not be loaded: {error} Correct the "
            "parameter with set_params."
        ) from error
    return header, arrays


def load_model(path: PathLike, *, domain_classifier: Any = None) -> Any:
    """Return the fitted model saved at ``path``; it scores bit for bit like the one that was saved.

    A ``MultiSourceBoostClassifier`` with a domain classifier of the user's own needs it again, fitted.

    Loading runs no code from the file. Anything but a whole, unaltered model file is a
    :class:`~radboost.ModelFileError` that names the reason.
    """
    model = restored(*read(path), f"{path} is not a usable RadBoost model file")
    if domain_classifier is not None:
        supply = getattr(model, "_supply_domain_classifier", None)
        if supply is None:
            raise ValueError(f"{path} holds a {type(model).__name__}, which takes no domain_classifier.")
        supply(domain_classifier)
    return model


def restored(header: dict[str, Any], arrays: dict[str, AnyArray], complaint: str) -> Any:
    """Model from a header (which is modified) and arrays; messages of errors begin with `complaint`."""
    try:
        return _restore(header, arrays)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{complaint}: {reason}") from error


def _restore(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """Build the estimator; every check that fails raises one of the errors ``load_model`` expects."""
    require("checkpoint_of" not in header, "it is a checkpoint of a fit; fit(..., resume_from=path) continues it")
    estimator = _estimator_of(header)
    params, given = _decode_params(estimator, header)
    model = estimator(**params)
    KINDS[model._kind_of_file][1](model, header, arrays)
    for key, value in given.items():
        setattr(model, key, value)
    model._take_given_parameters()
    if "schema" in header:
        model.schema_ = read_schema(header["schema"])
        same = fits(model.schema_, model)
        require(same, "its schema has other columns or categories than the model, or another task")
    return model


def _encode_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: encode(value, key, known_values()) for key, value in params.items()}


def _changed_params(of_fit: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Encoded parameters that differ from the values in the fit, such as "auto"; only if both are stored."""

    def stored(data: Any, key: str) -> bool:
        return is_stored(decode(data, key, known_values()))

    return {
        key: data for key, data in now.items() if data != of_fit[key] and stored(data, key) and stored(of_fit[key], key)
    }


def _decode_params(estimator: type[Any], header: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the fit, and parameters that differ in the model; checked as `fit` does before it reads rows."""
    params = _restore_params(estimator, header["params"])
    given = _restore_params(estimator, header["given_params"])
    unknown = [key for key in given if not is_stored(params.get(key))]
    require(not unknown, f"it has {unknown[:1]} twice, once as an object that is not stored")
    for key in estimator._always_stored:
        require(is_stored(params.get(key)) and is_stored(given.get(key)), f"{key} is not stored")
    for some in (params, {**params, **given}):
        # Objects that are not stored become the default here; a later use raises an error.
        estimator(**{key: value for key, value in some.items() if is_stored(value)})._read_parameters()
    return params, given


def _estimator_of(header: Mapping[str, Any]) -> type[Any]:
    estimator = estimator_named(header["model"])
    if estimator is None:
        raise ValueError(f"it holds a {str(header['model'])[:40]!r}, and known are {', '.join(known_estimators())}")
    return estimator


def _restore_params(estimator: type[Any], params: Any) -> dict[str, Any]:
    """Decode the constructor's parameters; a name that this version lacks comes from a newer one."""
    require(isinstance(params, dict), "its parameters are not a dict")
    decoded = {key: decode(data, key, known_values()) for key, data in params.items()}
    known = set(inspect.signature(estimator).parameters)
    unknown = sorted(set(decoded) - known)
    require(
        not unknown,
        f"{estimator.__name__} has no parameter {', '.join(unknown)[:80]} in this version of RadBoost; upgrade "
        "radboost to open the file",
    )
    return decoded


def _describe_search(search: Any) -> Content:
    """Header and arrays of a fitted search: its best estimator, and the results of the trials."""
    header, arrays = content_of(search.best_estimator_)
    facts, columns = search._facts()
    given, unfitted = search.estimator, None
    name = type(given).__name__
    if estimator_named(name) is type(given):
        unfitted = {"model": name, "params": _encode_params(given.get_params(deep=False)), "given_params": {}}
    named = {BEST + name: array for name, array in arrays.items()}
    named |= {SEARCH + name: array for name, array in columns.items()}
    return {"best": header, "estimator": unfitted, "search": encode(facts, "search", known_values())}, named


def _restore_search(search: Any, header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Put the content of a file into an unfitted search."""
    best, unfitted = header["best"], header["estimator"]
    require(isinstance(best, dict), "the description of the best estimator must be a dict")
    require("best" not in best, "the best estimator of a search is no search")
    best_estimator = _restore(best, section(BEST, arrays))
    if unfitted is not None:
        require(isinstance(unfitted, dict), "the description of the estimator must be a dict")
        estimator = _estimator_of(unfitted)
        search.estimator = estimator(**_decode_params(estimator, unfitted)[0])
    search._base()  # refuses estimators of another class
    facts = decode(header["search"], "search", known_values())
    require(isinstance(facts, dict), "the results of the search must be a dict")
    search._take_facts(best_estimator, facts, section(SEARCH, arrays))


# `_kind_of_file` of an estimator -> functions that describe a fitted model, and that restore one.
KINDS: dict[str, tuple[Callable[[Any], Content], Callable[..., None]]] = {
    "boosted": (boosted.describe, boosted.restore),
    "sparse": (sparse.describe, sparse.restore),
    "sequences": (sequences.describe, sequences.restore),
    "projections": (projections.describe, projections.restore),
    "searches": (_describe_search, _restore_search),
}
