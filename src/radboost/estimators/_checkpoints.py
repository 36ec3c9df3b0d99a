"""Checkpoints: the trace of a fit, with hashes of its rows and its parameters."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from radboost.boosting import Step, Trace
from radboost.ensemble import Ensemble
from radboost.model_file import ModelFileError, read, write
from radboost.model_file.sections import ENSEMBLE, history_arrays, read_history, section
from radboost.rows.categories import Categories
from radboost.rows.content import content_digests, digest_of
from radboost.rows.prepare import PreparedRows

DETAILS = "details/"
IN_ANY_ORDER = "rows_in_any_order"  # whether rows are compared by their content alone
# Parameters that a model does not depend on.
WITHOUT_EFFECT = {"calibration", "n_jobs", "verbose", "warm_start"}
LONGEST_SHOWN = 60  # characters of a value in a message


@dataclasses.dataclass(frozen=True)
class Saver:
    """Writes checkpoints of one fit, whose rows and parameters are described once."""

    described: Mapping[str, Any]
    n_features: int
    categories: Categories
    n_outputs: int

    @classmethod
    def of(cls, estimator: Any, rows: Any, seed: int, by_content: Mapping[str, str] | None = None) -> Saver:
        """Saver for a fit to these rows; `by_content` are digests of rows that are spread over processes."""
        described: dict[str, Any] = {
            "checkpoint_of": type(estimator).__name__,
            "radboost_version": version("radboost"),
            "parameters": describe_parameters(estimator),
            "data": content_digests(rows, 1, in_any_order=False) if by_content is None else dict(by_content),
            "seed": str(seed),  # of 64 bits
        }
        if by_content is not None:
            described[IN_ANY_ORDER] = True
        return cls(described, rows.n_features, rows.categories, rows.n_outputs)

    def save(self, trace: Trace, stop_reason: str, path: str) -> None:
        """Write a checkpoint, whole or not at all."""
        ensemble = Ensemble.from_trace(
            trace,
            n_rounds=trace.n_rounds,
            n_features=self.n_features,
            n_families=1,
            sample_size=1.0,
            feature_names=None,
            n_outputs=self.n_outputs,
            categories=self.categories,
        )
        try:
            header, arrays = ensemble.to_arrays()
        except ValueError as error:
            raise ModelFileError(f"This fit cannot be kept in a checkpoint: {error}") from error
        details = {DETAILS + name: np.array(values, dtype="<f8") for name, values in trace.details.items()}
        arrays = {ENSEMBLE + name: array for name, array in arrays.items()} | history_arrays(trace.history) | details
        write(path, {**self.described, "stop_reason": stop_reason, "ensemble": header}, arrays)


def read_checkpoint(path: Any, estimator: Any, prepared: PreparedRows) -> OpenedCheckpoint:
    """The fit at `path`, if it is one of this estimator, these rows and these parameters."""
    opened = open_checkpoint(path, estimator)
    opened.data.check(content_digests(prepared, 1, in_any_order=opened.in_any_order))
    if opened.shape != (prepared.n_features, prepared.n_outputs):
        raise ModelFileError(f"{path} is not a usable checkpoint: its hypotheses are for other columns or classes.")
    return opened


@dataclasses.dataclass(frozen=True)
class SavedData:
    """Digests of the rows of a checkpoint."""

    path: str
    digests: Any

    def check(self, now: dict[str, str]) -> None:
        """Refuse other rows than those with the digests `now`."""
        try:
            _refuse(self.path, _differing_data(self.digests, now))
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(f"{self.path} is not a usable checkpoint: {error}.") from error


@dataclasses.dataclass(frozen=True)
class OpenedCheckpoint:
    """Checkpoint of this estimator with these parameters, whose rows are yet to be checked."""

    trace: Trace
    seed: int
    shape: tuple[int, int]  # columns, and scores per row
    data: SavedData
    in_any_order: bool


def open_checkpoint(path: Any, estimator: Any) -> OpenedCheckpoint:
    """Read and check everything in a checkpoint but the digests of its rows."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"resume_from must be the path of a checkpoint, or None; got {path!r}.")
    header, arrays = read(path)
    try:
        _refuse_others(path, header, estimator)
        trace, shape = _read_trace(header, arrays)
        seed, data = int(header["seed"]), header["data"]
    except ModelFileError:
        raise
    except (ValueError, TypeError, KeyError, OverflowError, AttributeError) as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
        raise ModelFileError(f"{path} is not a usable checkpoint: {reason}.") from error
    n_rounds = estimator._n_stages()
    if trace.n_rounds > n_rounds:
        raise ValueError(
            f"The checkpoint {path} holds {trace.n_rounds} rounds, and n_rounds={n_rounds} now. Give at least as many."
        )
    return OpenedCheckpoint(trace, seed, shape, SavedData(os.fspath(path), data), header.get(IN_ANY_ORDER) is True)


def _read_trace(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[Trace, tuple[int, int]]:
    """The rounds, and the numbers of columns and of scores per row."""
    for key, kind in (("ensemble", dict), ("stop_reason", str)):
        if not isinstance(header[key], kind):
            raise ValueError(f"its {key} is no {kind.__name__}")
    ensemble = Ensemble.from_arrays(header["ensemble"], section(ENSEMBLE, arrays))
    history = read_history(arrays)
    if {len(column) for column in history.values()} != {ensemble.n_rounds}:
        raise ValueError("its history does not fit the number of rounds")
    details = {name: array.tolist() for name, array in section(DETAILS, arrays).items()}
    if any(len(values) != len(ensemble.entered) for values in details.values()):
        raise ValueError("its details do not fit the number of hypotheses")
    trace = trace_of(ensemble, history)
    trace.stop_reason, trace.details = header["stop_reason"], details
    return trace, (ensemble.n_features, ensemble.n_outputs)


def trace_of(ensemble: Ensemble, history: Mapping[str, list[float]]) -> Trace:
    """The trace that an ensemble with all its steps was made from."""
    steps = [Step(int(s["round"]), int(s["hypothesis"]), float(s["eta"])) for s in ensemble.steps]
    columns = {name: list(values) for name, values in history.items()}
    return Trace(list(ensemble.entered), ensemble.entered_complexities.tolist(), steps, columns)


def _refuse_others(path: Any, header: Mapping[str, Any], estimator: Any) -> None:
    if "checkpoint_of" not in header:
        raise ModelFileError(f"{path} is not a checkpoint. Use radboost.load for a model that `save` has written.")
    name = type(estimator).__name__
    if header["checkpoint_of"] != name:
        raise ModelFileError(
            f"The checkpoint {path} is one of {str(header['checkpoint_of'])[:60]}, and this is {name}."
        )
    _refuse(path, _differing_parameters(header["parameters"], describe_parameters(estimator), estimator))


def _refuse(path: Any, differences: list[str]) -> None:
    if differences:
        raise ModelFileError(
            f"The checkpoint {path} is of another fit: {'; '.join(differences)}. Give fit the same rows and "
            "parameters, or leave resume_from out to start again."
        )


def _differing_parameters(then: Any, now: dict[str, Any], estimator: Any) -> list[str]:
    if not isinstance(then, dict):
        raise ValueError("its parameters are not a dict")
    free = WITHOUT_EFFECT | estimator._free_when_resumed(then)
    names = [name for name in [*now, *(name for name in then if name not in now)] if name not in free]
    missing = object()
    differing = []
    for name in names:
        one, other = then.get(name, missing), now.get(name, missing)
        if one != other:
            shown = [_shown(value) if value is not missing else "no such parameter" for value in (one, other)]
            differing.append(f"{name} was {shown[0]} and is {shown[1]}")
    return differing


def _differing_data(then: Any, now: dict[str, str]) -> list[str]:
    if not isinstance(then, dict):
        raise ValueError("the description of its data is not a dict")
    differing = []
    for part in sorted({*then, *now}):
        if part not in now:
            differing.append(f"it had {str(part)[:40]}, and now there are none")
        elif part not in then:
            differing.append(f"it had no {part}, and now there are some")
        elif then[part] != now[part]:
            differing.append(f"the {part} differ")
    return differing


def describe_parameters(estimator: Any) -> dict[str, Any]:
    """Parameters in a form that can be compared and kept as JSON."""
    return {name: _described(value) for name, value in estimator.get_params(deep=False).items()}


def _described(value: Any, depth: int = 0) -> Any:
    """Number or text as it is, array or frame as a hash, other object as its type and attributes."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple) and depth < 8:
        return [_described(item, depth + 1) for item in value]
    if isinstance(value, Mapping) and depth < 8:
        return {"items": [[_described(part, depth + 1) for part in pair] for pair in value.items()]}
    if isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        array = np.asarray(value)
        return {"array": list(array.shape), "hash": digest_of([array])}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return {"object": type(value).__name__}  # it draws a seed, and a resumed fit takes that of the checkpoint
    if callable(value) and hasattr(value, "__qualname__"):
        return {"function": f"{value.__module__}.{value.__qualname__}"}
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if depth >= 8:
        return {"object": name}
    attributes = getattr(value, "__dict__", {})
    return {"object": name, "holds": {str(key): _described(item, depth + 1) for key, item in attributes.items()}}


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, dict) else json.dumps(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
