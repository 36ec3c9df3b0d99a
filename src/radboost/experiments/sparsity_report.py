"""The outcomes of the studies of "Boosting with Structural Sparsity" as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from radboost.experiments.structural_sparsity import (
    CHOSEN,
    PENALTIES,
    REGRESSORS,
    UPDATES,
    InAndOut,
    InducedRegression,
    KernelDigits,
    SparsityPaths,
    SparsityStudy,
    Topics,
)

# Levels of coverage at which features are counted, as multiples of the best that the L1 penalty reaches.
LEVELS = (1.02, 1.1, 1.25, 1.5)
_PATH = "{:<10}{:<9}{:>10}{:>10}{:>12}{:>15}"
_REGRESSION = "{:<10}{:<24}{:>16}{:>18}{:>16}{:>9}"
_ROUND = "{:<10}{:>12}{:>15}{:>15}{:>16}{:>12}"
_TOPIC = "{:<13}{:<38}{:>7}{:>9}{:>9}{:>10}{:>8}"
_DIGITS = "{:>14}  {:<9}{:>18}{:>18}{:>10}{:>11}"


def header(study: SparsityStudy) -> str:
    """The two lines above the rows."""
    if isinstance(study, SparsityPaths):
        line = _PATH.format("coverage", "penalty", "reached", "features", "weights", "fewer than L1")
    elif isinstance(study, InducedRegression):
        line = _REGRESSION.format("data set", "algorithm", "rmse", "absolute error", "features", "rounds")
    elif isinstance(study, Topics):
        line = _TOPIC.format("topic", "algorithm", "rounds", "error", "loss", "features", "stopped")
    elif isinstance(study, KernelDigits):
        line = _DIGITS.format("rows per class", "penalty", "coverage", "error", "features", "alpha")
    else:
        line = _ROUND.format("update", "objective", "most features", "at the end", "rounds to 1e-6", "test error")
    return f"{line}\n{'-' * len(line)}"


def rows(study: SparsityStudy, outcomes: Sequence[Any]) -> list[str]:
    """All lines of a study that has ended."""
    if isinstance(study, SparsityPaths):
        return _path_rows(outcomes)
    if isinstance(study, Topics):
        return _topic_rows(outcomes)
    if isinstance(study, KernelDigits):
        return _digit_rows(outcomes)
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
                cells = [_median(chosen, "rmse", 4), _median(chosen, "absolute", 4), _median(chosen, "features", 0)]
                lines.append(_REGRESSION.format(name, algorithm, *cells, _median(chosen, "rounds", 0).split()[0]))
    return lines


def _topic_rows(outcomes: Sequence[Any]) -> list[str]:
    lines = []
    for (topic, algorithm, _), results in by_facts(outcomes, "topic", "algorithm", "rounds").items():
        ended = f"{sum(result['stopped'] == 'optimal' for result in results)} of {len(results)}"
        counts = (float(np.mean([result[key] for result in results])) for key in ("rounds", "features"))
        n_rounds, n_features = (f"{count:.0f}" for count in counts)
        errors = (f"{np.mean([result[key] for result in results]):.4f}" for key in ("error", "loss"))
        shown = "-" if algorithm == CHOSEN else n_rounds
        lines.append(_TOPIC.format(topic, algorithm, shown, *errors, n_features, ended))
    return lines


def _digit_rows(outcomes: Sequence[Any]) -> list[str]:
    lines = []
    for (size, penalty), results in by_facts(outcomes, "digits", "penalty").items():
        cells = [_mean(results, "coverage", 4), _mean(results, "error", 4), _mean(results, "features", 0).split()[0]]
        lines.append(_DIGITS.format(size, penalty, *cells, f"{np.median([r['alpha'] for r in results]):.1e}"))
    return lines


def by_facts(outcomes: Sequence[Any], *keys: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Results by what their fits have in common, in the order in which it comes first."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for outcome in outcomes:
        groups.setdefault(tuple(outcome.facts[key] for key in keys), []).append(outcome.result)
    return groups


def _median(results: Sequence[dict[str, Any]], key: str, digits: int) -> str:
    values = np.array([result[key] for result in results], dtype=float)
    return f"{np.median(values):.{digits}f} ({values.max():.{digits}f})"


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
                _ROUND.format(update, f"{objective[-1]:.6f}", *sizes, rounds, f"{outcome.result['error'][-1]:.4f}")
            )
    return lines


def legend(study: SparsityStudy) -> str:
    """The lines below the rows."""
    if isinstance(study, SparsityPaths):
        return (
            "coverage: times the best test coverage of the L1 penalty; features, weights: of the sparsest model that\n"
            "reaches it, means over the repeats in which one does; fewer than L1: share of the features saved"
        )
    if isinstance(study, Topics):
        return (
            "words are there or not; error and loss on 30 percent of the texts, means over the repeats; stopped:\n"
            "repeats in which no feature could help any more; a squared penalty in place of the smooth L1 one"
        )
    if isinstance(study, KernelDigits):
        return (
            "10,000 test digits, means (standard deviations) over the repeats; alpha (its median) has the best\n"
            "coverage on 2,000 other training digits"
        )
    if isinstance(study, InducedRegression):
        return (
            "medians (and the largest) of the repeats: a product of many columns may explode on a test row; columns\n"
            "and targets in [0, 1] (ailerons: [-1, 1]), epsilon 0.01, lambda 0.02"
        )
    assert isinstance(study, InAndOut)
    return "a round of adaboost and gradboost moves every column once; one of newton is a step on a working set"
