"""Fits whose bins come from summaries: the one option without equality to a fit on one machine."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from distributed_tools import arguments_of, cut, everything, run_task
from fingerprints import fractions, table
from radboost import RGBClassifier, TreeOptions
from radboost.distributed.learning import FitTask

pytestmark = pytest.mark.filterwarnings("ignore:The model")


def test_workers_agree_and_the_partitioning_decides() -> None:
    X, y = table(1, 900, 3)
    estimator = RGBClassifier(3, calibration=None, tree_options=TreeOptions(max_bins=16))

    def models(seed: int) -> list[str]:
        parts = cut(5, seed, X=X, y=y, sample_weight=fractions(900))
        task = FitTask.of(estimator, arguments_of(sample_weight="given"), bins="sketch")
        found = run_task(task, [parts[::2], parts[1::2]])
        assert np.mean(found[0].predict(X) == y) > 0.8
        return [repr(everything(model)) for model in found]

    assert len({*models(0), *models(0)}) == 1
    assert {*models(0)} != {*models(1)}
    assert repr(everything(clone(estimator).fit(X, y, fractions(900)))) not in models(0)


def test_other_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="bins must be 'exact' or 'sketch'; got 'quantile'"):
        FitTask.of(RGBClassifier(3), arguments_of(), bins="quantile")
