"""A file takes the place of another whole or not at all, and what killed processes have left behind goes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import secrets
import stat
import time
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

# None on Windows, where a file that somebody has open cannot be removed.
fcntl: Any = import_module("fcntl") if find_spec("fcntl") else None

# Where locks may not reach other machines, a file that nobody has written to for so many seconds is left over.
LONGEST_PAUSE = 3600.0

# Of this process. A lock may be one of the process as a whole, which does not keep its own threads apart.
_being_written: set[Path] = set()


def check_can_save(path: str | os.PathLike[str]) -> Path:
    """Refuses what no file can be saved to, before there is anything to save; returns where a link leads."""
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
    """Open a new file beside ``path`` that takes its place when the block ends without an error."""
    target = check_can_save(path)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    _remove_left_over(target)
    file, temporary = _create(target)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                temporary.chmod(mode)
            if fcntl is not None:  # the lock goes with the file handle, and must not before the name does
                temporary.replace(target)
        if fcntl is None:
            temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        _being_written.discard(temporary)
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name survive a power cut too, where the system can flush a folder (Windows cannot)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _short_hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:16]


def _prefix(target: Path) -> str:
    """How the names of temporary files for ``target`` begin; a hash, since the target's name may fill its length."""
    return f".radboost-{_short_hash(target.name)}-"


def _machine() -> str:
    return _short_hash(platform.node())


def _create(target: Path) -> tuple[BinaryIO, Path]:
    """Create a temporary file that is locked until it is closed or its process ends, however that comes about."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{_machine()}-{secrets.token_hex(8)}.tmp")
        _being_written.add(temporary)
        try:
            file = temporary.open("xb")
            try:
                _lock(file.fileno(), wait=True)
                # Between its creation and its lock another process may have taken it for left over.
                if temporary.exists():
                    return file, temporary
            except BaseException:
                temporary.unlink(missing_ok=True)
                file.close()
                raise
            file.close()
        except BaseException:
            _being_written.discard(temporary)
            raise
        _being_written.discard(temporary)


def _lock(descriptor: int, *, wait: bool) -> bool | None:
    """Lock a file; False if somebody else has it, None where the system or the file system knows no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_left_over(target: Path) -> None:
    """Remove temporary files for ``target`` whose process was killed, and no file that somebody writes."""
    # Saving must not fail for what others have left: a folder that cannot be listed, a file of another user.
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        prefix = _prefix(target)
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    _remove_if_dead(target.with_name(entry.name), entry.name.removeprefix(prefix))


def _remove_if_dead(temporary: Path, rest_of_name: str) -> None:
    if temporary in _being_written:
        return
    # Neither waits for the other end of a named pipe nor follows a link.
    flags = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return
        free = _lock(descriptor, wait=False)
        # A lock that is free tells of processes of this machine only.
        known = free is True and rest_of_name.startswith(f"{_machine()}-")
        if free is not False and (known or time.time() - found.st_mtime > LONGEST_PAUSE):
            if fcntl is None:
                os.close(descriptor)
                descriptor = -1
            temporary.unlink()
    finally:
        if descriptor >= 0:
            os.close(descriptor)
