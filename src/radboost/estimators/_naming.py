"""Advice on parameters that do not exist: the name here of what another library calls so."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from functools import cache, wraps
from itertools import pairwise
from typing import Any, Self, TypeVar

from radboost._names import ours_for, size_of
from radboost.trees import TreeOptions

# How parameters of the parameter `tree_options` begin.
OPTION = "tree_options__"
# What only some estimators can do, for all the others.
ONLY_IN = {
    "monotonic_constraints": "Its models are not monotonic; DeepBoostClassifier, RGBClassifier and RGBRegressor "
    "can be.",
    "cost": "What wrong answers cost is learned by SoftmaxBoostClassifier: SoftmaxBoostClassifier(cost=...), or "
    "fit(X, y, cost=...) with the costs of single rows.",
}
# What no estimator has a parameter for.
NOWHERE = dict.fromkeys(
    ("text_features", "text_processing", "embedding_features"),
    "Text is not read: make columns of it first, for example with sklearn's TfidfVectorizer, for SparseBoostClassifier "
    "(docs/guide-text.md).",
)
# Parameters of losses, of which those elsewhere are the estimators'.
OF_LOSSES = ("alpha", "quantile", "quantile_alpha", "huber_slope", "delta")
FOLDS_JUDGE = "A search holds rows back by itself, as cv says, and reads the number of rounds off them."
# Arguments of predictions elsewhere: what they are here.
PREDICTIONS_ELSEWHERE = {
    "predict_contributions": "pred_contrib pred_contribs approx_contribs pred_interactions",
    "apply": "pred_leaf",
    "decision_function": "raw_score output_margin prediction_type",
    "staged": "num_iteration iteration_range ntree_limit ntree_start ntree_end tree_limit start_iteration "
    "best_iteration n_rounds",
}
OTHER_PREDICTIONS = {other: ours for ours, others in PREDICTIONS_ELSEWHERE.items() for other in others.split()}


# Methods that take arguments, wherever they come from; and the mark of those that refuse names which they do not have.
ANSWERS = ("score", "predict", "predict_marginals", "decision_function", "losses", "explain", "alpha_max", "path")
CHECKED = "_checks_names"
# Mark of constructors whose **keywords are parameters of the constructors of their bases.
PASSING = "_passes_keywords_to_bases"

Constructor = TypeVar("Constructor", bound=Callable[..., None])


def with_parameters_of_bases(constructor: Constructor) -> Constructor:
    """Decorator: the **keywords of a constructor are the parameters of its bases, and in its signature by name."""
    setattr(constructor, PASSING, True)
    return constructor


class NamedParameters:
    """Constructors, `fit`, `set_params` and predictions that refuse unknown names with the name used here."""

    # The fields of TreeOptions that the estimator reads; none where it takes no TreeOptions.
    _tree_options_read: tuple[str, ...] = ()
    # What a `family` with trees of some size is.
    _family_of_size: str = "family=Trees(max_depth={depth})"
    # Parameters of bases that keep their default here, and are no parameters.
    _fixed_parameters: tuple[str, ...] = ()

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        for name, advice in (("__init__", _advice_to_constructor), ("fit", _advice_to_fit)):
            method: Any = getattr(cls, name, None)
            if hasattr(method, PASSING):
                setattr(cls, name, _knowing_names(inspect.unwrap(method), advice, _full_signature(cls)))
            elif name in cls.__dict__ and not _passes_on(method):  # of a subclass of the user's own
                setattr(cls, name, _knowing_names(method, advice, inspect.signature(method)))
        for name in ANSWERS:
            method = getattr(cls, name, None)  # that of scikit-learn among them
            if inspect.isfunction(method) and not hasattr(method, CHECKED):
                setattr(cls, name, _answering_to_names(method))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Names of parameters, for scikit-learn's `get_params` and `clone`."""
        return sorted(_parameters_of(cls))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters as in scikit-learn; options of trees have names such as "tree_options__max_bins"."""
        found: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        options = found.get("tree_options")
        if deep and isinstance(options, TreeOptions):
            found |= {f"{OPTION}{field.name}": getattr(options, field.name) for field in fields(options)}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters as in scikit-learn; "tree_options__max_bins" replaces one option of the trees."""
        known = _parameters_of(type(self))
        for given, value in parameters.items():
            if given.partition("__")[0] not in known:
                raise ValueError(_advice_to_constructor(type(self), given, value))
        options = {given.removeprefix(OPTION): value for given, value in parameters.items() if given.startswith(OPTION)}
        if options:
            parameters = {given: value for given, value in parameters.items() if not given.startswith(OPTION)}
            before = parameters.get("tree_options", self.tree_options)  # type: ignore[attr-defined]
            if before is not None and not isinstance(before, TreeOptions):
                raise TypeError(f"tree_options must be a radboost.TreeOptions or None; got {before!r}.")
            try:  # other options, not others in the same place: further estimators may have these
                parameters["tree_options"] = replace(before or TreeOptions(), **options)
            except TypeError as error:  # of a name that is none
                raise ValueError(str(error)) from None
        return super().set_params(**parameters)  # type: ignore[misc, no-any-return]


def check_prediction_names(method: Callable[..., Any], model: object, named: Mapping[str, Any]) -> None:
    """Refuses arguments that a method of a fitted model does not have, with what there is in their place."""
    known = _names_taken(method)
    for given in named:
        if known is not None and given not in known:
            kind = type(model)
            raise TypeError(
                f"{kind.__name__}.{method.__name__} has no argument {given!r}. "
                f"{_advice_to_prediction(kind, method.__name__, given, known)}"
            )


def _answering_to_names(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def of_known_names(self: Any, /, *arguments: Any, **named: Any) -> Any:
        if named:
            check_prediction_names(method, self, named)
        return method(self, *arguments, **named)

    setattr(of_known_names, CHECKED, True)
    return of_known_names


def _names_of(method: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(method).parameters.values()
    return [one.name for one in parameters if one.name != "self" and one.kind is not one.VAR_KEYWORD]


def _passes_on(method: Callable[..., Any]) -> bool:
    """True if a method has **keywords."""
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(method).parameters.values())


def _full_signature(estimator: type[Any]) -> inspect.Signature:
    """The parameters of the constructor and, for its **keywords, those of the next base's, which are named alone."""
    constructors = [
        inspect.unwrap(kind.__dict__["__init__"]) for kind in estimator.__mro__ if "__init__" in kind.__dict__
    ]
    found = dict(inspect.signature(constructors[0]).parameters)
    for constructor, base in pairwise(constructors):
        if not _passes_on(constructor):
            break
        own = {name: one for name, one in found.items() if one.kind is not one.VAR_KEYWORD}
        more = inspect.signature(base).parameters.items()
        named = {name: one if one.kind is one.VAR_KEYWORD else one.replace(kind=one.KEYWORD_ONLY) for name, one in more}
        fixed = (*own, *estimator._fixed_parameters)
        found = own | {name: one for name, one in named.items() if name not in fixed}
    return inspect.Signature([one for one in found.values() if one.kind is not one.VAR_KEYWORD])


def _parameters_of(estimator: type[Any]) -> list[str]:
    """Names of the constructor's parameters, those that it passes on to its bases included."""
    return [name for name in _full_signature(estimator).parameters if name != "self"]


@cache
def _names_taken(method: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a method; None if it has **keywords."""
    parameters = inspect.signature(method, follow_wrapped=False).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(one.name for one in parameters)[1:]


def _knowing_names(method: Any, advice: Callable[[type[Any], str, Any], str], signature: inspect.Signature) -> Any:
    """The method with this signature; names that it lacks are refused with advice."""

    @wraps(method)
    def with_advice(self: Any, /, *arguments: Any, **named: Any) -> Any:
        for given, value in named.items():
            if given not in signature.parameters:
                raise TypeError(advice(type(self), given, value))
        return method(self, *arguments, **named)

    setattr(with_advice, "__signature__", signature)  # noqa: B010
    return with_advice


def _advice_to_constructor(estimator: type[Any], given: str, value: Any) -> str:
    constructor = _parameters_of(estimator)
    found = _advice(estimator, given, value, constructor)
    return f"{estimator.__name__} has no parameter {given!r}. {found or _listed('parameters', constructor)}"


def _advice_to_fit(estimator: type[Any], given: str, value: Any) -> str:
    arguments = _names_of(estimator.fit)
    found = _advice(estimator, given, value, arguments)
    if found == FOLDS_JUDGE:
        found = f"{found} {_listed('arguments', arguments)}"
    return f"{estimator.__name__}.fit has no argument {given!r}. {found or _listed('arguments', arguments)}"


def _listed(what: str, names: Collection[str]) -> str:
    return f"Its {what} are {', '.join(names)}."


def _advice(estimator: type[Any], given: str, value: Any, here: Collection[str]) -> str:
    """Sentence with the name used here; empty if there is none. `here`: names where `given` was looked for."""
    constructor, fit = _parameters_of(estimator), _names_of(estimator.fit)
    options = estimator._tree_options_read
    own = [*constructor, *options, *(name for name in fit if name not in ("X", "y"))]
    meant = next((name for name in ours_for(given) if name in own), None)
    if meant is None and given in NOWHERE:
        return NOWHERE[given]
    if meant is None and given in OF_LOSSES and estimator._regression and "loss" in constructor:
        level = value if isinstance(value, float) and 0.0 < value < 1.0 else 0.9
        return (
            f"It is one of the loss: loss=QuantileLoss({level:g}), or loss=HuberLoss(...) with a distance, both of "
            "radboost.losses."
        )
    if meant is None:
        of_search = _advice_to_search(estimator, given, value) if hasattr(estimator, "_tuned") else ""
        if of_search:
            return of_search
        only = next((text for name, text in ONLY_IN.items() if name in ours_for(given)), "")
        close = [] if only else get_close_matches(given, own, n=1, cutoff=0.75)
        if not close:
            return only
        meant = close[0]
    if given in ("C", "Cs"):
        return _advice_on_inverse(estimator, meant)
    size = size_of(given, value)
    if (
        size is not None
        and meant in ("family", "max_leaves")
        and (meant in options or meant not in ours_for(given)[:2])
    ):
        return _advice_on_size(estimator, meant, *size)
    if meant in constructor:
        called = meant != given and meant in here
        return f"It is called {meant} here." if called else f"It is a parameter: {estimator.__name__}({meant}=...)."
    if meant in options:
        return f"It is an option of the trees here: tree_options=TreeOptions({meant}=...)."
    pair = "X_val=..., y_val=..." if meant == "X_val" else f"{meant}=..."
    return f"It is an argument of fit here: fit(X, y, {pair})."


def _advice_to_search(search: type[Any], given: str, value: Any) -> str:
    """Sentence on a name that may be a parameter of the estimator of a search."""
    tuned, candidates = search._tuned, ours_for(given)
    if "X_val" in candidates or "early_stopping" in candidates:
        return FOLDS_JUDGE
    shared = (*_parameters_of(tuned), *tuned._tree_options_read)
    if not any(name in shared for name in candidates):
        return ""
    return f"Give it to the estimator, {search.__name__}({tuned.__name__}(...)). {_advice(tuned, given, value, ())}"


def _advice_on_inverse(estimator: type[Any], meant: str) -> str:
    """C of logistic regression multiplies the sum of the losses; alpha is the price beside their mean."""
    inverse = f"It is called {meant} here, and is large where C is small"
    if meant == "complexity_penalty" or "loss" not in _parameters_of(estimator):  # of another kind
        return f"{inverse}."
    return f"{inverse}: alpha = 1 / (C * number of rows), with standardize=False."


def _advice_on_size(estimator: type[Any], meant: str, told: str, leaves: int) -> str:
    if meant == "family":
        family = estimator._family_of_size.format(splits=leaves - 1, depth=(leaves - 1).bit_length())
        return f"Its family has the size of the trees; those of {told} have at most {leaves - 1} splits: {family}."
    if meant in estimator._tree_options_read:
        option = f'tree_options=TreeOptions(growth="best_first", max_leaves={leaves})'
        return f"It is an option of the trees here: {option}."
    return f"Its trees are bounded by their leaves; those of {told} have at most {leaves}: max_leaves={leaves}."


def _advice_to_prediction(estimator: type[Any], method: str, given: str, known: Collection[str]) -> str:
    meant = OTHER_PREDICTIONS.get(given)
    if meant == "staged":
        staged = next((name for name in (f"staged_{method}", "staged_predict") if hasattr(estimator, name)), method)
        if staged != method:
            return f"Answers after each round are a method here: {staged}(X)."
    elif meant == "decision_function" and not hasattr(estimator, meant):
        return (
            "Its scores are what predict(X) gives; only with a loss whose predictions are exponentials of them "
            '("poisson", "gamma") they are numpy.log(predict(X)).'
        )
    elif meant is not None and hasattr(estimator, meant):
        more = ", interactions=True" if given == "pred_interactions" else ""
        also = ", for probabilities predict_proba(X)" if given == "prediction_type" else ""
        return f"It is a method here: {meant}(X{more}){also}."
    else:
        named = next((name for name in ours_for(given) if name in known), None)
        found = f"It is called {named} here." if named is not None else _advice(estimator, given, None, ())
        if found:
            return found
    return _listed("arguments", known)
