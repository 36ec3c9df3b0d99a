"""Prices for the bounds of docs/theory.md: Rademacher complexities of function sets that contain a model's hypotheses.

A price is kappa of sections 7 and 8: the complexity of x -> h(x), with more than two classes twice that of the vectors.
Each choice that depends on the sample leaves a fraction of delta; `choices` are sums of log(1 / fraction).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radboost._typing import FloatArray
from radboost.ensemble import Ensemble
from radboost.families.base import FAMILIES, Family
from radboost.families.kinds import by_kind, kind_of
from radboost.guarantees.tree_counts import LOG_2, log_labelings, log_pair_labelings, massart
from radboost.trees.tree import Tree

LEAF_SPACING = 2.0**-20  # distance of neighbouring leaf values; bounds their rounding error
PAIR_LEVEL = 2  # index i in (7c) of the set of stump pairs; 1: one split, n + 1: at most n splits


@dataclass(frozen=True)
class Prices:
    """Complexities and choices for the three bounds of section 7; `mean` and `by_size` are weighted by abs(alpha)."""

    whole_set: float | None  # (7b): kappa of the smallest function set with all hypotheses; None: not known
    set_choices: float  # (7b): log(1 / fraction of delta) for the choice of that set
    mean: float  # (7f): mean kappa of the hypotheses
    n_families: int  # (7f): p, number of families; each set of trees up to the largest one counts
    family_choices: float  # (7f): log(1 / fraction of delta) for the choice of these families
    by_size: float | None  # (7h): mean kappa by size of each tree; None unless all are trees on numeric columns
    size_choices: float  # (7h): log(1 / fraction of delta) for choices other than sizes
    single_family: bool  # True: one family, not chosen by the sample; (7f) is then left out
    from_sample: bool  # True: complexities depend on the sample (e.g. its categories); deviation() is larger
    description: str  # of the hypotheses, for MarginBound


@dataclass(frozen=True)
class _Setting:
    """Quantities besides tree size in the number of labelings (7g)."""

    m: float  # number of rows, or sum of weights
    d: float  # number of columns, doubled if values are missing
    n_classes: int
    bits: Mapping[int, int]  # categorical column -> bits of one question about it


@dataclass(frozen=True)
class _Size:
    """Size of a tree, or of the smallest set of trees that contains several."""

    n: int  # number of splits; 2 for a stump pair
    pair: bool  # stump pair: both children of the root have the same split
    questions: Mapping[int, int]  # categorical column -> number of questions about it

    @property
    def level(self) -> int:  # see PAIR_LEVEL
        if self.pair:
            return PAIR_LEVEL
        return 1 if self.n <= 1 else self.n + 1


def prices(model: Any, ensemble: Ensemble, m: float, *, has_missing: bool) -> Prices:
    """Prices of the hypotheses of a fitted model for m rows; `has_missing`: some value of the sample is missing."""
    n_classes = len(model.classes_)
    bits = {column: max(len(known) - 1, 0) for column, known in ensemble.categories.items()}
    setting = _Setting(m, ensemble.n_features * (2.0 if has_missing else 1.0), n_classes, bits)
    plain_trees = [_plain_tree(hypothesis) for hypothesis in ensemble.hypotheses]
    sets = [kind_of(hypothesis).function_set(hypothesis) for hypothesis in ensemble.hypotheses]
    if any(tree is None and function_set is None for tree, function_set in zip(plain_trees, sets, strict=True)):
        return _prices_from_stored(ensemble, setting, has_missing=has_missing)
    sizes = [None if tree is None else _size(tree, has_missing=has_missing) for tree in plain_trees]
    leaf_kind = _leaf_kind([tree for tree in plain_trees if tree is not None], n_classes)
    other_kappas = {other: other.complexity(m, n_classes) for other in sets if other is not None}
    trees = [size for size in sizes if size is not None]
    largest = _largest(trees)
    whole_set = (_tree_price(largest, setting, leaf_kind) if trees else 0.0) + math.fsum(other_kappas.values())
    single_family = _is_single_family(model, ensemble)
    kappas = np.array([0.0 if other is None else other_kappas[other] for other in sets])
    for index, size in enumerate(sizes):
        if size is not None:
            kappas[index] = _tree_price(size, setting, leaf_kind)
    # Choices in every bound: whether values are missing (1/2); with more than two classes the kind of leaves (1/3).
    common_choices = (LOG_2 + (math.log(3.0) if n_classes > 2 else 0.0)) if trees else 0.0
    choices = common_choices if single_family else common_choices + _choices(largest, bits, _n_other_families(model))
    levels = largest.level * math.prod(1 + count for count in largest.questions.values())
    numeric = len(trees) == len(sizes) and not largest.questions
    return Prices(
        whole_set=whole_set,
        set_choices=choices,
        mean=_mean(ensemble, kappas),
        n_families=(levels if trees else 0) + len(other_kappas) or 1,
        family_choices=choices,
        by_size=_by_size(ensemble, trees, setting, leaf_kind) if trees and numeric else None,
        size_choices=common_choices,
        single_family=single_family,
        from_sample=bool(largest.questions),
        description=_description(largest if trees else None, Counter(other.name for other in other_kappas)),
    )


def check_sets_fixed(model: Any, ensemble: Ensemble) -> None:
    """Raise an error if the training rows determined a function set and no bound accounts for it (gamma="scale")."""
    families = _families(model)
    for kind, indices in by_kind(ensemble.hypotheses).items():
        kind.check_fixed([ensemble.hypotheses[index] for index in indices], families, ensemble.categories)


def _families(model: Any) -> list[Any]:  # names as instances with defaults; [None] without the parameter
    given = getattr(model, "family", None)
    listed = given if isinstance(given, list | tuple) else [given]
    return [FAMILIES[family]() if isinstance(family, str) and family in FAMILIES else family for family in listed]


def _n_other_families(model: Any) -> int:
    """Number of families that the model could use besides families of trees."""
    return sum(isinstance(family, Family) and not family.of_trees for family in _families(model))


def _is_single_family(model: Any, ensemble: Ensemble) -> bool:
    """True if the only family is one set of functions that was fixed in advance: stumps, or one kernel."""
    # For deeper trees or `Candidates` the largest size is a choice of the sample: trees may be smaller than allowed,
    # and candidates may have been made from these rows.
    families = _families(model)
    is_one_set = len(families) == 1 and getattr(families[0], "one_set", False)
    return bool(is_one_set) and ensemble.n_families == 1 and not ensemble.categories


def _plain_tree(hypothesis: object) -> Tree | None:
    """The hypothesis if it is a tree, otherwise None, also for a tree that is weighted by the source of a row."""
    tree = kind_of(hypothesis).tree(hypothesis)
    return tree if tree is hypothesis else None


def _size(tree: Tree, *, has_missing: bool) -> _Size:
    inner = np.flatnonzero(tree.feature >= 0)
    if not _is_pair(tree, inner, has_missing=has_missing):
        return _size_of_tree(tree)
    asking = [node for node in tree.category_nodes.tolist() if node <= tree.left[0]]  # root, first child
    return _Size(2, True, Counter(tree.feature[asking].tolist()))


def _size_of_tree(tree: Tree) -> _Size:
    # A constant counts as a stump with equal leaves.
    n = max(int(np.count_nonzero(tree.feature >= 0)), 1)
    return _Size(n, False, Counter(tree.feature[tree.category_nodes].tolist()))


def _is_pair(tree: Tree, inner: Any, *, has_missing: bool) -> bool:
    """True for a stump pair: both children of the root have the same split. `inner`: indices of nodes with a split."""
    if len(inner) != 3 or tree.left[0] not in inner or tree.left[0] + 1 not in inner:
        return False
    first, second = int(tree.left[0]), int(tree.left[0]) + 1
    compared = (tree.feature, tree.threshold, *((tree.missing_left,) if has_missing else ()))
    same = all(bool(array[first] == array[second]) for array in compared)
    return same and tree.categories_left(first) == tree.categories_left(second)


def _largest(sizes: Sequence[_Size]) -> _Size:
    """Size of the smallest set that contains all of these trees; beside deeper trees a stump pair has 3 splits."""
    questions: Counter[int] = Counter()
    for size in sizes:
        for column, count in size.questions.items():
            questions[column] = max(questions[column], count)
    levels = [size.level for size in sizes]
    if max(levels, default=1) <= PAIR_LEVEL:
        pair = PAIR_LEVEL in levels
        return _Size(2 if pair else 1, pair, questions)
    n = max(3 if size.pair else size.n for size in sizes)
    n_questions = {column: 2 * count if any(s.pair for s in sizes) else count for column, count in questions.items()}
    return _Size(n, False, n_questions)


def _by_size(ensemble: Ensemble, trees: Sequence[_Size], setting: _Setting, leaf_kind: str) -> float:
    """Mean of s_i over the trees plus the remainder 1 / (m s_1), (7h); with more classes (2 nu)^2 / (m s_1), (11h)."""

    def price(size: _Size) -> float:
        return _tree_price(size, setting, leaf_kind, math.log(size.level * (size.level + 1)))

    numerator = 1.0 if setting.n_classes == 2 else max(4.0, float(setting.n_classes))  # >= (2 nu)^2, nu: norm of a leaf
    remainder = numerator / (setting.m * price(_Size(1, False, {})))
    return _mean(ensemble, np.array([price(size) for size in trees])) + remainder


def _tree_price(size: _Size, setting: _Setting, leaf_kind: str, log_inverse_weight: float = 0.0) -> float:
    """kappa of trees of this size, (7g) and (11e) to (11g); `log_inverse_weight`: log(1 / w_i) of (7h), else 0."""
    bits = _most_bits(size, setting.bits)
    m, d, c = setting.m, setting.d, setting.n_classes

    def price(log_n_values: float, row_norm: float) -> float:  # log A for A leaf values of this norm
        if size.pair:
            return massart(log_inverse_weight + log_pair_labelings(m, d, log_n_values, bits), m, row_norm)
        return massart(log_inverse_weight + log_labelings(size.n, m, d, log_n_values, bits), m, row_norm)

    if setting.n_classes == 2:
        return price(LOG_2, 1.0)
    votes = 2.0 * price(math.log(c), math.sqrt(1.0 - 1.0 / c))
    if leaf_kind == "votes":
        return votes
    if leaf_kind == "rated":
        return min(votes, 2.0 * price(math.log(c * (c - 1) + 1), math.sqrt(0.5))) + c * LEAF_SPACING
    return 2.0 * price(c * LOG_2, 0.5 * math.sqrt(c))


def _most_bits(size: _Size, bits: Mapping[int, int]) -> int:
    """Upper bound on the bits of the categorical questions in a tree of this size."""
    of_questions = [bits.get(column, 0) for column, count in size.questions.items() for _ in range(count)]
    return sum(sorted(of_questions, reverse=True)[: size.n])


def _leaf_kind(trees: Sequence[Tree], n_classes: int) -> str:
    """Kind of leaves: "votes" (or abstentions), "rated" (sum 0, positive sum at most 1), "numbers" in [-1, 1]."""
    vectors = [tree.vectors for tree in trees if tree.vectors is not None]
    if not vectors:
        return "votes"
    leaves = np.concatenate(vectors)
    tolerance = n_classes * LEAF_SPACING
    rated = np.abs(leaves).sum(axis=1).max() <= 2.0 + tolerance and np.abs(leaves.sum(axis=1)).max() <= tolerance
    return "rated" if rated else "numbers"


def _choices(largest: _Size, bits: Mapping[int, int], n_other_families: int) -> float:
    """log(1 / fraction of delta), (7c), for level, numbers of questions per column, and families in the model."""
    # Fractions: 1 / (i (i + 1)) for level i, 1 / ((k + 1) (k + 2)) for k questions about a column, 1 / 2 for a family.
    level = largest.level
    counts = [largest.questions.get(column, 0) + 1 for column in bits]
    members = (n_other_families + 1) * LOG_2 if n_other_families else 0.0
    return math.log(level * (level + 1)) + sum(math.log(count * (count + 1)) for count in counts) + members


def _prices_from_stored(ensemble: Ensemble, setting: _Setting, *, has_missing: bool) -> Prices:
    """Prices from the stored r_j, if a hypothesis has no known function set; with p > 1 those of trees are >= (7g)."""
    p = ensemble.n_families
    kappas = _stored_kappas(ensemble, setting)
    trees = {index: tree for index, tree in enumerate(map(_plain_tree, ensemble.hypotheses)) if tree is not None}
    leaf_kind = _leaf_kind(list(trees.values()), setting.n_classes)
    for index, tree in trees.items() if p > 1 else ():
        kappas[index] = max(kappas[index], _tree_price(_size_of_tree(tree), setting, leaf_kind))
    from_sample = bool(trees) and (has_missing or any(len(tree.category_nodes) for tree in trees.values()))
    # The sample chose whether hypotheses of a user's families are in the model, for 1/2 of delta.
    # It may also have chosen p, for 1 / (p (p + 1)): p can count its categories, or sizes from trials.
    choices = LOG_2 + math.log(p * (p + 1)) if p > 1 else 0.0
    return Prices(
        whole_set=float(kappas.max(initial=0.0)) if p == 1 else None,
        set_choices=choices,
        mean=_mean(ensemble, kappas),
        n_families=p,
        family_choices=choices,
        by_size=None,
        size_choices=0.0,
        single_family=p == 1,
        from_sample=from_sample,
        description="the families of the model",
    )


def _stored_kappas(ensemble: Ensemble, setting: _Setting) -> FloatArray:
    """Stored r_j, converted to this sample size; shape (n_hypotheses,)."""
    # They hold for the training sample and any larger one. For m rows out of sample_size each r_j^2 of
    # section 6 grows at most by sample_size / m. Division by the spread scales hypotheses as margins are.
    sample_factor = math.sqrt(max(1.0, ensemble.sample_size / setting.m))
    class_factor = 1.0 if setting.n_classes == 2 else 2.0 * setting.n_classes  # kappa from that of x -> h(x, y)
    return ensemble.complexities * (class_factor * sample_factor / ensemble.spread)


def _mean(ensemble: Ensemble, kappas: FloatArray) -> float:
    alpha = np.abs(ensemble.weights)
    return float(alpha @ kappas / alpha.sum()) if alpha.any() else 0.0


def _description(largest: _Size | None, others: Mapping[str, int]) -> str:
    parts = []
    if largest is not None:
        splits = "one split" if largest.n <= 1 else f"at most {largest.n} splits"
        parts.append("stump pairs" if largest.pair else f"trees of {splits}")
    parts += [f"a {name}" if n == 1 else f"{n} {name}s" for name, n in others.items()]
    return " and ".join(parts) or "no hypothesis"
