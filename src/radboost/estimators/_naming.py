"""Constructors of estimators, and advice on parameters that do not exist: the name here of another library's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, field
from difflib import get_close_matches
from functools import cache, wraps
from typing import Any, TypeVar, dataclass_transform

from radboost._names import ours_for

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
FOLDS_HOLD_BACK = "A search holds rows back by itself, as cv says, and reads the number of rounds off them."
# Arguments of predictions elsewhere: the method here, as it is called.
PREDICTIONS_ELSEWHERE = {
    "predict_contributions(X)": "pred_contrib pred_contribs approx_contribs",
    "predict_contributions(X, interactions=True)": "pred_interactions",
    "apply(X)": "pred_leaf",
    "decision_function(X)": "raw_score output_margin",
    "decision_function(X), for probabilities predict_proba(X)": "prediction_type",
    "staged": "num_iteration iteration_range ntree_limit ntree_start ntree_end tree_limit start_iteration "
    "best_iteration n_rounds",
}
OTHER_PREDICTIONS = {other: ours for ours, others in PREDICTIONS_ELSEWHERE.items() for other in others.split()}

# Methods whose arguments are checked, whichever class they come from; and the mark of those that are.
METHODS = (
    "__init__",
    "fit",
    "score",
    "predict",
    "predict_marginals",
    "decision_function",
    "losses",
    "explain",
    "alpha_max",
    "path",
)
CHECKED = "_checks_names"

Class = TypeVar("Class", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def with_constructor(estimator: Class) -> Class:
    """Class decorator: a constructor made of annotated attributes, those of the bases included, as in a dataclass.

    A value is the default of a parameter, which is given by name unless it is a `field(kw_only=False)`. A
    `field(init=False)` is no parameter: `fit` sets it, or the class does where it has a default.
    """
    # No dataclass: libraries compare those by their fields alone, and two models of one estimator differ in their fits.
    own: dict[str, Any] = {}
    for name, kind in inspect.get_annotations(estimator).items():
        given = estimator.__dict__.get(name, MISSING)
        if given is MISSING or (name.startswith("_") and not isinstance(given, Field)):
            continue
        declared: Field[Any] = given if isinstance(given, Field) else field(default=given)
        delattr(estimator, name)
        if declared.init:
            by_name = declared.kw_only is not False
            how = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
            own[name] = inspect.Parameter(name, how, default=declared.default, annotation=kind)
        else:
            own[name] = None
            if declared.default is not MISSING:
                setattr(estimator, name, declared.default)
    estimator._own_parameters = own  # type: ignore[attr-defined]
    everything: dict[str, Any] = {}
    for base in reversed(estimator.__mro__):
        everything |= base.__dict__.get("_own_parameters", {})
    parameters = sorted(filter(None, everything.values()), key=lambda one: one.kind)  # by position, then by name
    signature = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])
    by_position = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]

    def construct(self: Any, /, *arguments: Any, **named: Any) -> None:
        if len(arguments) > len(by_position):
            raise TypeError(
                f"{type(self).__name__} takes {' and '.join(by_position) or 'nothing'} without a name, and "
                f"{len(arguments)} values were given so: name the others, as in {parameters[-1].name}=..."
            )
        given = signature.bind(self, *arguments, **named)
        given.apply_defaults()
        vars(self).update({name: value for name, value in given.arguments.items() if name != "self"})

    construct.__name__, construct.__qualname__ = "__init__", f"{estimator.__qualname__}.__init__"
    setattr(construct, "__signature__", signature)  # noqa: B010
    setattr(estimator, "__init__", _checking_names(construct))  # noqa: B010
    return estimator


def check_methods(estimator: type[Any]) -> None:
    """Make the methods of a class refuse unknown names of arguments, those of scikit-learn among them."""
    for name in METHODS:
        method = getattr(estimator, name, None)
        if inspect.isfunction(method) and not hasattr(method, CHECKED):
            setattr(estimator, name, _checking_names(method))


def check_names(method: Callable[..., Any], model: object, named: Mapping[str, Any]) -> None:
    """Refuse arguments that a method does not have, with the name used here."""
    known = _names_taken(method) if named else None
    for given, value in named.items():
        if known is not None and given not in known:
            raise TypeError(advice_on_name(type(model), method.__name__, given, value))


def _checking_names(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def with_names_checked(self: Any, /, *arguments: Any, **named: Any) -> Any:
        check_names(method, self, named)
        return method(self, *arguments, **named)

    setattr(with_names_checked, CHECKED, True)
    return with_names_checked


@cache
def _names_taken(method: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a method; None if it passes **keywords on."""
    parameters = inspect.signature(method, follow_wrapped=False).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(one.name for one in parameters)[1:]


def parameters_of(estimator: type[Any]) -> list[str]:
    """Names of the constructor's parameters; where it passes **keywords on, those of the next base's too."""
    names: list[str] = []
    for constructor in (base.__dict__["__init__"] for base in estimator.__mro__ if "__init__" in base.__dict__):
        parameters = list(inspect.signature(constructor).parameters.values())[1:]
        names += [one.name for one in parameters if one.kind is not one.VAR_KEYWORD]
        if all(one.kind is not one.VAR_KEYWORD for one in parameters):
            break
    return names


def advice_on_name(estimator: type[Any], method: str, given: str, value: Any) -> str:
    """The message for a name that a method of an estimator does not have."""
    if method == "__init__":
        known = parameters_of(estimator)
        advice = _advice(estimator, given, value, known) or _listed("parameters", known)
        return f"{estimator.__name__} has no parameter {given!r}. {advice}"
    known = _arguments_of(estimator, method)
    if method == "fit":
        advice = _advice(estimator, given, value, known)
    else:
        advice = _advice_to_prediction(estimator, method, given, known)
    listed = _listed("arguments", known)
    if advice == FOLDS_HOLD_BACK:
        advice = f"{advice} {listed}"
    return f"{estimator.__name__}.{method} has no argument {given!r}. {advice or listed}"


def _arguments_of(estimator: type[Any], method: str) -> list[str]:
    return list(inspect.signature(getattr(estimator, method)).parameters)[1:]


def _listed(what: str, names: Collection[str]) -> str:
    return f"Its {what} are {', '.join(names)}."


def _advice(estimator: type[Any], given: str, value: Any, here: Collection[str]) -> str:
    """Sentence with the name used here; empty if there is none. `here`: names that `given` could have had."""
    constructor, options = parameters_of(estimator), estimator._tree_options_read
    own = [*constructor, *options, *_arguments_of(estimator, "fit")[2:]]  # without X and y
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
    if meant == "family" and "max_depth" in ours_for(given):
        return f"Its family has the size of the trees: {estimator._family_of_size}."
    if meant == "max_leaves" and "max_depth" in ours_for(given)[:2]:
        return "Its trees are bounded by the number of their leaves: max_leaves=... ."
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
        return FOLDS_HOLD_BACK
    known = (*parameters_of(tuned), *tuned._tree_options_read)
    if not any(name in known for name in candidates):
        return ""
    return f"Give it to the estimator, {search.__name__}({tuned.__name__}(...)). {_advice(tuned, given, value, ())}"


def _advice_on_inverse(estimator: type[Any], meant: str) -> str:
    """C of logistic regression multiplies the sum of the losses; alpha is the price beside their mean."""
    inverse = f"It is called {meant} here, and is large where C is small"
    if meant == "complexity_penalty" or "loss" not in parameters_of(estimator):  # of another kind
        return f"{inverse}."
    return f"{inverse}: alpha = 1 / (C * number of rows), with standardize=False."


def _advice_to_prediction(estimator: type[Any], method: str, given: str, known: Collection[str]) -> str:
    """Sentence with the name used here; empty if there is none. `known`: arguments of the method."""
    call = OTHER_PREDICTIONS.get(given, "")
    meant = call.partition("(")[0]
    if meant == "staged":
        staged = next((name for name in (f"staged_{method}", "staged_predict") if hasattr(estimator, name)), method)
        return f"Answers after each round are a method here: {staged}(X)." if staged != method else ""
    if meant and hasattr(estimator, meant):
        return f"It is a method here: {call}."
    if meant == "decision_function":
        return (
            "Its scores are what predict(X) gives; only with a loss whose predictions are exponentials of them "
            '("poisson", "gamma") they are numpy.log(predict(X)).'
        )
    named = next((name for name in ours_for(given) if name in known), None)
    return f"It is called {named} here." if named is not None else _advice(estimator, given, None, ())
