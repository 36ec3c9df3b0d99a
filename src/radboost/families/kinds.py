"""Kinds of hypotheses: how those of one class are evaluated, printed, stored, exported, explained and bounded.

Each class of hypotheses has a `Kind`, which registers itself. All other parts ask `kind_of(hypothesis)` and know no
class by name.
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
# Adds the weighted values of some hypotheses to the scores of rows: (rows, scores, threads).
Scorer = Callable[[FloatMatrix, FloatArray, int], None]


@dataclass(frozen=True)
class Stored:
    """Hypotheses as a file has them: entries of its JSON header, and arrays. No two kinds use the same names."""

    header: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)


class FunctionSet(Protocol):
    """A set of functions that was fixed before the rows were seen, equal to another if it is the same set."""

    name: ClassVar[str]

    def complexity(self, sample_size: float, n_classes: int) -> float:
        """kappa of docs/theory.md, sections 7 and 8."""


@dataclass(frozen=True)
class Shape:
    """Shape of the model that hypotheses are read for."""

    n_features: int
    n_outputs: int = 1
    categories: Mapping[int, Sequence[Category]] = field(default_factory=dict)


class Kind(Generic[H]):
    """The kind of hypotheses that have none of their own: those of users.

    `class StumpKind(Kind[Stump], of=Stump, code=3)` registers itself for a class. `code` is the number of the kind in
    the files of sparse models; in those of boosted ones it is `boosted_code`, two more where nothing else is said.
    Numbers are never given twice, so that files stay readable.
    """

    of: ClassVar[type[Any] | None] = None
    code: ClassVar[int]
    boosted_code: ClassVar[int]
    # Whether values are other numbers than votes. Votes are kept as answers of the rows, and the papers' closed-form
    # steps are made for them.
    real_valued: ClassVar[bool] = True
    # Whether values may leave the range of numbers. Induction leaves such hypotheses out, others it refuses.
    overflows: ClassVar[bool] = False

    def __init_subclass__(cls, *, of: type[Any], code: int, boosted_code: int | None = None, **others: Any) -> None:
        super().__init_subclass__(**others)
        cls.of, cls.code, cls.boosted_code = of, code, code + 2 if boosted_code is None else boosted_code
        taken = [kind for kind in KINDS.values() if cls.code == kind.code or cls.boosted_code == kind.boosted_code]
        if taken or of in KINDS:
            raise ValueError(f"{cls.__name__} has the class or the number of another kind of hypotheses.")
        KINDS[of] = cls()

    def values(self, hypotheses: Sequence[H], X: Any) -> FloatArray:
        """A line of values for each hypothesis, all of one output; X is dense or sparse."""
        values = [hypothesis.values(X) for hypothesis in hypotheses]  # type: ignore[attr-defined]
        if self.of is not None:
            return np.array(values)
        shape = (X.shape[0],)
        return np.array([checked_values(*pair, shape) for pair in zip(hypotheses, values, strict=True)])

    def add_lines(self, hypotheses: Sequence[H], weights: FloatArray, X: Any, scores: FloatArray) -> None:
        """scores += the values of each hypothesis times its line of weights, in their order."""
        for hypothesis, line in zip(hypotheses, weights, strict=True):
            scores += np.multiply.outer(self.values([hypothesis], X)[0], line)

    def scorer(self, hypotheses: Sequence[H], weights: FloatArray) -> Scorer:
        """Adds the values of the hypotheses, a number or a row of numbers for each row, times their weights."""

        def add(X: FloatMatrix, scores: FloatArray, n_threads: int) -> None:
            for hypothesis, weight in zip(hypotheses, weights, strict=True):
                scores += weight * checked_values(hypothesis, predictions(hypothesis, X, n_threads), scores.shape)

        return add

    def describe(self, hypothesis: H, names: Names, categories: Mapping[int, Sequence[Category]]) -> str:
        """A line of text; `names` are those of the columns of X, if they have any."""
        own = getattr(hypothesis, "describe", None)
        return repr(hypothesis) if own is None else str(own(names))

    def take_names(self, hypothesis: H, names: TreeNames) -> None:
        """Remembers what columns, categories and classes are called, where it prints them."""

    def term(self, hypothesis: H, names: Names) -> str:
        """The hypothesis in a formula."""
        return self.describe(hypothesis, names, {})

    def text(self, hypothesis: H, names: TreeNames) -> str:
        """The end of an entry in a list of hypotheses: on the same line, or on lines of its own."""
        return f": {self.describe(hypothesis, names.features, names.categories)}"

    def text_of_term(self, hypothesis: H, names: TreeNames) -> str:
        """The hypothesis behind its weight in a formula with a term on each line."""
        return self.describe(hypothesis, names.features, names.categories)

    def tree(self, hypothesis: H) -> Tree | None:
        """The tree that it is, or that it is a multiple of in each row."""
        return None

    def add_gains(self, hypothesis: H, weight: float, importances: FloatArray) -> None:
        """Adds what its splits gained, times its weight, to the columns that they ask about. Most have no splits."""

    def spread(self, hypothesis: H) -> float:
        """How far apart its answers for two classes can be."""
        return 1.0

    def boosted_part(self, hypothesis: H, weight: float) -> WeightedTree | None:
        """Its part in exported boosted models; None where no exported form has it."""
        return None

    def sparse_part(self, hypothesis: H, weights: FloatArray, n_features: int) -> WeightedTree | WeightedProduct | None:
        """Its part in exported sparse models, whose hypotheses have a weight for each score."""
        return None

    def function_set(self, hypothesis: H) -> FunctionSet | None:
        """Set that holds it, by which bounds price it; None for the complexity that its family gave it."""
        return None

    def check_fixed(
        self, hypotheses: Sequence[H], families: Sequence[Any], categories: Mapping[int, Sequence[Category]]
    ) -> None:
        """Refuses hypotheses of a model, with its families, whose sets of functions the training rows have chosen."""

    def write(self, hypotheses: Sequence[H], n_features: int) -> Stored:
        own = ", ".join(sorted({type(hypothesis).__name__ for hypothesis in hypotheses}))
        raise ValueError(
            f"it has hypotheses of your own ({own}), which a model file does not store; pickle keeps any object."
        )

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[H]:
        """Reads n hypotheses from a file that nobody vouches for; a ValueError says what is wrong with it."""
        raise NotImplementedError


KINDS: dict[type[Any], Kind[Any]] = {}
OWN: Kind[Any] = Kind()


def kind_of(hypothesis: object) -> Kind[Any]:
    """The kind of its class, or the one for hypotheses of users."""
    return KINDS.get(type(hypothesis), OWN)


def by_kind(hypotheses: Iterable[object]) -> dict[Kind[Any], list[int]]:
    """The indices of the hypotheses of each kind; kinds in the order in which they come first."""
    groups: dict[Kind[Any], list[int]] = {}
    for index, hypothesis in enumerate(hypotheses):
        groups.setdefault(kind_of(hypothesis), []).append(index)
    return groups


def scorers(hypotheses: Sequence[Any], weights: FloatArray) -> list[Scorer]:
    """Functions that add the weighted values of all, kind by kind."""
    return [
        kind.scorer([hypotheses[index] for index in indices], weights[indices])
        for kind, indices in by_kind(hypotheses).items()
    ]


def predictions(hypothesis: Any, X: FloatMatrix, n_threads: int) -> FloatArray:
    """A number or a row of numbers for each row; `predict` is another name of `values`."""
    evaluate = getattr(hypothesis, "predict", None) or hypothesis.values
    return np.asarray(evaluate(X, n_threads))


def checked_values(hypothesis: object, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Values of a user's own hypothesis, checked to be finite numbers of this shape."""
    array: npt.NDArray[Any] = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        found = (
            f"the shape {array.shape}" if array.shape != shape else f"{array.dtype} with NaN, infinity or no numbers"
        )
        each = "one finite number" if len(shape) == 1 else f"{shape[1]} finite numbers"
        raise ValueError(
            f"{type(hypothesis).__name__} must return {each} for each of {shape[0]} rows, from `values` or `predict`; "
            f"got {found}."
        )
    return array.astype(np.float64, copy=False)


def read_features(arrays: Arrays, name: str, shape: Shape, n: int | None = None) -> list[int]:
    """Indices of columns of X, of hypotheses that give one number for each row."""
    require(shape.n_outputs == 1 or n == 0, f"the hypotheses of {name!r} are for one score per row")
    features = read_array(arrays, name, "<i4", n)
    inside = (features >= 0) & (features < shape.n_features)
    require(bool(inside.all()), f"the array {name!r} names a column that does not exist")
    return features.tolist()  # type: ignore[no-any-return]
