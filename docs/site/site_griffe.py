"""For the tool that reads the reference off the files: constructors and docstrings that are made on import."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import griffe

from site_api import docstring_of_class


class Computed(griffe.Extension):  # type: ignore[misc]
    """Takes from Python the docstrings and constructors that decorators and assignments to `__doc__` make."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called when the members of a class have been read."""
        if "__doc__" in cls.members or _is_decorated(cls, "described_like"):
            cls.docstring = _docstring(docstring_of_class(cls.module.path, cls.name), cls)
        for name, member in cls.members.items():
            if member.is_function and _is_decorated(member, "described_like"):
                member.docstring = _docstring(inspect.getdoc(getattr(_imported(cls), name)) or "", member)
        if _is_decorated(cls, "with_constructor"):
            signature = inspect.signature(_imported(cls).__init__)
            parameters = griffe.Parameters(*map(_parameter, signature.parameters.values()))
            cls.set_member("__init__", griffe.Function("__init__", parameters=parameters, parent=cls))
            for name in signature.parameters:
                cls.members.pop(name, None)  # its default, which is no attribute


def _imported(cls: griffe.Class) -> Any:
    return getattr(import_module(cls.module.path), cls.name)


def _is_decorated(one: Any, name: str) -> bool:
    return any(str(decorator.value).partition("(")[0] == name for decorator in one.decorators)


def _docstring(text: str, parent: Any) -> Any:
    return griffe.Docstring(text, parent=parent, parser="numpy", parser_options={"warnings": False})


def _parameter(one: inspect.Parameter) -> Any:
    given = {} if one.default is one.empty else {"default": repr(one.default)}
    annotated = {} if one.annotation is one.empty else {"annotation": one.annotation}
    return griffe.Parameter(one.name, kind=griffe.ParameterKind(one.kind.description), **annotated, **given)
