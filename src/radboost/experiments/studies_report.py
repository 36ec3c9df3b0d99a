"""The outcomes of studies as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from radboost.experiments import sparsity_report
from radboost.experiments.soft_max_boosting import SM_BOOST, STAGES, Duel, NoiseCurve, StagedTable, Study
from radboost.experiments.structural_sparsity import SparsityStudy
from radboost.experiments.studies import Outcome

CLOSE_POINTS, CLOSE_SHARE = 0.01, 0.15

_STAGE = "{:>10}{:>8}"
_DUEL = "{:<10}{:>8}{:>14}{:>14}{:>18}{:>8}{:>16}"


def close(error: float, paper: float) -> bool:
    """Whether an error is at most the paper's plus one point or 15 percent of it, whichever is more."""
    return error <= paper + max(CLOSE_POINTS, CLOSE_SHARE * paper)


def header(study: Study | SparsityStudy) -> str:
    """The two lines above the rows."""
    if isinstance(study, SparsityStudy):
        return sparsity_report.header(study)
    if isinstance(study, StagedTable):
        line = f"{'data set':<11}{'algorithm':<13}"
        line += "".join(_STAGE.format(f"T = {stage}", "paper") for stage in STAGES) + "  close"
    elif isinstance(study, Duel):
        rival = study.rival
        line = _DUEL.format("errors", "rounds", rival, SM_BOOST, f"{rival} wins", "equal", f"{SM_BOOST} wins")
    else:
        line = f"{'noise':<8}" + "".join(f"{name:>20}" for name in _curve_names(study))
    return f"{line}\n{'-' * len(line)}"


def staged_row(study: StagedTable, outcome: Outcome) -> str:
    """One fit: ours beside the paper's."""
    dataset, algorithm = outcome.facts["dataset"], outcome.facts["algorithm"]
    paper = study.figures[dataset][algorithm]
    ours = outcome.result["test"]
    cells = "".join(_STAGE.format(f"{e:.4f}", f"{p:.4f}") for e, p in zip(ours, paper, strict=False))
    verdicts = " ".join("yes" if close(e, p) else "no" for e, p in zip(ours, paper, strict=False))
    missing = " " * (len(_STAGE.format("", "")) * (len(paper) - len(ours)))
    return f"{dataset:<11}{algorithm:<13}{cells}{missing}  {verdicts}"


def duel_rows(study: Duel, outcomes: Sequence[Outcome]) -> list[str]:
    """Means over the problems, and how often each algorithm has the lower error."""
    rows = []
    for part in ("train", "test"):
        rival, ours = duel_errors(study, outcomes, part)
        for column, stage in enumerate(study.stages):
            a, b = rival[:, column], ours[:, column]
            wins = [f"{np.mean(a < b):.1%}", f"{np.mean(a == b):.1%}", f"{np.mean(a > b):.1%}"]
            rows.append(_DUEL.format(part, stage, f"{a.mean():.4f}", f"{b.mean():.4f}", *wins))
    return rows


def duel_errors(study: Duel, outcomes: Sequence[Outcome], part: str) -> tuple[Any, Any]:
    """Errors of the rival and of sm-boost, a line for each problem and a column for each stage."""
    rival, ours = (
        np.array([o.result[part] for o in outcomes if o.facts["algorithm"] == name]) for name in (study.rival, SM_BOOST)
    )
    return rival, ours


def curve_rows(study: NoiseCurve, outcomes: Sequence[Outcome]) -> list[str]:
    """Mean test error and its standard deviation at each level of noise."""
    errors = curve_errors(study, outcomes)
    return [
        f"{noise:<8.2f}"
        + "".join(f"{f'{values[i].mean():.4f} ({values[i].std():.4f})':>20}" for values in errors.values())
        for i, noise in enumerate(study.noises)
    ]


def _curve_names(study: NoiseCurve) -> list[str]:
    return [*study.sizes, "one walk"]


def curve_errors(study: NoiseCurve, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Errors by algorithm, a line for each level of noise and a column for each repeat."""

    def of(algorithm: str, key: str) -> Any:
        chosen = [o for o in outcomes if o.facts["algorithm"] == algorithm]
        return np.array([[o.result[key] for o in chosen if o.facts["flipped"] == noise] for noise in study.noises])

    *_, martiboost = study.sizes
    return {name: of(name, "error") for name in study.sizes} | {"one walk": of(martiboost, "walk")}


def rows(study: Study | SparsityStudy, outcomes: Sequence[Outcome]) -> list[str]:
    """All lines of a study that has ended."""
    if isinstance(study, SparsityStudy):
        return sparsity_report.rows(study, outcomes)
    if isinstance(study, StagedTable):
        return [staged_row(study, outcome) for outcome in outcomes]
    return duel_rows(study, outcomes) if isinstance(study, Duel) else curve_rows(study, outcomes)


def legend(study: Study | SparsityStudy) -> str:
    """The lines below the rows."""
    if isinstance(study, SparsityStudy):
        return sparsity_report.legend(study)
    if isinstance(study, StagedTable):
        return (
            "T: test error after so many rounds of one fit, beside the paper's\n"
            "close: it is at most the paper's plus one point, or 15 percent of it"
        )
    if isinstance(study, Duel):
        return (
            "means over the problems; wins: share of the problems in which an algorithm has the lower error\n"
            "test errors are on 10,000 rows with right labels, training errors on the noisy ones"
        )
    return (
        "mean test error (standard deviation) over the repeats, on rows with right labels; noise: share of wrong "
        "training labels\nMartiBoost answers with the side that its random walk reaches more often; one walk: the "
        "expected error of the side that a single walk reaches\nSoftmaxBoost: our defaults, trees of up to 32 leaves; "
        "everything else is stumps"
    )


def as_document(settings: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Everything, for a file of JSON."""
    return {**settings, "outcomes": [{"facts": o.facts, "result": o.result} for o in outcomes]}
