"""The outcomes of studies as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.studies import Outcome
from papers.study import Study


def header(study: Study) -> str:
    """The two lines above the rows."""
    return f"{study.heading}\n{'-' * len(study.heading)}"


def as_document(settings: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything, for a file of JSON."""
    return {**settings, "outcomes": [{"facts": o.facts, "result": o.result} for o in outcomes]}
