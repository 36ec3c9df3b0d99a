"""Docstrings of public classes name the parameters that their constructors have, and no others."""

from __future__ import annotations

import inspect
import re

import radboost

CLASSES = [
    one
    for one in (getattr(radboost, name) for name in radboost.__all__)
    if inspect.isclass(one) and "Parameters\n" in (one.__doc__ or "")
]


def documented(about: str) -> set[str]:
    """Names in front of the colons of the section of parameters; several may share a line."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n[A-Z][A-Za-z ]+\n-{3,}|\Z)", about, re.DOTALL)
    assert section is not None
    lines = [line for line in section[1].splitlines() if line.strip() and not line.startswith(" ")]
    names = [name.strip() for line in lines for name in line.split(" : ")[0].split(",")]
    return set(filter(None, names))


def test_parameters_are_documented() -> None:
    for kind in CLASSES:
        about = inspect.getdoc(kind)
        assert about is not None
        assert documented(about) == set(inspect.signature(kind).parameters), kind


def test_all_estimators_are_looked_at() -> None:
    assert len(CLASSES) > 20
    assert documented("A.\n\nParameters\n----------\na, b : int\n    Of c : d.\n\nAttributes\n----------\ne_ : f") == {
        "a",
        "b",
    }
