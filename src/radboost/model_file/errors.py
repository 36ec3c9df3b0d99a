"""The error for invalid model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file cannot be read or written; the message names the reason and what to do.

    A file that is truncated, altered, hostile or written by a newer version ends here. What the operating
    system refuses (no such file, no permission, disk full) stays an ``OSError``.
    """
