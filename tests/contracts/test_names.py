"""One name for one thing: the tables of docs/coming-from.md, and advice where a name is another library's."""

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import radboost
from radboost import (
    DeepBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    SparseBoostRegressor,
    TreeOptions,
    baselines,
)
from radboost._names import OTHER_NAMES
from radboost.tuning.search import Search

BASELINES = [baselines.AdaBoostMHClassifier, baselines.SAMMEClassifier, baselines.MartiBoostClassifier]
COLUMNS: dict[str, list[Any]] = {
    "DeepBoost": [DeepBoostClassifier],
    "several sources": [radboost.MultiSourceBoostClassifier],
    "soft-max": [SoftmaxBoostClassifier],
    "RGB": [RGBClassifier, RGBRegressor],
    "sparse": [SparseBoostClassifier, SparseBoostRegressor, MultiTaskSparseBoostClassifier],
    "several losses": [radboost.AgnosticClassifier],
    "on trees": [radboost.AgnosticBoostClassifier],
    "projection": [radboost.SupervisedKernelProjection],
    "baselines": BASELINES,
}
ESTIMATORS = [
    getattr(radboost, name) for name in radboost.__all__ if hasattr(getattr(radboost, name), "fit")
] + BASELINES
DOCUMENT = Path(__file__).parents[2] / "docs" / "coming-from.md"
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)
# What only some estimators have, because there is no such thing in the others.
ONLY_THERE = {
    "DeepBoost": {"objective"},
    "several sources": {"objective", "source_objective", "mu", "mixtures", "domain_classifier"},
    "soft-max": {"cost", "decision", "sampling"},
    "RGB": {"n_candidates"},
    "sparse": {
        "epsilon",
        "features_per_round",
        "fit_intercept",
        "standardize",
        "template",
        "tol",
        "totally_corrective",
    },
    "several losses": {
        "batch_size",
        "lipschitz_penalty",
        "losses",
        "mixtures",
        "norm_penalty",
        "normalize",
        "radius",
        "solver",
    },
    "on trees": {"losses", "mixtures", "mu", "n_candidates"},
    "projection": {"fit_intercept", "inverse_sum", "kernels", "ky_fan", "n_starts", "rank", "standardize"},
    "baselines": set(),
}


def parameters(estimator: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(estimator).parameters)


def tables() -> list[list[list[str]]]:
    found: list[list[list[str]]] = []
    for line in DOCUMENT.read_text(encoding="utf-8").partition("\n## All estimators\n")[2].splitlines():
        if not line.startswith("|"):
            found.append([])
        elif not line.startswith("|---"):
            found[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return [rows for rows in found if rows]


def names(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell)) - {"Lasso"}


def test_the_table_names_every_parameter() -> None:
    head, *rows = tables()[0]
    assert head[2:] == list(COLUMNS)
    told = set().union(*(names(row[1]) for row in rows))
    for column, estimators in COLUMNS.items():
        known = told | ONLY_THERE[column] | {"penalty", "update", "alpha"}
        for estimator in estimators:
            assert set(parameters(estimator)) <= known, (estimator, set(parameters(estimator)) - known)


@pytest.mark.parametrize("row", tables()[0][1:], ids=lambda row: row[0])
def test_the_table_is_true(row: list[str]) -> None:
    """A dash: nobody in the column has it; one value: the default of all of them."""
    for cell, estimators in zip(row[2:], COLUMNS.values(), strict=True):
        for estimator in estimators:
            has = names(row[1]) & set(parameters(estimator))
            if cell.startswith("-"):
                assert not has, (estimator, has)
            elif re.fullmatch(r'"\w+"|None|False|[\d.]+', cell):
                (name,) = has & {sorted(names(row[1]), key=row[1].index)[0]} or has
                assert parameters(estimator)[name].default == eval(cell), (estimator, name)


@pytest.mark.parametrize("row", tables()[1][1:], ids=lambda row: row[0])
def test_the_table_of_options_is_true(row: list[str]) -> None:
    for cell, column in zip(row[1:], ("DeepBoost", "soft-max", "RGB", "baselines"), strict=True):
        for estimator in COLUMNS[column]:
            assert (names(row[0]) <= set(estimator._tree_options_read)) == (not cell.startswith("-")), (
                estimator,
                row[0],
            )
    assert names(row[0]) <= set(inspect.signature(TreeOptions).parameters)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_few_parameters_and_all_but_the_first_by_name(estimator: Any) -> None:
    first, *others = parameters(estimator).values()
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    if issubclass(estimator, Search):  # estimator and grid, as in scikit-learn's searches
        second, *others = others
        assert (second.name, second.kind) == ("param_grid", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert all(other.kind is inspect.Parameter.KEYWORD_ONLY for other in others)
    assert len(others) <= 18
    if not issubclass(estimator, Search):
        with pytest.raises(TypeError, match=f"takes {first.name} without a name, and 2 values .* as in"):
            estimator(first.default, 1)
    fit = list(inspect.signature(estimator.fit).parameters.values())[1:]
    assert [one.name for one in fit[:3]] == ["X", "y", "sample_weight"]
    assert all(one.kind is inspect.Parameter.KEYWORD_ONLY for one in fit[3:])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
def test_what_is_public_is_meant_to_be(estimator: Any) -> None:
    scikit_learn = {"get_metadata_routing", "get_params", "set_params", "set_fit_request", "set_score_request"}
    # Of those whose predictions take an offset.
    scikit_learn |= {f"set_{method}_request" for method in ("decision_function", "predict", "predict_proba")}
    scikit_learn |= {"set_predict_log_proba_request", "set_callbacks"}
    answers = {"decision_function", "predict", "predict_log_proba", "predict_proba", "score"}
    staged = {"staged_decision_function", "staged_predict", "staged_predict_proba"}
    ours = {
        "alpha_max",
        "best_iteration_",
        "best_score_",
        "calibration_",
        "categories_",
        "feature_importances_",
        "fit",
        "get_support",
        "n_classes_",
    }
    ours |= {"explain", "feature_importance", "permutation_importance", "to_text"}
    ours |= {"paper", "path", "prune", "save", "apply", "predict_contributions"}
    ours |= {"from_dict", "report", "rows_for_export", "to_c", "to_dict", "to_onnx", "to_treelite"}
    if estimator is radboost.MultiSourceBoostClassifier:
        ours |= {"source_errors_", "agnostic_error_", "source_weight_", "source_probabilities"}
        ours |= {
            "calibration",
            "max_depth",
            "l1_penalty",
            "subsample",
            "warm_start",
        }  # of DeepBoost, and no choice here
    if estimator is radboost.AgnosticClassifier:
        ours |= {"losses_on"}
    if estimator is radboost.AgnosticBoostClassifier:
        ours |= {"agnostic_loss_", "loss_values_", "mixture_"}
        ours |= {"loss", "step"}  # of RGB, and no choice here
    if estimator is radboost.SupervisedKernelProjection:
        ours |= {"fit_transform", "transform", "set_output", "get_feature_names_out"}
    if issubclass(estimator, Search):  # of the best estimator
        ours |= {
            "chosen_",
            "classes_",
            "cost_",
            "decision_",
            "ensemble_",
            "feature_names_in_",
            "history_",
            "n_features_in_",
            "optimality_gap_",
        }
        ours |= {"n_iter_", "n_skipped_rounds_", "stop_reason_", "loss_", "objective_", "learning_rate_"}
    shared = {
        "alpha",
        "family",
        "features_per_round",
        "totally_corrective",
    }  # of the CV estimators, which have no choice there
    assert {name for name in dir(estimator) if name[0] != "_"} <= scikit_learn | answers | staged | ours | shared


def test_dir_shows_what_is_public() -> None:
    modules = {
        "baselines",
        "datasets",
        "explain",
        "export",
        "federated",
        "guarantees",
        "losses",
        "metrics",
        "plot",
        "report",
        "sparsity",
        "structured",
    }
    assert {name for name in dir(radboost) if name[0] != "_"} <= {*radboost.__all__, *modules}


@pytest.mark.parametrize("estimator", [one for one in ESTIMATORS if "class_weight" in parameters(one)])
@pytest.mark.parametrize("given", ["balanced", {0: 3, 1: 0.5}, {1: 2.0}])
def test_class_weight_equals_the_same_sample_weight(estimator: Any, given: Any) -> None:
    w = np.random.default_rng(1).integers(1, 4, 60).astype(float)
    if isinstance(given, str):
        totals = np.array([w[c == Y].sum() for c in (0, 1)])
        of_class = w.sum() / (2 * totals)
    else:
        of_class = np.array([given.get(c, 1.0) for c in (0, 1)])
    short = {"n_rounds": 20} if "n_rounds" in parameters(estimator) else {}
    by_class = estimator(class_weight=given, **short).fit(X, Y, w)
    by_row = estimator(**short).fit(X, Y, w * of_class[Y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("even", ValueError, "class_weight must be a dict.*'even'"),
        ({0: -1}, ValueError, "at least 0; got -1 for 0"),
        ({0: "much"}, TypeError, "numbers; got 'much' for the label 0"),
        ({7: 2.0}, ValueError, "a weight for 7, and the labels in y are 0, 1"),
    ],
)
def test_class_weights_that_are_none(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        DeepBoostClassifier(n_rounds=2, class_weight=given).fit(X, Y)


def test_validation_rows_of_soft_max_boosting_have_costs_of_their_own() -> None:
    cost = np.random.default_rng(2).random((60, 2))
    model = SoftmaxBoostClassifier(n_rounds=10)
    watched = model.fit(X, Y, cost=cost, X_val=X, y_val=Y, cost_val=cost)
    np.testing.assert_allclose(watched.history_["validation_loss"], watched.history_["objective"], rtol=1e-5)
    with pytest.raises(ValueError, match="cost and cost_val belong together"):
        model.fit(X, Y, cost=cost, X_val=X, y_val=Y)
    with pytest.raises(ValueError, match="cost_val was given without X_val"):
        model.fit(X, Y, cost=cost, cost_val=cost)
    weights = np.r_[0.0, np.ones(59)]
    part = model.fit(X, Y, cost=cost, X_val=X, y_val=Y, cost_val=cost, sample_weight_val=weights)
    again = model.fit(X, Y, cost=cost, X_val=X[1:], y_val=Y[1:], cost_val=cost[1:])
    assert part.history_ == again.history_
    plain = model.fit(X, Y, X_val=X, y_val=Y, sample_weight_val=weights).history_
    assert plain == model.fit(X, Y, X_val=X[1:], y_val=Y[1:]).history_
    for n in (59, 61):  # as many as are given, whatever some of them weigh
        with pytest.raises(ValueError, match=rf"cost_val has the shape \({n}, 2\); it must have the shape \(60, 2\)"):
            model.fit(X, Y, cost=cost, X_val=X, y_val=Y, cost_val=np.zeros((n, 2)), sample_weight_val=weights)


HEADINGS = {"Parameters of the constructor": "parameter", "Options of the trees": "option", "Arguments of fit": "fit"}
COMPARED: list[Any] = [DeepBoostClassifier, RGBClassifier, RGBRegressor, SoftmaxBoostClassifier]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def names_elsewhere() -> list[list[str]]:
    """The cells of each line: ours, what it is, and the names of LightGBM, XGBoost, CatBoost and scikit-learn."""
    text = DOCUMENT.read_text(encoding="utf-8").partition("\n## Names\n")[2].partition("\n## ")[0]
    found = []
    for heading, kind in HEADINGS.items():
        part = text.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
        for line in part.splitlines():
            if line.startswith("| `"):
                ours, *theirs = [cell.strip() for cell in line.strip("|").split("|")]
                found.append([ours, kind, *theirs])
    return found


def known(kind: str) -> set[str]:
    if kind == "option":
        return set(inspect.signature(TreeOptions).parameters)
    methods = [one if kind == "parameter" else one.fit for one in COMPARED]
    return {name for method in methods for name in inspect.signature(method).parameters}


def test_the_table_is_there() -> None:
    assert len(names_elsewhere()) >= 25
    assert len({cells[0] for cells in names_elsewhere()}) == len(names_elsewhere())
    assert {cells[1] for cells in names_elsewhere()} == set(HEADINGS.values())


def test_the_names_of_the_table_are_real_and_lead_to_ours() -> None:
    """A name of another library is ours as well, or one that an error translates into ours."""
    theirs = HistGradientBoostingClassifier
    of_scikit_learn = {*inspect.signature(theirs).parameters, *inspect.signature(theirs.fit).parameters}
    for cells in names_elsewhere():
        assert len(cells) == 6
        (ours,) = quoted(cells[0])
        assert ours in known(cells[1])
        for other in (name for cell in cells[2:] for name in quoted(cell)):
            assert other == ours or ours in OTHER_NAMES[other], other
        assert {*quoted(cells[5])} <= of_scikit_learn, ours


def test_what_few_parameters_are_left_out_is_on_purpose() -> None:
    """Parameters that the page does not name have no counterpart elsewhere."""
    shown = {quoted(cells[0])[0] for cells in names_elsewhere()}
    own = {"objective", "family", "step", "calibration", "tree_options"}
    assert set(inspect.signature(DeepBoostClassifier).parameters) - shown == own
