"""Pictures of explanations and contributions, read back from the Axes."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from scipy import sparse
from sklearn.exceptions import NotFittedError

from radboost import (
    DeepBoostClassifier,
    MultiTaskSparseBoostClassifier,
    RGBClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    plot,
)
from reference.data import smooth, smooth_classes

X, Y = smooth(0, m=120, d=5)
TARGETS = 10.0 + X[:, 0] + 0.1 * X[:, 1]


def ticks(labels) -> list[str]:
    return [text.get_text() for text in labels]


def points(ax) -> list[np.ndarray]:
    return [np.asarray(one.get_offsets()) for one in ax.collections if isinstance(one, PathCollection)]


@pytest.mark.parametrize("max_features", [2, 10])
def test_bars_lead_from_the_mean_to_the_score(max_features: int) -> None:
    model = DeepBoostClassifier(n_rounds=15).fit(pd.DataFrame(X, columns=list("abcde")), Y)
    row = pd.DataFrame(X, columns=list("abcde")).iloc[3]
    told = model.explain(row)
    ax = plot.explanation(model, row, max_features=max_features)
    begins = [bar.get_x() for bar in ax.patches]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert begins[0] == pytest.approx(told.base)
    assert ends[-1] == pytest.approx(told.score)
    np.testing.assert_allclose(ends[:-1], begins[1:])
    n_own = min(max_features, len(told.contributions))
    np.testing.assert_allclose(
        np.subtract(ends, begins)[:n_own], [one.effect for one in told.contributions[:n_own]], atol=1e-12
    )
    labels = ticks(ax.get_yticklabels())
    assert labels[0] == "mean score"
    assert labels[-1] == "score"
    assert labels[1] == told.contributions[0].text
    assert (labels[-2] == "3 more features") == (max_features == 2)
    assert repr(told.answer) in ax.get_title(loc="left")
    low, high = ax.get_xlim()
    assert low < min(*begins, *ends)
    assert max(*begins, *ends) < high
    blue, orange = (mpl.colors.to_rgba(colour) for colour in plot._style.COLOURS[:2])
    assert [bar.get_facecolor() for bar in ax.patches] == [
        blue if bar.get_width() >= 0 else orange for bar in ax.patches
    ]


def test_other_models_and_an_explanation_that_is_there() -> None:
    regressor = RGBRegressor(n_rounds=10).fit(X, TARGETS)
    ax = plot.explanation(regressor, X[0])
    assert ax.get_xlabel() == "score"
    assert ax.get_title(loc="left").startswith("Predicts 1")
    assert ax.get_xlim()[0] > 0.0  # zero is far away, and left out
    formula = SparseBoostClassifier(alpha=0.02).fit(X, Y)
    _, given = plt.subplots()
    assert plot.explanation(formula, formula.explain(X[1]), ax=given) is given
    assert ticks(given.get_yticklabels())[0] == "intercept"
    with pytest.warns(UserWarning, match="empty"):
        empty = DeepBoostClassifier(n_rounds=3, complexity_penalty=100.0).fit(X, Y)
    assert not plot.explanation(empty, X[0]).patches
    with pytest.raises(ValueError, match="max_features"):
        plot.explanation(regressor, X[0], max_features=0)
    with pytest.raises(ValueError, match="one row"):
        plot.explanation(regressor, X)


def test_names_with_dollars_are_drawn_as_they_are() -> None:
    table = pd.DataFrame(X, columns=["$a$", "b$", "_c", "d^", "\\e"])
    model = DeepBoostClassifier(n_rounds=8).fit(table, np.where(Y > 0, "$1$", "\\x"))
    plot.explanation(model, table.iloc[0]).figure.canvas.draw()
    plot.dependence(model, table, "$a$").figure.canvas.draw()


def test_points_are_contributions() -> None:
    model = DeepBoostClassifier(n_rounds=15).fit(X, Y)
    for form in (X, sparse.csr_array(X)):
        ax = plot.dependence(model, form, 1)
        (found,) = points(ax)
        np.testing.assert_allclose(found, np.column_stack([X[:, 1], model.predict_contributions(X)[:, 1]]))
    assert ax.get_xlabel() == "x[1]"
    assert repr(model.classes_.tolist()[1]) in ax.get_ylabel()
    (rug,) = [line for line in ax.lines if line.get_marker() == "|"]
    np.testing.assert_array_equal(rug.get_xdata(), X[:, 1])
    (other,) = points(plot.dependence(model, X, 1, label=model.classes_[0]))
    np.testing.assert_allclose(other[:, 1], -found[:, 1])


def test_classes() -> None:
    rows, y = smooth_classes(0, m=100, d=4, n_classes=3)
    model = RGBClassifier(n_rounds=8).fit(rows, y)
    expected = model.predict_contributions(rows)[:, :, 2]
    ax = plot.dependence(model, rows, 2)
    np.testing.assert_allclose(np.transpose([one[:, 1] for one in points(ax)]), expected)
    assert ticks(ax.get_legend().get_texts()) == [repr(label) for label in model.classes_.tolist()]
    (one,) = points(plot.dependence(model, rows, 2, label=model.classes_[1]))
    np.testing.assert_allclose(one[:, 1], expected[:, 1])
    many = RGBClassifier(n_rounds=2).fit(rows, np.arange(100) % 7)
    with pytest.raises(ValueError, match=r"7 classes.*label="):
        plot.dependence(many, rows, 0)
    with pytest.raises(ValueError, match="label='x' is none of the classes 0, 1"):
        plot.dependence(many, rows, 0, label="x")


def test_categories_by_name_and_missing_values_apart() -> None:
    table = pd.DataFrame({"a": X[:, 0], "town": np.array(["Oslo", "Rome", "Bonn"])[np.arange(120) % 3]})
    model = RGBRegressor(n_rounds=10, categorical_features=["town"]).fit(table, TARGETS + (table["town"] == "Rome"))
    ax = plot.dependence(model, table, "town")
    assert ticks(ax.get_xticklabels()) == ["Bonn", "Oslo", "Rome"]
    (found,) = points(ax)
    expected = pd.Categorical(table["town"], ["Bonn", "Oslo", "Rome"]).codes
    np.testing.assert_array_equal(np.rint(found[:, 0]), expected)
    means = [line.get_segments()[0][0][1] for line in ax.collections if not isinstance(line, PathCollection)]
    heights = model.predict_contributions(table)[:, 1]
    np.testing.assert_allclose(means, [heights[expected == place].mean() for place in range(3)])
    table.loc[:4, "town"] = "Paris"
    table.loc[5:9, "town"] = None
    table.loc[::10, "a"] = np.nan
    ax = plot.dependence(model, table, "town")
    assert ticks(ax.get_xticklabels())[-1] == "missing\nor unknown"
    assert (np.rint(points(ax)[0][:10, 0]) == 3).all()
    ax = plot.dependence(model, table, "a")
    assert ticks(ax.get_xticklabels())[-1] == "missing"
    (found,) = points(ax)
    assert (found[::10, 0] > np.nanmax(table["a"])).all()
    assert np.isfinite(found).all()
    nothing = table.assign(a=np.nan)
    assert np.isfinite(points(plot.dependence(model, nothing, "a"))[0]).all()


def test_bad_arguments() -> None:
    model = DeepBoostClassifier(n_rounds=3)
    with pytest.raises(NotFittedError):
        plot.dependence(model, X, 0)
    with pytest.raises(NotFittedError):
        plot.explanation(model, X[0])
    model.fit(X, Y)
    with pytest.raises(ValueError, match="feature must"):
        plot.dependence(model, X, 5)
    with pytest.raises(ValueError, match="without names of columns"):
        plot.dependence(model, X, "a")
    named = DeepBoostClassifier(n_rounds=3).fit(pd.DataFrame(X, columns=list("abcde")), Y)
    with pytest.raises(ValueError, match="'z' is none of the columns a, b, c"):
        plot.dependence(named, pd.DataFrame(X, columns=list("abcde")), "z")
    with pytest.raises(TypeError, match="SparseBoostClassifier has no predict_contributions"):
        plot.dependence(SparseBoostClassifier(alpha=0.02).fit(X, Y), X, 0)


def test_models_of_several_targets() -> None:
    targets = np.column_stack([X[:, 0], 3.0 * X[:, 1], X[:, 0] * X[:, 1]])
    model = RGBRegressor(10).fit(X, targets)
    contributions = model.predict_contributions(X)
    ax = plot.dependence(model, X, 1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["target 0", "target 1", "target 2"]
    for k, drawn in enumerate(points(ax)):
        np.testing.assert_allclose(drawn[:, 1], contributions[:, k, 1])
    ax = plot.dependence(model, X, 1, target=2)
    np.testing.assert_allclose(points(ax)[0][:, 1], contributions[:, 2, 1])
    assert ax.get_ylabel() == "contribution to the score for target 2"
    told = plot.explanation(model, X[0], target=1)
    assert told.get_title(loc="left") == str(model.explain(X[0], target=1)).split(".\n")[0]
    assert "for target 1" in told.get_title(loc="left")
    with pytest.raises(ValueError, match="target must be between 0 and 2; got 3"):
        plot.dependence(model, X, 1, target=3)
    with pytest.raises(ValueError, match="label='a' is none of the classes"):
        plot.dependence(model, X, 1, label="a")
    with pytest.raises(ValueError, match="7 targets, and a picture has colors for 6: choose one by target="):
        plot.dependence(RGBRegressor(2).fit(X, np.tile(targets[:, :1], 7)), X, 1)
    alone = RGBRegressor(3).fit(X, targets[:, 0])
    assert "target" not in plot.explanation(alone, X[0], target=0).get_title(loc="left")
    classifier = DeepBoostClassifier(3).fit(X, targets[:, 0] > 0)
    for draw in (
        lambda: plot.explanation(classifier, X[0], target=0),
        lambda: plot.dependence(classifier, X, 0, target=0),
    ):
        with pytest.raises(ValueError, match="target=0 is for models of several targets"):
            draw()


def test_models_of_several_tasks() -> None:
    tasks = np.column_stack([X[:, 0] > 0, X[:, 1] > 0])
    model = MultiTaskSparseBoostClassifier(alpha=0.02).fit(X, tasks)
    title = plot.explanation(model, X[0], target=1).get_title(loc="left")
    assert title.replace("\n", " ") == str(model.explain(X[0], task=1)).split(".\n")[0]
    assert "for target 1, with probability" in title.replace("\n", " ")


def test_importance_draws_the_largest_columns_on_top() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "$c$", "d", "e"])
    model = RGBClassifier(5).fit(frame, Y)
    for one, kind in ((model, "split"), (model, None), (SparseBoostClassifier(alpha=0.02).fit(frame, Y), None)):
        sizes = one.feature_importance(*[kind] * (kind is not None))
        ax = plot.importance(one, kind=kind, max_features=3)
        bars = sorted(ax.patches, key=lambda bar: -bar.get_y())
        np.testing.assert_allclose([bar.get_width() for bar in bars], np.sort(sizes)[::-1][:3])
        assert [label.get_text() for label in ax.get_yticklabels()] == [
            frame.columns[column] for column in np.argsort(-sizes, kind="stable")[:3]
        ]
        plt.close(ax.figure)
