"""Tables 5.1, 5.2 and C.2 to C.7 of Storcheus's thesis (2021): models evaluated by several losses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from papers import datasets as registry
from papers.harness import Facts, Outcome, Result, Row, Study, distinct, mean_std, published
from radboost.estimators import AgnosticClassifier
from radboost.losses.model_evaluation import EVALUATION_LOSSES
from radboost.plot._style import COLOURS, pyplot, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSSES = ("cross_entropy", "zero_one", "hinge", "l1")
METRICS = (*LOSSES, "auc")
METHODS = ("uniform", "ALMO", *LOSSES)
# The thesis tries 50 settings, which would take days here; these are six.
GRID = tuple({"radius": radius, "norm_penalty": penalty} for radius in (3.0, 10.0, 30.0) for penalty in (0.0, 1e-3))
NETWORK_GRID = tuple({"lr": lr, "weight_decay": decay} for lr in (1e-3, 3e-4) for decay in (0.0, 1e-4, 1e-3))
ROUNDS, BATCH, RETRAINED = 2000, 256, 3
# The thesis does not say how long it trains; 54 trainings on a set of images take three quarters of an hour on a core.
EPOCHS = {"mnist": 4, "fashion_mnist": 4, "adult": 10}


@dataclass(frozen=True)
class SeveralLosses(Study):
    """Every method on every data set: tuned on a fifth of the training rows, then trained three times."""

    table: str
    is_network: bool = False

    columns = ("data set", "method", *METRICS, "worst")
    legend = (
        "means (standard deviations) over three trainings, on test rows; losses are divided by Lipschitz constants;\n"
        "worst: the largest of the four losses. Six settings (radius and norm_penalty; of networks Adam's learning\n"
        "rate and weight decay), chosen on a fifth of the training rows by what the method minimizes; the thesis\n"
        "tries 50. A method with the name of a loss is trained by it alone. paper: its figures, whose losses are not\n"
        "defined to the last factor"
    )

    @property
    def paper(self) -> dict[tuple[str, str], list[float]]:
        """Metrics of the thesis by data set and method."""
        return {
            (row["data set"], row["method"]): [float(row[metric]) for metric in METRICS]
            for row in published("almo")
            if row["table"] == self.table
        }

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(EPOCHS)

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        units = []
        for name in chosen:
            length = {"rounds": ROUNDS // 10 if quick else ROUNDS}
            if self.is_network:
                length = {"epochs": 1 if quick else EPOCHS[name]}
            units += [{"almo": name, "method": method, **length} for method in METHODS]
        return units

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        """Choose a setting; metrics of three trainings with it."""
        data, method = load_split(facts["almo"], data_dir), facts["method"]
        order = np.random.default_rng([facts["seed"], 5]).permutation(len(data.y))
        held, learned = order[: len(order) // 5], order[len(order) // 5 :]
        grid: tuple[dict[str, float], ...] = NETWORK_GRID if self.is_network else GRID
        tried = []
        for setting in grid:
            model = _trained(facts, 0, setting, data.X[learned], data.y[learned])
            metrics = evaluate(model, data.X[held], data.y[held])
            values = [metrics[name] for name in LOSSES]
            minimized: dict[str, float] = {"uniform": float(np.mean(values)), "ALMO": max(values), **metrics}
            tried.append(minimized[method])
        best = grid[int(np.argmin(tried))]
        trained, mixtures = [], []
        for seed in range(RETRAINED):
            model = _trained(facts, seed, best, data.X, data.y)
            trained.append(evaluate(model, data.X_test, data.y_test))
            mixtures.append(model.mixture_)
        return {"setting": best, "trained": trained, "mixtures": mixtures}

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        for one in outcomes:
            name, method = one.facts["almo"], one.facts["method"]
            trained = np.array([[metrics[metric] for metric in METRICS] for metrics in one.result["trained"]])
            worst = trained[:, : len(LOSSES)].max(axis=1)
            rows.append([name, method, *(mean_std(column) for column in [*trained.T, worst])])
            paper = self.paper.get((name, method))
            if paper is not None:
                rows.append([name, f"{method}, paper", *(f"{value:.4f}" for value in [*paper, max(paper[:4])])])
        return rows

    def draw(self, outcomes: Sequence[Outcome]) -> Figure:
        """Draw a panel for each set: dots are losses on test rows, bars the worst of them, rings the paper's worst."""
        names = distinct(outcomes, "almo")
        figure: Figure
        figure, grid = pyplot().subplots(
            1, len(names), figsize=(4.2 * len(names), 3.4), layout="constrained", squeeze=False, sharey=True
        )
        panels = dict(zip(names, grid.flat, strict=True))
        for one in outcomes:
            name, method = one.facts["almo"], one.facts["method"]
            panel, height = panels[name], len(METHODS) - 1 - METHODS.index(method)
            losses = np.array([[metrics[loss] for loss in LOSSES] for metrics in one.result["trained"]]).mean(axis=0)
            color = COLOURS[0] if method == "ALMO" else "#999999"
            panel.barh(height, losses.max(), color=color, alpha=0.35, height=0.7)
            panel.annotate(f" {losses.max():.2f}", (losses.max(), height), va="center", fontsize=8)
            panel.plot(losses, [height] * len(losses), ".", color=color)
            if (name, method) in self.paper:
                panel.plot(max(self.paper[name, method][:4]), height, "o", color="#333333", fillstyle="none")
        for name, panel in panels.items():
            panel.set_yticks(range(len(METHODS)), list(reversed(METHODS)))
            panel.set_title(name, fontsize=10)
            panel.set_xlabel("loss on test rows")
            # A model that is trained by one loss can be twenty times as bad by another.
            panel.set_xscale("log")
            panel.margins(x=0.12)
            tidy(panel)
        return figure


@dataclass(frozen=True)
class Split:
    """Rows that train and rows that test."""

    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]


@lru_cache(maxsize=1)
def load_split(name: str, data_dir: str | None) -> Split:
    """Load pixels divided by 255, or numbers as they are with an indicator for each category (adult)."""
    data = registry.load(name, data_dir)
    if name != "adult":
        X, n = np.asarray(data.X, dtype=np.float64) / 255.0, 60_000
        return Split(X[:n], data.y[:n], X[n:], data.y[n:])
    known = {list(data.feature_names).index(column): levels for column, levels in dict(data.categories or {}).items()}
    raw = np.asarray(data.X, dtype=np.float64)
    parts = []
    for column in range(raw.shape[1]):
        if column in known:
            parts.append((raw[:, [column]] == np.arange(len(known[column]))).astype(np.float64))
        else:
            parts.append(np.nan_to_num(raw[:, [column]], nan=float(np.nanmean(raw[:, column]))))
    X = np.hstack(parts)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
    return Split(X[train], data.y[train], X[test], data.y[test])


def _trained(facts: dict[str, Any], seed: int, setting: Mapping[str, float], X: Any, y: NDArray[Any]) -> Any:
    method = facts["method"]
    if "epochs" not in facts:
        return _model(method, facts["rounds"], seed, setting).fit(X, y)
    losses = LOSSES if method in ("uniform", "ALMO") else (method,)
    return train(X, y, losses, uniform=method == "uniform", epochs=facts["epochs"], seed=seed, setting=setting)


def _model(method: str, rounds: int, seed: int, setting: Mapping[str, float]) -> AgnosticClassifier:
    losses = LOSSES if method in ("uniform", "ALMO") else (method,)
    mixtures = [[0.25] * 4] if method == "uniform" else None
    given: dict[str, Any] = {**setting, "mixtures": mixtures, "n_rounds": rounds, "random_state": seed}
    return AgnosticClassifier(losses, batch_size=BATCH, n_jobs=1, **given)


def evaluate(model: Any, X: Any, y: NDArray[Any]) -> dict[str, float]:
    """Mean losses, divided by their units, and area under the curve of each class against the others."""
    from sklearn.metrics import roc_auc_score

    scores = model.decision_function(X)
    n_classes = len(model.classes_)
    class_ids = np.searchsorted(model.classes_, y).astype(np.uint16)
    by_class = scores[None] if scores.ndim == 1 else np.ascontiguousarray(scores.T)
    losses = {}
    for name in LOSSES:
        loss = EVALUATION_LOSSES[name](class_ids, n_classes)
        losses[name] = float(loss.reported(by_class).mean()) / (1.0 if name == "zero_one" else loss.lipschitz_of_value)
    area = roc_auc_score(y, scores) if n_classes == 2 else roc_auc_score(y, softmax(scores, axis=1), multi_class="ovr")
    return {**losses, "auc": float(area)}


@dataclass(frozen=True)
class Network:
    """Trained network of layers of 1024, 512 and 128 units, with the methods of a classifier that the tables use."""

    module: Any
    classes_: NDArray[Any]
    center: NDArray[np.float64]
    spread: NDArray[np.float64]
    mixture_: dict[str, float]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        import torch

        self.module.eval()
        with torch.no_grad():
            scores = self.module(_tensor(X, self.center, self.spread)).double().numpy()
        return np.asarray(scores[:, 0] if scores.shape[1] == 1 else scores)


def _tensor(X: Any, center: NDArray[np.float64], spread: NDArray[np.float64]) -> Any:
    import torch

    return torch.tensor((np.asarray(X, dtype=np.float64) - center) / spread, dtype=torch.float32)


def train(
    X: Any,
    y: NDArray[Any],
    losses: tuple[str, ...],
    *,
    uniform: bool,
    epochs: int,
    seed: int,
    setting: Mapping[str, float],
) -> Network:
    """Train by Adam on batches of 256 rows, in an order that the seed decides.

    The network is the mean over the second half of the steps: Theorem 5.4 holds for the average of the weights. Losses
    of networks are not convex, but the last weights circle around the saddle all the same, and the mixture with them.
    """
    from radboost.torch import AgnosticLoss, network  # first: its error says how to install PyTorch

    import torch  # isort: skip
    from torch.optim.swa_utils import AveragedModel

    torch.manual_seed(seed)
    classes, labels = np.unique(y, return_inverse=True)
    matrix = np.asarray(X, dtype=np.float64)
    center, spread = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-6 + 0.1 * matrix.std())
    rows, targets = _tensor(matrix, center, spread), torch.tensor(labels.reshape(-1))
    module = network(matrix.shape[1], 1 if len(classes) == 2 else len(classes))
    mixtures = [[1.0 / len(losses)] * len(losses)] if uniform else None
    n_batches = epochs * -(-len(targets) // BATCH)
    # gamma_lambda of Theorem 5.4: the diameter of the simplex over the square root of the steps, for losses about 1.
    mixed = AgnosticLoss(losses, n_classes=len(classes), mixtures=mixtures, step=math.sqrt(2.0 / n_batches))
    optimizer = torch.optim.Adam(module.parameters(), lr=setting["lr"], weight_decay=setting["weight_decay"])
    order = np.random.default_rng(seed)
    averaged = AveragedModel(module)
    module.train()
    done = 0
    for _ in range(epochs):
        shuffled = torch.tensor(order.permutation(len(targets)))
        for first in range(0, len(targets), BATCH):
            part = shuffled[first : first + BATCH]
            optimizer.zero_grad()
            mixed(module(rows[part]), targets[part]).backward()
            optimizer.step()
            done += 1
            if 2 * done > n_batches:
                averaged.update_parameters(module)
    return Network(
        averaged.module, classes, center, spread, dict(zip(mixed.names, mixed.average.tolist(), strict=True))
    )


STUDIES = (
    SeveralLosses("almo-5.1", "Storcheus (2021), Tables 5.1 and C.2 to C.4: linear models, several losses", "5.1"),
    SeveralLosses("almo-5.2", "Storcheus (2021), Tables 5.2 and C.5 to C.7: networks, several losses", "5.2", True),
)
