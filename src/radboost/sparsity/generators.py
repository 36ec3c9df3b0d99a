"""Where hypotheses come from: each generator proposes candidates, and induction chooses among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from radboost._members import register
from radboost._typing import FloatArray
from radboost._validation import check_integer, check_real, resolve
from radboost.losses import ScoreLoss
from radboost.model_file import storable_value
from radboost.sparsity.hypotheses import Centre, Column, GrownTree, Hypothesis, Product, Stump
from radboost.trees.binner import bin_rows
from radboost.trees.given_weights import GivenTrees, quantise
from radboost.trees.grower import GrowthSettings, TreeOptions

PERCEPTRON_BLOCK = 256
GENERATORS: dict[str, type[Generator]] = {}


@dataclass(frozen=True)
class Training:
    """The training rows, in an order that depends on their content alone."""

    X: Any
    loss: ScoreLoss
    row_weights: FloatArray
    seed: int
    n_threads: int


# From the hypotheses in the model and the derivatives of the loss by the scores (a line for each output) to candidates.
Proposer = Callable[[Sequence[Hypothesis], FloatArray], Sequence[Hypothesis]]


class Generator(ABC):
    """Proposes hypotheses: objects with `values(X)`, `describe(names)` and a hash. One of your own is a subclass."""

    # Whether the candidates are the same in every round, so that all of them can enter at once.
    finite: ClassVar[bool] = False

    def __init_subclass__(cls, *, name: str | None = None, **others: Any) -> None:
        """`class Stumps(Generator, name="stumps")` registers itself."""
        super().__init_subclass__(**others)
        if name is not None:
            register(GENERATORS, name, cls)
            storable_value(cls, f"features.{cls.__name__}")

    @abstractmethod
    def start(self, training: Training) -> Proposer:
        """Sees the training rows once; what it returns is called before every induction."""


@dataclass(frozen=True)
class Given(Generator, name="given"):
    """The columns themselves."""

    finite = True

    def start(self, training: Training) -> Proposer:
        columns = [Column(feature) for feature in range(training.X.shape[1])]
        return lambda members, residual: columns


@dataclass(frozen=True)
class Products(Generator, name="products"):
    """Products of columns, without end: each in the model times each column is a candidate (section 10).

    Induction starts from the bias, whose products are the columns themselves.
    """

    max_degree: int | None = None

    def start(self, training: Training) -> Proposer:
        longest = np.inf if self.max_degree is None else check_integer("max_degree", self.max_degree, 1)
        features = range(training.X.shape[1])
        columns = [Product((feature,)) for feature in features]

        def propose(members: Sequence[Hypothesis], residual: FloatArray) -> list[Hypothesis]:
            extensible = [m for m in members if isinstance(m, Product) and len(m.features) < longest]
            longer = {member.times(feature) for member in extensible for feature in features}
            return [
                *columns,
                *sorted(longer - set(columns), key=lambda product: (len(product.features), product.features)),
            ]

        return propose


@dataclass(frozen=True)
class Kernel(Generator, name="kernel"):
    """exp(-gamma |x - c|^2) around centres c: given, or the rows that a perceptron gets wrong in one pass (section 10).

    With gamma = 1/2 as in the paper rows should have a size of about 1.
    """

    finite = True

    gamma: float = 0.5
    centres: Any = None
    max_centres: int = 3000

    def start(self, training: Training) -> Proposer:
        gamma = check_real("gamma", self.gamma, low=0.0, open_low=True)
        most = check_integer("max_centres", self.max_centres, 1)
        if self.centres is None:
            rows = _dense(training.X)
            chosen = rows[_perceptron_mistakes(rows, training, gamma, most)]
        else:
            chosen = np.asarray(self.centres, dtype=np.float64)
            if chosen.ndim != 2 or chosen.shape[1] != training.X.shape[1]:
                raise ValueError(
                    f"centres must be rows with {training.X.shape[1]} columns like X; got the shape {chosen.shape}."
                )
        hypotheses = [Centre(tuple(centre.tolist()), gamma) for centre in chosen]
        return lambda members, residual: hypotheses


def _dense(X: Any) -> FloatArray:
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _perceptron_mistakes(rows: FloatArray, training: Training, gamma: float, most: int) -> list[int]:
    """Rows that a kernel perceptron gets wrong when it sees each once.

    Its step is the one of any loss: against the slopes where the scores, so far, are not right. Slopes of at most half
    of the largest possible count as right, which for two classes and for several is a majority.
    """
    from sklearn.metrics.pairwise import rbf_kernel  # loads much that other fits do without

    order = np.random.default_rng(training.seed).permutation(len(rows))
    middle = training.loss.middle(training.row_weights)
    pulls = -training.loss.gradient(np.full((training.loss.n_outputs, len(rows)), middle)).T
    kept: list[int] = []
    for begin in range(0, len(rows), PERCEPTRON_BLOCK):
        # Kernels to the centres so far and among the rows of a block are matrix products; only mistakes are one by one.
        block = order[begin : begin + PERCEPTRON_BLOCK]
        scores = rbf_kernel(rows[block], rows[kept], gamma) @ pulls[kept] if kept else np.zeros_like(pulls[block])
        among = rbf_kernel(rows[block], rows[block], gamma)
        for i, place in enumerate(block.tolist()):
            wanted = pulls[place]
            right = scores[i] @ wanted > 0.0 if len(wanted) == 1 else scores[i].argmax() == wanted.argmax()
            if right:
                continue
            scores += np.multiply.outer(among[i], wanted)
            kept.append(place)
            if len(kept) == most:
                return kept
    return kept


@dataclass(frozen=True)
class Stumps(Generator, name="stumps"):
    """+1 above a threshold, -1 below; thresholds split the weight of a column's values into equal parts."""

    finite = True

    max_thresholds: int = 32

    def start(self, training: Training) -> Proposer:
        most = check_integer("max_thresholds", self.max_thresholds, 1)
        rows = _dense(training.X)
        stumps = [
            Stump(feature, threshold)
            for feature in range(rows.shape[1])
            for threshold in _thresholds(rows[:, feature], training.row_weights, most)
        ]
        return lambda members, residual: stumps


def _thresholds(values: FloatArray, weights: FloatArray, most: int) -> list[float]:
    different, places = np.unique(values, return_inverse=True)
    middles = (different[:-1] + different[1:]) / 2.0
    if len(middles) > most:
        below = np.cumsum(np.bincount(places.ravel(), weights=weights))[:-1]
        wanted = np.arange(1, most + 1) / (most + 1) * weights.sum()
        middles = middles[np.unique(np.minimum(np.searchsorted(below, wanted), len(middles) - 1))]
    return np.unique(middles).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Trees(Generator, name="trees"):
    """Trees of -1 and +1, one for each output, grown on what the loss asks of the rows.

    The search for a tree is greedy: when it finds none that helps, boosting stops, but there may be one.
    """

    max_depth: int = 3

    def start(self, training: Training) -> Proposer:
        depth = check_integer("max_depth", self.max_depth, 1, 30)
        rows = _dense(training.X)
        data = bin_rows(rows, training.row_weights, np.arange(len(rows)), 255, training.n_threads)
        settings = GrowthSettings(
            max_depth=depth, seed=training.seed, n_threads=training.n_threads, options=TreeOptions()
        )
        trees, rounds = GivenTrees(data, 2, settings), iter(range(2**62))

        def propose(members: Sequence[Hypothesis], residual: FloatArray) -> list[Hypothesis]:
            asked = [line for line in residual if np.abs(line).max() > 0.0]
            if not asked:
                return []
            classes = np.array([line < 0.0 for line in asked], dtype=np.uint16)
            weights = np.array([quantise(np.abs(line)) for line in asked])
            return [GrownTree(trees.hypothesis(tree)) for tree in trees.grow(classes, weights, next(rounds))]

        return propose


def get_generator(features: str | Generator) -> Generator:
    """The generator of a name, or the user's own."""
    return resolve("features", features, GENERATORS, Generator, "a subclass of radboost.sparsity.Generator")  # type: ignore[type-abstract]
