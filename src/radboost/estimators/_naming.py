"""Parameters that do not exist: what another library, or an earlier version, calls what has another name here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import wraps
from typing import Any, Self

from radboost.trees import with_tree_options

# Ours, the first that an estimator has, and what scikit-learn, LightGBM, XGBoost, CatBoost and earlier versions of
# RadBoost call it.
NAMES_ELSEWHERE = {
    ("n_rounds",): "n_estimators num_boost_round num_iterations num_round num_trees iterations max_iter n_iter "
    "max_rounds n_layers",
    ("learning_rate",): "eta shrinkage shrinkage_rate lr",
    ("complexity_penalty", "alpha"): "reg_lambda lambda_l2 l2_regularization l2_leaf_reg lambda gamma min_split_gain "
    "min_gain_to_split min_split_loss ccp_alpha C",
    ("l1_penalty", "alpha", "complexity_penalty"): "reg_alpha lambda_l1 l1_regularization",
    ("max_depth", "max_leaves", "family"): "depth max_tree_depth",
    ("max_leaves", "max_depth", "family"): "max_leaf_nodes num_leaves",
    ("min_leaf_weight",): "min_samples_leaf min_child_samples min_data_in_leaf min_child_weight min_leaf_pairs "
    "min_sum_hessian_in_leaf",
    ("max_bins",): "max_bin border_count",
    ("max_features",): "colsample_bytree colsample_bylevel colsample_bynode feature_fraction rsm",
    ("subsample", "samples_per_round"): "bagging_fraction row_subsample max_samples",
    ("monotonic_constraints",): "monotone_constraints monotonic_cst",
    ("interaction_constraints",): "interaction_cst feature_interaction_constraints",
    ("categorical_features",): "cat_features categorical_feature enable_categorical",
    ("class_weight",): "class_weights scale_pos_weight is_unbalance auto_class_weights",
    ("n_jobs",): "n_threads num_threads nthread thread_count",
    ("random_state",): "seed random_seed",
    ("verbose",): "verbosity silent logging_level",
    ("early_stopping", "X_val"): "early_stopping_rounds early_stopping_round n_iter_no_change od_wait patience "
    "validation_fraction",
    ("split_criterion",): "criterion score_function",
    ("thresholds",): "splitter extra_trees",
    ("growth",): "grow_policy",
    ("loss",): "objective loss_function application",
    ("X_val",): "eval_set valid_sets validation_data X_valid X_test",
    ("y_val",): "y_valid y_test",
    ("sample_weight_val",): "eval_sample_weight sample_weight_eval_set",
    ("eval_metric",): "metric metrics custom_metric feval scoring",
    ("offset",): "init_score base_margin baseline exposure",
    ("offset_val",): "eval_init_score base_margin_eval_set",
    ("resume_from",): "init_model xgb_model",
    ("sample_weight",): "weight weights",
    ("family",): "features families base_estimator estimator",
}
OTHER_NAMES = {other: ours for ours, others in NAMES_ELSEWHERE.items() for other in others.split()}
# Of these, the names that model files of earlier versions have.
EARLIER = ("max_rounds", "n_layers", "min_leaf_pairs", "features", "families")


class NamedParameters:
    """Constructors, `fit` and `set_params` that say what a parameter which they do not know is called here."""

    # The fields of TreeOptions that the estimator reads; none where it takes no TreeOptions.
    _tree_options_read: tuple[str, ...] = ()

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        for name, advice in (("__init__", _advice_to_constructor), ("fit", _advice_to_fit)):
            method = cls.__dict__.get(name)
            if method is not None:
                setattr(cls, name, _knowing_names(method, advice))

    def set_params(self, **parameters: Any) -> Self:
        """As in scikit-learn."""
        known = _names_of(type(self).__init__)
        for given in parameters:
            if given.partition("__")[0] not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {given!r}. {_advice(type(self), given)}")
        return super().set_params(**parameters)  # type: ignore[misc, no-any-return]

    @classmethod
    def _under_names_of_today(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters from the file of an earlier version; options of the trees find their way into TreeOptions."""
        known = _names_of(cls.__init__)
        kept: dict[str, Any] = {}
        for given, value in parameters.items():
            candidates = (given, *OTHER_NAMES[given]) if given in EARLIER else (given,)
            name = next((ours for ours in candidates if ours in (*known, *cls._tree_options_read)), given)
            kept[name] = 1.0 / 3.0 if name == "max_features" and isinstance(value, str) and value == "third" else value
        return with_tree_options(kept, set(cls._tree_options_read) - set(known))


def _names_of(method: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(method).parameters if name != "self"]


def _knowing_names(method: Any, advice: Callable[[type[Any], str], str]) -> Any:
    known = frozenset(_names_of(method))

    @wraps(method)
    def with_advice(self: Any, /, *arguments: Any, **named: Any) -> Any:
        for given in named:
            if given not in known:
                raise TypeError(advice(type(self), given))
        return method(self, *arguments, **named)

    return with_advice


def _advice_to_constructor(estimator: type[Any], given: str) -> str:
    return f"{estimator.__name__} has no parameter {given!r}. {_advice(estimator, given)}"


def _advice_to_fit(estimator: type[Any], given: str) -> str:
    return f"{estimator.__name__}.fit has no argument {given!r}. {_advice(estimator, given)}"


def _advice(estimator: type[Any], given: str) -> str:
    """Where to find what is meant; otherwise what there is."""
    constructor, fit = _names_of(estimator.__init__), _names_of(estimator.fit)
    own = [*constructor, *estimator._tree_options_read, *(name for name in fit if name not in ("X", "y"))]
    meant = next((name for name in (given, *OTHER_NAMES.get(given, ())) if name in own), None)
    if meant is None and "monotonic_constraints" in OTHER_NAMES.get(given, (given,)):
        return "Its models are not monotonic; DeepBoostClassifier, RGBClassifier and RGBRegressor can be."
    if meant is None:
        close = get_close_matches(given, own, n=1, cutoff=0.75)
        if not close:
            return f"Its parameters are {', '.join(constructor)}."
        meant = close[0]
    if meant in constructor:
        return (
            f"It is called {meant} here."
            if meant != given
            else f"It is a parameter: {estimator.__name__}({meant}=...)."
        )
    if meant in estimator._tree_options_read:
        return f"It is an option of the trees here: tree_options=TreeOptions({meant}=...)."
    pair = "X_val=..., y_val=..." if meant == "X_val" else f"{meant}=..."
    return f"It is an argument of fit here: fit(X, y, {pair})."
