"""Options of trees (`TreeOptions`), common to all estimators of trees."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import wraps
from typing import Any, Self, TypeVar

from radboost._names import OF_FIT, ours_for
from radboost._validation import check_choice, check_integer, check_max_features, check_real
from radboost.model_file import storable_value

Options = TypeVar("Options", bound=type[Any])


def _knowing_names(kind: Options) -> Options:
    """Class decorator: the constructor names the option that an unknown name stands for."""
    construct, known = kind.__init__, [field.name for field in fields(kind)]

    @wraps(construct)
    def with_advice(self: Any, /, *arguments: Any, **named: Any) -> None:
        for given in named:
            if given not in known:
                raise TypeError(f"{kind.__name__} has no option {given!r}. {_advice(given, known)}")
        construct(self, *arguments, **named)

    kind.__init__ = with_advice
    return kind


def _advice(given: str, known: list[str]) -> str:
    """Advice for an unknown name: the option or parameter that it stands for, or all options."""
    _, *ours = ours_for(given)
    if ours and ours[0] not in known:
        called = "" if ours[0] == given else f", {ours[0]}"
        return f"It is {'an argument of fit' if ours[0] in OF_FIT else 'a parameter of the estimators'} here{called}."
    close = get_close_matches(given, known, n=1, cutoff=0.75)
    if not ours and not close:
        return f"Its options are {', '.join(known)}."
    meant = (*ours, *close)[0]
    more = 'growth="best_first", ' if meant == "max_leaves" else ""
    return f"It is called {meant} here: TreeOptions({more}{meant}=...)."


@storable_value
@_knowing_names
@dataclass(frozen=True, kw_only=True)
class TreeOptions:
    """Rarely changed options of trees, alike in all estimators of trees.

    The documentation of an estimator says what "auto" is there. Options that an estimator does not use are refused.

    Parameters
    ----------
    max_features : "auto", "sqrt", "log2", an integer, a number in (0, 1], or None
        Columns that a node tries: a number, a fraction, or all (None).
    thresholds : {"auto", "random", "best"}
        "best" searches the best threshold of each column, "random" draws one.
    split_criterion : {"auto", "gini", "edge"}
        What a split is chosen by: the Gini index, or the edge of the tree, as in the paper.
    leaves : {"auto", "votes", "rated"}
        Predictions of leaves: a class, as in the papers, or for each class a number in [-1, 1], its confidence.
    min_leaf_weight : float or "auto"
        The least sum of sample weights in a leaf.
    max_bins : int
        Bins per column, besides the one for missing values; 2 to 255.
    growth : {"layers", "best_first"}
        "layers" splits every leaf that has a useful split, one layer after the other, and each depth is a candidate
        (Cortes et al. (2014), section 4). "best_first" splits the leaf with the largest gain next, and each size is one
        (Kuznetsov et al. (2014), section 4).
    max_leaves : int or None
        Where "best_first" ends, besides `max_depth`.
    monotonic_constraints : list, dict or None
        -1, 0 or 1 for each column, or a dict from columns (names or indices) to these: whether predictions must fall,
        may do either, or must rise along it; with two classes it is the score of the second that does.
    interaction_constraints : list of lists, "pairwise", "no_interactions" or None
        Groups of columns (names or indices) that may be together on a path from the root of a tree to a leaf. Groups
        may overlap; columns in no group are one more. "pairwise" allows any two, "no_interactions" one.
    """

    max_features: str | int | float | None = "auto"
    thresholds: str = "auto"
    split_criterion: str = "auto"
    leaves: str = "auto"
    min_leaf_weight: float | str = "auto"
    max_bins: int = 255
    growth: str = "layers"
    max_leaves: int | None = None
    monotonic_constraints: Any = None
    interaction_constraints: Any = None

    def validate(self) -> None:
        if not _is_auto(self.max_features):
            check_max_features(self.max_features, 1)
        check_choice("thresholds", self.thresholds, ["auto", "random", "best"])
        check_choice("split_criterion", self.split_criterion, ["auto", "gini", "edge"])
        check_choice("leaves", self.leaves, ["auto", "votes", "rated"])
        if not _is_auto(self.min_leaf_weight):
            check_real("min_leaf_weight", self.min_leaf_weight, low=0.0)
        check_integer("max_bins", self.max_bins, 2, 255)
        check_choice("growth", self.growth, ["layers", "best_first"])
        if self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, 2)
            if self.growth == "layers":
                raise ValueError('max_leaves needs growth="best_first"; growth by layers ends at max_depth.')

    def filled(self, **automatic: Any) -> Self:
        """Options with these values instead of "auto"."""
        return replace(self, **{name: value for name, value in automatic.items() if _is_auto(getattr(self, name))})

    @property
    def least_leaf(self) -> float:
        """The least sum of weights in a leaf, as a number."""
        return 0.0 if isinstance(self.min_leaf_weight, str) else float(self.min_leaf_weight)


def with_tree_options(parameters: Mapping[str, Any], options: Collection[str] | None = None) -> dict[str, Any]:
    """Parameters of an estimator, with options of trees among them moved into its `tree_options`.

    `options`: names to move; None: all but `max_leaves`, which is a parameter of several estimators.
    """
    names = {field.name for field in fields(TreeOptions)} - {"max_leaves"} if options is None else set(options)
    moved = {name: value for name, value in parameters.items() if name in names}
    rest = {name: value for name, value in parameters.items() if name not in names}
    if moved:
        rest["tree_options"] = replace(rest.get("tree_options") or TreeOptions(), **moved)
    return rest


def read_tree_options(
    given: object, read: Collection[str], who: str, instead: dict[str, str] | None = None
) -> TreeOptions:
    """Checked parameter `tree_options` of an estimator that uses the options in `read`.

    `instead` has advice for some of the others.
    """
    if given is None:
        return TreeOptions()
    if not isinstance(given, TreeOptions):
        raise TypeError(f"tree_options must be a radboost.TreeOptions or None; got {given!r}.")
    given.validate()
    for field in fields(given):
        value = getattr(given, field.name)
        if field.name not in read and not _same(value, field.default):
            advice = (instead or {}).get(field.name, f"Leave it out; {who} reads {', '.join(read)}.")
            raise ValueError(f"{who} has no use for TreeOptions({field.name}={value!r}). {advice}")
    return given


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and bool(value == default))
