"""The curve of error against size, read back from the Axes."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from radboost import DeepBoostClassifier, RGBRegressor, plot


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def models():
    X, y = load_wine(return_X_y=True)
    whole = DeepBoostClassifier(20, n_jobs=1, calibration=None).fit(X, y)
    numbers = RGBRegressor(20, n_jobs=1).fit(X[:, 1:], X[:, 0])
    return whole, whole.prune(X, y, max_trees=5), numbers.prune(X[:, 1:], X[:, 0], max_trees=5)


@pytest.mark.parametrize("size", ["n_trees", "bytes"])
@pytest.mark.parametrize("cost", ["error", "loss"])
def test_the_line_is_the_curve_and_the_dot_is_the_model(models, size: str, cost: str) -> None:
    _, pruned, _ = models
    ax = plot.size_curve(pruned, size=size, cost=cost)
    height, line, dot = ax.get_lines()
    curve = pruned.size_curve_
    assert sorted(zip(*line.get_data(), strict=True)) == sorted(zip(curve[size], curve[cost], strict=True))
    assert np.all(np.diff(line.get_xdata()) >= 0)
    place = curve["n_trees"].index(len(pruned.ensemble_))
    assert (dot.get_xdata()[0], dot.get_ydata()[0]) == (curve[size][place], curve[cost][place])
    assert set(height.get_ydata()) == {curve[cost][-1]}


def test_several_models_have_names(models) -> None:
    _, one, other = models
    ax = plot.size_curve({"$1": one, "numbers": other}, plt.figure().subplots())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["$1", "numbers"]


def test_refusals(models) -> None:
    whole, pruned, _ = models
    with pytest.raises(ValueError, match="no size_curve_: it was not pruned"):
        plot.size_curve(whole)
    with pytest.raises(NotFittedError):
        plot.size_curve(DeepBoostClassifier())
    with pytest.raises(ValueError, match="size must be"):
        plot.size_curve(pruned, size="depth")
    with pytest.raises(ValueError, match="cost must be"):
        plot.size_curve(pruned, cost="time")
    with pytest.raises(ValueError, match="empty dict"):
        plot.size_curve({})
