"""Figures 9 to 12 and 14 of "Boosting with Structural Sparsity" (Duchi and Singer 2009): products of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures

from papers.harness import Facts, Outcome, Result, Row, Study, distinct, load, results_of
from radboost.estimators.sparse import SparseBoostClassifier
from radboost.metrics import coverage
from radboost.plot._style import COLOURS, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENALTIES = ("l1", "l1/l2", "l1/linf")
UPDATES = ("adaboost", "gradboost", "newton")
# Levels of coverage at which features are counted, as multiples of the best that the L1 penalty reaches.
LEVELS = (1.02, 1.1, 1.25, 1.5)
N_ALPHAS = 25


@dataclass(frozen=True)
class Parts:
    """Rows that train and rows that test."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Products(Study):
    """A data set with its columns and their products, all in [0, 1], as many training rows of each class."""

    dataset: str
    per_class: int
    n_test: int

    def parts(self, facts: Facts, data_dir: str | None) -> Parts:
        """Draw the rows of a repeat."""
        data = load(self.dataset, data_dir)
        rng = np.random.default_rng([facts["seed"], facts.get("repeat", 0)])
        X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
        order = rng.permutation(len(y))
        if data.split is not None:
            pool, rest = order[data.split[order] == "train"], order[data.split[order] == "test"]
        else:
            pool, rest = order[self.n_test :], order[: self.n_test]
        train = np.concatenate([pool[y[pool] == label][: self.per_class] for label in np.unique(y)])
        expand = PolynomialFeatures(2, include_bias=False)
        scale = MinMaxScaler().fit(X[train])
        learn, test = (expand.fit_transform(scale.transform(X[part])) for part in (train, rest[: self.n_test]))
        return Parts(learn, y[train], test, y[rest[: self.n_test]])

    @property
    def size(self) -> Facts:
        return {"per_class": self.per_class, "n_test": self.n_test}


@dataclass(frozen=True)
class SparsityPaths(Products):
    """Figures 9 to 12: test coverage along alpha, for each penalty."""

    runs = 10
    quick_runs = 2
    columns = ("coverage", "penalty", "reached", "features", "weights", "fewer than L1")
    legend = (
        "coverage: times the best test coverage of the L1 penalty; features, weights: of the sparsest model that\n"
        "reaches it, means over the repeats in which one does; fewer than L1: fraction of the features saved"
    )

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [
            {"paths": self.dataset, "repeat": repeat, "penalty": penalty} | self.size
            for repeat in range(runs)
            for penalty in PENALTIES
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Follow the path of alpha; a list for each measure, with a value for each alpha."""
        parts = self.parts(facts, data_dir)
        model = SparseBoostClassifier(penalty=facts["penalty"], tol=1e-4, n_jobs=1)
        alphas, coefs, intercepts = model.path(parts.X, parts.y, n_alphas=N_ALPHAS, eps=2e-3)
        path: dict[str, list[float]] = {key: [] for key in ("alpha", "rows", "weights", "coverage", "error", "loss")}
        for alpha, coef, intercept in zip(alphas, coefs, intercepts, strict=True):
            scores = parts.X_test @ coef.T + intercept
            true = scores[np.arange(len(scores)), parts.y_test]
            path["alpha"].append(float(alpha))
            path["rows"].append(int(coef.any(axis=0).sum()))
            path["weights"].append(float(np.mean(coef != 0.0)))
            path["coverage"].append(coverage(parts.y_test, scores))
            path["error"].append(float(np.mean(scores.argmax(axis=1) != parts.y_test)))
            path["loss"].append(float(np.mean(np.logaddexp.reduce(scores, axis=1) - true)))
        return path

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for level in LEVELS:
            base = np.mean([size[0] for size in needed(outcomes, "l1", level) if size is not None])
            for penalty in PENALTIES:
                sizes = needed(outcomes, penalty, level)
                reached = [size for size in sizes if size is not None]
                cells = ["-", "-", "-"]
                if reached:
                    features, weights = np.mean(reached, axis=0)
                    cells = [f"{features:.1f}", f"{weights:.1%}", f"{1 - features / base:.0%}"]
                rows.append([f"x {level:g}", penalty, f"{len(reached)} of {len(sizes)}", *cells])
        return rows

    def draw(self, outcomes: Sequence[Outcome]) -> Figure:
        """Draw coverage and loss against features used, and against weights that are not zero."""
        figure: Figure
        figure, grid = pyplot().subplots(1, 4, figsize=(12.5, 3.2), layout="constrained")
        views = (("rows", "coverage"), ("weights", "coverage"), ("rows", "loss"), ("weights", "loss"))
        names = {"rows": "features used", "weights": "fraction of weights that are not zero"}
        for panel, (x, y) in zip(grid, views, strict=True):
            for penalty, color in zip(PENALTIES, COLOURS, strict=False):
                paths = results_of(outcomes, penalty=penalty)
                first, second = (np.array([path[key] for path in paths]).mean(axis=0) for key in (x, y))
                panel.plot(first[1:], second[1:], "o-", color=color, markersize=3, linewidth=1.4, label=penalty)
            panel.set_xscale("log")
            panel.xaxis.set_minor_formatter("")  # the labels of 2, 3, 4, ... would run into each other
            panel.set(xlabel=names[x], ylabel=f"test {y}")
            tidy(panel)
        figure.suptitle(self.title, x=0.01, ha="left")
        grid[0].legend(frameon=False)
        return figure


def needed(outcomes: Sequence[Outcome], penalty: str, level: float) -> list[tuple[float, float] | None]:
    """Features and fraction of weights of the sparsest model of each repeat that reaches a coverage; None for no model.

    The coverage is `level` times the best of the L1 penalty.
    """
    sizes: list[tuple[float, float] | None] = []
    for repeat in distinct(outcomes, "repeat"):
        (best,), (path,) = (results_of(outcomes, repeat=repeat, penalty=one) for one in ("l1", penalty))
        good = [i for i, value in enumerate(path["coverage"]) if value <= level * min(best["coverage"])]
        sizes.append((min(path["rows"][i] for i in good), min(path["weights"][i] for i in good)) if good else None)
    return sizes


@dataclass(frozen=True)
class InAndOut(Products):
    """Figures 13 (right) and 14: objective, test error and features in the model over the rounds, for each update."""

    rounds: tuple[int, ...] = (10, 30, 100, 300, 1000)
    quick_rounds: tuple[int, ...] = (10, 30)

    columns = ("update", "objective", "most features", "at the end", "rounds to 1e-6", "test error")
    legend = "a round of adaboost and gradboost moves every column once; one of newton is a step on a working set"

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        stages = list(self.quick_rounds if quick else self.rounds)
        return [{"rounds_of": self.dataset, "update": update, "stages": stages} | self.size for update in UPDATES]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Fit once for each stage, so that there is a test error for each; the last has the whole history."""
        parts = self.parts(facts, data_dir)
        errors = []
        for rounds in facts["stages"]:
            model = SparseBoostClassifier(
                0.002, penalty="l1/linf", update=facts["update"], template="one", n_rounds=rounds, tol=1e-5, n_jobs=1
            ).fit(parts.X, parts.y)
            errors.append(float(np.mean(model.predict(parts.X_test) != parts.y_test)))
        return {
            "objective": model.history_["objective"],
            "features": model.history_["n_features"],
            "error": errors,
            "gap": model.optimality_gap_,
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        best = min(one.result["objective"][-1] for one in outcomes)
        rows: list[Row] = []
        for one in outcomes:
            objective, features = one.result["objective"], one.result["features"]
            near = np.flatnonzero(np.array(objective) <= best * (1 + 1e-6))
            rounds = str(near[0] + 1) if len(near) else f"> {len(objective)}"
            sizes = (f"{max(features):.0f}", f"{features[-1]:.0f}")
            rows.append([one.facts["update"], f"{objective[-1]:.6f}", *sizes, rounds, f"{one.result['error'][-1]:.4f}"])
        return rows


STUDIES: tuple[Study, ...] = (
    SparsityPaths("structural-sparsity-9", "LandSat, products, 240 rows per class", "satimage", 240, 2000),
    SparsityPaths("structural-sparsity-10", "vowels, products, 20 rows per class", "vowel", 20, 462),
    SparsityPaths("structural-sparsity-11", "pen digits, products, 300 rows per class", "pendigits", 300, 3498),
    SparsityPaths("structural-sparsity-12", "waves, products, 600 rows per class", "waveform40", 600, 2500),
    InAndOut("structural-sparsity-14", "LandSat, features in and out", "satimage", 240, 2000),
)
