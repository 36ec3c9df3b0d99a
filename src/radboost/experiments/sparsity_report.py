"""The outcomes of the studies of "Boosting with Structural Sparsity" as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from radboost.experiments.structural_sparsity import (
    PENALTIES,
    REGRESSORS,
    UPDATES,
    InAndOut,
    InducedRegression,
    SparsityPaths,
    SparsityStudy,
)

# Levels of coverage at which features are counted, as multiples of the best that the L1 penalty reaches.
LEVELS = (1.02, 1.1, 1.25, 1.5)
_PATH = "{:<10}{:<9}{:>10}{:>10}{:>12}{:>15}"
_REGRESSION = "{:<10}{:<24}{:>16}{:>18}{:>16}{:>9}"
_ROUND = "{:<10}{:>12}{:>15}{:>15}{:>16}{:>12}"


def header(study: SparsityStudy) -> str:
    """The two lines above the rows."""
    if isinstance(study, SparsityPaths):
        line = _PATH.format("coverage", "penalty", "reached", "features", "weights", "fewer than L1")
    elif isinstance(study, InducedRegression):
        line = _REGRESSION.format("data set", "algorithm", "rmse", "absolute error", "features", "rounds")
    else:
        line = _ROUND.format("update", "objective", "most features", "at the end", "rounds to 1e-6", "test error")
    return f"{line}\n{'-' * len(line)}"


def rows(study: SparsityStudy, outcomes: Sequence[Any]) -> list[str]:
    """All lines of a study that has ended."""
    if isinstance(study, SparsityPaths):
        return _path_rows(outcomes)
    return _regression_rows(study, outcomes) if isinstance(study, InducedRegression) else _round_rows(outcomes)


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


def _path_rows(outcomes: Sequence[Any]) -> list[str]:
    lines = []
    for level in LEVELS:
        base = np.mean([pair[0] for pair in needed(outcomes, "l1", level) if pair is not None])
        for penalty in PENALTIES:
            pairs = needed(outcomes, penalty, level)
            reached = [pair for pair in pairs if pair is not None]
            if not reached:
                lines.append(_PATH.format(f"x {level:g}", penalty, f"0 of {len(pairs)}", "-", "-", "-"))
                continue
            features, share = (float(np.mean([pair[i] for pair in reached])) for i in (0, 1))
            cells = (f"{len(reached)} of {len(pairs)}", f"{features:.1f}", f"{share:.1%}", f"{1 - features / base:.0%}")
            lines.append(_PATH.format(f"x {level:g}", penalty, *cells))
    return lines


def _regression_rows(study: InducedRegression, outcomes: Sequence[Any]) -> list[str]:
    lines = []
    for name in study.datasets:
        for algorithm in REGRESSORS:
            chosen = [o.result for o in outcomes if o.facts["regression"] == name and o.facts["algorithm"] == algorithm]
            if chosen:
                cells = [_mean(chosen, "rmse", 4), _mean(chosen, "absolute", 4), _mean(chosen, "features", 1)]
                lines.append(_REGRESSION.format(name, algorithm, *cells, _mean(chosen, "rounds", 0).split()[0]))
    return lines


def _mean(results: Sequence[dict[str, Any]], key: str, digits: int) -> str:
    values = np.array([result[key] for result in results], dtype=float)
    return f"{values.mean():.{digits}f} ({values.std():.{digits}f})"


def _round_rows(outcomes: Sequence[Any]) -> list[str]:
    lines = []
    best = min(outcome.result["objective"][-1] for outcome in outcomes)
    for update in UPDATES:
        for outcome in outcomes:
            if outcome.facts["update"] != update:
                continue
            objective, features = outcome.result["objective"], outcome.result["features"]
            near = np.flatnonzero(np.array(objective) <= best * (1 + 1e-6))
            rounds = str(near[0] + 1) if len(near) else f"> {len(objective)}"
            sizes = (f"{max(features):.0f}", f"{features[-1]:.0f}")
            lines.append(
                _ROUND.format(update, f"{objective[-1]:.6f}", *sizes, rounds, f"{outcome.result['error']:.4f}")
            )
    return lines


def legend(study: SparsityStudy) -> str:
    """The lines below the rows."""
    if isinstance(study, SparsityPaths):
        return (
            "coverage: times the best test coverage of the L1 penalty; features, weights: of the sparsest model that\n"
            "reaches it, means over the repeats in which one does; fewer than L1: share of the features saved"
        )
    if isinstance(study, InducedRegression):
        return "means (standard deviations) over the repeats; columns and targets in [0, 1], epsilon 0.01, lambda 0.02"
    assert isinstance(study, InAndOut)
    return "a round of adaboost and gradboost moves every column once; one of newton is a step on a working set"
