"""For the tool that reads the reference off the files: docstrings that classes put together when they are made."""

from __future__ import annotations

from typing import Any

import griffe

from site_api import docstring_of_class


class ComputedDocstrings(griffe.Extension):  # type: ignore[misc]
    """Takes the docstring of a class that assigns `__doc__` from Python."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Called when the members of a class have been read."""
        if "__doc__" in cls.members:
            text = docstring_of_class(cls.module.path, cls.name)
            cls.docstring = griffe.Docstring(text, parent=cls, parser="numpy", parser_options={"warnings": False})
