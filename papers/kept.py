"""Results that outlive the process: a file of JSON lines that grows by one line per fit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any


class KeptResults:
    """What is known so far, by the facts that it depends on; each new result is on the disk at once.

    Stopping a run loses nothing but the fits under way, and a second run computes only what is new. Without a path
    nothing is kept.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._results: dict[str, dict[str, Any]] = {}
        if path is None or not path.exists():
            return
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            try:
                record = json.loads(line)
                self._results[_key(record["facts"])] = record["result"]
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"line {number} of {path} is not a kept result ({error!r}); remove that line, or name another file"
                ) from error

    def get(self, facts: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result for these facts, None if it is not known yet."""
        return self._results.get(_key(facts))

    def add(self, facts: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Keep one more."""
        self._results[_key(facts)] = dict(result)
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps({"facts": facts, "result": result}, default=_plain) + "\n")


def _key(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, sort_keys=True, default=_plain)


def _plain(value: object) -> Any:
    """Options such as `TreeOptions` as their fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{value!r} cannot be written as JSON")
