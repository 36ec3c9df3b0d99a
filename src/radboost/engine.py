"""Interface of the engine that holds the training rows. No other module imports the native core.

An engine keeps its data where they are: Python holds handles (bins, scores, weightings, growers, members, forests),
asks for whole rounds, and gets back numbers and trees. Another engine derives from `Engine`, replaces what it does
itself, and is put to work by `use`.
"""

# What it imports from the native core is its interface, too:
# ruff: noqa: F401
# mypy: implicit-reexport

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from radboost._native import (
    AnsweringTree,
    AnswerWeighting,
    BinnedData,
    ClassScores,
    ClassWeighting,
    Collective,
    CompressedColumns,
    CompressedColumns32,
    CutTree,
    DenseColumns,
    Forest,
    GradientScores,
    GradientWeighting,
    Grower,
    HypothesisColumns,
    LayeredArcs,
    LossAutomaton,
    LossSource,
    MarginScores,
    MarginWeighting,
    RatedRounds,
    RegressionTrees,
    RowGroups,
    RowWeights,
    SoftmaxPairs,
    SoftmaxScores,
    SoftmaxSums,
    StopFlag,
    WeightedTrees,
    add_packed,
    bin_blocks,
    bin_matrix,
    centre_columns,
    compress_columns,
    compress_columns32,
    descents,
    evaluate_loss,
    exp,
    gather_columns,
    hash_compressed,
    hash_dense_rows,
    kernel_values,
    linear_rows,
    log,
    make_chain,
    make_layered_arcs,
    make_loss_source,
    pack,
    side_by_side,
    slope,
    structured_expected_loss,
    structured_flow,
)


class Engine:
    """The native core: constructors of the handles, which must come from one engine.

    - `bin`, `bin_blocks`, `side_by_side`: rows into small integers, those that are loaded block by block, and parts of
      their columns put together;
    - `row_weights`: sample weights, and sums over the rows of all workers; `row_groups`: the source of each row;
    - `margin_scores`, `class_scores`, `softmax_scores`, `gradient_scores`: scores of the rows, their loss, steps;
    - `margin_weighting`, `class_weighting`, `gradient_weighting`: the integers of the rows for growers;
    - `grower`, `regression_trees`, `weighted_trees`, `softmax_pairs`: trees grown on a weighting;
    - `rated_rounds`: whole rounds of coordinate descent along trees with numbers in their leaves;
    - `members`: the predictions of the hypotheses in an ensemble on the training rows;
    - `forest`: predictions of trees for any rows.
    """

    bin = staticmethod(bin_matrix)
    bin_blocks = staticmethod(bin_blocks)
    side_by_side = staticmethod(side_by_side)
    row_weights = RowWeights
    row_groups = RowGroups
    margin_scores = MarginScores
    margin_weighting = MarginWeighting
    class_scores = ClassScores
    class_weighting = ClassWeighting
    softmax_scores = SoftmaxScores
    softmax_pairs = SoftmaxPairs
    gradient_scores = GradientScores
    gradient_weighting = GradientWeighting
    grower = Grower
    regression_trees = RegressionTrees
    weighted_trees = WeightedTrees
    rated_rounds = RatedRounds
    members = HypothesisColumns
    forest = Forest


_CURRENT: ContextVar[Engine] = ContextVar("engine", default=Engine())  # noqa: B039 - it has no state


def current() -> Engine:
    """The engine that makes the handles of this thread."""
    return _CURRENT.get()


@contextmanager
def use(engine: Engine) -> Iterator[None]:
    """Use another engine for the fits of this thread within the block."""
    token = _CURRENT.set(engine)
    try:
        yield
    finally:
        _CURRENT.reset(token)
