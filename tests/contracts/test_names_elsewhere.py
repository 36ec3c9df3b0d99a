"""Names of other libraries, wherever they are given: constructors, `fit`, predictions, options of trees."""

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import radboost.baselines
import radboost.structured
from radboost import (
    AgnosticBoostClassifier,
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    RGBRegressorCV,
    SoftmaxBoostClassifier,
    SoftmaxBoostClassifierCV,
    SparseBoostClassifier,
    SparseBoostClassifierCV,
    SparseBoostRegressor,
    TreeOptions,
)
from radboost.estimators._estimator import Estimator
from radboost.estimators._naming import METHODS, OTHER_PREDICTIONS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"


@pytest.fixture(scope="module")
def deep() -> DeepBoostClassifier:
    return DeepBoostClassifier(3, calibration=None).fit(X, Y)


@pytest.fixture(scope="module")
def regressor() -> RGBRegressor:
    return RGBRegressor(3, loss="poisson").fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "given", "message"),
    [
        (DeepBoostClassifier, "nonsense", r"Its arguments are X, y, sample_weight, offset, .*, resume_from\.$"),
        (DeepBoostClassifierCV, "nonsense", r"Its arguments are X, y, sample_weight, groups\.$"),
        (
            DeepBoostClassifierCV,
            "X_val",
            r"holds rows back by itself.* Its arguments are X, y, sample_weight, groups\.$",
        ),
        (DeepBoostClassifierCV, "eval_set", "holds rows back by itself"),
        (DeepBoostClassifierCV, "group", r"fit\(X, y, groups=\.\.\.\)"),
        (DeepBoostClassifier, "cost", r"SoftmaxBoostClassifier\(cost=\.\.\.\)"),
        (RGBClassifier, "cost_matrix", r"SoftmaxBoostClassifier\(cost=\.\.\.\)"),
        (DeepBoostClassifierCV, "cost", r"SoftmaxBoostClassifier\(cost=\.\.\.\)"),
        (DeepBoostClassifier, "n_estimators", r"It is a parameter: DeepBoostClassifier\(n_rounds=\.\.\.\)\.$"),
        (SparseBoostClassifier, "nonsense", r"Its arguments are X, y, sample_weight\.$"),
    ],
)
def test_fit_lists_its_own_arguments(estimator: Any, given: str, message: str) -> None:
    with pytest.raises(TypeError, match=rf"^{estimator.__name__}\.fit has no argument '{given}'\. .*{message}"):
        estimator().fit(X, Y, **{given: 1})


C_IS_INVERSE = r"is called alphas? here, and is large where C is small"
FORMULA = re.escape(": alpha = 1 / (C * number of rows), with standardize=False.")


@pytest.mark.parametrize(
    ("estimator", "given", "value", "message"),
    [
        (
            DeepBoostClassifierCV,
            "n_estimators",
            1,
            r"DeepBoostClassifierCV\(DeepBoostClassifier\(\.\.\.\)\).*\(n_rounds=",
        ),
        (DeepBoostClassifierCV, "max_bin", 1, r"tree_options=TreeOptions\(max_bins="),
        (DeepBoostClassifierCV, "time_budgett", 1, "It is called time_budget here"),
        (RGBRegressorCV, "max_depth", 1, r"RGBRegressorCV\(RGBRegressor\(\.\.\.\)\).*TreeFamilies\(sizes="),
        (
            SoftmaxBoostClassifierCV,
            "cost",
            1,
            r"(SoftmaxBoostClassifierCV\(SoftmaxBoostClassifier\(\.\.\.\)\)|fit\(X, y, cost)",
        ),
        (DeepBoostClassifierCV, "early_stopping_rounds", 1, "holds rows back by itself"),
        # sizes of trees
        (RGBRegressor, "num_leaves", 3, r"family=TreeFamilies\(sizes=\.\.\.\), the numbers of splits\.$"),
        (AgnosticBoostClassifier, "depth", 3, r"family=TreeFamilies\(sizes=\.\.\.\), the numbers of splits\.$"),
        (SoftmaxBoostClassifier, "max_depth", 3, r"bounded by the number of their leaves: max_leaves=\.\.\. \.$"),
        (SoftmaxBoostClassifier, "num_leaves", 3, r"It is called max_leaves here\.$"),
        (DeepBoostClassifier, "num_leaves", 3, r"TreeOptions\(max_leaves=\.\.\.\)\.$"),
        (MultiSourceBoostClassifier, "max_depth", 3, r"family=Trees\(max_depth=\.\.\.\)\.$"),
        (SparseBoostClassifier, "max_depth", 3, r"family=radboost\.sparsity\.Trees\(max_depth=\.\.\.\)\.$"),
        # the inverse of alpha, with a formula where it is exact
        (SparseBoostClassifier, "C", 1, f"{C_IS_INVERSE}{FORMULA}$"),
        (SparseBoostClassifierCV, "C", 1, f"{C_IS_INVERSE}{FORMULA}$"),
        (SparseBoostRegressor, "C", 1, r"and is large where C is small\.$"),
        (DeepBoostClassifier, "C", 1, r"and is large where C is small\.$"),
        # parameters of losses, and those that are nowhere
        (RGBRegressor, "alpha", 0.8, r"loss=QuantileLoss\(0\.8\)"),
        (RGBRegressor, "quantile", 3, r"loss=QuantileLoss\(0\.9\)"),
        (RGBClassifier, "text_features", ["t"], r"Text is not read.*TfidfVectorizer"),
        (DeepBoostClassifierCV, "text_features", ["t"], r"Text is not read"),
    ],
)
def test_constructors_lead_to_our_names(estimator: Any, given: str, value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=rf"^{estimator.__name__} has no parameter '{given}'\. .*{message}"):
        estimator(**{given: value})


@pytest.mark.parametrize(
    ("estimator", "ours", "theirs"),
    [
        (RGBRegressor, "squared", "squared_error RMSE mse reg:squarederror regression_l2 l2"),
        (RGBRegressor, "absolute", "absolute_error MAE regression_l1"),
        (RGBRegressor, "poisson", "count:poisson Poisson"),
        (RGBRegressor, "quantile", "reg:quantileerror pinball"),
        (RGBRegressor, "gamma", "reg:gamma"),
        (RGBClassifier, "logistic", "log_loss Logloss binary:logistic multi:softprob deviance CrossEntropy"),
        (DeepBoostClassifier, "logistic", "log_loss"),
        (SparseBoostClassifier, "logistic", "log_loss"),
    ],
)
def test_names_of_losses(estimator: Any, ours: str, theirs: str) -> None:
    """The answer can be followed."""
    for name in theirs.split():
        with pytest.raises(ValueError, match=f"loss.*{name}") as told:
            estimator(loss=name)._read_parameters()
        assert f"It is called {ours!r} here." in str(told.value)
    estimator(loss=ours)._read_parameters()
    with pytest.raises(ValueError, match=r"loss.*tweedie") as told:
        estimator(loss="tweedie")._read_parameters()
    assert "is called" not in str(told.value)


def test_a_subclass_may_pass_keywords_on() -> None:
    class Mine(RGBClassifier):
        def __init__(self, *, extra: int = 1, **more: Any) -> None:
            self.extra = extra
            super().__init__(**more)

    model = clone(Mine(n_rounds=5, extra=3)).set_params(n_candidates=2)
    assert (model.n_rounds, model.extra, model.n_candidates) == (5, 3, 2)
    assert {"extra", "n_rounds", "tree_options"} <= set(model.get_params())
    assert model.fit(X, Y).score(X, Y) > 0.5
    with pytest.raises(TypeError, match=r"Mine has no parameter 'n_estimators'. It is called n_rounds here"):
        Mine(n_estimators=5)
    with pytest.raises(ValueError, match=r"Mine has no parameter 'eta'. It is called learning_rate here"):
        model.set_params(eta=0.1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pred_contrib", r"a method here: predict_contributions\(X\)\.$"),
        ("pred_interactions", r"predict_contributions\(X, interactions=True\)\.$"),
        ("pred_leaf", r"a method here: apply\(X\)\.$"),
        ("raw_score", r"a method here: decision_function\(X\)\.$"),
        ("output_margin", r"a method here: decision_function\(X\)\.$"),
        ("prediction_type", r"decision_function\(X\), for probabilities predict_proba\(X\)\.$"),
        ("num_iteration", r"staged_{method}\(X\)\.$"),
        ("iteration_range", r"staged_{method}\(X\)\.$"),
        ("ntree_limit", r"staged_{method}\(X\)\.$"),
        ("base_margin", r"It is called offset here\.$"),
        ("thread_count", r"It is a parameter: DeepBoostClassifier\(n_jobs=\.\.\.\)\.$"),
        ("nonsense", r"Its arguments are X, offset\.$"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_arguments_of_predictions(deep: DeepBoostClassifier, method: str, given: str, message: str) -> None:
    told = message.replace("{method}", method)
    with pytest.raises(TypeError, match=rf"^DeepBoostClassifier\.{method} has no argument '{given}'\. .*{told}"):
        getattr(deep, method)(X, **{given: True})


def test_predictions_of_others(deep: DeepBoostClassifier, regressor: RGBRegressor) -> None:
    with pytest.raises(TypeError, match=r"RGBRegressor\.predict .*only with a loss .*numpy\.log\(predict\(X\)\)"):
        regressor.predict(X, raw_score=True)  # type: ignore[call-arg]
    scores = regressor.ensemble_.decision_function(X)
    np.testing.assert_allclose(np.log(regressor.predict(X)), scores, rtol=1e-12)
    with pytest.raises(TypeError, match=r"SparseBoostClassifier\.predict has no .*Its arguments are X\.$"):
        SparseBoostClassifier().fit(X, Y).predict(X, num_iteration=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^DeepBoostClassifier\.score has no argument 'weights'.*called sample_weight"):
        deep.score(X, Y, weights=Y)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^DeepBoostClassifier\.staged_predict .*Its arguments are X, offset\.$"):
        deep.staged_predict(X, num_iteration=3)  # type: ignore[call-arg]
    np.testing.assert_array_equal(deep.predict(X=X, offset=None), deep.predict(X))


def test_scores_and_paths_of_all_know_their_names() -> None:
    """Those that scikit-learn brings along, too; a model need not be fitted for that."""
    modules = (radboost, radboost.baselines, radboost.structured)
    listed = {getattr(module, name) for module in modules for name in module.__all__}
    estimators = [kind for kind in listed if isinstance(kind, type) and issubclass(kind, Estimator)]
    assert len(estimators) > 20
    for kind in estimators:
        if hasattr(kind, "_tuned"):  # passes all on to what it has found
            continue
        for name in [name for name in METHODS[1:] if inspect.isfunction(getattr(kind, name, None))]:
            told = rf"^{kind.__name__}\.{name} has no argument 'nonsense'\. Its arguments are "
            with pytest.raises(TypeError, match=told):
                getattr(kind(), name)(X, nonsense=1)
    for kind in (SparseBoostClassifier, SparseBoostRegressor, radboost.baselines.SAMMEClassifier):
        with pytest.raises(TypeError, match=rf"{kind.__name__}\.score has no .*It is called sample_weight here"):
            kind().score(X, Y, weights=Y)  # type: ignore[call-arg]


def test_the_page_names_methods_that_the_errors_name() -> None:
    part = PAGE.read_text(encoding="utf-8").partition("\n### Arguments of predict\n")[2].partition("\n### ")[0]
    lines = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("| `")]
    assert len(lines) == 6
    for ours, *theirs in lines:
        for name in re.findall(r"`(\w+)`", " ".join(theirs)):
            meant = OTHER_PREDICTIONS.get(name, "predict").partition("(")[0]
            assert f"`{meant}" in ours, name


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("num_leaves", r'It is called max_leaves here: TreeOptions\(growth="best_first", max_leaves=\.\.\.\)\.'),
        ("max_bin", r"It is called max_bins here: TreeOptions\(max_bins=\.\.\.\)\."),
        ("max_binss", "It is called max_bins here"),
        ("max_depth", r"It is a parameter of the estimators here\."),
        ("n_estimators", r"It is a parameter of the estimators here, n_rounds\."),
        ("eval_set", r"It is an argument of fit here, X_val\."),
        ("nonsense", "Its options are max_features, .*interaction_constraints"),
    ],
)
def test_options_of_trees(given: str, message: str) -> None:
    with pytest.raises(TypeError, match=f"^TreeOptions has no option '{given}'. {message}"):
        TreeOptions(**{given: 31})
    with pytest.raises(TypeError, match="positional"):
        TreeOptions(31)  # type: ignore[misc]
