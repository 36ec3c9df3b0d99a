"""Kernel hypotheses x -> K(c, x), centred on training rows."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from radboost import complexity
from radboost._typing import Category, FloatArray, FloatMatrix
from radboost._validation import check_choice, check_integer, check_real_or
from radboost.engine import kernel_values
from radboost.families.base import Candidate, Family, Hypothesis, Problem, Proposer, ValuesCandidate, on_value_grid
from radboost.families.kinds import Arrays, Kind, Scorer, Shape, Stored
from radboost.model_file.checks import read_array, require

LARGEST_MATRIX = 2**32  # bytes
SMALLEST_GAMMA = 1e-300
LARGEST_VALUE = 1e140  # of X, so that squares do not overflow
KERNELS = ("rbf", "laplacian", "cosine")
KERNELS_AT_ONCE = 16  # bounds the memory of a prediction
KernelFunction = Callable[[FloatArray, FloatArray], FloatArray]


class KernelHypothesis(Hypothesis):
    """x -> K(centre, x), rounded to multiples of 2^-20.

    With several classes it votes for one of them: h(x, class_index) = max(0, K(centre, x)), and 0 for the others.
    """

    def __init__(
        self,
        kernel: str | KernelFunction,
        gamma: float,
        centre: FloatArray,
        class_index: int | None = None,
        n_outputs: int = 1,
    ) -> None:
        if (n_outputs == 1) != (class_index is None) or not 0 <= (class_index or 0) < n_outputs:
            raise ValueError(
                f"class_index={class_index} does not fit n_outputs={n_outputs}: it is None for one output and from 0 "
                "to n_outputs - 1 for several."
            )
        self.kernel = kernel
        self.gamma = gamma
        self.centre = centre
        self.class_index = class_index
        self.n_outputs = n_outputs
        centre.flags.writeable = False

    def values(self, X: Any, n_threads: int = 1) -> FloatArray:
        """K(centre, x), shape (n_rows,); with several classes (n_rows, n_classes), zero for other classes."""
        rows = X.toarray() if sparse.issparse(X) else X
        (row,) = evaluate_kernel(self.kernel, self.gamma, self.centre[None, :], rows, n_threads)
        values: FloatArray = np.asarray(row, dtype=np.float64)
        if self.class_index is None:
            return values
        beside = np.zeros((len(rows), self.n_outputs))
        beside[:, self.class_index] = np.maximum(values, 0.0)
        return beside

    predict = values

    def key(self) -> tuple[object, float]:
        return (self.kernel, self.gamma, self.centre.tobytes(), self.class_index), 1.0

    def __repr__(self) -> str:
        speaks_for = "" if self.class_index is None else f", class_index={self.class_index}"
        return f"KernelHypothesis(kernel={self.kernel!r}, gamma={self.gamma:g}{speaks_for})"


def evaluate_kernel(
    kernel: str | KernelFunction, gamma: float, centres: FloatArray, X: FloatMatrix, n_threads: int
) -> npt.NDArray[np.float32]:
    """K(c, x), shape (n_centres, n_rows)."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if np.isnan(rows).any():
        raise ValueError(
            "Kernel hypotheses cannot handle missing values: X contains NaN. Impute them first, for example with "
            "sklearn.impute.SimpleImputer, or use a family of trees."
        )
    if isinstance(kernel, str):
        flat = kernel_values(kernel, gamma, np.ascontiguousarray(centres), rows, n_threads)
        return flat.reshape(len(centres), len(rows))
    values = np.asarray(kernel(centres, rows), dtype=np.float64)
    if values.shape != (len(centres), len(rows)):
        raise ValueError(
            f"The kernel returned an array of shape {values.shape} for {len(centres)} centres and {len(rows)} rows; "
            f"it must be {(len(centres), len(rows))}."
        )
    if not (np.abs(values) <= 1.0).all():
        raise ValueError("The kernel left [-1, 1] (or returned NaN). Normalise it: K(c, x) / sqrt(K(c, c) K(x, x)).")
    return on_value_grid(values)


class MissingKernel:
    """Placeholder for a kernel function that was not stored with the model; raises an error when called."""

    def __call__(self, centres: FloatArray, rows: FloatArray) -> FloatArray:
        raise ValueError(
            "This model uses a kernel function of its author's that the file does not contain, so it cannot score. "
            "Put the function back: for h in model.ensemble_.hypotheses: h.kernel = your_kernel"
        )


@dataclass(frozen=True)
class KernelSet:
    """Functions x -> K(c, x) of one kernel."""

    name: ClassVar[str] = "kernel"

    kernel: str | KernelFunction
    gamma: float

    def complexity(self, sample_size: float, n_classes: int) -> float:
        return 1.0 / math.sqrt(sample_size) if n_classes == 2 else 2.0 * math.sqrt(n_classes / sample_size)


class KernelKind(Kind[KernelHypothesis], of=KernelHypothesis, code=5, boosted_code=0):
    def scorer(self, hypotheses: Sequence[KernelHypothesis], weights: FloatArray) -> Scorer:
        """Function that evaluates native kernels many at a time."""

        def add(X: FloatMatrix, scores: FloatArray, n_threads: int) -> None:
            for begin, end in _alike(hypotheses):
                first = hypotheses[begin]
                centres = np.array([hypothesis.centre for hypothesis in hypotheses[begin:end]])
                values = evaluate_kernel(first.kernel, first.gamma, centres, X, n_threads).astype(np.float64)
                for number in range(begin, end):
                    index, kernel_values = hypotheses[number].class_index, values[number - begin]
                    if index is None:
                        scores += weights[number] * kernel_values
                    else:
                        scores[:, index] += weights[number] * np.maximum(kernel_values, 0.0)

        return add

    def function_set(self, hypothesis: KernelHypothesis) -> KernelSet:
        return KernelSet(hypothesis.kernel, hypothesis.gamma)

    def check_fixed(
        self,
        hypotheses: Sequence[KernelHypothesis],
        families: Sequence[Any],
        categories: Mapping[int, Sequence[Category]],
    ) -> None:
        for one in hypotheses:
            if one.kernel not in KERNELS and not getattr(one.kernel, "positive_definite", False):
                raise ValueError(
                    "The bound needs a positive definite kernel, and whether a function of your own is one cannot be "
                    "seen from rows. If it is, say so: your_kernel.positive_definite = True."
                )
        own = [family for family in families if isinstance(family, KernelFamily)]
        stated = {(one.kernel, float(one.gamma)) for one in own if not isinstance(one.gamma, str)}
        for one in hypotheses:
            if one.kernel in KERNELS and one.kernel != "cosine" and (one.kernel, one.gamma) not in stated:
                raise ValueError(
                    f"No KernelFamily of the model states gamma={one.gamma:g} of its {one.kernel} kernel: it was "
                    "computed from the training rows, or nobody knows, and the bound is for kernels that were fixed "
                    "before these were seen. Give gamma as a number that does not depend on them."
                )

    def write(self, hypotheses: Sequence[KernelHypothesis], n_features: int) -> Stored:
        centres = np.array([h.centre for h in hypotheses], dtype="<f8").reshape(len(hypotheses), n_features)
        arrays = {
            "kernel_gammas": np.array([h.gamma for h in hypotheses], dtype="<f8"),
            "kernel_classes": np.array([h.class_index or 0 for h in hypotheses], dtype="<i4"),
            "kernel_centres": centres,
        }
        return Stored({"kernels": [h.kernel if isinstance(h.kernel, str) else None for h in hypotheses]}, arrays)

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[KernelHypothesis]:
        names, n_outputs = header.get("kernels"), shape.n_outputs
        require(isinstance(names, list) and len(names) == n, "the list of kernels does not fit")
        gammas = read_array(arrays, "kernel_gammas", "<f8", n)
        classes = read_array(arrays, "kernel_classes", "<i4", n)
        require(bool(((classes >= 0) & (classes < n_outputs)).all()), "a kernel speaks for a class that does not exist")
        require("kernel_centres" in arrays, "the array 'kernel_centres' is missing")
        centres = arrays["kernel_centres"]
        fits = centres.dtype == np.dtype("<f8") and centres.shape == (n, shape.n_features)
        require(fits and bool(np.isfinite(centres).all()), "the centres of the kernels do not fit")
        require(bool(np.isfinite(gammas).all()), "a kernel parameter is not a finite number")
        kernels = []
        for name, gamma, centre, index in zip(names or [], gammas.tolist(), centres, classes.tolist(), strict=True):
            require(name is None or name in KERNELS, f"unknown kernel {str(name)[:40]!r}")
            kernel = name if name is not None else MissingKernel()
            class_index = None if n_outputs == 1 else index
            kernels.append(KernelHypothesis(kernel, gamma, centre.copy(), class_index, n_outputs))
        return kernels


def _alike(hypotheses: Sequence[KernelHypothesis]) -> Iterator[tuple[int, int]]:
    """Ranges of neighbors with the same native kernel, at most `KERNELS_AT_ONCE`; user-defined kernels are alone."""
    begin = 0
    for end in range(1, len(hypotheses) + 1):
        first = hypotheses[begin]
        if end < len(hypotheses) and isinstance(first.kernel, str) and end - begin < KERNELS_AT_ONCE:
            next_one = hypotheses[end]
            if next_one.kernel == first.kernel and next_one.gamma == first.gamma:
                continue
        yield begin, end
        begin = end


class KernelProposer(Proposer):
    def __init__(self, family: KernelFamily, problem: Problem) -> None:
        rows = _dense_rows(problem.X[problem.order])
        self._kernel = family.kernel
        self._gamma = family.resolve_gamma(rows, problem)
        of_all = problem.objective.row_weights.gather(rows)
        self._centres = _choose_centres(of_all, family.n_centres, problem.settings.seed)
        self._problem = problem
        _check_memory(len(self._centres), len(rows))
        self._values = evaluate_kernel(family.kernel, self._gamma, self._centres, rows, problem.settings.n_threads)
        if problem.n_outputs > 1:
            np.maximum(self._values, 0.0, out=self._values)
        # K(x, x) is at most 1, so the trace is at most m.
        self._complexity = self.least_complexity = complexity.kernel(problem.sample_size, problem.sample_size)

    def propose(self, round_index: int) -> list[Candidate]:
        edges = self._problem.objective.value_edges(self._values)
        signed = edges.shape[1] == 1
        best, column = np.unravel_index(np.argmax(np.abs(edges) if signed else edges), edges.shape)
        edge, class_index = float(edges[best, column]), None if signed else int(column)
        centre = self._centres[best].copy()
        hypothesis = KernelHypothesis(self._kernel, self._gamma, centre, class_index, self._problem.n_outputs)
        return [ValuesCandidate(hypothesis, self._values[best], edge, self._complexity, class_index)]


@dataclass(frozen=True)
class KernelFamily(Family, name="kernel"):
    """Functions x -> K(c, x) in [-1, 1] for centres c among the training rows. Cortes et al. (2014), section 4.

    With more than two classes each speaks for one of them, with max(0, K(c, x)). Train with step="line_search" and
    learning_rate=1: the closed-form step is made for hypotheses of values -1 and +1, and far too short for kernels.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "cosine"} or callable
        exp(-gamma |c - x|^2), exp(-gamma |c - x|_1), the cosine of the angle, or a function of (centres, rows) that
        returns a matrix with one row per centre and values in [-1, 1]. One with the attribute `positive_definite =
        True` says that it is that, which `guarantees.bound` asks for.
    gamma : "scale" or float
        "scale" is 1 / (number of columns * variance of the entries). Scale the columns first. `guarantees.bound` needs
        a number, fixed before the rows were seen.
    n_centres : int
        At most this many distinct rows become centres; they are drawn by their content.
    """

    accepts_missing: ClassVar[bool] = False
    one_set: ClassVar[bool] = True

    kernel: str | KernelFunction = "rbf"
    gamma: str | float = "scale"
    n_centres: int = 2000

    def validate(self) -> None:
        if not callable(self.kernel):
            check_choice("kernel", self.kernel, KERNELS)
        check_integer("n_centres", self.n_centres, 1)
        check_real_or(["scale"], "gamma", self.gamma, low=0.0, open_low=True)

    def start(self, problem: Problem) -> Proposer:
        self.validate()
        categorical = np.flatnonzero(problem.data.is_categorical())
        if len(categorical):
            first, names = int(categorical[0]), problem.column_names
            raise ValueError(
                f"Kernel hypotheses measure distances, and column {first if names is None else repr(names[first])} is "
                "categorical. Encode such columns first, for example with sklearn.preprocessing.OneHotEncoder, or use "
                "families of trees only."
            )
        return KernelProposer(self, problem)

    def proposal_depth(self, max_depth: int) -> int:
        return 0

    def n_families(self, problem: Problem) -> int:
        return 1

    def resolve_gamma(self, rows: FloatArray, problem: Problem) -> float:
        if isinstance(self.gamma, str):
            # Sums that do not depend on the order of the rows.
            sums, n_threads = problem.objective.row_weights, problem.settings.n_threads
            cells = problem.sample_size * rows.shape[1]
            mean = sums.sum(rows.sum(axis=1), n_threads) / cells
            variance = sums.sum(((rows - mean) ** 2).sum(axis=1), n_threads) / cells
            return max(1.0 / (rows.shape[1] * variance), SMALLEST_GAMMA) if variance > 0 else 1.0
        return float(self.gamma)


def _dense_rows(X: Any) -> FloatArray:
    rows = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    if np.abs(rows).max(initial=0.0) > LARGEST_VALUE:
        raise ValueError(
            f"X goes up to {np.abs(rows).max():g}; the squares that kernels sum would overflow. Scale the columns "
            "first, for example with sklearn.preprocessing.StandardScaler."
        )
    return rows + 0.0  # -0.0 and 0.0 are the same centre


def _check_memory(n_centres: int, n_rows: int) -> None:
    needed = 4 * n_centres * n_rows
    if needed > LARGEST_MATRIX:
        raise ValueError(
            f"{n_centres} kernel centres on {n_rows} rows need a matrix of {needed / 2**30:.1f} GiB; at most "
            f"{LARGEST_MATRIX / 2**30:.0f} GiB are allowed. Use KernelFamily(n_centres="
            f"{max(1, LARGEST_MATRIX // (4 * n_rows))}) or fewer rows."
        )


def _choose_centres(rows: FloatArray, limit: int, seed: int) -> FloatArray:
    centres = np.unique(rows, axis=0)
    if len(centres) <= limit:
        return centres
    salt = seed.to_bytes(8, "little")
    ranks = [hashlib.blake2b(row.tobytes(), key=salt, digest_size=8).digest() for row in centres]
    chosen = np.sort(np.argsort(np.array(ranks))[:limit])
    return np.ascontiguousarray(centres[chosen])


def supply_kernel(hypotheses: Iterable[object], families: Iterable[object]) -> None:
    """Restore the user-defined kernel function, which files do not store, in the hypotheses of a checkpoint."""
    nameless = [h for h in hypotheses if isinstance(h, KernelHypothesis) and not isinstance(h.kernel, str)]
    kernels = {getattr(family, "kernel", "") for family in families} - set(KERNELS) - {""}
    if nameless and len(kernels) != 1:
        raise ValueError(
            f"The checkpoint has hypotheses of a kernel function of your own, and family holds {len(kernels)} such "
            "functions. Give a family with exactly one, so that it is clear which one is meant."
        )
    for hypothesis in nameless:
        (hypothesis.kernel,) = kernels
