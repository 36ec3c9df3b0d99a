"""Cross-validated contenders side by side: every configuration on the same folds, the best one reported.

The choice and the report use the same folds, as in the paper: the errors flatter everybody alike, those with many
configurations a little more. That is why all have as many, RGB with the paper's five aside.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.model_selection import StratifiedKFold

from papers import datasets as registry
from papers.datasets import Dataset
from papers.kept import KeptResults
from papers.protocol import chance_of_lead
from papers.regularized_gradient_boosting import FOLDS, ComparisonTable, Contender
from papers.spec import Choice, Figures
from papers.workers import in_processes

_ROW = "{:<14}{:<16}{:>16}{:>17}  {:<7}{:>9}  {}"
_LIBRARIES = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}


@dataclass(frozen=True)
class Contest:
    """One contender on one data set: its best configuration."""

    dataset: str
    contender: str
    parameters: Choice
    errors: tuple[float, ...]
    """Of each fold."""
    p_value: float | None
    """One-tailed paired t-test: how likely so large a lead over the other one is by chance."""
    paper: Figures | None

    @property
    def error(self) -> float:
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        return float(np.std(self.errors, ddof=1))

    @property
    def within(self) -> bool | None:
        """Whether the error is at most the paper's plus one of its standard deviations."""
        return None if self.paper is None else self.error <= self.paper.error + self.paper.std


def available(table: ComparisonTable) -> tuple[list[Contender], list[str]]:
    """The contenders whose libraries are installed, and the names of the others."""
    missing = [
        contender.name
        for contender in table.contenders
        if contender.name in _LIBRARIES and importlib.util.find_spec(_LIBRARIES[contender.name]) is None
    ]
    return [contender for contender in table.contenders if contender.name not in missing], missing


def select(table: ComparisonTable, names: Sequence[str] | None) -> list[str]:
    """The data sets to run, in the order of the table."""
    known = {registry.entry(name).name: name for name in table.datasets}
    if names is None:
        return list(table.datasets)
    for name in names:
        if registry.entry(name).name not in known:
            raise ValueError(f"{table.name} has no data set {name!r}; it has {', '.join(table.datasets)}")
    wanted = {registry.entry(name).name for name in names}
    return [name for name in table.datasets if name in wanted]


def count_fits(table: ComparisonTable, names: Sequence[str] | None, *, quick: bool) -> int:
    """How many fits a run makes."""
    configurations = sum(len(contender.configurations(quick=quick)) for contender in available(table)[0])
    return configurations * table.folds * len(select(table, names))


def compare(
    table: ComparisonTable,
    names: Sequence[str] | None = None,
    *,
    quick: bool = False,
    folds: str = "shuffled",
    seed: int = 0,
    jobs: int = 1,
    data_dir: str | None = None,
    kept: KeptResults | None = None,
    advance: Callable[[str], None] = lambda _: None,
) -> Iterator[Contest]:
    """Run a table, or some of its data sets; what is in `kept` is not fitted again. `folds` is a name of `FOLDS`."""
    kept = KeptResults() if kept is None else kept
    contenders = available(table)[0]
    for name in select(table, names):
        data = registry.load(name, data_dir)
        rows = deal(data, table.folds, folds, seed)
        place = {"table": table.name, "dataset": name, "folds": folds, "seed": seed}
        best = {}
        for contender in contenders:
            best[contender.name] = _choose(contender, place, data, rows, quick, jobs, kept, advance)
        for contender in contenders:
            parameters, errors = best[contender.name]
            rival = best.get(table.against)
            p_value = None
            if rival is not None and contender.name != table.against:
                p_value = chance_of_lead(errors, rival[1])
            paper = table.figures[name].get(contender.name)
            yield Contest(name, contender.name, parameters, errors, p_value, paper)


def deal(data: Dataset, n_folds: int, kind: str, seed: int) -> list[tuple[Any, Any]]:
    """The rows that train and test in each fold, dealt as `FOLDS` says."""
    if kind not in FOLDS:
        raise ValueError(f"there are no folds {kind!r}; there are {', '.join(FOLDS)}")
    shuffled = kind != "contiguous"
    splitter = StratifiedKFold(n_folds, shuffle=shuffled, random_state=seed if shuffled else None)
    pairs = list(splitter.split(data.X, data.y))
    return [(test, train) for train, test in pairs] if kind == "one-fifth" else pairs


def _choose(
    contender: Contender,
    place: dict[str, Any],
    data: Dataset,
    folds: Sequence[Any],
    quick: bool,
    jobs: int,
    kept: KeptResults,
    advance: Callable[[str], None],
) -> tuple[Choice, tuple[float, ...]]:
    """The configuration of least mean error, the first of equals, and its error in each fold."""
    choices = contender.configurations(quick=quick)
    wanted = [(choice, fold) for choice in choices for fold in range(len(folds))]

    def facts(choice: Choice, fold: int) -> dict[str, Any]:
        own = {"contender": contender.name, "fold": fold, "parameters": choice, "version": _version(contender.name)}
        return place | own

    fits = (
        delayed(_error)(contender, choice, data.X, data.y, *folds[fold])
        for choice, fold in wanted
        if kept.get(facts(choice, fold)) is None
    )
    fitted = in_processes(fits, jobs)
    errors: dict[int, list[float]] = {index: [] for index in range(len(choices))}
    for number, (choice, fold) in enumerate(wanted):
        known = kept.get(facts(choice, fold))
        if known is None:
            known = {"error": next(fitted)}
            kept.add(facts(choice, fold), known)
        errors[number // len(folds)].append(float(known["error"]))
        advance(place["dataset"])
    best = min(errors, key=lambda index: float(np.mean(errors[index])))
    return choices[best], tuple(errors[best])


def _version(contender: str) -> str:
    return version(_LIBRARIES.get(contender, "scikit-learn" if contender == "HistGradBoost" else "radboost"))


def _error(contender: Contender, choice: Choice, X: Any, y: Any, train: Any, test: Any) -> float:
    classes, labels = np.unique(y, return_inverse=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about names of columns, in other libraries
        model = contender.make(**choice).fit(X[train], labels[train])
        predicted = np.asarray(model.predict(X[test])).reshape(-1)
    return float(np.mean(predicted.astype(int) != labels[test])) if len(classes) else 0.0


def header(table: ComparisonTable) -> str:
    """The two lines above the rows."""
    names = ("data set", "contender", "error (std)", "paper (std)", "within", f"p vs {table.against[:3]}", "parameters")
    line = _ROW.format(*names)
    return f"{line}\n{'-' * len(line)}"


def row(contest: Contest) -> str:
    """One line."""
    within = {None: "-", True: "yes", False: "no"}[contest.within]
    paper = "-" if contest.paper is None else f"{contest.paper.error:.4f} ({contest.paper.std:.4f})"
    parameters = ", ".join(f"{name}={value:g}" for name, value in contest.parameters.items())
    return _ROW.format(
        contest.dataset,
        contest.contender,
        f"{contest.error:.4f} ({contest.std:.4f})",
        paper,
        within,
        "-" if contest.p_value is None else f"{contest.p_value:.3f}",
        parameters,
    )


def legend(table: ComparisonTable, *, quick: bool, folds: str = "shuffled") -> str:
    """The lines below the rows."""
    sizes = ", ".join(f"{len(one.configurations(quick=quick))} of {one.name}" for one in table.contenders)
    lines = [
        f"error: mean over {table.folds} folds ({FOLDS[folds]}) of the best configuration, chosen on the same folds",
        f"configurations: {sizes}",
        "within: the error is at most the paper's plus one of its standard deviations",
        f"p: one-tailed paired t-test against {table.against}; below 0.05 the lower error is taken for a real one",
        *table.notes,
        *(f"{name} is not installed, and left out" for name in available(table)[1]),
    ]
    return "\n".join(lines)


def as_document(settings: dict[str, Any], contests: Sequence[Contest]) -> dict[str, Any]:
    """Everything, for a file."""
    own = ("error", "std", "within")
    return {**settings, "rows": [asdict(c) | {key: getattr(c, key) for key in own} for c in contests]}
