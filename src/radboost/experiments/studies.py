"""Studies without a grid: every fit stands for itself. "Soft-max boosting", section 5, and "Boosting with Structural
Sparsity", section 10.

A study is a list of units, each of them one fit that is told by its facts alone: what is in a file of kept results is
not fitted again, and studies share what they have in common (Figures 1 and 3 their problems and sm-boost).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from joblib import delayed
from numpy.typing import NDArray

from radboost import datasets as registry
from radboost.baselines import MartiBoostClassifier
from radboost.experiments.almo import fit_almo_unit
from radboost.experiments.federated_fits import fit_federated_unit
from radboost.experiments.kept import KeptResults
from radboost.experiments.multi_source_fits import fit_sources_unit
from radboost.experiments.soft_max_boosting import STAGES, make_model, make_noise_model
from radboost.experiments.sparsity_fits import SPARSITY_FITS, fit_sparsity_unit
from radboost.experiments.structured import fit_structured_unit
from radboost.experiments.structured_alignment import fit_alignment_unit
from radboost.experiments.study import Study
from radboost.experiments.workers import in_processes

Facts = dict[str, Any]
"""What the outcome of a fit depends on."""


# The first of these that a unit has tells it from others, for the progress bar.
NAMING = ("dataset", "sources", "federated", "almo", "structured", "alignment", "algorithm", "penalty", "update")


@dataclass(frozen=True)
class Outcome:
    """One fit: its facts and the errors it led to."""

    facts: Facts
    result: dict[str, Any]


def units(study: Study, datasets: Sequence[str] | None = None, *, quick: bool = False, seed: int = 0) -> list[Facts]:
    """The facts of every fit, in order."""
    if datasets is not None and not study.takes_datasets:
        raise ValueError(f"{study.name} chooses or makes its own data; leave out the names of data sets")
    same: Facts = {"radboost": version("radboost"), "seed": seed}
    return [same | facts for facts in study.units(quick, datasets)]


def run(
    wanted: Sequence[Facts],
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    kept: KeptResults | None = None,
    advance: Callable[[str], None] = lambda _: None,
) -> Iterator[Outcome]:
    """The outcomes of units, in order, in `jobs` processes of one thread each; `advance` is called after each."""
    known = kept or KeptResults()
    fits = (delayed(fit)(facts, data_dir) for facts in wanted if known.get(facts) is None)
    fitted = in_processes(fits, jobs)
    for facts in wanted:
        result = known.get(facts)
        if result is None:
            result = next(fitted)
            known.add(facts, result)
        advance(str(next(facts[name] for name in NAMING if facts.get(name))))
        yield Outcome(facts, result)


def fit(facts: Facts, data_dir: str | None = None) -> dict[str, Any]:
    """One unit."""
    if "almo" in facts:
        return fit_almo_unit(facts, data_dir)
    if "structured" in facts:
        return fit_structured_unit(facts)
    if "alignment" in facts:
        return fit_alignment_unit(facts)
    if "federated" in facts:
        return fit_federated_unit(facts, data_dir)
    if "sources" in facts:
        return fit_sources_unit(facts, data_dir)
    if set(SPARSITY_FITS) & set(facts):
        return fit_sparsity_unit(facts, data_dir)
    if "dataset" in facts:
        return _fit_split(facts, data_dir)
    return _fit_problem(facts) if "problem" in facts else _fit_noisy(facts)


def _fit_split(facts: Facts, data_dir: str | None) -> dict[str, Any]:
    data = registry.load(facts["dataset"], data_dir)
    if data.split is None:
        raise ValueError(
            f"{data.name} from {data.source} does not say which rows train and which test, and this table needs the "
            "given parts; use a file with a column 'split'"
        )
    train = data.split == "train"
    y = registry.make_noisy(data.y[train], facts["noise"], random_state=facts["seed"])
    return _staged_errors(facts, data.X[train], y, data.X[~train], data.y[~train])


def _fit_problem(facts: Facts) -> dict[str, Any]:
    problem = registry.make_madelon_like(np.random.default_rng([facts["seed"], facts["problem"]]))
    return _staged_errors(facts, problem.X, problem.y, problem.X_test, problem.y_test)


def _staged_errors(
    facts: Facts, X: NDArray[Any], y: NDArray[Any], X_test: NDArray[Any], y_test: NDArray[Any]
) -> dict[str, Any]:
    """Training and test errors after 10, 100, ... rounds; a fit that ended before counts as it ended."""
    model = make_model(facts["algorithm"], facts["rounds"], facts["seed"]).fit(X, y)
    wanted = [stage for stage in STAGES if stage <= facts["rounds"]]
    rounds = [min(stage, model.n_iter_) for stage in wanted]
    tests = {}
    for number, predicted in enumerate(model.staged_predict(X_test), start=1):
        if number in rounds:
            tests[number] = float(np.mean(predicted != y_test))
    train = model.history_["train_error"]
    return {"train": [float(train[number - 1]) for number in rounds], "test": [tests[number] for number in rounds]}


def _fit_noisy(facts: Facts) -> dict[str, Any]:
    rng = np.random.default_rng([facts["seed"], facts["repeat"]])
    X_test, y_test = registry.make_long_servedio(facts["n_test"], random_state=rng)
    X, y = registry.make_long_servedio(facts["n_train"], noise=facts["flipped"], random_state=rng)
    model = make_noise_model(facts["algorithm"], facts["size"], facts["seed"], facts["n_train"]).fit(X, y)
    scores = model.decision_function(X_test)
    error = float(np.mean((scores > 0) != y_test))
    if isinstance(model, MartiBoostClassifier):
        # the paper's rule is one random walk; its expected error needs no draw
        right = model.predict_proba(X_test)[np.arange(len(y_test)), y_test]
        return {"error": error, "walk": float(np.mean(1.0 - right))}
    return {"error": error}
