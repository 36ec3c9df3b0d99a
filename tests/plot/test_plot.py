"""What the pictures show, read back from the Axes; hand-made models, so the right heights are known."""

import io
import sys
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError

from radboost import (
    AgnosticClassifier,
    DeepBoostClassifier,
    DeepBoostClassifierCV,
    RGBRegressor,
    SoftmaxBoostClassifier,
    SparseBoostClassifier,
    TreeFamilies,
    TreeOptions,
    plot,
)
from radboost.baselines import MartiBoostClassifier
from radboost.ensemble import Ensemble
from radboost.ensemble.arrays import STEP_TYPE


class Votes(BaseEstimator):
    """A model whose rows hold the votes of its hypotheses."""

    def __init__(self, weights=(), sizes=(), history=None):
        self.weights = weights
        self.sizes = sizes
        self.history = history

    def fit(self):
        self.classes_ = np.array([0, 1])
        self.history_ = self.history or {"train_error": [], "objective": []}
        steps = np.zeros(len(self.weights), dtype=STEP_TYPE)
        steps["hypothesis"], steps["eta"] = np.arange(len(steps)), self.weights
        trees = [SimpleNamespace(n_nodes=size) for size in self.sizes or [3] * len(steps)]
        complexities = [0.1] * len(steps)
        self.ensemble_ = Ensemble(trees, complexities, steps, n_rounds=1, n_features=2, n_families=1, sample_size=4.0)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float) @ self.ensemble_.weights

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


X = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
Y = np.ones(4, dtype=int)
ROWS = np.random.default_rng(0).normal(size=(60, 3))


def texts(ax) -> str:
    legend = ax.get_legend()
    return " | ".join(text.get_text() for text in [*ax.texts, *([] if legend is None else legend.get_texts())])


def test_margins_are_cumulative() -> None:
    ax = plot.margins(Votes([3.0, 1.0]).fit(), X, Y)
    (line,) = [line for line in ax.lines if len(line.get_xdata()) == 6]
    np.testing.assert_array_equal(line.get_xdata(), [-1, -1, -0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(line.get_ydata(), [0, 0.25, 0.5, 0.75, 1, 1])
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1.0)
    assert "50.0% wrong" in texts(ax)


def test_margins_of_several_models_carry_their_names() -> None:
    models = {"first": Votes([3.0, 1.0]).fit(), "second": Votes([1.0, 1.0]).fit()}
    ax = plot.margins(models, X, Y, bins=10)
    assert "first 50.0% wrong" in texts(ax)
    assert "second 75.0% wrong" in texts(ax)
    colours = {line.get_color() for line in ax.lines if len(line.get_xdata()) == 6}
    assert len(colours) == 2
    assert len(ax.patches) == 20


def test_tree_sizes_count_trees() -> None:
    model = Votes([3.0, -1.0, 4.0], sizes=[3, 7, 3]).fit()
    ax = plot.tree_sizes(model)
    heights = {bar.get_x() + bar.get_width() / 2: bar.get_height() for bar in ax.patches if bar.get_height()}
    assert heights == pytest.approx({3.0: 2, 7.0: 1})
    assert "mean 4.3" in texts(ax)


@pytest.mark.parametrize("sizes", [[1], [3], [3, 255], list(range(1, 512, 2)), [0, 0, 5], [4, 5]])
def test_every_tree_is_in_a_bar(sizes) -> None:
    ax = plot.tree_sizes(Votes(np.ones(len(sizes)), sizes=sizes).fit())
    assert sum(bar.get_height() for bar in ax.patches) == len(sizes)
    assert sum(bar.get_height() > 0 for bar in ax.patches) <= 21
    assert ax.get_xlim()[0] >= 0 or min(sizes) == 0


def test_empty_models_say_so() -> None:
    empty = Votes().fit()
    assert "empty" in texts(plot.tree_sizes(empty))
    assert "no round" in texts(plot.learning_curve(empty))


def test_learning_curve_marks_the_lowest_validation_error() -> None:
    history = {"train_error": [0.5, 0.25, 0.125], "validation_error": [0.5, 0.375, 0.4]}
    ax = plot.learning_curve(Votes([1.0], history=history).fit())
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.5, 0.25, 0.125])
    assert "training 12.5%" in texts(ax)
    assert "lowest 37.5%" in texts(ax)
    assert "validation 40.0%" in texts(ax)


@pytest.mark.parametrize("draw", ["margins", "tree_sizes", "learning_curve"])
def test_it_draws_where_it_is_told(draw: str) -> None:
    _, (left, right) = plt.subplots(1, 2)
    arguments = (X, Y) if draw == "margins" else ()
    model = Votes([1.0, 1.0], sizes=[3, 3], history={"train_error": [0.5]}).fit()
    assert getattr(plot, draw)(model, *arguments, ax=right) is right
    assert not left.has_data()
    fresh = getattr(plot, draw)(model, *arguments)
    assert fresh.figure is not right.figure
    with pytest.raises(NotFittedError):
        getattr(plot, draw)(Votes(), *arguments)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "radboost\[plot\]"'):
        plot.margins(Votes([1.0, 1.0]).fit(), X, Y)


class Says(BaseEstimator):
    """A classifier that learned nothing but its labels, and says what the first column holds."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.wrong_ = float(np.mean(np.asarray(X)[:, 0] != y))
        return self

    def predict(self, X):
        return self.classes_[np.asarray(X)[:, 0].astype(int)]

    def score(self, X, y):
        return 1.0 - self.wrong_


def test_noise_robustness_fits_on_wrong_labels() -> None:
    y = np.arange(60) % 3
    rows = y[:, None].astype(float)
    model = Says()
    ax = plot.noise_robustness({"honest": model}, rows, y, rows, y, rates=(0.5, 0.0, 0.25), repeats=2)
    (line,) = [line for line in ax.lines if line.get_label() == "honest"]
    np.testing.assert_allclose(line.get_xdata(), [0.0, 0.25, 0.5])
    np.testing.assert_allclose(line.get_ydata(), [0.0, 0.25, 0.5])  # the share of labels that were exchanged
    assert not hasattr(model, "classes_")
    ax = plot.noise_robustness(model, rows, y, rows, y, rates=[0.1])
    assert ax.get_legend().get_texts()[0].get_text() == "Says"


def test_cost_confusion_counts_and_charges() -> None:
    y = np.array(["a", "a", "b", "c"])
    rows = np.array([[0], [1], [0], [2]])
    model = Says().fit(rows, y)
    cost = [[0, 2, 9], [5, 0, 9], [9, 9, 0]]
    ax = plot.cost_confusion(model, rows, y, cost=cost)
    np.testing.assert_array_equal(ax.images[0].get_array(), [[0, 2, 0], [5, 0, 0], [0, 0, 0]])
    assert ax.get_title(loc="left") == "Mean cost 1.75"
    cells = [text.get_text() for text in ax.texts]
    assert cells[:4] == ["1", "1\ncosts 2", "0", "1\ncosts 5"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b", "c"]
    assert plot.cost_confusion(model, rows, y).get_title(loc="left") == "Mean cost 0.5"
    model.cost = cost  # as cost-sensitive models have it
    assert plot.cost_confusion(model, rows, y).get_title(loc="left") == "Mean cost 1.75"


def test_cost_confusion_of_many_classes_has_colours_only() -> None:
    for n_classes, n_texts, n_ticks in ((30, 900, 30), (31, 0, 16), (200, 0, 29)):
        y = np.arange(n_classes)
        rows = np.roll(y, 1)[:, None]
        ax = plot.cost_confusion(Says().fit(rows, y), rows, y)
        assert ax.images[0].get_array().sum() == n_classes  # all are wrong, at 1 each
        assert len(ax.texts) == n_texts
        assert len(ax.get_xticks()) == len(ax.get_yticks()) == n_ticks
        step = ax.get_yticks()[1]
        assert [tick.get_text() for tick in ax.get_yticklabels()][1] == str(step)


def test_a_grid_of_trees_has_sizes_and_a_learning_curve_and_no_votes() -> None:
    model = MartiBoostClassifier(5).fit(ROWS, ROWS[:, 0] > 0)
    assert sum(bar.get_height() for bar in plot.tree_sizes(model).patches) == 15
    np.testing.assert_array_equal(plot.learning_curve(model).lines[0].get_ydata(), model.history_["train_error"])
    with pytest.raises(TypeError, match="MartiBoostClassifier does not vote"):
        plot.margins(model, ROWS, ROWS[:, 0] > 0)


def test_trees_of_regression_have_sizes() -> None:
    model = RGBRegressor(4).fit(ROWS, ROWS[:, 0])
    assert sum(bar.get_height() for bar in plot.tree_sizes(model).patches) == len(model.ensemble_)
    sparse = SparseBoostClassifier().fit(ROWS, ROWS[:, 0] > 0)
    np.testing.assert_array_equal(plot.learning_curve(sparse).lines[0].get_ydata(), sparse.history_["objective"])
    with pytest.raises(TypeError, match="SparseBoostClassifier is not made of trees"):
        plot.tree_sizes(sparse)
    with pytest.raises(TypeError, match="AdaBoostClassifier has no ensemble_: tree sizes are for RadBoost models"):
        plot.tree_sizes(AdaBoostClassifier(n_estimators=2).fit(ROWS, ROWS[:, 0] > 0))


def test_learning_curve_of_a_regressor() -> None:
    model = RGBRegressor(5, early_stopping=5).fit(ROWS, ROWS[:, 0] * 1000.0)
    ax = plot.learning_curve(model)
    assert ax.get_ylabel() == "loss"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_["objective"])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), model.history_["validation_loss"])
    assert f"lowest {min(model.history_['validation_loss']):.4g}" in texts(ax)


LOOSE = TreeOptions(min_leaf_weight=0.0)


def test_a_tree_has_a_box_for_every_node() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = DeepBoostClassifier(n_rounds=3, max_depth=3).fit(X, np.array(["$a$", "b"])[y])
    heaviest = model.ensemble_.hypotheses[int(np.argmax(np.abs(model.ensemble_.weights)))]
    ax = plot.tree(model)
    assert sum(text.get_bbox_patch() is not None and "(" in text.get_text() for text in ax.texts) == heaviest.n_nodes
    ax.figure.canvas.draw()
    assert len(plot.tree(model.ensemble_.hypotheses[0]).texts) >= model.ensemble_.hypotheses[0].n_nodes
    with pytest.raises(ValueError, match="between 0 and"):
        plot.tree(model, 99)
    with pytest.raises(TypeError, match="not a tree"):
        plot.tree(DeepBoostClassifier(n_rounds=2, family="kernel").fit(X, y))
    large = RGBRegressor(
        n_rounds=1, family=TreeFamilies(sizes=(200,), norms=(9.0,)), tree_options=LOOSE, n_candidates=1
    )
    with pytest.raises(ValueError, match="a picture can show 64"):
        plot.tree(large.fit(X, X[:, 0] * X[:, 1]), 1)


BITS = np.array([[0.0], [1.0]] * 10)
DOLLARS = (r"$\frac{$", "from $5 to $9")


def assert_verbatim(ax, shown) -> None:
    """The names are there as they are, and can be drawn."""
    ax.figure.canvas.draw()
    assert {text.get_text() for text in shown} >= set(DOLLARS)
    assert not any(text.get_parse_math() for text in shown)
    ax.figure.savefig(io.BytesIO(), format="svg")


def test_dollars_in_labels_are_no_mathematics() -> None:
    labels = np.array(DOLLARS)[BITS[:, 0].astype(int)]
    model = SoftmaxBoostClassifier(2).fit(BITS, labels)
    ax = plot.cost_confusion(model, BITS, labels)
    for axis in (ax.xaxis, ax.yaxis):
        assert_verbatim(ax, axis.get_ticklabels())


def test_dollars_in_names_of_models_are_no_mathematics() -> None:
    ax = plot.margins({name: Votes([3.0, 1.0]).fit() for name in DOLLARS}, X, Y)
    ax.figure.canvas.draw()
    assert all(f"{name} 50.0% wrong" in texts(ax) for name in DOLLARS)
    models = {name: SoftmaxBoostClassifier(2) for name in DOLLARS}
    ax = plot.noise_robustness(models, BITS, BITS[:, 0], BITS, BITS[:, 0], rates=[0.0, 0.2])
    assert_verbatim(ax, ax.get_legend().get_texts())


def test_mixtures_of_losses() -> None:
    model = AgnosticClassifier(n_rounds=50).fit(ROWS, ROWS[:, 0] > 0)
    panel = plot.mixture(model)
    assert [line.get_label() for line in panel.lines] == ["cross_entropy", "hinge", "zero_one", "l1"]
    np.testing.assert_allclose(sum(np.asarray(line.get_ydata()) for line in panel.lines), 1.0)
    assert plot.mixture(model, panel) is panel


class Sure(BaseEstimator):
    """Says what its rows hold: the probability of the second class."""

    classes_ = np.array(["a", "b"])

    def predict_proba(self, X):
        second = np.asarray(X)[:, 0]
        return np.column_stack([1.0 - second, second])


class TestReliability:
    def test_points_are_means_of_their_rows(self):
        X = np.array([[0.92], [0.98], [0.91], [0.99], [0.35], [0.31]])
        y = np.array(["b", "b", "b", "a", "a", "b"])
        ax = plot.reliability(Sure(), X, y)
        line = ax.get_lines()[1]
        np.testing.assert_allclose(line.get_xdata(), [0.67, 0.95])
        np.testing.assert_allclose(line.get_ydata(), [0.5, 0.75])
        assert ax.get_legend() is None
        sizes = ax.collections[1].get_sizes()
        assert sizes[1] > sizes[0]

    def test_names_and_bins(self):
        rng = np.random.default_rng(0)
        X = rng.random((400, 1))
        y = np.array(["a", "b"])[(rng.random(400) < X[:, 0]).astype(int)]
        ax = plot.reliability({"$one$": Sure(), "two": Sure()}, X, y, bins=4)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$one$", "two"]
        assert len(ax.get_lines()[1].get_xdata()) == 2
        gap = np.abs(ax.get_lines()[1].get_xdata() - ax.get_lines()[1].get_ydata())
        assert gap.max() < 0.1


AB = Says().fit(np.array([[0], [1]]), np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: plot.margins({}, X, Y), ValueError, "margins was given an empty dict"),
        (lambda: plot.margins(Votes([1.0, 1.0]).fit(), X[:0], Y[:0]), ValueError, "no rows"),
        (lambda: plot.noise_robustness({}, X, Y, X, Y), ValueError, "at least one model"),
        (lambda: plot.noise_robustness(Says(), X, Y, X, Y, rates=[2.0]), ValueError, "rates must lie"),
        (
            lambda: plot.cost_confusion(AB, [[0]], ["a"], cost=np.ones((3, 3))),
            ValueError,
            r"must have the shape \(2, 2\)",
        ),
        (lambda: plot.cost_confusion(AB, [[0]], ["z"]), ValueError, "the label 'z'"),
        (lambda: plot.cost_confusion(AB, np.zeros((0, 1)), []), ValueError, "no rows"),
        (lambda: plot.cost_confusion(Says(), [[0]], ["a"]), NotFittedError, None),
        (lambda: plot.mixture(3), TypeError, "Expected a fitted AgnosticClassifier"),
        (lambda: plot.reliability({}, [[0.5]], ["a"]), ValueError, "empty dict"),
        (lambda: plot.reliability(Sure(), np.zeros((0, 1)), []), ValueError, "no rows"),
        (lambda: plot.reliability(Sure(), [[0.5], [0.4]], ["a"]), ValueError, "2 rows and y has 1"),
        (lambda: plot.reliability(RGBRegressor(), [[0.5]], ["a"]), TypeError, "RGBRegressor has no predict_proba"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, message) -> None:
    with pytest.raises(error, match=message):
        draw()


def test_tuning_shows_the_chosen_setting() -> None:
    labels = ROWS[:, 0] * ROWS[:, 1] > 0
    search = DeepBoostClassifierCV(
        DeepBoostClassifier(20), param_grid={"max_depth": [1, 3], "complexity_penalty": [0.0, 0.1, 5.0]}, cv=3, n_jobs=1
    ).fit(ROWS, labels)
    ax = plot.tuning(search)
    assert f"{search.best_params_['n_rounds']} rounds" in texts(ax)
    marked = [line for line in ax.lines if line.get_marker() == "o"]
    assert [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in marked] == [
        (search.best_params_["n_rounds"], search.best_score_)
    ]
    assert len(ax.lines) == 1 + len(search.cv_results_["params"])
    low, high = ax.get_ylim()
    assert low < search.best_score_ < high
    ax = plot.tuning(search, "complexity_penalty")
    assert ax.get_xlabel() == "complexity_penalty"
    assert len(ax.containers) == len(search.cv_results_["params"])
    assert plot.tuning(search, "leaves").get_xticklabels()[0].get_text() == "votes"
    with pytest.raises(ValueError, match="there are complexity_penalty"):
        plot.tuning(search, "depth")
    with pytest.raises(TypeError, match="DeepBoostClassifierCV"):
        plot.tuning(DeepBoostClassifier())


@pytest.fixture(scope="module")
def pruned_models():
    X, y = load_wine(return_X_y=True)
    whole = DeepBoostClassifier(20, n_jobs=1, calibration=None).fit(X, y)
    numbers = RGBRegressor(20, n_jobs=1).fit(X[:, 1:], X[:, 0])
    return whole, whole.prune(X, y, max_trees=5), numbers.prune(X[:, 1:], X[:, 0], max_trees=5)


@pytest.mark.parametrize("size", ["n_trees", "bytes"])
@pytest.mark.parametrize("cost", ["error", "loss"])
def test_the_line_is_the_curve_and_the_dot_is_the_model(pruned_models, size: str, cost: str) -> None:
    _, pruned, _ = pruned_models
    ax = plot.size_curve(pruned, size=size, cost=cost)
    height, line, dot = ax.get_lines()
    curve = pruned.size_curve_
    assert sorted(zip(*line.get_data(), strict=True)) == sorted(zip(curve[size], curve[cost], strict=True))
    assert np.all(np.diff(line.get_xdata()) >= 0)
    place = curve["n_trees"].index(len(pruned.ensemble_))
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (curve[size][place], curve[cost][place])
    assert set(height.get_ydata()) == {curve[cost][-1]}


def test_size_curves_of_several_models_have_names(pruned_models) -> None:
    _, one, other = pruned_models
    ax = plot.size_curve({"$1": one, "numbers": other}, plt.figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$1", "numbers"]


def test_size_curves_refuse_what_was_not_pruned(pruned_models) -> None:
    whole, pruned, _ = pruned_models
    with pytest.raises(ValueError, match="no size_curve_: it was not pruned"):
        plot.size_curve(whole)
    with pytest.raises(NotFittedError):
        plot.size_curve(DeepBoostClassifier())
    with pytest.raises(ValueError, match="size must be"):
        plot.size_curve(pruned, size="depth")
    with pytest.raises(ValueError, match="cost must be"):
        plot.size_curve(pruned, cost="time")
