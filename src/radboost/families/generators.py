"""Generators of hypotheses for sparse models: they propose candidates, from which induction chooses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from radboost._members import register
from radboost._typing import FloatArray
from radboost._validation import resolve
from radboost.model_file import storable_value

GENERATORS: dict[str, type[Generator]] = {}
"""Where features of the sparse estimators come from, by the name that `family` takes."""


class RowLoss(Protocol):
    """Loss of the training rows, for generators."""

    n_outputs: int
    n_rows: int

    def gradient(self, scores: FloatArray) -> FloatArray:
        """Derivative by each score, shape (n_outputs, n_rows)."""

    def middle(self, row_weights: FloatArray) -> float:
        """A score that is neither high nor low."""


@dataclass(frozen=True)
class Training:
    """Training rows, in an order that depends only on their content."""

    X: Any
    loss: RowLoss
    row_weights: FloatArray
    seed: int
    n_threads: int


# Function of the hypotheses in the model and the derivatives of the loss by the scores, shape (n_outputs, n_rows), that
# returns candidates.
Proposing = Callable[[Sequence[Any], FloatArray], Sequence[Any]]


@dataclass(frozen=True)
class LastLook:
    """Proposals if no other candidate helps, and a description of everything that the fit has tried by then.

    `proposed` completes the sentence "optimal among ..."; None: all features of the family.
    """

    proposed: str | None
    hypotheses: Iterable[Any] = ()


class Generator(ABC):
    """Proposes hypotheses: objects with `values(X)`, `describe(names)` and a hash. One of your own is a subclass."""

    # True: candidates do not change between rounds, so that all of them can enter at once.
    finite: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        """`class StumpFeatures(Generator, name="stumps")` registers itself."""
        super().__init_subclass__(**others)
        if name is not None:
            register(GENERATORS, name, cls)
            storable_value(cls, f"features.{name.capitalize()}")

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Raise an error for invalid parameters; called before the data are read."""

    @abstractmethod
    def start(self, training: Training) -> Proposing:
        """Return a function that is called before every induction; called once with the training rows."""

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        """Last proposals, when no candidate helps. If none of these does, the fit ends, optimal among `proposed`."""
        return LastLook("the features that were proposed")


def dense(X: Any) -> FloatArray:
    """Rows as a dense matrix, whatever X is."""
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def get_generator(features: str | Generator) -> Generator:
    """Generator for a name, or a user-defined one."""
    generator = resolve("family", features, GENERATORS, Generator, "a subclass of radboost.sparsity.Generator")  # type: ignore[type-abstract]
    generator.validate()
    return generator
