"""Earlier rounds taken once more: on sparse rows, on rows of several blocks, and step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from boosting_cases import CASES, everything, four
from radboost import Checkpoint, DeepBoostClassifier
from radboost.engine import HypothesisColumns
from radboost.families import raw_rows
from radboost.families.raw_rows import RawRows, enter_again

NAMES = ("deep, 4 classes", "soft-max, 4 classes", "rgb, 4 classes", "adaboost.mh, 4 classes", "samme, 4 classes")


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_go_on_block_by_block(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_rows, "BLOCK_BYTES", 7 * 8 * 5)  # seven rows
    case, path = CASES[name], tmp_path / "fit.checkpoint"
    X, y = case.data()
    rows = sparse.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))
    fit = {"sample_weight": case.fit()["sample_weight"]} if case.fit() else {}

    class Keep:
        def on_round_end(self, context: Any) -> None:
            if context.round == 4:
                context.save_checkpoint(str(path))

    whole = case.model().fit(rows, y, **fit, callbacks=[Keep()])
    assert everything(case.model().fit(rows, y, **fit, resume_from=path)) == everything(whole)
    assert everything(case.model().fit(rows, y, **fit, callbacks=[Checkpoint(path)])) == everything(whole)


def test_raw_rows_are_asked_in_the_order_of_the_engine() -> None:
    X, y = four()
    order = np.random.default_rng(0).permutation(len(y)).astype(np.uint32)
    model = DeepBoostClassifier(3).fit(X, y)
    for rows in (RawRows(X, order, 1), RawRows(sparse.csr_array(np.nan_to_num(X)), order, 1)):
        for tree in model.ensemble_.hypotheses:
            predictions = tree.predict(X[order])
            np.testing.assert_array_equal(rows.predict(tree), predictions)
            answers = rows.classes(tree)
            np.testing.assert_array_equal(np.eye(4)[np.maximum(answers, 0)] * (answers >= 0)[:, None], predictions)
        rows.forget()
    assert RawRows(X, order[:0], 1).classes(model.ensemble_.hypotheses[0]).shape == (0,)


@pytest.mark.parametrize("name", ["deep", "deep, 4 classes", "deep, 4 classes, kernels", "deep, kernels"])
def test_hypotheses_enter_as_they_did(name: str) -> None:
    """The predictions in their slots are those of the hypothesis on the raw rows."""
    case = CASES[name]
    X, y = case.data()
    model = case.plain
    order = np.argsort(y, kind="stable").astype(np.uint32)
    rows, columns = RawRows(X, order, 1), HypothesisColumns(len(y), len(model.classes_))
    for hypothesis in model.ensemble_.hypotheses:
        slot = enter_again(hypothesis, rows, columns)
        np.testing.assert_array_equal(
            columns.predictions(slot), hypothesis.predict(np.ascontiguousarray(X[order])).reshape(-1)
        )
