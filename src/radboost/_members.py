"""Members of a folder (losses, penalties, families) register themselves under their names."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def register(registry: dict[str, T], name: str, member: T) -> None:
    """Enter a member under a name that is still free."""
    if name in registry:
        raise ValueError(f"{name!r} is the name of {registry[name]!r} already; {member!r} needs another one.")
    registry[name] = member


def class_named(name: str, module: str, *registries: Mapping[str, type[Any]]) -> Any:
    """A registered class by the name of the class: what `__getattr__` of a folder's `__init__` returns."""
    for registry in registries:
        for member in registry.values():
            if member.__name__ == name:
                return member
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def import_members(package: str, path: Iterable[str]) -> None:
    """Import every module of a folder, which registers its members; called at the end of its `__init__`."""
    for module in pkgutil.iter_modules(path):
        import_module(f"{package}.{module.name}")
