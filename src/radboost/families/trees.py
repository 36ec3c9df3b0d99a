"""Families of decision trees: stumps, stump pairs, and trees of every depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import indent
from typing import Any

import numpy as np

from radboost import complexity
from radboost._typing import Category, FloatArray, FloatMatrix
from radboost._validation import check_integer
from radboost.engine import HypothesisColumns, RatedRounds, current
from radboost.families.base import Candidate, Family, Problem, Proposer
from radboost.families.exported import WeightedTree
from radboost.families.kinds import Arrays, Kind, Names, Scorer, Shape, Stored
from radboost.rows.categories import MOST_CATEGORIES
from radboost.trees.arrays import holds_numbers, read_trees, write_trees
from radboost.trees.describe import TreeNames, outline, term
from radboost.trees.grower import make_grower
from radboost.trees.tree import Tree, forest_of, leaf_tree


class TreeKind(Kind[Tree], of=Tree, code=4, boosted_code=1):
    real_valued = False

    def scorer(self, hypotheses: Sequence[Tree], weights: FloatArray) -> Scorer:
        """Function that evaluates all trees as one forest."""
        forest = forest_of(hypotheses)

        def add(X: FloatMatrix, scores: FloatArray, n_threads: int) -> None:
            scores += forest.scores(X, weights, n_threads).reshape(scores.shape)

        return add

    def describe(self, hypothesis: Tree, names: Names, categories: Mapping[int, Sequence[Category]]) -> str:
        return hypothesis.describe(names, categories)

    def take_names(self, hypothesis: Tree, names: TreeNames) -> None:
        hypothesis.names = names

    def term(self, hypothesis: Tree, names: Names) -> str:
        return term(hypothesis, names)

    def text(self, hypothesis: Tree, names: TreeNames) -> str:
        return ":\n" + indent(outline(hypothesis, names), "  ")

    def text_of_term(self, hypothesis: Tree, names: TreeNames) -> str:
        return "the tree\n" + indent(outline(hypothesis, names), "    ")

    def tree(self, hypothesis: Tree) -> Tree:
        return hypothesis

    def add_gains(self, hypothesis: Tree, weight: float, importances: FloatArray) -> None:
        inner = hypothesis.feature >= 0
        np.add.at(importances, hypothesis.feature[inner], abs(weight) * hypothesis.gain[inner])

    def spread(self, hypothesis: Tree) -> float:
        """2 if leaves have a value for each class; 1 if they vote for one."""
        return 1.0 if hypothesis.vectors is None else 2.0

    def boosted_part(self, hypothesis: Tree, weight: float) -> WeightedTree:
        values = hypothesis.value[hypothesis.feature < 0]
        if hypothesis.n_outputs == 1:
            return WeightedTree(hypothesis, (weight * values)[:, None])
        indices = values.astype(np.intp)
        if hypothesis.vectors is not None:
            return WeightedTree(hypothesis, weight * hypothesis.vectors[indices])
        # A leaf that abstains adds nothing to the first score.
        return WeightedTree(hypothesis, np.where(indices < 0, 0.0, weight)[:, None], np.maximum(indices, 0))

    def sparse_part(self, hypothesis: Tree, weights: FloatArray, n_features: int) -> WeightedTree:
        return WeightedTree(hypothesis, np.multiply.outer(hypothesis.value[hypothesis.feature < 0], weights))

    def check_fixed(
        self, hypotheses: Sequence[Tree], families: Sequence[Any], categories: Mapping[int, Sequence[Category]]
    ) -> None:
        if any(largest_leaf_value(tree) > 1.0 for tree in hypotheses):
            raise ValueError(
                "The model has a tree with a number beyond 1 in a leaf, given to it from outside. Margins and the "
                "bound are about hypotheses with values in [-1, 1]: divide the numbers of that tree by the largest of "
                "them."
            )
        for column in sorted({int(tree.feature[node]) for tree in hypotheses for node in tree.category_nodes}):
            if len(categories.get(column, ())) >= MOST_CATEGORIES:
                raise ValueError(
                    f"Column {column} has {MOST_CATEGORIES} categories or more, and which of them are told apart was "
                    "decided by how often the training rows have them, which nothing is charged for. Merge the rare "
                    "ones by a rule that does not look at the rows."
                )

    def write(self, hypotheses: Sequence[Tree], n_features: int) -> Stored:
        # Without an entry, leaves are signs or votes.
        header = {"leaves": "numbers"} if any(map(holds_numbers, hypotheses)) else {}
        return Stored(header, write_trees(hypotheses))

    def read(self, n: int, header: Mapping[str, Any], arrays: Arrays, shape: Shape) -> list[Tree]:
        real = header.get("leaves", "signs") == "numbers"
        return read_trees(arrays, shape.n_features, shape.n_outputs, n, shape.categories, real)


def leaf_rows(tree: Tree) -> FloatArray:
    """Outputs of each leaf, in the order of the nodes, shape (n_leaves, n_outputs); a vote is 1 for a class."""
    return TreeKind().boosted_part(tree, 1.0).rows(tree.n_outputs)


def largest_leaf_value(tree: Tree) -> float:
    """Largest absolute leaf value; 1 if leaves vote for one of several classes."""
    if tree.vectors is not None:
        return float(np.abs(tree.vectors).max(initial=0.0))
    return float(np.abs(tree.value[tree.feature < 0]).max(initial=0.0)) if tree.n_outputs == 1 else 1.0


class TreeCandidate(Candidate):
    """Tree of a proposer, cut back to `n_grown` splits; valid until the next round of the proposer."""

    __slots__ = ("complexity", "edge", "n_grown", "proposer", "rated", "real_valued")

    def __init__(self, proposer: TreeProposer, n_grown: int, edge: float, complexity: float) -> None:
        self.proposer = proposer
        self.n_grown = n_grown
        self.edge = edge
        self.complexity = complexity
        self.rated = self.real_valued = proposer.rated

    def hypothesis(self) -> Tree:
        proposer = self.proposer
        arrays = (proposer.grower.rated_tree if proposer.rated else proposer.grower.tree)(self.n_grown)
        return proposer.tree(arrays, self.n_grown)

    def enter(self, columns: HypothesisColumns) -> int:
        if self.proposer.rated:
            return self.proposer.grower.store_rated(self.n_grown, columns)
        slot = columns.take_slot()
        self.proposer.grower.store(self.n_grown, columns, slot)
        return slot


class ConstantCandidate(Candidate):
    """Tree without a split that predicts one of several classes."""

    def __init__(self, class_index: int, problem: Problem, complexity: float) -> None:
        self._class_index = class_index
        self._problem = problem
        self.edge = 0.0
        self.complexity = complexity

    def hypothesis(self) -> Tree:
        problem = self._problem
        return leaf_tree(self._class_index, problem.data.n_columns, problem.n_outputs, problem.sample_size)

    def enter(self, columns: HypothesisColumns) -> int:
        slot = columns.take_slot()
        everywhere = np.zeros(self._problem.data.n_rows, dtype=np.int32)
        columns.set_answers(slot, everywhere, np.array([self._class_index], dtype=np.int32), 1)
        return slot


class TreeProposer(Proposer):
    """Grows a tree each round; each size during growth is a candidate, with the complexity of its family."""

    def __init__(
        self,
        problem: Problem,
        bound: Callable[[int, int], float],
        *,
        growth: str,
        criterion: str,
        max_depth: int,
        most_questions: int | None = None,
    ) -> None:
        """`bound`: complexity of a tree by its number of splits and their bits; `most_questions`: splits that count."""
        self.grower = make_grower(
            problem.data,
            problem.objective.weighting,
            problem.settings,
            growth=growth,
            criterion=criterion,
            max_depth=max_depth,
        )
        self.n_features = problem.data.n_columns
        self.n_outputs = problem.n_outputs
        self._problem = problem
        self.rated = problem.settings.rated
        self._most_questions = most_questions
        self.randomised = problem.settings.randomised
        self.bound = cache(bound)
        votes = not self.rated and not problem.settings.constraints.directions
        if max_depth == 1 and criterion == "edge" and votes and not self.randomised:
            self.least_complexity = bound(1, 0)

    def propose(self, round_index: int) -> list[Candidate]:
        sizes, edges = self.grower.grow(round_index)
        bits = self._bits(sizes)
        return [
            TreeCandidate(self, n, edge, self.bound(n, cost)) for n, edge, cost in zip(sizes, edges, bits, strict=True)
        ]

    def tree(self, arrays: Sequence[Any], n_grown: int) -> Tree:
        """Tree of the native core after `n_grown` splits."""
        return Tree.grown(arrays, self.n_features, self.questions(n_grown), self.n_outputs)

    def questions(self, n_grown: int) -> int:
        """Splits of a tree that count, of `n_grown`."""
        return n_grown if self._most_questions is None else min(n_grown, self._most_questions)

    def rated_rounds(self, price: Callable[[float], float], **rule: Any) -> RatedRounds | None:
        if not self.rated or self._most_questions is not None:
            return None
        objective = self._problem.objective
        return current().rated_rounds(
            self.grower,
            objective.scores,  # type: ignore[arg-type] # both are of two classes, or neither
            objective.weighting,  # type: ignore[arg-type]
            self._problem.question_bits,
            lambda n, bits: price(self.bound(n, bits)),
            **rule,
        )

    def constants(self) -> list[Candidate]:
        classes = range(self.n_outputs if self.n_outputs > 1 else 0)
        return [ConstantCandidate(c, self._problem, self.bound(0, 0)) for c in classes]

    def _bits(self, sizes: Sequence[int]) -> list[int]:
        """Description length in bits of the splits of a tree, for each of its sizes."""
        if not self._problem.question_bits.any():
            return [0] * len(sizes)
        costs = self._problem.question_bits[self.grower.split_columns()]
        summed = np.concatenate([[0], np.cumsum(costs)])
        return [int(summed[self.questions(n)]) for n in sizes]


@dataclass(frozen=True)
class Stumps(Family, name="stumps"):
    """H_1: stumps. Cortes et al. (2014), equation (7). The stump with the largest edge is proposed."""

    of_trees = True
    one_set = True

    def proposal_depth(self, max_depth: int) -> int:
        return 1

    def start(self, problem: Problem) -> Proposer:
        m, d = problem.sample_size, problem.n_columns
        return TreeProposer(
            problem,
            lambda n, bits: complexity.stumps(m, d, bits),
            growth="layers",
            criterion="edge",
            max_depth=1,
        )

    def n_families(self, problem: Problem) -> int:
        return _with_bits(1, 1, problem)


@dataclass(frozen=True)
class StumpPairs(Family, name="stump_pairs"):
    """H_1 and H_2: a stump, and a second split, equal for both sides. Cortes et al. (2014), equation (8)."""

    of_trees = True

    def start(self, problem: Problem) -> Proposer:
        m, d = problem.sample_size, problem.n_columns
        return TreeProposer(
            problem,
            lambda n, bits: (complexity.stumps if n <= 1 else complexity.stump_pairs)(m, d, bits),
            growth="stump_pair",
            criterion="edge",
            max_depth=2,
            most_questions=2,
        )

    def n_families(self, problem: Problem) -> int:
        return _with_bits(2, 2, problem)


@dataclass(frozen=True)
class Trees(Family, name="trees"):
    """T_1, T_2, ...: trees by their number of internal nodes, up to `max_depth`.

    Cortes et al. (2014), equation (9); Kuznetsov et al. (2014), section 4 and equation (13).

    Parameters
    ----------
    max_depth : int or None
        None: the parameter of the estimator.
    """

    of_trees = True

    max_depth: int | None = None

    def validate(self) -> None:
        if self.max_depth is not None:
            check_integer("max_depth of Trees", self.max_depth, 1, 60)

    def start(self, problem: Problem) -> Proposer:
        m, d, settings = problem.sample_size, problem.n_columns, problem.settings
        return TreeProposer(
            problem,
            lambda n, bits: complexity.trees(n, m, d, bits),
            growth=settings.options.growth,
            criterion=settings.criterion,
            max_depth=self.proposal_depth(settings.max_depth),
        )

    def proposal_depth(self, max_depth: int) -> int:
        return max_depth if self.max_depth is None else self.max_depth

    def n_families(self, problem: Problem) -> int:
        # T_0, T_1, ... up to the largest tree that fits: a tree of k leaves has k - 1 splits.
        leaves = [2 ** self.proposal_depth(problem.settings.max_depth), problem.objective.row_weights.n_copies]
        if problem.settings.options.max_leaves is not None:
            leaves.append(problem.settings.options.max_leaves)
        n_sizes = int(min(leaves))
        return _with_bits(n_sizes, n_sizes - 1, problem)


def _with_bits(n_sizes: int, most_splits: int, problem: Problem) -> int:
    """Families by their size, times those by the bits of their questions, of which there are none to all."""
    return n_sizes * (1 + most_splits * int(problem.question_bits.max(initial=0)))
