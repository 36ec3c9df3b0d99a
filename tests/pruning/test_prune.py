"""What `prune` promises: limits, tolerance, the same bits, files, refusals."""

import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mean_poisson_deviance

import radboost
from radboost import (
    DeepBoostClassifier,
    MultiSourceBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SoftmaxBoostClassifier,
    TreeOptions,
    baselines,
    guarantees,
)
from radboost.families.trees import Stumps
from radboost.model_file import model_bytes
from radboost.pruning import Outputs, Pruner, distinct_rows
from radboost.pruning import rows as rows_module
from radboost.pruning.rows import made_rows


def data(n_classes: int, n: int = 240, seed: int = 0):
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(n, 5)), 2)
    X[draw.random(X.shape) < 0.02] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) * np.nan_to_num(X[:, 2]) + 0.3 * draw.normal(size=n)
    if n_classes == 0:
        return X, signal
    if n_classes < 0:  # targets, of very different units
        return X, np.column_stack([signal, 4096.0 * np.nan_to_num(X[:, 3]), 1e-3 * signal**2])[:, :-n_classes]
    return X, np.array(["a", "b", "c", "d"])[np.digitize(signal, np.linspace(-0.5, 0.5, n_classes - 1))]


CASES = {
    "two classes": (lambda: DeepBoostClassifier(40, n_jobs=1, calibration=None), 2),
    "three classes": (lambda: DeepBoostClassifier(40, n_jobs=1, calibration=None), 3),
    "rated": (lambda: DeepBoostClassifier(30, n_jobs=1, tree_options=TreeOptions(leaves="rated")), 3),
    "compsum": (lambda: DeepBoostClassifier(20, objective="compsum", n_jobs=1, calibration=None), 3),
    "max": (lambda: DeepBoostClassifier(20, objective="max", n_jobs=1, calibration=None), 3),
    "maxsum": (lambda: DeepBoostClassifier(20, objective="maxsum", n_jobs=1, calibration=None), 3),
    "paper": (lambda: DeepBoostClassifier.paper(20, max_depth=2, n_jobs=1), 2),
    "RGB": (lambda: RGBClassifier(40, n_jobs=1, calibration=None), 2),
    "RGB, three classes": (lambda: RGBClassifier(30, n_jobs=1, calibration=None), 3),
    "squared": (lambda: RGBRegressor(40, n_jobs=1), 0),
    "absolute": (lambda: RGBRegressor(30, loss="absolute", n_jobs=1), 0),
    "two targets": (lambda: RGBRegressor(40, n_jobs=1), -2),
    "three targets": (lambda: RGBRegressor(30, loss="absolute", n_jobs=1), -3),
    "soft-max": (lambda: SoftmaxBoostClassifier(30, n_jobs=1, calibration=None), 3),
    "soft-max, two classes": (lambda: SoftmaxBoostClassifier(30, n_jobs=1, calibration=None), 2),
}


@pytest.fixture(autouse=True)
def few_made_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "FEWEST_MADE", 300)


@pytest.fixture(scope="module")
def fitted():
    """Each model once."""
    known = {}

    def get(name: str):
        if name not in known:
            make, n_classes = CASES[name]
            X, y = data(n_classes)
            known[name] = make().fit(X, y), X, y
        return known[name]

    return get


def essence(model):
    ensemble = model.ensemble_
    return ensemble.weights.tobytes(), [tree._content for tree in ensemble.hypotheses], model.size_curve_


@pytest.mark.parametrize("name", CASES)
def test_limits_are_kept_and_the_model_is_whole(name: str, fitted, tmp_path: Path) -> None:
    model, X, y = fitted(name)
    before = pickle.dumps(model.ensemble_.weights), model.history_
    pruned = model.prune(X, y, max_trees=6)
    assert type(pruned) is type(model)
    assert 1 <= len(pruned.ensemble_) <= 6
    assert before == (pickle.dumps(model.ensemble_.weights), model.history_)
    assert pruned.n_iter_ == 1
    assert "pruned" in pruned.stop_reason_
    assert len(list(pruned.staged_predict(X))) == 1
    pruned.save(tmp_path / "pruned.radb")
    loaded = radboost.load(tmp_path / "pruned.radb")
    assert np.array_equal(loaded.predict(X), pruned.predict(X))
    curve = pruned.size_curve_
    assert set(curve) == {"n_trees", "bytes", "loss", "error"}
    assert curve["n_trees"][-1] == len(model.ensemble_)
    size = (tmp_path / "pruned.radb").stat().st_size
    assert size == model_bytes(pruned)
    assert size == curve["bytes"][curve["n_trees"].index(len(pruned.ensemble_))]
    assert len(set(curve["n_trees"])) == len(curve["n_trees"])
    assert pruned.feature_importances_.sum() == pytest.approx(1.0)
    str(pruned.ensemble_)
    if hasattr(model, "classes_"):
        assert np.array_equal(pruned.classes_, model.classes_)
        assert np.allclose(pruned.predict_proba(X).sum(axis=1), 1.0)
    if name != "max":  # has no other reason to agree than its votes
        scores = [one.decision_function(X) if hasattr(one, "classes_") else one.predict(X) for one in (model, pruned)]
        among_classes = hasattr(model, "classes_") and scores[0].ndim == 2
        scores = [one - one.mean(axis=1, keepdims=True) if among_classes else one - one.mean(axis=0) for one in scores]
        along = None if among_classes else 0  # each target for itself
        assert np.all(np.sum((scores[1] - scores[0]) ** 2, axis=along) < 0.5 * np.sum(scores[0] ** 2, axis=along))


@pytest.mark.parametrize("name", ["two classes", "three classes", "squared", "two targets"])
def test_bytes_are_kept_and_used(name: str, fitted, tmp_path: Path) -> None:
    model, X, y = fitted(name)
    limit = model_bytes(model) // 4
    pruned = model.prune(X, y, max_bytes=limit)
    pruned.save(tmp_path / "pruned.radb")
    assert (tmp_path / "pruned.radb").stat().st_size <= limit
    # One size more would not fit.
    larger = [
        b
        for t, b in zip(pruned.size_curve_["n_trees"], pruned.size_curve_["bytes"], strict=True)
        if t > len(pruned.ensemble_)
    ]
    assert min(larger) > limit
    with pytest.raises(ValueError, match=r"max_bytes=10 .*smallest possible has [\d,]+ bytes") as raised:
        model.prune(X, y, max_bytes=10)
    smallest = int(str(raised.value).split("possible has ")[1].split(" ")[0].replace(",", ""))
    assert model_bytes(model.prune(X, y, max_bytes=smallest)) <= smallest


@pytest.mark.parametrize("name", ["two classes", "three classes", "squared", "two targets", "RGB"])
def test_tolerance_is_kept_on_the_held_back_rows(name: str, fitted) -> None:
    model, X, y = fitted(name)
    sizes = []
    for tolerance in (None, 0.0, 0.1, 10.0):
        pruned = model.prune(X, y, tolerance=tolerance)
        curve = pruned.size_curve_
        error = curve["error"][curve["n_trees"].index(len(pruned.ensemble_))]
        assert error <= (1.0 + (0.02 if tolerance is None else tolerance)) * curve["error"][-1]
        sizes.append(len(pruned.ensemble_))
    assert sizes[1] >= sizes[0] >= sizes[2] >= sizes[3]
    assert sizes[3] < len(model.ensemble_)


NAMES = ["two classes", "three classes", "RGB", "squared", "two targets", "three targets", "soft-max"]


@pytest.mark.parametrize("name", NAMES)
def test_order_copies_weights_threads_and_files_do_not_matter(name: str, fitted, tmp_path: Path) -> None:
    model, X, y = fitted(name)
    expected = essence(model.prune(X, y, max_trees=8))
    shuffled = np.random.default_rng(1).permutation(len(X))
    assert essence(model.prune(X[shuffled], y[shuffled], max_trees=8)) == expected
    more_threads = pickle.loads(pickle.dumps(model)).set_params(n_jobs=3)
    model.save(tmp_path / "whole.radb")
    for other in (more_threads, radboost.load(tmp_path / "whole.radb")):
        assert essence(other.prune(X, y, max_trees=8)) == expected
    weights = np.random.default_rng(2).integers(0, 4, len(X))
    copies = np.random.default_rng(3).permutation(np.repeat(np.arange(len(X)), weights))
    weighted = model.prune(X, y, max_trees=8, sample_weight=weights)
    assert essence(model.prune(X[copies], y[copies], max_trees=8)) == essence(weighted)
    assert essence(weighted) != expected


def test_the_error_of_several_targets_is_the_mean_of_theirs(fitted) -> None:
    model, X, y = fitted("two targets")
    rows = distinct_rows(X, y, None, 1_000)
    held_back = rows.hold_back()[1]
    curve = model.prune(X, y, max_trees=8).size_curve_
    away = (model.predict(held_back.X) - held_back.targets) / np.array([1.0, 4096.0])
    assert curve["error"][-1] == pytest.approx(0.5 * np.mean(away**2))


def eight_trees(model: RGBRegressor, rows: Any, X: np.ndarray) -> np.ndarray:
    """Predictions of eight of the trees of a model of two targets, chosen on these rows."""
    outputs = Outputs(2, model._units_to_prune(model.predict(rows.X), rows.weights))
    settings = {"signed": False, "refits_leaves": True, "n_threads": 1}
    pruner = Pruner(model.ensemble_, rows, model._how_to_prune().prices, outputs, **settings)
    return pruner.ensembles([8])[0].decision_function(X)


def test_targets_count_in_their_units_and_sizes_do_not_depend_on_them(fitted) -> None:
    """In another unit of a target the same trees are kept on the same rows, with the same numbers in that unit."""
    model, X, y = fitted("two targets")
    rows, changed = distinct_rows(X, y, None, 1_000), np.array([2.0**12, 2.0**-30])
    expected = eight_trees(model, rows, X)
    assert np.all(expected.std(axis=0) > 0.5 * y.std(axis=0))
    for targets in (0.0 * rows.targets, rows.targets + 1e9):
        np.testing.assert_array_equal(eight_trees(model, replace(rows, targets=targets), X), expected)
    other = RGBRegressor(40, n_jobs=1).fit(X, y * changed)
    again = eight_trees(other, replace(rows, targets=rows.targets * changed), X)
    np.testing.assert_array_equal(again / changed, expected)
    wrong = model.prune(X, 0.0 * y, max_trees=8).predict(X)  # other rows are held back, that is all
    assert np.all(np.mean((wrong - model.predict(X)) ** 2, axis=0) < 0.2 * model.predict(X).var(axis=0))


@pytest.mark.parametrize("options", [None, TreeOptions(monotonic_constraints=[1, 0, 0, 0, 0])])
@pytest.mark.parametrize("level", [0.0, 2.0**30])
def test_targets_may_be_far_from_zero(fitted, level: float, options: TreeOptions | None) -> None:
    """Neither the choice of the trees nor the precision of their leaves depends on where zero is."""
    _, X, y = fitted("squared")
    model = RGBRegressor(40, tree_options=options, n_jobs=1).fit(X, y + level)
    whole, pruned = model.predict(X) - level, model.prune(X, y + level, max_trees=8).predict(X) - level
    assert np.mean((whole - pruned) ** 2) < 0.1 * np.var(whole)
    assert abs(np.mean(whole - pruned)) < 0.1 * np.std(whole)


def test_monotonic_constraints_stay() -> None:
    X = np.round(np.random.default_rng(0).normal(size=(300, 3)), 2)
    level = X[:, 0] + np.sin(4.0 * X[:, 0]) - X[:, 1] + np.random.default_rng(1).normal(size=300)
    options = TreeOptions(monotonic_constraints={0: 1, 1: -1})
    settings = {"tree_options": options, "n_jobs": 1}
    classifier = DeepBoostClassifier(40, complexity_penalty=0.01, calibration=None, **settings).fit(X, level > 0.0)
    for model, y in ((classifier, level > 0.0), (RGBRegressor(40, **settings).fit(X, level), level)):
        score = "decision_function" if model is classifier else "predict"
        for size in (5, 10, 20):
            pruned = model.prune(X, y, max_trees=size)
            for column, way in ((0, 1.0), (1, -1.0)):
                rows = np.tile(X[0], (100, 1))
                rows[:, column] = np.linspace(-3.0, 3.0, 100)
                assert (way * np.diff(getattr(pruned, score)(rows))).min() >= -1e-12
            assert len(np.unique(getattr(pruned, score)(X))) > 5


def test_errors_may_be_negative() -> None:
    """Rounding makes of a loss of 0 slightly less, and a loss of one's own may be negative everywhere."""
    X, _ = data(0, 60)

    class Shifted:
        def value(self, targets, scores):
            return 0.5 * (scores - targets) ** 2 - 100.0

        def derivative(self, targets, scores):
            return scores - targets

    y = np.nan_to_num(X[:, 0])
    pruned = RGBRegressor(20, loss=Shifted(), n_jobs=1).fit(X, y).prune(X, y)
    assert pruned.size_curve_["error"][-1] < -99.0
    for value in (7.957, 3.1, 0.7, 12.3):
        same = np.full(len(X), value)
        assert len(RGBRegressor(3, loss="poisson", n_jobs=1).fit(X, same).prune(X, same).ensemble_) >= 1


def test_constant_targets_stay_what_they_are(fitted) -> None:
    _, X, y = fitted("squared")
    for value in (5.3, 1e-7, -3e9, 0.0):
        several = np.column_stack([y, np.full(len(y), value), y**2])
        pruned = RGBRegressor(10, n_jobs=1).fit(X, several).prune(X, several, max_trees=5)
        np.testing.assert_array_equal(pruned.predict(X)[:, 1], value)
        assert len(np.unique(pruned.predict(X)[:, 0])) > 5


@pytest.mark.parametrize("n_targets", [1, 2])
def test_offsets_count_where_models_are_judged(n_targets: int) -> None:
    X, signal = data(0)
    draw = np.random.default_rng(5)
    years = draw.uniform(0.1, 10.0, len(X))
    offset = np.log(years) if n_targets == 1 else np.log(np.column_stack([years, years[::-1]]))
    rates = np.exp(0.5 * signal if n_targets == 1 else 0.5 * np.column_stack([signal, -signal]))
    y = draw.poisson(rates * np.exp(offset))
    model = RGBRegressor(30, loss="poisson", n_jobs=1).fit(X, y, offset=offset)
    pruned = model.prune(X, y, tolerance=0.02, offset=offset)
    rows = distinct_rows(X, y, None, 1_000, offset)
    held_back = rows.hold_back()[1]

    def deviance(one: RGBRegressor) -> float:
        return mean_poisson_deviance(held_back.targets.ravel(), one.predict(held_back.X, held_back.offset).ravel())

    assert pruned.size_curve_["error"][-1] == pytest.approx(deviance(model) / 2)
    assert deviance(pruned) <= 1.02 * deviance(model)
    shuffled = draw.permutation(len(X))
    again = model.prune(X[shuffled], y[shuffled], tolerance=0.02, offset=offset[shuffled])
    assert essence(again) == essence(pruned)
    with pytest.raises(ValueError, match=r"offset must be .*got the shape \(3,\)"):
        model.prune(X, y, offset=[0.0, 1.0, 2.0])


def test_offsets_of_classes(fitted) -> None:
    model, X, y = fitted("two classes")
    all_b = model.prune(X, y, max_trees=8, offset=np.full(len(X), 900.0))
    rows = distinct_rows(X, (y == "b").astype(int), None, 1_000, np.full(len(X), 900.0))
    wrong = np.mean(rows.hold_back()[1].targets == 0)
    assert all_b.size_curve_["error"] == pytest.approx([wrong] * len(all_b.size_curve_["error"]))


def test_targets_that_the_model_has_not_learned(fitted) -> None:
    model, X, y = fitted("two targets")
    with pytest.raises(ValueError, match="y has 1 column, and the model has learned 2 targets: give a column for each"):
        model.prune(X, y[:, 0])
    alone, _, _ = fitted("squared")
    with pytest.raises(ValueError, match="y has 2 columns, and the model has learned 1 target: give"):
        alone.prune(X, y)


@pytest.mark.parametrize("name", ["two classes", "three classes"])
def test_the_bound_holds_for_pruned_models(name: str, fitted) -> None:
    """Theorem 1 is about every weighted mean of the hypotheses; pruned ones have the same sets of them."""
    model, _, _ = fitted(name)
    X, y = data(2 if name == "two classes" else 3)
    pruned = model.prune(X, y, max_trees=6)
    bound = guarantees.bound(pruned, X, y)
    assert bound.total > np.mean(pruned.predict(X) != y)
    assert (np.abs(guarantees.margins(pruned, X, y)) <= 1.0 + 1e-12).all()


def test_hypotheses_that_are_no_trees_get_other_weights_only() -> None:
    X, y = data(2)
    X = np.nan_to_num(X)
    model = DeepBoostClassifier(30, family="kernel", learning_rate=1.0, n_jobs=1, calibration=None).fit(X, y)
    pruned = model.prune(X, y, max_trees=5)
    assert 1 <= len(pruned.ensemble_) <= 5
    assert set(pruned.ensemble_.hypotheses) <= set(model.ensemble_.hypotheses)


def test_categories_and_names() -> None:
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(5)
    colours = draw.choice(["red", "green", "blue"], 200)
    frame = pandas.DataFrame({"colour": pandas.Categorical(colours), "size": draw.normal(size=200)})
    y = (colours == "red") ^ (frame["size"] > 0)
    model = DeepBoostClassifier(30, n_jobs=1, calibration=None).fit(frame, y)
    pruned = model.prune(frame, y, max_trees=5)
    assert pruned.score(frame, y) > 0.9
    assert list(pruned.feature_names_in_) == ["colour", "size"]
    assert pruned.categories_ == model.categories_


def test_wide_sparse_rows_are_not_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model asks about a few of the columns: no more of the rows, and of those made of them, is needed."""
    monkeypatch.setattr(rows_module, "FEWEST_MADE", 3_000)
    draws = np.random.default_rng(4)
    n_rows, n_features = 200, 12_000
    X = sparse.random(n_rows, n_features, density=1e-3, random_state=5, format="lil")
    y = draws.integers(3, size=n_rows)
    for column in range(3):
        X[:, 4_000 * column] = (y == column) + draws.random(n_rows)
    model = RGBClassifier(5, n_jobs=1).fit(X.tocsr(), y)
    tracemalloc.start()
    pruned = model.prune(X.tocsr(), y, max_trees=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000 * n_features * 8 / 4  # of the 3,000 made rows
    assert pruned.ensemble_.n_features == n_features
    asked = {column for tree in pruned.ensemble_.hypotheses for column in tree.columns}
    assert asked & {0, 4_000, 8_000}
    dense = model.prune(X.toarray(), y, max_trees=4)
    np.testing.assert_array_equal(dense.decision_function(X.tocsr()), pruned.decision_function(X.tocsr()))
    assert dense.size_curve_ == pruned.size_curve_


def test_made_rows_do_not_depend_on_columns_that_nobody_asks_about(monkeypatch: pytest.MonkeyPatch) -> None:
    X, columns = np.random.default_rng(0).normal(size=(50, 9)), np.array([1, 4, 5])
    whole = made_rows(distinct_rows(X, np.zeros(50), None, most=50), 300)
    few = distinct_rows(X, np.zeros(50), None, most=50, columns=columns)
    np.testing.assert_array_equal(made_rows(few, 300), whole[:, columns])
    monkeypatch.setattr("radboost.pruning.rows.BLOCK_CELLS", 20)
    np.testing.assert_array_equal(made_rows(few, 300), whole[:, columns])


def test_a_pruned_model_can_be_pruned_again_and_not_continued(fitted) -> None:
    model, X, y = fitted("two classes")
    pruned = model.prune(X, y, max_trees=10)
    assert len(pruned.prune(X, y, max_trees=3).ensemble_) <= 3
    with pytest.raises(ValueError, match="this model was pruned"):
        pruned.set_params(warm_start=True, n_rounds=60).fit(X, y)


def test_one_tree_stays_one_tree_and_a_calibration_what_it_is() -> None:
    X, y = data(2)
    model = DeepBoostClassifier(1, n_jobs=1, calibration=None).fit(X, y)
    pruned = model.prune(X, y)
    assert np.array_equal(pruned.predict(X), model.predict(X))
    calibrated = DeepBoostClassifier(30, n_jobs=1).fit(X, y)
    assert calibrated.prune(X, y, max_trees=5).calibration_ == calibrated.calibration_ is not None
    stump = DeepBoostClassifier(5, family=Stumps(), n_jobs=1, calibration=None).fit(X, y)
    assert len(stump.prune(X, y, max_trees=1).ensemble_) == 1


def test_refusals(fitted) -> None:
    model, X, y = fitted("two classes")
    for name, value, error in (
        ("max_trees", 0, ValueError),
        ("max_trees", 2.5, TypeError),
        ("max_bytes", -1, ValueError),
        ("tolerance", -0.1, ValueError),
        ("tolerance", np.nan, ValueError),
        ("sample_weight", np.full(len(X), np.nan), ValueError),
        ("sample_weight", np.ones(3), ValueError),
    ):
        with pytest.raises(error, match=name):
            model.prune(X, y, **{name: value})
    with pytest.raises(ValueError, match=r"y holds the label 'z', which is not one of the classes"):
        model.prune(X, np.where(y == "a", "z", y))
    with pytest.raises(ValueError, match="4 features"):
        model.prune(X[:, :4], y)
    with pytest.raises(ValueError, match="infinity"):
        model.prune(np.full(X.shape, np.inf), y)
    with pytest.raises(ValueError, match="one different row"):
        model.prune(X[[0, 0]], y[[0, 0]])
    with pytest.raises(NotFittedError):
        DeepBoostClassifier().prune(X, y)
    regressor, _, targets = fitted("squared")
    with pytest.raises(ValueError, match="NaN"):
        regressor.prune(X, np.where(targets > 0, np.nan, targets))
    with pytest.raises(ValueError, match="No model within these limits"):
        regressor.prune(X, targets, max_trees=2, tolerance=0.01)
    for loss, value, message in (("poisson", -1.0, "y goes down to -1"), ("gamma", 0.0, "y goes down to 0")):
        rates = RGBRegressor(3, loss=loss, n_jobs=1).fit(X, np.exp(targets))
        with pytest.raises(ValueError, match=message):
            rates.prune(X, np.full(len(X), value))


def test_empty_models_and_other_kinds() -> None:
    X, y = data(2)
    with pytest.warns(UserWarning, match="empty"):
        empty = DeepBoostClassifier(5, complexity_penalty=1e6, n_jobs=1).fit(X, y)
    with pytest.raises(ValueError, match="The model is empty"):
        empty.prune(X, y)
    several = MultiSourceBoostClassifier(3, n_jobs=1).fit(X, y, sources=np.arange(len(X)) % 2)
    for model in (several, baselines.MartiBoostClassifier(5).fit(X, y), baselines.SAMMEClassifier(5).fit(X, y)):
        with pytest.raises(TypeError, match=f"{type(model).__name__} cannot be pruned"):
            model.prune(X, y)


def test_distinct_rows_are_sorted_by_content_and_weighted() -> None:
    X = np.array([[0.0, 1.0], [np.nan, 2.0], [-0.0, 1.0], [np.nan, 2.0], [3.0, 4.0]])
    y = np.array([0, 1, 0, 1, 1])
    rows = distinct_rows(X, y, np.array([1.0, 2.0, 3.0, 4.0, 5.0]), most=10)
    assert sorted(zip(rows.targets.tolist(), rows.weights.tolist(), strict=True)) == [
        (0.0, 4.0),
        (1.0, 5.0),
        (1.0, 6.0),
    ]
    kept, held_back = rows.hold_back()
    assert len(kept) == 2
    assert len(held_back) == 1
    assert len(distinct_rows(X, y, None, most=2)) == 2


def test_made_rows_take_their_columns_from_rows() -> None:
    X = np.arange(40.0).reshape(10, 4)
    rows = distinct_rows(X, np.zeros(10), None, most=10)
    made = made_rows(rows, 500)
    for column in range(4):
        assert set(made[:, column]) <= set(X[:, column])
    origins = (made // 4).astype(int)
    n_sources = np.array([len(set(line)) for line in origins])
    assert set(n_sources) == {1, 2}
    heavy = distinct_rows(X, np.zeros(10), np.where(np.arange(10) == 3, 1e6, 1.0), most=10)
    assert np.mean(made_rows(heavy, 500) // 4 == 3) > 0.99
