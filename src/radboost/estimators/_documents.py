"""Docstrings with one source: parameters that a class or method does not describe are described as for another."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])
Entry = tuple[list[str], str]  # names, and the text with its first line

LISTS = ("Parameters", "Attributes")


def described_like(source: Callable[..., Any]) -> Callable[[Documented], Documented]:
    """Decorator: fills a numpydoc docstring with the entries of `source`.

    Parameters are those of the signature, in its order; attributes are its own and those of `source`.
    """

    def fill(target: Documented) -> Documented:
        if target.__doc__ and source.__doc__:  # there are none under python -OO
            target.__doc__ = _filled(target, source)
        return target

    return fill


def _filled(target: Callable[..., Any], source: Callable[..., Any]) -> str:
    own, others = (_sections(inspect.cleandoc(one.__doc__ or "")) for one in (target, source))
    wanted = list(inspect.signature(target).parameters)
    for section in LISTS:
        entries = _entries(own.get(section, ""))
        named = {name for names, _ in entries for name in names}
        for names, text in _entries(others.get(section, "")):
            kept = [name for name in names if name not in named and (section != "Parameters" or name in wanted)]
            if kept:
                entries.append((kept, text.replace(", ".join(names), ", ".join(kept), 1)))
        if section == "Parameters":
            entries.sort(key=lambda entry: wanted.index(entry[0][0]))
        own[section] = "\n".join(text for _, text in entries)
    order = ["", *LISTS, *(section for section in own if section not in ("", *LISTS))]
    parts = [f"{section}\n{'-' * len(section)}\n{own[section]}" if section else own[""] for section in order]
    return "\n\n".join(part for section, part in zip(order, parts, strict=True) if own[section])


def _sections(about: str) -> dict[str, str]:
    """The text before the first section, under "", and that of each section."""
    head, *parts = re.split(r"^([A-Z][a-z]+)\n-{3,}\n", f"{about}\n", flags=re.MULTILINE)
    return {"": head.strip(), **{name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}}


def _entries(section: str) -> list[Entry]:
    """The entries of a list of parameters or attributes: names, and an indented text."""
    texts = re.split(r"\n(?=\S)", section) if section else []
    return [([name.strip() for name in text.split("\n")[0].split(" : ")[0].split(",")], text) for text in texts]
