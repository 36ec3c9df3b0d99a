"""Every check of scikit-learn, with no expected failure, over the settings that take different paths."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from radboost import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    MultiSourceBoostClassifier,
    MultiTaskSparseBoostClassifier,
    MultiTaskSparseBoostClassifierCV,
    RGBClassifier,
    RGBClassifierCV,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SoftmaxBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    SparseBoostRegressorCV,
    SupervisedKernelProjection,
    TreeOptions,
)
from radboost.baselines import AdaBoostMHClassifier, MartiBoostClassifier, SAMMEClassifier
from reference.data import smooth

ESTIMATORS = [
    DeepBoostClassifier(20),
    DeepBoostClassifier.paper(n_rounds=10),
    DeepBoostClassifier(5, family=["stumps", "kernel"], step="line_search"),
    DeepBoostClassifier(15, early_stopping=True),
    MultiSourceBoostClassifier(10),
    SoftmaxBoostClassifier(15, early_stopping=True, decision="minimum_cost"),
    RGBClassifier(10),
    RGBRegressor(10),
    AdaBoostMHClassifier(10),
    SAMMEClassifier(10),
    MartiBoostClassifier(11),
    AgnosticClassifier(n_rounds=60),
    AgnosticBoostClassifier(5),
    SparseBoostClassifier(),
    SparseBoostRegressor(),
    MultiTaskSparseBoostClassifier(),
    SparseBoostClassifierCV(n_alphas=5, cv=3),
    SparseBoostRegressorCV(n_alphas=5, cv=3),
    SupervisedKernelProjection(rank=2, n_starts=0),
    DeepBoostClassifierCV(DeepBoostClassifier(4, calibration=None), param_grid={"max_depth": [2]}, cv=2),
]
OTHERS = [
    DeepBoostClassifier(),
    DeepBoostClassifier(20, family="stump_pairs", loss="exponential", learning_rate=0.5),
    DeepBoostClassifier(10, tree_options=TreeOptions(growth="best_first", max_leaves=6, max_bins=16)),
    MultiSourceBoostClassifier.paper(5, step="decay"),
    SoftmaxBoostClassifier(30),
    SoftmaxBoostClassifier.paper(10, samples_per_round="all", step="projection"),
    RGBClassifier.paper(10, step="line_search", n_candidates=2),
    RGBClassifier(15, early_stopping=True, tree_options=TreeOptions(max_features="sqrt")),
    RGBRegressor(15, loss="absolute", early_stopping=True),
    AgnosticClassifier(("cross_entropy", "hinge"), n_rounds=200, batch_size=30),
    SparseBoostClassifier(penalty="l1/linf", update="gradboost", tol=1e-3),
    SparseBoostClassifier(family="stumps", features_per_round=4, totally_corrective=False, n_rounds=20),
    SparseBoostClassifier(family="kernel", n_rounds=8),
    SparseBoostClassifier(family="trees", n_rounds=5),
    SparseBoostRegressor(family="products", n_rounds=5),
    MultiTaskSparseBoostClassifierCV(n_alphas=5, cv=3),
    RGBClassifierCV(RGBClassifier(6), param_grid={"subsample": [0.5, 1.0]}, cv=2),
    RGBRegressorCV(RGBRegressor(12), param_grid={"subsample": [0.5, 1.0]}, cv=2),
    SoftmaxBoostClassifierCV(SoftmaxBoostClassifier(5), param_grid={"max_leaves": [4, 8]}, cv=2),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    """The check wants rows that weigh 1e-7 of the others to have no say; trees of pure leaves give them theirs."""
    baseline = isinstance(estimator, AdaBoostMHClassifier | SAMMEClassifier | MartiBoostClassifier)
    options = getattr(estimator, "tree_options", None) or TreeOptions()
    as_published = options.max_features is None or options.min_leaf_weight == 0.0
    pure_leaves = "class_weight" in estimator.get_params() and (baseline or as_published)
    return {"check_class_weight_classifiers": "pure leaves vote, whatever they weigh"} if pure_leaves else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=expected_failures)  # type: ignore[untyped-decorator]
def test_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", sorted({type(one) for one in ESTIMATORS + OTHERS}, key=lambda one: one.__name__))
def test_init_only_stores(estimator: Any) -> None:
    marks = {name: object() for name in inspect.signature(estimator).parameters}
    model = estimator(**marks)
    assert model.get_params(deep=False) == marks
    assert vars(model) == marks


def test_families_in_a_list_make_their_own_draws() -> None:
    X, y = smooth(6)
    one, two = (DeepBoostClassifier(10, family=family).fit(X, y) for family in ("trees", ["trees", "trees"]))
    assert not np.array_equal(one.decision_function(X), two.decision_function(X))
    assert two.history_["objective"][-1] != one.history_["objective"][-1]


def test_ancestors_are_few_and_none_only_groups_others() -> None:
    ours = [kind for kind in DeepBoostClassifier.__mro__[1:] if kind.__module__.startswith("radboost.")]
    assert len(ours) <= 8
    for kind in ours:
        own = [one for name, one in vars(kind).items() if not name.startswith("__")]
        assert any(inspect.isfunction(one) or isinstance(one, property | classmethod) for one in own), kind
