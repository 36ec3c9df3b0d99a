"""Errors that say where: the row and column of infinity, the target, how many columns there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from radboost import (
    AgnosticBoostClassifier,
    AgnosticClassifier,
    DeepBoostClassifier,
    RGBRegressor,
    SparseBoostClassifier,
    TreeOptions,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = (X[:, 0] > 0).astype(int)
COUNTS = RNG.poisson(2.0, 40).astype(float)
BAD = X.copy()
BAD[7, 3] = -np.inf
BAD[9, 1] = -np.inf
FRAME = pd.DataFrame(X, columns=list("abcde"))
MIXED = FRAME.assign(k=pd.Categorical(["u", "v"] * 20))[["k", *"abcde"]]
BAD_FRAME = pd.DataFrame(BAD, columns=list("abcde"))


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (BAD, "column 3"),
        (BAD.astype(np.float32), "column 3"),
        (BAD.tolist(), "column 3"),
        (BAD_FRAME, "column 'd'"),
        (sparse.csr_matrix(BAD), "column 3"),
        (BAD_FRAME.assign(k=MIXED["k"])[["k", *"abcde"]], "column 'd'"),
    ],
)
def test_where_infinity_is(rows: Any, place: str) -> None:
    with pytest.raises(ValueError, match=rf"contains infinity.* It has -inf in row 7 of {place}: give a finite number"):
        DeepBoostClassifier(2, n_jobs=1).fit(rows, Y)


def test_where_infinity_is_beside_categories_of_an_array() -> None:
    """The place is that in X, and not that among the columns of numbers."""
    with pytest.raises(ValueError, match=r"-inf in row 7 of column 5: "):
        DeepBoostClassifier(2, n_jobs=1, categorical_features=[0, 1]).fit(np.c_[Y, Y, BAD], Y)


def test_where_infinity_is_later() -> None:
    model = DeepBoostClassifier(2, n_jobs=1, calibration=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"-inf in row 7 of column 3: "):
        model.predict(BAD)
    with pytest.raises(ValueError, match=r"-inf in row 7 of column 3: "):
        model.fit(X, Y, X_val=BAD, y_val=Y)
    with pytest.raises(ValueError, match=r"-inf in row 7 of column 3: "):
        SparseBoostClassifier().fit(BAD, Y)
    with pytest.raises(ValueError, match=r"Input y contains infinity[^:]*$"):
        RGBRegressor(2).fit(X, BAD[:, 3])


@pytest.mark.parametrize(
    ("loss", "y", "match"),
    [
        ("poisson", np.c_[COUNTS, -COUNTS], r'column 1 of y goes down to -\d+. Use loss="squared" or "absolute" for'),
        ("poisson", np.c_[COUNTS, 0 * COUNTS], "needs at least one y above zero .*, and column 1 of y has none"),
        ("poisson", np.c_[COUNTS, 1e-200 * COUNTS], "column 1 of y goes up to"),
        ("poisson", -COUNTS, r'y goes down to -\d+. Use loss="squared", "absolute" or "huber" for'),
        ("poisson", 0 * COUNTS, r"at least one y above zero in the rows with a positive weight\.$"),
        ("gamma", np.c_[-COUNTS, COUNTS + 1], r'column 0 of y goes down .*"squared" or "absolute" where it may be neg'),
        ("gamma", np.c_[COUNTS + 1, COUNTS * 0 + 1e-200], "column 1 of y goes down to 1e-200"),
    ],
)
def test_which_target(loss: str, y: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        RGBRegressor(2, loss=loss, n_jobs=1).fit(X, y)


def test_constraints_say_how_many_columns_there_are() -> None:
    wide = pd.DataFrame(RNG.normal(size=(40, 30)), columns=[f"c{k}" for k in range(30)])
    options = TreeOptions(monotonic_constraints={"z": 1})
    with pytest.raises(
        ValueError, match=r"the column 'z'; X has the columns 0 to 29, 30 together, which begin with .*'c9'\]"
    ):
        DeepBoostClassifier(2, tree_options=options).fit(wide, Y)
    with pytest.raises(ValueError, match=r"the column 'z'; X has the columns 0 to 4 \(\['a', 'b', 'c', 'd', 'e'\]\)"):
        DeepBoostClassifier(2, tree_options=options).fit(FRAME, Y)


@pytest.mark.parametrize("estimator", [AgnosticClassifier(), AgnosticBoostClassifier(2)])
def test_mixtures_of_losses(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"mixtures has 1 columns, and there are 4 losses \(\['cross_entropy'"):
        estimator.set_params(mixtures=[[1]]).fit(X, Y)


def test_no_rows_have_all_columns() -> None:
    model = DeepBoostClassifier(2, n_jobs=1, calibration=None).fit(MIXED, Y)
    for refused in (lambda: model.predict(MIXED[:0]), lambda: DeepBoostClassifier(2).fit(MIXED[:0], Y[:0])):
        with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 6\)\)"):
            refused()
