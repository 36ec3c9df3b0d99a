"""Fitted models of several classes put together by hand, and their scores by a walk in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from radboost import DeepBoostClassifier
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE
from radboost.families.kernel import KernelHypothesis
from radboost.trees.tree import NODE_ARRAYS, Tree

UNIT = 2.0**-20  # of the weights of several classes


def tree(nodes: list[tuple[float, ...]], n_features: int, n_outputs: int, n_splits: int | None = None) -> Tree:
    """From (answer,) for each leaf and (feature, threshold, left, missing_left, gain) for each other node."""
    columns: dict[str, list[float]] = {name: [] for name in NODE_ARRAYS}
    for node in nodes:
        feature, threshold, left, missing_left, gain = node if len(node) > 1 else (-1, 0.0, 0, 0, 0.0)
        value = node[0] if len(node) == 1 else 0.0
        row = (feature, threshold, left, missing_left, value, 1.0, gain)
        for name, item in zip(NODE_ARRAYS, row, strict=True):
            columns[name].append(item)
    arrays = [np.array(columns[name], dtype=dtype) for name, dtype in NODE_ARRAYS.items()]
    inner = sum(len(node) > 1 for node in nodes)
    return Tree(arrays, n_features, inner if n_splits is None else n_splits, n_outputs)


def random_tree(rng: np.random.Generator, n_features: int, n_outputs: int, max_splits: int = 7) -> Tree:
    """Some splits at random; leaves vote for any class or abstain (-1 or +1 with one output)."""
    answers = [-1, 1] if n_outputs == 1 else list(range(-1, n_outputs))
    nodes: list[tuple[float, ...]] = [(float(rng.choice(answers)),)]
    for _ in range(int(rng.integers(0, max_splits + 1))):
        leaf = int(rng.choice([i for i, node in enumerate(nodes) if len(node) == 1]))
        threshold = float(rng.choice([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, np.inf]))
        gain = float(rng.integers(1, 9)) / 8
        nodes[leaf] = (int(rng.integers(n_features)), threshold, len(nodes), int(rng.integers(2)), gain)
        nodes += [(float(rng.choice(answers)),) for _ in range(2)]
    return tree(nodes, n_features, n_outputs)


def leaf_of(one: Any, row: np.ndarray) -> int:
    """The leaf that a row reaches, step by step."""
    node = 0
    while one.feature[node] >= 0:
        x = row[one.feature[node]]
        goes_left = bool(one.missing_left[node]) if np.isnan(x) else x <= one.threshold[node]
        node = int(one.left[node]) + (0 if goes_left else 1)
    return node


def naive_prediction(hypothesis: Any, row: np.ndarray, n_outputs: int) -> np.ndarray:
    """h(x, .) as a list of n_outputs numbers."""
    if isinstance(hypothesis, KernelHypothesis):
        value = float(np.float32(np.rint(naive_kernel(hypothesis, row) * 2**20) / 2**20))
        return np.array([value if k == (hypothesis.class_index or 0) else 0.0 for k in range(n_outputs)])
    answer = hypothesis.value[leaf_of(hypothesis, row)]
    if n_outputs == 1:
        return np.array([answer])
    return np.array([1.0 if k == answer else 0.0 for k in range(n_outputs)])


def naive_kernel(hypothesis: KernelHypothesis, row: np.ndarray) -> float:
    centre = hypothesis.centre
    if hypothesis.kernel == "rbf":
        return float(np.exp(-hypothesis.gamma * ((centre - row) ** 2).sum()))
    if hypothesis.kernel == "laplacian":
        return float(np.exp(-hypothesis.gamma * np.abs(centre - row).sum()))
    return float(centre @ row / np.sqrt((centre @ centre) * (row @ row)))


def naive_scores(ensemble: Ensemble, X: np.ndarray, n_rounds: int | None = None) -> np.ndarray:
    """Sums over the steps of the first rounds, hypothesis by hypothesis and row by row; always with two dimensions."""
    scores = np.zeros((len(X), ensemble.n_outputs))
    for step in ensemble.steps:
        if n_rounds is None or step["round"] < n_rounds:
            hypothesis = ensemble.entered[step["hypothesis"]]
            for i, row in enumerate(X):
                scores[i] += step["eta"] * naive_prediction(hypothesis, row.astype(float), ensemble.n_outputs)
    return scores


def random_kernel(rng: np.random.Generator, n_features: int, n_outputs: int) -> KernelHypothesis:
    kernel = str(rng.choice(["rbf", "laplacian", "cosine"]))
    centre = rng.integers(1, 9, n_features) / 4.0
    class_index = None if n_outputs == 1 else int(rng.integers(n_outputs))
    return KernelHypothesis(kernel, 0.25, centre, class_index, n_outputs)


def random_ensemble(
    seed: int,
    n_outputs: int,
    n_rounds: int = 12,
    n_features: int = 3,
    kernels: bool = False,
    feature_names: list[str] | None = None,
) -> Ensemble:
    """Steps on the grid of the weights, some of which lead back to zero; no weight is negative."""
    rng = np.random.default_rng(seed)
    hypotheses: list[Any] = []
    weights: list[int] = []
    steps = []
    for round_index in range(n_rounds):
        choice = rng.random()
        if choice < 0.1:
            continue  # a round without a step
        if choice < 0.3 and hypotheses:
            index = int(rng.integers(len(hypotheses)))
            eta = -weights[index] if rng.random() < 0.5 else int(rng.integers(-weights[index], 2**20))
        else:
            index = len(hypotheses)
            make = random_kernel if kernels and rng.random() < 0.5 else random_tree
            hypotheses.append(make(rng, n_features, n_outputs))
            weights.append(0)
            eta = int(rng.integers(1, 2**20))
        weights[index] += eta
        steps.append((round_index, index, eta * UNIT))
    return Ensemble(
        hypotheses,
        list(0.05 + 0.1 * rng.random(len(hypotheses))),
        np.array(steps, dtype=STEP_TYPE),
        n_rounds=n_rounds,
        n_features=n_features,
        n_families=7,
        sample_size=100.0,
        feature_names=feature_names,
        n_outputs=n_outputs,
    )


def fitted(ensemble: Ensemble, classes: Any, objective: str = "compsum", **parameters: Any) -> DeepBoostClassifier:
    """A classifier as if `fit` had left it with this ensemble."""
    model = DeepBoostClassifier(**parameters)
    model.ensemble_ = ensemble
    model.classes_ = np.asarray(classes)
    model.loss_ = model.loss
    model.objective_ = objective
    n_rounds = ensemble.n_rounds
    model.history_ = {
        "objective": [1.0 - 0.5 * t / n_rounds for t in range(n_rounds)],
        "train_error": [0.5 - 0.25 * t / n_rounds for t in range(n_rounds)],
        "n_hypotheses": list(range(1, n_rounds + 1)),
    }
    model.n_iter_ = n_rounds
    model.n_skipped_rounds_ = 0
    model.stop_reason_ = "all rounds done"
    model.n_features_in_ = ensemble.n_features
    if ensemble.feature_names is not None:
        model.feature_names_in_ = np.array(ensemble.feature_names, dtype=object)
    return model


def random_rows(seed: int, m: int = 30, n_features: int = 3, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.integers(-6, 7, (m, n_features)) / 4.0
    return np.where(rng.random(X.shape) < missing, np.nan, X)
