"""The benchmark of small models on a small set."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from benchmarks import pruning
from benchmarks.accuracy.tasks import Task, cut
from radboost import DeepBoostClassifier


def test_what_it_measures_and_prints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pruning, "DeepBoostClassifier", partial(DeepBoostClassifier, 20))
    monkeypatch.setattr(pruning, "SHARES", (0.2,))
    X, y = load_wine(return_X_y=True)
    parts = cut(X, y, np.arange(0, 178, 2), np.arange(1, 178, 2))

    class OneSet:
        asked = 0

        def parts(self, task: Task):
            self.asked += 1
            return parts

    source, tasks = OneSet(), [Task("vowel", 1, 0.0, 0)]
    (found,) = pruning.run(tasks, source, tmp_path / "results.jsonl")
    assert pruning.run(tasks, source, tmp_path / "results.jsonl") == [found]
    assert source.asked == 1
    model = DeepBoostClassifier(20, random_state=1, n_jobs=1).fit(parts.X_train, parts.y_train)
    assert found["whole"] == np.mean(model.predict(parts.X_test) != parts.y_test)
    size = int(0.2 * len(model.ensemble_))
    pruned = model.prune(parts.X_train, parts.y_train, max_trees=size)
    assert found["pruned 0.2"] == np.mean(pruned.predict(parts.X_test) != parts.y_test)
    at_size = model.history_["n_hypotheses"].index(size + 1) - 1  # the last round with as many
    assert found["first 0.2"] == np.mean(list(model.staged_predict(parts.X_test))[at_size] != parts.y_test)
    capsys.readouterr()
    pruning.tables([found])
    printed = capsys.readouterr().out
    assert f"| many classes, 0% wrong | {found['whole']:.4f} | {found['pruned 0.2']:.4f} (" in printed
