"""Chapter 7 of Storcheus's thesis (2021): supervised kernel projection beside learners with the same kernels.

The chapter reports no experiment. Here all methods learn from random halves of small data sets, and try as many
settings by the same cross-validation within the training rows. Figure 7.1 shows the rows of docs/kernel-projection.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from papers.harness import Facts, Outcome, Result, Row, Study, combine, distinct, load, mean_std, results_of
from radboost._blas import one_blas_thread
from radboost._typing import FloatArray
from radboost.estimators import SupervisedKernelProjection
from radboost.plot._style import COLOURS, INK, pyplot, tidy
from radboost.projection.kernels import NamedKernel, column_kernels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Setting = Mapping[str, Any]
Rows = NDArray[np.int64]

DATASETS = ("sonar", "ionosphere", "breastcancer", "diabetes", "german", "ocr49", "waveform40")
RANKS = (5, 15, 40)
ALPHAS = (1e-2, 1e-3, 1e-4, 1e-5)
COSTS = (0.1, 1.0, 10.0, 100.0)
NORMS = (1.0, 4.0 / 3.0, 2.0)
ARROW = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
PATCH = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
# Tolerance of an SVM; limit of its alternation with kernel weights, and the relative change that ends it.
TOLERANCE, ALTERNATIONS, SETTLED = 1e-4, 100, 1e-4


@dataclass(frozen=True)
class Half:
    """Random half of the rows to learn from, first, and rows to test on."""

    kernels: FloatArray  # shape (n_kernels, n_rows, n_rows); the mean K(x, x) on the first rows is 1
    y: NDArray[Any]
    n_train: int


def base_kernels(n_features: int) -> list[NamedKernel]:
    """Linear, polynomial of degree 2, Gaussian, Laplacian.

    Of standardized rows the squared distance is about twice the number of columns, the sum of differences as large.
    """
    gaussian = NamedKernel("rbf", gamma=0.5 / n_features)
    return [NamedKernel("linear"), NamedKernel("polynomial", degree=2), gaussian, NamedKernel("laplacian")]


def load_half(facts: Mapping[str, Any], data_dir: str | None) -> Half:
    """Scale columns to mean 0 and standard deviation 1 on the training rows; missing values are at the mean."""
    data = load(facts["projection"], data_dir)
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
    """Kernel weights, and the sum of the SVMs' objectives at each step; it falls."""

    weights: FloatArray
    objective: list[float]


def learn_mixture(kernels: FloatArray, y: NDArray[Any], cost: float, norm: float) -> Mixture:
    """Learn weights theta >= 0 of kernels, |theta|_p <= 1, for which the SVM's objective is least.

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
    """Dual weights y_i alpha_i of the SVM of each pair of classes, shape (n_pairs, n_rows)."""
    ends = np.cumsum(svm.n_support_)
    own = [np.arange(end - count, end) for end, count in zip(ends, svm.n_support_, strict=True)]
    duals = []
    for a, b in combinations(range(len(svm.classes_)), 2):
        dual = np.zeros(n_rows)
        dual[svm.support_[own[a]]] = svm.dual_coef_[b - 1, own[a]]
        dual[svm.support_[own[b]]] = svm.dual_coef_[a, own[b]]
        duals.append(dual)
    return np.array(duals)


def _svm(cost: float) -> SVC:
    return SVC(C=cost, kernel="precomputed", tol=TOLERANCE, cache_size=500)


def _with_svm(kernel: FloatArray, half: Half, setting: Setting, learned: Rows, tested: Rows) -> NDArray[Any]:
    svm = _svm(setting["cost"]).fit(kernel[np.ix_(learned, learned)], half.y[learned])
    return np.asarray(svm.predict(kernel[np.ix_(tested, learned)]))


def _projection(half: Half, setting: Setting, learned: Rows, tested: Rows) -> NDArray[Any]:
    # Further starts, drawn at random, take longer and did not find lower objectives in 24 fits of these sets.
    model = SupervisedKernelProjection(
        list(half.kernels), rank=setting["rank"], alpha=setting["alpha"], n_starts=0, n_jobs=1
    ).fit(learned[:, None], half.y[learned])
    return model.predict(tested[:, None])


def _kernel_pca(half: Half, setting: Setting, learned: Rows, tested: Rows) -> NDArray[Any]:
    kernel = half.kernels.mean(axis=0)
    projection = KernelPCA(setting["rank"], kernel="precomputed", eigen_solver="dense")
    inputs = projection.fit_transform(kernel[np.ix_(learned, learned)])
    others = projection.transform(kernel[np.ix_(tested, learned)])
    svm = SVC(C=setting["cost"], kernel="linear", tol=TOLERANCE, cache_size=500).fit(inputs, half.y[learned])
    return np.asarray(svm.predict(others))


def _several(half: Half, setting: Setting, learned: Rows, tested: Rows) -> NDArray[Any]:
    inner = half.kernels[:, learned[:, None], learned]
    mixture = learn_mixture(inner, half.y[learned], setting["cost"], setting["norm"])
    kernel = np.tensordot(mixture.weights, half.kernels, axes=1)
    return _with_svm(kernel, half, setting, learned, tested)


@dataclass(frozen=True)
class Method:
    """Learner and the settings that it is tuned over."""

    learn: Callable[[Half, Setting, Rows, Rows], NDArray[Any]]
    settings: Sequence[Setting]  # simpler ones first: the first of equals is taken


METHODS: Mapping[str, Method] = {
    "projection": Method(_projection, combine({"rank": RANKS, "alpha": ALPHAS})),
    "KernelPCA + SVM": Method(_kernel_pca, combine({"rank": RANKS, "cost": COSTS})),
    "average + SVM": Method(
        lambda half, *rest: _with_svm(half.kernels.mean(axis=0), half, *rest),
        combine({"cost": np.geomspace(0.01, 1000.0, 12).tolist()}),
    ),
    "best kernel + SVM": Method(
        lambda half, setting, *rest: _with_svm(half.kernels[setting["kernel"]], half, setting, *rest),
        combine({"kernel": range(4), "cost": COSTS[1:]}),
    ),
    "MKL": Method(_several, combine({"norm": NORMS, "cost": COSTS})),
}


def tuned(half: Half, method: Method, inner_folds: int, seed: int) -> dict[str, Any]:
    """Choose the setting of least error in cross-validation; its test error, and the seconds of a core that it took."""
    started = time.process_time()
    train, test = np.arange(half.n_train), np.arange(half.n_train, len(half.y))
    folds = list(StratifiedKFold(inner_folds, shuffle=True, random_state=seed).split(train, half.y[train]))
    errors = [
        np.mean([np.mean(method.learn(half, one, learned, held) != half.y[held]) for learned, held in folds])
        for one in method.settings
    ]
    chosen = method.settings[int(np.argmin(errors))]
    error = float(np.mean(method.learn(half, chosen, train, test) != half.y[test]))
    return {"error": error, "setting": dict(chosen), "seconds": time.process_time() - started}


@dataclass(frozen=True)
class ProjectionStudy(Study):
    """Every method on random halves of every data set."""

    runs = 5
    columns = ("data set", *METHODS)
    legend = (
        "test errors, means (standard deviations) over random halves. All have the same four kernels (linear,\n"
        "polynomial of degree 2, Gaussian, Laplacian) of the same standardized columns, and try 12 settings by the\n"
        "same five-fold cross-validation on the training rows. projection: SupervisedKernelProjection (rank, alpha);\n"
        "KernelPCA + SVM: KernelPCA of the mean of the kernels, then a linear SVM (rank, C); average + SVM: an SVM on\n"
        "the mean of the kernels (C); best kernel + SVM: on one of them (which, C); MKL: on a mixture that is learned\n"
        "(norm of the weights, C). rank: 1 for the lowest mean error of a set, mean over the sets; directions: mean\n"
        "rank that was chosen; seconds: of tuning and learning, for a half"
    )

    @property
    def datasets(self) -> tuple[str, ...]:
        return DATASETS

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        size = {"n_train": 200, "n_test": 1000, "inner_folds": 5}
        if quick:
            size = {"n_train": 100, "n_test": 200, "inner_folds": 2}
        return [
            {"projection": name, "fold": fold, "method": method, **size}
            for name in (chosen[:2] if quick else chosen)
            for fold in range(runs)
            for method in METHODS
        ]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        half, method = load_half(facts, data_dir), METHODS[facts["method"]]
        with one_blas_thread:
            return tuned(half, method, facts["inner_folds"], facts["seed"])

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        rows: list[Row] = []
        means = []
        for name in distinct(outcomes, "projection"):
            errors = [[one["error"] for one in results_of(outcomes, projection=name, method=key)] for key in METHODS]
            means.append([np.mean(of_method) for of_method in errors])
            rows.append([name, *(mean_std(of_method) for of_method in errors)])
        rows.append(["mean error", *(f"{value:.4f}" for value in np.mean(means, axis=0))])
        rows.append(["mean rank", *(f"{value:.2f}" for value in np.mean([rankdata(row) for row in means], axis=0))])
        results = [results_of(outcomes, method=method) for method in METHODS]
        ranks = [[one["setting"]["rank"] for one in of_method if "rank" in one["setting"]] for of_method in results]
        rows.append(["directions", *(f"{np.mean(chosen):.1f}" if chosen else "" for chosen in ranks)])
        rows.append(["seconds", *(f"{np.mean([one['seconds'] for one in of_method]):.2f}" for of_method in results)])
        return rows


@dataclass(frozen=True)
class WrongDirection(Study):
    """Figure 7.1: the first column varies more, the second tells the classes apart."""

    columns = ("kept by", "wrong at the best threshold")
    legend = "coordinate that is kept by PCA and by the projection, both of rank 1, on 200 training rows"

    def units(self, quick: bool, runs: int, chosen: Sequence[str]) -> list[Facts]:
        return [{"figure": "7.1"}]

    def fit(self, facts: Facts, data_dir: str | None) -> Result:
        rng = np.random.default_rng(facts["seed"])
        y = np.repeat([0, 1], 200)
        X = np.column_stack([np.tile(rng.uniform(-4, 4, 200), 2), 2 * y - 1 + 0.3 * rng.normal(size=400)])
        model = SupervisedKernelProjection(column_kernels(2), rank=1, standardize=False).fit(X[::2], y[::2])
        centered = X - X.mean(axis=0)
        directions = np.linalg.svd(centered, full_matrices=False)[2]
        pca, kept = centered @ directions[0], model.transform(X)[:, 0]
        return {
            "X": X.tolist(),
            "y": y.tolist(),
            "directions": directions.tolist(),
            "PCA": pca.tolist(),
            "SupervisedKernelProjection": kept.tolist(),
        }

    def rows(self, outcomes: Sequence[Outcome]) -> list[Row]:
        (result,) = (one.result for one in outcomes)
        methods = ("PCA", "SupervisedKernelProjection")
        errors = (_least_error(np.array(result[method]), np.array(result["y"])) for method in methods)
        return [[method, f"{error:.1%}"] for method, error in zip(methods, errors, strict=True)]

    def draw(self, outcomes: Sequence[Outcome]) -> Figure:
        (result,) = (one.result for one in outcomes)
        X, y = np.array(result["X"]), np.array(result["y"])
        figure: Figure
        figure, (rows, blind, seeing) = pyplot().subplots(
            1, 3, figsize=(10.0, 3.4), layout="constrained", width_ratios=(1.25, 1.0, 1.0)
        )
        for label, color in zip(np.unique(y), COLOURS, strict=False):
            rows.plot(*X[y == label].T, "o", color=color, markersize=3.5, alpha=0.6, markeredgewidth=0)
        middle = X.mean(axis=0)
        for number, direction in enumerate(np.array(result["directions"]), start=1):
            length = 1.1 * np.std((X - middle) @ direction) * np.sign(direction[np.argmax(np.abs(direction))])
            rows.annotate("", middle + length * direction, middle, arrowprops=ARROW)
            rows.annotate(
                f"$v_{number}$", middle + 1.25 * length * direction, color=INK, ha="center", va="center", bbox=PATCH
            )
        rows.set(xlabel="first column", ylabel="second column")
        rows.set_aspect("equal", adjustable="datalim")
        rows.set_title("two classes, and the directions of PCA", loc="left", size="medium")
        tidy(rows)
        _draw_kept(blind, np.array(result["PCA"]), y, "PCA keeps", "coordinate along $v_1$")
        kept = np.array(result["SupervisedKernelProjection"])
        _draw_kept(seeing, kept, y, "SupervisedKernelProjection keeps", "transform(X)")
        return figure


def _draw_kept(axes: Axes, coordinate: NDArray[Any], y: NDArray[Any], title: str, unit: str) -> None:
    """Draw a histogram of each class over one coordinate, and the least error of a threshold on it."""
    edges = np.linspace(coordinate.min(), coordinate.max(), 33)
    for label, color in zip(np.unique(y), COLOURS, strict=False):
        axes.hist(coordinate[y == label], bins=edges.tolist(), color=color, alpha=0.6)
    axes.set_title(title, loc="left", size="medium")
    axes.set(xlabel=unit, ylabel="rows")
    axes.set_ylim(top=1.25 * axes.get_ylim()[1])
    error = _least_error(coordinate, y)
    axes.annotate(
        f"best threshold: {error:.0%} wrong", (0.98, 0.97), xycoords="axes fraction", ha="right", va="top", color=INK
    )
    tidy(axes)


def _least_error(coordinate: NDArray[Any], y: NDArray[Any]) -> float:
    """Fraction of rows on the wrong side of the best threshold."""
    first = (y == np.unique(y)[0])[np.argsort(coordinate, kind="stable")]
    below = np.concatenate([[0], np.cumsum(np.where(first, 1, -1))])  # of the first class less the other
    most = int(np.sum(~first)) + int(below.max()), int(np.sum(first)) - int(below.min())
    return 1.0 - max(most) / len(y)


STUDIES: tuple[Study, ...] = (
    ProjectionStudy(
        "kernel-projection-7",
        "Storcheus (2021), chapter 7: supervised kernel projection and others with the same kernels",
    ),
    WrongDirection(
        "kernel-projection-7.1", "Storcheus (2021), Figure 7.1: directions that PCA and the projection keep"
    ),
)
