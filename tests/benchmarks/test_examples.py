"""The commands behind figures in the documents, and the settings that docs/defaults.md compares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from benchmarks import curves, examples
from benchmarks.accuracy.competitors import PEERS
from benchmarks.accuracy.tasks import Parts
from radboost import DeepBoostClassifier
from radboost.trees import with_tree_options

CANDIDATES = Path(examples.__file__).parent / "accuracy" / "candidates"


def test_the_table_of_costs_is_replaced_and_nothing_else() -> None:
    page = examples.PAGE.read_text(encoding="utf-8")
    new = examples.table([("`Model()`", 1.1214, 0.25), ("forest", 0.6136, 0.3728)])
    assert new.splitlines()[2:] == ["| `Model()` | 1.121 | .250 |", "| forest | .614 | .373 |"]
    changed = examples.with_table(page, new)
    assert new in changed
    assert "balanced weights |" not in changed
    old = examples.TABLE.search(page)
    assert old is not None
    assert changed.replace(f"{new}\n", old.group()) == page
    with pytest.raises(ValueError, match=r"costs\.md must hold one table"):
        examples.with_table("nothing", new)


@pytest.mark.parametrize(("name", "at_least"), [("two", 20), ("many", 20), ("variants", 2)])
def test_candidates_are_settings_of_deepboost(name: str, at_least: int) -> None:
    candidates = json.loads((CANDIDATES / f"{name}.json").read_text())
    assert len(candidates) >= at_least
    assert len({json.dumps(parameters, sort_keys=True) for parameters in candidates.values()}) == len(candidates)
    for parameters in candidates.values():
        DeepBoostClassifier(**with_tree_options(parameters))._read_parameters()


def test_curves_say_when_an_error_is_reached() -> None:
    assert curves._first(([0.1, 0.2, 0.4], [0.3, 0.2, 0.1]), 0.2) == "0.20 s"
    assert curves._first(([0.1, 0.2], [0.3, 0.25]), 0.2) == "not (0.2500)"


def test_curves_of_both_kinds_end_at_the_whole_fit() -> None:
    X, y = load_iris(return_X_y=True)
    parts = Parts(X[::2], y[::2], X[1::2], y[1::2])
    model = DeepBoostClassifier(n_rounds=5)
    seconds, errors = curves.our_curve(model, parts)
    assert len(seconds) == len(errors) == model.n_iter_
    assert seconds == sorted(seconds)
    assert errors[-1] == pytest.approx(1.0 - model.score(X[1::2], y[1::2]))
    forest = next(peer for peer in PEERS if peer.name == "HistGradientBoosting")
    seconds, errors = curves.peer_curve(forest, parts, seed=0)
    assert len(seconds) == len(errors) == len(curves.PEER_ROUNDS)
