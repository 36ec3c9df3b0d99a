"""Registry of the classes that a model file can name; they register themselves where they are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from radboost._members import register

Class = TypeVar("Class", bound=type)

_ESTIMATORS: dict[str, type[Any]] = {}
_VALUES: dict[str, type[Any]] = {}
_LOADERS: list[Callable[[], object]] = []


def storable_estimator(estimator: Class) -> Class:
    """Class decorator: fitted models of this class, subclasses not included, can be saved and loaded by its name."""
    register(_ESTIMATORS, estimator.__name__, estimator)
    return estimator


def storable_value(kind: Class, name: str | None = None) -> Class:
    """Class decorator: parameters of this dataclass are stored field by field, under `name` or that of the class."""
    register(_VALUES, kind.__name__ if name is None else name, kind)
    return kind


def loaded_on_demand(load: Callable[[], object]) -> None:
    """Register `load`, which is called once for an unknown name and imports the class of that name."""
    _LOADERS.append(load)


def known_values() -> dict[str, type[Any]]:
    """Dataclasses of parameters by their names in files."""
    return _VALUES


def known_estimators() -> list[str]:
    """Names of all estimators, including ones that are loaded on demand."""
    while _LOADERS:
        _LOADERS.pop()()
    return sorted(_ESTIMATORS)


def estimator_named(name: object) -> type[Any] | None:
    """Estimator registered under this name; None if there is none."""
    if not isinstance(name, str) or (name not in _ESTIMATORS and name not in known_estimators()):
        return None
    return _ESTIMATORS[name]
