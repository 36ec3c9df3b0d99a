"""Atomic writing of files."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LONGEST_PAUSE = 3600.0  # seconds without a write after which a temporary file is considered abandoned


def check_can_save(path: str | os.PathLike[str]) -> Path:
    """File that `path` refers to, links followed; OSError if no regular file can be written there."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"Cannot save to {path}: the folder {target.parent} does not exist.")
    if target.exists():
        if target.is_dir():
            raise IsADirectoryError(f"Cannot save to {path}: it is a folder and not a regular file.")
        if not target.is_file():
            raise OSError(f"Cannot save to {path}: it is a device, pipe or socket and not a regular file.")
        if not os.access(target, os.W_OK):
            raise PermissionError(f"Cannot save to {path}: the file is read-only.")
    return target


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside `path` that replaces it when the block ends without an error."""
    target = check_can_save(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    # A hash of the name, which may itself be as long as the file system allows.
    prefix = f".radboost-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"
    _remove_abandoned(target.parent, prefix)
    temporary = target.with_name(f"{prefix}{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove regular files of these names without a write for `LONGEST_PAUSE`."""
    oldest = time.time() - LONGEST_PAUSE
    # Saving must not fail for a folder that cannot be listed, or for a file of another user.
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < oldest:
                        folder.joinpath(entry.name).unlink()


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a power cut too, where the system can flush a folder (Windows cannot)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
