"""Names in scikit-learn, LightGBM, XGBoost and CatBoost, and the names here."""

from __future__ import annotations

from collections.abc import Collection

# Ours, the first that there is where the name is given, and theirs.
NAMES_ELSEWHERE = {
    ("n_rounds",): "n_estimators num_boost_round num_iterations num_round num_trees iterations max_iter n_iter",
    ("learning_rate",): "eta shrinkage shrinkage_rate lr",
    ("complexity_penalty", "alpha"): "reg_lambda lambda_l2 l2_regularization l2_leaf_reg lambda gamma min_split_gain "
    "min_gain_to_split min_split_loss ccp_alpha",
    ("complexity_penalty", "alpha", "alphas"): "C Cs",
    ("l1_penalty", "alpha", "complexity_penalty"): "reg_alpha lambda_l1 l1_regularization",
    ("max_depth", "family", "max_leaves"): "depth max_tree_depth",
    ("max_leaves", "max_depth", "family"): "max_leaf_nodes num_leaves",
    ("min_leaf_weight",): "min_samples_leaf min_child_samples min_data_in_leaf min_child_weight "
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
    ("cost",): "costs cost_matrix",
    ("X_val",): "eval_set valid_sets validation_data X_valid X_test",
    ("y_val",): "y_valid y_test",
    ("sample_weight_val",): "eval_sample_weight sample_weight_eval_set",
    ("eval_metric",): "metric metrics custom_metric feval scoring",
    ("offset",): "init_score base_margin baseline exposure",
    ("offset_val",): "eval_init_score base_margin_eval_set",
    ("resume_from",): "init_model xgb_model",
    ("sample_weight",): "weight weights",
    ("family",): "base_estimator estimator",
}
# Losses: ours, where the estimator has it, and theirs, in any case.
LOSSES_ELSEWHERE = {
    "squared": "squared_error mean_squared_error l2 l2_root mse rmse root_mean_squared_error regression regression_l2 "
    "reg:squarederror reg:linear least_squares ls",
    "absolute": "absolute_error mean_absolute_error l1 mae regression_l1 reg:absoluteerror lad",
    "huber": "huber_loss",
    "quantile": "pinball pinball_loss quantile_loss reg:quantileerror",
    "poisson": "poisson_loss poisson_deviance count:poisson",
    "gamma": "gamma_loss gamma_deviance reg:gamma",
    "logistic": "log_loss logloss binary binary_logloss binary:logistic reg:logistic binary_crossentropy cross_entropy "
    "crossentropy xentropy deviance binomial_deviance multiclass multi_logloss softmax multi:softmax multi:softprob "
    "multinomial categorical_crossentropy",
    "exponential": "exp exponential_loss",
}
OTHER_LOSSES = {other: ours for ours, others in LOSSES_ELSEWHERE.items() for other in others.split()}
OTHER_NAMES = {other: ours for ours, others in NAMES_ELSEWHERE.items() for other in others.split()}
OF_FIT = ("sample_weight", "offset", "X_val", "y_val", "sample_weight_val", "offset_val", "eval_metric", "resume_from")
_FROM_OURS = {ours[0]: ours for ours in reversed(NAMES_ELSEWHERE)}  # of two lines the first


def ours_for(given: str) -> tuple[str, ...]:
    """Names that `given` may have here, itself first, the most likely next."""
    return given, *OTHER_NAMES.get(given, _FROM_OURS.get(given, ()))


def our_loss(given: str, known: Collection[str]) -> str:
    """A sentence on what a loss of another library is called here; empty where none of the known is meant."""
    ours = OTHER_LOSSES.get(given.lower(), given.lower())
    return f" It is called {ours!r} here." if ours in known else ""
