"""Output files: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from radboost.model_file import replacing


def check_output(option: str, path: Path) -> None:
    """Refuse a file that cannot be written, before hours of fits."""
    is_new = not path.exists()
    if not path.parent.is_dir():
        wrong = f"there is no folder {path.parent}"
    elif not is_new and not path.is_file():
        wrong = "this is not a regular file; name a regular one, or a new one"
    elif not os.access(path.parent if is_new else path, os.W_OK):
        wrong = "it cannot be written here; name another file"
    else:
        return
    raise ValueError(f"{option} {path}: {wrong}")


def check_new(option: str, path: Path, *, force: bool, inputs: Sequence[str | Path | None] = ()) -> None:
    """Refuse a file that cannot be written, that exists already, or that is read by the same command."""
    check_output(option, path)
    for given in inputs:
        if given is not None and same_file(path, given):
            raise ValueError(f"{option} {path}: this is {given}, which is read, and would be lost; name another file")
    if path.exists() and not force:
        raise ValueError(f"{option} {path}: this file exists; name another, or replace it with --force")


def check_page(option: str, path: Path, *, force: bool, inputs: Sequence[str | Path | None]) -> None:
    """Refuse a page that cannot be written, before the work begins."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{option} {path}: a report is a page; give a name that ends with .html")
    check_new(option, path, force=force, inputs=inputs)


def same_file(one: Path, other: str | Path) -> bool:
    """True if two paths lead to one file, which need not exist."""
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as file:
        file.write(content)
