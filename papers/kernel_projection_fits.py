"""The fits of the comparison of chapter 7: halves of small data sets, kernels that all share, and who learns from them.

Every method tries as many settings, by the same cross-validation within the training rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from papers import datasets as registry
from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.estimators import SupervisedKernelProjection
from radboost.projection.kernels import NamedKernel

Setting = Mapping[str, Any]
Rows = NDArray[np.int64]

RANKS = (5, 15, 40)
ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5)
COSTS = (0.1, 1.0, 10.0, 100.0)
NORMS = (1.0, 4.0 / 3.0, 2.0)
# Of an SVM and of the alternation of kernel weights with it.
TOLERANCE, ALTERNATIONS, SETTLED = 1e-4, 100, 1e-4


@dataclass(frozen=True)
class Half:
    """A random half of the rows to learn from, first, and rows to judge by."""

    kernels: FloatArray  # of all rows with all, a matrix for each base kernel, its mean K(x, x) on the first rows 1
    y: NDArray[Any]
    n_train: int


@dataclass(frozen=True)
class Answer:
    predicted: NDArray[Any]
    # What was found on the way, for the report.
    notes: dict[str, Any] = field(default_factory=dict)


def base_kernels(n_features: int) -> list[NamedKernel]:
    """Linear, polynomial of degree 2, Gaussian, Laplacian.

    Of standardised rows the squared distance is about twice the number of columns, the sum of differences as large.
    """
    gaussian = NamedKernel("rbf", gamma=0.5 / n_features)
    return [NamedKernel("linear"), NamedKernel("polynomial", degree=2), gaussian, NamedKernel("laplacian")]


def load_half(facts: Mapping[str, Any], data_dir: str | None) -> Half:
    """Columns with mean 0 and standard deviation 1 on the training rows; what is missing is at the mean."""
    data = registry.load(facts["projection"], data_dir)
    X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
    half = len(y) // 2
    sizes = {"train_size": min(half, facts["n_train"]), "test_size": min(len(y) - half, facts["n_test"])}
    split = StratifiedShuffleSplit(1, **sizes, random_state=np.random.RandomState([facts["seed"], facts["fold"], 7]))
    train, test = next(split.split(X, y))
    scale = StandardScaler().fit(X[train])
    rows = np.nan_to_num(scale.transform(X[np.concatenate([train, test])]))
    return make_half(rows, y[np.concatenate([train, test])], len(train))


def make_half(rows: FloatArray, y: NDArray[Any], n_train: int) -> Half:
    matrices = [kernel(rows, rows) for kernel in base_kernels(rows.shape[1])]
    return Half(np.array([one / np.mean(np.diag(one)[:n_train]) for one in matrices]), y, n_train)


@dataclass(frozen=True)
class Mixture:
    weights: FloatArray
    # The sum of the SVMs' objectives at each step; it falls.
    objective: list[float]


def learn_mixture(kernels: FloatArray, y: NDArray[Any], cost: float, norm: float) -> Mixture:
    """Multiple-kernel learning: weights theta >= 0 with |theta|_p <= 1 for which the SVM's objective is least.

    Kloft, Brefeld, Sonnenburg and Zien, "lp-norm multiple kernel learning" (JMLR 2011), the wrapper around an SVM: for
    fixed w the least sum_k |w_k|^2 / theta_k has theta_k = |w_k|^(2/(p+1)) / (sum_l |w_l|^(2p/(p+1)))^(1/p), and for
    fixed theta w is that of an SVM, so that no step raises the objective. p = 1 is the usual, sparse learner. With
    several classes the SVMs of all pairs share theta.
    """
    weights = np.full(len(kernels), len(kernels) ** (-1.0 / norm))
    objective: list[float] = []
    while len(objective) < ALTERNATIONS:
        svm = _svm(cost).fit(np.tensordot(weights, kernels, axes=1), y)
        duals = pair_duals(svm, len(y))
        squares = np.einsum("pi,kij,pj->k", duals, kernels, duals, optimize=True)
        objective.append(float(np.abs(duals).sum() - 0.5 * weights @ squares))
        if len(objective) > 1 and objective[-2] - objective[-1] <= SETTLED * objective[-1]:
            break
        lengths = np.maximum(weights**2 * squares, 0.0) ** (1.0 / (norm + 1.0))
        if not lengths.any():  # nothing is learned, and there is nothing to choose by
            break
        weights = lengths / np.sum(lengths**norm) ** (1.0 / norm)
    return Mixture(weights, objective)


def pair_duals(svm: SVC, n_rows: int) -> FloatArray:
    """y_i alpha_i of the SVM of each pair of classes, a line each, from scikit-learn's table of them."""
    ends = np.cumsum(svm.n_support_)
    own = [np.arange(end - count, end) for end, count in zip(ends, svm.n_support_, strict=True)]
    lines = []
    for a, b in combinations(range(len(svm.classes_)), 2):
        line = np.zeros(n_rows)
        line[svm.support_[own[a]]] = svm.dual_coef_[b - 1, own[a]]
        line[svm.support_[own[b]]] = svm.dual_coef_[a, own[b]]
        lines.append(line)
    return np.array(lines)


def _svm(cost: float) -> SVC:
    return SVC(C=cost, kernel="precomputed", tol=TOLERANCE, cache_size=500)


def _with_svm(kernel: FloatArray, cost: float, half: Half, learned: Rows, judged: Rows) -> NDArray[Any]:
    svm = _svm(cost).fit(kernel[np.ix_(learned, learned)], half.y[learned])
    return np.asarray(svm.predict(kernel[np.ix_(judged, learned)]))


def _projection(half: Half, setting: Setting, learned: Rows, judged: Rows) -> Answer:
    # Further starts, drawn at random, take longer and did not find lower objectives in 24 fits of these sets.
    model = SupervisedKernelProjection(
        list(half.kernels), rank=setting["rank"], alpha=setting["alpha"], n_starts=0, n_jobs=1
    ).fit(learned[:, None], half.y[learned])
    kept = np.bincount(model.components_[:, 0], minlength=len(half.kernels))
    return Answer(model.predict(judged[:, None]), {"mixture": model.mixture_.tolist(), "kept": kept.tolist()})


def _kernel_pca(half: Half, setting: Setting, learned: Rows, judged: Rows) -> Answer:
    kernel = half.kernels.mean(axis=0)
    projection = KernelPCA(setting["rank"], kernel="precomputed", eigen_solver="dense")
    inputs = projection.fit_transform(kernel[np.ix_(learned, learned)])
    others = projection.transform(kernel[np.ix_(judged, learned)])
    svm = SVC(C=setting["cost"], kernel="linear", tol=TOLERANCE, cache_size=500).fit(inputs, half.y[learned])
    return Answer(svm.predict(others))


def _average(half: Half, setting: Setting, learned: Rows, judged: Rows) -> Answer:
    return Answer(_with_svm(half.kernels.mean(axis=0), setting["cost"], half, learned, judged))


def _single(half: Half, setting: Setting, learned: Rows, judged: Rows) -> Answer:
    return Answer(_with_svm(half.kernels[setting["kernel"]], setting["cost"], half, learned, judged))


def _several(half: Half, setting: Setting, learned: Rows, judged: Rows) -> Answer:
    inner = half.kernels[:, learned[:, None], learned]
    found = learn_mixture(inner, half.y[learned], setting["cost"], setting["norm"])
    kernel = np.tensordot(found.weights, half.kernels, axes=1)
    predicted = _with_svm(kernel, setting["cost"], half, learned, judged)
    return Answer(predicted, {"mixture": (found.weights / found.weights.sum()).tolist()})


@dataclass(frozen=True)
class Method:
    learn: Callable[[Half, Setting, Rows, Rows], Answer]
    settings: tuple[Setting, ...]  # the simpler first: of settings that do as well the first is taken


def _grid(**values: Any) -> tuple[Setting, ...]:
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


METHODS: Mapping[str, Method] = {
    "projection": Method(_projection, _grid(rank=RANKS, alpha=ALPHAS)),
    "KernelPCA + SVM": Method(_kernel_pca, _grid(rank=RANKS, cost=COSTS)),
    "average + SVM": Method(_average, _grid(cost=tuple(np.geomspace(0.01, 1000.0, 12).tolist()))),
    "best kernel + SVM": Method(_single, _grid(kernel=tuple(range(4)), cost=COSTS[1:])),
    "MKL": Method(_several, _grid(norm=NORMS, cost=COSTS)),
}


def fit_projection_unit(facts: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """A method on one half: the setting with the least error in cross-validation, and its error on test rows."""
    half, method = load_half(facts, data_dir), METHODS[facts["method"]]
    with one_blas_thread:
        return tuned(half, method, facts["inner_folds"], facts["seed"])


def tuned(half: Half, method: Method, inner_folds: int, seed: int) -> dict[str, Any]:
    """Chosen, learned and judged, with the seconds of a core that it took."""
    started = time.process_time()
    train, test = np.arange(half.n_train), np.arange(half.n_train, len(half.y))
    folds = list(StratifiedKFold(inner_folds, shuffle=True, random_state=seed).split(train, half.y[train]))
    found = [
        np.mean([_error(half, method.learn(half, one, learned, held), held) for learned, held in folds])
        for one in method.settings
    ]
    chosen = method.settings[int(np.argmin(found))]
    answer = method.learn(half, chosen, train, test)
    return {
        "error": _error(half, answer, test),
        "validation_error": float(np.min(found)),
        "setting": dict(chosen),
        "n_settings": len(method.settings),
        "seconds": time.process_time() - started,
        "n_train": len(train),
        "n_test": len(test),
        **answer.notes,
    }


def _error(half: Half, answer: Answer, rows: Rows) -> float:
    return float(np.mean(answer.predicted != half.y[rows]))
