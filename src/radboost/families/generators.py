"""Generators of the hypotheses of sparse models: they propose candidates, and induction chooses."""

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
    """Loss of the training rows as generators see it."""

    n_outputs: int
    n_rows: int

    def gradient(self, scores: FloatArray) -> FloatArray:
        """The derivative by each score, a line for each output."""

    def middle(self, row_weights: FloatArray) -> float:
        """A score that is neither high nor low."""


@dataclass(frozen=True)
class Training:
    """The training rows, in an order that depends on their content alone."""

    X: Any
    loss: RowLoss
    row_weights: FloatArray
    seed: int
    n_threads: int


# From the hypotheses in the model and the derivatives of the loss by the scores (a line for each output) to candidates.
Proposing = Callable[[Sequence[Any], FloatArray], Sequence[Any]]


@dataclass(frozen=True)
class LastLook:
    """Proposals for when nothing else helps, and a name for all that the fit has tried by then.

    `proposed` completes the sentence "optimal among ..."; None: all features of the family.
    """

    proposed: str | None
    hypotheses: Iterable[Any] = ()


class Generator(ABC):
    """Proposes hypotheses: objects with `values(X)`, `describe(names)` and a hash. One of your own is a subclass."""

    # Whether the candidates are the same in every round, so that all of them can enter at once.
    finite: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        """`class StumpFeatures(Generator, name="stumps")` registers itself."""
        super().__init_subclass__(**others)
        if name is not None:
            register(GENERATORS, name, cls)
            storable_value(cls, f"features.{name.capitalize()}")

    def validate(self) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuses parameters that it cannot work with, before the data are seen."""

    @abstractmethod
    def start(self, training: Training) -> Proposing:
        """Sees the training rows once; what it returns is called before every induction."""

    def last_look(self, training: Training, residual: FloatArray) -> LastLook:
        """Called where no candidate helps. If none of these does either, the fit ends, optimal among `proposed`."""
        return LastLook("the features that were proposed")


def dense(X: Any) -> FloatArray:
    """Rows as a dense matrix, whatever X is."""
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def get_generator(features: str | Generator) -> Generator:
    """The generator of a name, or the user's own."""
    generator = resolve("family", features, GENERATORS, Generator, "a subclass of radboost.sparsity.Generator")  # type: ignore[type-abstract]
    generator.validate()
    return generator
