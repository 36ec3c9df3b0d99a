"""What the reports of the studies of "Boosting with Structural Sparsity" compute from their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def needed(outcomes: Sequence[Any], penalty: str, level: float) -> list[tuple[float, float] | None]:
    """For each repeat the features and the share of weights of the sparsest model that reaches `level` times the best
    coverage of the L1 penalty; None where no model does.
    """
    found: list[tuple[float, float] | None] = []
    for repeat in sorted({outcome.facts["repeat"] for outcome in outcomes}):
        paths = {o.facts["penalty"]: o.result for o in outcomes if o.facts["repeat"] == repeat}
        goal = level * min(paths["l1"]["coverage"])
        good = [i for i, value in enumerate(paths[penalty]["coverage"]) if value <= goal]
        sizes = [(paths[penalty]["rows"][i], paths[penalty]["weights"][i]) for i in good]
        found.append((min(size for size, _ in sizes), min(share for _, share in sizes)) if sizes else None)
    return found


def by_facts(outcomes: Sequence[Any], *keys: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Results by what their fits have in common, in the order in which it comes first."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for outcome in outcomes:
        groups.setdefault(tuple(outcome.facts[key] for key in keys), []).append(outcome.result)
    return groups


def median(results: Sequence[dict[str, Any]], key: str, digits: int) -> str:
    values = np.array([result[key] for result in results], dtype=float)
    return f"{np.median(values):.{digits}f} ({values.max():.{digits}f})"


def mean(results: Sequence[dict[str, Any]], key: str, digits: int) -> str:
    values = np.array([result[key] for result in results], dtype=float)
    return f"{values.mean():.{digits}f} ({values.std():.{digits}f})"
