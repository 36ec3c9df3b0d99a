"""Kinds: how hypotheses of a class are evaluated, printed, stored, exported, explained and bounded.

Each class of hypotheses has a `Kind`, which registers itself. All other parts of the package use `kind_of(hypothesis)`
and never name a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from radboost._typing import Category, FloatArray, FloatMatrix
from radboost.families.exported import WeightedProduct, WeightedTree
from radboost.model_file.checks import read_array, require
from radboost.trees.describe import TreeNames
from radboost.trees.tree import Tree

H = TypeVar("H")
Arrays = Mapping[str, npt.NDArray[Any]]
Names = Sequence[str] | None
# Adds weighted values of hypotheses to scores in place; arguments: rows, scores, number of threads.
Scorer = Callable[[FloatMatrix, FloatArray, int], None]


@dataclass(frozen=True)
class Stored:
    """Hypotheses in the form of a model file: entries of its JSON header, and arrays. Names differ between kinds."""

    header: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


class FunctionSet(Protocol):
    """Set of functions that was fixed before the rows were seen; equal sets compare equal."""

    name: ClassVar[str]

    def complexity(self, sample_size: float, n_classes: int) -> float:
        """Complexity kappa of docs/theory.md, sections 7 and 8."""


@dataclass(frozen=True)
class Shape:
    """Shape of the model whose hypotheses are read from a file."""

    n_features: int
    n_outputs: int = 1
    categories: Mapping[int, Sequence[Category]] = field(default_factory=dict)


class Kind(Generic[H]):
    """Base of kinds, and itself the kind of hypotheses of users.

    `class StumpKind(Kind[Stump], of=Stump, code=3)` registers itself for a class. `code` is the number of the kind in
    files of sparse models, and `boosted_code` (default: two more) in files of boosted models. Numbers are never reused,
    so that files stay readable.
    """

    of: ClassVar[type[Any] | None] = None
    code: ClassVar[int]
    boosted_code: ClassVar[int]
    # False: values are votes (-1, 0, 1), which are stored as a class per row, and which the closed-form steps of the
    # papers assume.
    real_valued: ClassVar[bool] = True
    # True: values may overflow. Induction leaves out such hypotheses; for other kinds an overflow is an error.
    overflows: ClassVar[bool] = False

    def __init_subclass__(cls, *, of: type[Any], code: int, boosted_code: int | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.of, cls.code, cls.boosted_code = of, code, code + 2 if boosted_code is None else boosted_code
        taken = [kind for kind in KINDS.values() if cls.code == kind.code or cls.boosted_code == kind.boosted_code]
        if taken or of in KINDS:
            raise ValueError(f"{cls.__name__} has the class or the number of another kind of hypotheses.")
        KINDS[of] = cls()

    def values(self, hypotheses: Sequence[H], X: Any) -> FloatArray:
        """Values of hypotheses with one output, shape (n_hypotheses, n_rows); X is dense or sparse."""
        values = [hypothesis.values(X) for hypothesis in hypotheses]  # type: ignore[attr-defined]
        if self.of is not None:
            return np.array(values)
        shape = (X.shape[0],)
        return np.array([checked_values(*pair, shape) for pair in zip(hypotheses, values, strict=True)])

    def add_outer(self, hypotheses: Sequence[H], weights: FloatArray, X: Any, scores: FloatArray) -> None:
        """Add values of each hypothesis times its weights to `scores`, shape (n_rows, n_outputs), in order.

        `weights` has shape (n_hypotheses, n_outputs).
        """
        for hypothesis, output_weights in zip(hypotheses, weights, strict=True):
            scores += np.multiply.outer(self.values([hypothesis], X)[0], output_weights)

    def scorer(self, hypotheses: Sequence[H], weights: FloatArray) -> Scorer:
        """Function that adds values of the hypotheses times `weights`, shape (n_hypotheses,), to scores."""

        def add(X: FloatMatrix, scores: FloatArray, n_threads: int) -> None:
            for hypothesis, weight in zip(hypotheses, weights, strict=True):
                scores += weight * checked_values(hypothesis, predictions(hypothesis, X, n_threads), scores.shape)

        return add

    def describe(self, hypothesis: H, names: Names, categories: Mapping[int, Sequence[Category]]) -> str:
        """Text of one line; `names` of the columns of X, or None."""
        describe = getattr(hypothesis, "describe", None)
        return repr(hypothesis) if describe is None else str(describe(names))

    def take_names(self, hypothesis: H, names: TreeNames) -> None:
        """Store names of columns, categories and classes in the hypothesis, if it prints them."""

    def term(self, hypothesis: H, names: Names) -> str:
        """Text of the hypothesis in a formula."""
        return self.describe(hypothesis, names, {})

    def text(self, hypothesis: H, names: TreeNames) -> str:
        """End of an entry in a list of hypotheses: the rest of its line, and further lines."""
        return f": {self.describe(hypothesis, names.features, names.categories)}"

    def text_of_term(self, hypothesis: H, names: TreeNames) -> str:
        """Text after the weight in a formula that has one term per line."""
        return self.describe(hypothesis, names.features, names.categories)

    def tree(self, hypothesis: H) -> Tree | None:
        """Tree that it is, or that it is a multiple of in each row; None: neither."""
        return None

    def add_gains(self, hypothesis: H, weight: float, importances: FloatArray) -> None:
        """Add the gains of its splits, times `weight`, to `importances` of their columns, shape (n_features,)."""

    def spread(self, hypothesis: H) -> float:
        """Largest difference of its values for two classes."""
        return 1.0

    def boosted_part(self, hypothesis: H, weight: float) -> WeightedTree | None:
        """Part of an exported boosted model; None: cannot be exported."""
        return None

    def sparse_part(self, hypothesis: H, weights: FloatArray, n_features: int) -> WeightedTree | WeightedProduct | None:
        """Part of an exported sparse model, with weights of shape (n_outputs,); None: cannot be exported."""
        return None

    def function_set(self, hypothesis: H) -> FunctionSet | None:
        """Function set that it belongs to, for bounds; None: bounds use the complexity from its family."""
        return None

    def check_fixed(
        self, hypotheses: Sequence[H], families: Sequence[Any], categories: Mapping[int, Sequence[Category]]
    ) -> None:
        """Raise an error if the training rows determined the function sets of these hypotheses and families."""

    def write(self, hypotheses: Sequence[H], n_features: int) -> Stored:
        names = ", ".join(sorted({type(hypothesis).__name__ for hypothesis in hypotheses}))
        raise ValueError(
            f"it has hypotheses of your own ({names}), which a model file does not store; pickle keeps any object."
        )

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[H]:
        """Read n hypotheses from a file that is not trusted; ValueError if it is invalid."""
        raise NotImplementedError


KINDS: dict[type[Any], Kind[Any]] = {}
OWN: Kind[Any] = Kind()


def kind_of(hypothesis: object) -> Kind[Any]:
    """Kind of the class of a hypothesis, or the kind for hypotheses of users."""
    return KINDS.get(type(hypothesis), OWN)


def by_kind(hypotheses: Iterable[object]) -> dict[Kind[Any], list[int]]:
    """Indices of the hypotheses of each kind; kinds in order of first occurrence."""
    groups: dict[Kind[Any], list[int]] = {}
    for index, hypothesis in enumerate(hypotheses):
        groups.setdefault(kind_of(hypothesis), []).append(index)
    return groups


def scorers(hypotheses: Sequence[Any], weights: FloatArray) -> list[Scorer]:
    """Functions that add weighted values of hypotheses to scores, one for each kind; `weights`: (n_hypotheses,)."""
    return [
        kind.scorer([hypotheses[index] for index in indices], weights[indices])
        for kind, indices in by_kind(hypotheses).items()
    ]


def predictions(hypothesis: Any, X: FloatMatrix, n_threads: int) -> FloatArray:
    """Values of a hypothesis, shape (n_rows,) or (n_rows, n_outputs); by `predict` or `values`."""
    evaluate = getattr(hypothesis, "predict", None) or hypothesis.values
    return np.asarray(evaluate(X, n_threads))


def checked_values(hypothesis: object, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Values of a user's own hypothesis, checked to be finite numbers of this shape."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        given = (
            f"the shape {array.shape}" if array.shape != shape else f"{array.dtype} with NaN, infinity or no numbers"
        )
        each = "one finite number" if len(shape) == 1 else f"{shape[1]} finite numbers"
        raise ValueError(
            f"{type(hypothesis).__name__} must return {each} for each of {shape[0]} rows, from `values` or `predict`; "
            f"got {given}."
        )
    return array.astype(np.float64, copy=False)


def read_features(arrays: Arrays, name: str, shape: Shape, n: int | None = None) -> list[int]:
    """Read the array `name` of indices of columns of X, checked; only for models with one score per row."""
    require(shape.n_outputs == 1 or n == 0, f"the hypotheses of {name!r} are for one score per row")
    features = read_array(arrays, name, "<i4", n)
    inside = (features >= 0) & (features < shape.n_features)
    require(bool(inside.all()), f"the array {name!r} names a column that does not exist")
    return features.tolist()  # type: ignore[no-any-return]
