"""Rademacher complexities of fixed function sets that contain the hypotheses of a model, for the bounds.

Complexities are kappa of docs/theory.md (sections 7 and 8): with two classes the complexity of the functions x -> h(x).
With more it is twice that of the vectors of values, or, if that is unknown, 2 c times that of x -> h(x, y).
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

ROUNDING = 2.0**-20  # error of a leaf value, which is on a grid
PAIR_LEVEL = 2  # level of stump pairs; 1 is for one split, n + 1 for trees of n splits


@dataclass(frozen=True)
class Prices:
    """Complexities and choices that the three statements of section 7 charge."""

    one_class: float | None  # kappa of the smallest set that holds all hypotheses; None: no set is known
    class_choices: float  # log(1 / fraction of delta) of that set among all that it might have been
    mean: float  # mean kappa of the hypotheses by their weights
    n_families: int  # p: number of families
    family_choices: float  # log(1 / fraction of delta) of that list of families
    by_size: float | None  # mean of kappa by the size of each tree, for (7h); None: not applicable
    size_choices: float  # log(1 / fraction of delta) of what is chosen besides sizes
    alone: bool  # True: the estimator has only one family
    from_sample: bool  # True: complexities depend on the sample, as categories were counted in it
    about: str  # description of the set


@dataclass(frozen=True)
class _Setting:
    """Setting of the counts besides the trees."""

    m: float
    d: float
    n_classes: int
    bits: Mapping[int, int]  # of one question about a categorical column


@dataclass(frozen=True)
class _Size:
    """Size of a tree, or of the largest tree of a set."""

    n: int
    pair: bool
    asked: Mapping[int, int]  # categorical columns, and how many questions are about them

    @property
    def level(self) -> int:
        if self.pair:
            return PAIR_LEVEL
        return 1 if self.n <= 1 else self.n + 1


def prices(model: Any, ensemble: Ensemble, m: float, *, has_missing: bool) -> Prices:
    """Prices of the hypotheses of a model for samples of m rows."""
    n_classes = len(model.classes_)
    bits = {column: max(len(known) - 1, 0) for column, known in ensemble.categories.items()}
    setting = _Setting(m, ensemble.n_features * (2.0 if has_missing else 1.0), n_classes, bits)
    of_trees = [_plain_tree(one) for one in ensemble.hypotheses]
    sets = [kind_of(one).function_set(one) for one in ensemble.hypotheses]
    if any(tree is None and one is None for tree, one in zip(of_trees, sets, strict=True)):
        return _stored(ensemble, setting, has_missing=has_missing)
    sizes = [None if tree is None else _size(tree, has_missing=has_missing) for tree in of_trees]
    kind = _kind([tree for tree in of_trees if tree is not None], n_classes)
    others = {one: one.complexity(m, n_classes) for one in sets if one is not None}
    trees = [size for size in sizes if size is not None]
    largest = _largest(trees)
    one_class = (_tree_price(largest, setting, kind) if trees else 0.0) + math.fsum(others.values())
    alone = _is_alone(model, ensemble)
    each = np.array([0.0 if one is None else others[one] for one in sets])
    for index, size in enumerate(sizes):
        if size is not None:
            each[index] = _tree_price(size, setting, kind)
    # Chosen for all statements: whether values are missing, and what leaves hold.
    always = (LOG_2 + (math.log(3.0) if n_classes > 2 else 0.0)) if trees else 0.0
    choices = always if alone else always + _choices(largest, bits, _n_others(model))
    levels = largest.level * math.prod(1 + count for count in largest.asked.values())
    numeric = len(trees) == len(sizes) and not largest.asked
    return Prices(
        one_class=one_class,
        class_choices=choices,
        mean=_mean(ensemble, each),
        n_families=(levels if trees else 0) + len(others) or 1,
        family_choices=choices,
        by_size=_by_size(ensemble, trees, setting, kind) if trees and numeric else None,
        size_choices=always,
        alone=alone,
        from_sample=bool(largest.asked),
        about=_words(largest if trees else None, Counter(one.name for one in others)),
    )


def refuse_what_rows_chose(model: Any, ensemble: Ensemble) -> None:
    """Raise an error for function sets that depend on the sample in a way that no statement accounts for."""
    families = _families(model)
    for kind, indices in by_kind(ensemble.hypotheses).items():
        kind.check_fixed([ensemble.hypotheses[index] for index in indices], families, ensemble.categories)


def _families(model: Any) -> list[Any]:
    given = getattr(model, "family", None)
    listed = given if isinstance(given, list | tuple) else [given]
    return [FAMILIES[one]() if isinstance(one, str) and one in FAMILIES else one for one in listed]


def _n_others(model: Any) -> int:
    """Number of families that the model could use besides families of trees."""
    return sum(isinstance(one, Family) and not one.of_trees for one in _families(model))


def _is_alone(model: Any, ensemble: Ensemble) -> bool:
    """True if the estimator allows only stumps, or only one kernel."""
    # The trees of one family of another kind may be smaller than they were allowed to be, and those of `Candidates` may
    # have been made from these rows. There the size of the largest tree is a choice of the sample.
    families = _families(model)
    known = len(families) == 1 and getattr(families[0], "one_set", False)
    return bool(known) and ensemble.n_families == 1 and not ensemble.categories


def _plain_tree(hypothesis: object) -> Tree | None:
    """The tree that a hypothesis is, by itself and not weighted by the source of a row."""
    tree = kind_of(hypothesis).tree(hypothesis)
    return tree if tree is hypothesis else None


def _size(tree: Tree, *, has_missing: bool) -> _Size:
    inner = np.flatnonzero(tree.feature >= 0)
    if not _is_pair(tree, inner, has_missing=has_missing):
        return _size_of_tree(tree)
    asking = [node for node in tree.category_nodes.tolist() if node <= tree.left[0]]  # one question for both nodes
    return _Size(2, True, Counter(tree.feature[asking].tolist()))


def _size_of_tree(tree: Tree) -> _Size:
    # A constant is a tree whose split is irrelevant.
    n = max(int(np.count_nonzero(tree.feature >= 0)), 1)
    return _Size(n, False, Counter(tree.feature[tree.category_nodes].tolist()))


def _is_pair(tree: Tree, inner: Any, *, has_missing: bool) -> bool:
    """True if both nodes of the second level have the same split."""
    if len(inner) != 3 or tree.left[0] not in inner or tree.left[0] + 1 not in inner:
        return False
    first, second = int(tree.left[0]), int(tree.left[0]) + 1
    compared = (tree.feature, tree.threshold, *((tree.missing_left,) if has_missing else ()))
    same = all(bool(array[first] == array[second]) for array in compared)
    return same and tree.categories_left(first) == tree.categories_left(second)


def _largest(sizes: Sequence[_Size]) -> _Size:
    """Smallest size in the list whose set contains all of these trees. A stump pair is a tree of three splits too."""
    asked: Counter[int] = Counter()
    for size in sizes:
        for column, count in size.asked.items():
            asked[column] = max(asked[column], count)
    levels = [size.level for size in sizes]
    if max(levels, default=1) <= PAIR_LEVEL:
        pair = PAIR_LEVEL in levels
        return _Size(2 if pair else 1, pair, asked)
    n = max(3 if size.pair else size.n for size in sizes)
    twice = {column: 2 * count if any(s.pair for s in sizes) else count for column, count in asked.items()}
    return _Size(n, False, twice)


def _by_size(ensemble: Ensemble, trees: Sequence[_Size], setting: _Setting, kind: str) -> float:
    """Mean of s_i over the trees, plus the rest nu^2 / (m s_1), in terms of kappa. docs/theory.md, (7h)."""

    def price(size: _Size) -> float:
        return _tree_price(size, setting, kind, math.log(size.level * (size.level + 1)))

    steepness = 1.0 if setting.n_classes == 2 else max(4.0, float(setting.n_classes))  # no less than (2 nu)^2
    return _mean(ensemble, np.array([price(size) for size in trees])) + steepness / (
        setting.m * price(_Size(1, False, {}))
    )


def _tree_price(size: _Size, setting: _Setting, kind: str, words: float = 0.0) -> float:
    """kappa of the trees of this size, (7g) and (11e) to (11g); `words` is added to the logarithm of their number."""
    bits = _most_bits(size, setting.bits)
    m, d, c = setting.m, setting.d, setting.n_classes

    def price(log_n_values: float, row_norm: float) -> float:
        if size.pair:
            return massart(words + log_pair_labelings(m, d, log_n_values, bits), m, row_norm)
        return massart(words + log_labelings(size.n, m, d, log_n_values, bits), m, row_norm)

    if setting.n_classes == 2:
        return price(LOG_2, 1.0)
    votes = 2.0 * price(math.log(c), math.sqrt(1.0 - 1.0 / c))
    if kind == "votes":
        return votes
    if kind == "rated":
        return min(votes, 2.0 * price(math.log(c * (c - 1) + 1), math.sqrt(0.5))) + c * ROUNDING
    return 2.0 * price(c * LOG_2, 0.5 * math.sqrt(c))


def _most_bits(size: _Size, bits: Mapping[int, int]) -> int:
    """Largest cost in bits of the questions of a tree of that size."""
    dearest = sorted((bits.get(column, 0) for column, count in size.asked.items() for _ in range(count)), reverse=True)
    return sum(dearest[: size.n])


def _kind(trees: Sequence[Tree], n_classes: int) -> str:
    """Kind of leaves: "votes" (or abstentions), "rated" (positive ones sum to at most 1) or "numbers" in [-1, 1]."""
    vectors = [tree.vectors for tree in trees if tree.vectors is not None]
    if not vectors:
        return "votes"
    every = np.concatenate(vectors)
    slack = n_classes * ROUNDING
    rated = np.abs(every).sum(axis=1).max() <= 2.0 + slack and np.abs(every.sum(axis=1)).max() <= slack
    return "rated" if rated else "numbers"


def _choices(largest: _Size, bits: Mapping[int, int], n_others: int) -> float:
    """log(1 / fraction of delta) of a level, of numbers of questions, and of which families are in the model. (7c)."""
    # Level i has 1 / (i (i + 1)), k questions about a categorical column 1 / ((k + 1) (k + 2)), each family 1 / 2.
    level = largest.level
    counts = [largest.asked.get(column, 0) + 1 for column in bits]
    members = (n_others + 1) * LOG_2 if n_others else 0.0
    return math.log(level * (level + 1)) + sum(math.log(count * (count + 1)) for count in counts) + members


def _stored(ensemble: Ensemble, setting: _Setting, *, has_missing: bool) -> Prices:
    """Prices from the r_j that families gave their hypotheses; for trees at least the price by (7g)."""
    p = ensemble.n_families
    each = _stored_each(ensemble, setting)
    trees = {index: tree for index, one in enumerate(ensemble.hypotheses) if (tree := _plain_tree(one)) is not None}
    kind = _kind(list(trees.values()), setting.n_classes)
    for index, tree in trees.items() if p > 1 else ():
        each[index] = max(each[index], _tree_price(_size_of_tree(tree), setting, kind))
    counted = has_missing or any(len(tree.category_nodes) for tree in trees.values())
    # It was not known in advance whether hypotheses of its own families are in the model. Nor was p, where it counts
    # categories, or sizes that trials on the data chose.
    choices = LOG_2 + math.log(p * (p + 1)) if p > 1 else 0.0
    return Prices(
        one_class=float(each.max(initial=0.0)) if p == 1 else None,
        class_choices=choices,
        mean=_mean(ensemble, each),
        n_families=p,
        family_choices=choices,
        by_size=None,
        size_choices=0.0,
        alone=p == 1,
        from_sample=bool(trees) and counted,
        about="the families of the model",
    )


def _stored_each(ensemble: Ensemble, setting: _Setting) -> FloatArray:
    """Stored r_j, converted to this sample size; shape (n_hypotheses,)."""
    # They were computed for the training sample, and are upper bounds for a larger one. For a smaller one the square of
    # each of (7), (8), (9) and of the trace bound grows by at most the ratio of the sizes.
    smaller = math.sqrt(max(1.0, ensemble.sample_size / setting.m))
    times = 1.0 if setting.n_classes == 2 else 2.0 * setting.n_classes
    return ensemble.complexities * (times * smaller / ensemble.spread)


def _mean(ensemble: Ensemble, each: FloatArray) -> float:
    alpha = np.abs(ensemble.weights)
    return float(alpha @ each / alpha.sum()) if alpha.any() else 0.0


def _words(largest: _Size | None, others: Mapping[str, int]) -> str:
    parts = []
    if largest is not None:
        splits = "one split" if largest.n <= 1 else f"at most {largest.n} splits"
        parts.append("stump pairs" if largest.pair else f"trees of {splits}")
    parts += [f"a {name}" if n == 1 else f"{n} {name}s" for name, n in others.items()]
    return " and ".join(parts) or "no hypothesis"
